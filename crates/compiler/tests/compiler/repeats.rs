// SPDX-License-Identifier: Apache-2.0
//! Programs with procedures and repeats give the same as programs in which they are written out by hand.

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_isa::macros::{
    MacroImm, MacroInstr, MacroOp, MacroProc, MacroProgram, MacroType, MacroValue, SchemeName,
    Visibility, text, verify,
};
use ringmill_limits::{Halt, Limits, Watch};
use ringmill_schemes::ckks::Ckks;
use ringmill_schemes::ckks::file::InsecureParams;

use crate::random::{Known, SLOTS, Step, line, numbers, step, vector};
use crate::run::small_params;
use ringmill_compiler::arrays::{Arrays, Lengths, Returned};
use ringmill_compiler::builder::{MAX_NESTING, TraceBuilder, TraceError, Traced};
use ringmill_compiler::ckks::Options;
use ringmill_compiler::ckks::reference::{EvaluateError, evaluate};
use ringmill_compiler::inline::{InlineError, MAX_WRITTEN_OUT, written_out};
use ringmill_compiler::internals::relinearised;
use ringmill_compiler::saved;
use ringmill_compiler::{CompileError, Passes, compile};

/// A loop of a random program: its number of iterations, the number of values that it carries, its steps, and perhaps a
/// loop after the steps of each iteration.
#[derive(Clone, Debug)]
struct Loop {
    count: u64,
    carried: usize,
    steps: Vec<Step>,
    inner: Option<Box<Loop>>,
}

#[derive(Clone, Debug)]
enum Part {
    Steps(Vec<Step>),
    Loop(Loop),
    /// A procedure with its number of ciphertext parameters beside one plain parameter, the number of its calls, and
    /// its steps.
    Calls(usize, usize, Vec<Step>),
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let steps = || prop::collection::vec(any::<Step>(), 0..6);
    let within = (1u64..4, 1usize..3, steps()).prop_map(|(count, carried, steps)| Loop {
        count,
        carried,
        steps,
        inner: None,
    });
    let nested = (1u64..4, 1usize..4, steps(), prop::option::of(within));
    let nested = nested.prop_map(|(count, carried, steps, inner)| Loop {
        count,
        carried,
        steps,
        inner: inner.map(Box::new),
    });
    let part = prop_oneof![
        steps().prop_map(Part::Steps),
        nested.prop_map(Part::Loop),
        (1usize..4, 1usize..4, steps()).prop_map(|(n, times, steps)| Part::Calls(n, times, steps)),
    ];
    prop::collection::vec(part, 1..5)
}

/// A tracer of random programs, with procedures and repeats or with these written out by hand.
struct Tracing {
    t: TraceBuilder,
    procedures: bool,
    number: u32,
}

impl Tracing {
    fn known(value: Traced) -> Known {
        // For a value that comes from a loop this is no true bound. If a value does not fit, the compiler refuses both
        // forms.
        let (bound, depth) = (2.0, 2);
        Known {
            value,
            bound,
            depth,
        }
    }

    /// Returns the last `n` values, the last one first. If there are fewer, they repeat.
    fn last(known: &[Known], n: usize) -> Vec<Traced> {
        known
            .iter()
            .rev()
            .cycle()
            .take(n)
            .map(|k| k.value)
            .collect()
    }

    /// Traces steps at the lines from `number` on, which both forms share. Of the steps that multiply, only the first
    /// `products` are traced.
    fn steps(
        &mut self,
        steps: &[Step],
        known: &mut Vec<Known>,
        fixed: &[Traced],
        number: u32,
        mut products: u32,
    ) {
        for (n, &(op, i, j)) in (number..).zip(steps) {
            if matches!(op % 14, 2 | 3 | 4 | 8 | 10) {
                if products == 0 {
                    continue;
                }
                products -= 1;
            }
            known.extend(step(&mut self.t, known, fixed, n, (op, i, j)));
        }
    }

