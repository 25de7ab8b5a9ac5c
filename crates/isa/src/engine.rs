// SPDX-License-Identifier: Apache-2.0
//! The limits that a bootstrapping engine sets to TFHE parameters.

/// The parameters that an engine supports. TFHE parameters must have these numbers for the engine to run their
/// bootstraps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Engine {
    /// n, the dimension of the LWE ciphertexts that a blind rotation takes.
    pub dimension: usize,
    /// log2 of the ring degree N.
    pub log_degree: u8,
    /// m, the secret bits of one step of its blind rotation.
    pub unrolling: usize,
    /// The digits of the blind rotation.
    pub bootstrap: Digits,
    /// The digits of the key switch.
    pub key_switch: Digits,
}

/// A gadget: `levels` digits of `log_base` bits each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digits {
    pub log_base: u32,
    pub levels: usize,
}
