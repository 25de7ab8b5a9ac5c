// SPDX-License-Identifier: Apache-2.0
//! Tests of the procedure of a bootstrap: its code is valid, and its bound is small.

use ringmill_isa::macros::verify_with_primes;
use ringmill_schemes::ParameterSet;
use ringmill_schemes::ckks::bootstrap::{Procedure, Set, Wanted};

fn procedure(set: Set, real: bool, magnitude: f64) -> Procedure {
    let setup = set.bootstrapping().unwrap();
    let scale = setup.params().default_scale();
    let wanted = Wanted {
        real,
        magnitude,
        scales: [scale, scale],
    };
    Procedure::new(setup, wanted, true).unwrap()
}

#[test]
fn a_bootstrap_is_a_valid_procedure() {
    for real in [true, false] {
        let procedure = procedure(Set::ToyForTestsOnly, real, 1.0);
        let params = procedure.params();
        verify_with_primes(procedure.program(), params.level_primes()).unwrap();
        println!(
            "{} {:e} {} keys",
            procedure.setup(),
            procedure.error(),
            procedure.key_names().len()
        );
        assert!(procedure.error() < 2f64.powi(-20));
    }
}

#[test]
fn the_error_grows_with_the_magnitude() {
    let error = |magnitude| procedure(Set::ToyForTestsOnly, true, magnitude).error() / magnitude;
    assert!(error(16.0) < 1.5 * error(1.0));
    assert!(error(16.0) > error(1.0) / 16.0);
}

#[test]
#[ignore = "the full size"]
fn the_deep_set_is_precise() {
    let procedure = procedure(Set::Deep, true, 1.0);
    println!(
        "{} {:e} {} keys",
        procedure.setup(),
        procedure.error(),
        procedure.key_names().len()
    );
    assert!(procedure.error() < 2f64.powi(-18));
}
