// SPDX-License-Identifier: Apache-2.0
//! Tests the cost of a run by the lines of its program: the costs add up to the total of the report, on every kind of
//! device.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{Compiled, Options};
use ringmill_compiler::compile;
use ringmill_device::progress::Silent;
use ringmill_isa::macros::Visibility;
use ringmill_isa::source::SourceLoc;
use ringmill_limits::Watch;
use ringmill_runtime::report::{LineReport, LineTotal, RunReport, Sources};
use ringmill_runtime::shown::{Asked, Simulated, run_on, simulate_on};
use ringmill_runtime::{Client, Server, Vectors};
use ringmill_schemes::ckks::Params;
use ringmill_sim::open;

use crate::report::report;

fn at(line: u32) -> Option<SourceLoc> {
    let file = "/home/ada/model.py".into();
    Some(SourceLoc { file, line })
}

/// Returns a program with x on line 1, and x rotated by 1 and by 2 on line 2. The sum of both is on line 3, its square
/// on line 4, and the output on line 5.
fn program() -> Arc<Compiled> {
    let mut t = TraceBuilder::new("lines", 32).unwrap();
    let x = t.input("x", Visibility::Encrypted, at(1)).unwrap();
    let once = t.rotate(x, 1, at(2)).unwrap();
    let twice = t.rotate(x, 2, at(2)).unwrap();
    let sum = t.add(once, twice, at(3)).unwrap();
    let square = t.square(sum, at(4)).unwrap();
    t.output("y", square, at(5)).unwrap();
    let params = Params::builder(10)
        .prime_bits(&[50, 36, 36], &[50])
        .default_scale(2f64.powi(36))
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    Arc::new(compile(t.finish(), &Options::given(params)).unwrap())
}

fn asked(trace: Option<&Path>) -> Asked<'_> {
    Asked {
        spill: true,
        trace,
        timeline: true,
        saving: None,
        resume: None,
        expanded_bytes: None,
    }
}

fn reports(devices: &[&str], trace: Option<&Path>) -> Vec<RunReport> {
    let compiled = program();
    let client = Client::new(compiled.clone()).unwrap();
    let keys = client.evaluation_keys().unwrap();
    let server = Server::new(compiled, keys).unwrap();
    let x = (0..32).map(|i| (f64::from(i) / 32.0).into()).collect();
    let ciphers = client.encrypt(&Vectors::from([("x".into(), x)])).unwrap();
    let run = |name: &&str| {
        let device = open(name).unwrap();
        let plains = Vectors::new();
        let (asked, watch) = (asked(trace), Watch::default());
        let done = run_on(&*device, &server, &ciphers, &plains, asked, &Silent, &watch);
        done.unwrap().report
    };
    devices.iter().map(run).collect()
}

#[test]
fn lines_add_up_to_what_the_report_states() {
    for report in reports(&["cpu:1", "cpu:2", "sim:ring"], None) {
        let device = &report.device;
        let sum: f64 = report.by_line.iter().map(|line| line.seconds).sum();
        let share: f64 = report.by_line.iter().map(|line| line.share).sum();
        let total = match (&report.machine, &report.cpu) {
            (Some(machine), _) => {
                let cycles = report.by_line.iter().filter_map(|line| line.cycles);
                assert_eq!(cycles.sum::<u64>(), machine.cycles);
                machine.seconds
            }
            (None, Some(cpu)) => {
                assert!(report.by_line.iter().all(|line| line.cycles.is_none()));
                cpu.stats.seconds()
            }
            (None, None) => panic!("{device} tells nothing"),
        };
        assert!((sum / total - 1.0).abs() < 1e-9, "{device}: {sum} {total}");
        assert!((share - 1.0).abs() < 1e-9, "{device}: {share}");
        let took = |line| report.by_line.iter().filter(move |l| l.line == Some(line));
        let lines: BTreeSet<u32> = report.by_line.iter().filter_map(|l| l.line).collect();
        assert_eq!(lines, BTreeSet::from([2, 3, 4, 5]), "{device}");
        // The rescaling that brings the output to its scale belongs to the line of the output.
        assert!(took(5).all(|l| l.operation.as_deref() == Some("RESCALE")));
        assert!(took(2).all(|l| l.operation.as_deref() == Some("HROTATE") && l.seconds > 0.0));
        assert!(took(4).all(|l| l.level == Some(2) || l.level == Some(1)));
        assert!(took(4).any(|l| {
            l.operation
                .as_deref()
                .is_some_and(|op| op.contains("SQUARE"))
        }));
        let sorted = report.by_line.is_sorted_by(|a, b| a.seconds >= b.seconds);
        assert!(sorted, "{device}");
    }
}

