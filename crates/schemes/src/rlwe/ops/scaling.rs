//! Division by primes with rounding: rescaling and the mod-down of key switching.

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use ringmill_isa::Poly;
use ringmill_isa::mid::{ModulusId, ProcBuilder};

use super::Variant;
use super::emit::{Emit, Limb};
use crate::rlwe::error::RlweError;

/// Ring paper, Algorithm 4, rounding to nearest as SEAL does: divides by the last prime of the level.
pub(crate) fn rescale(e: &mut Emit, v: &Variant) -> Result<(), RlweError> {
    for poly in Poly::of(v.size(0)) {
        let mut kept = e.cipher(0, poly)?;
        let last = kept.split_off(kept.len().saturating_sub(1));
        let scaled = divide_and_round(e, &last, &kept)?;
        e.result(0, poly, &scaled)?;
    }
    Ok(())
}

/// Divides polynomials over the level's and the special primes by P.
pub(crate) fn mod_down_all(e: &mut Emit, v: &Variant) -> Result<(), RlweError> {
    let special = e.params.cipher_count()..e.params.moduli().len();
    for poly in Poly::of(v.size(0)) {
        let kept = e.cipher(0, poly)?;
        let dropped = e.cipher_over(0, poly, special.clone())?;
        let scaled = divide_and_round(e, &dropped, &kept)?;
        e.result(0, poly, &scaled)?;
    }
    Ok(())
}

/// Divides a value x, known modulo the moduli of `dropped` (k of them, product P) and of `kept`, by P; the result is
/// over the moduli of `kept`. With h the [`rounding_offset`] and f_i the fractional parts that the fast base extension of
/// x + h sums, the result is exactly (x + h) / P - (f_1 + ... + f_k):
///
/// - k = 1: x / P rounded to nearest, SEAL's bits (ring paper, Algorithms 3 and 4, with rounding);
/// - k > 1: within k / 2 of x / P, and unbiased, because the mean k / 2 of the f_i is what h / P adds;
/// - a multiple of P is divided exactly for every k, so that a ciphertext of zeros stays one.
pub(crate) fn divide_and_round(
    e: &mut Emit,
    dropped: &[Limb],
    kept: &[Limb],
) -> Result<Vec<Limb>, RlweError> {
    let moduli = e.params.moduli();
    let primes = dropped.iter().filter_map(|l| moduli.get(l.modulus));
    let primes: Vec<u64> = primes.copied().collect();
    let divisor: BigUint = primes.iter().product();
    let half = rounding_offset(&primes);
    let residue = |x: &BigUint, q: u64| (x % q).to_u64().unwrap_or(0);

    let mut shifted = Vec::with_capacity(dropped.len());
    for l in dropped {
        let q = e.reducer(l.modulus)?.value();
        let coefficients = e.ops().intt(l.value)?;
        shifted.push(e.ops().addi(coefficients, residue(&half, q))?);
    }
    let extended = match shifted.as_slice() {
        [_] => Vec::new(),
        many => {
            let to: Vec<_> = kept.iter().map(|l| ModulusId(l.modulus as u16)).collect();
            e.ops().bext(many, &to)?
        }
    };
    let mut quotients = Vec::with_capacity(kept.len());
    for (k, l) in kept.iter().enumerate() {
        let q = e.reducer(l.modulus)?;
        let remainder = match (shifted.as_slice(), extended.get(k)) {
            (_, Some(&r)) => r,
            ([only], None) => e.ops().conv(*only, ModulusId(l.modulus as u16))?,
            _ => continue,
        };
        let unshifted = e.ops().addi(remainder, q.neg(residue(&half, q.value())))?;
        let unshifted = e.ops().ntt(unshifted)?;
        let difference = e.ops().sub(l.value, unshifted)?;
        let inverse = q.inv(residue(&divisor, q.value()))?;
        quotients.push(Limb {
            value: e.ops().muli(difference, inverse)?,
            modulus: l.modulus,
        });
    }
    Ok(quotients)
}

/// The sum over the primes p of floor(p / 2) P / p, P their product: about k P / 2. In the fast base extension of
/// x + h this adds floor(p / 2) to each prime's term x (P / p)^-1 mod p, which is to say that it centres the terms.
pub(crate) fn rounding_offset(primes: &[u64]) -> BigUint {
    let product: BigUint = primes.iter().product();
    primes.iter().map(|&p| &product / p * (p / 2)).sum()
}

/// Adds `b` to `a` limb by limb.
pub(crate) fn add_all(e: &mut Emit, a: &[Limb], b: &[Limb]) -> Result<Vec<Limb>, RlweError> {
    e.zip(a, b, ProcBuilder::add)
}
