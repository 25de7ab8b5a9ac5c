// SPDX-License-Identifier: Apache-2.0
//! Tests of BGV in the compiler.

mod bootstrapping;
mod deep;
mod levels;
mod made_up;
mod straight;
pub mod toy;
