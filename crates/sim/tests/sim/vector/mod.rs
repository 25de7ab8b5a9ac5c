// SPDX-License-Identifier: Apache-2.0
//! The vector machine behind a front end: random procedures through its back end and both simulators beside the CPU device, and
//! programs of three schemes made for it.
#![allow(clippy::unwrap_used)]

mod draw;
mod programs;
mod random;
mod rtl;
