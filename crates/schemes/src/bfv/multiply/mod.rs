// SPDX-License-Identifier: Apache-2.0
//! Multiplies BFV ciphertexts: extends both factors beyond Q, multiplies them there, and divides the product by Q /
//! t, where t is the plaintext modulus. The parameters choose the methods of extension and division. One factor is
//! multiplied by t at the start, because it has two polynomials and the product has three.

mod behz;
mod hps;

use ringmill_isa::Poly;
use ringmill_isa::mid::{ModulusId, ProcBuilder, ValueId};
use ringmill_math::{AnyModulus, Modulus};

use super::auxiliary::product as product_of_primes;
use super::params::{Multiplication, Params};
use crate::exact::ExactParams;
use crate::rlwe::RlweError;
use crate::rlwe::ops::arithmetic::tensor;
use crate::rlwe::ops::keyswitch::relinearise;
use crate::rlwe::ops::{Emit, Limb, Variant};

pub(super) fn mul(e: &mut Emit<Params>, _: &Variant) -> Result<(), RlweError> {
    let product = product(e)?;
    results(e, &product)
}

pub(super) fn square(e: &mut Emit<Params>, _: &Variant) -> Result<(), RlweError> {
    let product = squared(e)?;
    results(e, &product)
}

pub(super) fn mul_relin(e: &mut Emit<Params>, v: &Variant) -> Result<(), RlweError> {
    let Product { d, d2 } = product(e)?;
    let key = e.key(2, v.seeded)?;
    relinearise(e, d, Some(&d2), key)
}

pub(super) fn square_relin(e: &mut Emit<Params>, v: &Variant) -> Result<(), RlweError> {
    let Product { d, d2 } = squared(e)?;
    let key = e.key(1, v.seeded)?;
    relinearise(e, d, Some(&d2), key)
}

fn results(e: &mut Emit<Params>, product: &Product) -> Result<(), RlweError> {
    let mut polys = Poly::of(3).zip(&product.d);
    polys.try_for_each(|(poly, limbs)| e.result(0, poly, limbs))
}

fn product(e: &mut Emit<Params>) -> Result<Product, RlweError> {
    let t = e.own.plain_modulus().value();
    let (a, b) = (widened(e, 0, t)?, widened(e, 1, 1)?);
    let d = tensor(e, &a, &b)?;
    scaled_down(e, d)
}

fn squared(e: &mut Emit<Params>) -> Result<Product, RlweError> {
    let t = e.own.plain_modulus().value();
    let [a0, a1] = widened(e, 0, 1)?;
    let raised = [times(e, &a0, t)?, times(e, &a1, t)?];
    let d = tensor(e, &raised, &[a0, a1])?;
    scaled_down(e, d)
}

/// Emits both polynomials of ciphertext operand `arg`, times the constant `factor`, in evaluation form. Each has a limb
/// for each prime of the level, followed by a limb for each auxiliary prime.
fn widened(e: &mut Emit<Params>, arg: u16, factor: u64) -> Result<[Vec<Limb>; 2], RlweError> {
    let mut wide = |poly| -> Result<Vec<Limb>, RlweError> {
        let limbs = e.cipher(arg, poly)?;
        let coefficients = e.map(&limbs, ProcBuilder::intt)?;
        let auxiliary = match e.own.multiplication() {
            Multiplication::Behz | Multiplication::BehzPrime => {
                behz::extended(e, &coefficients, factor)?
            }
            Multiplication::Hps | Multiplication::HpsFriendly => {
                hps::extended(e, &coefficients, factor)?
            }
        };
        let mut limbs = times(e, &limbs, factor)?;
        limbs.extend(transformed(e, &auxiliary)?);
        Ok(limbs)
    };
    Ok([wide(Poly(0))?, wide(Poly(1))?])
}

/// The product of two ciphertexts, modulo the level's primes.
struct Product {
    /// The three polynomials d_0, d_1, d_2 of the product in evaluation form.
    d: [Vec<Limb>; 3],
    /// The polynomial d_2 in coefficient form, from which a key switch starts.
    d2: Vec<Limb>,
}

/// Divides the polynomials d_0, d_1 and d_2 of a product by Q, modulo the level's primes, with the rounding of the
/// parameters' method. It divides d_2, the factor of s^2, first, because a relinearisation waits for it.
fn scaled_down(e: &mut Emit<Params>, [d0, d1, d2]: [Vec<Limb>; 3]) -> Result<Product, RlweError> {
    let mut down = |d: Vec<Limb>| {
        let d = e.map(&d, ProcBuilder::intt)?;
        let (q, auxiliary) = d.split_at(e.level.primes().min(d.len()));
        let quotient = match e.own.multiplication() {
            Multiplication::Behz | Multiplication::BehzPrime => behz::divided(e, q, auxiliary)?,
            Multiplication::Hps | Multiplication::HpsFriendly => hps::divided(e, q, auxiliary)?,
        };
        Ok::<_, RlweError>((transformed(e, &quotient)?, quotient))
    };
    let (high, d2) = down(d2)?;
    let d = [down(d0)?.0, down(d1)?.0, high];
    Ok(Product { d, d2 })
}

fn transformed(e: &mut Emit<Params>, limbs: &[Limb]) -> Result<Vec<Limb>, RlweError> {
    e.map(limbs, ProcBuilder::ntt)
}

/// Emits the product of each limb and the constant `factor`.
fn times(e: &mut Emit<Params>, limbs: &[Limb], factor: u64) -> Result<Vec<Limb>, RlweError> {
    if factor == 1 {
        return Ok(limbs.to_vec());
    }
    each(e, limbs, |ops, x, q| Ok(ops.muli(x, q.reduce(factor))?))
}

/// Applies the function `f` to each limb and its modulus.
fn each(
    e: &mut Emit<Params>,
    limbs: &[Limb],
    f: impl Fn(&mut ProcBuilder, ValueId, Modulus) -> Result<ValueId, RlweError>,
) -> Result<Vec<Limb>, RlweError> {
    let one = |l: &Limb| {
        let q = e.reducer(l.modulus)?;
        let value = f(e.ops(), l.value, q)?;
        Ok(Limb { value, ..*l })
    };
    limbs.iter().map(one).collect()
}

/// Emits (a - b) / Q, limb by limb, where Q is the product of the level's primes.
fn quotient(e: &mut Emit<Params>, a: &[Limb], b: Vec<ValueId>) -> Result<Vec<Limb>, RlweError> {
    let modulus = product_of_primes(e.params, e.level);
    let one = |(a, b): (&Limb, ValueId)| {
        let q = e.reducer(a.modulus)?;
        let inverse = q.inv(AnyModulus::from(q).reduce_big(&modulus))?;
        let difference = e.ops().sub(a.value, b)?;
        let value = e.ops().muli(difference, inverse)?;
        Ok(Limb { value, ..*a })
    };
    a.iter().zip(b).map(one).collect()
}

fn ids(moduli: impl IntoIterator<Item = usize>) -> Vec<ModulusId> {
    moduli.into_iter().map(|i| ModulusId(i as u16)).collect()
}

fn values(limbs: &[Limb]) -> Vec<ValueId> {
    limbs.iter().map(|l| l.value).collect()
}

/// Pairs each limb value of a procedure with the index of its modulus. The two lists have one order.
fn limbs(values: Vec<ValueId>, moduli: impl IntoIterator<Item = usize>) -> Vec<Limb> {
    let pairs = values.into_iter().zip(moduli);
    pairs
        .map(|(value, modulus)| Limb { value, modulus })
        .collect()
}