    fn repeat(
        &mut self,
        l: &Loop,
        outer: &[Known],
        fixed: &[Traced],
        number: u32,
        products: u32,
    ) -> Vec<Known> {
        let mut carried = Self::last(outer, l.carried);
        let once = |this: &mut Self, carried: &[Traced]| {
            let mut inside: Vec<Known> = outer.iter().take(2).copied().collect();
            inside.extend(carried.iter().map(|&v| Self::known(v)));
            this.steps(&l.steps, &mut inside, fixed, number, products);
            if let Some(inner) = &l.inner {
                let more = this.repeat(inner, &inside.clone(), fixed, number + 100, 0);
                inside.extend(more);
            }
            Self::last(&inside, l.carried)
        };
        if self.procedures {
            let params = self.t.begin_body("body", l.carried, line(number)).unwrap();
            let results = once(self, &params);
            let body = self.t.end(&results, line(number)).unwrap();
            carried = self
                .t
                .repeat(l.count, &body, &carried, line(number))
                .unwrap();
        } else {
            (0..l.count).for_each(|_| carried = once(self, &carried));
        }
        carried.into_iter().map(Self::known).collect()
    }

    fn calls(
        &mut self,
        n: usize,
        times: usize,
        steps: &[Step],
        known: &mut Vec<Known>,
        fixed: &[Traced],
        number: u32,
    ) {
        let (plain, constants) = fixed.split_first().unwrap();
        let once = |this: &mut Self, arguments: &[Traced], plain: Traced| {
            let mut inside: Vec<Known> = arguments.iter().map(|&v| Self::known(v)).collect();
            let fixed: Vec<Traced> = [plain].iter().chain(constants).copied().collect();
            this.steps(steps, &mut inside, &fixed, number, 1);
            Self::last(&inside, 2)
        };
        let mut kinds = vec![Visibility::Encrypted; n];
        kinds.push(Visibility::Plain);
        let mut procedure = None;
        for turn in 0..times {
            // The arguments of the calls differ. They may be results of the call before.
            let mut arguments = Self::last(known, n + turn).split_off(turn);
            let results = if self.procedures {
                let procedure = procedure.get_or_insert_with(|| {
                    let mut params = self
                        .t
                        .begin_procedure("procedure", &kinds, line(number))
                        .unwrap();
                    let plain = params.pop().unwrap();
                    let results = once(self, &params, plain);
                    self.t.end(&results, line(number)).unwrap()
                });
                arguments.push(*plain);
                self.t.call(procedure, &arguments, line(number)).unwrap()
            } else {
                once(self, &arguments, *plain)
            };
            known.extend(results.into_iter().map(Self::known));
        }
    }

    fn program(parts: &[Part], procedures: bool, seed: u64) -> MacroProgram {
        let mut next = numbers(seed);
        let t = TraceBuilder::new("random", SLOTS).unwrap();
        let mut this = Self {
            t,
            procedures,
            number: 10,
        };
        let start = |name| Known {
            value: this.t.input(name, Visibility::Encrypted, line(1)).unwrap(),
            bound: 1.0,
            depth: 0,
        };
        let mut known: Vec<Known> = ["x", "y"].map(start).into();
        let plain = this.t.input("w", Visibility::Plain, line(2)).unwrap();
        let constant = vector(&mut next);
        let constant = this.t.vector(constant, line(3)).unwrap();
        let uniform = this
            .t
            .vector(vec![(0.5, 0.0); SLOTS as usize], line(3))
            .unwrap();
        let fixed = [plain, constant, uniform];
        for part in parts {
            let number = this.number;
            match part {
                Part::Steps(steps) => this.steps(steps, &mut known, &fixed, number, 2),
                Part::Loop(l) => {
                    let more = this.repeat(l, &known.clone(), &fixed, number, 1);
                    known.extend(more);
                }
                Part::Calls(n, times, steps) => {
                    this.calls(*n, *times, steps, &mut known, &fixed, number);
                }
            }
            this.number += 1000;
        }
        for (n, value) in Self::last(&known, 3).into_iter().enumerate() {
            this.t
                .output(&format!("out{n}"), value, line(9999))
                .unwrap();
        }
        this.t.finish()
    }
}

