// SPDX-License-Identifier: Apache-2.0
//! Emits the steps by which a procedure converts a plaintext from the plaintext modulus to the moduli of a
//! ciphertext.

use ringmill_isa::Poly;
use ringmill_isa::mid::{ModulusId, ProcBuilder, ValueId};
use ringmill_math::Modulus;

use super::plaintext::ExactParams;
use crate::rlwe::RlweError;
use crate::rlwe::ops::{Emit, Limb, Variant};

/// Emits the product of a ciphertext and a plaintext. The plaintext's residues stand for integers of
/// [`Integers::Signed`](super::Integers::Signed).
pub(crate) fn mul_plain<P: ExactParams>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    times(e, v, lifted)
}

/// Emits the product of a ciphertext and a plaintext. The plaintext's residues stand for integers from 0 to t - 1 for
/// the plaintext modulus t.
pub(crate) fn mul_plain_unsigned<P: ExactParams>(
    e: &mut Emit<P>,
    v: &Variant,
) -> Result<(), RlweError> {
    times(e, v, |e, m| at_level(e, m, |_, x, _| Ok(x)))
}

fn times<P: ExactParams>(
    e: &mut Emit<P>,
    v: &Variant,
    lift: fn(&mut Emit<P>, ValueId) -> Result<Vec<Limb>, RlweError>,
) -> Result<(), RlweError> {
    let polys = Poly::of(v.size(0)).map(|poly| e.cipher(0, poly));
    let polys = polys.collect::<Result<Vec<_>, _>>()?;
    let m = e.plain_residues(1, plain_index(e))?;
    let m = lift(e, m.value)?;
    for (poly, a) in Poly::of(v.size(0)).zip(&polys) {
        let product = e.zip(a, &m, ProcBuilder::mul)?;
        e.result(0, poly, &product)?;
    }
    Ok(())
}

/// Returns the index, in the parameters' table of moduli, of the plaintext modulus for which the procedure is emitted.
pub(crate) fn plain_index<P: ExactParams>(e: &Emit<P>) -> usize {
    e.own.plain_index() + usize::from(e.plain)
}

/// Emits the integers of [`Integers::Signed`](super::Integers::Signed) for which the residues of a limb m modulo
/// the plaintext modulus t stand. The result is in evaluation form, modulo each prime of the level. It adds
/// floor(t / 2) to m modulo t, which gives a number from 0 to t - 1, and subtracts floor(t / 2) again modulo each
/// prime.
pub(crate) fn lifted<P: ExactParams>(e: &mut Emit<P>, m: ValueId) -> Result<Vec<Limb>, RlweError> {
    let half = e.reducer(plain_index(e))?.value() / 2;
    let shifted = e.ops().addi(m, half)?;
    at_level(e, shifted, |ops, x, q| {
        Ok(ops.addi(x, q.neg(q.reduce(half)))?)
    })
}

/// Emits the conversion of a limb modulo the plaintext modulus t to each prime of the level, then the NTT. The
/// function `f` emits what is computed on each converted limb before its NTT.
pub(crate) fn at_level<P>(
    e: &mut Emit<P>,
    limb: ValueId,
    f: impl Fn(&mut ProcBuilder, ValueId, Modulus) -> Result<ValueId, RlweError>,
) -> Result<Vec<Limb>, RlweError> {
    let level = e.level_moduli();
    let one = |modulus: usize| {
        let q = e.reducer(modulus)?;
        let x = e.ops().conv(limb, ModulusId(modulus as u16))?;
        let x = f(e.ops(), x, q)?;
        let value = e.ops().ntt(x)?;
        Ok(Limb { value, modulus })
    };
    level.map(one).collect()
}
