//! The polynomial whose value modulo p^e is the lowest digit of its argument.

use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use ringmill_math::Modulus;

use super::error::BootstrapError;
use crate::bgv::PrimePower;

/// Coefficients, the constant one first, of a polynomial f of degree (e - 1)(p - 1) + 1 with f(x) = the lowest digit of x about zero,
/// modulo p^e, for every integer x (Chen and Han, 2018, section 3).
///
/// With d(x) the digit, x = p y + d(x), d is the sum over m of a_m C(x, m), a_m = its m-th difference at 0. p^floor((m - 1) / (p - 1))
/// divides a_m, so that the sum ends at m = (e - 1)(p - 1) + 1 modulo p^e, and m! divides a_m p-adically.
///
/// # Errors
/// None: p is prime.
pub fn lowest_digit_polynomial(power: PrimePower) -> Result<Vec<u64>, BootstrapError> {
    let (p, e) = (power.prime(), u64::from(power.exponent()));
    let t = Modulus::new(power.value())?;
    let degree = ((e - 1) * (p - 1) + 1) as usize;
    let digit = |x: usize| {
        let x = x as u64 % p;
        if x > p / 2 {
            BigInt::from(x) - p
        } else {
            x.into()
        }
    };
    let mut row: Vec<BigInt> = (0..=degree).map(digit).collect();
    // Of Newton's form: a_m / m!, the powers of p divided out of both.
    let mut newton = Vec::with_capacity(degree + 1);
    let (mut unit, mut removed) = (1u64, 0u32);
    for m in 0..=degree {
        if m > 0 {
            let mut factor = m as u64;
            while factor.is_multiple_of(p) {
                factor /= p;
                removed += 1;
            }
            unit = t.mul(unit, t.reduce(factor));
        }
        let difference = row.first().cloned().unwrap_or_default();
        let divided = difference / BigInt::from(p).pow(removed);
        let modulus = BigInt::from(t.value());
        let mut residue = divided % &modulus;
        if residue < BigInt::zero() {
            residue += &modulus;
        }
        newton.push(t.mul(residue.to_u64().unwrap_or(0), t.inv(unit)?));
        let pairs = row.iter().zip(row.iter().skip(1));
        row = pairs.map(|(a, b)| b - a).collect();
    }
    // Horner's rule: ((a_m (x - (m - 1)) + a_(m-1)) (x - (m - 2)) + ...
    let mut polynomial = vec![0u64; degree + 2];
    for (m, &a) in newton.iter().enumerate().rev() {
        let point = t.reduce(m as u64);
        let mut before = 0;
        for c in &mut polynomial {
            let own = *c;
            *c = t.sub(before, t.mul(own, point));
            before = own;
        }
        if let Some(constant) = polynomial.first_mut() {
            *constant = t.add(*constant, a);
        }
    }
    polynomial.truncate(degree + 1);
    Ok(polynomial)
}
