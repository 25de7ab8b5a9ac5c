// SPDX-License-Identifier: Apache-2.0
//! Each pass of BGV refuses an operation that it does not know, and names it.

use ringmill_compiler::Passes;
use ringmill_compiler::internals::{Costs, Frame, Manager, best, relinearised};
use ringmill_isa::Level;
use ringmill_isa::macros::{MacroImm, MacroOp};
use ringmill_schemes::bgv::Bgv;

use super::toy;
use crate::made_up::{named, traced, with};

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
    let early = relinearised::<Bgv>(traced("bgv"), Passes::ALL);
    for op in [MacroOp::Madeup, MacroOp::Rescale, MacroOp::Bootstrap] {
        let imm = match op {
            MacroOp::Bootstrap => MacroImm::Level(Level(1)),
            _ => MacroImm::None,
        };
        let program = with(early.clone(), op, imm);
        let refused = best(&program, &Manager::new(&program, frame).unwrap()).err();
        named(refused.unwrap(), op.mnemonic(), "levels");
    }
}
