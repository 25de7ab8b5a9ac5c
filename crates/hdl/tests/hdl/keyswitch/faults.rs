// SPDX-License-Identifier: Apache-2.0
//! The faults of the key-switching unit and of its generators, and the checks that must notice them.

use crate::faults::list::{List, When};
use crate::keyswitch::bench::shape;
use crate::keyswitch::chacha::{Made, streams};
use crate::keyswitch::refusals::check_refusals;
use crate::keyswitch::switches::small_switches;

const WHOLE: Made = Made {
    rounds: 20,
    steps: 1,
};
const FOLDED: Made = Made {
    rounds: 2,
    steps: 2,
};

pub const FAULTS: List = List {
    name: "keyswitch",
    text: include_str!("../faults/keyswitch.toml"),
    checks: &[
        ("whole", |hdl, seed| streams(hdl, WHOLE, seed, 200)),
        ("folded", |hdl, seed| streams(hdl, FOLDED, seed, 200)),
        ("bits", |hdl, seed| {
            small_switches(hdl, shape(2, (1, 10, 2), (1, 15)), seed)
        }),
        // A model that is built quickly.
        ("folds", |hdl, seed| {
            small_switches(hdl, shape(2, (1, 2, 2), (1, 15)), seed)
        }),
        ("digits", |hdl, seed| {
            small_switches(hdl, shape(3, (2, 4, 2), (3, 5)), seed)
        }),
        ("refuses", |hdl, seed| {
            check_refusals(hdl, shape(2, (1, 2, 2), (1, 15)), seed)
        }),
    ],
};

#[test]
fn quick_faults_are_noticed() {
    FAULTS.all_are_noticed(When::Test);
}

#[test]
#[ignore = "38 models; `make full` runs it"]
fn every_fault_is_noticed() {
    FAULTS.all_are_noticed(When::Full);
}
