// SPDX-License-Identifier: Apache-2.0
//! The whole compiler chooses parameters and keys, fuses procedures, refuses what it must, and takes linear time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use num_complex::Complex64;
use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram, MacroValue, Visibility};
use ringmill_isa::mid::Unrolled;
use ringmill_isa::{Galois, Level};
use ringmill_schemes::ckks::Params;

use crate::random::line;
use crate::run::{errors, run, small_params};
use ringmill_compiler::Accuracy;
use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::ckks::reference::evaluate;
use ringmill_compiler::ckks::{
    Compiled, InputRange, KeyRequest, Options, ParamsChoice, Precision, Wanted,
};
use ringmill_compiler::{CompileError, Passes, compile};

fn start(slots: u32) -> (TraceBuilder, Traced) {
    let mut t = TraceBuilder::new("test", slots).unwrap();
    let x = t.input("x", Visibility::Encrypted, line(1)).unwrap();
    (t, x)
}

fn finish(mut t: TraceBuilder, y: Traced) -> MacroProgram {
    t.output("y", y, line(99)).unwrap();
    t.finish()
}

fn squares(depth: u32) -> MacroProgram {
    let (mut t, mut x) = start(16);
    for i in 0..depth {
        x = t.square(x, line(10 + i)).unwrap();
    }
    finish(t, x)
}

fn choosing(wanted: Wanted) -> Options {
    Options {
        params: ParamsChoice::Choose(wanted),
        ..Options::default()
    }
}

/// Returns the operations that the calls of a program compute, without their levels.
fn operations(compiled: &Compiled) -> Vec<&str> {
    let program = Unrolled::of(&compiled.program, 1 << 24).unwrap();
    let procs = compiled.program.bound_procs();
    let name = |p: u32| procs[p as usize].name.split('.').nth(1).unwrap();
    program.calls.iter().map(|c| name(c.proc)).collect()
}

#[test]
fn chosen_parameters_are_secure_and_grow_with_the_program() {
    let mut last = 0;
    for (depth, precision_bits) in [(1, 15), (2, 20), (4, 25), (10, 20)] {
        let wanted = Wanted {
            accuracy: Accuracy::Bits(precision_bits),
            ..Wanted::default()
        };
        let compiled = compile(squares(depth), &choosing(wanted)).unwrap();
        let params = &compiled.params;
        assert!(params.security().insecure.is_none());
        assert_eq!(params.max_level(), Level(depth));
        assert!(compiled.predicted[0].bits() >= f64::from(precision_bits));
        assert!(params.log_n() >= last);
        last = params.log_n();
        // The ring below would not be secure with these primes.
        let smaller = ringmill_schemes::ckks::security::bound(
            wanted.table,
            params.secret_distribution(),
            wanted.level,
            params.log_n() - 1,
        )
        .unwrap();
        assert!(smaller.is_none_or(|bits| params.security().qp_bits > bits));
    }
}

#[test]
fn chosen_parameters_have_the_slots() {
    let mut t = TraceBuilder::new("wide", 1 << 14).unwrap();
    let x = t.input("x", Visibility::Encrypted, line(1)).unwrap();
    let compiled = compile(finish(t, x), &Options::default()).unwrap();
    assert_eq!(compiled.params.log_n(), 15);
}

#[test]
fn wishes_that_cannot_be_met_are_errors() {
    let error = |depth, wanted| compile(squares(depth), &choosing(wanted)).unwrap_err();
    let wanted = Wanted::default();
    assert!(matches!(
        error(200, wanted),
        CompileError::NoParameters { levels: 200, .. }
    ));
    assert!(matches!(
        error(
            1,
            Wanted {
                accuracy: Accuracy::Bits(50),
                ..wanted
            }
        ),
        CompileError::TooPrecise { .. }
    ));
    assert!(matches!(
        error(
            1,
            Wanted {
                accuracy: Accuracy::Bits(u32::MAX),
                ..wanted
            }
        ),
        CompileError::TooPrecise { .. }
    ));
    assert!(matches!(
        error(
            1,
            Wanted {
                integer_bits: 40,
                ..wanted
            }
        ),
        CompileError::IntegerBits {
            wanted: 40,
            most: 30
        }
    ));
    assert!(matches!(
        error(
            1,
            Wanted {
                integer_bits: u32::MAX,
                ..wanted
            }
        ),
        CompileError::IntegerBits { .. }
    ));
}

