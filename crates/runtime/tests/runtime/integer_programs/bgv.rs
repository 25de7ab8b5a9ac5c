// SPDX-License-Identifier: Apache-2.0
//! Tests programs of whole numbers under BGV without bootstraps.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_compiler::bgv::{Options, ParamsChoice};
use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::exact::IntegerRange;
use ringmill_compiler::exact::reference::evaluate;
use ringmill_compiler::{CompileError, Passes, compile};
use ringmill_device::Request;
use ringmill_device::progress::Silent;
use ringmill_isa::Level;
use ringmill_isa::macros::{MacroOp, MacroProgram, Visibility};
use ringmill_isa::source::SourceLoc;
use ringmill_runtime::{Client, RuntimeError, Server, simulate};
use ringmill_schemes::bgv::{Bgv, Params, PlainModulus};
use ringmill_schemes::{bfv, bgv};
use ringmill_sim::{open, target};

use crate::integer_programs::draw::{Draw, Shape, named, product};
use crate::integer_programs::run::{Tally, clear, run};

const LARGEST: i64 = 50;

fn options(largest: i64) -> Options {
    Options {
        input_bound: largest as f64,
        ..Options::default()
    }
}

/// Returns options with random small parameters: primes of any sizes, one to three special primes, keys with seeds or
/// without.
fn drawn(draw: &mut Draw, largest: i64) -> Options {
    let log_n = 9 + draw.below(3) as u8;
    let t_bits = 20 + draw.below(25) as u32;
    let t = PlainModulus::batching(log_n, t_bits).unwrap();
    let alpha = 1 + draw.below(3);
    let cipher = alpha * (1 + draw.below(12 / alpha));
    let mut bits = |count: u64, least: u32| -> Vec<u32> {
        let bits = |_| least + draw.below(u64::from(61 - least)) as u32;
        (0..count).map(bits).collect()
    };
    // The product of the special primes is at least as large as that of a digit.
    let (mut cipher, special) = (bits(cipher, 30), vec![60; alpha as usize]);
    // The prime of the lowest level has room for the plaintext modulus.
    cipher[0] = 50;
    // No ciphertext prime may equal the plaintext modulus, so none has its size.
    for bits in cipher.iter_mut().filter(|bits| **bits == t_bits) {
        *bits += 1;
    }
    let params = Params::builder(log_n, t)
        .prime_bits(&cipher, &special)
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    Options {
        params: ParamsChoice::Given(params),
        seeded_keys: draw.below(2) == 0,
        output_level: Level(draw.below(2) as u32),
        ..options(largest)
    }
}

fn random_programs(seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::new();
    for seed in seeds {
        let mut draw = Draw::new(seed);
        let deepest = draw.below(7) as u32;
        let largest = if deepest > 2 { 1 } else { LARGEST };
        let shape = Shape {
            scheme: "bgv",
            slots: 1 << draw.below(9),
            deepest,
            largest,
            operations: 16,
        };
        let program = draw.program(shape);
        let chosen = draw.below(4) == 0;
        let mut options = if chosen {
            options(largest)
        } else {
            drawn(&mut draw, largest)
        };
        if draw.below(4) == 0 {
            options.passes = Passes::NONE;
        }
        let device = ["cpu:1", "cpu:2"][draw.below(2) as usize];
        tally.try_one::<Bgv>(seed, &mut draw, (&program, largest), &options, device);
    }
    tally.print();
    tally
}

#[test]
fn random_programs_give_what_they_give_in_the_clear() {
    let tally = random_programs(0..100);
    assert!(tally.ran >= 60);
    // The programs contain every operation of BGV programs, except those that the compiler replaces, calls and repeats,
    // and the steps of bootstrapping.
    let other = |op: &MacroOp| {
        matches!(
            op,
            MacroOp::Conj
                | MacroOp::Iszero
                | MacroOp::Quotient
                | MacroOp::Bootstrap
                | MacroOp::Call
                | MacroOp::Repeat
        ) || op.is_linked()
            || !op.is_of("bgv")
    };
    let all = MacroOp::ALL.into_iter().filter(|op| !other(op)).collect();
    assert_eq!(tally.seen, all);
}

#[test]
#[ignore = "minutes; `make full` runs it"]
fn thousands_of_random_programs() {
    assert!(random_programs(1_000..4_000).ran >= 1_500);
}

