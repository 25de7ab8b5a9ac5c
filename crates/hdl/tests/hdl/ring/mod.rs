// SPDX-License-Identifier: Apache-2.0
//! Tests of the ring machine's RTL against the software and the cycle model.

mod bench;
pub mod faults;
mod full;
mod parts;
mod places;
mod procedures;
mod random;
mod refusals;
mod tables;
mod words;

use crate::common::setup::hdl;
use ringmill_hdl::ring::top;
use ringmill_hdl::{Family, Top};
use ringmill_machines::ring::Description;

/// The modules whose paths the test below holds to the bar of docs/rtl.md, with their default parameters and without
/// the prefix `rm_ring_`.
const LEAVES: [&str; 23] = [
    "decode", "fetch", "link", "turn", "affine", "mode", "table", "send", "group", "pace", "seq",
    "agen", "network", "twiddle", "reduce", "fold", "core", "keys", "narrow", "board", "node",
    "powers", "feed",
];

/// The wrapper contains every module of the ring machine, and the machine lints.
#[test]
#[ignore = "twenty seconds; `make full` runs it"]
fn the_wrapper_lints() {
    let hdl = hdl();
    let inside = hdl.sources().closure("rm_ring_axi").unwrap();
    for module in modules() {
        let is_it = |path: &std::path::Path| path.file_stem().is_some_and(|name| name == module);
        assert!(inside.iter().any(|(path, _)| is_it(path)), "{module}");
    }
    // FuseSoC lints the wrapper with its own parameters (`bus/core.rs`). This machine has RPAUs of several widths, and
    // one that stands in for another.
    let mut d = bench::toy(7, 4, 3);
    let shipped = Description::parse(Description::STORED).unwrap();
    d.stand_in = shipped.stand_in[..1].to_vec();
    (d.stand_in[0].rpau, d.stand_in[0].prime) = (2, 0);
    let top = top(&d, &bench::primes()[..3]).unwrap();
    hdl.lint(&top).unwrap();
}

fn modules() -> impl Iterator<Item = &'static str> {
    hdl()
        .sources()
        .modules()
        .filter(|m| m.starts_with("rm_ring"))
}

/// Every module lints with its default parameters.
#[test]
#[ignore = "one by one; `make full` runs it"]
fn every_module_lints() {
    for module in modules() {
        hdl().lint(&Top::new(module)).unwrap();
    }
}

/// Paths between registers of the leaf modules are within the bar of docs/rtl.md. `$RINGMILL_LEAVES` selects some
/// modules, as in `narrow,agen`.
#[test]
#[ignore = "synthesis; `make full` runs it"]
fn paths_are_within_the_bar() {
    let some = std::env::var("RINGMILL_LEAVES").ok();
    let chosen = |leaf: &&str| {
        let some = some.as_deref().map(|list| list.split(','));
        some.is_none_or(|mut list| list.any(|name| name == *leaf))
    };
    let mut beyond = Vec::new();
    for module in LEAVES.into_iter().filter(|leaf| chosen(leaf)) {
        let top = Top::new(format!("rm_ring_{module}"));
        let paths = hdl().levels(&top, Family::Xcup).unwrap().paths;
        println!("{module}: {paths:?}");
        if !paths.within_bar() {
            beyond.push(module);
        }
    }
    assert!(beyond.is_empty(), "{beyond:?}");
}
