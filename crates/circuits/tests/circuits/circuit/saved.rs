// SPDX-License-Identifier: Apache-2.0
//! Tests that a saved circuit is lowered to the same circuit again, and that text that no circuit has is refused.

use std::fmt::Write;
use std::sync::Arc;

use ringmill_circuits::circuit::netlist;
use ringmill_circuits::circuit::program::{Binary, Comparison, Shift};
use ringmill_circuits::circuit::saved::{
    self, Declared, DeclaredType, MOST_OPERATIONS, Returned, SavedCircuit, SavedProgram,
    SavedSource,
};
use ringmill_circuits::circuit::{Program, ProgramBuilder, Type, Value};
use ringmill_circuits::tfhe::{Params, ParamsBuilder};
use ringmill_limits::Watch;
use ringmill_math::Prng;
use ringmill_schemes::file::{FileError, InsecureParams};

const FAILURE: f64 = -40.125;

fn params() -> [Arc<Params>; 2] {
    let all = [
        ParamsBuilder::toy_circuits_for_tests_only(),
        ParamsBuilder::toy_for_tests_only(),
    ];
    all.map(|builder| builder.build().unwrap())
}

fn read(bytes: &[u8]) -> Result<SavedCircuit, FileError> {
    saved::read(bytes, InsecureParams::AllowForTestsOnly, &Watch::default())
}

/// Saves a circuit and reads it. Checks that its text and its lowered circuit stay the same. Returns the text.
fn round_trip(source: SavedSource, params: &Arc<Params>) -> String {
    let made = SavedCircuit {
        name: "a \"name\"".to_owned(),
        params: Arc::clone(params),
        failure: FAILURE,
        source,
    };
    let bytes = saved::write(&made).unwrap();
    let again = read(&bytes).unwrap();
    assert_eq!(again.name, made.name);
    assert_eq!(again.params, made.params);
    assert_eq!(again.failure.to_bits(), FAILURE.to_bits());
    assert_eq!(saved::write(&again).unwrap(), bytes);
    let watch = Watch::default();
    let [first, second] =
        [made, again].map(|of| of.source().compile(params, FAILURE, &watch).unwrap());
    assert_eq!(first, second);
    String::from_utf8(bytes).unwrap()
}

fn declared(name: &str, of: DeclaredType, length: Option<u32>) -> Declared {
    Declared {
        name: name.to_owned(),
        of,
        length,
    }
}

/// Returns a program of random operations on integers of few bits, and bits.
fn random(prng: &mut Prng) -> SavedProgram {
    let below = |prng: &mut Prng, n: usize| prng.next_u64() as usize % n;
    let kind = |prng: &mut Prng| {
        let bits = 1 + below(prng, 5) as u32;
        Type::new(bits, below(prng, 2) == 1).unwrap()
    };
    let mut b = ProgramBuilder::new();
    let (of, array) = (kind(prng), kind(prng));
    let mut kinds = vec![of, array, array];
    b.input("x", of);
    b.input("v[0]", array);
    b.input("v[1]", array);
    while kinds.len() < 14 {
        let pick = |prng: &mut Prng| Value(below(prng, kinds.len()) as u32);
        let (x, y, z) = (pick(prng), pick(prng), pick(prng));
        let shift = Shift::ALL[below(prng, 4)];
        let other = kind(prng);
        let (low, high) = other.ends();
        let value = |prng: &mut Prng| low + i128::from(prng.next_u64()) % (high - low + 1);
        let made = match below(prng, 12) {
            0 => b.constant(value(prng), other),
            1..=3 => b.binary(Binary::ALL[below(prng, 10)], x, y),
            4 => b.compare(Comparison::ALL[below(prng, 4)], x, y),
            5 => b.not(x),
            6 => b.shift_by(shift, x, below(prng, 9) as u32),
            7 => b.shift(shift, x, y),
            8 => b.select(x, y, z),
            9 => b.sum(&[x, y, z, x]),
            10 => b.table(x, &[value(prng), value(prng)], other),
            _ => b.convert(x, other),
        };
        // Types that do not fit are refused, and the program goes on without the operation.
        if let Ok(made) = made {
            kinds.push(b.kind(made).unwrap());
        }
    }
    let mut results = Vec::new();
    for i in [0, 7, 13] {
        let name = format!("out{i}");
        b.output(&name, Value(i)).unwrap();
        let of = DeclaredType::Integer(kinds[i as usize]);
        results.push(declared(&name, of, None));
    }
    let arguments = vec![
        declared("x", DeclaredType::Integer(of), None),
        declared("v", DeclaredType::Integer(array), Some(2)),
    ];
    SavedProgram::new(Arc::new(b.finish()), arguments, results, Returned::Tuple).unwrap()
}

