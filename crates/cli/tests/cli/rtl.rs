// SPDX-License-Identifier: Apache-2.0
//! Tests of the command with the polynomial multiplier's RTL: simulation in lockstep, programs end to end, and the
//! papers' tables.

use serde_json::Value;

use crate::common::{MEAN, command, ringmill};

/// Runs a command that must succeed, and returns its standard output.
fn says(arguments: &[&str]) -> String {
    let output = ringmill(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command that must end with this status, and returns its standard error.
fn fails(arguments: &[&str], status: i32) -> String {
    let output = ringmill(arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
#[ignore = "another model; `make full` runs it"]
fn the_rtl_is_simulated_in_lockstep() {
    let small = ["rtl", "sim", "polymul", "--set", "p=4", "--n", "256"];
    let with = |more: &[&str]| -> Vec<Value> {
        let json: Value =
            serde_json::from_str(&says(&[&small, more, &["--json"]].concat())).unwrap();
        assert_eq!(json["agrees"], true);
        json["operations"].as_array().unwrap().clone()
    };
    let all = with(&["--modulus", "7681"]);
    assert_eq!(all.len(), 7);
    for row in &all {
        assert_eq!(row["rtl"]["cycles"], row["model_cycles"]);
        assert!(row["rtl"]["cycles"].as_u64() >= row["floor_cycles"].as_u64());
        assert_eq!(row["rtl"]["load"], 256 / 4 + 5);
        // Each can be asked for alone.
        let name = row["operation"].as_str().unwrap().to_lowercase();
        let alone = with(&["--modulus", "7681", "--op", &name]);
        assert_eq!(alone.len(), 1, "{name}");
        assert_eq!(alone[0]["operation"], row["operation"]);
        assert_eq!(alone[0]["rtl"]["cycles"], row["rtl"]["cycles"]);
    }
    let stalled = with(&["--op", "fpm", "--stalls", "--seed", "7"]);
    assert_eq!(stalled.len(), 1);
    assert!(stalled[0]["rtl"]["load"].as_u64() > Some(256 / 4 + 5));
    assert!(says(&small).contains("every residue is the reference's"));
}

#[test]
#[ignore = "a model that traces; `make full` runs it, and make test the one of crates/hdl"]
fn waves_are_written() {
    let path = std::env::temp_dir().join(format!("ringmill-{}.vcd", std::process::id()));
    let name = path.to_str().unwrap();
    let command = [
        "rtl",
        "sim",
        "polymul",
        "--set",
        "p=4",
        "--set",
        "max_log_n=8",
        "--op",
        "ntt",
    ];
    says(&[&command[..], &["--waves", name]].concat());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(text.contains("$enddefinitions") && text.contains("issue_o"));
}

#[test]
fn what_the_rtl_cannot_simulate_is_refused() {
    let sim = |more: &[&str]| fails(&[&["rtl", "sim"], more].concat(), 2);
    for (arguments, said) in [
        (&["polymul", "--modulus", "7682"][..], "even"),
        (
            &["polymul", "--n", "256", "--modulus", "7687"],
            "not 1 modulo",
        ),
        (
            &["polymul", "--n", "1024", "--modulus", "6145"],
            "not prime",
        ),
        (&["polymul", "--n", "1000"], "power of two"),
        (&["polymul", "--n", "8192"], "256 to 4096"),
        (&["polymul", "--set", "p=5"], "power of two"),
        (&["rm_butterfly"], "polymul"),
        (&["abacus"], "abacus"),
    ] {
        let text = sim(arguments);
        assert!(
            text.contains(said) && !text.contains("panicked"),
            "{arguments:?}: {text}"
        );
    }
    let run = ["run", MEAN, "--random-inputs", "--device", "rtl:polymul"];
    let output = crate::common::command(&run)
        .env("RINGMILL_VENV", "no/such/environment")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("make hdl-tools"));
}

/// A CKKS program with primes of at most 32 bits runs from keys to decryption on the CPU, the model and the RTL. The
/// command itself compares their bits.
#[test]
fn a_program_runs_end_to_end_on_the_rtl() {
    let mut arguments = vec!["run", MEAN, "--random-inputs", "--json"];
    arguments.extend(["--precision", "6", "--integer-bits", "2"]);
    for device in ["cpu", "sim:polymul", "rtl:polymul"] {
        arguments.extend(["--device", device]);
    }
    let json: Value = serde_json::from_str(&says(&arguments)).unwrap();
    assert_eq!(json["agrees"], true);
    let [_, model, rtl] = &json["reports"].as_array().unwrap()[..] else {
        panic!("{json}");
    };
    assert_eq!(rtl["machine"]["how"], "RTL");
    assert_eq!(rtl["machine"]["cycles"], model["machine"]["cycles"]);
    let times = &rtl["machine"]["offload"]["measured"];
    let seconds = |name: &str| times[name].as_f64().unwrap();
    let parts = ["host_seconds", "machine_seconds", "link_seconds"].map(seconds);
    assert!(parts.iter().all(|&s| s > 0.0), "{times}");
    assert!((seconds("offloaded_seconds") - parts.iter().sum::<f64>()).abs() < 1e-9);
}

#[test]
fn the_papers_tables_are_printed() {
    let lines = says(&[
        "reproduce",
        "polymul",
        "--model",
        "--no-synth",
        "--json",
        "--runs",
        "3",
    ]);
    let rows: Vec<Value> = lines
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let cells = rows.iter().filter(|r| r["unit"] == "cycles");
    assert!(cells.clone().all(|r| r["how"] == "model"));
    let table_2 = cells
        .clone()
        .filter(|r| r["table"].as_str().unwrap().starts_with("Table 2"));
    assert!(
        table_2
            .clone()
            .all(|r| r["ours"].as_f64() <= r["paper"].as_f64())
    );
    assert_eq!(table_2.count(), 24);
    // The rest is from Figure 4 and from the study of decryption: two calls for each set of decryption, of encryption
    // and of the six primes, and one for a product of ciphertexts.
    assert_eq!(cells.count(), 24 + 28 + 12 + 1);
    let host = rows
        .iter()
        .find(|r| r["metric"] == "NTT_MULTIPLY" && r["case"] == "n = 1024, K = 14");
    let host = host.unwrap();
    assert_eq!(
        (
            host["machine"].as_str(),
            host["how"].as_str(),
            host["paper"].as_f64()
        ),
        (Some("polymul"), Some("measured"), Some(26.2))
    );
    let picture = std::env::temp_dir().join(format!("ringmill-{}.svg", std::process::id()));
    let name = picture.to_str().unwrap();
    says(&[
        "reproduce",
        "polymul",
        "--model",
        "--no-synth",
        "--runs",
        "3",
        "--plot",
        name,
    ]);
    let drawn = std::fs::read_to_string(&picture).unwrap();
    std::fs::remove_file(&picture).unwrap();
    // Six numbers of units, with our curve and the paper's, in two panels.
    assert_eq!(drawn.matches("<polyline").count(), 24);
    let text = says(&[
        "reproduce",
        "polymul",
        "--model",
        "--no-synth",
        "--runs",
        "3",
    ]);
    for said in [
        "Table 2",
        "FASTBCONV",
        "The slowest link",
        "secret key on a machine",
        "Table 4",
        "Table 5",
        "--no-synth",
        "no frequency of our own",
    ] {
        assert!(text.contains(said), "{said}");
    }
    assert!(fails(&["reproduce", "ring", "--model"], 2).contains("polymul"));
    for machine in ["ring", "basext"] {
        assert!(fails(&["reproduce", machine, "--runs", "3"], 2).contains("decryption"));
    }
}

#[test]
fn so_are_those_of_base_extension_with_what_they_should_print() {
    let lines = says(&["reproduce", "basext", "--model", "--no-synth", "--json"]);
    let rows = lines.lines().map(|l| serde_json::from_str(l).unwrap());
    let rows: Vec<Value> = rows.collect();
    let of = |table: &'static str| {
        rows.iter()
            .filter(move |r| r["table"].as_str().unwrap().starts_with(table))
    };
    for (table, least) in [("Tables 3.1", 11), ("Tables 3.2", 10), ("Table 4.5", 20)] {
        assert!(of(table).count() >= least, "{table}");
    }
    assert_eq!(of("Table 4.6").count(), 3 * 5);
    for table in ["Table 4.7", "Table 4.8", "Table 4.9"] {
        assert_eq!(of(table).count(), 6 * 11);
        let cycles: Vec<_> = of(table).filter(|r| r["metric"] == "cycles").collect();
        assert!(cycles.len() == 6 && cycles.iter().all(|r| r["how"] == "model"));
    }
    let slow = of("Table 4.10").find(|r| r["paper"] == 826.88).unwrap();
    assert_eq!(slow["paper_should_be"], 3307.52);
    let kernel = of("Table 4.11").filter(|r| r["how"] == "measured");
    assert_eq!(kernel.count(), 4);
    let unmeasured = rows.iter().filter(|r| r["how"] == "not measured");
    assert!(unmeasured.clone().count() > 50 && unmeasured.clone().all(|r| r["ours"].is_null()));
    assert!(fails(&["reproduce", "basext", "--plot", "x.svg"], 2).contains("polymul"));
}

/// Without Python or SEAL the rows of SEAL have no figure and a reason, and all other rows are there.
#[test]
fn without_seal_its_figures_are_missing() {
    let arguments = ["reproduce", "polymul", "--model", "--no-synth", "--json"];
    let output = command(&arguments)
        .args(["--runs", "3"])
        .env("RINGMILL_VENV", "/nowhere")
        .output()
        .unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap());
    let (missing, there): (Vec<Value>, Vec<Value>) =
        rows.partition(|row| row["how"] == "not measured");
    assert_eq!(missing.len(), 3 * 9);
    for row in &missing {
        assert!(row["ours"].is_null(), "{row}");
        assert!(row["remark"].as_str().unwrap().contains("Python"), "{row}");
    }
    assert!(there.iter().any(|row| row["metric"] == "FASTBCONV"));
}
