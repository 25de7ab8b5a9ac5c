// SPDX-License-Identifier: Apache-2.0
//! The cost of the instructions of BGV programs, in transforms of a limb. The cost follows from the formulas of key
//! switching, so the compiler makes no limb program to count it.

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroOp, Refused};
use ringmill_schemes::ParameterSet;
use ringmill_schemes::bgv::bootstrap::Procedure;
use ringmill_schemes::bgv::{Op, OpKey, Params};

/// The formulas of costs, for the sizes of one parameter set. A cost is a number of transforms of a limb.
#[derive(Clone, Debug)]
pub struct Costs {
    special: f64,
    /// The number of ciphertext primes in one digit of a key switch.
    digit: f64,
    /// The cost of a product of two limbs, as a fraction of a transform's (N / 2) log2 N products.
    product: f64,
    top: Level,
    bootstrap: f64,
}

impl Costs {
    /// Makes the costs for a parameter set and its bootstrap.
    ///
    /// # Errors
    /// Fails for a step of the bootstrap whose cost is not known.
    pub fn new(params: &Params, procedure: &Procedure) -> Result<Self, Refused> {
        let digits = params.dnum().max(1);
        let mut costs = Self {
            special: params.special_count() as f64,
            digit: params.cipher_count().div_ceil(digits) as f64,
            product: 2.0 / f64::from(params.log_n()),
            top: params.max_level(),
            bootstrap: 0.0,
        };
        let steps = procedure.operations().iter();
        let steps = steps.map(|(operation, results)| costs.operation(operation, *results));
        costs.bootstrap = steps.sum::<Result<f64, Refused>>()?;
        Ok(costs)
    }

    /// Returns the cost of one bootstrap, in transforms of a limb.
    pub fn bootstrap(&self) -> f64 {
        self.bootstrap
    }

    /// Returns the cost to decompose a polynomial of `primes` limbs: inverse transforms, base extension, and forward
    /// transforms.
    fn decomposed(&self, primes: f64) -> f64 {
        let digits = (primes / self.digit).ceil();
        let extended = digits * (primes + self.special);
        let sums = self.digit.min(primes) * (extended - primes).max(0.0) * self.product;
        extended + sums
    }

    /// Returns the cost to multiply the digits of a polynomial with `primes` limbs by a key, and to
    /// divide by the special primes.
    fn switched(&self, primes: f64) -> f64 {
        self.switched_sum(primes, 1.0)
    }

    /// Returns the cost to multiply the digits of `ciphers` ciphertexts, each with `primes` limbs a polynomial, by
    /// keys, to add the products up, and to divide the sum once by the special primes.
    fn switched_sum(&self, primes: f64, ciphers: f64) -> f64 {
        let digits = (primes / self.digit).ceil();
        let products = ciphers * 2.0 * digits * (primes + self.special) * self.product;
        let sums = 2.0 * primes * self.special * self.product;
        products + sums + 2.0 * (primes + self.special)
    }

    /// Returns the cost of an instruction with `results` results of `size` polynomials each, at `level`. For `RESCALE`,
    /// `level` is that of the operand. `plain` says whether an operand is a plaintext. A call or a repeat costs 0 here:
    /// the caller adds the cost of its procedure.
    ///
    /// # Errors
    /// Fails for an operation whose cost is not known.
    pub fn of(
        &self,
        op: MacroOp,
        level: Level,
        size: usize,
        results: usize,
        plain: bool,
    ) -> Result<f64, Refused> {
        let (k, polys) = (level.primes() as f64, size as f64);
        Ok(match op {
            MacroOp::Add | MacroOp::Sub if plain => k,
            MacroOp::Add | MacroOp::Sub | MacroOp::Neg => polys * k * self.product / 4.0,
            MacroOp::Addc => k * self.product / 4.0,
            MacroOp::Mulc | MacroOp::Refactor | MacroOp::Quotient => polys * k * self.product,
            MacroOp::Mul if plain => k + polys * k * self.product,
            MacroOp::Mul => 4.0 * k * self.product,
            MacroOp::Square => 3.0 * k * self.product,
            MacroOp::Relin | MacroOp::Ksw => self.decomposed(k) + self.switched(k),
            MacroOp::Morph => 2.0 * k * self.product,
            MacroOp::Rotate | MacroOp::Hrotate => {
                self.decomposed(k) + results as f64 * (self.switched(k) + 2.0 * k * self.product)
            }
            MacroOp::Rescale => polys * (1.0 + k),
            MacroOp::Bootstrap => self.bootstrap,
            // These compute nothing. The caller adds the cost of a procedure to that of its call.
            MacroOp::Input | MacroOp::Encode | MacroOp::Load | MacroOp::Output => 0.0,
            MacroOp::Modswitch | MacroOp::Conj | MacroOp::Call | MacroOp::Repeat => 0.0,
            other => return Err(Refused::of("BGV's costs", other, None)),
        })
    }

    /// Returns the cost of an operation of bootstrapping with this number of results.
    fn operation(&self, key: &OpKey, results: usize) -> Result<f64, Refused> {
        let level = key.level();
        let size = key
            .variant()
            .sizes
            .iter()
            .max()
            .map_or(2, |&size| size as usize);
        let of = |op, plain| self.of(op, level, size, results, plain);
        let (k, turned, ciphers) = (
            level.primes() as f64,
            key.operands().saturating_sub(1) as f64,
            key.variant().sizes.len() as f64,
        );
        match key.op() {
            Op::Add | Op::Sub => of(MacroOp::Add, false),
            Op::Neg => of(MacroOp::Neg, false),
            Op::AddPlain | Op::SubPlain => of(MacroOp::Add, true),
            Op::AddScalar => of(MacroOp::Addc, false),
            Op::MulPlain => of(MacroOp::Mul, true),
            Op::MulScalar | Op::MulLifted => of(MacroOp::Mulc, false),
            Op::Mul => of(MacroOp::Mul, false),
            Op::Square => of(MacroOp::Square, false),
            Op::Relin | Op::MulRelin | Op::SquareRelin => of(MacroOp::Relin, false),
            Op::ModSwitch => of(MacroOp::Rescale, false),
            Op::Rotate | Op::HoistedRotate => of(MacroOp::Rotate, false),
            Op::Morph => of(MacroOp::Morph, false),
            Op::KeySwitch => of(MacroOp::Ksw, false),
            Op::SumRotations => {
                let products = 2.0 * turned * (k + self.special) * self.product;
                Ok(self.decomposed(k) + self.switched(k) + products)
            }
            Op::TurnSum => Ok(ciphers * self.decomposed(k) + self.switched_sum(k, ciphers)),
            Op::SumPlain | Op::Combine => Ok(ciphers * 2.0 * k * self.product),
            Op::SumProducts => {
                let products = ciphers * 2.0 * k * self.product;
                Ok(products + of(MacroOp::Relin, false)?)
            }
            Op::DropPrimes => of(MacroOp::Rescale, false),
            Op::Encapsulate => Ok(3.0 * 2.0 * k),
            Op::Raise => {
                let raised = self.top.primes() as f64 * (1.0 + k * self.product);
                Ok(2.0 * (k + raised))
            }
        }
    }
}
