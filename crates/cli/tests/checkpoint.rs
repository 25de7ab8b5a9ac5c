//! Runs that are killed at any moment and gone on with by the same command, to the bits of one that was not.
#![cfg(unix)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime};

use common::{command, folder, long_program, ringmill};

struct Runs {
    program: String,
    folder: PathBuf,
}

impl Runs {
    fn new(name: &str, turns: usize) -> Self {
        let folder = folder(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self {
            program: long_program(&folder, turns),
            folder,
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    fn arguments(&self, kept: &str, output: &str) -> Vec<String> {
        let fixed = ["run", &self.program, "--random-inputs", "--params", "set2"];
        let fixed = fixed.map(str::to_owned).into_iter();
        let rest = [
            "--checkpoint".to_owned(),
            self.path(kept),
            "--checkpoint-every".to_owned(),
            "0".to_owned(),
            "--output".to_owned(),
            self.path(output),
        ];
        fixed.chain(rest).collect()
    }

    fn start(&self, kept: &str, output: &str) -> Child {
        let arguments = self.arguments(kept, output);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = command(&arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Runs to the end, which there is.
    fn finish(&self, kept: &str, output: &str) -> String {
        let arguments = self.arguments(kept, output);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let done = ringmill(&arguments);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{said}");
        assert!(!Path::new(&self.path(kept)).exists(), "nothing is kept");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }
}

/// A number below `end` that hangs on the time.
fn some(end: u64) -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    u64::from(now.subsec_nanos()) / 7 % end.max(1)
}

fn killed(name: &str, kills: usize) {
    let runs = Runs::new(name, 120);
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
    runs.finish("second", "whole.json");
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
        let said = runs.finish("first", "pieces.json");
        let went_on = said.contains("going on from the checkpoint");
        let anew = said.contains("the same command goes on");
        assert!(went_on || anew, "{said}");
    }
    let read = |name: &str| fs::read(runs.path(name)).unwrap();
    assert_eq!(read("whole.json"), read("pieces.json"), "after {stopped}");
    println!("killed {stopped} times, a whole run takes {whole} ms");
}

#[test]
fn a_run_that_is_killed_goes_on_to_the_same_bits() {
    killed("killed", 4);
}

#[test]
#[ignore = "a minute or two; `make full` runs it"]
fn a_hundred_kills() {
    for round in 0..25 {
        killed(&format!("killed{round}"), 4);
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
