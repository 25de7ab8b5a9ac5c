//! Single-line faults; the checks must catch each.

use ringmill_hdl::ring::RpauError;

use crate::faults::{FAULTS, Fault};
use crate::faulty::Faulty;
use crate::setup::{hdl, seed};

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
    let numbered = FAULTS.iter().enumerate();
    let missed: Vec<_> = numbered
        .filter(|(at, _)| chosen(*at))
        .map(|(_, fault)| fault)
        .filter(|fault| {
            let caught = caught(fault, seed);
            println!(
                "{} {}: {}",
                fault.0,
                fault.2,
                if caught { "caught" } else { "missed" }
            );
            !caught
        })
        .map(|fault| format!("{}: {}", fault.0, fault.2))
        .collect();
    assert!(missed.is_empty(), "missed: {missed:#?}");
}
