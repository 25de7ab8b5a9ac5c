// SPDX-License-Identifier: Apache-2.0
//! Tests of `ringmill circuit`: the cost of a netlist, runs under encryption, and refusals.

use serde_json::Value;

use crate::common::{folder, ringmill};

const ADDER: &str = "examples/adder.blif";

fn told(arguments: &[&str]) -> Value {
    let done = ringmill(&[&["circuit"], arguments, &["--json"]].concat());
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{stderr}");
    serde_json::from_slice(&done.stdout).unwrap()
}

#[test]
fn the_cost_of_each_set_and_the_one_taken() {
    let found = told(&[ADDER]);
    let estimates = found["estimates"].as_array().unwrap();
    let work = |e: &Value| e["work_bytes"].as_u64().unwrap();
    let least = estimates.iter().min_by_key(|e| work(e)).unwrap();
    assert_eq!(found["set"], least["set"]);
    assert_eq!(estimates.len(), 2);
    for estimate in estimates {
        let set = estimate["set"].as_str().unwrap();
        let alone = told(&[ADDER, "--params", set]);
        assert_eq!(alone["estimates"][0], *estimate);
        assert_eq!(alone["estimates"].as_array().unwrap().len(), 1);
        assert_eq!(alone["set"], set);
        assert!(estimate["failure_log2"].as_f64().unwrap() < -60.0);
    }
    // The adder has 17 gates of two inputs. On bits no gate is merged into another.
    assert_eq!(
        told(&[ADDER, "--params", "boolean_p64"])["estimates"][0]["bootstraps"],
        17
    );
    assert!(found["run"].is_null());
    let text = ringmill(&["circuit", ADDER]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(
        text.starts_with("inputs a[4] b[4]; outputs s[5]\n"),
        "{text}"
    );
    assert_eq!(text.matches("taken: least work").count(), 1, "{text}");
}

#[test]
fn what_it_is_compiled_to() {
    let emitted = |level: &str, set: &str| {
        let done = ringmill(&["circuit", ADDER, "--params", set, "--emit", level]);
        assert!(done.status.success(), "{:?}", done.stderr);
        String::from_utf8(done.stdout).unwrap()
    };
    let gates = emitted("macro", "circuit_bits");
    assert!(
        gates.starts_with("circuit of bits, inputs %0 to %7\n"),
        "{gates}"
    );
    assert_eq!(gates.matches(" = SIGN ").count(), 17);
    assert_eq!(gates.matches("output ").count(), 5);
    let digits = emitted("macro", "circuits");
    let bootstraps = &told(&[ADDER, "--params", "circuits"])["estimates"][0]["bootstraps"];
    let alone = digits.matches(" = LOOKUP %").count() + digits.matches(" = LOOKUP -").count();
    assert!(alone as u64 <= bootstraps.as_u64().unwrap(), "{digits}");
    let mid = emitted("mid", "circuit_bits");
    assert!(mid.contains("repeat 805 blind_rotate"));
    assert_eq!(
        mid.matches("\nrepeat ").count() + mid.matches(" repeat ").count(),
        1
    );
    let both = ringmill(&["circuit", ADDER, "--emit", "mid", "--json"]);
    assert!(!both.status.success());
}

#[test]
fn runs_under_encryption() {
    for set in ["circuits", "circuit_bits"] {
        let toy = ["--params", set, "--toy-for-tests-only", "--failure", "-40"];
        let found = told(&[&[ADDER, "--run", "a=11", "b=0xd"], &toy[..]].concat());
        assert_eq!(found["outputs"][0]["value"], 24);
        assert_eq!(found["run"]["as_in_the_clear"], true);
        let random = |seed: &str| {
            let seeded = [
                "--run",
                "a=15",
                "--random-inputs",
                "--seed",
                seed,
                "--threads",
                "1",
            ];
            told(&[&[ADDER], &seeded[..], &toy[..]].concat())
        };
        let (one, again) = (random("3"), random("3"));
        assert_eq!(one["inputs"], again["inputs"]);
        let values = |of: &Value| of["value"].as_u64().unwrap();
        let inputs: u64 = one["inputs"].as_array().unwrap().iter().map(values).sum();
        assert_eq!(values(&one["inputs"][0]), 15);
        assert_eq!(values(&one["outputs"][0]), inputs);
    }
}

/// An input that no output depends on takes no value; a port of more than 64 bits takes words.
#[test]
fn unused_and_wide_inputs() {
    let folder = folder("circuit-ports");
    let path = folder.join("wide.blif");
    let names = |of: &str| (0..70).map(|i| format!(" {of}[{i}]")).collect::<String>();
    let gates: String = (0..70)
        .map(|i| format!(".names a[{i}] b y[{i}]\n11 1\n"))
        .collect();
    let text = format!(
        ".inputs clock b{}\n.outputs{}\n{gates}",
        names("a"),
        names("y")
    );
    std::fs::write(&path, text).unwrap();
    let wide = path.to_str().unwrap();
    let shown = ringmill(&["circuit", wide]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        shown.starts_with("inputs b[1] a[70]; outputs y[70]\n"),
        "{shown}"
    );
    assert!(shown.contains("no output depends on clock[1]"), "{shown}");
    let toy = [
        "--params",
        "circuit_bits",
        "--toy-for-tests-only",
        "--failure",
        "-40",
    ];
    for inputs in [
        &["b=1", "a=0x123456789abcdef0,0x2a"][..],
        &["clock=1", "b=1", "a=3,63"],
    ] {
        let found = told(&[&[wide, "--run"], inputs, &toy[..]].concat());
        assert_eq!(found["run"]["as_in_the_clear"], true);
        assert_eq!(found["outputs"][0]["value"], found["inputs"][1]["value"]);
        assert_eq!(found["outputs"][1]["value"], found["inputs"][2]["value"]);
    }
    let random = told(&[&[wide, "--random-inputs"], &toy[..]].concat());
    assert_eq!(random["run"]["as_in_the_clear"], true);
    for (arguments, says) in [
        (["b=1", "a=5"], "expected its 2 words"),
        (
            ["b=1", "a=5,64"],
            "6 bits in its last word, expected a value from 0 to 63",
        ),
        (["b=1", "a=5,1,1"], "expected its 2 words"),
        (["b=1", "clock=2"], "from 0 to 1"),
    ] {
        let done = ringmill(&[&["circuit", wide, "--run"][..], &arguments].concat());
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && stderr.contains(says), "{stderr}");
    }
}

