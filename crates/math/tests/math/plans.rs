// SPDX-License-Identifier: Apache-2.0
//! Tests choices among kernels: they are made once, kept, and the same for all threads. Tests with other settings of
//! the environment need processes of their own (`crates/cli/tests/cli/plans.rs`).

mod file;
mod policy;
#[cfg(target_arch = "x86_64")]
mod processor;
mod timing;

use std::time::{Duration, Instant};

use ringmill_math::plans::{self, Source, Task};
use ringmill_math::{Backend, Modulus, Ntt32, NttPlan, Ring, kernels, primes};

fn modulus(bits: u32, log_n: u8) -> Modulus {
    Modulus::new(primes::ntt_primes(bits, u32::from(log_n), 1).unwrap()[0]).unwrap()
}

#[test]
fn a_choice_is_of_the_candidates_and_stays() {
    let plan = NttPlan::shared(modulus(59, 12), Ring::full(12)).unwrap();
    let mut limb = vec![1; 1 << 12];
    plan.forward(&mut limb).unwrap();
    let made = || {
        plans::made()
            .into_iter()
            .find(|c| c.shape.task == Task::Forward && c.shape.log_n == 12 && c.shape.bits == 60)
    };
    let choice = made().unwrap();
    assert_eq!((choice.shape.word_bits, choice.shape.bits), (64, 60));
    let names: Vec<_> = choice.candidates.iter().map(|c| c.kernel.clone()).collect();
    assert!(names.contains(&choice.kernel), "{choice:?}");
    // If the environment allows only scalar code, this is a candidate at every length.
    let known = |name: &String| name == "scalar" || plan.kernels().contains(name);
    assert!(names.iter().all(known), "{choice:?}");
    if choice.source == Source::Timed {
        let timed = |c: &plans::Candidate| c.seconds.is_some_and(|time| time > 0.0);
        assert!(choice.candidates.iter().all(timed), "{choice:?}");
    }
    // Another prime of the same size class uses the same choice.
    NttPlan::shared(modulus(55, 12), Ring::full(12))
        .unwrap()
        .forward(&mut limb)
        .unwrap();
    assert_eq!(made(), Some(choice));
}

/// Choosing kernels for 16 shapes takes less than 40 ms. Each shape counts with the best of eight tries, because the
/// computer may be busy otherwise.
#[test]
fn choosing_takes_little() {
    let ring = Ring::full(11);
    let patience = Duration::from_millis(1);
    let best = |choose: &dyn Fn()| {
        let spent = (0..8).map(|_| {
            let begin = Instant::now();
            choose();
            begin.elapsed()
        });
        spent.min().unwrap_or_default()
    };
    let mut all = Duration::ZERO;
    for task in [Task::Forward, Task::Inverse] {
        for bits in [34, 46, 50, 51, 60] {
            let plan = NttPlan::new(modulus(bits, 11), ring).unwrap();
            all += best(&|| assert!(plan.choose(task, patience).is_some()));
        }
        for bits in [30, 31, 32] {
            let plan = Ntt32::new(modulus(bits, 11), ring).unwrap();
            all += best(&|| assert!(plan.choose(task, patience).is_some()));
        }
    }
    assert!(all < Duration::from_millis(40), "16 shapes took {all:?}");
}

/// Threads that need a shape at the same time all get right transforms, while one of them times the kernels.
#[test]
fn threads_do_not_wait_for_each_other() {
    let plan = NttPlan::new(modulus(45, 13), Ring::full(13)).unwrap();
    let input: Vec<u64> = (0..1 << 13).collect();
    let mut expected = input.clone();
    plan.run_on("scalar", Task::Forward, &mut expected)
        .unwrap_or_else(|_| plan.forward(&mut expected).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut limb = input.clone();
                plan.forward(&mut limb).unwrap();
                assert!(limb == expected);
                plan.inverse(&mut limb).unwrap();
                assert!(limb == input);
            });
        }
    });
}

/// Plain Rust takes at most six times as long as AVX2. For each, the best time of 200 calls counts, taken in turn.
#[test]
#[ignore = "times kernels; make full runs it"]
fn the_portable_path_is_no_trap() {
    if !kernels::available_backends().contains(&Backend::Avx2) {
        return;
    }
    let ring = Ring::full(12);
    for bits in [30, 31, 32, 50, 60, 61] {
        let q = modulus(bits, 12);
        let (wide, narrow) = (NttPlan::new(q, ring).unwrap(), Ntt32::new(q, ring));
        let (mut limb, mut words) = (vec![1; ring.len()], vec![1; ring.len()]);
        for task in [Task::Forward, Task::Inverse] {
            let mut run = || match (&narrow, task) {
                (Ok(plan), Task::Inverse) => plan.inverse(&mut words).unwrap(),
                (Ok(plan), _) => plan.forward(&mut words).unwrap(),
                (Err(_), Task::Inverse) => wide.inverse(&mut limb).unwrap(),
                (Err(_), _) => wide.forward(&mut limb).unwrap(),
            };
            let mut best = [Duration::MAX; 2];
            for _ in 0..200 {
                for (best, backend) in best.iter_mut().zip([Backend::Scalar, Backend::Avx2]) {
                    let begin = Instant::now();
                    kernels::with_backend(backend, &mut run).unwrap();
                    *best = begin.elapsed().min(*best);
                }
            }
            let ratio = best[0].as_secs_f64() / best[1].as_secs_f64();
            println!("{bits} bits, {}: {ratio:.2} times as long", task.name());
            assert!(ratio <= 6.0, "{bits} bits, {task:?}: {best:?}");
        }
    }
}
