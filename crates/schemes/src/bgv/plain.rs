// SPDX-License-Identifier: Apache-2.0
//! Adds plaintexts to BGV ciphertexts: the plaintext is multiplied by the ciphertext's correction factor.

use ringmill_isa::Poly;
use ringmill_isa::mid::ProcBuilder;
use ringmill_math::Modulus;

use super::factor::Factor;
use super::params::Params;
use crate::At;
use crate::exact::{Embedding, lifted, plain_index};
use crate::rlwe::RlweError;
use crate::rlwe::ops::{Emit, Limb, Variant};

pub(super) fn add_plain(e: &mut Emit<Params>, _: &Variant) -> Result<(), RlweError> {
    let (c0, m) = operands(e)?;
    let sum = e.zip(&c0, &m, ProcBuilder::add)?;
    e.result(0, Poly::FIRST, &sum)
}

pub(super) fn sub_plain(e: &mut Emit<Params>, _: &Variant) -> Result<(), RlweError> {
    let (c0, m) = operands(e)?;
    let difference = e.zip(&c0, &m, ProcBuilder::sub)?;
    e.result(0, Poly::FIRST, &difference)
}

/// Returns the polynomial c_0 of the ciphertext operand, and the plaintext operand m times the ciphertext's
/// correction factor f. The product f m is reduced modulo the plaintext modulus, nearest to 0. Each call of the
/// procedure sets f.
fn operands(e: &mut Emit<Params>) -> Result<(Vec<Limb>, Vec<Limb>), RlweError> {
    let plain = plain_index(e);
    let c0 = e.cipher(0, Poly::FIRST)?;
    let factor = e.residue(plain)?;
    let m = e.plain_residues(1, plain)?;
    let m = e.ops().muli_of(m.value, factor)?;
    Ok((c0, lifted(e, m)?))
}

/// Returns the constants by which [`add_plain`] maps a plaintext to residues modulo the primes of a ciphertext. `at` is
/// the ciphertext's level and correction factor.
pub(super) fn embedding(params: &Params, at: &At<Factor>) -> Result<Embedding, RlweError> {
    params.check_level(at.level)?;
    let t = params.plain_at(at.annotation.plain())?;
    if at.annotation.value() >= t.value() {
        let (what, modulus) = ("correction factor", t.value());
        return Err(RlweError::Residue { what, modulus });
    }
    let half = t.value() / 2;
    let primes = params.reducers().get(..at.level.primes());
    let centred = |q: Modulus| Ok([1, q.neg(q.reduce(half))]);
    let inner = [at.annotation.value(), half];
    Embedding::new(t.reducer(), inner, primes.unwrap_or_default(), centred)
}
