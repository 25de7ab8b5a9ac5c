// SPDX-License-Identifier: Apache-2.0
//! Homomorphic encryption schemes. A scheme is one folder: parameters, keys, encodings, encryption, and homomorphic
//! operations as mid-level programs. What they share stands beside them: [`scheme`] and [`roles`] (what a scheme and
//! its parties offer the layers above), [`rlwe`] (what the ring schemes have in common), [`exact`] (what those of exact
//! integers have in common beside it) and [`file`].

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
