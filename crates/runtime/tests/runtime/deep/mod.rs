// SPDX-License-Identifier: Apache-2.0
//! Tests of BGV programs of any depth, which bootstrap.

mod clear;
mod one;
mod random;
mod setting;