/// Tests that a co-processor leaves instructions that it lacks to its host, and that a machine without a host names
/// what it lacks.
#[test]
fn machines_give_the_same_or_name_what_they_lack() {
    let for_machine = |name: &str| Options {
        target: Some(target(name).unwrap()),
        ..options(LARGEST)
    };
    let mut draw = Draw::new(1);
    let vectors = [0; 3].map(|_| draw.vector(16, LARGEST));
    let expected = evaluate(&product("bgv"), &clear(&vectors)).unwrap();
    let compiled = Arc::new(compile(product("bgv"), &for_machine("polymul")).unwrap());
    for device in ["cpu:1", "sim:polymul"] {
        let (outputs, _) = run(&compiled, device, &vectors).unwrap();
        assert_eq!(outputs["z"], narrow(&expected[0]), "{device}");
    }
    let ring = open("sim:ring").unwrap();
    let refused = simulate(&compiled, &*ring, Request::timing_only(), &Silent);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("of its description"), "{refused}");
    // The compiler already refuses a program for a machine without a host that cannot run it.
    let refused = compile(product("bgv"), &for_machine("ring")).unwrap_err();
    assert!(refused.to_string().contains("rpaus"), "{refused}");
}

fn narrow(slots: &[i128]) -> Vec<i64> {
    slots.iter().map(|&x| x.try_into().unwrap()).collect()
}

/// Returns a program of products of x with itself in sequence, each on a line of its own, with the sum of all powers as
/// its output.
fn powers(deepest: u32) -> MacroProgram {
    let line = |line: u32| {
        Some(SourceLoc {
            file: "powers.py".into(),
            line,
        })
    };
    let mut t = TraceBuilder::new("powers", 16).unwrap();
    let x = t.input("x", Visibility::Encrypted, line(1)).unwrap();
    let mut power = x;
    let mut sum: Traced = x;
    for number in 1..=deepest {
        power = t.mul(power, x, line(10 + number)).unwrap();
        sum = t.add(sum, power, line(20 + number)).unwrap();
    }
    t.output("sum", sum, line(99)).unwrap();
    let mut program = t.finish();
    program.scheme = named("bgv");
    program
}

fn given(cipher: &[u32]) -> Options {
    let t = PlainModulus::batching(11, 20).unwrap();
    let params = Params::builder(11, t)
        .prime_bits(cipher, &[60])
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    Options {
        params: ParamsChoice::Given(params),
        ..options(1)
    }
}

