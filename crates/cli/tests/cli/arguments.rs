// SPDX-License-Identifier: Apache-2.0
//! Tests of the arguments. Options without effect are refused, random arguments end with a documented exit status, and
//! `--json` prints JSON.

use std::path::PathBuf;

use clap::CommandFactory;
use ringmill_cli::internals::Cli;
use ringmill_math::Prng;
use serde_json::Value;

use crate::common::{MEAN, ringmill};

/// Commands, some with the arguments that they need.
const COMMANDS: &[&[&str]] = &[
    &["run", MEAN],
    &["run", MEAN, "--random-inputs"],
    &["compile", MEAN],
    &["compile", MEAN],
    &["sim", MEAN],
    &["sim"],
    &["compare", MEAN, "--machine", "ring", "--no-cpu"],
    &["compare", MEAN],
    &["params"],
    &["params", "set2"],
    &["devices"],
    &["plans", "--log-n", "8"],
    &["machine", "show", "ring"],
    &["machine", "show"],
    &["machine"],
    &["reproduce", "polymul", "--model", "--no-synth"],
    &["reproduce", "abacus"],
    &["rtl", "synth", "abacus"],
    &["rtl", "lint", "abacus"],
    &["rtl"],
    &["abacus"],
    &[],
];

/// Options of all commands, and other words that a command line might have.
const OPTIONS: &[&str] = &[
    "--params",
    "--scheme",
    "--precision",
    "--integer-bits",
    "--input-bound",
    "--sample",
    "--fill",
    "--table",
    "--security",
    "--slots",
    "--input",
    "--random-inputs",
    "--seed",
    "--device",
    "--spill",
    "--trace",
    "--output",
    "--emit",
    "--with-sample",
    "--machine",
    "--send-keys",
    "--log-n",
    "--bits",
    "--model",
    "--set",
    "--csv",
    "--no-cpu",
    "--threads",
    "--bogus",
    "--",
    "-o",
    "-h",
    "--version",
];

const VALUES: &[&str] = &[
    "",
    "-1",
    "0",
    "1",
    "3",
    "14",
    "20",
    "128",
    "60,60",
    "60,40,60",
    "4294967295",
    "4294967296",
    "99999999999999999999",
    "1e308",
    "nan",
    "-inf",
    "auto",
    "set1",
    "set2",
    "set7",
    "ring",
    "polymul",
    "abacus",
    "cpu",
    "cpu:1",
    "cpu:0",
    "sim:ring",
    "sim:nothing.toml",
    "micro",
    "mid",
    "zeros",
    "repeat",
    "x=",
    "=",
    "x=nothing.npy",
    "rpaus=1,10",
    "ring:log_n=x",
    "y=Cargo.toml",
    "x=Cargo.toml",
    "guidelines_2024",
    "standard_2018",
    "Cargo.toml",
    "no/such/folder/file",
    ".",
    "file.py",
    "file.py:name",
    "\u{1f980}",
];

struct Dice(Prng);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    fn arguments(&mut self) -> Vec<&'static str> {
        let mut arguments = self.pick(COMMANDS).to_vec();
        for _ in 0..self.below(5) {
            if self.below(8) > 0 {
                arguments.push(self.pick(OPTIONS));
            }
            if self.below(3) > 0 {
                arguments.push(self.pick(VALUES));
            }
        }
        if self.below(2) == 0 {
            let at = self.below(arguments.len() + 1);
            arguments.insert(at, "--json");
        }
        arguments
    }
}

/// Command lines with an option without effect, and words that the refusal must contain.
const IDLE: &[(&str, &[&str])] = &[
    (
        "run MEAN --random-inputs --slots 64",
        &["--slots", "states its own"],
    ),
    ("compile MEAN --slots 1024", &["--slots"]),
    ("sim MEAN --slots 1024", &["--slots"]),
    (
        "run MEAN --random-inputs --params set2 --precision 30",
        &["--precision", "--params set2"],
    ),
    (
        "compile MEAN --params set2 --integer-bits 3",
        &["--integer-bits", "--params set2"],
    ),
    ("run MEAN --input x=x.npy --seed 3", &["--random-inputs"]),
    (
        "run MEAN --random-inputs --fill zeros",
        &["--fill", "--input"],
    ),
    ("sim MEAN --fill repeat", &["--fill", "--sample"]),
    (
        "compile MEAN --machine ring",
        &["--machine", "--emit micro"],
    ),
    (
        "compile MEAN --emit mid --machine ring",
        &["--machine", "--emit micro"],
    ),
    (
        "compile MEAN --with-sample -o out",
        &["--with-sample", "--emit saved"],
    ),
    (
        "compile MEAN --emit saved --with-sample -o out",
        &["--with-sample", "--sample"],
    ),
    (
        "run MEAN --random-inputs --trace out --output out",
        &["--trace", "--output", "one file"],
    ),
    (
        "params --table standard_2018",
        &["--table", "its own table"],
    ),
    ("params --security 192", &["--security", "its own table"]),
    ("params --log-n 14", &["--bits"]),
    ("params set2 --log-n 14 --bits 60,60", &["--log-n"]),
    ("reproduce ring --model", &["--model"]),
    (
        "compare MEAN --machine ring --no-cpu --threads 1",
        &["--threads", "--no-cpu"],
    ),
    (
        "compare MEAN --machine ring --set polymul:units=8",
        &["polymul:units", "not among those compared"],
    ),
    (
        "compile MEAN --input-bound 1 --sample x=x.npy",
        &["--input-bound", "--sample"],
    ),
];

