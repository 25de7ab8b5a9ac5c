// SPDX-License-Identifier: Apache-2.0
//! Tests of CKKS bootstrapping.

mod procedure;
mod sawtooth;
mod transform;
