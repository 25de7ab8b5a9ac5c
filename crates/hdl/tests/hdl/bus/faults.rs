// SPDX-License-Identifier: Apache-2.0
//! The check that must notice the faults of the shell and of the multiplier's wrapper.

use ringmill_hdl::Hdl;

use crate::bus::{CHECKS, bus};
use crate::common::failure::{Check, panics};
use crate::faults::list::{List, When};

/// That `Answer` is cleared with each command is not among the faults: the answer is there before any host could ask.
/// Nor is that half a word is not offered as an access: it is answered in its first cycle, before it could be judged.
pub const FAULTS: List = List {
    name: "bus_polymul",
    text: include_str!("../faults/bus_polymul.toml"),
    checks: &[("shell", shell)],
};

fn shell(hdl: &Hdl, _: u64) -> Check {
    // What does not build proves nothing.
    drop(bus(hdl, 1));
    CHECKS.iter().try_for_each(|check| panics(|| check(hdl)))
}

#[test]
fn a_fault_is_noticed() {
    FAULTS.all_are_noticed(When::Test);
}

#[test]
#[ignore = "builds the machine once for each fault, ten minutes; `make full` runs it"]
fn every_fault_is_noticed() {
    FAULTS.all_are_noticed(When::Full);
}