#[test]
fn a_timeline_covers_the_run() {
    for report in reports(&["cpu:1", "cpu:2", "sim:ring"], None) {
        let (device, timeline) = (&report.device, report.timeline.as_ref().unwrap());
        let all = || timeline.lanes.iter().flat_map(|lane| &lane.events);
        assert!(all().all(|event| event.procedure.is_some() || event.name == "OUT"));
        assert!(all().any(|event| event.line == Some(4)), "{device}");
        let end = all().map(|event| event.end).fold(0.0, f64::max);
        let total = match (&report.machine, &report.cpu) {
            (Some(machine), _) => machine.end_to_end.seconds,
            (None, Some(cpu)) => cpu.stats.seconds(),
            (None, None) => panic!("{device} tells nothing"),
        };
        assert!(end > 0.0 && end < 1.001 * total, "{device} {end}");
        // A model's cycles are the same whatever else the computer does.
        assert!(
            report.machine.is_none() || end > 0.5 * total,
            "{device} {end}"
        );
        let fullest = timeline.memories[0].bytes.iter().max().unwrap();
        assert!(*fullest > 0, "{device}");
    }
}

#[test]
fn traces_say_of_events_what_they_are_a_part_of() {
    let folder = std::env::temp_dir().join(format!("ringmill-lines-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("trace.json");
    for device in ["cpu:2", "sim:ring"] {
        reports(&[device], Some(&path));
        let text = std::fs::read(&path).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        let square = events
            .iter()
            .find(|event| event["args"]["line"] == "model.py:4" && event["args"]["limb"].is_u64());
        let args = &square.unwrap()["args"];
        assert!(
            args["operation"].as_str().unwrap().contains("SQUARE"),
            "{args}"
        );
        assert!(
            args["procedure"].is_string() && args["level"].is_u64(),
            "{args}"
        );
        assert!(events.iter().any(|event| event["ph"] == "C"), "{device}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_profile_shows_the_hottest_lines_and_their_text() {
    let compiled = program();
    let device = open("sim:ring").unwrap();
    let wanted = Simulated {
        spill: true,
        resident_keys: true,
        trace: None,
        timeline: false,
    };
    let watch = Watch::default();
    let report = simulate_on(&*device, &compiled, &wanted, &Silent, &watch).unwrap();
    assert!(report.timeline.is_none());
    let mut sources = Sources::default();
    let text = "x\nturned = rotate(x, 1), rotate(x, 2)\n  added = sum(turned)\nadded**2\n";
    sources.of_file("/home/ada/model.py", text);
    let profile = report.profile(&sources).to_string();
    let row = |place: &str| {
        let row = profile.lines().find(|line| line.contains(place));
        row.unwrap_or_else(|| panic!("no {place} in\n{profile}"))
    };
    assert!(row("model.py:2").ends_with("turned = rotate(x, 1), rotate(x, 2)"));
    assert!(row("model.py:3").ends_with("added = sum(turned)"));
    assert!(row("model.py:4").contains("SQUARE"));
    assert!(row("beside calls").contains('%'));
    assert!(!profile.contains("/home"), "{profile}");
}

fn record(line: Option<u32>, operation: Option<&str>, cycles: u64) -> LineReport {
    LineReport {
        file: line.map(|_| "/home/ada/model.py".to_owned()),
        line,
        operation: operation.map(str::to_owned),
        level: operation.map(|_| 2),
        procedure: operation.map(|name| format!("{name}.L2")),
        calls: u64::from(operation.is_some()),
        cycles: Some(cycles),
        seconds: cycles as f64,
        share: cycles as f64 / 100.0,
    }
}

#[test]
fn lines_are_summed_and_the_hottest_comes_first() {
    let records = [
        record(Some(3), Some("ROTATE"), 40),
        record(Some(4), Some("MUL"), 35),
        record(Some(4), Some("ADD"), 15),
        record(None, None, 6),
        record(None, Some("ENCODE"), 4),
    ];
    let totals = LineTotal::of(&records);
    let places: Vec<String> = totals.iter().map(LineTotal::place).collect();
    assert_eq!(
        places,
        ["model.py:4", "model.py:3", "beside calls", "no line"]
    );
    assert_eq!(totals[0].operations(), "MUL, ADD");
    assert_eq!(totals[0].procedures(), "MUL.L2 and 1 more");
    assert_eq!(totals[0].cycles, Some(50));
    let sum: u64 = totals.iter().filter_map(|total| total.cycles).sum();
    assert_eq!(sum, 100);
}

#[test]
fn text_of_the_user_cannot_move_the_cursor() {
    let long = "y = x * 2 + ".repeat(6);
    let mut sources = Sources::default();
    sources.add("/home/ada/model.py", 3, "y = x\u{1b}[2J * 2");
    sources.add("/home/ada/model.py", 4, &long);
    let report = RunReport {
        by_line: vec![
            record(Some(3), Some("ROTATE"), 60),
            record(Some(4), Some("MULTIPLY_AND_MORE"), 40),
        ],
        ..report()
    };
    let profile = report.profile(&sources).to_string();
    assert!(profile.contains("  y = x [2J * 2\n"), "{profile}");
    assert!(!profile.contains('\u{1b}'), "{profile}");
    // Long texts end with dots, after 60 characters of a line and 16 of an operation, dots included.
    let shown = format!("  {}...\n", &long[..57]);
    assert!(profile.contains(&shown), "{profile}");
    assert!(profile.contains(" MULTIPLY_AND_...  "), "{profile}");
}
