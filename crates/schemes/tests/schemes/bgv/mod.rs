// SPDX-License-Identifier: Apache-2.0
//! Tests BGV against messages in the clear, its operations against their definitions in big integers, and its noise
//! against the bounds.

mod circuits;
mod definitions;
mod factor;
mod noise;
mod noise_terms;
mod primes_alone;
mod refusals;
mod seal;
mod setup;
