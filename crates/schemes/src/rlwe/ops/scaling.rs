// SPDX-License-Identifier: Apache-2.0
//! Emits divisions by primes: rescaling, modulus switching and the mod-down of key switching.

use num_bigint::BigUint;
use ringmill_isa::Poly;
use ringmill_isa::mid::{ModulusId, ProcBuilder, ValueId};
use ringmill_math::{Modulus, reduce_big};

use super::Variant;
use super::carry::Carried;
use super::emit::{Emit, Limb};
use crate::rlwe::error::RlweError;

/// Emits the division of a ciphertext by the last prime of the level (Medha paper, Algorithm 4, but rounded to nearest
/// as in SEAL). For messages in the low bits (BGV) it is modulus switching (BASALISC paper, section 2.2.2).
pub(crate) fn rescale<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    for poly in Poly::of(v.size(0)) {
        let mut kept = e.cipher(0, poly)?;
        let last = kept.split_off(kept.len().saturating_sub(1));
        let scaled = divide(e, &last, &kept)?;
        e.result(0, poly, &scaled)?;
    }
    Ok(())
}

/// Emits the division by P, the product of the special primes, of polynomials over the level's primes and the special
/// primes.
pub(crate) fn mod_down_all<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let special = e.params.cipher_count()..e.params.moduli().len();
    for poly in Poly::of(v.size(0)) {
        let kept = e.cipher(0, poly)?;
        let dropped = e.cipher_over(0, poly, special.clone())?;
        let scaled = divide(e, &dropped, &kept)?;
        e.result(0, poly, &scaled)?;
    }
    Ok(())
}

/// Emits the division of a value x by P, the product of the k moduli of `dropped`. x is known modulo these and
/// modulo the moduli of `kept`. The result is modulo the moduli of `kept`.
pub(crate) fn divide<P>(
    e: &mut Emit<P>,
    dropped: &[Limb],
    kept: &[Limb],
) -> Result<Vec<Limb>, RlweError> {
    let moduli = e.params.moduli();
    let primes = dropped.iter().filter_map(|l| moduli.get(l.modulus));
    let primes: Vec<u64> = primes.copied().collect();
    match e.low()? {
        None => divide_and_round(e, &primes, dropped, kept),
        Some((_, t)) if e.params.primes_alone() => divide_by_multiple(e, &primes, dropped, kept, t),
        Some(low) => divide_keeping(e, &primes, dropped, kept, low),
    }
}

/// Emits the division of x by P ([`divide`]) for messages that are residues modulo a plaintext modulus t coprime to
/// P. It computes modulo primes alone (BASALISC paper, Equation 6). Let y be the fast base extension of -x / t
/// modulo P, which is from 0 to below k P for the k primes of P. The result is (x + t y) / P. So it is P^-1 x
/// modulo t, and exceeds x / P by 0 to below t k.
fn divide_by_multiple<P>(
    e: &mut Emit<P>,
    primes: &[u64],
    dropped: &[Limb],
    kept: &[Limb],
    t: Modulus,
) -> Result<Vec<Limb>, RlweError> {
    let divisor: BigUint = primes.iter().product();
    let mut coefficients = Vec::with_capacity(dropped.len());
    for l in dropped {
        let p = e.reducer(l.modulus)?;
        let by = p.neg(p.inv(p.reduce(t.value()))?);
        let x = e.ops().intt(l.value)?;
        coefficients.push(e.ops().muli(x, by)?);
    }
    let mut carried = Carried::new(coefficients);
    carried.extend(e, kept.iter().map(|l| l.modulus))?;
    let mut quotients = Vec::with_capacity(kept.len());
    for l in kept {
        let q = e.reducer(l.modulus)?;
        let multiple = carried.modulo(e, l.modulus)?;
        let remainder = e.ops().muli(multiple, q.neg(q.reduce(t.value())))?;
        quotients.push(quotient(e, *l, remainder, &divisor)?);
    }
    Ok(quotients)
}

