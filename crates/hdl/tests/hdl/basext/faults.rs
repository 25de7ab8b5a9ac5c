// SPDX-License-Identifier: Apache-2.0
//! The faults of the folded and of the shared unit, and the checks that must notice them.

use ringmill_hdl::Hdl;
use ringmill_machines::basext::{Shape, Unit, Word};

use crate::basext::bench::{Case, Order, check};
use crate::basext::refusals::check_refusals;
use crate::basext::shared::{self, case};
use crate::basext::small;
use crate::common::failure::Check;
use crate::faults::list::{List, When};

pub fn extends(hdl: &Hdl, unit: impl Into<Unit>, cases: &[Case], seed: u64) -> Check {
    check(hdl, unit, cases, seed).map(|_| ())
}

pub const FOLDED: List = List {
    name: "basext_folded",
    text: include_str!("../faults/basext_folded.toml"),
    checks: &[
        ("extends", |hdl, seed| {
            let cases = [
                case(3, 2, 1, Order::Random, false),
                case(1, 2, 1, Order::Random, false),
                case(2, 1, 1, Order::Random, true),
                case(5, 3, 1, Order::Random, true),
            ];
            extends(hdl, small(Word::Bits32, 4), &cases, seed)
        }),
        ("deep", |hdl, seed| {
            let shape = Shape::new(Word::Bits32, 1, 8..=13, 3, 2).unwrap();
            extends(hdl, shape, &[case(3, 2, 1, Order::Natural, false)], seed)
        }),
        // Many jobs, so that once the output stalls for much longer than the input and the queue fills.
        ("stalls", |hdl, seed| {
            let cases = [case(1, 2, 1, Order::Natural, true); 30];
            extends(hdl, small(Word::Bits32, 1), &cases, seed)
        }),
        ("refuses", |hdl, seed| {
            check_refusals(hdl, small(Word::Bits32, 4), seed)
        }),
    ],
};

pub const SHARED: List = List {
    name: "basext_shared",
    text: include_str!("../faults/basext_shared.toml"),
    checks: &[
        ("extends", |hdl, seed| {
            let cases = [
                case(3, 2, 2, Order::Random, false),
                case(2, 1, 1, Order::Random, true),
                case(1, 3, 2, Order::Random, false),
                case(2, 3, 2, Order::Random, false),
                case(5, 3, 3, Order::Random, true),
            ];
            extends(hdl, shared::small(Word::Bits32, 4, 2), &cases, seed)
        }),
        ("extends_deep", |hdl, seed| {
            let cases = [case(5, 5, 2, Order::Random, true)];
            extends(hdl, shared::deep(), &cases, seed)
        }),
        ("refuses", |hdl, seed| {
            check_refusals(hdl, shared::small(Word::Bits32, 4, 2), seed)
        }),
    ],
};

#[test]
#[ignore = "48 models; `make full` runs it"]
fn every_fault_of_the_folded_unit_is_noticed() {
    FOLDED.all_are_noticed(When::Full);
}

#[test]
#[ignore = "40 models; `make full` runs it"]
fn every_fault_of_the_shared_unit_is_noticed() {
    SHARED.all_are_noticed(When::Full);
}
