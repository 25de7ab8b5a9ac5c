// SPDX-License-Identifier: Apache-2.0
//! Tests of the passes on random and on chosen programs.

mod explicit;
mod factors;
pub mod made_up;
mod passes;
mod pipeline;
pub mod random;
mod repeats;
pub mod run;
mod saved;
mod shapes;
mod transparent;
mod worst;
