// SPDX-License-Identifier: Apache-2.0
//! Straight-line programs of any depth compile, and bootstrap no more often than the same body in a repeat of one
//! iteration.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use ringmill_compiler::bgv::{CompileError, Options};
use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::internals::{each, relinearised};
use ringmill_compiler::{Compiles, Passes};
use ringmill_isa::macros::{
    MacroInstr, MacroOp, MacroProgram, SchemeName, Visibility, verify_with_primes,
};
use ringmill_schemes::bgv::Bgv;
use ringmill_schemes::bgv::bootstrap::{Maps, Procedure, Set};

use super::toy;

/// The form of a program: the body at top level, or in a repeat of this many iterations.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Form {
    Straight,
    Turns(u64),
}

const NAMES: [&str; 2] = ["x", "y"];

/// Returns the relinearised program of two inputs and two outputs that runs `body` in the given form. `body` takes two
/// values and two constants, a vector and a number, and returns two values.
fn traced(
    form: Form,
    body: impl Fn(&mut TraceBuilder, Vec<Traced>, [Traced; 2]) -> [Traced; 2],
) -> MacroProgram {
    let mut t = TraceBuilder::new("straight", 2).unwrap();
    let inputs = NAMES.map(|name| t.input(name, Visibility::Encrypted, None).unwrap());
    let constants = |t: &mut TraceBuilder| {
        let vector = t.vector(vec![(1.0, 0.0), (3.0, 0.0)], None).unwrap();
        [vector, t.scalar(5.0, None).unwrap()]
    };
    let results = match form {
        Form::Straight => {
            let constants = constants(&mut t);
            body(&mut t, inputs.to_vec(), constants).to_vec()
        }
        Form::Turns(turns) => {
            let given = t.begin_body("body", 2, None).unwrap();
            let constants = constants(&mut t);
            let results = body(&mut t, given, constants);
            let body = t.end(&results, None).unwrap();
            t.repeat(turns, &body, &inputs, None).unwrap()
        }
    };
    for (name, result) in NAMES.iter().zip(results) {
        t.output(name, result, None).unwrap();
    }
    let mut program = t.finish();
    program.scheme = SchemeName::new("bgv").unwrap();
    let plain = each(program, Bgv::constants).unwrap();
    let passed = |body| Ok::<_, CompileError>(relinearised::<Bgv>(body, Passes::ALL));
    each(plain, passed).unwrap()
}

/// Returns the number of `BOOTSTRAP`s in the program after level management, where each procedure counts once.
fn bootstraps(program: &MacroProgram, procedure: &Arc<Procedure>) -> Result<usize, CompileError> {
    let params = procedure.params();
    let options = Options {
        bootstrapping: Some(Arc::clone(procedure)),
        seeded_keys: procedure.seeded(),
        ..Options::given(Arc::clone(params))
    };
    let managed = Bgv::fit(program, &options, &[])?.managed;
    verify_with_primes(&managed, params.cipher_moduli()).unwrap();
    let procs = managed.procs.iter().flat_map(|proc| &proc.instrs);
    let all = procs.chain(&managed.instrs);
    Ok(all.filter(|i| i.op == MacroOp::Bootstrap).count())
}

fn of(set: Set) -> Arc<Procedure> {
    let setup = set.bootstrapping().unwrap();
    let maps = Maps::new(&setup, setup.shape()).unwrap();
    Arc::new(Procedure::new(setup, maps, true).unwrap())
}

/// A step of a random body: the number of an operation, and two numbers that choose its operands or its parameter.
type Step = (u8, u16, u16);

fn stepped(
    t: &mut TraceBuilder,
    mut known: Vec<Traced>,
    [vector, scalar]: [Traced; 2],
    steps: &[Step],
) -> [Traced; 2] {
    for &(op, i, j) in steps {
        // The first operand is one of the last three values, so that programs are deep. The second is any value.
        let recent = known.len().min(3);
        let first = known.len() - 1 - usize::from(i) % recent;
        let second = usize::from(j) % known.len();
        let (a, b) = (known[first], known[second]);
        let made = match op % 12 {
            0 => t.add(a, b, None),
            // The difference of a value and itself depends on no input.
            1 if first != second => t.sub(a, b, None),
            1 => t.neg(a, None),
            2..=4 => t.mul(a, b, None),
            5 | 6 => t.square(a, None),
            7 => t.add(a, a, None),
            8 => t.rotate(a, 1, None),
            9 => t.mul(a, vector, None),
            10 => t.mul(a, scalar, None),
            _ => t.add(a, vector, None),
        };
        known.push(made.unwrap());
    }
    let last = known.len() - 1;
    [known[last], known[last - 1]]
}

