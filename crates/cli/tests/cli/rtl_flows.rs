// SPDX-License-Identifier: Apache-2.0
//! Tests of the command on the RTL with its tools: the list of designs, lint, synthesis, configurations, and helpful
//! refusals.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn ringmill(arguments: &[&str]) -> Command {
    let mut command = crate::common::command(&["rtl"]);
    command.args(arguments);
    command
}

fn run(mut command: Command, status: i32) -> Output {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{command:?}: {error}");
    output
}

fn says(arguments: &[&str]) -> String {
    String::from_utf8(run(ringmill(arguments), 0).stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&says(&[arguments, &["--json"]].concat())).unwrap()
}

fn fails(arguments: &[&str]) -> String {
    String::from_utf8(run(ringmill(arguments), 2).stderr).unwrap()
}

fn fresh(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

#[test]
fn what_there_is_can_be_listed() {
    assert!(says(&["list"]).contains("Units=32 MaxLogN=12 Beat=4"));
    let all = json(&["list"]);
    assert_eq!(
        all["machines"],
        serde_json::json!([
            "polymul",
            "basext",
            "basext-shared",
            "torus",
            "torus-paper",
            "torus-fit",
            "torus-wide",
            "torus-large"
        ])
    );
    let modules = all["modules"].as_array().unwrap();
    let fifo = modules.iter().find(|m| m["module"] == "rm_fifo").unwrap();
    assert_eq!(fifo["parameters"]["Depth"], "16");
    assert!(fifo["title"].as_str().unwrap().starts_with("A queue"));
}

#[test]
fn lint_takes_parameters() {
    assert!(says(&["lint", "basext", "--set", "lanes=2"]).contains("Lanes=2"));
    let clean = json(&[
        "lint",
        "rm_mod_mul",
        "--set",
        "Flavour=Solinas52",
        "--set",
        "Width=52",
    ]);
    assert_eq!(clean["clean"], true);
    assert!(clean["verilator"].as_str().unwrap().contains('.'));
}

#[test]
#[ignore = "two whole machines, a quarter of a minute; `make full` runs it"]
fn lint_takes_parameters_of_large_machines() {
    assert!(says(&["lint", "polymul", "--set", "p=8"]).contains("Units=8"));
    assert!(says(&["lint", "torus", "--set", "log_lanes=4"]).contains("LogLanes=4"));
}

#[test]
#[ignore = "synthesis; `make full` runs it"]
fn synthesis_counts_and_says_by_what() {
    let made = &json(&["synth", "rm_skid", "--set", "Width=8"])["synthesis"];
    assert_eq!(made["resources"]["ff"], 18);
    assert_eq!(made["family"], "xc7");
    assert!(made["versions"]["pyosys"].as_str().unwrap().contains('.'));
    let text = says(&["synth", "rm_skid", "--set", "Width=8", "--target", "xcup"]);
    assert!(
        text.contains("UltraRAM") && text.contains("upper figure"),
        "{text}"
    );
}

const PATHS: [&str; 4] = ["timing", "rm_mod_half", "--set", "Width=16"];

#[test]
fn paths_are_counted() {
    let arguments = [&PATHS[..], &["--target", "xc7"]].concat();
    let counted = json(&arguments);
    assert_eq!(
        (&counted["bar"]["levels"], &counted["within_bar"]),
        (&Value::from(8), &Value::from(true))
    );
    check_levels(&counted["targets"]["xc7"]);
    let text = says(&arguments);
    assert!(text.contains("8 levels") && text.contains("no open tool") && !text.contains("ecp5"));
}

#[test]
#[ignore = "places for two FPGAs, a minute; `make full` runs it"]
fn paths_are_placed_and_timed() {
    let all = json(&PATHS);
    assert_eq!(
        (&all["bar"]["levels"], &all["within_bar"]),
        (&Value::from(8), &Value::from(true))
    );
    let targets = &all["targets"];
    for family in ["xc7", "xcup"] {
        check_levels(&targets[family]);
    }
    for part in ["ecp5", "nexus"] {
        let placed = &targets[part];
        let (slack, mhz) = (&placed["slack_ns"], &placed["placement"]["mhz"]);
        let late = 1000.0 / 150.0 - 1000.0 / mhz.as_f64().unwrap();
        assert!((slack.as_f64().unwrap() - late).abs() < 1e-9, "{placed}");
    }
    assert!(targets["asic"]["how"] == "cells" || targets["asic"]["how"] == "not_timed");
}

/// Checks the logic levels of the paths through the module of [`PATHS`]. Each output bit is one of a sum, and a choice
/// between two.
fn check_levels(family: &Value) {
    let paths = &family["paths"];
    let most = paths["by_levels"][0]["levels"].as_u64().unwrap();
    assert!(most <= 2, "{paths}");
    assert_eq!(paths["endpoints"], 16);
    assert!(family["timed"].as_str().unwrap().contains("not timed"));
}

#[test]
fn configurations_are_written() {
    let out = fresh("polymul8");
    let name = out.to_str().unwrap();
    let set = [
        "generate",
        "polymul",
        "--set",
        "p=8",
        "--set",
        "max_log_n=9",
        "--out",
        name,
    ];
    let made = json(&[&set[..], &["--degree", "256", "--modulus", "7681"]].concat());
    assert_eq!(made["top"], "rm_polymul_top");
    assert_eq!(made["machine"]["units"], 8);
    for file in made["files"].as_array().unwrap() {
        assert!(out.join(file.as_str().unwrap()).is_file(), "{file}");
    }
    let package = std::fs::read_to_string(out.join("rm_polymul_config_pkg.sv")).unwrap();
    assert!(
        package.contains("localparam int unsigned Units = 8;") && package.contains("units = 8")
    );
    // The comment states the size of this configuration.
    assert!(package.contains("# 8 processing units, degrees up to 2^9, 4 residues a cycle"));
    assert!(!package.contains("32 processing units"), "{package}");
    // The table has two beats of four words, and then a twiddle for each coefficient. 7681 is 1e01 in hexadecimal.
    let table = std::fs::read_to_string(out.join("rm_polymul_table.hex")).unwrap();
    let words: Vec<&str> = table
        .lines()
        .filter(|line| !line.starts_with("//"))
        .collect();
    assert_eq!((words.len(), words[0]), (2 * 4 + 256, "00001e01"));
    // The description in the package makes the same machine.
    let description: String = package
        .lines()
        .skip(2)
        .map_while(|line| line.strip_prefix("//"))
        .map(|line| format!("{}\n", line.trim()))
        .collect();
    let file = out.join("mine.toml");
    std::fs::write(&file, description).unwrap();
    assert!(says(&["lint", file.to_str().unwrap()]).contains("Units=8, MaxLogN=9"));
}

#[test]
fn refusals_say_what_to_do() {
    for (arguments, help) in [
        (&["lint", "rm_fofo"][..], "modules: rm_add_parts"),
        (&["lint", "ring"], "made for the primes of a program"),
        (
            &["lint", "rm_fifo", "--set", "depth=4"],
            "it has Width, Depth",
        ),
        (&["lint", "polymul", "--set", "p=12"], "power of two"),
        (&["lint", "polymul", "--set", "lanes=12"], "units"),
        (&["lint", "polymul", "--set", "p"], "KEY=VALUE"),
        (&["pnr", "rm_fifo", "--mhz", "0"], "1..=1000"),
        (&["table", "rm_polymul"], "rm_mod_mul"),
        (
            &[
                "generate",
                "rm_fifo",
                "--out",
                "x",
                "--degree",
                "256",
                "--modulus",
                "7681",
            ],
            "for machines",
        ),
        (
            &[
                "generate",
                "polymul",
                "--out",
                "x",
                "--degree",
                "256",
                "--modulus",
                "513",
            ],
            "not prime",
        ),
    ] {
        let said = fails(arguments);
        assert!(said.contains(help), "{arguments:?}: {said}");
    }
    let mut without = ringmill(&["lint", "rm_fifo"]);
    without.env("RINGMILL_VENV", "/nowhere");
    let said = run(without, 2).stderr;
    assert!(String::from_utf8_lossy(&said).contains("make hdl-tools"));
    let mut elsewhere = ringmill(&["list"]);
    elsewhere.current_dir("/");
    let said = run(elsewhere, 2).stderr;
    assert!(String::from_utf8_lossy(&said).contains("inside a checkout"));
}
