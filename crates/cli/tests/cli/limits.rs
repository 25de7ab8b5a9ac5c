// SPDX-License-Identifier: Apache-2.0
//! Tests of the command's limits: on the memory that inputs need, on the address space, and on the time to stop after
//! Ctrl-C.
#![cfg(unix)]

use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{RINGMILL, command, folder, long_program, workspace};

/// The longest time to stop after Ctrl-C on a busy computer. An idle one takes a tenth of it.
const STOPS: Duration = Duration::from_secs(3);

fn ended(command: &mut Command) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (status.code(), text(&stdout), text(&stderr))
}

#[test]
fn what_needs_more_than_the_limit_is_refused_with_the_figure() {
    let mean = ["run", "examples/mean.rmac", "--random-inputs"];
    let (status, _, said) = ended(command(&mean).args(["--max-memory", "1M"]));
    assert_eq!(status, Some(2), "{said}");
    assert!(
        said.contains("limit is 1.0 MiB") && said.contains("--max-memory"),
        "{said}"
    );
    let (status, _, said) = ended(command(&mean).env("RINGMILL_MAX_MEMORY", "1M"));
    assert_eq!(status, Some(2), "{said}");
    // The option takes precedence over the variable.
    let mut both = command(&mean);
    let both = both
        .env("RINGMILL_MAX_MEMORY", "1M")
        .args(["--max-memory", "8G"]);
    let (status, printed, said) = ended(both);
    assert_eq!(status, Some(0), "{said}");
    // The command tells the size of the keys before it generates them, and so before any report.
    let first = printed.lines().next().unwrap_or_default();
    assert!(first.contains("evaluation keys of"), "{printed}");
    for bad in ["0", "much", "-1"] {
        let (status, _, said) = ended(command(&mean).arg(format!("--max-memory={bad}")));
        assert_eq!(status, Some(2), "{said}");
        let (status, _, said) = ended(command(&mean).env("RINGMILL_MAX_MEMORY", bad));
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains("RINGMILL_MAX_MEMORY"), "{said}");
    }
}

#[test]
fn expanded_keys_and_constants_keep_to_a_budget() {
    let mean = ["run", "examples/mean.rmac", "--random-inputs", "--json"];
    let report = |budget: &[&str]| {
        let (status, printed, said) = ended(command(&mean).args(budget));
        assert_eq!(status, Some(0), "{said}");
        let json: serde_json::Value = serde_json::from_str(&printed).unwrap();
        json["reports"][0]["cpu"]["expanded"].clone()
    };
    let all = report(&[]);
    assert!(all["budget_bytes"].is_null(), "{all}");
    let peak = all["peak_bytes"].as_u64().unwrap();
    assert!(peak > 0 && all["limbs"].as_u64().unwrap() > 0, "{all}");
    let half = report(&[
        "--device",
        "cpu:1",
        "--expanded-bytes",
        &format!("{}", peak / 2),
    ]);
    assert_eq!(half["budget_bytes"], peak / 2);
    assert!(half["peak_bytes"].as_u64().unwrap() < peak, "{half}");
    let (status, _, said) = ended(command(&mean).args(["--expanded-bytes", "1K"]));
    assert_eq!(status, Some(2), "{said}");
    assert!(
        said.contains("a budget of 1.0 KiB") && said.contains("give at least"),
        "{said}"
    );
    for bad in ["0", "much", "-1"] {
        let (status, _, said) = ended(command(&mean).arg(format!("--expanded-bytes={bad}")));
        assert_eq!(status, Some(2), "{said}");
    }
    // `sim` expands no keys or constants, so it does not have the option.
    let (status, _, said) = ended(&mut command(&[
        "sim",
        "examples/mean.rmac",
        "--expanded-bytes",
        "1G",
    ]));
    assert_eq!(status, Some(2), "{said}");
}

#[test]
fn files_that_claim_more_than_they_hold_are_refused() {
    let folder = folder("claims");
    let claims: [(&str, &[u8]); 4] = [
        ("four-gigabytes.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff"),
        ("short.npy", b"\x93NUMPY\x01\x00\xff\xff"),
        ("empty.npy", b""),
        ("nested.json", &[b'['; 1 << 16]),
    ];
    for (name, bytes) in claims {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        let input = format!("x={}", path.display());
        let (status, _, said) = ended(&mut command(&[
            "run",
            "examples/mean.rmac",
            "--input",
            &input,
        ]));
        assert_eq!(status, Some(2), "{name}: {said}");
        assert!(said.contains(name), "{said}");
    }
    let (status, _, said) = ended(&mut command(&["params", "/dev/zero"]));
    assert_eq!(status, Some(2), "{said}");
}