/// Emits the division of x by P, a product of k primes ([`divide`]), with rounding. Let h be the
/// [`rounding_offset`], and f_i the fractional parts that the fast base extension of x + h sums. The result is
/// exactly (x + h) / P - (f_1 + ... + f_k):
///
/// - k = 1: x / P rounded to nearest, SEAL's bits (Medha paper, Algorithms 3 and 4, with rounding);
/// - k > 1: within k / 2 of x / P, and unbiased, because h / P adds the mean k / 2 of the f_i;
/// - a multiple of P is divided exactly for every k, so that a ciphertext of zeros stays one.
fn divide_and_round<P>(
    e: &mut Emit<P>,
    primes: &[u64],
    dropped: &[Limb],
    kept: &[Limb],
) -> Result<Vec<Limb>, RlweError> {
    let divisor: BigUint = primes.iter().product();
    let half = rounding_offset(primes);
    let mut shifted = Vec::with_capacity(dropped.len());
    for l in dropped {
        let q = e.reducer(l.modulus)?;
        let coefficients = e.ops().intt(l.value)?;
        shifted.push(e.ops().addi(coefficients, reduce_big(&half, q))?);
    }
    let mut carried = Carried::new(shifted);
    carried.extend(e, kept.iter().map(|l| l.modulus))?;
    let mut quotients = Vec::with_capacity(kept.len());
    for l in kept {
        let q = e.reducer(l.modulus)?;
        let remainder = carried.modulo(e, l.modulus)?;
        let unshifted = e.ops().addi(remainder, q.neg(reduce_big(&half, q)))?;
        quotients.push(quotient(e, *l, unshifted, &divisor)?);
    }
    Ok(quotients)
}

/// Emits the division of x by P, a product of k primes ([`divide`]), for messages that are residues modulo a
/// plaintext modulus t coprime to P. It subtracts a multiple of t that is x modulo P. Let S be the fast base
/// extension of x (for k = 1, its representative in [0, P)). The multiple is S + w P, where w in [0, t) is -S / P
/// mod t. So the result is x / P less a number from 0 to t - 1 + k, and it is P^-1 x modulo t.
///
/// For k = 1 it has SEAL's bits (`mod_t_and_divide_q_last_ntt_inplace`). Equation 6 of the BASALISC paper takes the
/// same multiple modulo t P, as t times a limb modulo P. In that form, with a fast extension of k primes, the result
/// could be t k less than x / P.
fn divide_keeping<P>(
    e: &mut Emit<P>,
    primes: &[u64],
    dropped: &[Limb],
    kept: &[Limb],
    (plain, t): (usize, Modulus),
) -> Result<Vec<Limb>, RlweError> {
    let divisor: BigUint = primes.iter().product();
    let coefficients = dropped.iter().map(|l| e.ops().intt(l.value));
    let mut carried = Carried::new(coefficients.collect::<Result<_, _>>()?);
    carried.extend(e, kept.iter().map(|l| l.modulus).chain([plain]))?;
    let inverse = t.inv(reduce_big(&divisor, t))?;
    let w = carried.modulo(e, plain)?;
    let w = e.ops().muli(w, t.neg(inverse))?;
    let mut quotients = Vec::with_capacity(kept.len());
    for l in kept {
        let q = e.reducer(l.modulus)?;
        let multiple = e.ops().conv(w, ModulusId(l.modulus as u16))?;
        let multiple = e.ops().muli(multiple, reduce_big(&divisor, q))?;
        let remainder = carried.modulo(e, l.modulus)?;
        let remainder = e.ops().add(remainder, multiple)?;
        quotients.push(quotient(e, *l, remainder, &divisor)?);
    }
    Ok(quotients)
}

/// Emits (x - r) / P modulo one prime, for a limb x, a remainder r in coefficient form and the divisor P.
fn quotient<P>(
    e: &mut Emit<P>,
    x: Limb,
    remainder: ValueId,
    divisor: &BigUint,
) -> Result<Limb, RlweError> {
    let q = e.reducer(x.modulus)?;
    let remainder = e.ops().ntt(remainder)?;
    let difference = e.ops().sub(x.value, remainder)?;
    let inverse = q.inv(reduce_big(divisor, q))?;
    Ok(Limb {
        value: e.ops().muli(difference, inverse)?,
        modulus: x.modulus,
    })
}

/// Returns the rounding offset h of a division by P, the product of `primes`: the sum over the primes p of
/// floor(p / 2) P / p. It is about k P / 2 for k primes. In the fast base extension of x + h it adds floor(p / 2) to
/// each prime's term x (P / p)^-1 mod p, which centres the terms.
pub(crate) fn rounding_offset(primes: &[u64]) -> BigUint {
    let product: BigUint = primes.iter().product();
    primes.iter().map(|&p| &product / p * (p / 2)).sum()
}

/// Emits the sum of the polynomials `a` and `b`, modulo each of their moduli.
pub(crate) fn add_all<P>(e: &mut Emit<P>, a: &[Limb], b: &[Limb]) -> Result<Vec<Limb>, RlweError> {
    e.zip(a, b, ProcBuilder::add)
}
