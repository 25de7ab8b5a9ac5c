// SPDX-License-Identifier: Apache-2.0
//! Tests that netlists keep their values when they are lowered, and that faulty ones are refused.

use ringmill_limits::Watch;

use super::operations::{Dice, run};
use ringmill_circuits::circuit::error::CircuitError;
use ringmill_circuits::circuit::gates::Limits;
use ringmill_circuits::circuit::netlist::{self, Netlist, lower, lower_to_gates};

fn read_blif(text: &str) -> Result<Netlist, CircuitError> {
    netlist::read_blif(text, &Watch::default())
}

fn read_json(text: &str) -> Result<Netlist, CircuitError> {
    netlist::read_json(text, &Watch::default())
}

fn agree(netlist: &Netlist, inputs: &[u64]) {
    let expected = netlist.evaluate(inputs).unwrap();
    for limit in [2000, 90] {
        let circuit = lower(netlist, limit, &Watch::default()).unwrap();
        assert_eq!(run(&circuit, inputs), expected);
    }
    for limits in [Limits { near: 39, far: 90 }, Limits { near: 2, far: 8 }] {
        let circuit = lower_to_gates(netlist, limits, &Watch::default()).unwrap();
        assert_eq!(run(&circuit, inputs), expected);
    }
}

/// Returns the number of words that a netlist takes.
fn words(netlist: &Netlist) -> usize {
    let used = netlist.ports()[0].iter().filter(|port| port.used);
    used.map(|port| port.words().len()).sum()
}

