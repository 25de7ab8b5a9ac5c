// SPDX-License-Identifier: Apache-2.0
//! Tests of the key-switching unit and of its generator of masks. `rm_chacha20` must agree with RFC 8439 and the
//! `chacha20` crate. `rm_torus_ks` must agree with the software's key switch, bit for bit, and with its cycle model,
//! cycle for cycle.

mod bench;
mod chacha;
pub mod faults;
mod refusals;
mod switches;
mod synthesis;
