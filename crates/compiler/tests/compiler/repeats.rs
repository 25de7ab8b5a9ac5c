// SPDX-License-Identifier: Apache-2.0
//! Programs with procedures and repeats give the same as programs in which they are written out by hand.

mod edges;

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_isa::macros::{MacroProgram, Visibility, text, verify};
use ringmill_schemes::ckks::Ckks;

use crate::random::{Known, SLOTS, Step, line, numbers, step, vector};
use crate::run::small_params;
use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::ckks::Options;
use ringmill_compiler::ckks::reference::evaluate;
use ringmill_compiler::inline::written_out;
use ringmill_compiler::internals::relinearised;
use ringmill_compiler::{Passes, compile};

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