/// Returns a ripple-carry adder of `bits` bits, of two-input gates.
fn adder(bits: usize) -> String {
    let names = |of: &str| {
        (0..bits)
            .map(|i| format!("{of}[{i}]"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut text = format!(
        ".model adder\n.inputs {} \\\n  {}\n.outputs {} carry\n.names c0\n",
        names("a"),
        names("b"),
        names("sum")
    );
    for i in 0..bits {
        let next = if i + 1 == bits {
            "carry".to_owned()
        } else {
            format!("c{}", i + 1)
        };
        text += &format!(
            ".names a[{i}] b[{i}] x{i} # half\n10 1\n01 1\n.names x{i} c{i} sum[{i}]\n10 1\n01 1\n\
             .names a[{i}] b[{i}] g{i}\n11 1\n.names x{i} c{i} p{i}\n11 1\n.names g{i} p{i} {next}\n00 0\n"
        );
    }
    text + ".end\n"
}

#[test]
fn an_adder_in_blif() {
    let netlist = read_blif(&adder(16)).unwrap();
    let mut dice = Dice(4);
    for _ in 0..50 {
        let (a, b) = (dice.value(16), dice.value(16));
        agree(&netlist, &[a, b]);
        let sum = netlist.evaluate(&[a, b]).unwrap();
        assert_eq!(sum, [(a + b) & 0xffff, (a + b) >> 16]);
    }
    // The adder has five gates for each bit. The three gates of a carry merge into one lookup.
    let cost = lower(&netlist, 2000, &Watch::default())
        .unwrap()
        .graph
        .cost();
    assert!(cost.bootstraps <= 3 * 16, "{cost:?}");
    let limits = Limits { near: 39, far: 90 };
    let gates = lower_to_gates(&netlist, limits, &Watch::default())
        .unwrap()
        .graph
        .cost();
    // The first carry is known to be 0, so three gates of the lowest bit take no bootstrap. All others remain.
    assert_eq!(gates.bootstraps, 5 * 16 - 3, "{gates:?}");
}

/// Tests random netlists of `.names` gates. Each gate has up to nine inputs, chosen among all earlier signals.
#[test]
fn random_netlists() {
    let mut dice = Dice(5);
    for _ in 0..60 {
        let mut names: Vec<String> = (0..10).map(|i| format!("x[{i}]")).collect();
        let mut text = format!(".model m\n.inputs {}\n", names.join(" "));
        let mut gates = String::new();
        for g in 0..25 {
            let count = [0, 1, 2, 2, 2, 3, 4, 5, 9][dice.next() as usize % 9];
            let inputs: Vec<&str> = (0..count)
                .map(|_| names[dice.next() as usize % names.len()].as_str())
                .collect();
            gates += &format!(".names {} g{g}\n", inputs.join(" "));
            let value = dice.next() % 2;
            let rows = if count == 0 {
                dice.next() % 2
            } else {
                dice.next() % 4
            };
            for _ in 0..rows {
                let plane: String = (0..count)
                    .map(|_| ['0', '1', '-'][dice.next() as usize % 3])
                    .collect();
                gates += &format!("{plane} {value}\n");
            }
            names.push(format!("g{g}"));
        }
        text += &format!(".outputs g24 g20 g7 g3\n{gates}.end\n");
        let netlist = read_blif(&text).unwrap();
        for _ in 0..10 {
            let inputs: Vec<u64> = (0..words(&netlist)).map(|_| dice.value(10)).collect();
            agree(&netlist, &inputs);
        }
    }
}

const CELLS: [&str; 16] = [
    "$_BUF_",
    "$_NOT_",
    "$_AND_",
    "$_NAND_",
    "$_OR_",
    "$_NOR_",
    "$_XOR_",
    "$_XNOR_",
    "$_ANDNOT_",
    "$_ORNOT_",
    "$_MUX_",
    "$_NMUX_",
    "$_AOI3_",
    "$_OAI3_",
    "$_AOI4_",
    "$_OAI4_",
];

/// Tests every cell that Yosys names, in both formats, and a `$lut` cell with a truth table.
#[test]
fn cells_in_json_and_blif() {
    let mut blif = ".model m\n.inputs a b c d\n.outputs".to_owned();
    let (mut gates, mut cells) = (String::new(), String::new());
    for (i, kind) in CELLS.iter().enumerate() {
        blif += &format!(" y[{i}]");
        let third = if kind.contains("MUX") { "S" } else { "C" };
        gates += &format!(".gate {kind} A=a B=b {third}=c D=d Y=y[{i}]\n");
        cells += &format!(
            r#""u{i:02}": {{"type": "{kind}", "connections": {{"A": [2], "B": [3], "{third}": [4], "D": [5], "Y": [{}]}}}},"#,
            10 + i
        );
    }
    let blif = read_blif(&format!("{blif}\n{gates}")).unwrap();
    let port =
        |name: &str, net: u64| format!(r#""{name}": {{"direction": "input", "bits": [{net}]}}"#);
    let outputs: Vec<String> = (10..10 + CELLS.len()).map(|net| net.to_string()).collect();
    let json = format!(
        r#"{{"creator": "a test", "modules": {{"m": {{"ports": {{{}, {}, {}, {}, "y": {{"direction": "output", "bits": [{}, 40, "1"]}}}},
            "cells": {{{cells} "lut": {{"type": "$lut", "parameters": {{"WIDTH": 2, "LUT": "0110"}},
            "connections": {{"A": [2, "0"], "Y": [40]}}}}}}}}}}}}"#,
        port("a", 2),
        port("b", 3),
        port("c", 4),
        port("d", 5),
        outputs.join(", ")
    );
    let json = read_json(&json).unwrap();
    for x in 0..16u64 {
        let inputs = [x & 1, x >> 1 & 1, x >> 2 & 1, x >> 3];
        agree(&blif, &inputs);
        agree(&json, &inputs);
        let cells = blif.evaluate(&inputs).unwrap()[0];
        let table = (x & 1) << CELLS.len() | 2 << CELLS.len();
        assert_eq!(json.evaluate(&inputs).unwrap(), [cells | table]);
        assert_eq!(cells >> 4 & 1 == 1, x & 3 != 0); // $_OR_
        assert_eq!(cells >> 10 & 1, if x & 4 == 0 { x & 1 } else { x >> 1 & 1 }); // $_MUX_
    }
}

