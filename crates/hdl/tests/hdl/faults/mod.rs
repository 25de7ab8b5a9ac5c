// SPDX-License-Identifier: Apache-2.0
//! Single faults of the RTL: a list of data for each unit, checks that must notice them, and one runner.

pub mod list;
mod runner;

use std::collections::BTreeSet;

use crate::common::setup::hdl;
use crate::{basext, bus, keyswitch, polymul, ring, rtl, torus, vector};
use list::List;

const LISTS: [&List; 19] = [
    &basext::faults::FOLDED,
    &basext::faults::SHARED,
    &basext::rival_faults::PIPELINED,
    &basext::rival_faults::RADIX,
    &basext::rival_faults::ROWERS,
    &bus::basext::FAULTS,
    &bus::faults::FAULTS,
    &bus::torus::FAULTS,
    &bus::vector::FAULTS,
    &keyswitch::faults::FAULTS,
    &polymul::faults::FAULTS,
    &ring::faults::FAULTS,
    &rtl::assertions::FAULTS,
    &rtl::faults::FAULTS,
    &torus::coefficients::FAULTS,
    &torus::faults::FAULTS,
    &torus::pairs::FAULTS,
    &vector::faults::LEAVES,
    &vector::faults::MACHINE,
];

/// The number of faults in all lists. It may grow, but must not shrink.
const LEAST: usize = 783;

#[test]
fn every_fault_has_a_name_and_a_place_and_a_check() {
    let mut count = 0;
    for list in LISTS {
        let faults = list.faults();
        let (mut names, mut checks) = (BTreeSet::new(), BTreeSet::new());
        for fault in &faults {
            let files = hdl().sources().closure(&fault.module).unwrap();
            // The last file is the module itself, behind those that it uses.
            let (_, text) = files.last().unwrap();
            let places = text.matches(&fault.from).count();
            assert_eq!(places, 1, "{fault}: `{}`", fault.from);
            assert_ne!(fault.from, fault.to, "{fault}");
            assert!(
                names.insert(&fault.name),
                "{}: {fault} is there twice",
                list.name
            );
            list.check(&fault.check);
            checks.insert(&*fault.check);
        }
        let registered: BTreeSet<_> = list.checks.iter().map(|(name, _)| *name).collect();
        assert_eq!(checks, registered, "{}", list.name);
        count += faults.len();
    }
    assert!(count >= LEAST, "{count} faults of {LEAST} are left");
}
