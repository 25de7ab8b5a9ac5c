//! Sums with plaintexts: the plaintext times the ciphertext's correction factor.

use ringmill_isa::Poly;
use ringmill_isa::mid::ProcBuilder;

use super::params::Params;
use crate::exact::{ExactParams, lifted};
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

/// c_0, and f m mod t about zero for the factor f that each call gives.
fn operands(e: &mut Emit<Params>) -> Result<(Vec<Limb>, Vec<Limb>), RlweError> {
    let plain = e.own.plain_index();
    let c0 = e.cipher(0, Poly::FIRST)?;
    let factor = e.residue(plain)?;
    let m = e.plain_residues(1, plain)?;
    let m = e.ops().muli_of(m.value, factor)?;
    Ok((c0, lifted(e, m)?))
}
