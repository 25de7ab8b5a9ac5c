// SPDX-License-Identifier: Apache-2.0
//! Tests of key switches with and without stalls.

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::torus::keyswitch::Switcher;
use ringmill_hdl::{BuildOptions, Hdl, Optimise};
use ringmill_machines::torus::keyswitch::{Command, Digits, Generators, Shape};

use crate::common::failure::Check;
use crate::common::setup::{hdl, seed};
use crate::keyswitch::bench::{Case, Switch, check, right, shape};

const fn case(large: u16, small: u16, count: u8, stalls: bool) -> Case {
    Case {
        large,
        small,
        count,
        stalls,
    }
}

/// Checks switches of small dimensions, with and without stalls. Some new dimensions fill the last pass and some do
/// not; one switch has N = 1; some passes are shorter than the pipeline.
pub fn small_switches(hdl: &Hdl, shape: Shape, seed: u64) -> Check {
    let most = shape.batch() as u8;
    let cases = [
        case(24, 37, most, false),
        case(24, 53, most, true),
        case(3, 32, 1, false),
        case(1, 1, most, true),
        case(40, 16, 1, true),
        case(2, 69, most, true),
        case(9, 64, 1, false),
    ];
    check(hdl, shape, &cases, seed)
}

#[test]
fn bits_as_digits() {
    small_switches(hdl(), shape(2, (1, 2, 2), (1, 15)), seed()).unwrap();
}

#[test]
fn two_generators_and_larger_digits() {
    small_switches(hdl(), shape(3, (2, 4, 2), (2, 8)), seed()).unwrap();
}

#[test]
fn folded_generators() {
    small_switches(hdl(), shape(1, (1, 2, 2), (4, 3)), seed()).unwrap();
}

#[test]
#[ignore = "more models; `make full` runs it"]
fn every_kind_of_unit() {
    for (batch, generators, digits) in [
        (2, (1, 20, 1), (1, 15)),
        (1, (1, 10, 1), (1, 1)),
        (5, (3, 4, 2), (3, 4)),
        (2, (1, 2, 1), (8, 4)),
        (1, (2, 10, 2), (1, 32)),
        (3, (2, 20, 2), (2, 8)),
        (4, (5, 20, 2), (7, 3)),
        (1, (1, 4, 1), (16, 2)),
        (1, (1, 20, 2), (31, 1)),
    ] {
        for round in 0..5 {
            small_switches(hdl(), shape(batch, generators, digits), seed() + round).unwrap();
        }
    }
}

/// The 128-bit set, N = 1024 and n = 630, switches four ciphertexts in base 2 and in base 4, with four generators.
#[test]
#[ignore = "the 128-bit set, minutes; `make full` runs it"]
fn the_128_bit_set() {
    for (log_base, levels) in [(1, 15), (2, 8)] {
        let generators = Generators {
            cores: 4,
            rounds: 20,
            steps: 2,
        };
        let digits = Digits { log_base, levels };
        let shape = Shape::new(4, generators, digits, (1024, 630)).unwrap();
        let options = BuildOptions {
            optimise: Optimise::Run,
            ..BuildOptions::default()
        };
        let mut dice = Dice::new(seed());
        let mut unit = Switcher::new(hdl(), shape, options, dice.clone()).unwrap();
        let command = Command {
            large: 1024,
            small: 630,
            count: 4,
        };
        let switch = Switch::random(digits, command, &mut dice);
        let cycles = right(&mut unit, &switch, false).unwrap();
        println!("base 2^{log_base}, t = {levels}: {cycles} cycles for 4 ciphertexts");
    }
}