/// Returns a program with an array of bits, and its results as an array and an integer.
fn bits() -> SavedProgram {
    let mut b = ProgramBuilder::new();
    let x = b.input("x[0]", Type::BIT);
    let y = b.input("x[1]", Type::BIT);
    let wide = Type::new(64, true).unwrap();
    let least = b.constant(wide.ends().0, wide).unwrap();
    let both = b.binary(Binary::And, x, y).unwrap();
    let zero = b.constant(0, wide).unwrap();
    let choice = b.select(both, least, zero).unwrap();
    for value in [y, both] {
        b.output("bits", value).unwrap();
    }
    b.output("least", choice).unwrap();
    let results = vec![
        declared("bits", DeclaredType::Bit, Some(2)),
        declared("least", DeclaredType::Integer(wide), None),
    ];
    let arguments = vec![declared("x", DeclaredType::Bit, Some(2))];
    SavedProgram::new(Arc::new(b.finish()), arguments, results, Returned::Dict).unwrap()
}

#[test]
fn a_program_is_lowered_to_the_same_circuit_again() {
    let mut prng = Prng::from_seed_for_reproducible_tests_only([77; 32]);
    for params in &params() {
        let text = round_trip(SavedSource::Program(bits()), params);
        assert!(text.contains(r#"["constant",9223372036854775808,"sint(64)"]"#));
        assert!(text.contains(r#"{"name":"bits","type":"bit","length":2,"values":[1,3]}"#));
        for _ in 0..40 {
            round_trip(SavedSource::Program(random(&mut prng)), params);
        }
    }
}

/// Netlists with an unused clock, a gate of many inputs, a constant, and bits that are out of order.
const BLIF: &str = "
.inputs clock[0] clock[1] b[1] b[0] a[0] a[1] a[2]
.outputs y[1] y[0] one
.names a[1] a[0] late
01 1
.names late a[0] a[1] a[2] b[0] b[1] y[0]
1----- 1
01-10- 1
.names b[1] late y[1]
11 0
.names one
1
.names clock[0] dead
1 1
.end
";

const JSON: &str = r#"{"modules": {"top": {
    "ports": {
        "a[0]": {"direction": "input", "bits": [9, 3]},
        "rest": {"direction": "input", "bits": [40, 41, 42]},
        "y": {"direction": "output", "bits": [7, "1", 9, 7]}
    },
    "cells": {
        "one": {"type": "$lut", "parameters": {"LUT": "0110", "WIDTH": 2},
            "connections": {"A": [3, 8], "Y": [7]}},
        "two": {"type": "$_NOT_", "connections": {"A": [9], "Y": [8]}}
    }
}}}"#;

fn netlist_of(text: &str) -> SavedSource {
    let netlist = netlist::read(text.as_bytes(), &Watch::default()).unwrap();
    SavedSource::Netlist(Arc::new(netlist))
}

#[test]
fn a_netlist_is_lowered_to_the_same_circuit_again_with_the_same_ports() {
    let wide: String = (0..70).fold(String::new(), |mut text, i| {
        write!(text, ".names a[{i}] n y[{i}]\n10 1\n").unwrap();
        text
    });
    let names = |of: &str| (0..70).fold(String::new(), |text, i| format!("{text} {of}[{i}]"));
    let wide = format!(
        ".inputs{} n\n.outputs{}\n{wide}.end\n",
        names("a"),
        names("y")
    );
    for params in &params() {
        for text in [BLIF, JSON, &wide] {
            let source = netlist_of(text);
            let again = read(round_trip(source.clone(), params).as_bytes()).unwrap();
            match (source, again.source) {
                (SavedSource::Netlist(a), SavedSource::Netlist(b)) => {
                    assert_eq!(a.ports(), b.ports());
                }
                _ => panic!("a netlist is read as a program"),
            }
        }
    }
}

#[test]
fn text_that_no_circuit_has_is_refused_with_its_fault() {
    let program = round_trip(SavedSource::Program(bits()), &params()[0]);
    let netlist = round_trip(netlist_of(BLIF), &params()[1]);
    for (text, from, to, fault) in [
        (&program, "\"form\":1", "\"form\":2", "form 2, expected 1"),
        (&program, "circuit", "program", "it is `program`"),
        (&program, "{\"ring", "[\"ring", "no saved circuit"),
        (&program, "\"form\":1,", "", "missing field `form`"),
        (
            &program,
            "\"name\":\"a",
            "\"more\":1,\"name\":\"a",
            "unknown field `more`",
        ),
        (
            &program,
            "\"name\":\"a",
            "\"name\":\"b\",\"name\":\"a",
            "duplicate field",
        ),
        (&program, "\"-40.125\"", "\"often\"", "failure is `often`"),
        (&program, "\"-40.125\"", "\"-inf\"", "failure is `-inf`"),
        (&program, "\"-40.125\"", "-40.125", "invalid type"),
        (
            &program,
            "[\"and\",0,1]",
            "[\"and\",0,3]",
            "operation 3: an operand is 3, expected",
        ),
        (
            &program,
            "[\"and\",0,1]",
            "[\"and\",0,4000000000]",
            "an operand is 4000000000",
        ),
        (
            &program,
            "[\"and\",0,1]",
            "[\"and\",0,4294967296]",
            "invalid value",
        ),
        (&program, "[\"and\",0,1]", "[\"and\",0,-1]", "invalid value"),
        (&program, "[\"and\",0,1]", "[\"and\",0]", "too few operands"),
        (
            &program,
            "[\"and\",0,1]",
            "[\"and\",0,1,1]",
            "too many operands",
        ),
        (
            &program,
            "[\"and\",0,1]",
            "[\"nand\",0,1]",
            "there is no operation `nand`",
        ),
        (
            &program,
            "[\"and\",0,1]",
            "[\"and\",0,2]",
            "expected equal types",
        ),
        (
            &program,
            "[\"and\",0,1]",
            "[\"input\"]",
            "belongs to no argument",
        ),
        (
            &program,
            "[\"and\",0,1]",
            "[\"sum\",[]]",
            "takes 1 values, got 0",
        ),
        (
            &program,
            "[\"and\",0,1]",
            "[\"shift\",\"up\",0,1]",
            "there is no shift `up`",
        ),
        (
            &program,
            "[\"and\",0,1]",
            "[\"convert\",0,\"uint(65)\"]",
            "`uint(65)` is no type",
        ),
        (
            &program,
            "[\"and\",0,1]",
            "[\"table\",0,[0,1,0],\"bit\"]",
            "1 to 2",
        ),
        (
            &program,
            "[\"and\",0,1]",
            "[\"table\",0,[2],\"bit\"]",
            "a constant's bits is 2",
        ),
        (
            &program,
            "0,\"sint(64)\"",
            "0,\"sint(63)\"",
            "expected equal types",
        ),
        (
            &program,
            "\"length\":2}",
            "\"length\":1}",
            "belongs to no argument",
        ),
        (
            &program,
            "\"length\":2}",
            "\"length\":4294967295}",
            "inputs of the program",
        ),
        (
            &program,
            "\"length\":2}",
            "\"length\":4294967296}",
            "invalid value",
        ),
        (
            &program,
            "\"values\":[1,3]",
            "\"values\":[1,2]",
            "outputs of the program",
        ),
        (
            &program,
            "\"values\":[1,3]",
            "\"values\":[1,99]",
            "result `bits`: value 99",
        ),
        (
            &program,
            "\"values\":[1,3]",
            "\"values\":[1]",
            "outputs of the program",
        ),
        (
            &program,
            "\"name\":\"least\"",
            "\"name\":\"bits\"",
            "result `bits` is there twice",
        ),
        (
            &program,
            "\"dict\"",
            "\"one\"",
            "2 results are returned as one",
        ),
        (&program, "\"dict\"", "\"list\"", "unknown variant `list`"),
        (
            &program,
            "\"program\":{",
            "\"netlist\":null,\"program\":null,\"x\":{",
            "unknown field `x`",
        ),
        (
            &program,
            "\"params\":\"5",
            "\"params\":\"X",
            "not hexadecimal",
        ),
        (
            &program,
            "\"params\":\"5",
            "\"params\":\"",
            "not hexadecimal",
        ),
        (&program, "\"params\":\"52", "\"params\":\"53", "RINGMILL"),
        (
            &netlist,
            "[\"input\"]",
            "[\"known\",true]",
            "is no bit of its own of",
        ),
        (&netlist, "[\"input\"]", "[\"known\",1]", "invalid type"),
        (
            &netlist,
            "[\"input\"]",
            "[\"input\",1]",
            "`input` has too many parts",
        ),
        (
            &netlist,
            "[\"input\"]",
            "[\"latch\"]",
            "there is no driver `latch`",
        ),
        (&netlist, "\"01\"", "\"0x\"", "expected 0, 1 and - alone"),
        (
            &netlist,
            "\"01\"",
            "\"011\"",
            "a product of other than its 2 inputs",
        ),
        (
            &netlist,
            "\"name\":\"y\"",
            "\"name\":\"one\"",
            "port `one` is there twice",
        ),
    ] {
        assert!(text.contains(from), "{from}: {text}");
        let refused = read(text.replacen(from, to, 1).as_bytes()).unwrap_err();
        let message = refused.to_string();
        assert!(message.contains(fault), "{to}: {message}");
    }
    let signals = netlist.find("\"signals\":[[").unwrap();
    for (to, fault) in [
        (
            "\"signals\":[[\"gate\",[0],[\"1\"],true],[",
            "is no bit of its own",
        ),
        (
            "\"signals\":[[\"gate\",[99],[\"1\"],true],[",
            "there is no signal 99",
        ),
    ] {
        let altered = netlist[signals..].replacen("\"signals\":[[", to, 1);
        let message = read([&netlist[..signals], &altered].concat().as_bytes()).unwrap_err();
        assert!(message.to_string().contains(fault), "{message}");
    }
    // A last gate that reads itself, and a signal that is an input of nothing.
    for (more, fault) in [
        ("],[\"gate\",[NEXT],[\"1\"],true]]}}", "depends on itself"),
        ("],[\"input\"]]}}", "is an input of no port"),
    ] {
        let drivers = ["[\"input\"]", "[\"known\",", "[\"gate\","];
        let count = drivers.map(|driver| netlist[signals..].matches(driver).count());
        let next = count.iter().sum::<usize>().to_string();
        let altered = netlist.replacen("]]}}", &more.replace("NEXT", &next), 1);
        let message = read(altered.as_bytes()).unwrap_err().to_string();
        assert!(message.contains(fault), "{message}");
    }
    assert!(matches!(
        saved::read(program.as_bytes(), InsecureParams::Refuse, &Watch::default()),
        Err(FileError::Refused(reason)) if reason.contains("insecure")
    ));
    let stopped = Watch::default();
    stopped.stop();
    let halted = saved::read(
        program.as_bytes(),
        InsecureParams::AllowForTestsOnly,
        &stopped,
    );
    assert!(matches!(halted, Err(FileError::Halt(_))));
}

#[test]
fn more_operations_than_a_file_may_hold_are_neither_written_nor_read() {
    let text = round_trip(SavedSource::Program(bits()), &params()[0]);
    let many = "[\"not\",0],".repeat(MOST_OPERATIONS);
    let altered = text.replacen("[\"and\"", &format!("{many}[\"and\""), 1);
    let refused = read(altered.as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("expected at most 1048576"), "{refused}");
    let mut b = ProgramBuilder::new();
    let x = b.input("x", Type::BIT);
    for _ in 0..MOST_OPERATIONS {
        b.not(x).unwrap();
    }
    b.output("y", x).unwrap();
    let [argument, result] = ["x", "y"].map(|name| vec![declared(name, DeclaredType::Bit, None)]);
    let program = SavedProgram::new(Arc::new(b.finish()), argument, result, Returned::One);
    let refused = saved::write(&SavedCircuit {
        name: String::new(),
        params: params()[0].clone(),
        failure: FAILURE,
        source: SavedSource::Program(program.unwrap()),
    });
    assert!(refused.unwrap_err().to_string().contains("1048577"));
}

#[test]
fn a_program_of_other_arguments_is_refused() {
    let program: Arc<Program> = bits().program().clone();
    let (arguments, results) = (bits().arguments().to_vec(), bits().results().to_vec());
    let made = |arguments: &[Declared], results: &[Declared]| {
        let program = Arc::clone(&program);
        SavedProgram::new(
            program,
            arguments.to_vec(),
            results.to_vec(),
            Returned::Tuple,
        )
    };
    assert!(made(&arguments, &results).is_ok());
    let other = declared("x", DeclaredType::Bit, Some(3));
    let renamed = declared("y", DeclaredType::Bit, Some(2));
    for wrong in [&[][..], &[other], &[renamed]] {
        assert!(made(wrong, &results).is_err());
    }
    for wrong in [&[][..], &results[1..], &results[..1]] {
        assert!(made(&arguments, wrong).is_err());
    }
}

#[test]
fn altered_text_is_refused_or_read_and_never_panics() {
    let mut prng = Prng::from_seed_for_reproducible_tests_only([78; 32]);
    let watch = Watch::default();
    for (source, params) in [
        (SavedSource::Program(bits()), &params()[0]),
        (SavedSource::Program(random(&mut prng)), &params()[1]),
        (netlist_of(BLIF), &params()[0]),
        (netlist_of(JSON), &params()[1]),
    ] {
        let whole = round_trip(source, params).into_bytes();
        for cut in 0..whole.len() - 1 {
            assert!(read(&whole[..cut]).is_err(), "cut to {cut}");
        }
        for _ in 0..1500 {
            let mut altered = whole.clone();
            let (at, from) = (
                prng.next_u64() as usize % whole.len(),
                prng.next_u64() as usize % whole.len(),
            );
            // A byte of the text itself gives valid text more often than a random one.
            altered[at] = whole[from];
            if let Ok(found) = read(&altered) {
                let _ = found.source().compile(&found.params, found.failure, &watch);
                let again = saved::write(&found).unwrap();
                assert_eq!(saved::write(&read(&again).unwrap()).unwrap(), again);
            }
        }
    }
}
