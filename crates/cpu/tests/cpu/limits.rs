// SPDX-License-Identifier: Apache-2.0
//! Tests the limits of a run: its memory is estimated, bounded and refused, it stops on demand, and it refuses outputs
//! that need no key to read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::random::case;
use num_complex::Complex64;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{Compiled, Options};
use ringmill_compiler::compile;
use ringmill_cpu::Cpu;
use ringmill_device::Request;
use ringmill_device::progress::{Progress, Silent, Step};
use ringmill_isa::macros::Visibility;
use ringmill_limits::{Halt, Limits, Watch};
use ringmill_runtime::{Client, EvaluationKeys, RuntimeError, Server, Vectors, simulate};
use ringmill_schemes::ckks::Params;
use ringmill_sim::open;

const SLOTS: u32 = 256;

/// Compiles a program that computes (x p)^8 for an encrypted x and a plain p. Then it rotates the value and adds x,
/// `turns` times.
fn program(turns: u32) -> Arc<Compiled> {
    let params = Params::builder(12)
        .prime_bits(&[50, 36, 36, 36, 36, 36], &[50])
        .allow_insecure_parameters_for_tests_only();
    let mut t = TraceBuilder::new("turning", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let p = t.input("p", Visibility::Plain, None).unwrap();
    let mut y = t.mul(x, p, None).unwrap();
    for _ in 0..3 {
        y = t.square(y, None).unwrap();
    }
    for turn in 0..turns {
        let turned = t.rotate(y, 1 + i64::from(turn % 5), None).unwrap();
        y = t.add(turned, x, None).unwrap();
    }
    t.output("y", y, None).unwrap();
    Arc::new(compile(t.finish(), &Options::given(params.build().unwrap())).unwrap())
}

struct Ready {
    server: Server,
    ciphers: ringmill_runtime::Ciphertexts,
    plains: Vectors,
}

fn ready(compiled: &Arc<Compiled>, p: f64) -> Ready {
    let vector = |x: f64| vec![Complex64::new(x, 0.0); SLOTS as usize];
    let client = Client::new(Arc::clone(compiled)).unwrap();
    let keys = client.evaluation_keys().unwrap();
    let inputs = Vectors::from([("x".to_owned(), vector(0.5))]);
    Ready {
        ciphers: client.encrypt(&inputs).unwrap(),
        server: Server::new(Arc::clone(compiled), keys).unwrap(),
        plains: Vectors::from([("p".to_owned(), vector(p))]),
    }
}

fn under(watch: &Watch) -> Request<'static> {
    Request {
        watch: watch.clone(),
        ..Request::function_only()
    }
}

/// Returns the least memory limit, in bytes, under which a run of the case is admitted.
fn admitted(threads: usize, case: &crate::common::random::Case) -> u64 {
    let (mut refused, mut enough) = (0, 1 << 20);
    while enough - refused > 1 {
        let memory = (refused + enough) / 2;
        // A new device, so that no buffers remain from runs before.
        let cpu = Cpu::new(threads).unwrap();
        let watch = Watch::new(Limits { memory });
        let run = cpu.execute_watched(
            &crate::common::ready(&case.program),
            &crate::common::bind(case),
            &Silent,
            None,
            &watch,
        );
        match run.err().map(|e| Halt::of(&e).cloned()) {
            // The run itself is too large, or other threads of the test process have taken memory meanwhile.
            Some(Some(Halt::OverLimit { needed, limit, .. })) => {
                assert_eq!(limit, memory);
                assert!(needed > memory);
                refused = memory;
            }
            Some(other) => panic!("{other:?}"),
            None => enough = memory,
        }
    }
    enough
}

#[test]
fn a_run_takes_no_more_than_was_estimated() {
    for seed in 0..20 {
        let case = case(seed, 5, 12);
        for threads in [1, 3] {
            let least = admitted(threads, &case);
            let cpu = Cpu::new(threads).unwrap();
            let (_, stats) = cpu
                .execute(
                    &crate::common::ready(&case.program),
                    &crate::common::bind(&case),
                    &Silent,
                    None,
                )
                .unwrap();
            assert!(
                stats.pool_peak_bytes <= least,
                "seed {seed}, {threads} threads: {} above {least}",
                stats.pool_peak_bytes
            );
            if threads == 1 {
                assert!(
                    least <= 8 * stats.pool_peak_bytes + (1 << 19),
                    "seed {seed}: {least}"
                );
            }
        }
    }
}

