// SPDX-License-Identifier: Apache-2.0
//! Cycles of a key switch.

use ringmill_machines::internals::replay_switch as replay;
use ringmill_machines::torus::keyswitch::{Command, Digits, Floor, Generators, Shape, cycles};

fn shape(batch: usize, cores: usize, rounds: u32, steps: u32) -> Shape {
    let generators = Generators {
        cores,
        rounds,
        steps,
    };
    let digits = Digits {
        log_base: 1,
        levels: 15,
    };
    Shape::new(batch, generators, digits, (1024, 630)).unwrap()
}

fn command(large: u16, small: u16, count: u8) -> Command {
    Command {
        large,
        small,
        count,
    }
}

#[test]
fn the_formula_is_the_replay() {
    for shape in [shape(2, 1, 20, 1), shape(3, 2, 20, 2)] {
        for (large, small, count) in [(16, 37, 2), (20, 16, 1), (16, 64, 2), (31, 70, 1)] {
            let command = command(large, small, count);
            assert_eq!(
                cycles(shape, command),
                replay(shape, command),
                "{command:?}"
            );
        }
    }
}

/// Checks that a switch of the 128-bit set takes at most a five-hundredth more than its floor, as blocks fill passes.
#[test]
fn a_switch_is_near_its_floor() {
    let floor = Floor::of(1024, 15, 630);
    assert_eq!(floor.mask_words, 9_676_800);
    assert_eq!(floor.blocks, 614_400);
    for (cores, steps) in [(1, 1), (2, 2)] {
        let shape = shape(12, cores, 20, steps);
        let found = cycles(shape, command(1024, 630, 12));
        let floor = floor.cycles(shape);
        assert!(
            found > floor && found < floor + floor / 500,
            "{found} {floor}"
        );
    }
}

/// Checks that generators which fold their rounds are busy almost all the time.
#[test]
fn folded_generators_take_as_many_times_longer() {
    for (rounds, turns) in [(10, 2), (4, 5), (2, 10)] {
        let shape = shape(1, 1, rounds, 2);
        let found = cycles(shape, command(64, 20, 1));
        let floor = Floor::of(64, 15, 20).cycles(shape);
        assert_eq!(floor, 64 * 15 * 2 * turns);
        assert!(
            found > floor && found < floor + floor / 40 + 200,
            "{found} {floor}"
        );
    }
}
