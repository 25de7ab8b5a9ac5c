// SPDX-License-Identifier: Apache-2.0
//! Tests that a run which is saved, stopped and resumed gives the bits of a whole run, and that a checkpoint that
//! does not fit is refused.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use crate::common::random::{Case, case};
use crate::common::{bind, ready};
use ringmill_cpu::Cpu;
use ringmill_device::progress::{Progress, Silent, Step};
use ringmill_device::{CheckpointError, Device, DeviceError, Outcome, OutputLimb, Request, Saving};
use ringmill_limits::{Halt, Limits, Watch};
use ringmill_sim::open;

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let name = format!("ringmill-{}-{name}.checkpoint", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn saving(&self) -> Option<Saving> {
        Some(Saving {
            path: self.0.clone(),
            every: Duration::ZERO,
        })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Progress that stops the run once a number of calls are done.
struct StopAt<'w>(u64, &'w Watch);

impl Progress for StopAt<'_> {
    fn told(&self, _: &str) {}

    fn step(&self, step: Step) {
        if step.done >= self.0 {
            self.1.stop();
        }
    }
}

fn run(
    device: &dyn Device,
    case: &Case,
    request: Request<'_>,
    progress: &dyn Progress,
) -> Result<Outcome, DeviceError> {
    device.run(&ready(&case.program), &bind(case), request, progress)
}

/// Returns the outputs of a run without checkpoints.
fn undisturbed(case: &Case) -> Vec<OutputLimb> {
    let cpu = Cpu::new(1).unwrap();
    let outcome = run(&cpu, case, Request::function_only(), &Silent).unwrap();
    outcome.outputs.unwrap()
}

fn resumed(file: &Scratch) -> Request<'static> {
    Request {
        resume: Some(file.0.clone()),
        ..Request::function_only()
    }
}

/// Runs a program in pieces: stops each run at its first step of progress, and resumes it from the checkpoint.
/// Returns the number of stops and the outputs.
fn in_pieces(threads: usize, case: &Case, file: &Scratch) -> (usize, Vec<Vec<u64>>) {
    let mut stops = 0;
    loop {
        // Each run has a device of its own, which keeps nothing of the run before.
        let cpu = Cpu::new(threads).unwrap();
        let watch = Watch::new(Limits::default());
        let request = Request {
            saving: file.saving(),
            resume: (stops > 0).then(|| file.0.clone()),
            watch: watch.clone(),
            ..Request::function_only()
        };
        match run(&cpu, case, request, &StopAt(0, &watch)) {
            Ok(outcome) => {
                let outputs = outcome.outputs.unwrap();
                return (
                    stops,
                    outputs
                        .iter()
                        .map(|limb| limb.wide().into_owned())
                        .collect(),
                );
            }
            Err(DeviceError::Halt(Halt::Interrupted)) => stops += 1,
            Err(other) => panic!("{other}"),
        }
        // The last run has no call left to open.
        if stops > 200 {
            panic!("no end");
        }
    }
}

/// Progress that removes the checkpoint's folder until a save fails, and makes it again when it is told of the
/// failure.
struct Meddler {
    folder: PathBuf,
    told: Mutex<Vec<String>>,
    /// The run's watch, if the run is also stopped when a save fails.
    watch: Option<Watch>,
}

impl Progress for Meddler {
    fn step(&self, _: Step) {
        if self.told.lock().unwrap().is_empty() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }

    fn told(&self, text: &str) {
        self.told.lock().unwrap().push(text.to_owned());
        std::fs::create_dir_all(&self.folder).unwrap();
        if let Some(watch) = &self.watch {
            watch.stop();
        }
    }
}

#[test]
fn a_path_that_cannot_be_written_is_refused_before_the_run() {
    let case = case(1, 6, 12);
    for threads in [1, 2] {
        let request = Request {
            saving: Some(Saving {
                path: "/nonexistent/checkpoint".into(),
                every: Duration::MAX,
            }),
            ..Request::function_only()
        };
        struct Never;
        impl Progress for Never {
            fn step(&self, _: Step) {
                panic!("it ran");
            }

            fn told(&self, _: &str) {}
        }
        let refused = run(&Cpu::new(threads).unwrap(), &case, request, &Never).unwrap_err();
        assert!(refused.to_string().contains("make it first"), "{refused}");
    }
}

