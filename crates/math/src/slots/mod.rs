// SPDX-License-Identifier: Apache-2.0
//! Slots of Z_{p^e}\[x\]/(x^N + 1), p an odd prime, N a power of two. This is plain algebra; no ciphertext occurs.
//!
//! [`SlotStructure`] says how many slots there are and how Galois elements move them, for every e at once. [`SlotEncoder`]
//! encodes integers, one for each slot, and elements of the slot ring modulo one p^e, and makes rotations. Every mask and
//! constant lies in a small subring, as a [`CorePoly`].

mod core;
mod element;
mod encoder;
mod error;
mod factors;
mod galois_ring;
pub mod linear;
mod rotation;
mod structure;
mod transform;

pub use core::CorePoly;
pub use element::SlotElement;
pub use encoder::SlotEncoder;
pub use error::SlotError;
pub use factors::Factor;
pub use rotation::Rotation;
pub use structure::{Dimension, Place, SlotStructure, Split};