/// Tests a sum of values of every depth, whose levels and correction factors all differ.
#[test]
fn sums_over_all_depths_are_exact_at_depth_six() {
    for options in [options(1), given(&[50, 45, 50, 45, 50, 45, 50, 45, 50])] {
        let compiled = compile(powers(6), &options).unwrap();
        let compiled = Arc::new(compiled);
        let client = Client::<Bgv>::new(Arc::clone(&compiled)).unwrap();
        let x: Vec<i64> = (0..16).map(|i| i % 3 - 1).collect();
        let expected = evaluate(&powers(6), &clear(std::slice::from_ref(&x))).unwrap();
        let inputs = client
            .encrypt(&BTreeMap::from([("x".to_owned(), x)]))
            .unwrap();
        let keys = client.evaluation_keys().unwrap();
        let server = Server::new(Arc::clone(&compiled), keys).unwrap();
        let device = open("cpu:2").unwrap();
        let answer = server.run(
            &*device,
            &inputs,
            &BTreeMap::new(),
            Request::function_only(),
            &Silent,
        );
        let answer = answer.unwrap();
        let outputs = answer.outputs.unwrap();
        assert_eq!(
            client.decrypt(&outputs).unwrap()["sum"],
            narrow(&expected[0])
        );
        let report = answer.report;
        assert_eq!(report.noise[0].predicted_bits, compiled.predicted[0].budget);
        assert!(report.parameters.plain_modulus.is_some());
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_line() {
    let short = given(&[50, 50, 50]);
    compile(powers(1), &short).unwrap();
    let refused = compile(powers(6), &short).unwrap_err();
    assert!(
        matches!(refused, CompileError::TooNoisy { .. }),
        "{refused}"
    );
    let line = refused.loc().unwrap().line;
    assert!((12..=16).contains(&line), "{refused}");
    // The demanded level of the output is above the levels that are left.
    let high = Options {
        output_level: Level(2),
        ..given(&[50, 50, 50])
    };
    let refused = compile(powers(3), &high).unwrap_err();
    assert!(
        matches!(refused, CompileError::TooNoisy { .. }),
        "{refused}"
    );
    // No table has parameters for forty products in sequence.
    let refused = compile(powers(40), &options(1)).unwrap_err();
    assert!(
        matches!(refused, CompileError::TooNoisy { .. }),
        "{refused}"
    );
    assert!(
        refused
            .to_string()
            .contains("multiplies 40 times in sequence"),
        "{refused}"
    );

    let wide = |magnitude: u64| Options {
        ranges: vec![Some(IntegerRange::up_to(magnitude)); 3],
        ..Options::default()
    };
    // Values up to 2 (2^28)^2 = 2^57 fit a plaintext modulus, and values up to 2 (2^31)^2 do not.
    compile(product("bgv"), &wide(1 << 28)).unwrap();
    let refused = compile(product("bgv"), &wide(1 << 31)).unwrap_err();
    assert!(
        matches!(refused, CompileError::PlainRange { .. }),
        "{refused}"
    );
    let refused = compile(
        product("bgv"),
        &Options {
            ranges: wide(1 << 20).ranges,
            ..short
        },
    );
    let refused = refused.unwrap_err();
    assert!(
        matches!(refused, CompileError::PlainRange { .. }),
        "{refused}"
    );

    let refused = compile(product("bfv"), &options(LARGEST)).unwrap_err();
    assert!(
        matches!(refused, CompileError::OtherScheme { .. }),
        "{refused}"
    );
}

#[test]
fn inputs_that_are_not_the_programs_are_refused() {
    let compiled = Arc::new(compile(product("bgv"), &options(LARGEST)).unwrap());
    let client = Client::<Bgv>::new(Arc::clone(&compiled)).unwrap();
    let other = Client::<Bgv>::new(Arc::clone(&compiled)).unwrap();
    let vector = |value: i64| vec![value; 16];
    let named = |x: i64| BTreeMap::from([("x".to_owned(), vector(x)), ("y".to_owned(), vector(2))]);
    let refused = client.encrypt(&named(LARGEST + 1)).unwrap_err();
    assert!(
        matches!(refused, RuntimeError::OutOfRange { .. }),
        "{refused}"
    );

    let device = open("cpu:1").unwrap();
    let server = Server::new(Arc::clone(&compiled), client.evaluation_keys().unwrap()).unwrap();
    let plain = |p: i64| BTreeMap::from([("p".to_owned(), vector(p))]);
    let run = |ciphers: &BTreeMap<String, bgv::Ciphertext>, p: i64| {
        server.run(
            &*device,
            ciphers,
            &plain(p),
            Request::function_only(),
            &Silent,
        )
    };
    let inputs = client.encrypt(&named(3)).unwrap();
    run(&inputs, 5).unwrap();
    let refused = run(&inputs, LARGEST + 1).unwrap_err();
    assert!(
        matches!(refused, RuntimeError::OutOfRange { .. }),
        "{refused}"
    );
    // Inputs of another secret key are refused, alone and beside the client's own.
    let theirs = other.encrypt(&named(3)).unwrap();
    let refused = run(&theirs, 5).unwrap_err();
    assert!(
        matches!(refused, RuntimeError::OtherKeys { .. }),
        "{refused}"
    );
    let mut mixed = inputs.clone();
    mixed.insert("y".to_owned(), theirs["y"].clone());
    let refused = run(&mixed, 5).unwrap_err();
    assert!(
        matches!(refused, RuntimeError::OtherKeys { .. }),
        "{refused}"
    );
    // An input at another level or with another correction factor than the program takes is refused.
    let switched = bgv::Evaluator::new(Arc::clone(&compiled.params));
    let lower = switched.mod_switch_to_next(&inputs["x"]).unwrap();
    let mut moved = inputs.clone();
    moved.insert("x".to_owned(), lower);
    let refused = run(&moved, 5).unwrap_err();
    assert!(
        matches!(refused, RuntimeError::WrongPlace { .. }),
        "{refused}"
    );
    assert!(refused.to_string().contains("factor"), "{refused}");

    // A ciphertext of BFV is refused, even if its primes are the same.
    let ours = &compiled.params;
    let theirs = bfv::Params::builder(ours.log_n(), bgv::ExactParams::plain_modulus(&**ours));
    let theirs = theirs.primes(ours.cipher_moduli(), ours.special_moduli());
    let theirs = theirs.build().unwrap();
    let zero = vec![vec![0; theirs.degree() * theirs.cipher_count()]; 2];
    let cipher = bfv::Ciphertext::new(&theirs, theirs.max_level(), (), zero).unwrap();
    let bytes = bfv::file::write_ciphertext(&theirs, &cipher).unwrap();
    let refused = bgv::file::read_ciphertext(&bytes, ours).unwrap_err();
    assert!(
        refused.to_string().contains("expected 2 (BGV)"),
        "{refused}"
    );
}
