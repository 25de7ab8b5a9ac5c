// SPDX-License-Identifier: Apache-2.0
//! BFV and BGV in SEAL's formats, with one set of classes for both.

mod client;
mod evaluator;

pub(super) use client::{SealBfvClient, SealBgvClient};
pub(super) use evaluator::{SealBfvEvaluator, SealBgvEvaluator};
