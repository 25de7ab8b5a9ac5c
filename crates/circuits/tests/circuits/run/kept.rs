// SPDX-License-Identifier: Apache-2.0
//! Tests runs of circuits that are stopped, saved and continued.

use ringmill_device::progress::{Progress, Silent, Step};
use ringmill_device::{CheckpointError, Saving};
use ringmill_limits::{Halt, Watch};

use ringmill_circuits::circuit::{Source, Type, lower};
use ringmill_circuits::internals::checkpoint::{self, Reached, Whose};
use ringmill_circuits::run::server::{Server, run};
use ringmill_circuits::run::{CircuitRunError, Engine, Keeping};

use super::{booleans, everything, of, program, quiet, setup, table_program};

/// Tests that a run of gates is saved and continued, gives the same on any number of threads, and is refused with keys
/// for digits.
#[test]
fn gates_are_kept_and_refused_as_lookups_are() {
    let [setup, _] = booleans();
    let kind = Type::new(8, false).unwrap();
    let circuit =
        Source::Program(&program(kind)).compile(setup.client.params(), -40.0, &Watch::default());
    let circuit = circuit.unwrap();
    let inputs = setup.encrypt(&circuit, &[200, 77]);
    let watch = Watch::default();
    let one = setup.run(&circuit, inputs.clone(), 1, &watch).unwrap();
    let two = setup.run(&circuit, inputs.clone(), 2, &watch).unwrap();
    assert_eq!(one.outputs, two.outputs);
    let path = std::env::temp_dir().join(format!("ringmill-gates-{}", std::process::id()));
    let stopped = Watch::default();
    let stopper = Stopper {
        after: 1,
        watch: &stopped,
    };
    let server = |watch, progress| Server {
        engine: Engine::Evaluator(&setup.evaluator),
        threads: 2,
        watch,
        progress,
    };
    let saving = Saving {
        path: path.clone(),
        every: std::time::Duration::ZERO,
    };
    let keeping = Keeping {
        saving: Some(saving),
        resume: None,
    };
    let halted = run(
        &circuit.graph,
        &server(&stopped, &stopper),
        inputs.clone(),
        &keeping,
    );
    assert!(
        matches!(halted, Err(CircuitRunError::Halt(_))),
        "{halted:?}"
    );
    let keeping = Keeping {
        saving: None,
        resume: Some(path.clone()),
    };
    let found = run(
        &circuit.graph,
        &server(&watch, &Silent),
        inputs.clone(),
        &keeping,
    )
    .unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(found.outputs, one.outputs);
    // The same circuit under keys for digits, and a circuit of digits under keys for bits.
    let digits = super::setup();
    let refused = digits.run(&circuit, inputs.clone(), 1, &watch);
    assert!(matches!(refused, Err(CircuitRunError::OtherBasis { .. })));
    let lookups = lower(&program(kind), 500, &Watch::default()).unwrap();
    let refused = setup.run(&lookups, inputs, 1, &watch);
    assert!(matches!(refused, Err(CircuitRunError::OtherBasis { .. })));
}

/// Tests that a checkpoint has the results of all lookups that share a blind rotation, or of none. A file with some of
/// them is refused.
#[test]
fn half_a_rotation_is_no_checkpoint() {
    let setup = of(quiet());
    let entries: Vec<i128> = (0..64).map(|i| (i * i) % 256).collect();
    let circuit = setup.lowered(&table_program(&entries));
    let graph = &circuit.graph;
    let inputs = setup.encrypt(&circuit, &[5, 6]);
    let rotation = graph.rotations().into_iter().find(|r| r.len() > 1).unwrap();
    let path = std::env::temp_dir().join(format!("ringmill-half-{}", std::process::id()));
    let read = |half: bool| {
        let mut done = vec![false; graph.lookups.len()];
        let taken = if half { &rotation[1..] } else { &rotation[..] };
        taken.iter().for_each(|&at| done[at] = true);
        let kept = checkpoint::kept(graph, &done).len();
        let reached = Reached {
            done,
            ciphertexts: vec![inputs[0].clone(); kept],
        };
        let (whose, params) = (Whose::of(graph, &inputs), setup.client.params());
        let bytes = checkpoint::bytes(whose, params, &reached).unwrap();
        checkpoint::put(&path, &bytes).unwrap();
        checkpoint::read(&path, whose, params, graph, &Watch::default())
    };
    assert!(read(false).is_ok());
    assert!(matches!(
        read(true),
        Err(CircuitRunError::Checkpoint(CheckpointError::Damaged { .. }))
    ));
    std::fs::remove_file(&path).unwrap();
}

