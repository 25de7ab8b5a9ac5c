// SPDX-License-Identifier: Apache-2.0
//! Tests that TFHE's bootstrap on the torus machine, by its model and by its RTL, gives the evaluator's bits.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ringmill_circuits::Bootstrap;
use ringmill_circuits::tfhe::{
    Client, Decomposition, Gate, LweDimension, Params, ParamsBuilder, Transforms, Unrolling,
};
use ringmill_device::Request;
use ringmill_machines::torus::{Description, TorusMachine};
use ringmill_sim::open;

/// Writes the description of an engine for toy sizes to a file. Returns the path and the text.
fn description(unroll: usize, dim: usize) -> (PathBuf, String) {
    let digits = params(Unrolling::One, dim).sizes().key_switch;
    let mut text = Description::OURS.to_owned();
    for (from, to) in [
        ("log_n = 10 ", "log_n = 7 ".to_owned()),
        ("dim = 630 ", format!("dim = {dim} ")),
        ("unroll = 1 ", format!("unroll = {unroll} ")),
        ("log_lanes = 5 ", "log_lanes = 2 ".to_owned()),
        ("log_pos = 2 ", "log_pos = 0 ".to_owned()),
        ("places = 4 ", "places = 2 ".to_owned()),
        ("key_beats = 512 ", "key_beats = 1024 ".to_owned()),
        ("log_base = 1 ", format!("log_base = {} ", digits.log_base)),
        ("levels = 15 ", format!("levels = {} ", digits.levels)),
        ("cores = 14 ", "cores = 1 ".to_owned()),
        ("rounds = 20 ", "rounds = 2 ".to_owned()),
    ] {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, &to);
    }
    // Each call writes a file of its own, because tests of one process run at once and must not share a file.
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let name = format!("torus-{unroll}-{dim}-{number}.toml");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, &text).unwrap();
    (path, text)
}

fn params(unrolling: Unrolling, dim: usize) -> Arc<Params> {
    ParamsBuilder::toy_for_tests_only()
        .transforms(Transforms::Solinas)
        .unrolling(unrolling)
        .bootstrap(Decomposition {
            log_base: 7,
            levels: 3,
        })
        .sizes(|s| (s.n, s.log_degree) = (LweDimension(dim), 7))
        .build()
        .unwrap()
}

/// Checks that the bootstrap of a NAND gate on the torus machine gives the evaluator's bits, in the cycles that the
/// machine's model states. `kind` is `sim` for the model and `rtl` for the RTL.
fn check(kind: &str, unrolling: Unrolling, dim: usize) {
    let params = params(unrolling, dim);
    let client = Client::from_seed_for_reproducible_tests_only(params.clone(), [7; 32]).unwrap();
    let (key, switch) = (
        client.bootstrap_key().unwrap(),
        client.key_switch_key().unwrap(),
    );
    let evaluator = ringmill_circuits::tfhe::Evaluator::new(params.clone(), &key, &switch).unwrap();
    let bootstrap = Bootstrap::new(&params, &key, &switch).unwrap();
    let (path, text) = description(unrolling.m(), dim);
    let device = open(&format!("{kind}:{}", path.display())).unwrap();
    let machine = TorusMachine::parse(&text).unwrap();
    let q = params.coefficients();
    let eighth = q.fraction(1, 3);
    let table = vec![eighth; params.sizes().degree()];
    for bits in [[true, true], [false, true]] {
        let [a, b] = bits.map(|bit| client.encrypt_bit(bit).unwrap());
        let mut work = evaluator.workspace();
        let expected = evaluator.gate(&mut work, Gate::Nand, &a, &b).unwrap();
        let words = a.words().iter().zip(b.words());
        let mut sum: Vec<u64> = words.map(|(&a, &b)| q.sub(q.sub(0, a), b)).collect();
        let body = sum.last_mut().unwrap();
        *body = q.add(*body, eighth);
        let (out, outcome) = bootstrap
            .run(device.as_ref(), &table, &sum, Request::both())
            .unwrap();
        assert_eq!(out, expected.words());
        assert_eq!(
            client.decrypt_bit(&expected).unwrap(),
            !(bits[0] && bits[1])
        );
        let report = outcome.machine.unwrap();
        let cycles = machine.bootstraps(1, true);
        assert_eq!(
            (report.cycles, report.how),
            (cycles, if kind == "rtl" { "RTL" } else { "model" })
        );
    }
}

#[test]
fn the_model_bootstraps() {
    check("sim", Unrolling::One, 24);
}

/// Tests bootstraps on the RTL.
#[test]
#[ignore = "a model to build; `make full` runs it"]
fn the_rtl_bootstraps() {
    check("rtl", Unrolling::One, 24);
}

#[test]
fn unrolled_keys_on_the_model() {
    check("sim", Unrolling::Two, 24);
    check("sim", Unrolling::Three, 25);
}

#[test]
#[ignore = "two more models; `make full` runs it"]
fn unrolled_keys_on_the_rtl() {
    check("rtl", Unrolling::Two, 24);
    check("rtl", Unrolling::Three, 25);
}

/// Tests that a program of other sizes is refused, and that the error names the field of the description that forbids
/// it.
#[test]
fn other_sizes_are_refused() {
    let params = params(Unrolling::One, 23);
    let client = Client::from_seed_for_reproducible_tests_only(params.clone(), [7; 32]).unwrap();
    let (key, switch) = (
        client.bootstrap_key().unwrap(),
        client.key_switch_key().unwrap(),
    );
    let bootstrap = Bootstrap::new(&params, &key, &switch).unwrap();
    let table = vec![1; params.sizes().degree()];
    let (path, _) = description(1, 24);
    let device = open(&format!("sim:{}", path.display())).unwrap();
    let refused = bootstrap.run(device.as_ref(), &table, &[0; 24], Request::timing_only());
    let error = refused.err().map(|e| e.to_string()).unwrap();
    assert!(error.contains("`dim`"), "{error}");
    let (path, _) = description(2, 23);
    let device = open(&format!("sim:{}", path.display())).unwrap();
    let refused = bootstrap.run(device.as_ref(), &table, &[0; 24], Request::timing_only());
    let error = refused.err().map(|e| e.to_string()).unwrap();
    assert!(error.contains("`unroll`"), "{error}");
    // A key switch with another number of digits.
    let (path, text) = description(1, 23);
    let levels = format!("levels = {} ", params.sizes().key_switch.levels);
    let other = path.with_file_name("torus-other-switch.toml");
    std::fs::write(&other, text.replace(&levels, "levels = 1 ")).unwrap();
    let device = open(&format!("sim:{}", other.display())).unwrap();
    let refused = bootstrap.run(device.as_ref(), &table, &[0; 24], Request::timing_only());
    let error = refused.err().map(|e| e.to_string()).unwrap();
    assert!(error.contains("`switch.levels`"), "{error}");
}
