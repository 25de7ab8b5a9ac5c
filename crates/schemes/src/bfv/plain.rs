//! Sums with plaintexts: the plaintext times Q / t.

use ringmill_isa::Poly;
use ringmill_isa::mid::ProcBuilder;
use ringmill_math::AnyModulus;

use super::auxiliary::product;
use super::params::Params;
use crate::exact::{ExactParams, at_level};
use crate::rlwe::RlweError;
use crate::rlwe::ops::scaling::add_all;
use crate::rlwe::ops::{Emit, Limb, Variant};

pub(super) fn add_plain(e: &mut Emit<Params>, _: &Variant) -> Result<(), RlweError> {
    let c0 = e.cipher(0, Poly::FIRST)?;
    let m = scaled(e, 1)?;
    let sum = add_all(e, &c0, &m)?;
    e.result(0, Poly::FIRST, &sum)
}

pub(super) fn sub_plain(e: &mut Emit<Params>, _: &Variant) -> Result<(), RlweError> {
    let c0 = e.cipher(0, Poly::FIRST)?;
    let m = scaled(e, 1)?;
    let difference = e.zip(&c0, &m, ProcBuilder::sub)?;
    e.result(0, Poly::FIRST, &difference)
}

/// The plaintext m times Q / t, rounded to nearest and up at a tie: z = floor((Q m + h) / t), h = floor((t + 1) / 2), as
/// SEAL's `multiply_add_plain_with_scaling_variant`. With r = (Q m + h) mod t, which is known modulo t, t z = Q m + h - r;
/// so modulo each q_i, which divides Q, z = (h - r) / t.
fn scaled(e: &mut Emit<Params>, arg: u16) -> Result<Vec<Limb>, RlweError> {
    let (t, level) = (e.own.plain_modulus(), e.level);
    let half = t.value() / 2 + t.value() % 2;
    let q = AnyModulus::from(t.reducer()).reduce_big(&product(e.params, level));
    let m = e.plain_residues(arg, e.own.plain_index())?;
    let r = e.ops().muli(m.value, q)?;
    let r = e.ops().addi(r, half)?;
    at_level(e, r, |ops, r, q| {
        let inverse = q.inv(t.value())?;
        let r = ops.muli(r, q.neg(inverse))?;
        Ok(ops.addi(r, q.mul(half, inverse))?)
    })
}