/// An observer of progress that stops the run once it reports `after` bootstraps as done.
struct Stopper<'a> {
    after: u64,
    watch: &'a Watch,
}

impl Progress for Stopper<'_> {
    fn told(&self, _: &str) {}

    fn step(&self, step: Step) {
        if step.done >= self.after {
            self.watch.stop();
        }
    }
}

#[test]
fn a_stopped_run_goes_on_to_the_same_ciphertexts() {
    let setup = setup();
    let kind = Type::new(16, false).unwrap();
    let circuit = setup.lowered(&program(kind));
    let inputs = setup.encrypt(&circuit, &[50_000, 123]);
    let whole = setup
        .run(&circuit, inputs.clone(), 2, &Watch::default())
        .unwrap();
    let folder = std::env::temp_dir().join(format!("ringmill-circuit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("checkpoint");
    let saving = |every| {
        Some(Saving {
            path: path.clone(),
            every,
        })
    };
    // Each run is saved after every lookup and stopped by a clock, and the next continues it.
    let mut resume = None;
    let mut stops = 0;
    let found = loop {
        let watch = Watch::default();
        let server = Server {
            engine: Engine::Evaluator(&setup.evaluator),
            threads: 2,
            watch: &watch,
            progress: &Silent,
        };
        let keeping = Keeping {
            saving: saving(std::time::Duration::ZERO),
            resume: resume.clone(),
        };
        // The time before a stop grows, so that the loop ends on a slow computer too.
        let moment = std::time::Duration::from_millis(40 + 10 * stops);
        let stop = std::thread::spawn({
            let watch = watch.clone();
            move || {
                std::thread::sleep(moment);
                watch.stop();
            }
        });
        let ran = run(&circuit.graph, &server, inputs.clone(), &keeping);
        stop.join().unwrap();
        match ran {
            Ok(ran) => break ran.outputs,
            Err(CircuitRunError::Halt(Halt::Interrupted)) => stops += 1,
            Err(error) => panic!("{error}"),
        }
        assert!(stops < 1000);
        resume = Some(path.clone());
    };
    assert_eq!(found, whole.outputs);
    // Checkpoints of another circuit, of other inputs, or damaged ones are refused.
    let watch = Watch::default();
    let server = Server {
        engine: Engine::Evaluator(&setup.evaluator),
        threads: 1,
        watch: &watch,
        progress: &Silent,
    };
    let keeping = Keeping {
        saving: None,
        resume: Some(path.clone()),
    };
    let stopped = Watch::default();
    let stopper = Stopper {
        after: 1,
        watch: &stopped,
    };
    let slow = Server {
        watch: &stopped,
        progress: &stopper,
        ..server
    };
    stopped.stop();
    let saved = Keeping {
        saving: saving(std::time::Duration::from_secs(1000)),
        resume: None,
    };
    assert!(run(&circuit.graph, &slow, inputs.clone(), &saved).is_err());
    assert!(run(&circuit.graph, &server, inputs.clone(), &keeping).is_ok());
    let others = setup.encrypt(&circuit, &[50_000, 123]);
    let other = setup.lowered(&everything(kind));
    for (graph, inputs) in [(&circuit.graph, others), (&other.graph, inputs.clone())] {
        let refused = run(graph, &server, inputs, &keeping);
        assert!(matches!(
            refused,
            Err(CircuitRunError::Checkpoint(
                CheckpointError::OtherData { .. } | CheckpointError::OtherProgram { .. }
            ))
        ));
    }
    let bytes = std::fs::read(&path).unwrap();
    for at in (0..bytes.len()).step_by(bytes.len() / 40) {
        for cut in [true, false] {
            let mut bytes = bytes.clone();
            if cut {
                bytes.truncate(at);
            } else {
                bytes[at] ^= 1;
            }
            std::fs::write(&path, bytes).unwrap();
            let refused = run(&circuit.graph, &server, inputs.clone(), &keeping);
            assert!(matches!(refused, Err(CircuitRunError::Checkpoint(_))));
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
