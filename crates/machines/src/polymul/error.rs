// SPDX-License-Identifier: Apache-2.0
//! The errors of the polynomial multiplier: moduli, degrees, limbs and commands that the host refuses before the
//! machine sees them.

use ringmill_isa::mid::TableModulus;
use thiserror::Error;

use crate::MachineError;

/// The reason for which the polynomial multiplier refuses a modulus, a degree, a limb or a command.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum PolymulError {
    #[error("n = {got} is not a power of two")]
    NotPowerOfTwo { got: usize },
    #[error(
        "n = {got} is outside this machine's degrees, {least} to {most} (`max_log_n` of its description)"
    )]
    Degree {
        got: usize,
        least: usize,
        most: usize,
    },
    #[error(
        "modulus `{modulus}` is no NTT-friendly prime: this machine's units (`units` of its description) compute modulo these alone; the rest is the host's"
    )]
    Kind { modulus: TableModulus },
    #[error("modulus {q} is even: an NTT needs an odd prime")]
    Even { q: u64 },
    #[error("modulus {q} is outside the range for n = {n}: expected {least} <= q < 2^{bits}")]
    Range {
        q: u64,
        n: usize,
        least: u64,
        bits: u32,
    },
    #[error("modulus {q} is not 1 modulo 2n = {order}")]
    NotOneModulo { q: u64, order: u64 },
    #[error("modulus {q} is not prime")]
    Composite { q: u64 },
    #[error("no tables are loaded: load those of a degree and modulus first")]
    NoTables,
    #[error("no slot {got} of tables: a machine has {slots}, from 0")]
    Slot { got: usize, slots: usize },
    #[error(
        "polynomial {buf} of set {set} holds no limb: load one first, and again after tables of its slot or a full product (which overwrites polynomial 1)"
    )]
    NoData { set: usize, buf: usize },
    #[error(
        "the polynomials of set {set} were loaded under different tables: load both under those of one slot"
    )]
    Mixed { set: usize },
    #[error("a limb of {got} residues for n = {expected}")]
    Length { expected: usize, got: usize },
    #[error("residue {value} at position {at} is not below the modulus {q}")]
    NotReduced { at: usize, value: u64, q: u64 },
}

impl From<PolymulError> for MachineError {
    fn from(error: PolymulError) -> Self {
        Self::own(error)
    }
}
