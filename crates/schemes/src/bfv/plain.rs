// SPDX-License-Identifier: Apache-2.0
//! Adds plaintexts to BFV ciphertexts: the plaintext is multiplied by Q / t, where t is the plaintext modulus.

use ringmill_isa::mid::ProcBuilder;
use ringmill_isa::{Level, Poly};
use ringmill_math::{AnyModulus, Modulus};

use super::auxiliary::product;
use super::params::Params;
use crate::exact::{Embedding, ExactParams, PlainModulus, at_level};
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

/// Emits the plaintext operand `arg`, a polynomial m modulo t, times Q / t and rounded, as SEAL's
/// `multiply_add_plain_with_scaling_variant`. Here t is the plaintext modulus. The result is z = floor((Q m + h) / t),
/// where h = floor((t + 1) / 2). That is Q m / t rounded to nearest, except that an odd t rounds a fraction of
/// (t - 1) / 2t up. Let r = (Q m + h) mod t, which is known modulo t. Then t z = Q m + h - r. Each q_i divides Q, so
/// z = (h - r) / t modulo q_i.
fn scaled(e: &mut Emit<Params>, arg: u16) -> Result<Vec<Limb>, RlweError> {
    let t = e.own.plain_modulus();
    let [factor, half] = inner(e.own, e.level);
    let m = e.plain_residues(arg, e.own.plain_index())?;
    let r = e.ops().muli(m.value, factor)?;
    let r = e.ops().addi(r, half)?;
    at_level(e, r, |ops, r, q| {
        let [factor, offset] = outer(t, q)?;
        let r = ops.muli(r, factor)?;
        Ok(ops.addi(r, offset)?)
    })
}

/// Returns the two constants with which [`scaled`] computes modulo the plaintext modulus t. They are Q mod t and h =
/// floor((t + 1) / 2).
fn inner(params: &Params, level: Level) -> [u64; 2] {
    let t = params.plain_modulus();
    let q = AnyModulus::from(t.reducer()).reduce_big(&product(params, level));
    [q, t.upper_half()]
}

/// Returns the two constants with which [`scaled`] computes modulo a ciphertext prime q, for the plaintext modulus t:
/// -1 / t and h / t with h = floor((t + 1) / 2).
fn outer(t: PlainModulus, q: Modulus) -> Result<[u64; 2], RlweError> {
    let inverse = q.inv(t.value())?;
    Ok([q.neg(inverse), q.mul(q.reduce(t.upper_half()), inverse)])
}

/// Returns the constants by which [`add_plain`] maps a plaintext to residues modulo the primes of a ciphertext at
/// `level`.
pub(super) fn embedding(params: &Params, level: Level) -> Result<Embedding, RlweError> {
    params.check_level(level)?;
    let t = params.plain_modulus();
    let primes = params.reducers().get(..level.primes()).unwrap_or_default();
    Embedding::new(t.reducer(), inner(params, level), primes, |q| outer(t, q))
}