#[test]
fn a_save_that_fails_for_a_moment_is_told_and_tried_again() {
    let case = case(2, 6, 12);
    let plain = undisturbed(&case);
    for threads in [1, 2] {
        let folder =
            std::env::temp_dir().join(format!("ringmill-away-{}-{threads}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("run.checkpoint");
        let request = Request {
            saving: Some(Saving {
                path: path.clone(),
                every: Duration::ZERO,
            }),
            ..Request::function_only()
        };
        let meddler = Meddler {
            folder: folder.clone(),
            told: Mutex::default(),
            watch: None,
        };
        let outcome = run(&Cpu::new(threads).unwrap(), &case, request, &meddler).unwrap();
        assert_eq!(outcome.outputs.unwrap(), plain);
        let told = meddler.told.lock().unwrap();
        let [first, ..] = told.as_slice() else {
            panic!("nothing was told");
        };
        assert!(
            first.contains("the run goes on") && path.exists(),
            "{first}"
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn a_run_that_is_stopped_while_a_save_fails_is_saved() {
    let case = case(2, 6, 12);
    let plain = undisturbed(&case);
    for threads in [1, 2] {
        let folder =
            std::env::temp_dir().join(format!("ringmill-stop-{}-{threads}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = Scratch(folder.join("run.checkpoint"));
        let watch = Watch::new(Limits::default());
        let request = Request {
            saving: file.saving(),
            watch: watch.clone(),
            ..Request::function_only()
        };
        let meddler = Meddler {
            folder: folder.clone(),
            told: Mutex::default(),
            watch: Some(watch),
        };
        let cpu = Cpu::new(threads).unwrap();
        match run(&cpu, &case, request, &meddler) {
            Err(DeviceError::Halt(Halt::Interrupted)) => {}
            other => panic!("{:?}", other.map(|_| "it was not stopped")),
        }
        assert!(file.0.exists(), "{threads} threads");
        let outcome = run(&cpu, &case, resumed(&file), &Silent).unwrap();
        assert_eq!(outcome.outputs.unwrap(), plain);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn a_run_in_pieces_gives_the_bits_of_one() {
    let file = Scratch::new("pieces");
    let mut most = 0;
    for seed in 0..12 {
        let case = case(seed, 6, 12);
        let whole = undisturbed(&case);
        for threads in [1, 2] {
            // A device saves after every call, even if the run is not stopped.
            let cpu = Cpu::new(threads).unwrap();
            let request = Request {
                saving: file.saving(),
                ..Request::function_only()
            };
            let saved = run(&cpu, &case, request, &Silent).unwrap();
            assert_eq!(saved.outputs.unwrap(), whole, "seed {seed}, {threads}");
            let (stops, outputs) = in_pieces(threads, &case, &file);
            most = most.max(stops);
            let same = whole.iter().zip(&outputs).all(|(a, b)| a == b);
            assert!(
                same && whole.len() == outputs.len(),
                "seed {seed}, {threads}"
            );
        }
    }
    assert!(most > 0, "no run was stopped");
}

#[test]
fn another_program_or_data_and_damaged_files_are_refused() {
    let file = Scratch::new("refused");
    let cpu = Cpu::new(1).unwrap();
    let case_of = |seed| case(seed, 6, 12);
    let case = case_of(3);
    let request = Request {
        saving: file.saving(),
        ..Request::function_only()
    };
    run(&cpu, &case, request, &Silent).unwrap();
    let whole = run(&cpu, &case, resumed(&file), &Silent).unwrap();
    let again = run(&cpu, &case, Request::function_only(), &Silent).unwrap();
    assert_eq!(whole.outputs.unwrap(), again.outputs.unwrap());

    let refused = |case: &Case| match run(&cpu, case, resumed(&file), &Silent) {
        Err(DeviceError::Checkpoint(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(
        refused(&case_of(4)),
        CheckpointError::OtherProgram { .. }
    ));
    let mut other = case_of(3);
    other.inputs[0][0] ^= 1;
    assert!(matches!(refused(&other), CheckpointError::OtherData { .. }));

    let bytes = std::fs::read(&file.0).unwrap();
    for cut in [0, 5, 8, 40, 80, 100, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&file.0, &bytes[..cut]).unwrap();
        assert!(matches!(
            refused(&case),
            CheckpointError::NotOne { .. } | CheckpointError::Damaged { .. }
        ));
    }
    for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
        let mut bad = bytes.clone();
        bad[at] ^= 0x10;
        std::fs::write(&file.0, &bad).unwrap();
        refused(&case);
    }
    std::fs::write(&file.0, [&bytes[..], b"more"].concat()).unwrap();
    assert!(matches!(refused(&case), CheckpointError::Damaged { .. }));
    std::fs::remove_file(&file.0).unwrap();
    assert!(matches!(refused(&case), CheckpointError::File { .. }));

    let machine = open("sim:polymul").unwrap();
    let result = run(machine.as_ref(), &case, resumed(&file), &Silent);
    assert!(matches!(
        result,
        Err(DeviceError::Checkpoint(CheckpointError::NotHere { .. }))
    ));
}
