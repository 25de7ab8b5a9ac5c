// SPDX-License-Identifier: Apache-2.0
//! The faults of the shell and of the polynomial multiplier's wrapper, and the checks that must notice them.

use ringmill_hdl::Hdl;

use crate::bus::{CHECKS, bus};
use crate::common::failure::{Check, panics};
use crate::faults::list::{List, When};

/// Faults of the shell and of the multiplier's wrapper. Two faults would change nothing that a host can see, so the
/// list leaves them out. One is that a command does not clear `Answer`: the answer is there before a host can ask. The
/// other is that the write of half a word is offered as an access: it is answered in its first cycle, before the access
/// is judged.
pub const FAULTS: List = List {
    name: "bus_polymul",
    text: include_str!("../faults/bus_polymul.toml"),
    checks: &[("shell", shell)],
};

fn shell(hdl: &Hdl, _: u64) -> Check {
    // RTL that does not build proves nothing: this panic is no mismatch.
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
