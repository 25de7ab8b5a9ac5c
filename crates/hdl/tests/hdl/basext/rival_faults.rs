// SPDX-License-Identifier: Apache-2.0
//! The faults of the pipelined unit, of the rowers and of pipelined mixed radix, and the checks that must notice them.

use ringmill_hdl::Hdl;
use ringmill_machines::basext::rowers::Algorithm;
use ringmill_machines::basext::{Radix, Shape, Unit, Word};

use crate::basext::bench::Order;
use crate::basext::faults::extends;
use crate::basext::refusals::check_refusals;
use crate::basext::rivals::case;
use crate::basext::small;
use crate::common::failure::Check;
use crate::faults::list::{List, When};

fn all(hdl: &Hdl, unit: Unit, seed: u64) -> Check {
    let cases = [
        case(3, 2, 2, Order::Random, false),
        case(1, 3, 1, Order::Random, false),
        case(5, 3, 2, Order::Random, true),
        case(2, 1, 1, Order::Random, true),
    ];
    extends(hdl, unit, &cases, seed)
}

/// Runs an extension on a unit that is built quickly.
fn tiny(hdl: &Hdl, unit: fn(Shape) -> Unit, seed: u64) -> Check {
    let shape = Shape::new(Word::Bits32, 1, 8..=8, 2, 2).unwrap();
    let cases = [case(2, 2, 1, Order::Random, false)];
    extends(hdl, unit(shape), &cases, seed)
}

fn rowers(algorithm: Algorithm) -> Unit {
    Unit::Rowers(algorithm, small(Word::Bits32, 4))
}

fn stages(shape: Shape) -> Unit {
    Radix::new(shape).unwrap().into()
}

pub const PIPELINED: List = List {
    name: "basext_pipelined",
    text: include_str!("../faults/basext_pipelined.toml"),
    checks: &[
        ("extends", |hdl, seed| {
            all(hdl, Unit::Pipelined(small(Word::Bits32, 4)), seed)
        }),
        // The last target but one ends while the last one is under way.
        ("short", |hdl, seed| {
            let shape = Shape::new(Word::Bits32, 16, 8..=8, 2, 2).unwrap();
            let cases = [case(1, 2, 1, Order::Natural, false)];
            extends(hdl, Unit::Pipelined(shape), &cases, seed)
        }),
        ("tiny", |hdl, seed| tiny(hdl, Unit::Pipelined, seed)),
    ],
};

pub const ROWERS: List = List {
    name: "basext_rowers",
    text: include_str!("../faults/basext_rowers.toml"),
    checks: &[
        ("cox", |hdl, seed| {
            all(hdl, rowers(Algorithm::CoxRower), seed)
        }),
        ("cox_refuses", |hdl, seed| {
            check_refusals(hdl, rowers(Algorithm::CoxRower), seed)
        }),
        ("radix", |hdl, seed| {
            all(hdl, rowers(Algorithm::MixedRadix), seed)
        }),
        ("radix_refuses", |hdl, seed| {
            check_refusals(hdl, rowers(Algorithm::MixedRadix), seed)
        }),
        ("tiny", |hdl, seed| {
            tiny(hdl, |shape| Unit::Rowers(Algorithm::CoxRower, shape), seed)
        }),
    ],
};

pub const RADIX: List = List {
    name: "basext_radix",
    text: include_str!("../faults/basext_radix.toml"),
    checks: &[
        ("extends", |hdl, seed| {
            all(hdl, stages(small(Word::Bits32, 4)), seed)
        }),
        ("refuses", |hdl, seed| {
            check_refusals(hdl, stages(small(Word::Bits32, 4)), seed)
        }),
        ("tiny", |hdl, seed| tiny(hdl, stages, seed)),
    ],
};

#[test]
#[ignore = "21 models; `make full` runs it"]
fn every_fault_of_the_pipelined_unit_is_noticed() {
    PIPELINED.all_are_noticed(When::Full);
}

#[test]
#[ignore = "24 models; `make full` runs it"]
fn every_fault_of_the_rowers_is_noticed() {
    ROWERS.all_are_noticed(When::Full);
}

#[test]
#[ignore = "23 models; `make full` runs it"]
fn every_fault_of_pipelined_mixed_radix_is_noticed() {
    RADIX.all_are_noticed(When::Full);
}
