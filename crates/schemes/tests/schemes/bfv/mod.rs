// SPDX-License-Identifier: Apache-2.0
//! Tests BFV against messages in the clear, and its operations against their definitions in big integers.

mod circuits;
mod definitions;
mod integers;
mod noise_terms;
mod refusals;
mod seal;
mod setup;