#[test]
fn programs_that_do_not_fit_given_parameters_are_errors() {
    let options = Options::given(small_params());
    let deep = compile(squares(7), &options).unwrap_err();
    assert!(deep.to_string().starts_with("random.py:16: "), "{deep}");
    let (t, x) = start(256);
    assert!(matches!(
        compile(finish(t, x), &options),
        Err(CompileError::TooManySlots { available: 128, .. })
    ));
    let (mut t, x) = start(8);
    let huge = t.scalar(1e200, line(5)).unwrap();
    let y = t.mul(x, huge, line(6)).unwrap();
    let error = compile(finish(t, y), &options).unwrap_err();
    assert!(error.to_string().starts_with("random.py:6: "), "{error}");
    assert_eq!(error.loc(), line(6).as_ref());
    let high = compile(
        squares(6),
        &Options {
            output_level: Level(1),
            ..options
        },
    )
    .unwrap_err();
    assert!(matches!(
        high,
        CompileError::TooDeep {
            needed: 7,
            available: 6,
            ..
        }
    ));
}

#[test]
fn ill_formed_programs_are_refused() {
    let options = Options::given(small_params());
    let (t, _) = start(8);
    assert!(matches!(
        compile(t.finish(), &options),
        Err(CompileError::NoOutput { .. })
    ));
    let managed = compile(squares(2), &options).unwrap().managed;
    assert!(matches!(
        compile(managed, &options),
        Err(CompileError::NotTraced)
    ));
    let mut forward = squares(2);
    forward.instrs[1].src[0] = MacroValue(40);
    assert!(matches!(
        compile(forward, &options),
        Err(CompileError::Verify(_))
    ));
    let mut unknown = squares(2);
    unknown.instrs[0].imm = MacroImm::Input(3);
    assert!(matches!(
        compile(unknown, &options),
        Err(CompileError::Verify(_))
    ));
    let short = Options {
        sample: Some(vec![vec![Complex64::ONE; 3]]),
        ..options
    };
    assert!(matches!(
        compile(squares(2), &short),
        Err(CompileError::Sample(_))
    ));
}

#[test]
fn products_fuse_with_their_relinearisation() {
    let compiled = compile(squares(2), &Options::given(small_params())).unwrap();
    assert_eq!(
        operations(&compiled),
        ["square_relin", "rescale", "square_relin", "rescale"]
    );
    assert_eq!(compiled.keys, [KeyRequest::Relin]);
    assert_eq!(compiled.program.steps[0].loc, line(10));
    assert_eq!(compiled.program.seeds, [0]);
}

#[test]
fn only_the_keys_that_are_used_are_asked_for() {
    let (mut t, x) = start(8);
    let turned = t.rotate(x, 2, line(2)).unwrap();
    let conjugate = t.conj(turned, line(3)).unwrap();
    let params = small_params();
    let stored = Options {
        seeded_keys: false,
        ..Options::given(Arc::clone(&params))
    };
    let compiled = compile(finish(t, conjugate), &stored).unwrap();
    let conjugation = params.conjugation_element();
    assert_eq!(
        compiled.keys,
        [
            KeyRequest::Galois(Galois(9)),
            KeyRequest::Galois(conjugation)
        ]
    );
    assert!(compiled.program.seeds.is_empty());
    // Depth 0: one prime and the special one, one digit: two parts of two limbs for each of two keys.
    let is_key = |i: &&ringmill_isa::mid::HeadInput| {
        matches!(i.role, ringmill_isa::mid::InputRole::Key { .. })
    };
    assert_eq!(compiled.program.inputs.iter().filter(is_key).count(), 8);
}

/// Returns a program of depth 4 with a plain product, rotations, sums and a polynomial of degree 7.
fn everything() -> MacroProgram {
    let (mut t, x) = start(8);
    let w = t.input("w", Visibility::Plain, line(2)).unwrap();
    let weighted = t.mul(x, w, line(3)).unwrap();
    let mut sum = weighted;
    for step in [1, 2, 4] {
        let turned = t.rotate(sum, step, line(4)).unwrap();
        sum = t.add(sum, turned, line(5)).unwrap();
    }
    let y = t
        .polynomial(
            sum,
            &[0.5, 0.197, 0.0, -0.004, 0.0, 6e-5, 0.0, -3e-7],
            line(6),
        )
        .unwrap();
    let turned: Vec<Traced> = (1..4).map(|s| t.rotate(y, s, line(7)).unwrap()).collect();
    let total = turned
        .into_iter()
        .reduce(|a, b| t.add(a, b, line(8)).unwrap())
        .unwrap();
    t.output("total", total, line(9)).unwrap();
    finish(t, y)
}

fn ramp(scale: f64) -> Vec<Complex64> {
    (0..8)
        .map(|i| Complex64::new(scale * (f64::from(i) / 4.0 - 0.9), 0.0))
        .collect()
}