/// Returns the BLIF and the JSON text of a chain of gates. Each gate reads the two before it, so that none is merged
/// into another.
fn chain(gates: usize) -> [String; 2] {
    let blif = (2..gates).map(|i| format!(".names n{} n{} n{i}\n11 0\n", i - 2, i - 1));
    let blif: String = blif.collect();
    let last = gates - 1;
    let blif = format!(".inputs a b\n.outputs n{last}\n.names a n0\n1 1\n.names b n1\n1 1\n{blif}");
    let cells = (0..gates).map(|i| {
        let (a, b, y) = (i + 2, i + 3, i + 4);
        format!(
            r#""c{i}": {{"type": "$_NAND_", "connections": {{"A": [{a}], "B": [{b}], "Y": [{y}]}}}}"#
        )
    });
    let cells = cells.collect::<Vec<_>>().join(",\n");
    let last = gates + 3;
    let json = format!(
        r#"{{"modules": {{"m": {{"ports": {{"a": {{"direction": "input", "bits": [2, 3]}},
            "y": {{"direction": "output", "bits": [{last}]}}}}, "cells": {{{cells}}}}}}}}}"#
    );
    [blif, json]
}

/// A netlist stays within the memory limit while it is read and lowered, and so does a file that never ends.
#[test]
fn memory_is_bounded() {
    let folder = folder("circuit-memory");
    let refused = |arguments: &[&str]| {
        let done = ringmill(&[&["circuit"], arguments, &["--max-memory", "5M"]].concat());
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("the limit is 5.0 MiB"), "{said}");
        said
    };
    for (name, text) in ["chain.blif", "chain.json"].iter().zip(chain(20_000)) {
        let path = folder.join(name);
        // The file fits within the limit, and the netlist made from it does not.
        assert!(text.len() < 1 << 21, "{}", text.len());
        std::fs::write(&path, text).unwrap();
        let path = path.to_str().unwrap();
        refused(&[path]);
        let taken = ringmill(&["circuit", path, "--max-memory", "400M"]);
        assert!(taken.status.success());
    }
    let said = refused(&["/dev/zero"]);
    assert!(said.contains("/dev/zero and what is made of it"), "{said}");
    // The keys of this netlist do not fit.
    let few = folder.join("few.blif");
    std::fs::write(&few, &chain(4)[0]).unwrap();
    let few = few.to_str().unwrap();
    assert!(told(&[few])["key_bytes"].as_u64() > Some(10 << 20));
    let said = refused(&[few, "--random-inputs"]);
    assert!(said.contains("the evaluation keys needs about"), "{said}");
}

#[test]
fn what_is_refused() {
    let folder = folder("circuit");
    let wrong = folder.join("wrong.blif");
    std::fs::write(&wrong, ".inputs a\n.outputs y\n.latch a y\n").unwrap();
    let wrong = wrong.to_str().unwrap();
    for (arguments, says) in [
        (&["no.blif"][..], "no.blif"),
        (&[wrong], "line 3"),
        (&[ADDER, "--run", "a=16", "b=1"], "from 0 to 15"),
        (&[ADDER, "--run", "a=1"], "input `b` is missing"),
        (&[ADDER, "--run", "c=1", "a=1"], "no input `c`"),
        (&[ADDER, "--run", "a=1", "a=2"], "twice"),
        (&[ADDER, "--run", "a"], "expected NAME=VALUE"),
        (&[ADDER, "--params", "set1"], "set1"),
        (&[ADDER, "--failure", "-5000"], "2^-5000"),
        (&[ADDER, "--failure", "-39"], "2^-40 or less"),
        (&[ADDER, "--failure", "nan"], "2^-40 or less"),
        (
            &[ADDER, "--random-inputs", "--max-memory", "24M"],
            "evaluation keys",
        ),
    ] {
        let done = ringmill(&[&["circuit"], arguments].concat());
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert!(stderr.contains(says), "{arguments:?}: {stderr}");
    }
}
