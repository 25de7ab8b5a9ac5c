// SPDX-License-Identifier: Apache-2.0
//! The faults of the polynomial multiplier, and the checks that must notice them.

use ringmill_hdl::{Hdl, Optimise};
use ringmill_machines::polymul::Shape;

use crate::common::failure::{Check, Failure, panics};
use crate::faults::list::{List, When};
use crate::polymul::bench::{Bench, Rng};
use crate::polymul::lockstep::{every_operation, load_tables};
use crate::polymul::refusals::{aborts, bad_streams, refusals, slots};
use crate::polymul::{beside, rule, stalls};

/// Builds a multiplier of `units` processing units and runs a check on it, whose panic is a mismatch. A failed build
/// panics outside of that.
fn on(hdl: &Hdl, units: usize, check: fn(&mut Bench)) -> Check {
    let shape = Shape::new(units, 9, 4).unwrap();
    let mut bench = Bench::of(hdl, shape, Optimise::Build);
    panics(|| check(&mut bench))
}

/// Runs every operation on both sets of memories, at N = 256. Sixteen units take it in 8 rows, so that the array waits
/// between stages.
fn operations(bench: &mut Bench) {
    let mut rng = Rng::new(0x3a);
    let tables = load_tables(bench, 256, 18);
    every_operation(bench, &mut rng, &tables);
}

pub const FAULTS: List = List {
    name: "polymul",
    text: include_str!("../faults/polymul.toml"),
    checks: &[
        // With sixteen units the array waits between stages.
        ("operations", |hdl, _| on(hdl, 16, operations)),
        ("refusals", |hdl, _| on(hdl, 4, refusals)),
        ("slots", |hdl, _| on(hdl, 4, slots)),
        ("aborts", |hdl, _| on(hdl, 4, aborts)),
        ("bad_streams", |hdl, _| on(hdl, 4, bad_streams)),
        ("stalls", |hdl, _| on(hdl, 4, stalls)),
        ("beside", |hdl, _| on(hdl, 4, beside)),
        // The arbitration of commands without the rest of the machine.
        ("rule", |hdl, _| {
            let outcome = rule::check(hdl, |at| at % 31 == 0)?;
            outcome.map(|_| ()).map_err(Failure::Mismatch)
        }),
    ],
};

#[test]
#[ignore = "a model for each fault, a quarter of an hour; `make full` runs it"]
fn every_fault_is_noticed() {
    FAULTS.all_are_noticed(When::Full);
}
