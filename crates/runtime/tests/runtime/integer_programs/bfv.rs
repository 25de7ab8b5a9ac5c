// SPDX-License-Identifier: Apache-2.0
//! Tests programs of whole numbers under BFV.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_compiler::bfv::{Options, ParamsChoice, Wanted};
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::exact::IntegerRange;
use ringmill_compiler::exact::reference::evaluate;
use ringmill_compiler::{CompileError, compile};
use ringmill_device::Request;
use ringmill_device::progress::Silent;
use ringmill_isa::macros::Visibility;
use ringmill_runtime::{Client, RuntimeError, simulate};
use ringmill_schemes::bfv::{Bfv, Multiplication, Params, PlainModulus};
use ringmill_sim::{open, target};

use crate::integer_programs::draw::{Draw, Shape, named, product};
use crate::integer_programs::run::{Tally, clear, run};

const LARGEST: i64 = 50;

fn options(multiplication: Multiplication) -> Options {
    Options {
        input_bound: LARGEST as f64,
        params: ParamsChoice::Choose(Wanted {
            multiplication,
            ..Wanted::default()
        }),
        ..Options::default()
    }
}

fn for_machine(name: &str, multiplication: Multiplication) -> Options {
    Options {
        target: Some(target(name).unwrap()),
        ..options(multiplication)
    }
}

fn random_programs(seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::new();
    for seed in seeds {
        let mut draw = Draw::new(seed);
        let shape = Shape {
            scheme: "bfv",
            slots: 1 << draw.below(9),
            deepest: 2,
            largest: LARGEST,
            operations: 10,
        };
        let program = draw.program(shape);
        let options = options(Multiplication::ALL[draw.below(3) as usize]);
        tally.try_one::<Bfv>(seed, &mut draw, (&program, LARGEST), &options, "cpu:2");
    }
    tally.print();
    tally
}

#[test]
fn random_programs_give_what_they_give_in_the_clear() {
    assert!(random_programs(0..100).ran >= 80);
}

#[test]
#[ignore = "minutes; `make full` runs it"]
fn thousands_of_random_programs() {
    assert!(random_programs(1_000..3_000).ran >= 1_500);
}

/// Tests that a co-processor leaves instructions that it lacks to its host, and that a machine without a host names
/// what it lacks.
#[test]
fn machines_give_the_same_or_name_what_they_lack() {
    for multiplication in Multiplication::ALL {
        let compiled = compile(product("bfv"), &for_machine("polymul", multiplication)).unwrap();
        let compiled = Arc::new(compiled);
        let mut draw = Draw::new(1);
        let vectors = [0; 3].map(|_| draw.vector(16, LARGEST));
        let expected = evaluate(&product("bfv"), &clear(&vectors)).unwrap();
        for device in ["cpu:1", "sim:polymul"] {
            let (outputs, _) = run(&compiled, device, &vectors).unwrap();
            let got: Vec<i128> = outputs["z"].iter().map(|&v| v.into()).collect();
            assert_eq!(got, expected[0], "{device}, {}", multiplication.name());
        }
        let ring = open("sim:ring").unwrap();
        let refused = simulate(&compiled, &*ring, Request::timing_only(), &Silent);
        let refused = refused.unwrap_err().to_string();
        println!("{refused}");
        assert!(refused.contains("of its description"), "{refused}");
    }
}

#[test]
fn what_could_wrap_is_refused() {
    let wide = |magnitude: u64| Options {
        ranges: vec![Some(IntegerRange::up_to(magnitude)); 3],
        ..options(Multiplication::Hps)
    };
    // Values up to 2 (2^28)^2 = 2^57 fit a plaintext modulus. Values up to 2 (2^31)^2 do not, and 2 (2^63)^2 does not
    // even fit 127 bits.
    compile(product("bfv"), &wide(1 << 28)).unwrap();
    let refused = compile(product("bfv"), &wide(1 << 31)).unwrap_err();
    assert!(
        matches!(refused, CompileError::PlainRange { .. }),
        "{refused}"
    );
    let refused = compile(product("bfv"), &wide(u64::MAX)).unwrap_err();
    assert!(
        matches!(refused, CompileError::Unbounded { .. }),
        "{refused}"
    );

    let t = PlainModulus::batching(11, 20).unwrap();
    let given = Params::builder(11, t)
        .prime_bits(&[50], &[50])
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let narrow = |params: &Arc<Params>| Options {
        params: ParamsChoice::Given(Arc::clone(params)),
        ..options(Multiplication::Behz)
    };
    let refused = compile(product("bfv"), &narrow(&given)).unwrap_err();
    assert!(
        matches!(refused, CompileError::TooNoisy { .. }),
        "{refused}"
    );

    let compiled = compile(product("bfv"), &options(Multiplication::Behz)).unwrap();
    let client = Client::<Bfv>::new(Arc::new(compiled)).unwrap();
    let beyond = BTreeMap::from([
        ("x".to_owned(), vec![LARGEST + 1; 16]),
        ("y".to_owned(), vec![0; 16]),
    ]);
    let refused = client.encrypt(&beyond).unwrap_err();
    assert!(
        matches!(refused, RuntimeError::OutOfRange { .. }),
        "{refused}"
    );

    // A product with 1/2 is no whole number.
    let mut t = TraceBuilder::new("half", 4).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let half = t.scalar(0.5, None).unwrap();
    let y = t.mul(x, half, None).unwrap();
    t.output("y", y, None).unwrap();
    let mut program = t.finish();
    program.scheme = named("bfv");
    let refused = compile(program, &options(Multiplication::Behz)).unwrap_err();
    assert!(
        matches!(refused, CompileError::NotWhole { .. }),
        "{refused}"
    );
}
