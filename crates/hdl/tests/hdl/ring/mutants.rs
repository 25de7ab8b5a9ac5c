// SPDX-License-Identifier: Apache-2.0
//! Single-line faults; the checks must catch each.

use ringmill_hdl::ring::RpauError;

use crate::common::faulty::Faulty;
use crate::common::setup::{hdl, seed};
use crate::ring::begun;
use crate::ring::faults::{FAULTS, Fault};

/// A fault that the check notices, or an assertion stops; that it builds is not enough.
fn caught(fault: &Fault, seed: u64) -> bool {
    let Fault(file, from, to, check) = *fault;
    let copy = Faulty::copy(file, from, to);
    let faulty = hdl().with_sources(&[copy.root()]).unwrap();
    match check(&faulty, seed) {
        Ok(()) => false,
        Err(RpauError::Hdl(error)) => {
            let text = error.to_string();
            // An assertion, and no tool that would not build it.
            assert!(
                matches!(error, ringmill_hdl::HdlError::Simulation(_)),
                "{file}: {text}"
            );
            true
        }
        Err(_) => true,
    }
}

#[test]
#[ignore = "builds a machine for each fault; `make full` runs it"]
fn every_fault_is_caught() {
    let seed = seed();
    // `$RINGMILL_FAULTS`: numbers of some of them, as in `3,7`.
    let some = std::env::var("RINGMILL_FAULTS").ok();
    let chosen = |at: usize| {
        let some = some.as_deref().map(|list| list.split(','));
        some.is_none_or(|mut list| list.any(|n| n.parse() == Ok(at)))
    };
    let numbered = FAULTS.iter().chain(&begun::FAULTS).enumerate();
    let mut missed = Vec::new();
    for (at, fault) in numbered.filter(|(at, _)| chosen(*at)) {
        let says = if caught(fault, seed) {
            "caught"
        } else {
            missed.push(format!("{at} {}: {}", fault.0, fault.2));
            "missed"
        };
        println!("{at} {} {}: {says}", fault.0, fault.2);
    }
    assert!(missed.is_empty(), "missed: {missed:#?}");
}
