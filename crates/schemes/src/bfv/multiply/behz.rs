// SPDX-License-Identifier: Apache-2.0
//! The BEHZ variant of BFV multiplication, with the bits of SEAL's steps ("A full RNS variant of FV like somewhat
//! homomorphic encryption schemes", Bajard, Eynard, Hasan and Zucca, SAC 2016; Kırbıyık's thesis, chapter 2).

use num_bigint::BigUint;
use ringmill_isa::mid::{ModulusId, ValueId};
use ringmill_math::{AnyModulus, Modulus};

use super::{each, ids, limbs, quotient, times, values};
use crate::bfv::auxiliary::product;
use crate::bfv::params::Params;
use crate::rlwe::RlweError;
use crate::rlwe::ops::{Emit, Limb};

/// Extends a polynomial x modulo Q, times a constant, to the auxiliary primes Bsk: m_sk, and the primes B_i of product
/// B. With the auxiliary modulus m-tilde, the fast base extension of m-tilde x mod Q has the value
/// S = m-tilde x - v Q + u Q, with unknown integers v and u. S is reduced by m-tilde in Montgomery's manner
/// (Algorithm 2, SmMRq, in the paper of Bajard, Eynard, Hasan and Zucca). The result is nearly the centred
/// representative: x, or x - Q for x above about Q / 2.
///
/// The reduction is (S - alpha Q) / m-tilde with S - alpha Q = 0 mod m-tilde and
/// -m-tilde / 2 < alpha <= m-tilde / 2. An exact base extension (`BEXTR`) with the redundant modulus m-tilde computes
/// it from a redundant residue of zero. That extension finds a multiple of Q from 0 to m-tilde - 1, and alpha may be
/// negative. So h Q is subtracted before the extension and added to its result, for h = floor((m-tilde - 1) / 2).
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

/// Emits a limb modulo the modulus at index `modulus` whose every coefficient is `w`. It subtracts a limb of the list
/// `of` from itself, which gives zeros, and adds `w`. Returns `None` if the list is empty.
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

/// Computes floor(d / Q) modulo Q for a d known modulo Q and the auxiliary primes Bsk (m_sk, and the primes B_i of
/// product B). The result may be too small by up to the number of primes. It subtracts the fast base extension of d mod
/// Q from d, and divides by Q modulo Bsk (the fast RNS floor of Bajard, Eynard, Hasan and Zucca). Then it extends from
/// Bsk to Q by Shenoy and Kumaresan, with the redundant modulus m_sk.
///
/// The extension from Bsk must subtract a multiple of B that may have either sign, but `BEXTR` finds a multiple
/// from 0 to m_sk - 1. So (m_sk - 1) / 2 times B is subtracted before the extension and added to its result.
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