/// Command lines that fail for other reasons.
const FAULTS: &[&str] = &[
    "run missing.rmac --random-inputs",
    "run MEAN",
    "run MEAN --random-inputs --device abacus",
    "run MEAN --random-inputs --params set7",
    "run MEAN --random-inputs --params set1",
    "run file.py --random-inputs",
    "sim MEAN --machine abacus",
    "compile MEAN -o no/such/folder/file",
    "machine show abacus",
    "compare MEAN",
    "compare MEAN --machine abacus",
    "compare MEAN --machine ring --set rpaus",
    "compare MEAN --machine ring --set rpaus=0 --no-cpu",
    "compare MEAN --machine torus --no-cpu",
    "reproduce abacus",
    "params set7",
    "params --log-n 11 --bits 60,60",
    "rtl lint",
    "devices --bogus",
    "unknown",
    "run MEAN --random-inputs --seed x",
    "run MEAN --precision 4294967296",
];

fn words(line: &str) -> Vec<&str> {
    line.split(' ')
        .map(|word| if word == "MEAN" { MEAN } else { word })
        .collect()
}

/// Runs a command line with `--json` that must be refused, and returns the message of its error object.
fn refused(line: &str) -> String {
    let output = ringmill(&[&words(line)[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(output.stdout.is_empty(), "{line}");
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["status"], 2, "{line}");
    assert_eq!(error.as_object().unwrap().len(), 2, "{line}");
    error["error"].as_str().unwrap().to_owned()
}

#[test]
fn options_that_decide_nothing_are_refused() {
    for (line, holds) in IDLE {
        let json = refused(line);
        let output = ringmill(&words(line));
        assert_eq!(output.status.code(), Some(2), "{line}");
        let text = String::from_utf8(output.stderr).unwrap();
        for part in *holds {
            assert!(
                json.contains(part) && text.contains(part),
                "{line}: {json}\n{text}"
            );
        }
    }
}

/// A machine may refuse a program that was compiled for no machine. The refusal names the option that helps.
#[test]
fn a_machines_refusal_names_its_target() {
    for command in [
        "sim MEAN --machine vector",
        "run MEAN --random-inputs --device sim:vector",
    ] {
        let error = refused(command);
        assert!(error.contains("--target vector"), "{command}: {error}");
        let cured = words(command).into_iter().chain(["--target", "vector"]);
        let cured = ringmill(&cured.collect::<Vec<_>>());
        assert!(cured.status.success(), "{command}: {cured:?}");
    }
    // No option helps if the machine does not have the program's ring.
    let error = refused("sim MEAN --machine torus");
    assert!(!error.contains("--target"), "{error}");
}

#[test]
fn errors_are_json_where_that_is_asked_for() {
    for line in FAULTS {
        let error = refused(line);
        assert!(
            !error.trim().is_empty() && !error.contains("panicked"),
            "{line}"
        );
    }
}

#[test]
fn json_is_one_document_or_one_object_a_line() {
    for (line, lines) in [
        (
            "run MEAN --random-inputs --device cpu --device sim:ring",
            Some(1),
        ),
        ("compile MEAN", Some(1)),
        ("sim MEAN", Some(1)),
        ("compare MEAN --machine ring --set rpaus=2,4,10", Some(4)),
        ("params", Some(2)),
        ("params set2", Some(1)),
        ("devices", Some(1)),
        ("plans --log-n 6 --bits 20,60", Some(1)),
        ("machine show ring", Some(1)),
        ("reproduce polymul --model --no-synth", None),
    ] {
        let output = ringmill(&[&words(line)[..], &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{line}");
        assert!(output.stderr.is_empty(), "{line}");
        let text = String::from_utf8(output.stdout).unwrap();
        let found = text.lines().map(serde_json::from_str::<Value>);
        let found: Vec<Value> = found.collect::<Result<_, _>>().unwrap();
        assert!(
            !found.is_empty() && lines.is_none_or(|n| n == found.len()),
            "{line}"
        );
    }
}

/// A temporary folder of a test. Dropping it removes it with its files.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ringmill-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn json_goes_into_the_file_that_is_asked_for() {
    let folder = Folder::new("json");
    let file = folder.file("mean.json");
    let to_file = ringmill(&["compile", MEAN, "--json", "-o", &file]);
    assert_eq!(
        (to_file.status.code(), to_file.stdout),
        (Some(0), Vec::new())
    );
    let printed = ringmill(&["compile", MEAN, "--json"]);
    assert_eq!(std::fs::read(&file).unwrap(), printed.stdout);
}

#[test]
fn short_files_are_filled_only_when_asked() {
    let folder = Folder::new("fill");
    let (x, out) = (folder.file("x.json"), folder.file("out.json"));
    std::fs::write(&x, format!("[{}]", ["1, 0"; 8].join(", "))).unwrap();
    let input = format!("x={x}");
    let run = ["run", MEAN, "--input", &input, "--output", &out];
    let short = ringmill(&run);
    assert_eq!(short.status.code(), Some(2));
    let said = String::from_utf8(short.stderr).unwrap();
    assert!(said.contains("16 values are fewer than the program's 1024 slots"));
    assert!(said.contains("--fill zeros") && said.contains("--fill repeat"));
    for (fill, mean) in [("zeros", 0.0), ("repeat", 0.5)] {
        let done = ringmill(&[&run[..], &["--fill", fill]].concat());
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        let found: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
        for (slot, wanted) in [(0, 0.5), (100, mean)] {
            assert!((found["mean"][slot].as_f64().unwrap() - wanted).abs() < 1e-5);
        }
    }
    std::fs::write(&x, "[1, 2, 3]").unwrap();
    let sample = ringmill(&["compile", MEAN, "--sample", &input, "--fill", "repeat"]);
    assert_eq!(sample.status.code(), Some(2));
    assert!(
        String::from_utf8(sample.stderr)
            .unwrap()
            .contains("divides 1024")
    );
}

#[test]
fn output_that_cannot_be_written_is_no_success() {
    for line in [
        "devices",
        "devices --json",
        "compile MEAN --emit mid",
        "machine show ring",
        "sim MEAN",
        "compare MEAN --machine ring --no-cpu",
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let mut command = crate::common::command(&[]);
        command.args(words(line));
        let output = command.stdout(full.unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("standard output"), "{line}: {said}");
    }
}

fn check(arguments: &[&str]) {
    let output = ringmill(arguments);
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    let said = format!("{arguments:?}: {:?}\n{out}\n{err}", output.status);
    assert!(matches!(output.status.code(), Some(0..=2)), "{said}");
    assert!(!err.contains("panicked"), "{said}");
    // Standard error may also have the note on the default bound of inputs.
    let fault = err.lines().any(|line| !line.starts_with("note: "));
    assert_eq!(output.status.code() == Some(2), fault, "{said}");
    let options = arguments.iter().take_while(|a| **a != "--");
    let asked = |flags: &[&str]| options.clone().any(|a| flags.contains(a));
    // Help and the version are text even with `--json`.
    if !asked(&["--json"]) || asked(&["-h", "--help", "-V", "--version"]) {
        return;
    }
    for line in out.lines().chain(err.lines()) {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{said}");
    }
    if output.status.code() == Some(2) {
        let error: Value = serde_json::from_str(&err).unwrap();
        assert_eq!(error["status"], 2, "{said}");
    }
}

fn random(seed: u64, count: usize) {
    println!("seed {seed}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut dice = Dice(Prng::from_seed_for_reproducible_tests_only(bytes));
    for _ in 0..count {
        // Arguments that write a file are skipped, since the file could land among the sources.
        let arguments = dice.arguments();
        let writes = ["--trace", "--output", "-o"];
        if !arguments.iter().any(|a| writes.contains(a)) {
            check(&arguments);
        }
    }
}

/// Returns the seed in `RINGMILL_SEED`, or else one from the clock.
fn seed() -> u64 {
    let given = std::env::var("RINGMILL_SEED").ok();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    given.map_or(now.unwrap().as_nanos() as u64, |seed| seed.parse().unwrap())
}

#[test]
fn random_arguments_are_done_or_refused() {
    random(seed(), 60);
}

#[test]
#[ignore = "minutes; make full runs it"]
fn many_random_arguments_are_done_or_refused() {
    random(seed(), 2_000);
}

#[test]
fn the_argument_definitions_hold_together() {
    Cli::command().debug_assert();
}

#[test]
fn json_is_asked_for_before_the_dashes() {
    let told = |arguments: &[&str]| {
        let output = ringmill(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        serde_json::from_slice::<Value>(&output.stderr).is_ok()
    };
    assert!(told(&["run", "--json", "--bogus"]));
    assert!(!told(&["run", "--bogus", "--", "--json"]));
    assert!(!told(&["run", "--jsonl"]));
}

#[test]
fn every_command_teaches_by_example_and_offers_json() {
    fn check(command: &clap::Command) {
        for sub in command.get_subcommands().filter(|c| c.get_name() != "help") {
            if sub.has_subcommands() {
                check(sub);
                continue;
            }
            let help = sub
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                help.contains("ringmill "),
                "{} has no example",
                sub.get_name()
            );
            // Completion prints a script for a shell, so it has no `--json`.
            let script = sub.get_name() == "completion";
            assert!(
                script || sub.get_arguments().any(|a| a.get_id() == "json"),
                "{} has no --json",
                sub.get_name()
            );
        }
    }
    check(&Cli::command());
}