fn inputs(seed: u64) -> Vec<Vec<Complex64>> {
    let mut next = numbers(seed ^ 1);
    let complex = |v: Vec<(f64, f64)>| {
        v.into_iter()
            .map(|(re, im)| Complex64::new(re, im))
            .collect()
    };
    (0..3).map(|_| complex(vector(&mut next))).collect()
}

const MERGED: Passes = Passes {
    cse: true,
    ..Passes::NONE
};

/// Asserts that both forms of a program compile to the same program, or fail with the same error. Returns whether they
/// compile.
fn same(parts: &[Part], seed: u64) -> Result<bool, TestCaseError> {
    let looped = Tracing::program(parts, true, seed);
    let by_hand = Tracing::program(parts, false, seed);
    verify(&looped).map_err(|e| TestCaseError::fail(e.to_string()))?;
    prop_assert_eq!(&text::parse(&text::print(&looped)).unwrap(), &looped);
    let values = inputs(seed);
    prop_assert_eq!(
        evaluate(&looped, &values).unwrap(),
        evaluate(&by_hand, &values).unwrap()
    );
    let plain = written_out(&looped).unwrap().into_owned();
    prop_assert!(plain.procs.is_empty());
    // A constant is encoded once if it is written out by hand, and once for each call if the compiler writes it out.
    let merged = |program: &MacroProgram| relinearised::<Ckks>(program.clone(), MERGED);
    prop_assert_eq!(merged(&plain), merged(&by_hand));
    let options = Options {
        input_bound: 0.5,
        ..Options::given(small_params())
    };
    match (
        compile(looped, &options),
        compile(plain, &options),
        compile(by_hand, &options),
    ) {
        (Ok(a), Ok(b), Ok(c)) => {
            for other in [b, c] {
                prop_assert_eq!(&a.managed, &other.managed);
                prop_assert_eq!(&a.program, &other.program);
                prop_assert_eq!((&a.inputs, &a.outputs), (&other.inputs, &other.outputs));
                prop_assert_eq!((&a.plaintexts, &a.keys), (&other.plaintexts, &other.keys));
                prop_assert_eq!(&a.predicted, &other.predicted);
            }
            Ok(true)
        }
        (Err(a), Err(b), Err(c)) => {
            prop_assert_eq!(
                (a.to_string(), a.to_string()),
                (b.to_string(), c.to_string())
            );
            Ok(false)
        }
        (a, b, c) => Err(TestCaseError::fail(format!("{a:?}\n{b:?}\n{c:?}"))),
    }
}

proptest! {
    #[test]
    fn written_out_they_are_the_same_program(parts in parts(), seed: u64) {
        same(&parts, seed)?;
    }
}

/// Checks that at least half of the random programs compile, so that the test above compares compiled programs.
#[test]
fn most_random_programs_compile() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let compiled = (0..60).filter(|&seed| {
        let parts = parts().new_tree(&mut runner).unwrap().current();
        same(&parts, seed).unwrap()
    });
    let compiled = compiled.count();
    assert!(compiled >= 30, "{compiled} of 60");
}

/// Returns a program of nested repeats around a sum, the outermost of `counts[0]` iterations, the next of `counts[1]`,
/// and so on.
fn nested(counts: &[u64]) -> MacroProgram {
    let mut t = TraceBuilder::new("nested", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, line(1)).unwrap();
    fn around(t: &mut TraceBuilder, counts: &[u64], number: u32, x: Traced) -> Traced {
        let Some((&count, within)) = counts.split_first() else {
            let turned = t.rotate(x, 1, line(number)).unwrap();
            return t.add(x, turned, line(number)).unwrap();
        };
        let params = t.begin_body("body", 1, line(number)).unwrap();
        let result = around(t, within, number + 1, params[0]);
        let body = t.end(&[result], line(number)).unwrap();
        t.repeat(count, &body, &[x], line(number)).unwrap()[0]
    }
    let y = around(&mut t, counts, 2, x);
    t.output("y", y, line(99)).unwrap();
    t.finish()
}

