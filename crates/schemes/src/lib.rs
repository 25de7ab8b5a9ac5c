// SPDX-License-Identifier: Apache-2.0
//! Homomorphic encryption schemes on polynomial rings. A scheme is one folder: parameters, keys, encodings,
//! encryption, and homomorphic operations as mid-level programs. The parts that schemes share have modules of their
//! own. [`scheme`] and [`roles`] are the interface of a scheme and its parties to the layers above. [`rlwe`] is the
//! common part of the ring schemes, [`exact`] that of the schemes of exact integers, and [`file`](mod@file) that of
//! files.

pub mod bfv;
pub mod bgv;
mod cache;
pub mod ckks;
pub mod exact;
pub mod file;
pub mod identity;
pub mod rlwe;
pub mod scheme;
pub mod seal;
pub mod size;

pub use cache::ProcCache;
pub use identity::Origin;
pub use scheme::roles;
pub use scheme::{At, Encrypted, Operation, ParameterSet, Scheme, SchemeTag};

/// Items for the crate's own tests, which are no part of the interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::ckks::noise::paths::{Errors, Own, Paths};
    pub use crate::ckks::noise::poly::Values;
    pub use crate::ckks::noise::random::Random;
    pub use crate::ckks::noise::sources::Registry;
    pub use crate::rlwe::evaluator::powers_of_two;
    pub use crate::rlwe::params_builder::digits;
    pub use crate::seal::blake::Blake2xb;
    pub use crate::seal::chain::Chain;
    pub use crate::seal::sink::Sink;

    pub mod range {
        pub use crate::ckks::noise::range::{of_polynomial, power};
    }

    pub mod tail {
        pub use crate::ckks::noise::tail::{bound, exponent};
    }

    /// Writers of SEAL's files that need no parameters of Ringmill.
    pub mod emit {
        pub use crate::seal::emit::{ciphertext, keys, parameters, plaintext};
    }

    /// Readers of SEAL's files that need no parameters of Ringmill.
    pub mod raw {
        pub use crate::seal::raw::{
            RawKey, read_ciphertext, read_keys, read_parameters, read_plaintext, read_public_key,
        };
    }
}
