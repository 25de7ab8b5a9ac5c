//! Runs that are killed at any moment and gone on with by the same command, to the bits of one that was not.
#![cfg(unix)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime};

use common::{command, folder, long_program, ringmill};

struct Runs {
    /// What is run, and whether it writes its outputs to a file.
    fixed: Vec<String>,
    writes: bool,
    folder: PathBuf,
}

impl Runs {
    fn of(name: &str, writes: bool, fixed: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let folder = folder(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self {
            fixed: fixed(&folder),
            writes,
            folder,
        }
    }

    fn new(name: &str, turns: usize) -> Self {
        Self::of(name, true, |folder| {
            let program = long_program(folder, turns);
            let fixed = ["run", &program, "--random-inputs", "--params", "set2"];
            fixed.map(str::to_owned).to_vec()
        })
    }

    /// A chain of gates, each a bootstrap of small parameters.
    fn circuit(name: &str, gates: usize) -> Self {
        Self::of(name, false, |folder| {
            let path = folder.join("chain.blif");
            fs::write(&path, chain(gates)).unwrap();
            let path = path.to_str().unwrap();
            let fixed = [
                "circuit",
                path,
                "--random-inputs",
                "--params",
                "boolean_p64",
            ];
            let fixed = fixed.into_iter().chain(["--toy-for-tests-only"]);
            fixed.map(str::to_owned).collect()
        })
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    fn arguments(&self, kept: &str, output: &str) -> Vec<String> {
        let mut arguments = self.fixed.clone();
        let every = ["--checkpoint", &self.path(kept), "--checkpoint-every", "0"];
        arguments.extend(every.map(str::to_owned));
        if self.writes {
            arguments.extend(["--output".to_owned(), self.path(output)]);
        }
        arguments
    }

    fn start(&self, kept: &str, output: &str) -> Child {
        let arguments = self.arguments(kept, output);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = command(&arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Runs to the end, which there is: what is said, and the outputs.
    fn finish(&self, kept: &str, output: &str) -> (String, String) {
        let arguments = self.arguments(kept, output);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let done = ringmill(&arguments);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{said}");
        assert!(!Path::new(&self.path(kept)).exists(), "nothing is kept");
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let outputs = match self.writes {
            true => fs::read_to_string(self.path(output)).unwrap(),
            false => {
                let mut lines = said.lines();
                let line = lines.find(|line| line.starts_with("decrypted"));
                line.unwrap().to_owned()
            }
        };
        (said, outputs)
    }
}

/// Each gate takes the one before and an input.
fn chain(gates: usize) -> String {
    let mut text = ".model chain\n.inputs a b c\n.outputs y\n.gate $_BUF_ A=a Y=w0\n".to_owned();
    for i in 0..gates {
        let (kind, input) = [("NAND", "b"), ("XOR", "c"), ("NOR", "a"), ("XNOR", "b")][i % 4];
        text += &format!(".gate $_{kind}_ A=w{i} B={input} Y=w{}\n", i + 1);
    }
    text + &format!(".gate $_BUF_ A=w{gates} Y=y\n.end\n")
}

/// A number below `end` that hangs on the time.
fn some(end: u64) -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    u64::from(now.subsec_nanos()) / 7 % end.max(1)
}

fn killed(runs: &Runs, kills: usize) {
    // Keys and inputs are there; nothing else hangs on chance.
    let mut child = runs.start("first", "unused.json");
    let asked = runs.folder.join("first/asked");
    let begin = Instant::now();
    while !asked.exists() {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    fs::create_dir(runs.folder.join("second")).unwrap();
    for file in fs::read_dir(runs.folder.join("first")).unwrap() {
        let file = file.unwrap();
        let to = runs.folder.join("second").join(file.file_name());
        fs::copy(file.path(), to).unwrap();
    }
    let begin = Instant::now();
    let (_, first) = runs.finish("second", "whole.json");
    let whole = begin.elapsed().as_millis() as u64;
    let mut stopped = 0;
    for _ in 0..kills {
        let mut child = runs.start("first", "pieces.json");
        std::thread::sleep(Duration::from_millis(some(whole)));
        child.kill().unwrap();
        child.wait().unwrap();
        // What was complete is not kept, though its killer may have come before all of it was removed.
        if !asked.exists() {
            break;
        }
        stopped += 1;
    }
    if asked.exists() {
        let (said, last) = runs.finish("first", "pieces.json");
        let went_on = said.contains("going on from the checkpoint");
        let anew = said.contains("the same command goes on");
        assert!(went_on || anew, "{said}");
        assert_eq!(first, last, "after {stopped}");
    }
    println!("killed {stopped} times, a whole run takes {whole} ms");
}

#[test]
fn a_run_that_is_killed_goes_on_to_the_same_bits() {
    killed(&Runs::new("killed", 120), 4);
}

#[test]
fn a_circuit_that_is_killed_goes_on() {
    killed(&Runs::circuit("killed_circuit", 400), 4);
}

#[test]
#[ignore = "a minute or two; `make full` runs it"]
fn a_hundred_kills() {
    for round in 0..25 {
        killed(&Runs::new(&format!("killed{round}"), 120), 4);
        killed(&Runs::circuit(&format!("killed_circuit{round}"), 400), 4);
    }
}

#[test]
fn a_folder_of_another_run_and_several_devices_are_refused() {
    let runs = Runs::new("refused", 6);
    let kept = runs.path("kept");
    fs::create_dir_all(&kept).unwrap();
    fs::write(Path::new(&kept).join("asked"), "0123").unwrap();
    let file = runs.arguments("kept/asked", "out.json");
    let refused = ringmill(&file.iter().map(String::as_str).collect::<Vec<_>>());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("expected a folder"), "{said}");
    let arguments = runs.arguments("kept", "out.json");
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let refused = ringmill(&arguments);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("a run of another program"), "{said}");
    arguments.extend(["--device", "cpu", "--device", "sim:ring"]);
    let refused = ringmill(&arguments);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("2 devices are named"), "{said}");
}

#[test]
fn what_a_circuits_folder_has_of_another_run_or_damaged_is_refused() {
    let runs = Runs::circuit("refused_circuit", 400);
    let refused = |more: &[&str], expected: &str| {
        let arguments = runs.arguments("kept", "");
        let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        arguments.extend(more);
        let done = ringmill(&arguments);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
    };
    let mut child = runs.start("kept", "");
    let kept = runs.folder.join("kept");
    let begin = Instant::now();
    while !kept.join("run.checkpoint").exists() {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    refused(&["--seed", "2"], "a run of another program");
    refused(&["--failure", "-2000"], "2^-2000");
    for name in [
        "secret.key",
        "bootstrap.key",
        "switch.key",
        "inputs.ct",
        "run.checkpoint",
    ] {
        let path = kept.join(name);
        let whole = fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 1;
        for bytes in [&damaged[..], &whole[..whole.len() / 2], &[]] {
            fs::write(&path, bytes).unwrap();
            refused(&[], name);
        }
        fs::write(&path, whole).unwrap();
    }
    let (said, _) = runs.finish("kept", "");
    assert!(said.contains("going on from the checkpoint"), "{said}");
    let asked = ["circuit", "examples/adder.blif", "--checkpoint", "kept"];
    let done = ringmill(&asked);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("--checkpoint is of a run"), "{said}");
}
