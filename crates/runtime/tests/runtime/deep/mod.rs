// SPDX-License-Identifier: Apache-2.0
//! Programs of any depth: BGV that bootstraps.

mod clear;
mod one;
mod random;
mod setting;
