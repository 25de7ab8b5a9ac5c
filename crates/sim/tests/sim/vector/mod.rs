// SPDX-License-Identifier: Apache-2.0
//! Tests the vector machine as a device. Random procedures and programs of three schemes run on its simulators and give
//! the CPU's bits.
#![allow(clippy::unwrap_used)]

mod draw;
mod programs;
mod random;
mod rtl;
