// SPDX-License-Identifier: Apache-2.0
//! The table of BFV operations: each row has an operation's operands, keys, results and emitter.

use super::error::BfvError;
use super::params::Params;
use super::{multiply, plain};
use crate::exact;
use crate::rlwe::ops::scaling;
use crate::rlwe::ops::{Immediate, operations};
use crate::rlwe::{self, Galois, Level};

/// A BFV operation, with everything that determines its instructions. It is the cache key of its procedure.
pub type OpKey = rlwe::OpKey<Op>;

/// A cache of the procedures of one BFV parameter set.
pub type ProcCache = crate::ProcCache<super::Bfv>;

operations! {
    scheme "bfv", Params, BfvError;
    plain operand: None, plain::add_plain, plain::sub_plain, exact::mul_plain;
    products: multiply::mul, multiply::square, multiply::mul_relin, multiply::square_relin;
    /// Multiplies a ciphertext by a plaintext whose coefficients stand for integers from 0 to t - 1 for the plaintext
    /// modulus t, as SEAL does with some plaintexts of one coefficient. The noise is up to t times that of
    /// [`Self::MulPlain`].
    MulPlainUnsigned => (".mul_plain_unsigned", &[ANY], One, None, None, Same,     Largest, None, exact::mul_plain_unsigned) [Mul],
    /// Divides a ciphertext by the last prime of its level, with rounding. The result is one level lower.
    ModSwitch        => (".mod_switch",         &[ANY], None, None, None, OneLower, Largest, None, scaling::rescale) [Rescale],
}

impl OpKey {
    pub fn add_plain(level: Level, size: u32) -> Self {
        Self::of(Op::AddPlain, level, &[size])
    }

    pub fn sub_plain(level: Level, size: u32) -> Self {
        Self::of(Op::SubPlain, level, &[size])
    }

    pub fn mul_plain_unsigned(level: Level, size: u32) -> Self {
        Self::of(Op::MulPlainUnsigned, level, &[size])
    }

    pub fn mod_switch(level: Level, size: u32) -> Self {
        Self::of(Op::ModSwitch, level, &[size])
    }
}
