// SPDX-License-Identifier: Apache-2.0
//! Tests that a run killed at any moment goes on by the same command, and gives the same bits as a run that was not
//! killed.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::common::{command, folder, long_program, ringmill};

struct Runs {
    /// The arguments of the run, without those for checkpoints and outputs.
    fixed: Vec<String>,
    writes: bool,
    /// The folder of the test's files.
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

    /// Makes the run of a circuit with a chain of gates. Each is a bootstrap under small parameters.
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

    /// Runs to the end, which must succeed. Returns the standard output and the decrypted outputs.
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

/// Returns the BLIF text of a chain of gates, each of which takes the gate before it and an input.
fn chain(gates: usize) -> String {
    let mut text = ".model chain\n.inputs a b c\n.outputs y\n.gate $_BUF_ A=a Y=w0\n".to_owned();
    for i in 0..gates {
        let (kind, input) = [("NAND", "b"), ("XOR", "c"), ("NOR", "a"), ("XNOR", "b")][i % 4];
        text += &format!(".gate $_{kind}_ A=w{i} B={input} Y=w{}\n", i + 1);
    }
    text + &format!(".gate $_BUF_ A=w{gates} Y=y\n.end\n")
}

/// Returns a number below `end` that depends on the time.
fn some(end: u64) -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    u64::from(now.subsec_nanos()) / 7 % end.max(1)
}

fn killed(runs: &Runs, kills: usize) {
    // The folder has keys and inputs. Nothing else of the run is random.
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
        // A complete run removes its files, though the kill may come before all of them are gone.
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
    let asked = Path::new(&kept).join("asked");
    fs::write(&asked, "0123").unwrap();
    fs::write(asked.with_extension("key"), [1; 32]).unwrap();
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

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Starts a run with a umask of 0, kills it when its checkpoint exists, and returns its folder.
fn stopped(runs: &Runs, kept: &str) -> PathBuf {
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", "umask 0; exec \"$0\" \"$@\"", crate::common::RINGMILL]);
    let shell = shell.args(runs.arguments(kept, "unused.json"));
    let shell = shell.current_dir(crate::common::workspace());
    let mut child = shell
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let folder = runs.folder.join(kept);
    let begin = Instant::now();
    while !folder.join("run.checkpoint").exists() {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    folder
}

/// Returns the names and modes of a folder's files, without temporary files.
fn modes(folder: &Path) -> Vec<(String, u32)> {
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap());
    let mut modes: Vec<_> = entries
        .map(|e| (e.file_name().into_string().unwrap(), mode(&e.path())))
        .filter(|(name, _)| !name.starts_with('.'))
        .collect();
    modes.sort();
    modes
}

/// Only the folder's owner can read its files, and its digests reveal nothing of the inputs without the key.
#[test]
fn what_is_kept_is_its_owners_alone_and_no_hash_of_the_inputs() {
    for (runs, names) in [
        (
            Runs::circuit("closed_circuit", 400),
            "asked asked.key bootstrap.key inputs.ct run.checkpoint secret.key switch.key",
        ),
        (
            Runs::new("closed", 120),
            "asked asked.key evaluation.keys input0.ct run.checkpoint secret.key",
        ),
    ] {
        let first = stopped(&runs, "first");
        let names: Vec<_> = names.split(' ').map(|n| (n.to_owned(), 0o600)).collect();
        assert_eq!((mode(&first), modes(&first)), (0o700, names));
        // An empty folder becomes the run's.
        fs::create_dir(runs.folder.join("second")).unwrap();
        set_mode(&runs.folder.join("second"), 0o777);
        let second = stopped(&runs, "second");
        assert_eq!(mode(&second), 0o700);
        // The digests of the same program and inputs differ, since the keys differ. So nobody can check a guess of the
        // inputs.
        let read = |folder: &Path, name| fs::read(folder.join(name)).unwrap();
        for name in ["asked", "asked.key"] {
            assert_eq!(read(&first, name).len(), 32);
            assert_ne!(read(&first, name), read(&second, name));
        }
        // The folder as after a copy that did not keep the modes.
        for (name, _) in modes(&second) {
            set_mode(&second.join(name), 0o644);
        }
        set_mode(&second, 0o755);
        fs::copy(first.join("asked.key"), second.join("asked.key")).unwrap();
        let refused = ringmill_of(&runs, "second");
        assert!(refused.contains("a run of another program"), "{refused}");
        assert!(mode(&second) == 0o700 && modes(&second).iter().all(|(_, mode)| *mode == 0o600));
        fs::write(second.join("asked.key"), [0; 31]).unwrap();
        let refused = ringmill_of(&runs, "second");
        assert!(
            refused.contains("expected a key of 32 bytes, got 31"),
            "{refused}"
        );
        // The folder as an older version left it, with a hash and no key.
        fs::remove_file(second.join("asked.key")).unwrap();
        let refused = ringmill_of(&runs, "second");
        assert!(refused.contains("a run of an older version"), "{refused}");
        runs.finish("first", "out.json");
    }
}

/// Runs a command that must be refused, and returns its standard error.
fn ringmill_of(runs: &Runs, kept: &str) -> String {
    let arguments = runs.arguments(kept, "unused.json");
    let done = ringmill(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(done.status.code(), Some(2));
    String::from_utf8_lossy(&done.stderr).into_owned()
}

#[test]
fn a_folder_of_others_keeps_its_mode_and_is_refused_where_they_may_write() {
    let runs = Runs::circuit("shared_circuit", 4);
    let kept = runs.folder.join("kept");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("others"), "x").unwrap();
    for (wide, file) in [(0o775, "others"), (0o757, "others"), (0o777, "input00.ct")] {
        fs::write(kept.join(file), "x").unwrap();
        set_mode(&kept, wide);
        let refused = ringmill_of(&runs, "kept");
        assert!(refused.contains("others may write into"), "{refused}");
        assert!(mode(&kept) == wide && !kept.join("secret.key").exists());
    }
    // Others may read the folder. They see the names, since they cannot read the files.
    set_mode(&kept, 0o755);
    let arguments = runs.arguments("kept", "");
    let done = ringmill(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(done.status.success());
    let left: Vec<_> = modes(&kept).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        (mode(&kept), left),
        (0o755, vec!["input00.ct".to_owned(), "others".to_owned()])
    );
    // A file that a link leads to is not the run's.
    fs::remove_file(kept.join("input00.ct")).unwrap();
    let outside = runs.folder.join("outside");
    fs::rename(kept.join("others"), &outside).unwrap();
    set_mode(&outside, 0o644);
    std::os::unix::fs::symlink(&outside, kept.join("input0.ct")).unwrap();
    let arguments = arguments.iter().map(String::as_str).collect::<Vec<_>>();
    assert!(ringmill(&arguments).status.success());
    assert!(mode(&outside) == 0o644 && mode(&kept) == 0o755);
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
