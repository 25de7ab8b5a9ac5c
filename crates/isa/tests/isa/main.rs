// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate, in one binary: what they share is compiled once.

mod generated;
mod hostile;
mod macro_columns;
mod macro_linked;
mod macro_random;
mod macro_text;
mod mid;
mod mid_blocks;
mod mid_expand;
mod mid_kinds;
mod mid_random;
mod mid_smoke;
mod mid_torus;
mod source;
mod support;
mod target;
mod vector;