#[test]
fn a_sigmoid_of_an_inner_product_is_right_on_every_path() {
    let inputs = vec![ramp(1.0), ramp(0.5)];
    let expected = evaluate(&everything(), &inputs).unwrap();
    for passes in [Passes::ALL, Passes::NONE] {
        for sample in [None, Some(inputs.clone())] {
            let options = Options {
                passes,
                sample,
                ..Options::given(small_params())
            };
            let compiled = compile(everything(), &options).unwrap();
            assert_eq!(compiled.inputs[0].at.level, Level(4));
            let errors = errors(&run(&compiled, &inputs), &expected);
            for (error, predicted) in errors.iter().zip(&compiled.predicted) {
                assert!(
                    error.log2() <= -predicted.bits(),
                    "{error:e} against {} bits",
                    predicted.bits()
                );
            }
        }
    }
}

#[test]
fn a_sample_declares_ranges_and_adds_a_bound_for_inputs_like_it() {
    let compiled = |options: Options| {
        let options = Options {
            params: ParamsChoice::Given(small_params()),
            ..options
        };
        compile(everything(), &options).unwrap()
    };
    let real = |lowest, highest| InputRange::Real { lowest, highest };
    let turned = |z: Complex64| z * Complex64::i();
    let positive: Vec<_> = ramp(0.25).iter().map(|z| z * z).collect();
    for (sample, margin, ranges) in [
        // From -0.45 to 0.425, from -0.225 to 0.2125.
        (
            vec![ramp(0.5), ramp(0.25)],
            2.0,
            [real(-1.0, 1.0), real(-0.5, 0.5)],
        ),
        (
            vec![ramp(0.5), ramp(0.25)],
            1.0,
            [real(-0.5, 0.5), real(-0.25, 0.25)],
        ),
        // At most 0.050625, of one sign.
        (
            vec![positive.clone(), positive.iter().map(|z| -z).collect()],
            1.0,
            [real(0.0, 0.0625), real(-0.0625, 0.0)],
        ),
        (
            vec![ramp(0.5).into_iter().map(turned).collect(), ramp(0.25)],
            1.0,
            [InputRange::Disc { radius: 0.5 }, real(-0.25, 0.25)],
        ),
    ] {
        let by_sample = compiled(Options {
            sample: Some(sample),
            margin,
            ..Options::default()
        });
        let declared = compiled(Options {
            ranges: ranges.map(Some).to_vec(),
            ..Options::default()
        });
        assert_eq!(by_sample.inputs, declared.inputs);
        for (with, without) in by_sample.predicted.iter().zip(&declared.predicted) {
            assert!(
                with.error_like_sample
                    .is_some_and(|like| like <= with.error)
            );
            assert_eq!(
                Precision {
                    error_like_sample: None,
                    largest_on_sample: None,
                    ..*with
                },
                *without
            );
        }
    }
}

#[test]
fn a_value_that_may_outgrow_its_level_is_refused_with_its_line() {
    let (mut t, x) = start(8);
    let many = t.scalar(4000.0, line(2)).unwrap();
    let y = t.mul(x, many, line(3)).unwrap();
    let program = finish(t, y);
    // 55 bits over a scale of 45, and no level to spare: values below 2^9.
    let builder = Params::builder(8).prime_bits(&[55], &[55]);
    let params = builder.default_scale(45f64.exp2());
    let params = params.allow_insecure_parameters_for_tests_only();
    let params = params.build().unwrap();
    let at = |input_bound| {
        let options = Options {
            input_bound,
            ..Options::given(Arc::clone(&params))
        };
        compile(program.clone(), &options)
    };
    let fits = at(0.1).unwrap();
    assert_eq!(fits.predicted[0].capacity.log2().round(), 9.0);
    assert!((fits.predicted[0].magnitude - 400.0).abs() < 1e-9);
    let error = at(1.0).unwrap_err();
    assert_eq!(error.loc().unwrap().line, 3);
    let said = error.to_string();
    assert!(said.contains("4.0000e3") && said.contains("5.12"), "{said}");
    assert!(said.contains("narrower ranges"), "{said}");
}