#[test]
fn keys_inputs_and_runs_above_the_limit_are_refused_with_the_figure() {
    let compiled = program(3);
    assert!(compiled.key_bytes() > 1 << 20);
    let tight = Watch::new(Limits { memory: 1 << 10 });
    let over = |error: RuntimeError| {
        let text = error.to_string();
        assert!(
            matches!(Halt::of(&error), Some(Halt::OverLimit { .. })),
            "{text}"
        );
        assert!(
            text.contains("1.0 KiB") && text.contains("--max-memory"),
            "{text}"
        );
    };
    let client = Client::new(Arc::clone(&compiled)).unwrap();
    let keys = client.evaluation_keys().unwrap();
    let made: u64 = keys.galois.iter().map(|(_, k)| k.bytes()).sum();
    let relin = keys.relin.as_ref().map_or(0, |k| k.0.bytes());
    assert_eq!(made + relin, compiled.key_bytes(), "estimated exactly");
    let client = client.watched(&tight);
    over(client.evaluation_keys().unwrap_err());
    let x = vec![Complex64::new(0.5, 0.0); SLOTS as usize];
    over(
        client
            .encrypt(&Vectors::from([("x".to_owned(), x)]))
            .unwrap_err(),
    );
    // Copies of keys share their limbs, so a server's keys take no memory beside the client's.
    let copy = keys.clone();
    let limbs = |keys: &EvaluationKeys| keys.relin.as_ref().map(|key| key.0.b().as_ptr());
    assert!(limbs(&keys).is_some() && limbs(&keys) == limbs(&copy));
    let ready = ready(&compiled, 1.0);
    for device in ["cpu:1", "cpu:2", "sim:ring"] {
        let device = open(device).unwrap();
        let run = ready.server.run(
            &*device,
            &ready.ciphers,
            &ready.plains,
            under(&tight),
            &Silent,
        );
        over(run.unwrap_err());
    }
}

/// Progress that stops the run at its first step.
struct StopAtOnce(Watch);

impl Progress for StopAtOnce {
    fn told(&self, _: &str) {}

    fn step(&self, _: Step) {
        self.0.stop();
    }
}

#[test]
fn runs_stop_when_they_are_asked_to_and_can_be_run_again() {
    let compiled = program(2000);
    let ready = ready(&compiled, 1.0);
    for device in ["cpu:1", "cpu:2", "sim:ring"] {
        let device = open(device).unwrap();
        let watch = Watch::default();
        let stopper = StopAtOnce(watch.clone());
        let begin = Instant::now();
        let run = ready.server.run(
            &*device,
            &ready.ciphers,
            &ready.plains,
            under(&watch),
            &stopper,
        );
        let error = run.unwrap_err();
        assert_eq!(Halt::of(&error), Some(&Halt::Interrupted), "{error}");
        assert!(
            begin.elapsed() < Duration::from_secs(5),
            "{:?}",
            begin.elapsed()
        );
    }
    let watch = Watch::default();
    watch.stop();
    let device = open("sim:ring").unwrap();
    let request = Request {
        watch: watch.clone(),
        ..Request::timing_only()
    };
    let timing = simulate(&*compiled, &*device, request, &Silent);
    assert_eq!(Halt::of(&timing.unwrap_err()), Some(&Halt::Interrupted));
    let client = Client::new(Arc::clone(&compiled)).unwrap().watched(&watch);
    let keys = client.evaluation_keys().map(|_| ());
    assert_eq!(Halt::of(&keys.unwrap_err()), Some(&Halt::Interrupted));
    let options = Options {
        watch,
        ..Options::given(compiled.params.clone())
    };
    let again = compile(compiled.source.clone(), &options);
    assert_eq!(Halt::of(&again.unwrap_err()), Some(&Halt::Interrupted));
}

#[test]
fn outputs_that_show_without_the_key_are_not_given_out() {
    let mut t = TraceBuilder::new("masked", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let p = t.input("p", Visibility::Plain, None).unwrap();
    let y = t.mul(x, p, None).unwrap();
    t.output("y", y, None).unwrap();
    let compiled = Arc::new(compile(t.finish(), &Options::default()).unwrap());
    let device = open("cpu:1").unwrap();
    for (p, shows) in [(0.0, true), (1.0, false)] {
        let ready = ready(&compiled, p);
        let request = Request::function_only();
        let run = ready
            .server
            .run(&*device, &ready.ciphers, &ready.plains, request, &Silent);
        let refused = matches!(&run, Err(RuntimeError::Transparent { name }) if name == "y");
        assert_eq!(refused, shows, "{:?}", run.err());
    }
}
