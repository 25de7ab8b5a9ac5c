// SPDX-License-Identifier: Apache-2.0
//! SEAL's files.

mod blake;
mod chain;
mod objects;
mod raw;