/// Returns the arguments that run a program with Set-2, up to the name of the device.
fn on_set2(program: &str) -> [&str; 6] {
    [
        "run",
        program,
        "--random-inputs",
        "--params",
        "set2",
        "--device",
    ]
}

/// Runs the command with its address space limited to `kilobytes`. Returns its exit status and standard error.
fn starved(arguments: &[&str], kilobytes: u64) -> (Option<i32>, String) {
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, RINGMILL]).args(arguments);
    let (status, _, said) = ended(command.current_dir(workspace()));
    (status, said)
}

#[test]
fn an_address_limit_is_an_error_and_not_an_abort() {
    let program = long_program(&folder("starved"), 60);
    let run = [&on_set2(&program)[..], &["cpu:2"]].concat();
    let (mut refused, mut done) = (0, 0);
    for megabytes in [60, 90, 130, 180, 260, 400, 4000] {
        let (status, said) = starved(&run, megabytes << 10);
        match status {
            Some(0) => done += 1,
            Some(2) => refused += 1,
            other => panic!("{megabytes} MB: {other:?} {said}"),
        }
        assert!(!said.contains("panicked"), "{megabytes} MB: {said}");
    }
    assert!(refused > 0 && done > 0, "{refused} refused, {done} done");
}

fn start(command: &mut Command) -> Child {
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Sends the signal of Ctrl-C and waits for the end. Returns the exit status, standard output, standard error, and the
/// time to stop.
fn interrupt(mut child: Child) -> (Option<i32>, String, String, Duration) {
    let begin = Instant::now();
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let status = child.wait().unwrap();
    let took = begin.elapsed();
    let (mut printed, mut said) = (String::new(), String::new());
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut printed)
        .unwrap();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    (status.code(), printed, said, took)
}

#[test]
fn ctrl_c_stops_every_stage_at_once() {
    let program = long_program(&folder("stopped"), 30_000);
    let run = on_set2(&program);
    let stop = |device: &str, after| {
        let child = start(command(&run).arg(device));
        std::thread::sleep(Duration::from_millis(after));
        let (status, _, said, took) = interrupt(child);
        assert_eq!(status, Some(130), "{device} after {after} ms: {said}");
        assert!(said.contains("interrupted"), "{said}");
        assert!(took < STOPS, "{device} after {after} ms: {took:?}");
    };
    std::thread::scope(|scope| {
        let moments = [
            ("cpu:1", 50),
            ("cpu:1", 1500),
            ("cpu:2", 3000),
            ("sim:ring", 2500),
        ];
        for (device, after) in moments {
            scope.spawn(move || stop(device, after));
        }
    });
}

#[test]
fn ctrl_c_keeps_what_was_finished() {
    let folder = folder("kept");
    let program = long_program(&folder, 40);
    let outputs = folder.join("outputs.json");
    let _ = std::fs::remove_file(&outputs);
    // The run on the first device ends soon. The 500 runs on one thread after it take long.
    let mut arguments = vec!["run", &program, "--random-inputs", "--json", "--output"];
    arguments.extend([outputs.to_str().unwrap(), "--device", "cpu"]);
    arguments.extend(["--device", "cpu:1"].repeat(500));
    let child = start(&mut command(&arguments));
    let begin = Instant::now();
    while !outputs.exists() {
        assert!(begin.elapsed() < Duration::from_secs(120), "no outputs");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    let (status, printed, said, took) = interrupt(child);
    assert_eq!(status, Some(130), "{said}");
    assert!(took < STOPS, "{took:?}");
    let values: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&outputs).unwrap()).unwrap();
    assert!(values["y"].as_array().is_some_and(|y| y.len() == 4096));
    let document: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(document["interrupted"], "cpu:1", "{said}");
    assert!(
        document["reports"]
            .as_array()
            .is_some_and(|r| !r.is_empty())
    );
    assert!(
        said.contains("complete: the report of") && said.contains("outputs.json"),
        "{said}"
    );
}