#[test]
fn programs_that_come_to_too_much_are_refused_with_the_line_of_the_repeat() {
    // An input, an output and a repeat's result count once. Each iteration counts its argument, its rotation and its
    // sum.
    for (counts, number, values) in [
        (&[1 << 32][..], 2, 3 + 3 * (1 << 32)),
        (&[1000, 1000][..], 2, 3 + 1000 * (2 + 3 * 1000)),
        (
            &[3, 1 << 30, 2][..],
            3,
            3 + 3 * (2 + (1 << 30) * (2 + 3 * 2)),
        ),
        (
            &[2, 3, 1 << 20][..],
            4,
            3 + 2 * (2 + 3 * (2 + 3 * (1 << 20))),
        ),
        (&[1 << 32, 1 << 32, 1 << 32][..], 4, u64::MAX),
    ] {
        let program = nested(counts);
        verify(&program).unwrap();
        let error = compile(program.clone(), &Options::default()).unwrap_err();
        assert_eq!(error.loc(), line(number).as_ref(), "{error}");
        let says = format!("has {values} values");
        let text = error.to_string();
        assert!(
            text.contains(&says) && text.contains(&MAX_WRITTEN_OUT.to_string()),
            "{text}"
        );
        let zeros = vec![vec![Complex64::ZERO; SLOTS as usize]];
        let refused = evaluate(&program, &zeros).unwrap_err();
        assert!(matches!(
            refused,
            EvaluateError::WrittenOut(InlineError::TooLong { .. })
        ));
    }
    // A program that is short enough evaluates.
    let inputs = vec![vec![Complex64::ONE; SLOTS as usize]];
    let got = evaluate(&nested(&[2, 3, 2]), &inputs).unwrap();
    assert_eq!(got[0][0].re, f64::from(1 << 12));
}

#[test]
fn a_body_that_does_nothing_is_not_repeated_for_ever() {
    let mut program = nested(&[1 << 32]);
    program.procs[0].instrs.clear();
    program.procs[0].types.truncate(1);
    program.procs[0].results = vec![MacroValue(0)];
    verify(&program).unwrap();
    let error = compile(program, &Options::default()).unwrap_err();
    assert!(
        matches!(error, CompileError::WrittenOut(InlineError::TooLong { .. })),
        "{error}"
    );
}

#[test]
fn memory_is_asked_for_before_it_is_taken() {
    let options = Options {
        watch: Watch::new(Limits { memory: 1 << 20 }),
        ..Options::default()
    };
    let error = compile(nested(&[100, 100]), &options).unwrap_err();
    assert!(
        matches!(error, CompileError::Halt(Halt::OverLimit { .. })),
        "{error}"
    );
}

/// Compiles 100,000 procedures that each call the one before, for which a recursive pass would need too large a stack.
#[test]
fn calls_may_be_nested_deeply() {
    let depth = 100_000u32;
    let cipher = MacroType::Cipher { size: 2, at: None };
    let one = |op, imm| MacroInstr {
        op,
        dst: vec![MacroValue(1)],
        src: vec![MacroValue(0)],
        imm,
        loc: None,
    };
    let mut program = nested(&[1]);
    let proc = |n: u32| MacroProc {
        name: "chain".to_owned(),
        params: vec![MacroValue(0)],
        instrs: vec![match n.checked_sub(1) {
            Some(before) => one(MacroOp::Call, MacroImm::Proc(before)),
            None => one(MacroOp::Rotate, MacroImm::Steps(vec![1])),
        }],
        types: vec![cipher; 2],
        results: vec![MacroValue(1)],
        loc: None,
    };
    program.procs = (0..depth).map(proc).collect();
    program.instrs[1] = one(MacroOp::Call, MacroImm::Proc(depth - 1));
    let compiled = compile(program, &Options::given(small_params())).unwrap();
    let rotations = compiled
        .managed
        .instrs
        .iter()
        .filter(|i| i.op == MacroOp::Rotate);
    assert_eq!(rotations.count(), 1);
}