/// Compiles a thousandth of the sum of 1,024 values of up to 200,000, and of up to 10,000,000. The sum takes 28 integer
/// bits or more.
#[test]
fn integer_bits_are_chosen_so_that_nothing_wraps() {
    let slots = 1024;
    let (mut t, x) = start(slots);
    let mut sum = x;
    for step in [512, 256, 128, 64, 32, 16, 8, 4, 2, 1] {
        let turned = t.rotate(sum, step, line(2)).unwrap();
        sum = t.add(sum, turned, line(2)).unwrap();
    }
    let share = t.scalar(0.001, line(3)).unwrap();
    let mean = t.mul(sum, share, line(3)).unwrap();
    let program = finish(t, mean);
    for (lowest, highest) in [(0.0, 2e5), (-3.0, 1e7)] {
        let options = Options {
            ranges: vec![Some(InputRange::Real { lowest, highest })],
            ..Options::default()
        };
        let compiled = compile(program.clone(), &options).unwrap();
        let predicted = compiled.predicted[0];
        assert!(predicted.digits() >= 6.0 && predicted.capacity > predicted.magnitude);
        assert!((predicted.magnitude - 1.024 * highest).abs() < 1e-6 * highest);
    }
    // Past what parameters hold, the line and the bound are said.
    let options = Options {
        ranges: vec![Some(InputRange::Disc { radius: 1e40 })],
        ..Options::default()
    };
    let error = compile(program, &options).unwrap_err();
    assert!(matches!(error, CompileError::TooLarge { .. }), "{error}");
    assert!(error.loc().is_some(), "{error}");
}

#[test]
fn ranges_that_make_no_sense_are_refused() {
    let program = squares(1);
    let compiled = |change: fn(&mut Options)| {
        let mut options = Options::given(small_params());
        change(&mut options);
        compile(program.clone(), &options).map(|_| ())
    };
    for change in [
        (|o| {
            o.ranges = vec![Some(InputRange::Real {
                lowest: 1.0,
                highest: 0.0,
            })]
        }) as fn(&mut Options),
        |o| {
            o.ranges = vec![Some(InputRange::Real {
                lowest: f64::NAN,
                highest: 0.0,
            })]
        },
        |o| {
            o.ranges = vec![Some(InputRange::Disc {
                radius: f64::INFINITY,
            })]
        },
        |o| o.ranges = vec![None, None],
        |o| o.input_bound = -1.0,
        |o| o.margin = 0.5,
        |o| o.margin = f64::NAN,
        |o| o.sample = Some(vec![vec![Complex64::default(); 8]]),
        |o| {
            o.ranges = vec![Some(InputRange::Disc { radius: 1.0 })];
            o.sample = Some(vec![vec![Complex64::new(2.0, 0.0); 8]]);
        },
    ] {
        let error = compiled(change).unwrap_err();
        assert!(matches!(error, CompileError::Range { .. }), "{error}");
    }
    compiled(|o| o.input_bound = 0.0).unwrap();
}

#[test]
fn outputs_come_at_the_level_asked_for() {
    let options = Options {
        output_level: Level(2),
        ..Options::given(small_params())
    };
    let compiled = compile(squares(2), &options).unwrap();
    assert_eq!(
        (compiled.inputs[0].at.level, compiled.outputs[0].at.level),
        (Level(4), Level(2))
    );
}

#[test]
fn named_sets_compile() {
    let compiled = compile(
        everything(),
        &Options {
            input_bound: 0.5,
            ..Options::given(Params::named("set1").unwrap())
        },
    )
    .unwrap();
    assert!(
        compiled.predicted[1].bits() > 15.0,
        "{:?}",
        compiled.predicted
    );
}

/// Compiles over 100,000 instructions: a long chain of differences with products and repeated subexpressions.
#[test]
fn long_programs_compile_in_linear_time() {
    let (mut t, x) = start(8);
    let other = t.input("other", Visibility::Encrypted, line(2)).unwrap();
    let mut sum = x;
    for i in 0..25_000u32 {
        let c = t.scalar(f64::from(i % 64) / 64.0 + 0.3, line(i)).unwrap();
        let term = t.mul(other, c, line(i)).unwrap();
        let product = t.mul(x, other, line(i)).unwrap();
        let partial = t.add(term, product, line(i)).unwrap();
        sum = t.sub(sum, partial, line(i)).unwrap();
    }
    let program = finish(t, sum);
    assert!(program.instrs.len() > 100_000);
    for passes in [Passes::ALL, Passes::NONE] {
        let begin = Instant::now();
        let compiled = compile(
            program.clone(),
            &Options {
                passes,
                // 25,000 terms of at most 3 bounds each stay below 2^9.
                input_bound: 0.005,
                ..Options::given(small_params())
            },
        )
        .unwrap();
        // About a second on an idle machine; the limit only has to tell linear from quadratic.
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "{:?}",
            begin.elapsed()
        );
        assert!(
            compiled
                .managed
                .instrs
                .iter()
                .any(|i| i.op == MacroOp::Rescale)
        );
        eprintln!("{:?}: {:?}", passes, begin.elapsed());
    }
}
