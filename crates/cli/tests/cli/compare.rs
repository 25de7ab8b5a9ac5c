// SPDX-License-Identifier: Apache-2.0
//! Tests of `ringmill compare`, which runs one program on several machines and the CPU and prints one table.

use crate::common::{MEAN, folder, ringmill};
use serde_json::Value;

fn words(line: &str) -> Vec<&str> {
    let words = line.split_whitespace();
    words
        .map(|word| if word == "MEAN" { MEAN } else { word })
        .collect()
}

fn said(line: &str) -> String {
    let output = ringmill(&words(line));
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the rows of a comparison, each with its case.
fn rows(line: &str) -> Vec<(String, Value)> {
    let text = said(&format!("compare {line} --json"));
    let rows = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let named = rows.map(|row| (row["case"].as_str().unwrap().to_owned(), row));
    named.collect()
}

fn cases(rows: &[(String, Value)]) -> Vec<&str> {
    rows.iter().map(|(case, _)| case.as_str()).collect()
}

/// Returns a machine's report by `ringmill sim`.
fn sim(line: &str) -> Value {
    serde_json::from_str(&said(&format!("sim {line} --json"))).unwrap()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

/// Returns whether two numbers are equal up to rounding when they are read.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs()
}

/// Asserts that the machine figures of a row are those of a report.
fn agrees(row: &Value, report: &Value) {
    let (time, fit) = (&report["end_to_end"], &report["fit"]);
    let link: f64 = ["inputs", "keys", "programs", "spills", "outputs"]
        .iter()
        .map(|part| number(&time[format!("{part}_seconds")]))
        .sum();
    assert!((number(&row["link_seconds"]) - link).abs() < 1e-12, "{row}");
    assert_eq!(row["compute_seconds"], time["compute_seconds"]);
    let waits = row["waits_seconds"].as_f64().unwrap_or_default();
    assert_eq!(waits, number(&time["waits_seconds"]));
    assert_eq!(
        (&row["bound"], &row["cycles"]),
        (&time["bound"], &report["cycles"])
    );
    assert_eq!(
        (&row["part"], &row["multipliers"]),
        (&fit["part"], &fit["multipliers"])
    );
    for total in fit["totals"].as_array().unwrap() {
        let name = total["resource"].as_str().unwrap();
        assert_eq!(row["needs"][name], total["used"], "{name}");
    }
    let memories = report["memories"].as_array().unwrap();
    let held = memories
        .iter()
        .map(|m| number(&m["count"]) * number(&m["available_bytes"]));
    assert_eq!(number(&row["memory_bytes"]), held.sum::<f64>());
}

#[test]
fn a_swept_field_gives_the_totals_of_the_edited_descriptions() {
    let rows = rows("MEAN --machine ring --set rpaus=2,10 --set clock_mhz=100 --no-cpu");
    assert_eq!(
        cases(&rows),
        ["ring rpaus=2 clock_mhz=100", "ring rpaus=10 clock_mhz=100"]
    );
    let shown = said("machine show ring");
    for ((_, row), rpaus) in rows.iter().zip(["2", "10"]) {
        let text = shown.replacen("rpaus = 10", &format!("rpaus = {rpaus}"), 1);
        let text = text.replacen("clock_mhz = 200.0", "clock_mhz = 100.0", 1);
        let file = folder("compare").join(format!("rpaus{rpaus}.toml"));
        std::fs::write(&file, text).unwrap();
        let report = sim(&format!("MEAN --machine {}", file.display()));
        agrees(row, &report);
        assert_eq!(row["seconds"], report["end_to_end"]["seconds"]);
        assert_eq!(row["set"]["rpaus"], *rpaus);
        assert_eq!(row["clock_mhz"], 100.0);
        assert_eq!(
            number(&row["multipliers"]),
            36.0 * rpaus.parse::<f64>().unwrap()
        );
        assert!(row["speedup"].is_null() && row["refused"].is_null());
    }
}

#[test]
fn machines_run_at_parameters_that_suit_them_all() {
    let alone = sim("MEAN --target vector --machine vector");
    let rows = rows("MEAN --machine ring --machine vector --threads 1");
    assert_eq!(cases(&rows), ["cpu:1", "ring", "vector"]);
    let [(_, cpu), (_, ring), (_, vector)] = &rows[..] else {
        panic!()
    };
    // Parameters for the vector machine are narrower, and suit the ring machine too.
    agrees(vector, &alone);
    assert_eq!(vector["seconds"], alone["end_to_end"]["seconds"]);
    assert_eq!(ring["parameters"], vector["parameters"]);
    assert_eq!(cpu["parameters"], vector["parameters"]);
    assert_eq!(ring["predicted_bits"], vector["predicted_bits"]);
    assert_eq!(
        (&cpu["how"], &ring["how"]),
        (&"measured".into(), &"model".into())
    );
    assert_eq!((&cpu["threads"], &cpu["speedup"]), (&1.into(), &1.0.into()));
    for row in [ring, vector] {
        let times = number(&cpu["seconds"]) / number(&row["seconds"]);
        assert!(times > 0.0 && same(number(&row["speedup"]), times), "{row}");
    }
    let text = said("compare MEAN --machine ring --machine vector --no-cpu");
    assert!(text.contains("better ones for ring alone"), "{text}");
    for machine in ["ring", "vector"] {
        assert!(text.contains(&format!("keys of {machine}: ")), "{text}");
    }
    // Without the vector machine, the ring machine gets smaller parameters, which suit it alone.
    let alone = self::rows("MEAN --machine ring --no-cpu");
    assert_ne!(alone[0].1["parameters"], ring["parameters"]);
    let report = sim("MEAN --machine ring");
    assert_eq!(alone[0].1["seconds"], report["end_to_end"]["seconds"]);
}

/// A row tells whether a machine's keys are partly expanded from seeds or stored. The kind of keys changes the time for
/// the same parameters, and the link's time for keys is the difference.
#[test]
fn rows_tell_seeded_keys_from_stored_ones() {
    // The keys of ten rotations do not fit the ring machine's key memory.
    const TEN: &str = "examples/mean.rmac";
    let both = &format!("{TEN} --machine ring --machine vector --no-cpu");
    let (apart, stored) = (rows(both), rows(&format!("{both} --target vector")));
    let keys = |rows: &[(String, Value)]| {
        let each = rows
            .iter()
            .map(|(_, row)| row["keys"].as_str().map(str::to_owned));
        each.collect::<Option<Vec<_>>>().unwrap()
    };
    assert_eq!(keys(&apart), ["seeded", "stored"]);
    assert_eq!(keys(&stored), ["stored", "stored"]);
    let (seeded, whole) = (&apart[0].1, &stored[0].1);
    assert_eq!(seeded["parameters"], whole["parameters"]);
    let difference = |part: &str| number(&whole[part]) - number(&seeded[part]);
    assert!(difference("keys_seconds") > 0.0, "{seeded} {whole}");
    // The calls also pass seeds, which takes a little of the difference.
    let share = difference("seconds") / difference("keys_seconds");
    assert!((share - 1.0).abs() < 0.02, "{share}");
    // A machine's detailed report tells the kind of keys too.
    let detail = said(&format!(
        "sim {TEN} --target vector --machine ring --detail"
    ));
    let row = detail
        .lines()
        .find(|line| line.contains("key-switching keys"));
    assert!(row.is_some_and(|row| row.contains("stored")), "{detail}");
    let text = said(&format!("compare {both}"));
    for part in [
        "  keys  ",
        "seeded",
        "keys seeded: ",
        "keys stored: ",
        "--target",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A row has two totals. The first assumes that as many keys as fit are on the machine before the run. The cold total
/// assumes that none is, and equals the total with `--send-keys`.
#[test]
fn rows_tell_warm_totals_from_cold_ones() {
    let asked = "MEAN --machine ring --machine vector --no-cpu";
    let (warm, sent) = (rows(asked), rows(&format!("{asked} --send-keys")));
    for ((case, warm), (_, sent)) in warm.iter().zip(&sent) {
        assert!(
            number(&warm["cold_seconds"]) > number(&warm["seconds"]),
            "{case}"
        );
        for total in ["seconds", "cold_seconds"] {
            let (cold, sent) = (number(&warm["cold_seconds"]), number(&sent[total]));
            assert!((cold - sent).abs() < 1e-9 * sent, "{case}: {cold} {sent}");
        }
    }
    let text = said(&format!("compare {asked}"));
    for part in ["  cold  ", "cold: none is there before"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A machine's row and report tell how long it waits for its own memory.
#[test]
fn what_waits_for_distant_memory_is_no_compute() {
    let asked = "MEAN --machine vector --no-cpu --set distant.gbyte_per_second=1";
    let rows = rows(asked);
    let row = &rows[0].1;
    assert_eq!(row["bound"]["by"], "waits");
    assert!(number(&row["waits_seconds"]) > number(&row["compute_seconds"]));
    let text = said(&format!("compare {asked}"));
    for part in ["  waits  ", "  distant memory  "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let report = said("sim MEAN --target vector --machine vector");
    for part in [
        "  waits  ",
        "cycles at 1000 MHz, for distant memory and instructions",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    // Only keys that are sent have a line of their own.
    assert!(!report.contains("keys over the link"), "{report}");
    let sent = said("sim MEAN --target vector --machine vector --send-keys");
    assert!(sent.contains("keys over the link"), "{sent}");
}

#[test]
fn keys_and_spills_count_as_in_sim() {
    let rows = rows("MEAN --params set2 --send-keys --machine ring --machine ring-stored --no-cpu");
    for (case, row) in &rows {
        let report = sim(&format!("MEAN --params set2 --send-keys --machine {case}"));
        agrees(row, &report);
        assert_eq!(row["seconds"], report["end_to_end"]["seconds"], "{case}");
        let time = &report["end_to_end"];
        assert!(number(&time["keys_seconds"]) > 0.0);
        for field in ["keys_seconds", "resident_key_limbs"] {
            assert_eq!(row[field], time[field], "{case}");
        }
    }
    let asked = "compare MEAN --params set2 --machine ring --no-cpu";
    let sent = said(&format!("{asked} --send-keys"));
    assert!(
        sent.contains("keys of ring: all over the link in the run"),
        "{sent}"
    );
    assert!(said(asked).contains(" limbs taken to be there before"));
}

#[test]
fn a_machine_beside_a_host_has_its_parts_apart() {
    let asked = "MEAN --precision 6 --integer-bits 2 --machine polymul";
    let report = sim(&format!("{asked} --target polymul"));
    let timed = rows(&format!("{asked} --no-cpu"));
    let (_, row) = &timed[0];
    agrees(row, &report);
    // Without data the host's time is not known, so there is no total.
    assert!(row["seconds"].is_null() && row["host_seconds"].is_null());
    let measured = rows(&format!("{asked} --machine ring"));
    assert_eq!(cases(&measured)[1..], ["polymul", "ring"]);
    let (_, row) = &measured[1];
    agrees_but_for_the_host(row, &report);
    let parts = ["host_seconds", "link_seconds", "compute_seconds"];
    let sum: f64 = parts.iter().map(|part| number(&row[part])).sum();
    assert!(number(&row["host_seconds"]) > 0.0);
    assert!((number(&row["seconds"]) - sum).abs() < 1e-12);
    assert!(number(&row["speedup"]) > 0.0);
    assert_eq!(row["threads"], 1);
}

/// Asserts the same for all figures but the bound, since a measured host may take most of the time.
fn agrees_but_for_the_host(row: &Value, report: &Value) {
    let mut row = row.clone();
    row["bound"] = report["end_to_end"]["bound"].clone();
    agrees(&row, report);
}

#[test]
fn machines_without_parameters_in_common_have_their_own() {
    let asked = "MEAN --precision 6 --integer-bits 2 --threads 1 --machine polymul --machine basext \
                 --set basext:min_log_n=13 --set polymul:units=16,32";
    let rows = rows(asked);
    assert_eq!(
        cases(&rows),
        [
            "cpu:1",
            "cpu:1",
            "polymul units=16",
            "polymul units=32",
            "basext min_log_n=13"
        ]
    );
    let degree = |at: usize| &rows[at].1["parameters"]["log_n"];
    assert_eq!([0, 1, 2, 3, 4].map(degree), [12, 13, 12, 12, 13]);
    // Each machine is compared with the CPU at the machine's parameters.
    for (row, cpu) in [(2, 0), (3, 0), (4, 1)] {
        let seconds = |at: usize| number(&rows[at].1["seconds"]);
        let times = number(&rows[row].1["speedup"]);
        assert!(same(times, seconds(cpu) / seconds(row)), "{rows:?}");
    }
    let text = said(&format!("compare {asked}"));
    for part in [
        "its rows at 2 different sets of parameters",
        "parameters a: ring degree 2^12",
        "parameters b: ring degree 2^13",
        "they differ in ring degree",
        "no ring degree suits all machines",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn refusals_are_rows_and_the_command_fails_only_if_nothing_runs() {
    let rows = rows("MEAN --machine ring --machine polymul --set ring:rpaus=0,10 --no-cpu");
    assert_eq!(cases(&rows), ["ring rpaus=0", "ring rpaus=10", "polymul"]);
    let refused = |at: usize| rows[at].1["refused"].as_str().unwrap_or_default();
    assert!(
        refused(0).contains("rpaus = 0: expected 1 to 16"),
        "{}",
        refused(0)
    );
    assert!(refused(1).is_empty() && number(&rows[1].1["seconds"]) > 0.0);
    assert!(refused(2).contains("max_log_n"), "{}", refused(2));
    assert!(rows[0].1.get("seconds").is_none());
    let text = said("compare MEAN --machine ring --set rpaus=0,10 --no-cpu");
    assert!(
        text.contains("ring rpaus=0   refused: machine description, rpaus = 0"),
        "{text}"
    );

    for (line, parts) in [
        (
            "--machine ring --set rpaus=0,17",
            &["ring rpaus=0", "ring rpaus=17", "1 to 16"][..],
        ),
        ("--machine polymul", &["max_log_n allows 8 to 12"]),
        (
            "--machine ring --machine polymul --set rpaus=2",
            &["`polymul` has no such field", "units", "MACHINE:rpaus="],
        ),
        (
            "--machine ring --set rpaus=two",
            &["\"two\"", "a whole number"],
        ),
        ("--machine ring --set rpaus=2 --set rpaus=4", &["set twice"]),
        ("--machine abacus", &["no machine is called `abacus`"]),
    ] {
        let output = ringmill(&words(&format!("compare MEAN --no-cpu {line}")));
        assert_eq!(output.status.code(), Some(2), "{line}");
        let fault = String::from_utf8(output.stderr).unwrap();
        for part in parts {
            assert!(fault.contains(part), "{part}: {fault}");
        }
    }
}

#[test]
fn values_tables_and_pages_say_the_same() {
    let page = folder("compare").join("page.html");
    let asked = "compare MEAN --machine ring --set rpaus=4,10 --set link.us_per_limb=60 --no-cpu";
    let text = said(&format!("{asked} --csv --html {}", page.display()));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    let values: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let rows = rows(asked.strip_prefix("compare ").unwrap());
    assert_eq!(values.len(), rows.len());
    for (value, (case, row)) in values.iter().zip(&rows) {
        let of = |name: &str| &value[names.iter().position(|n| n == name).unwrap()];
        assert_eq!(of("case"), case);
        for name in [
            "seconds",
            "link_seconds",
            "compute_seconds",
            "multipliers",
            "cycles",
        ] {
            let value = of(name).parse::<f64>().unwrap();
            assert!(same(value, number(&row[name])), "{name}: {value}");
        }
        assert_eq!(
            of("dsp").parse::<f64>().unwrap(),
            number(&row["needs"]["DSP"])
        );
        assert_eq!((of("speedup"), of("refused")), ("", ""));
        assert!(of("parameters").starts_with("ring degree 2^13"));
    }
    let table = said(asked);
    assert!(
        table.starts_with("Comparison of `mean`, all rows at ring degree 2^13"),
        "{table}"
    );
    let page = std::fs::read_to_string(page).unwrap();
    for (case, row) in &rows {
        let total = ringmill_device::report::seconds(number(&row["seconds"]));
        assert!(table.contains(case) && table.contains(&total), "{table}");
        assert!(
            page.contains(&format!("<td>{case}</td><td>{total}</td>")),
            "{page}"
        );
    }
    assert!(page.contains("<svg") && !page.contains("http"));
    for absent in ["energy", "host  ", "speed-up"] {
        assert!(!table.contains(absent), "{absent}: {table}");
    }
}
