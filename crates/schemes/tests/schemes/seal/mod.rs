// SPDX-License-Identifier: Apache-2.0
//! Tests files in SEAL's format.

mod blake;
mod chain;
mod objects;
mod raw;
