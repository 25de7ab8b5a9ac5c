//! Functional bootstrapping: tables of what becomes of an integer modulo p.

use ringmill_math::Modulus;

use super::error::BootstrapError;
use super::params::Bootstrapping;
use super::polynomial::{Powers, polynomial};
use super::value::{Engine, Value};
use crate::bgv::ExactParams;
use crate::rlwe::RlweError;
use crate::scheme::ParamsId;

/// A function from the integers modulo p to themselves, as a polynomial of degree p - 1 at most.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    params_id: ParamsId,
    constant: u64,
    /// Of x, x^2, ..., x^(p - 1).
    coefficients: Vec<u64>,
}

impl Table {
    /// `values` are those at 0, 1, ..., p - 1. The work is p^2 products.
    ///
    /// # Errors
    /// Messages modulo p^r with r > 1; other than p values; values from p on; one value everywhere.
    pub fn new(setup: &Bootstrapping, values: &[u64]) -> Result<Self, BootstrapError> {
        let params = setup.params();
        let power = params.prime_power()?;
        if power.exponent() != 1 {
            return Err(BootstrapError::from(RlweError::Parameter {
                what: "the plaintext modulus of a table",
                expected: "a prime p".into(),
                got: format!("{}^{}", power.prime(), power.exponent()),
            }));
        }
        let t = params.plain_modulus().reducer();
        let (p, got) = (t.value(), values.len());
        let expected = p as usize;
        if got != expected {
            let what = "table";
            return Err(RlweError::Length {
                what,
                expected,
                got,
            }
            .into());
        }
        if values.iter().any(|&value| value >= p) {
            let (what, modulus) = ("table", p);
            return Err(RlweError::Residue { what, modulus }.into());
        }
        let (constant, coefficients) = interpolated(t, values);
        if coefficients.iter().all(|&c| c == 0) {
            return Err(BootstrapError::from(RlweError::Parameter {
                what: "a table",
                expected: "two different values at least: of one, encrypt it".into(),
                got: format!("{constant} everywhere"),
            }));
        }
        Ok(Self {
            params_id: *params.id(),
            constant,
            coefficients,
        })
    }

    pub(super) fn params_id(&self) -> &ParamsId {
        &self.params_id
    }

    pub(super) fn apply(&self, engine: &Engine<'_>, x: &Value) -> Result<Value, BootstrapError> {
        let value = polynomial(engine, x, &self.coefficients, Powers::All)?;
        engine.add_integer(&value, self.constant)
    }
}

/// The sum over a of f(a) (1 - (x - a)^(p - 1)): f(0), and for k > 0 the coefficient of x^k is minus the sum over a of f(a) a^(p - 1 - k).
fn interpolated(t: Modulus, values: &[u64]) -> (u64, Vec<u64>) {
    let p = t.value();
    let mut coefficients = vec![0u64; p as usize - 1];
    for (a, &value) in (0u64..).zip(values) {
        let mut power = value;
        for c in coefficients.iter_mut().rev() {
            *c = t.sub(*c, power);
            power = t.mul(power, a);
        }
    }
    (values.first().copied().unwrap_or(0), coefficients)
}
