// SPDX-License-Identifier: Apache-2.0
//! Tests CKKS programs that need more levels than their parameters have: the compiler places bootstraps, and the
//! results lie within the predicted error.

use std::collections::BTreeMap;
use std::sync::Arc;

use num_complex::Complex64;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::reference::evaluate;
use ringmill_compiler::ckks::{Compiled, InputRange, Options, ParamsChoice};
use ringmill_compiler::compile;
use ringmill_device::Request;
use ringmill_device::progress::Silent;
use ringmill_isa::macros::{MacroOp, MacroProgram, Visibility};
use ringmill_math::Prng;
use ringmill_runtime::{Client, Server, Vectors};
use ringmill_schemes::ckks::bootstrap::{Procedure, Set};
use ringmill_sim::open;

/// Returns options for a set of parameters that bootstraps.
fn of_set(set: Set) -> Options {
    let procedure = Procedure::of_set(set).unwrap();
    Options {
        params: ParamsChoice::Given(Arc::clone(procedure.params())),
        bootstrapping: Some(Arc::new(procedure)),
        ..Options::default()
    }
}

fn toy() -> Options {
    of_set(Set::ToyForTestsOnly)
}

/// Returns the program y = 0.6 y^2 - 0.3 x, `turns` times from y = x. All values stay in [-1, 1] if x does.
fn iteration(turns: usize, slots: u32) -> MacroProgram {
    let mut t = TraceBuilder::new("iteration", slots).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let a = t.scalar(0.6, None).unwrap();
    let b = t.scalar(-0.3, None).unwrap();
    let mut y = x;
    for _ in 0..turns {
        let square = t.square(y, None).unwrap();
        let first = t.mul(square, a, None).unwrap();
        let second = t.mul(x, b, None).unwrap();
        y = t.add(first, second, None).unwrap();
    }
    t.output("y", y, None).unwrap();
    t.finish()
}

fn bootstraps(compiled: &Compiled) -> usize {
    let instrs = compiled.managed.instrs.iter();
    instrs.filter(|i| i.op == MacroOp::Bootstrap).count()
}

/// Runs a compiled program on inputs. Returns the largest error of its output `y` from the computation in the clear.
fn error(compiled: &Arc<Compiled>, inputs: &Vectors) -> f64 {
    let client = Client::new(Arc::clone(compiled)).unwrap();
    let keys = client.evaluation_keys().unwrap();
    let server = Server::new(Arc::clone(compiled), keys).unwrap();
    let ciphers = client.encrypt(inputs).unwrap();
    let device = open("cpu:1").unwrap();
    let plains = BTreeMap::new();
    let request = Request::function_only();
    let answer = server.run(&*device, &ciphers, &plains, request, &Silent);
    let outputs = client.decrypt(&answer.unwrap().outputs.unwrap()).unwrap();
    let x = inputs["x"].clone();
    let expected = evaluate(&compiled.source, &[x]).unwrap();
    let pairs = outputs["y"].iter().zip(&expected[0]);
    pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

fn random(slots: u32, real: bool, seed: u64) -> Vec<Complex64> {
    let mut prng = Prng::from_seed_for_reproducible_tests_only([seed as u8; 32]);
    let mut number = || prng.next_u64() as f64 / u64::MAX as f64 * 2.0 - 1.0;
    let of = |_| match real {
        true => Complex64::new(number(), 0.0),
        false => Complex64::from_polar(number(), 3.0 * number()),
    };
    (0..slots).map(of).collect()
}

#[test]
fn a_deep_program_bootstraps_and_is_within_its_error() {
    is_within_its_error(Set::ToyForTestsOnly, 6, 1e-4);
}

/// Tests that a second iteration about squares the error of a bootstrap.
#[test]
fn a_program_of_bootstraps_that_run_twice_is_precise() {
    is_within_its_error(Set::PreciseToyForTestsOnly, 5, 1e-10);
}

fn is_within_its_error(set: Set, turns: usize, most: f64) {
    for (slots, real) in [(1024, true), (16, true), (64, false)] {
        let range = match real {
            true => InputRange::Real {
                lowest: -1.0,
                highest: 1.0,
            },
            false => InputRange::Disc { radius: 1.0 },
        };
        let options = Options {
            ranges: vec![Some(range)],
            ..of_set(set)
        };
        let compiled = Arc::new(compile(iteration(turns, slots), &options).unwrap());
        assert!(bootstraps(&compiled) >= 2);
        let procedure = compiled.bootstrapping.as_ref().unwrap();
        assert_eq!(procedure.wanted().real, real);
        let predicted = compiled.predicted[0].error;
        let inputs = Vectors::from([("x".to_owned(), random(slots, real, slots as u64))]);
        let error = error(&compiled, &inputs);
        println!(
            "{slots} {real}: {} bootstraps, error {error:e}, predicted {predicted:e}",
            bootstraps(&compiled)
        );
        assert!(error <= predicted, "{error:e} above {predicted:e}");
        assert!(predicted < most);
    }
}

#[test]
fn a_shallow_program_needs_no_bootstrap() {
    let compiled = compile(iteration(1, 16), &toy()).unwrap();
    assert_eq!(bootstraps(&compiled), 0);
    assert!(compiled.bootstrapping.is_none());
}

#[test]
#[ignore = "the full size, half a minute and 10 GB; `make full` runs it"]
fn the_deep_set_bootstraps() {
    let slots = 1 << 15;
    let range = InputRange::Real {
        lowest: -1.0,
        highest: 1.0,
    };
    let options = Options {
        ranges: vec![Some(range)],
        ..of_set(Set::Deep)
    };
    let compiled = Arc::new(compile(iteration(8, slots), &options).unwrap());
    assert_eq!(bootstraps(&compiled), 1);
    let predicted = compiled.predicted[0].error;
    let inputs = Vectors::from([("x".to_owned(), random(slots, true, 1))]);
    let error = error(&compiled, &inputs);
    println!("error {error:e}, predicted {predicted:e}");
    assert!(error <= predicted, "{error:e} above {predicted:e}");
}
