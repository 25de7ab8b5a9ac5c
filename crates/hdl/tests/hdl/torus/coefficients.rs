// SPDX-License-Identifier: Apache-2.0
//! Tests of engines whose unrolled keys are bundled in coefficient form.

use ringmill_hdl::Hdl;
use ringmill_machines::torus::{Schedule, Shape, Sizes, TorusError};

use crate::common::failure::Check;
use crate::common::setup::{hdl, seed};
use crate::faults::list::{List, When};
use crate::torus::bench::{check, key_switch};
use crate::torus::refusals::check_refusals;

/// Returns an engine of two units of two butterflies, after `change` was made to its sizes.
fn small(
    unroll: usize,
    dim: usize,
    places: usize,
    change: impl Fn(&mut Sizes),
) -> Result<Shape, TorusError> {
    let mut sizes = Sizes {
        log_n: 6,
        levels: 2,
        log_base: 7,
        dim,
        unroll,
        units: 2,
        log_lanes: 1,
        log_pos: 0,
        places,
        group: places.div_ceil(2),
        key_beats: 0,
        switch: key_switch((2, 5), (1, 4, 2)),
    };
    change(&mut sizes);
    sizes.key_beats = (1 << (sizes.log_n - sizes.log_pos - 1)) << (sizes.unroll + 1);
    Shape::scheduled(sizes, Schedule::Coefficients)
}

/// Checks an engine of three ciphertexts, two of them in a group, whose last step has one bit.
fn three(hdl: &Hdl, seed: u64) -> Check {
    check(hdl, small(3, 25, 3, |_| {})?, seed)
}

/// Checks an engine of one ciphertext, whose bundles wait for the key.
fn late(hdl: &Hdl, seed: u64) -> Check {
    let shape = small(3, 13, 1, |s| {
        (s.log_n, s.levels, s.log_lanes) = (7, 1, 3);
    });
    check(hdl, shape?, seed)
}

/// Returns an engine of twelve butterflies, three digits and two ciphertexts, whose last step has one bit.
pub fn toy() -> Shape {
    let shape = small(3, 25, 2, |s| {
        (s.log_n, s.levels, s.units, s.log_lanes) = (7, 3, 3, 2);
    });
    shape.unwrap()
}

#[test]
#[ignore = "half a minute, an engine of its own; `make full` runs it"]
fn three_bits_a_step() {
    check(hdl(), toy(), seed()).unwrap();
}

pub const FAULTS: List = List {
    name: "torus_coefficients",
    text: include_str!("../faults/torus_coefficients.toml"),
    checks: &[("three", three), ("late", late)],
};

#[test]
#[ignore = "twenty-five models; `make full` runs it"]
fn every_fault_is_noticed() {
    FAULTS.all_are_noticed(When::Full);
}

#[test]
#[ignore = "a model of its own; `make full` runs it"]
fn wrong_keys_are_refused() {
    check_refusals(hdl(), small(3, 24, 3, |_| {}).unwrap(), seed()).unwrap();
}

#[test]
#[ignore = "other engines; `make full` runs it"]
fn engines_of_other_sizes() {
    for (unroll, dim, places, change) in [
        (2, 9, 1, (7, 3, 7, 3, 2, 1, 1)),
        (3, 7, 4, (6, 2, 10, 4, 2, 0, 4)),
        (3, 9, 2, (11, 3, 7, 2, 5, 4, 2)),
        (2, 7, 5, (4, 4, 4, 8, 2, 0, 3)),
        (3, 4, 3, (10, 3, 7, 2, 3, 2, 1)),
    ] {
        let shape = small(unroll, dim, places, |s| {
            (
                s.log_n,
                s.levels,
                s.log_base,
                s.units,
                s.log_lanes,
                s.log_pos,
                s.group,
            ) = change;
        });
        let shape = shape.unwrap();
        check(hdl(), shape, seed()).unwrap_or_else(|e| panic!("{shape:?}: {e:?}"));
    }
}
