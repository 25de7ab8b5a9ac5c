// SPDX-License-Identifier: Apache-2.0
//! Every pass keeps the results of a program, and the verifier accepts its programs.

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_compiler::ckks::reference::evaluate;
use ringmill_compiler::internals::{CanonicalScales, explicit, relinearised, with_levels};
use ringmill_compiler::{CompileError, Compiles, Passes};
use ringmill_isa::Level;
use ringmill_isa::macros::{
    MacroOp, MacroProgram, MacroValue, Stage, stage, verify, verify_with_primes,
};
use ringmill_schemes::ckks::Ckks;

use crate::random::{Case, MAX_DEPTH, cases};
use crate::run::small_params;

/// Moduli that stand in for primes, not all of them prime: one near 2^60 and six near 2^40. None is exactly 2^40, so
/// the canonical scales drift as those of real primes do.
pub const PRIMES: [u64; 7] = [
    (1 << 60) - 93,
    (1 << 40) + 15,
    (1 << 40) - 87,
    (1 << 40) + 141,
    (1 << 40) - 167,
    (1 << 40) + 300,
    (1 << 40) - 203,
];

const MERGED: Passes = Passes {
    cse: true,
    ..Passes::NONE
};
const LIVE: Passes = Passes {
    dce: true,
    ..Passes::NONE
};
const FEWEST: Passes = Passes {
    lazy_relin: true,
    ..Passes::NONE
};
const HOISTED: Passes = Passes {
    hoist: true,
    ..Passes::NONE
};
const FOLDED: Passes = Passes {
    fold: true,
    ..Passes::NONE
};
/// Choices of passes with at most one optional pass each.
const ONE: [Passes; 6] = [Passes::NONE, FOLDED, MERGED, LIVE, FEWEST, HOISTED];

/// Returns the number of instructions that are no relinearisations.
fn of_others(program: &MacroProgram) -> usize {
    let instrs = program.instrs.iter();
    instrs.filter(|i| i.op != MacroOp::Relin).count()
}

fn close(a: &[Vec<Complex64>], b: &[Vec<Complex64>]) -> bool {
    a.len() == b.len()
        && a.iter()
            .flatten()
            .zip(b.iter().flatten())
            .all(|(x, y)| (x - y).norm() < 1e-9)
}

fn keeps(
    case: &Case,
    pass: impl Fn(MacroProgram) -> Result<MacroProgram, CompileError>,
) -> Result<MacroProgram, TestCaseError> {
    let after = pass(case.program.clone()).unwrap();
    verify(&after).map_err(|e| TestCaseError::fail(format!("{e}\n{after:?}")))?;
    let expected = evaluate(&case.program, &case.inputs).unwrap();
    let got = evaluate(&after, &case.inputs).unwrap();
    prop_assert!(close(&expected, &got), "{expected:?}\n{got:?}\n{after:?}");
    Ok(after)
}

proptest! {
    #[test]
    fn each_pass_keeps_the_result(case in cases(0..40)) {
        verify(&case.program).unwrap();
        let folded = Ckks::simplified(case.program.clone(), Passes::ALL);
        keeps(&case, |_| Ok(folded.clone()))?;
        for passes in ONE {
            keeps(&case, |p| Ok(relinearised::<Ckks>(p, passes)))?;
        }
    }

    #[test]
    fn optimising_never_adds_instructions(case in cases(0..40)) {
        let relins = |p: &MacroProgram| p.instrs.iter().filter(|i| i.op == MacroOp::Relin).count();
        let with = |passes| relinearised::<Ckks>(case.program.clone(), passes);
        let [eager, fewest, merged, live] = [Passes::NONE, FEWEST, MERGED, LIVE].map(with);
        prop_assert!(relins(&fewest) <= relins(&eager));
        for fewer in [&merged, &live] {
            prop_assert!(fewer.instrs.len() <= eager.instrs.len());
            prop_assert!(of_others(fewer) <= case.program.instrs.len());
        }
        let folded = with(Passes { fold: true, ..LIVE });
        let ciphers = |p: &MacroProgram| {
            p.instrs.iter().filter(|i| !matches!(i.op, MacroOp::Encode | MacroOp::Relin)).count()
        };
        prop_assert!(ciphers(&folded) <= ciphers(&live));
    }

    #[test]
    fn managed_programs_verify(case in cases(0..40), bits in 0u8..32, output_level in 0u32..2) {
        let on = |bit: u8| bits >> bit & 1 == 1;
        let passes = Passes { fold: on(0), cse: on(1), dce: on(2), lazy_relin: on(3), hoist: on(4) };
        let scales = CanonicalScales::new(&PRIMES, 2f64.powi(40)).unwrap();
        prop_assert!(scales.top() > Level(MAX_DEPTH + 1));
        let managed = keeps(&case, |p| with_levels(relinearised::<Ckks>(p, passes), &scales, Level(output_level)))?;
        prop_assert_eq!(stage(&managed), Stage::Managed);
        verify_with_primes(&managed, &PRIMES).map_err(|e| TestCaseError::fail(e.to_string()))?;
        exact_sums(&managed)?;
    }
}

/// Asserts that the operands of every sum have exactly equal scales, not only scales within the verifier's tolerance.
fn exact_sums(managed: &MacroProgram) -> Result<(), TestCaseError> {
    let at = |v: &MacroValue| managed.types[v.0 as usize].at();
    for instr in managed
        .instrs
        .iter()
        .filter(|i| matches!(i.op, MacroOp::Add | MacroOp::Sub))
    {
        prop_assert_eq!(at(&instr.src[0]), at(&instr.src[1]));
        prop_assert_eq!(at(&instr.src[0]), at(&instr.dst[0]));
    }
    Ok(())
}

/// Checks that random programs contain every instruction of the macro level that CKKS programs without bootstraps have
/// after compilation, so that the tests above cover each.
#[test]
fn random_programs_reach_every_instruction() {
    use proptest::strategy::ValueTree;
    let scales = CanonicalScales::new(&PRIMES, 2f64.powi(40)).unwrap();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let case = cases(20..40).new_tree(&mut runner).unwrap().current();
        let relinearised = relinearised::<Ckks>(case.program, Passes::ALL);
        let managed = with_levels(relinearised, &scales, Level(0)).unwrap();
        seen.extend(managed.instrs.iter().map(|i| i.op));
        let params = small_params();
        let explicit = explicit(managed, |instr| Ckks::automorphisms(&params, instr));
        seen.extend(explicit.unwrap().instrs.iter().map(|i| i.op));
    }
    // Calls, repeats and declared bounds are not in compiled programs. CKKS has no correction factors, tests for zero
    // or quotients, and these programs do not bootstrap.
    let other = |op: &MacroOp| {
        matches!(
            op,
            MacroOp::Refactor
                | MacroOp::Iszero
                | MacroOp::Quotient
                | MacroOp::Bootstrap
                | MacroOp::Call
                | MacroOp::Repeat
                | MacroOp::Bounded
        )
    };
    let plain = |op: &MacroOp| !other(op) && !op.is_linked();
    let all = MacroOp::ALL.into_iter().filter(plain).collect();
    assert_eq!(seen, all);
}
