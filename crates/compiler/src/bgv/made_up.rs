// SPDX-License-Identifier: Apache-2.0
//! An operation that nobody knows is refused by each pass of BGV, by its name.
#![allow(clippy::unwrap_used)] // tests

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroImm, MacroOp};
use ringmill_schemes::bgv::Bgv;

use super::cost::Costs;
use super::levels::{self, Frame};
use super::toy;
use crate::pipeline;
use crate::scheme::options::Passes;
use crate::tests::made_up::{named, traced, with};

#[test]
fn each_pass_refuses_it() {
    let procedure = toy::procedure();
    let params = procedure.params();
    let costs = Costs::new(params, &procedure).unwrap();
    let unknown = costs
        .of(MacroOp::Madeup, Level(1), 2, 1, false)
        .unwrap_err();
    named(unknown, "MADEUP", "costs");
    let frame = Frame {
        params,
        entry: &[],
        output: Level::LOWEST,
        measure: false,
        deep: None,
        watch: &Default::default(),
    };
    let early = pipeline::relinearised::<Bgv>(traced("bgv"), Passes::ALL);
    for op in [MacroOp::Madeup, MacroOp::Rescale, MacroOp::Bootstrap] {
        let imm = match op {
            MacroOp::Bootstrap => MacroImm::Level(Level(1)),
            _ => MacroImm::None,
        };
        let refused = levels::run(&with(early.clone(), op, imm), frame).err();
        named(refused.unwrap(), op.mnemonic(), "levels");
    }
}