#[test]
fn ill_formed_calls_are_errors_in_the_clear() {
    let inputs = vec![vec![Complex64::ONE; SLOTS as usize]];
    type Change = fn(&mut MacroProgram);
    let changes: [Change; 7] = [
        |p| p.instrs[1].imm = MacroImm::Proc(7),
        |p| p.procs[0].instrs[0].imm = MacroImm::Proc(0),
        |p| p.instrs[1].imm = MacroImm::Repeat { proc: 0, count: 0 },
        |p| p.instrs[1].src.clear(),
        |p| p.instrs[1].dst.push(MacroValue(0)),
        |p| p.procs[0].results[0] = MacroValue(u32::MAX),
        |p| p.procs[0].types.clear(),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut program = nested(&[3]);
        change(&mut program);
        let error = evaluate(&program, &inputs).unwrap_err();
        let ill_formed = matches!(
            error,
            EvaluateError::WrittenOut(InlineError::IllFormed { .. })
        );
        assert!(ill_formed, "{number}: {error}");
        assert!(
            matches!(
                compile(program, &Options::default()),
                Err(CompileError::Verify(_))
            ),
            "{number}"
        );
    }
}

/// Checks that CKKS takes integer constants that a double holds, and refuses the others with their line.
#[test]
fn integer_constants_are_exact() {
    let program = |integer: i128| {
        let mut program = nested(&[1]);
        program.procs[0].instrs[0] = MacroInstr {
            op: MacroOp::Mulc,
            dst: vec![MacroValue(1)],
            src: vec![MacroValue(0)],
            imm: MacroImm::Integer(integer),
            loc: line(8),
        };
        let again = text::parse(&text::print(&program)).unwrap();
        assert_eq!(again, program);
        program
    };
    let ones = vec![vec![Complex64::ONE; SLOTS as usize]];
    let compiled = compile(program(-3), &Options::given(small_params())).unwrap();
    for stage in [&compiled.source, &compiled.managed] {
        assert_eq!(evaluate(stage, &ones).unwrap()[0][0].re, -2.0);
    }
    let odd = 12_345_678_901_234_567_891;
    let error = compile(program(odd), &Options::given(small_params())).unwrap_err();
    assert_eq!(error.loc(), line(8).as_ref());
    let text = error.to_string();
    assert!(text.contains("the integer 12345678901234567891"), "{text}");
}

#[test]
fn a_program_of_another_scheme_is_refused() {
    let mut program = nested(&[2]);
    program.scheme = SchemeName::new("bgv").unwrap();
    let error = compile(program, &Options::given(small_params())).unwrap_err();
    assert!(matches!(error, CompileError::OtherScheme { .. }));
    let text = error.to_string();
    assert!(
        text.contains("scheme bgv") && text.contains("for ckks"),
        "{text}"
    );
}

#[test]
fn saved_programs_keep_their_repeats() {
    let options = Options::given(small_params());
    let compiled = compile(nested(&[2, 2]), &options).unwrap();
    assert_eq!(compiled.source.procs.len(), 2);
    let arrays = Arrays {
        returned: Some(Returned::Tuple),
        lengths: Lengths::default(),
    };
    let text = saved::print(&compiled, &options, &arrays);
    assert_eq!(saved::arrays(&text, &compiled.source), Ok(arrays));
    let (program, recipe) = saved::parse::<Ckks>(&text, InsecureParams::AllowForTestsOnly)
        .unwrap()
        .unwrap();
    assert_eq!(program, compiled.source);
    let (again, _) = recipe.compile(program, &options.watch).unwrap();
    assert_eq!(again.program, compiled.program);
}

#[test]
fn a_name_that_no_file_keeps_is_refused() {
    let long = "n".repeat(257);
    assert!(TraceBuilder::new(&long, SLOTS).is_err());
    let mut t = TraceBuilder::new(&long[1..], SLOTS).unwrap();
    let x = t.input(&long[1..], Visibility::Encrypted, None).unwrap();
    let refused = [
        t.input(&long, Visibility::Plain, line(7)).map(drop),
        t.output(&long, x, line(7)),
        t.begin_body(&long, 1, line(7)).map(drop),
    ];
    for error in refused.map(Result::unwrap_err) {
        assert!(matches!(error, TraceError::Name { length: 257, .. }));
        assert_eq!(error.loc(), line(7).as_ref());
    }
    t.output(&long[1..], x, None).unwrap();
    let program = t.finish();
    let text = text::print(&program);
    assert_eq!(text::parse(&text).unwrap(), program);
}

