// SPDX-License-Identifier: Apache-2.0
//! An operation that nobody knows is refused by each pass of CKKS, by its name.
#![allow(clippy::unwrap_used)] // tests

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroImm, MacroOp};
use ringmill_schemes::ckks::Ckks;

use super::depth::Depths;
use super::range::{InputRange, Spans};
use super::{Options, algebra, alike, canonical::CanonicalScales, scale};
use crate::tests::made_up::{named, traced, with};
use crate::tests::run::small_params;
use crate::{compile, pipeline, scheme::options::Passes};

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
    let mut polys = polys.find_map(|i| algebra::result(&managed, i, 0, &[], &|_| true).err());
    named(polys.take().unwrap(), "MADEUP", "polynomials");
    let alike = alike::origins(&managed, &params).unwrap_err();
    named(alike, "MADEUP", "alike");

    let early = pipeline::relinearised::<Ckks>(traced("ckks"), Passes::ALL);
    let early = with(early, MacroOp::Madeup, MacroImm::None);
    let depths = Depths::new(&early, Level(0)).unwrap_err();
    named(depths, "MADEUP", "levels");
    let scales = CanonicalScales::new(params.cipher_moduli(), params.default_scale()).unwrap();
    let managed = scale::run(early, &scales, Level(0)).unwrap_err();
    named(managed, "MADEUP", "levels");
}
