// SPDX-License-Identifier: Apache-2.0
//! BEHZ, with the bits of SEAL's steps ("A full RNS variant of FV like somewhat homomorphic encryption schemes", Bajard,
//! Eynard, Hasan and Zucca, SAC 2016; basext paper, chapter 2).

use num_bigint::BigUint;
use ringmill_isa::mid::{ModulusId, ValueId};
use ringmill_math::{AnyModulus, Modulus};

use super::{each, ids, limbs, quotient, times, values};
use crate::bfv::auxiliary::product;
use crate::bfv::params::Params;
use crate::rlwe::RlweError;
use crate::rlwe::ops::{Emit, Limb};

/// A polynomial modulo Q, times a constant, taken to Bsk = B with m_sk: the fast base extension of m-tilde x mod Q, whose
/// value S is m-tilde x - v Q + u Q, reduced by m-tilde in Montgomery's manner (SmMRq of the paper, Algorithm 2). What comes
/// out is about the centred representative: x, or x - Q for x above about Q / 2.
///
/// The reduction is (S - alpha Q) / m-tilde with S - alpha Q = 0 mod m-tilde and -m-tilde / 2 < alpha <= m-tilde / 2: an
/// extension with a redundant residue, m-tilde the redundant modulus. It counts from 0 to m-tilde - 1, so
/// h = floor((m-tilde - 1) / 2) times Q is taken off before, of a residue that is zero, and added after.
pub(super) fn extended(
    e: &mut Emit<Params>,
    x: &[Limb],
    factor: u64,
) -> Result<Vec<Limb>, RlweError> {
    let (places, m_tilde) = (e.own.auxiliary().all(e.level), e.own.auxiliary().m_tilde);
    let word = e.reducer(m_tilde)?;
    let base = word.value();
    let shift = product(e.params, e.level) * ((base - 1) / 2);
    let raised = times(e, x, base)?;
    let below_zero = word.neg(AnyModulus::from(word).reduce_big(&shift));
    let Some(redundant) = constant(e, &raised, m_tilde, below_zero)? else {
        return Ok(Vec::new());
    };
    let to = ids(places.clone());
    let found = e.ops().bextr(&values(&raised), redundant, &to)?;
    each(e, &limbs(found, places), |ops, x, b| {
        let weight = b.mul(b.reduce(factor), b.inv(base)?);
        let x = ops.muli(x, weight)?;
        let shift = AnyModulus::from(b).reduce_big(&shift);
        Ok(ops.addi(x, b.mul(shift, weight))?)
    })
}

/// The limb whose every coefficient is `w`, made of any limb that is there.
fn constant(
    e: &mut Emit<Params>,
    of: &[Limb],
    modulus: usize,
    w: u64,
) -> Result<Option<ValueId>, RlweError> {
    let Some(any) = of.first() else {
        return Ok(None);
    };
    let any = e.ops().conv(any.value, ModulusId(modulus as u16))?;
    let zero = e.ops().sub(any, any)?;
    Ok(Some(e.ops().addi(zero, w)?))
}

/// floor(d / Q), up to the number of primes below it, modulo Q, of a d known modulo Q and Bsk: d less the fast base
/// extension of d mod Q, divided by Q modulo Bsk (the paper's fast RNS floor); then from Bsk to Q by Shenoy and Kumaresan,
/// m_sk the redundant modulus.
///
/// The multiples of B to take off may be of either sign. The exact extension counts from 0 to m_sk - 1, so that
/// (m_sk - 1) / 2 times B is taken off before and added after.
pub(super) fn divided(
    e: &mut Emit<Params>,
    q: &[Limb],
    auxiliary: &[Limb],
) -> Result<Vec<Limb>, RlweError> {
    let (m_sk, b) = (e.own.auxiliary().m_sk(), e.own.auxiliary().b(e.level));
    let places = auxiliary.iter().map(|l| l.modulus);
    let remainder = e.ops().bext(&values(q), &ids(places))?;
    let floor = quotient(e, auxiliary, remainder)?;

    let primes = b.map(|i| Ok(e.reducer(i)?.value()));
    let primes = primes.collect::<Result<Vec<u64>, RlweError>>()?;
    let redundant = e.reducer(m_sk)?;
    let shift = primes.iter().product::<BigUint>() * (redundant.value() / 2);
    let residue = |q: Modulus| AnyModulus::from(q).reduce_big(&shift);
    let (sk, rest): (Vec<Limb>, Vec<Limb>) = floor.into_iter().partition(|l| l.modulus == m_sk);
    let Some(sk) = sk.first() else {
        return Ok(Vec::new());
    };
    let sk = e.ops().addi(sk.value, redundant.neg(residue(redundant)))?;
    let to = e.level_moduli();
    let found = e.ops().bextr(&values(&rest), sk, &ids(to.clone()))?;
    each(e, &limbs(found, to), |ops, x, q| {
        Ok(ops.addi(x, residue(q))?)
    })
}
