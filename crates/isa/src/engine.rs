// SPDX-License-Identifier: Apache-2.0
//! What a bootstrapping engine asks of TFHE's parameters.

/// The numbers of an engine that parameters must have for it to run their bootstraps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Engine {
    /// n, the dimension of the LWE ciphertexts that it rotates by.
    pub dimension: usize,
    /// log2 of the ring degree N.
    pub log_degree: u8,
    /// m, the secret bits of one step of its blind rotation.
    pub unrolling: usize,
    /// How the blind rotation cuts coefficients.
    pub bootstrap: Digits,
    /// How the key switch cuts coefficients.
    pub key_switch: Digits,
}

/// A gadget: `levels` digits of `log_base` bits each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digits {
    pub log_base: u32,
    pub levels: usize,
}
