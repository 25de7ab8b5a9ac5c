// SPDX-License-Identifier: Apache-2.0
//! Each pass of CKKS refuses an operation that it does not know, and names it.

use ringmill_compiler::ckks::{InputRange, Options};
use ringmill_compiler::internals::{
    CanonicalScales, Spans, origins, polynomial, relinearised, with_levels,
};
use ringmill_compiler::{Passes, compile};
use ringmill_isa::Level;
use ringmill_isa::macros::{MacroImm, MacroOp};
use ringmill_schemes::ckks::Ckks;

use crate::made_up::{named, traced, with};
use crate::run::small_params;

#[test]
fn each_pass_refuses_it() {
    let params = small_params();
    let managed = compile::<Ckks>(traced("ckks"), &Options::given(small_params()));
    let managed = with(managed.unwrap().managed, MacroOp::Madeup, MacroImm::None);
    let ranges = [InputRange::Disc { radius: 1.0 }];
    let mut spans = Spans::new(&managed, &ranges, true);
    let mut steps = managed.instrs.iter().map(|instr| spans.step(instr));
    named(steps.find_map(Result::err).unwrap(), "MADEUP", "ranges");
    let mut polys = managed.instrs.iter();
    let mut polys = polys.find_map(|i| polynomial(&managed, i, 0, &[], &|_| true).err());
    named(polys.take().unwrap(), "MADEUP", "polynomials");
    let alike = origins(&managed, &params).unwrap_err();
    named(alike, "MADEUP", "alike");

    let early = relinearised::<Ckks>(traced("ckks"), Passes::ALL);
    let early = with(early, MacroOp::Madeup, MacroImm::None);
    let scales = CanonicalScales::new(params.cipher_moduli(), params.default_scale()).unwrap();
    let managed = with_levels(early, &scales, Level(0)).unwrap_err();
    named(managed, "MADEUP", "levels");
}
