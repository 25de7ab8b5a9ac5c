// SPDX-License-Identifier: Apache-2.0
//! A bootstrap is a procedure like any other: a `CALL` of it lowers to what a `BOOTSTRAP` does.
#![allow(clippy::unwrap_used)] // tests

use std::sync::Arc;

use ringmill_isa::macros::{MacroImm, MacroOp, verify_with_primes};
use ringmill_schemes::ProcCache;

use super::{Options, one_bootstrap, toy};
use crate::lower;

#[test]
fn a_call_of_the_procedure_is_a_bootstrap() {
    let procedure = Arc::new(toy::procedure());
    let params = procedure.params();
    let compiled = one_bootstrap(&procedure).unwrap();
    let options = Options {
        bootstrapping: Some(Arc::clone(&procedure)),
        seeded_keys: procedure.seeded(),
        ..Options::given(Arc::clone(params))
    };
    let mut called = compiled.managed.clone();
    called.procs.clone_from(&procedure.program().procs);
    let bootstrap = called.instrs.iter_mut();
    for instr in bootstrap.filter(|instr| instr.op == MacroOp::Bootstrap) {
        (instr.op, instr.imm) = (MacroOp::Call, MacroImm::Proc(0));
    }
    verify_with_primes(&called, params.cipher_moduli()).unwrap();
    let procs = ProcCache::new(Arc::clone(params));
    let lowered = lower::run(&called, &compiled.keys, &procs, &options).unwrap();
    assert_eq!(lowered.program.program(), compiled.program.program());
    assert_eq!(lowered.plaintexts, compiled.plaintexts);
    assert_eq!(lowered.stands_for, compiled.stands_for);
    // Without its keys it is refused, and so is a step outside of procedures.
    assert!(lower::run(&called, &[], &procs, &options).is_err());
    let mut outside = called.clone();
    let step = &procedure.program().procs[0].instrs[0];
    outside
        .types
        .push(procedure.program().procs[0].types[step.dst[0].0 as usize]);
    let mut step = step.clone();
    step.dst[0].0 = outside.types.len() as u32 - 1;
    outside.instrs.insert(0, step);
    let refused = verify_with_primes(&outside, params.cipher_moduli()).unwrap_err();
    assert!(
        refused.to_string().contains("outside of procedures"),
        "{refused}"
    );
}