#[test]
fn misuse_while_tracing_names_the_line() {
    let at = || line(7);
    type Misuse = fn(&mut TraceBuilder, Traced, Traced) -> Result<(), TraceError>;
    let encrypted = [Visibility::Encrypted];
    let misuses: [(&str, Misuse); 13] = [
        ("an input of the program", |t, _, _| {
            t.begin_body("b", 1, None)?;
            t.input("z", Visibility::Encrypted, line(7)).map(drop)
        }),
        ("an output of the program", |t, _, _| {
            let p = t.begin_body("b", 1, None)?;
            t.output("z", p[0], line(7))
        }),
        ("pass it as an argument", |t, x, _| {
            t.begin_procedure("p", &[Visibility::Encrypted], None)?;
            t.neg(x, line(7)).map(drop)
        }),
        ("pass it as an argument", |t, _, w| {
            // The value is also refused in the body of a repeat inside the procedure.
            let p = t.begin_procedure("p", &[Visibility::Encrypted], None)?;
            t.begin_body("b", 1, None)?;
            t.mul(p[0], w, line(7)).map(drop)
        }),
        ("has ended", |t, x, _| {
            let p = t.begin_body("b", 1, None)?;
            let inner = t.neg(p[0], None)?;
            t.end(&[inner], None)?;
            t.add(x, inner, line(7)).map(drop)
        }),
        ("nested more than", |t, _, _| {
            for _ in 0..MAX_NESTING {
                t.begin_body("b", 1, None)?;
            }
            t.begin_body("b", 1, line(7)).map(drop)
        }),
        ("result 0 is a plain vector", |t, _, w| {
            t.begin_body("b", 1, None)?;
            t.end(&[w], line(7)).map(drop)
        }),
        ("at least one encrypted value", |t, _, _| {
            t.begin_body("b", 1, None)?;
            t.end(&[], line(7)).map(drop)
        }),
        ("no procedure or repeat was begun", |t, x, _| {
            t.end(&[x], line(7)).map(drop)
        }),
        ("carries 2 values and its body gives back 1", |t, x, _| {
            let p = t.begin_body("b", 2, None)?;
            let body = t.end(&[p[0]], None)?;
            t.repeat(2, &body, &[x, x], line(7)).map(drop)
        }),
        ("2^32 times, not 0", |t, x, _| {
            let p = t.begin_body("b", 1, None)?;
            let body = t.end(&[p[0]], None)?;
            t.repeat(0, &body, &[x], line(7)).map(drop)
        }),
        ("takes 1 arguments, and 2 are given", |t, x, _| {
            let p = t.begin_procedure("p", &[Visibility::Encrypted], None)?;
            let procedure = t.end(&[p[0]], None)?;
            t.call(&procedure, &[x, x], line(7)).map(drop)
        }),
        (
            "argument 0: expected an encrypted vector, found a plain vector",
            |t, _, w| {
                let p = t.begin_procedure("p", &[Visibility::Encrypted], None)?;
                let procedure = t.end(&[p[0]], None)?;
                t.call(&procedure, &[w], line(7)).map(drop)
            },
        ),
    ];
    for (says, misuse) in misuses {
        let mut t = TraceBuilder::new("misuse", SLOTS).unwrap();
        let x = t.input("x", encrypted[0], line(1)).unwrap();
        let w = t.input("w", Visibility::Plain, line(2)).unwrap();
        let error = misuse(&mut t, x, w).unwrap_err();
        assert!(error.to_string().contains(says), "{says}: {error}");
        assert!(error.to_string().starts_with("random.py:7: "), "{error}");
        assert_eq!(error.loc(), at().as_ref());
    }
    let mut t = TraceBuilder::new("many", SLOTS).unwrap();
    let many = t.begin_body("b", 5000, at()).unwrap_err();
    assert!(matches!(many, TraceError::TooMany { .. }), "{many}");
    // An abandoned body leaves nothing in the program.
    let x = t.input("x", encrypted[0], line(1)).unwrap();
    t.begin_body("b", 1, None).unwrap();
    t.abandon();
    t.output("y", x, None).unwrap();
    assert!(t.finish().procs.is_empty());
}
