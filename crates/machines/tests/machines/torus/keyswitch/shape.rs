// SPDX-License-Identifier: Apache-2.0
//! Shapes of the key switch.

use ringmill_machines::torus::keyswitch::{Digits, Generators, Shape};

#[test]
fn shapes_out_of_range_are_refused() {
    let generators = Generators {
        cores: 1,
        rounds: 20,
        steps: 1,
    };
    let digits = Digits {
        log_base: 1,
        levels: 15,
    };
    let of = |batch, cores, rounds, steps, log_base, levels, sizes| {
        let generators = Generators {
            cores,
            rounds,
            steps,
        };
        Shape::new(batch, generators, Digits { log_base, levels }, sizes)
    };
    let shape = Shape::new(12, generators, digits, (1024, 630)).unwrap();
    assert_eq!(
        (shape.lanes(), shape.passes(630), shape.latency()),
        (16, 40, 81)
    );
    for refused in [
        of(0, 1, 20, 1, 1, 15, (8, 8)),
        of(129, 1, 20, 1, 1, 15, (8, 8)),
        of(1, 0, 20, 1, 1, 15, (8, 8)),
        of(1, 1, 5, 1, 1, 15, (8, 8)),
        of(1, 1, 20, 4, 1, 15, (8, 8)),
        of(1, 1, 20, 1, 0, 15, (8, 8)),
        of(1, 1, 20, 1, 1, 33, (8, 8)),
        of(1, 1, 20, 1, 1, 15, (65535, 8)),
        of(1, 1, 20, 1, 1, 15, (8, 0)),
    ] {
        assert!(refused.is_err(), "{refused:?}");
    }
}
