// SPDX-License-Identifier: Apache-2.0
//! The tests of this crate, but for that of a million instructions, in one binary, so that their shared code is
//! compiled once. Files mirror the sources. Those without a source of the same name test several passes at once, on
//! random and on chosen programs.

mod bgv;
mod builder;
mod ckks;
mod cures;
mod digits;
mod exact;
mod explain;
mod explicit;
mod factors;
mod made_up;
mod mincut;
mod passes;
mod pipeline;
mod random;
mod refresh;
mod repeats;
mod run;
mod saved;
mod sequence;
mod shapes;
mod transparent;
mod worst;
