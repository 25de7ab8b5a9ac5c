// SPDX-License-Identifier: Apache-2.0
//! Tests that parameters take an engine's sizes, and that an engine with an unrolling that the scheme lacks is refused.

use ringmill_circuits::tfhe::target::{for_engine, with_sizes_of};
use ringmill_circuits::tfhe::{LweDimension, ParamsBuilder, TfheError, Unrolling};
use ringmill_isa::Engine;
use ringmill_isa::engine::Digits;

const ENGINE: Engine = Engine {
    dimension: 24,
    log_degree: 7,
    unrolling: 2,
    bootstrap: Digits {
        log_base: 6,
        levels: 4,
    },
    key_switch: Digits {
        log_base: 3,
        levels: 6,
    },
};

#[test]
fn parameters_have_the_numbers_of_their_engine() {
    let toy = || ParamsBuilder::toy_for_tests_only().allow_any_failure_rate_for_tests_only();
    let plain = toy().build().unwrap();
    let set = for_engine(&ENGINE, toy()).unwrap();
    let found = *set.build().unwrap().sizes();
    assert_eq!(found.unrolling, Unrolling::Two);
    assert_eq!((found.key_switch.log_base, found.key_switch.levels), (3, 6));
    assert_eq!(
        (found.n, found.log_degree),
        (plain.sizes().n, plain.sizes().log_degree)
    );
    let set = with_sizes_of(&ENGINE, toy()).unwrap();
    let found = *set.build().unwrap().sizes();
    assert_eq!((found.n, found.log_degree), (LweDimension(24), 7));
    assert_eq!((found.bootstrap.log_base, found.bootstrap.levels), (6, 4));
}

#[test]
fn an_engine_of_more_bits_a_step_than_the_scheme_has_is_refused() {
    for unrolling in [0, 4] {
        let engine = Engine {
            unrolling,
            ..ENGINE
        };
        let refused = for_engine(&engine, ParamsBuilder::toy_for_tests_only());
        assert!(matches!(refused, Err(TfheError::OutOfRange { .. })));
    }
}