#[test]
fn refusals() {
    for (text, what) in [
        (
            ".inputs a\n.outputs y\n.names y y\n1 1\n",
            "depends on itself",
        ),
        (
            ".inputs a\n.outputs y\n.names z y\n1 1\n.names y z\n1 1\n",
            "depends on itself",
        ),
        (".inputs a\n.outputs y\n", "nothing drives `y`"),
        (
            ".inputs a\n.outputs y\n.names a y\n1 1\n.names a y\n0 1\n",
            "driven twice",
        ),
        (".inputs a\n.outputs a\n.names a\n1\n", "driven twice"),
        (".inputs a\n.outputs y\n.latch a y re clk 0\n", "no state"),
        (
            ".inputs a\n.outputs y\n.gate $_DFF_P_ C=a D=a Q=y\n",
            "not known",
        ),
        (".inputs a\n.outputs y\n.gate $_AND_ A=a Y=y\n", "pin B"),
        (
            ".inputs a\n.outputs y\n.names a y\n11 1\n",
            "2 inputs, expected 1",
        ),
        (
            ".inputs a\n.outputs y\n.names a y\n1 1\n0 0\n",
            "rows for 0 and for 1",
        ),
        (
            ".inputs a\n.outputs y\n.names a y\n2 1\n",
            "expected 0, 1 or -",
        ),
        (".inputs a\n.outputs y\n1 1\n", "row of no"),
        (".inputs a[1]\n.outputs a[1]\n", "missing"),
        (".inputs a a[0]\n.outputs a\n", "twice"),
        (".model a\n.model b\n", "second model"),
        (".inputs a\n", "no output"),
        (".exdc\n", "not known"),
        ("", "no output"),
        (".model m\n.end\n", "no output"),
        // A loop that no output reads is refused, too.
        (
            ".inputs a\n.outputs a\n.names p q\n1 1\n.names q p\n1 1\n",
            "depends on itself",
        ),
        (
            ".model a\n.inputs a\n.outputs a\n.end\n.model b\n.end\n",
            "behind `.end`",
        ),
        (".inputs a\n.outputs a a\n", "twice"),
        (
            ".inputs a b\n.outputs y\n.gate $_AND_ A=a A=b B=b Y=y\n",
            "pin A of `$_AND_` is there twice",
        ),
        (
            ".inputs a b\n.outputs y\n.gate $_AND_ A= B=b Y=y\n",
            "pin A of `$_AND_` is not connected",
        ),
        (".inputs x[64]\n.outputs x[64]\n", "bits of `x` are missing"),
        (
            ".inputs a x[99999999999999]\n.outputs a\n",
            "bits of `x` are missing, 0 is the first",
        ),
        (
            ".inputs a\n.outputs y\n.names $undef\n.names a $undef y\n11 1\n",
            "`$undef`, which is neither 0 nor 1",
        ),
        (
            ".inputs a\n.outputs $undef\n.names $undef\n",
            "`$undef`, which is neither 0 nor 1",
        ),
    ] {
        match read_blif(text) {
            Err(CircuitError::Netlist { what: got, .. }) => assert!(got.contains(what), "{got}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    // An error names the line of the second driver. An error of the whole netlist names no line.
    let twice = ".inputs a\n.outputs y\n.names a y\n1 1\n.names a y\n1 1\n.names a z\n1 1\n";
    for (text, says) in [
        (twice, "line 5 of the netlist: `y` is driven twice"),
        (".inputs a\n", "the netlist: there is no output"),
    ] {
        assert_eq!(read_blif(text).unwrap_err().to_string(), says);
    }
    // A signal that no output needs may be undriven.
    assert!(read_blif(".inputs a\n.outputs a\n.names p q\n1 1\n").is_ok());
    for text in [
        "",
        "{}",
        "[]",
        r#"{"modules": {}}"#,
        r#"{"modules": {"a": {"ports": {}}}}"#,
    ] {
        assert!(
            matches!(read_json(text), Err(CircuitError::Netlist { .. })),
            "{text}"
        );
    }
}

/// Tests the errors of faulty ports and cells in a JSON file. Each error names the port or cell.
#[test]
fn refusals_of_json() {
    let module = |ports: &str, cells: &str| {
        format!(r#"{{"modules": {{"m": {{"ports": {{{ports}}}, "cells": {{{cells}}}}}}}}}"#)
    };
    let port = |name: &str, direction: &str, bits: &str| {
        format!(r#""{name}": {{"direction": "{direction}", "bits": [{bits}]}}"#)
    };
    let cell =
        |name: &str, kind: &str, rest: &str| format!(r#""{name}": {{"type": "{kind}", {rest}}}"#);
    let (a, y) = (port("a", "input", "2"), port("y", "output", "3"));
    let both = format!("{a}, {y}");
    let buffer = cell("g", "$_BUF_", r#""connections": {"A": [2], "Y": [3]}"#);
    let of = |cells: &str| module(&both, cells);
    assert!(read_json(&of(&buffer)).is_ok());
    let lut = |table: &str| {
        let rest =
            format!(r#""parameters": {{"LUT": "{table}"}}, "connections": {{"A": [2], "Y": [3]}}"#);
        of(&cell("g", "$lut", &rest))
    };
    assert!(read_json(&lut("00000010")).is_ok());
    let again = format!("{buffer}, {}", buffer.replace("\"g\"", "\"h\""));
    let itself = cell("g", "$_NOT_", r#""connections": {"A": [3], "Y": [3]}"#);
    let flop = cell(
        "g",
        "$_DFF_P_",
        r#""connections": {"C": [2], "D": [2], "Q": [3]}"#,
    );
    let constant = cell("h", "$_BUF_", r#""connections": {"A": [2], "Y": ["1"]}"#);
    for (text, what) in [
        (
            module(&format!("{}, {y}", port("a", "input", "")), &buffer),
            "`a` has 0 bits",
        ),
        (
            module(&format!("{a}, {}", port("y", "output", "")), &buffer),
            "`y` has 0 bits",
        ),
        (
            module(&format!("{a}, {y}, {}", port("b", "inout", "4")), &buffer),
            "`b` is an inout",
        ),
        (
            module(&format!("{a}, {a}, {y}"), &buffer),
            "`a` is there twice",
        ),
        (of(&format!("{buffer}, {buffer}")), "`g` is there twice"),
        (of(&again), "cell `h`: `net 3` is driven twice"),
        (
            of(&format!("{buffer}, {constant}")),
            "cell `h`: `1` is driven twice",
        ),
        (of(&itself), "`net 3` depends on itself"),
        (of(&flop), "cell `g`: the cell `$_DFF_P_` is not known"),
        (of(""), "nothing drives `net 3`"),
        (
            lut("110"),
            "cell `g`: the table of a `$lut` has more than 2 rows",
        ),
        (lut("02"), "cell `g`: a `$lut` of 1 inputs"),
        (lut("0x"), "cell `g`: the table 0x of a `$lut`"),
        (
            module(
                &format!("{a}, {}", port("y", "output", "3, \"x\"")),
                &buffer,
            ),
            "port `y`: bit 1 is x, neither 0 nor 1",
        ),
        (
            module(
                &format!("{a}, {}", port("y", "output", "3, \"2\"")),
                &buffer,
            ),
            "port `y`: bit 1 is `2`, expected",
        ),
        (
            of(&cell(
                "g",
                "$_BUF_",
                r#""connections": {"A": ["z"], "Y": [3]}"#,
            )),
            "cell `g`: pin A of `$_BUF_`: bit 0 is z, neither 0 nor 1",
        ),
    ] {
        match read_json(&text) {
            Err(error @ CircuitError::Netlist { .. }) => {
                assert!(error.to_string().contains(what), "{error}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// Tests that cells which newer tools leave in a flat design, and checks for simulation, change nothing.
#[test]
fn cells_that_drive_nothing() {
    let text = |cells: &str| {
        format!(
            r#"{{"modules": {{"m": {{"ports": {{"a": {{"direction": "input", "bits": [2]}},
            "y": {{"direction": "output", "bits": [3]}}}}, "cells": {{{cells}
            "g": {{"type": "$_NOT_", "connections": {{"A": [2], "Y": [3]}}}}}}}}}}}}"#
        )
    };
    let plain = read_json(&text("")).unwrap();
    for kind in ["$scopeinfo", "$assert", "$check", "$print"] {
        // A scope has no connections. Other silent cells may have any.
        for rest in [
            "",
            r#", "connections": {}"#,
            r#", "connections": {"A": ["x"]}"#,
        ] {
            let cells = format!(r#""s": {{"type": "{kind}"{rest}}},"#);
            assert_eq!(read_json(&text(&cells)).unwrap(), plain);
        }
    }
    let blif = |gates: &str| {
        read_blif(&format!(
            ".inputs a\n.outputs y\n{gates}.gate $_NOT_ A=a Y=y\n"
        ))
    };
    assert_eq!(
        blif(".gate $scopeinfo\n.gate $assert A=q EN=p\n")
            .unwrap()
            .evaluate(&[1]),
        blif("").unwrap().evaluate(&[1])
    );
}

/// Tests that a clock that nothing reads takes no value, and neither does an input on which no output depends.
#[test]
fn inputs_that_no_output_depends_on() {
    let blif = read_blif(
        ".inputs clock a reset b[0] b[1]\n.outputs y\n.names $undef\n.names clock reset dead\n11 1\n\
         .names a b[0] y\n11 1\n.end\n",
    )
    .unwrap();
    let json = read_json(
        r#"{"modules": {"m": {"ports": {"clock": {"direction": "input", "bits": [9]},
        "a": {"direction": "input", "bits": [2]}, "b": {"direction": "input", "bits": [3, 4]},
        "reset": {"direction": "input", "bits": [8]}, "y": {"direction": "output", "bits": [5]}},
        "cells": {"g": {"type": "$_AND_", "connections": {"A": [2], "B": [3], "Y": [5]}}}}}}"#,
    )
    .unwrap();
    for netlist in [blif, json] {
        let [inputs, _] = netlist.ports();
        let unused: Vec<&str> = (inputs.iter().filter(|port| !port.used))
            .map(|port| port.name.as_str())
            .collect();
        assert_eq!((unused.len(), inputs.len()), (2, 4));
        assert!(unused.contains(&"clock") && unused.contains(&"reset"));
        assert_eq!(
            lower(&netlist, 2000, &Watch::default())
                .unwrap()
                .inputs
                .len(),
            2
        );
        for x in 0..8 {
            agree(&netlist, &[x & 1, x >> 1]);
            let y = netlist.evaluate(&[x & 1, x >> 1]).unwrap();
            assert_eq!(y, [x & (x >> 1) & 1]);
        }
    }
    // No output depends on an input, so the netlist takes no values.
    let known = read_blif(".inputs a\n.outputs y\n.names y\n1\n").unwrap();
    agree(&known, &[]);
}

/// Tests that ports of more than 64 bits become words, lowest first, in whatever order a file names their bits.
#[test]
fn wide_ports_are_words() {
    let bits = |of: &str| {
        let names = (0..130).rev().map(|i| format!("{of}[{i}]"));
        names.collect::<Vec<_>>().join(" ")
    };
    let mut text = format!(".inputs {} n\n.outputs {}\n", bits("a"), bits("y"));
    for i in 0..130 {
        text += &format!(".names a[{i}] n y[{}]\n10 1\n01 1\n", 129 - i);
    }
    let blif = read_blif(&text).unwrap();
    let numbers = |from: usize| {
        let all = (from..from + 130).map(|i| i.to_string());
        all.collect::<Vec<_>>().join(", ")
    };
    let cells: Vec<String> = (0..130)
        .map(|i| {
            format!(
                r#""g{i}": {{"type": "$_XOR_", "connections": {{"A": [{}], "B": [2], "Y": [{}]}}}}"#,
                300 + i,
                629 - i
            )
        })
        .collect();
    let json = read_json(&format!(
        r#"{{"modules": {{"m": {{"ports": {{"a": {{"direction": "input", "bits": [{}]}},
        "n": {{"direction": "input", "bits": [2]}}, "y": {{"direction": "output", "bits": [{}]}}}},
        "cells": {{{}}}}}}}}}"#,
        numbers(300),
        numbers(500),
        cells.join(", ")
    ))
    .unwrap();
    let mut dice = Dice(8);
    for netlist in [blif, json] {
        let [inputs, outputs] = netlist.ports();
        assert_eq!((inputs[0].bits, inputs[0].words()), (130, vec![64, 64, 2]));
        assert_eq!(inputs[1].words(), [1]);
        assert_eq!(outputs[0].words(), [64, 64, 2]);
        let names = lower(&netlist, 2000, &Watch::default()).unwrap().inputs;
        let names: Vec<&str> = names.iter().map(|port| port.name.as_str()).collect();
        assert_eq!(names, ["a[0]", "a[1]", "a[2]", "n"]);
        for n in 0..2 {
            let a = [dice.next(), dice.value(64), dice.next() & 3];
            agree(&netlist, &[a[0], a[1], a[2], n]);
            let found = netlist.evaluate(&[a[0], a[1], a[2], n]).unwrap();
            let bit = |words: &[u64], i: usize| words[i / 64] >> (i % 64) & 1;
            for i in 0..130 {
                assert_eq!(bit(&found, 129 - i), bit(&a, i) ^ n);
            }
        }
    }
}

