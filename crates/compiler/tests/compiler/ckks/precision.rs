// SPDX-License-Identifier: Apache-2.0
//! The prediction of precision refuses an operation whose error it does not know.

use ringmill_compiler::ckks::{InputRange, Options};
use ringmill_compiler::compile;
use ringmill_compiler::internals::walk;
use ringmill_isa::Level;
use ringmill_isa::macros::{MacroImm, MacroOp};
use ringmill_limits::Watch;
use ringmill_schemes::ckks::Ckks;

use crate::made_up::{named, traced, with};
use crate::run::small_params;

#[test]
fn what_has_no_error_here_is_refused_by_its_name() {
    let compiled = compile::<Ckks>(traced("ckks"), &Options::given(small_params()));
    let managed = compiled.unwrap().managed;
    let ranges = [InputRange::Disc { radius: 1.0 }];
    // The analysis of ranges, which runs before, takes a `BOOTSTRAP`, since it keeps the message.
    let level = MacroImm::Level(Level(2));
    let program = with(managed, MacroOp::Bootstrap, level);
    let (params, watch) = (small_params(), Watch::default());
    let typical = vec![f64::INFINITY; program.types.len()];
    let refused = walk(&program, &params, &ranges, &[], typical, (None, &watch));
    named(refused.unwrap_err(), "BOOTSTRAP", "precision");
}
