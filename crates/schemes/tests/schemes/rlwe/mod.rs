// SPDX-License-Identifier: Apache-2.0
//! Tests the code that the ring schemes share.

mod distributions;
mod evaluator;
mod ledger;
mod limbs;
mod many_primes;
mod params_builder;
mod public;
mod security;
