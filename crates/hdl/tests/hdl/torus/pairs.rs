// SPDX-License-Identifier: Apache-2.0
//! Tests of engines with the paper's order of a step, a transform unit for each pair of polynomials.

use ringmill_hdl::Hdl;
use ringmill_hdl::polymul::Dice;
use ringmill_machines::torus::{Schedule, Shape, Sizes, TorusError};

use crate::common::failure::Check;
use crate::common::setup::{hdl, seed};
use crate::faults::list::{List, When};
use crate::torus::bench::{Key, check, check_run, engine, key_switch};

/// Returns an engine of eight units of two butterflies, after `change` was made to its sizes. Few bundles are held, so
/// that the key waits for room.
fn small(unroll: usize, dim: usize, change: impl Fn(&mut Sizes)) -> Result<Shape, TorusError> {
    let mut sizes = Sizes {
        log_n: 6,
        levels: 2,
        log_base: 7,
        dim,
        unroll,
        units: 8,
        log_lanes: 1,
        log_pos: 0,
        places: 1,
        group: 1,
        key_beats: 32,
        switch: key_switch((2, 5), (1, 4, 2)),
    };
    change(&mut sizes);
    Shape::scheduled(sizes, Schedule::Pairs)
}

fn one(hdl: &Hdl, seed: u64) -> Check {
    check(hdl, small(1, 24, |_| {})?, seed)
}

/// Checks an engine that bundles keys of three bits a step, with a last step of one bit.
fn bundled(hdl: &Hdl, seed: u64) -> Check {
    let shape = small(3, 25, |s| (s.levels, s.units) = (1, 4))?;
    check(hdl, shape, seed)
}

/// Checks an engine of three patterns a step, whose bundler is far ahead of the products, so that bundles wait for
/// room. There is room for two steps. With room for less than one, a fault that counts beats of the key instead of
/// bundles would stop the bundler at the same places.
fn ahead(hdl: &Hdl, seed: u64) -> Check {
    check(hdl, small(2, 24, |s| s.key_beats = 128)?, seed)
}

#[test]
#[ignore = "another engine to build; `make full` runs it"]
fn one_bit_a_step() {
    one(hdl(), seed()).unwrap();
}

#[test]
fn bundled_keys() {
    bundled(hdl(), seed()).unwrap();
}

pub const FAULTS: List = List {
    name: "torus_pairs",
    text: include_str!("../faults/torus_pairs.toml"),
    checks: &[("one", one), ("bundled", bundled), ("ahead", ahead)],
};

#[test]
#[ignore = "fifteen models; `make full` runs it"]
fn every_fault_is_noticed() {
    FAULTS.all_are_noticed(When::Full);
}

#[test]
#[ignore = "other engines; `make full` runs it"]
fn engines_of_other_sizes() {
    for (unroll, dim, change) in [
        (2, 24, (7, 3, 7, 12, 2, 1, 128)),
        (2, 9, (4, 1, 16, 4, 1, 1, 2)),
        (3, 9, (11, 2, 10, 8, 4, 2, 64)),
        (1, 7, (7, 8, 4, 32, 3, 2, 16)),
    ] {
        let shape = small(unroll, dim, |s| {
            (
                s.log_n,
                s.levels,
                s.log_base,
                s.units,
                s.log_lanes,
                s.log_pos,
                s.key_beats,
            ) = change;
        });
        check(hdl(), shape.unwrap(), seed()).unwrap();
    }
}

/// Bootstraps on the paper's engine at full size, twelve units of eight butterflies and 48 product multipliers. The
/// test prints the cycles.
#[test]
#[ignore = "a million cycles of 144 multipliers; `make full` runs it"]
fn the_128_bit_set() {
    for unroll in 1..=3 {
        let shape = small(unroll, 630, |s| {
            (s.log_n, s.levels, s.units) = (10, 3, 12);
            (s.log_lanes, s.log_pos, s.key_beats) = (3, 2, 512);
        });
        let shape = shape.unwrap();
        let mut dice = Dice::new(seed());
        let key = Key::new(shape, &mut dice).unwrap();
        let cycles = check_run(
            &mut engine(hdl(), shape).unwrap(),
            &key,
            1,
            false,
            &mut dice,
        )
        .unwrap();
        println!("m = {unroll}: {cycles:?} cycles of the run, of the switch");
    }
}
