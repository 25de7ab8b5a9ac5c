// SPDX-License-Identifier: Apache-2.0
//! The TFHE parameters that a bootstrapping engine supports.

/// The TFHE parameters of a bootstrapping engine. An engine runs bootstraps of these parameters only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Engine {
    /// The dimension n of the LWE ciphertexts that a blind rotation takes.
    pub dimension: usize,
    /// The base-2 logarithm of the degree N of the ring in which a blind rotation computes.
    pub log_degree: u8,
    /// The number m of secret key bits that one step of the engine's blind rotation handles.
    pub unrolling: usize,
    /// The digits into which the external products of a blind rotation cut the accumulator.
    pub bootstrap: Digits,
    /// The digits into which the LWE key switch cuts the words of a mask.
    pub key_switch: Digits,
}

/// The digits of a gadget decomposition: `levels` digits of `log_base` bits each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digits {
    pub log_base: u32,
    pub levels: usize,
}