fn steps(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any::<Step>(), count)
}

/// Checks that random bodies of `count` steps compile, straight and in a repeat, and that the straight form has no more
/// bootstraps. A random number of squares before each body moves its bootstraps to other places.
fn random(procedure: &Arc<Procedure>, count: std::ops::Range<usize>, cases: u32) {
    let levels = (procedure.end().0.0 - procedure.start().0) as usize;
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    });
    let tested = runner.run(&(0..=levels, steps(count)), |(squares, steps)| {
        let body = |t: &mut TraceBuilder, mut given: Vec<Traced>, constants| {
            let square = |x, _| t.square(x, None).unwrap();
            given[0] = (0..squares).fold(given[0], square);
            stepped(t, given, constants, &steps)
        };
        let straight = bootstraps(&traced(Form::Straight, body), procedure);
        let looped = bootstraps(&traced(Form::Turns(1), body), procedure);
        let straight = straight.map_err(|e| TestCaseError::fail(format!("straight: {e}")))?;
        let looped = looped.map_err(|e| TestCaseError::fail(format!("looped: {e}")))?;
        prop_assert!(straight <= looped, "{straight} against {looped}");
        Ok(())
    });
    tested.unwrap();
}

/// Returns the program that squares its first input `count` times in sequence, in the given form.
fn squares(form: Form, count: usize) -> MacroProgram {
    traced(form, |t, given, _| {
        let square = |t: &mut TraceBuilder, x| t.square(x, None).unwrap();
        [(0..count).fold(given[0], |x, _| square(t, x)), given[1]]
    })
}

#[test]
fn a_straight_line_bootstraps_no_oftener_than_a_repeat() {
    let small_toy = Arc::new(toy::procedure());
    for procedure in [small_toy, of(Set::MEDIUM), of(Set::SMALL)] {
        for count in [1, 12, 25, 60] {
            let straight = bootstraps(&squares(Form::Straight, count), &procedure).unwrap();
            let looped = bootstraps(&squares(Form::Turns(1), count), &procedure).unwrap();
            println!("{count} squares: {straight} bootstraps, {looped} in a repeat");
            assert!(straight <= looped);
        }
        random(&procedure, 1..60, 8);
    }
}

/// Returns the number of bootstraps that a run of a program with levels executes.
fn run_time_bootstraps(managed: &MacroProgram) -> u64 {
    let mut of_procs: Vec<u64> = Vec::new();
    let count = |instrs: &[MacroInstr], of_procs: &[u64]| {
        let counts = instrs.iter().map(|i| match i.imm.called() {
            Some((proc, times)) => of_procs[proc as usize] * times,
            None => u64::from(i.op == MacroOp::Bootstrap),
        });
        counts.sum::<u64>()
    };
    for proc in &managed.procs {
        let own = count(&proc.instrs, &of_procs);
        of_procs.push(own);
    }
    count(&managed.instrs, &of_procs)
}

#[test]
fn turns_of_a_repeat_share_bootstraps() {
    let procedure = of(Set::MEDIUM);
    let options = Options {
        bootstrapping: Some(Arc::clone(&procedure)),
        seeded_keys: procedure.seeded(),
        ..Options::given(Arc::clone(procedure.params()))
    };
    let managed = |form, count| {
        let program = squares(form, count);
        Bgv::fit(&program, &options, &[]).unwrap().managed
    };
    let written = run_time_bootstraps(&managed(Form::Straight, 64));
    for turns in [64, 67] {
        let repeated = run_time_bootstraps(&managed(Form::Turns(turns), 1));
        println!("{turns} turns: {repeated} bootstraps, {written} of 64 written out");
        assert!(repeated <= written + written / 2 && repeated < turns / 3);
    }
}

/// Draws other programs each time. `PROPTEST_RNG_SEED` fixes them.
#[test]
#[ignore = "minutes; `make full` runs it"]
fn hundreds_of_random_straight_lines_bootstrap_no_oftener() {
    let small_toy = Arc::new(toy::procedure());
    for procedure in [small_toy, of(Set::MEDIUM), of(Set::SMALL)] {
        random(&procedure, 1..150, 200);
    }
}