/// Tests that chains of 100,000 gates are read, lowered and run, and that a loop of as many gates is found.
#[test]
fn deep_netlists() {
    const GATES: usize = 100_000;
    let chain: String = (1..GATES)
        .map(|i| format!(".names n{} n{i}\n0 1\n", i - 1))
        .collect();
    let text = |first: &str| {
        let last = GATES - 1;
        format!(".inputs a\n.outputs y\n.names {first} n0\n1 1\n{chain}.names n{last} y\n1 1\n")
    };
    let netlist = read_blif(&text("a")).unwrap();
    assert_eq!(netlist.evaluate(&[1]).unwrap(), [0]);
    agree(&netlist, &[1]);
    let looped = read_blif(&text(&format!("n{}", GATES - 1))).unwrap_err();
    assert!(looped.to_string().contains("depends on itself"), "{looped}");
}

/// Tests that cut and altered files are refused or read, and that nothing panics.
#[test]
fn damaged_files() {
    let text = adder(3);
    let mut dice = Dice(6);
    for _ in 0..3000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..1 + dice.next() % 3 {
            let at = dice.next() as usize % bytes.len();
            match dice.next() % 3 {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] = b" \n.\\[]#01-ac"[dice.next() as usize % 12],
                _ => drop(bytes.remove(at)),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(netlist) = read_blif(&text) {
            let inputs = vec![5; words(&netlist)];
            agree(&netlist, &inputs);
        }
        let _ = read_json(&text);
    }
}
