// SPDX-License-Identifier: Apache-2.0
//! BFV and BGV on files in SEAL's formats, for Python, with one set of classes for both.

mod client;
mod evaluator;

pub(super) use client::{SealBfvClient, SealBgvClient};
pub(super) use evaluator::{SealBfvEvaluator, SealBgvEvaluator};
