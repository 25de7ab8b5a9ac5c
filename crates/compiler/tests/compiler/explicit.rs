// SPDX-License-Identifier: Apache-2.0
//! A program with the explicit instructions LOAD, MORPH and KSW has the same values and keys as without them. Its
//! mid-level program differs only by the HCF (halt) at its end.

use proptest::prelude::*;
use ringmill_isa::macros::text::{parse, print};
use ringmill_isa::macros::{
    MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue, Visibility, verify,
};
use ringmill_isa::mid::{Op, Step, stats};
use ringmill_schemes::ProcCache;

use crate::random::cases;
use crate::run::{run, small_params};
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::reference::evaluate;
use ringmill_compiler::ckks::{Compiled, Options};
use ringmill_compiler::internals::lower;
use ringmill_compiler::{CompileError, compile};

fn options(explicit: bool) -> Options {
    Options {
        explicit,
        ..Options::given(small_params())
    }
}

fn count(program: &MacroProgram, op: MacroOp) -> usize {
    program.instrs.iter().filter(|i| i.op == op).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_computed_stays(case in cases(4..30)) {
        let plain = match compile(case.program.clone(), &options(false)) {
            Err(CompileError::Transparent { .. }) => return Ok(()),
            compiled => compiled.unwrap(),
        };
        let explicit = compile(case.program.clone(), &options(true)).unwrap();
        let (was, is) = (&plain.managed, &explicit.managed);
        verify(is).unwrap();
        prop_assert_eq!(&parse(&print(is)).unwrap(), is);
        let values = [was, is].map(|p| evaluate(p, &case.inputs).unwrap());
        prop_assert_eq!(&values[0], &values[1]);

        let of = |op| count(was, op);
        prop_assert_eq!(count(is, MacroOp::Load), of(MacroOp::Input) + of(MacroOp::Encode));
        prop_assert_eq!(count(is, MacroOp::Morph), of(MacroOp::Rotate) + of(MacroOp::Conj));
        prop_assert_eq!(count(is, MacroOp::Ksw), count(is, MacroOp::Morph) + of(MacroOp::Relin));
        prop_assert_eq!(count(is, MacroOp::Rotate) + count(is, MacroOp::Conj) + count(is, MacroOp::Relin), 0);

        prop_assert_eq!(&plain.keys, &explicit.keys);
        prop_assert_eq!(&plain.plaintexts, &explicit.plaintexts);
        prop_assert!(explicit.program.halts() && !plain.program.halts());
        prop_assert_eq!(stats::program_counts(explicit.program.program())[&Op::Hcf], 1);
        let mut program = plain.program.clone().into_program();
        program.steps.push(Step::halt());
        prop_assert_eq!(&program, explicit.program.program());
    }
}

/// Compiles a program of a rotation, a conjugation and a product with explicit instructions. Returns it with values for
/// its input.
fn turned() -> (Compiled, Vec<Vec<num_complex::Complex64>>) {
    let mut t = TraceBuilder::new("turned", 8).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let turned = t.rotate(x, 3, None).unwrap();
    t.output("turned", turned, None).unwrap();
    let conjugate = t.conj(x, None).unwrap();
    let product = t.mul(conjugate, x, None).unwrap();
    t.output("product", product, None).unwrap();
    let values = (0..8).map(|i| num_complex::Complex64::new(f64::from(i) / 8.0, 0.25));
    let compiled = compile(t.finish(), &options(true)).unwrap();
    (compiled, vec![values.collect()])
}

/// Gives the results of a `MORPH` and of a product a second key switch, so that each of these instructions becomes a
/// call of its own. The outputs keep the bits of the fused calls.
#[test]
fn an_automorphism_by_itself_gives_the_same_bits() {
    let (compiled, inputs) = turned();
    let in_one = run(&compiled, &inputs);
    let mut apart = compiled.clone();
    for op in [MacroOp::Morph, MacroOp::Mul] {
        let managed = &mut apart.managed;
        let at = managed.instrs.iter().position(|i| i.op == op).unwrap();
        let value = managed.instrs[at].dst[0];
        let switch = managed
            .instrs
            .iter()
            .position(|i| i.src == [value])
            .unwrap();
        let again = MacroValue(managed.types.len() as u32);
        let made = managed.instrs[switch].dst[0];
        managed.types.push(managed.types[made.0 as usize]);
        managed.instrs.insert(
            switch + 1,
            MacroInstr {
                op: MacroOp::Ksw,
                dst: vec![again],
                src: vec![value],
                imm: MacroImm::None,
                loc: None,
            },
        );
        for reader in &mut managed.instrs[switch + 2..] {
            reader
                .src
                .iter_mut()
                .filter(|v| **v == made)
                .for_each(|v| *v = again);
        }
    }
    verify(&apart.managed).unwrap();
    let procs = ProcCache::new(small_params());
    let lowered = lower(&apart.managed, &apart.keys, &procs, (None, &options(true))).unwrap();
    let name = |p: &std::sync::Arc<ringmill_isa::mid::Procedure>| p.name.clone();
    let names: Vec<String> = lowered.program.procs.iter().map(name).collect();
    for part in ["ckks.morph", "ckks.key_switch", "ckks.mul.", "ckks.relin"] {
        assert!(names.iter().any(|name| name.starts_with(part)), "{names:?}");
    }
    apart.program = lowered.program;
    assert_eq!(run(&apart, &inputs), in_one);
}

/// Checks the macro instructions that two procedures of a compiled program stand for.
#[test]
fn procedures_know_what_they_stand_for() {
    let (compiled, _) = turned();
    let of = compiled.macros_of_procedures();
    let named = |part: &str| {
        let found = of.iter().find(|(name, _)| name.starts_with(part));
        *found.unwrap_or_else(|| panic!("{part}: {of:?}")).1
    };
    assert_eq!(named("ckks.rotate"), [MacroOp::Morph, MacroOp::Ksw]);
    assert_eq!(named("ckks.mul_relin"), [MacroOp::Mul, MacroOp::Ksw]);
}

/// Checks that the verifier refuses outputs of values in distant memory and under another secret.
#[test]
fn values_far_away_and_under_other_secrets_are_refused() {
    let (compiled, _) = turned();
    let text = print(&compiled.managed);
    let types = |want: fn(&MacroType) -> bool| {
        let at = compiled.managed.types.iter().position(want).unwrap();
        format!("%{at}")
    };
    let far = types(|ty| matches!(ty, MacroType::Distant { .. }));
    let morphed = types(|ty| matches!(ty, MacroType::Morphed { .. }));
    let output = text.lines().find(|l| l.contains("OUTPUT")).unwrap();
    let value = output.split_whitespace().nth(1).unwrap();
    for (instead, says) in [
        (
            &far,
            "expected a ciphertext, found a ciphertext in distant memory, which LOAD brings near",
        ),
        (
            &morphed,
            "expected a ciphertext, found a ciphertext under another secret, which KSW takes",
        ),
    ] {
        let bad = text.replace(output, &output.replace(value, instead));
        let said = verify(&parse(&bad).unwrap()).unwrap_err().to_string();
        assert!(said.contains(says) && said.contains("OUTPUT"), "{said}");
    }
}
