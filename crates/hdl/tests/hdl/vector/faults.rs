// SPDX-License-Identifier: Apache-2.0
//! The faults of the vector machine, in its leaf modules and in modules that only the whole machine has, and the checks
//! that must notice them.

use crate::faults::list::{List, When};
use crate::vector::{arith, buffer, mac, machine, ntt, permutation, queue};

pub const LEAVES: List = List {
    name: "vector",
    text: include_str!("../faults/vector.toml"),
    checks: &[
        ("multiplier", arith::check_multiplier),
        ("butterflies", arith::check_both_butterflies),
        ("buffer", buffer::check_small),
        ("sums", mac::check_mac),
        ("transforms", ntt::check_radix_four),
        ("twiddles", ntt::check_twiddles),
        ("nets", permutation::check_nets),
        ("morphs", permutation::check_small_morphs),
        ("queue", queue::check_queue),
    ],
};

pub const MACHINE: List = List {
    name: "vector_machine",
    text: include_str!("../faults/vector_machine.toml"),
    checks: &[("machine", machine::check_small)],
};

#[test]
#[ignore = "builds a model for each fault, minutes; `make full` runs it"]
fn every_fault_is_noticed() {
    LEAVES.all_are_noticed(When::Full);
}

#[test]
#[ignore = "builds a model for each fault, minutes; `make full` runs it"]
fn every_fault_of_the_whole_machine_is_noticed() {
    MACHINE.all_are_noticed(When::Full);
}
