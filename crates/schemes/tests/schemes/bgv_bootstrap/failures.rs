// SPDX-License-Identifier: Apache-2.0
//! Tests thousands of BGV bootstraps: they fail as often as predicted, and never if the probability is below 2^-40.

use ringmill_schemes::bgv::{ExactParams, friendly_primes};

use super::thin::{Toy, slots, tail};

/// Runs `runs` bootstraps, each of other slots, and returns how many results have wrong slots.
fn failures(toy: &Toy, runs: u64) -> u64 {
    let count = toy.bootstrapper.setup().structure().slots();
    let t = toy.params.plain_modulus().value();
    let start = toy.bootstrapper.start();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()) as u64;
    let one = |thread: u64| {
        (thread..runs)
            .step_by(threads as usize)
            .filter(|run| {
                let slots: Vec<u64> = slots(count + 64, t)
                    .into_iter()
                    .skip((run % 64) as usize)
                    .take(count)
                    .collect();
                let value = toy.encrypt(&slots, start);
                let fresh = toy.bootstrapper.bootstrap(&value, &toy.keys).unwrap();
                let plain = toy.open(&toy.main, &fresh.cipher);
                toy.encoder.decode(&plain).unwrap() != slots
            })
            .count() as u64
    };
    std::thread::scope(|scope| {
        let one = &one;
        let running: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || one(thread)))
            .collect();
        running.into_iter().map(|run| run.join().unwrap()).sum()
    })
}

/// Tests a set with one digit in base 7 below the message and a secret of weight 16. The quotient exceeds the digit in
/// one coefficient of 400, and there are four coefficients.
fn fails_often(runs: u64, deviations: f64) {
    let primes = friendly_primes(21).unwrap();
    let toy = Toy::with_chance(9, (7, 1, 2), 16, &primes, 7, 0.0);
    let count = toy.bootstrapper.setup().structure().slots();
    let chance = 1.0 - (1.0 - tail(16, 3.5)).powi(count as i32);
    assert!((0.005..0.02).contains(&chance), "{chance}");
    let failed = failures(&toy, runs) as f64;
    let expected = runs as f64 * chance;
    let deviation = (expected * (1.0 - chance)).sqrt();
    println!("{failed} of {runs}, predicted {expected:.1}");
    assert!((failed - expected).abs() < deviations * deviation);
}

#[test]
#[ignore = "20,000 bootstraps take half an hour of processor time; `make full` runs it"]
fn one_bootstrap_in_a_hundred_fails_where_that_is_predicted() {
    fails_often(20_000, 4.0);
}

#[test]
#[ignore = "2,000 bootstraps take three minutes of processor time; `make full` runs it"]
fn none_fails_where_the_chance_is_below_2_to_minus_40() {
    let primes = friendly_primes(21).unwrap();
    let toy = Toy::new(9, (17, 1, 2), 8, &primes, 7);
    assert!(toy.bootstrapper.setup().log2_chance() < -40.0);
    assert_eq!(failures(&toy, 2_000), 0);
}

#[test]
fn a_few_hundred_fail_about_as_often_as_is_predicted() {
    fails_often(200, 6.0);
}
