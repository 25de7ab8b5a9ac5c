// SPDX-License-Identifier: Apache-2.0
//! Tests of CKKS bootstrapping.

mod cosine;
mod procedure;
mod transform;
