// SPDX-License-Identifier: Apache-2.0
//! The faults of the bootstrapping engine, and the checks that must notice them.

use crate::faults::list::{List, When};
use crate::torus::bench::{check, small, tiny};
use crate::torus::refusals::check_tiny_refusals;

pub const FAULTS: List = List {
    name: "torus",
    text: include_str!("../faults/torus.toml"),
    checks: &[
        ("quick", |hdl, seed| check(hdl, tiny(2, 12), seed)),
        ("one", |hdl, seed| check(hdl, small(1, 2, 12), seed)),
        // An engine whose products wait for the key.
        ("late", |hdl, seed| check(hdl, small(1, 1, 12), seed)),
        ("two", |hdl, seed| check(hdl, small(2, 2, 9), seed)),
        ("refusals", check_tiny_refusals),
    ],
};

#[test]
#[ignore = "80 models; `make full` runs it"]
fn every_fault_is_noticed() {
    FAULTS.all_are_noticed(When::Full);
}
