// SPDX-License-Identifier: Apache-2.0
//! Each pass that gives operations a meaning refuses an operation that it does not know, and names it. Passes that read
//! only the operation's row in the table of operations keep it. Passes of one scheme are tested in that scheme's
//! folder.

use std::fmt::Display;

use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::exact::IntegerRange;
use ringmill_compiler::internals::{explicit, noise_of_outputs, of_scheme, relinearised};
use ringmill_compiler::{CompileError, Compiles, Lowerable, Options, Passes, ckks, compile};
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, SchemeName, Visibility};
use ringmill_schemes::bfv::Bfv;
use ringmill_schemes::bgv::Bgv;
use ringmill_schemes::ckks::Ckks;

use crate::run::small_params;

/// Returns a program of a negation, a square and a rotation.
pub fn traced(scheme: &str) -> MacroProgram {
    let mut t = TraceBuilder::new("made_up", 8).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = t.neg(x, None).unwrap();
    let y = t.square(y, None).unwrap();
    let y = t.rotate(y, 1, None).unwrap();
    t.output("y", y, None).unwrap();
    let mut program = t.finish();
    program.scheme = SchemeName::new(scheme).unwrap();
    program
}

/// Returns the program with another operation in place of its first rotation.
pub fn with(mut program: MacroProgram, op: MacroOp, imm: MacroImm) -> MacroProgram {
    let rotation = |i: &&mut MacroInstr| i.op == MacroOp::Rotate;
    let instr = program.instrs.iter_mut().find(rotation).unwrap();
    (instr.op, instr.imm) = (op, imm);
    program
}

/// Asserts that an error names an operation and the pass that refuses it.
pub fn named(error: impl Display, op: &str, pass: &str) {
    let error = error.to_string();
    let refused = error.contains("has no meaning for");
    assert!(
        refused && error.contains(op) && error.contains(pass),
        "{error}"
    );
}

fn made_up(program: MacroProgram) -> MacroProgram {
    with(program, MacroOp::Madeup, MacroImm::None)
}

/// Asserts that a scheme's evaluation in the clear, choice of keys, and lowering refuse the made-up operation.
fn scheme_refuses<S: Compiles>(options: &Options<S>, message: S::Message, lowering: &str) {
    let compiled = compile::<S>(traced(S::NAME), options).unwrap();
    let params = &compiled.params;
    let managed = made_up(compiled.managed.clone());
    let is_it = |i: &&MacroInstr| i.op == MacroOp::Madeup;
    let instr = managed.instrs.iter().find(is_it).unwrap();
    let lowerable = Lowerable {
        types: &managed.types,
        instr,
        switched: false,
        seeded: false,
    };
    named(S::code(params, &lowerable).unwrap_err(), "MADEUP", lowering);
    let keys = S::automorphisms(params, instr).unwrap_err();
    named(keys, "MADEUP", "keys");
    let keys = S::keys(&managed, params, None).unwrap_err();
    named(keys, "MADEUP", "keys");
    let in_clear = S::evaluate(&managed, &[message]).unwrap_err();
    named(in_clear, "MADEUP", "in the clear");
    let other = of_scheme::<S>(&made_up(traced(S::NAME)));
    let other = other.unwrap_err().to_string();
    assert!(
        other.contains("MADEUP") && other.contains(S::NAME),
        "{other}"
    );
    let refused = compile::<S>(made_up(traced(S::NAME)), options).unwrap_err();
    assert!(refused.to_string().contains("MADEUP"), "{refused}");
}

#[test]
fn each_scheme_refuses_it() {
    let ckks = ckks::Options::given(small_params());
    scheme_refuses::<Ckks>(&ckks, vec![1.0.into(); 8], "lowering of CKKS");
    let options = Options::<Bfv>::default();
    scheme_refuses::<Bfv>(&options, vec![1; 8], "lowering of BFV");
    let options = Options::<Bgv>::default();
    scheme_refuses::<Bgv>(&options, vec![1; 8], "lowering of BGV");
}

#[test]
fn analyses_of_integers_refuse_it() {
    let ranges = [IntegerRange::up_to(3)];
    let program = made_up(traced("bfv"));
    let unknown = Bfv::fit(&program, &Options::default(), &ranges).err();
    named(unknown.unwrap(), "MADEUP", "integers' ranges");
    let program = made_up(traced("bgv"));
    let unknown = Bgv::fit(&program, &Options::default(), &ranges).err();
    named(unknown.unwrap(), "MADEUP", "integers' ranges");
    let compiled = compile::<Bfv>(traced("bfv"), &Options::default()).unwrap();
    let managed = made_up(compiled.managed);
    let noise = noise_of_outputs(&managed, &compiled.params).unwrap_err();
    named(noise, "MADEUP", "noise");
}

#[test]
fn passes_by_columns_keep_it() {
    let is_there = |program: &MacroProgram| {
        let mut instrs = program.instrs.iter();
        assert!(instrs.any(|i| i.op == MacroOp::Madeup));
    };
    for passes in [Passes::ALL, Passes::NONE] {
        let relinearised = relinearised::<Ckks>(made_up(traced("ckks")), passes);
        is_there(&relinearised);
        // The operation takes ciphertexts of two polynomials, by its row in the table of operations.
        let relins = relinearised.instrs.iter();
        assert_eq!(relins.filter(|i| i.op == MacroOp::Relin).count(), 1);
    }
    let none = |_: &MacroInstr| Ok::<_, CompileError>(Vec::new());
    is_there(&explicit(made_up(traced("ckks")), none).unwrap());
}

#[test]
fn what_the_last_pass_writes_it_is_not_given() {
    let none = |_: &MacroInstr| Ok::<_, CompileError>(Vec::new());
    let loads = with(traced("ckks"), MacroOp::Load, MacroImm::None);
    named(explicit(loads, none).unwrap_err(), "LOAD", "writes LOAD");
}
