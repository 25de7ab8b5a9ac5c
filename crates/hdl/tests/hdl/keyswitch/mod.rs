// SPDX-License-Identifier: Apache-2.0
//! The key-switching unit and its generator of masks: `rm_chacha20` against RFC 8439 and the `chacha20` crate, `rm_torus_ks`
//! against the software's key switch, bit for bit, and against its cycle model, cycle for cycle.

mod bench;
mod chacha;
pub mod faults;
mod refusals;
mod switches;
mod synthesis;
