// SPDX-License-Identifier: Apache-2.0
//! Tests of the macro procedure of a CKKS bootstrap: its instructions are valid, and its error bound is small.

use ringmill_isa::macros::verify_with_primes;
use ringmill_schemes::ParameterSet;
use ringmill_schemes::ckks::bootstrap::{Bootstrapping, Layout, Procedure, Set, Wanted};
use ringmill_schemes::rlwe::SecurityLevel;
use ringmill_schemes::rlwe::security::sparse_bounds;

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
        assert!(procedure.error() < 2f64.powi(-20));
    }
}

/// For each secure set, docs/security.md has the bits of the encapsulation key's modulus and the bounds of both tables.
#[test]
fn the_page_has_the_key_of_every_secure_set() {
    let page = include_str!("../../../../../docs/security.md");
    let secure = Set::ALL
        .into_iter()
        .filter(|(_, set)| Set::SECURE.contains(set));
    for (name, set) in secure {
        let setup = set.bootstrapping().unwrap();
        let log_n = setup.params().log_n();
        let bounds = sparse_bounds(setup.weight(), SecurityLevel::Bits128, log_n).unwrap();
        let [estimator, hybrid] = [bounds.estimator, bounds.rotated_hybrid].map(Option::unwrap);
        let (weight, bits) = (setup.weight(), setup.key_bits());
        let row =
            format!("| CKKS's `{name}` | 2^{log_n} | {weight} | {bits} | {estimator} | {hybrid} |");
        assert!(page.contains(&row), "{row}");
        assert!(bounds.smaller().is_some_and(|most| bits <= most.into()));
    }
}

#[test]
fn the_error_grows_with_the_magnitude() {
    let error = |magnitude| procedure(Set::ToyForTestsOnly, true, magnitude).error() / magnitude;
    assert!(error(16.0) < 1.5 * error(1.0));
    assert!(error(16.0) > error(1.0) / 16.0);
    for log in [9, 14] {
        let large = error(f64::from(log).exp2());
        assert!(large < 1.5 * error(1.0), "{log}: {large}");
    }
}

#[test]
fn the_secure_sets_are_precise() {
    for (set, bits) in Set::SECURE.into_iter().zip([20, 23, 41]) {
        let procedure = procedure(set, true, 1.0);
        let params = procedure.params();
        assert!(!params.insecure_allowed());
        verify_with_primes(procedure.program(), params.level_primes()).unwrap();
        let error = procedure.error();
        assert!(error < 2f64.powi(-bits), "{set:?}: {error:e}");
    }
}

#[test]
fn each_iteration_shrinks_the_error() {
    let setup = Set::PreciseToyForTestsOnly.bootstrapping().unwrap();
    let scale = setup.params().default_scale();
    for real in [true, false] {
        // The scales of two levels differ a little.
        let wanted = Wanted {
            real,
            magnitude: 1.0,
            scales: [scale * (1.0 + 1e-6), scale],
        };
        let bits = (1..=3).map(|iterations| {
            let layout = Layout {
                iterations,
                ..setup.layout()
            };
            let setup = Bootstrapping::new(setup.params().clone(), layout, 32).unwrap();
            let procedure = Procedure::new(setup, wanted, true).unwrap();
            let params = procedure.params();
            verify_with_primes(procedure.program(), params.level_primes()).unwrap();
            -procedure.error().log2()
        });
        let bits: Vec<f64> = bits.collect();
        println!("real {real}: {bits:?}");
        assert!(bits[0] > 20.0 && bits[1] > 1.95 * bits[0] && bits[2] > bits[1] + 1.0);
    }
}

#[test]
fn layouts_that_do_not_fit_are_refused() {
    let setup = Set::ToyForTestsOnly.bootstrapping().unwrap();
    let (params, layout) = (setup.params(), setup.layout());
    let refused = |layout: Layout, weight: u32| {
        let made = Bootstrapping::new(params.clone(), layout, weight);
        made.unwrap_err().to_string()
    };
    let free = layout.free;
    let more = |free: u32| Layout { free, ..layout };
    assert!(refused(more(free + 1), 32).contains("20 ciphertext primes, and there are 19"));
    assert!(refused(more(u32::MAX), 32).contains("no layout"));
    assert!(refused(layout, 0).contains("weight 0"));
    assert!(refused(layout, 4096).contains("weight 4096"));
    let shorter = Layout {
        log_length: 3,
        free: free + 4,
        ..layout
    };
    assert!(refused(shorter, 32).contains("series of length 2^3"));
    let larger = Layout {
        ratio_bits: 6,
        ..layout
    };
    assert!(refused(larger, 32).contains("2^6 times smaller than q_0"));
    let none = Layout {
        to_slots: 0,
        free: free + 3,
        ..layout
    };
    assert!(refused(none, 32).contains("matrices"));
    for iterations in [0, 5] {
        let other = Layout {
            iterations,
            ..layout
        };
        assert!(refused(other, 32).contains(&format!("{iterations} iterations, not 1 to 4")));
    }
    let wanted = |magnitude: f64, scale: f64| Wanted {
        real: true,
        magnitude,
        scales: [scale, scale],
    };
    for (magnitude, scale) in [(0.0, 1e12), (f64::NAN, 1e12), (1.0, f64::INFINITY)] {
        let made = Procedure::new(setup.clone(), wanted(magnitude, scale), true);
        assert!(made.unwrap_err().to_string().contains("values up to"));
    }
    // A secure set refuses a sparse secret of a weight that the security table does not have.
    let deep = Set::Deep.bootstrapping().unwrap();
    let made = Bootstrapping::new(deep.params().clone(), deep.layout(), 8);
    assert!(made.unwrap_err().to_string().contains("weight 8"));
}
