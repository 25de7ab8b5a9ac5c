// SPDX-License-Identifier: Apache-2.0
//! Tests of the area that Montgomery-friendly moduli save in standard cells (the paper's Table 4), and of the bar of
//! docs/rtl.md for every leaf module.

use std::path::Path;

use ringmill_hdl::vector::{comparisons, saved_percent, whole_multipliers};
use ringmill_hdl::{Family, Hdl, MOST_CARRY, MOST_LEVELS, Top};

use crate::common::setup::hdl;

/// Returns by how many percent a module for Montgomery-friendly moduli is smaller than a generic one. The first number
/// is for a generic one of as many stages, the second for one of stages as short.
fn saved(what: &str) -> (f64, f64) {
    let comparison = comparisons().into_iter().find(|c| c.what == what).unwrap();
    let [ours, generic, deep] = [comparison.friendly, comparison.generic, comparison.deep]
        .map(|top| hdl().area(&top).unwrap_or_else(|e| panic!("{e}")).area);
    println!("{what}: {ours} um^2, generic {generic}, deep {deep}");
    (saved_percent(ours, generic), saved_percent(ours, deep))
}

#[test]
#[ignore = "synthesises eleven modules, a minute; `make full` runs it"]
fn friendly_moduli_save_what_is_said() {
    let (reduction, multiplier, butterfly) =
        (saved("reduction"), saved("multiplier"), saved("butterfly"));
    println!("{reduction:?} {multiplier:?} {butterfly:?}");
    let [friendly, generic] = whole_multipliers().map(|top| hdl().area(&top).unwrap().area);
    let whole = saved_percent(friendly, generic);
    println!("first product in one: {friendly} um^2, generic {generic}: {whole}");
    assert!(whole > 35.0, "{whole}");
    assert!(reduction.0 > 55.0 && reduction.1 > 60.0, "{reduction:?}");
    assert!(multiplier.0 > 33.0 && multiplier.1 > 35.0, "{multiplier:?}");
    assert!(butterfly.0 > 30.0 && butterfly.1 > 35.0, "{butterfly:?}");
}

/// Returns the project's RTL with the modules of these tests.
fn with_modules() -> Hdl {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (rtl, modules) = (
        here.join("../../rtl"),
        here.join("tests/hdl/vector/modules"),
    );
    let sources = hdl().with_sources(&[&rtl, &modules]);
    sources.unwrap_or_else(|e| panic!("{e}"))
}

/// The control of the paper's machine, from the queue to the units and back in one cycle, takes at most one level more
/// than the bar of docs/rtl.md. The bar is for a module; these paths go through several.
#[test]
#[ignore = "a minute of synthesis; `make full` runs it"]
fn what_decides_takes_nine_levels_across_modules() {
    let hdl = with_modules();
    for family in Family::ALL {
        let found = hdl.levels(&Top::new("tst_vector_plane"), family).unwrap();
        let (levels, carry) = (found.paths.levels(), found.paths.carry());
        println!("{family}: {levels} levels, {carry} carry");
        assert!(
            levels <= MOST_LEVELS + 1 && carry <= MOST_CARRY,
            "{:#?}",
            found.paths
        );
    }
}

/// Every leaf module has at most 8 levels and 64 carry bits between the registers of one rank and the next, whatever
/// the enables are. Modules are as wide as quick synthesis allows.
#[test]
#[ignore = "synthesises every leaf, minutes; `make full` runs it"]
fn every_leaf_meets_the_bar() {
    let of = |module: &str| Top::new(format!("rm_vector_{module}"));
    let tops = [
        of("mul"),
        of("butterfly"),
        of("pipe").int("Stages", 66),
        of("ways").int("LogRadix", 8),
        of("net").int("LogLanes", 6).int("Width", 1),
        of("turn").int("LogLanes", 8),
        of("mac").int("Lanes", 1),
        of("ntt").int("LogRadix", 2),
        of("factory").int("LogRadix", 2),
        of("seed").int("LogLow", 4).int("LogHigh", 4),
        of("control"),
        of("board"),
        of("queue").int("Depth", 1024),
        of("moduli").int("Moduli", 64),
        of("ctb").int("LogRows", 3).int("LogSpan", 2),
        of("read").int("LogLanes", 5).int("Width", 1),
        of("write").int("LogLanes", 5).int("Width", 1),
        of("factors"),
        of("load").int("Words", 1),
        of("store").int("Words", 1),
        of("cross"),
        of("transform"),
    ];
    let mut beyond = Vec::new();
    for top in tops {
        for family in Family::ALL {
            let paths = hdl().levels(&top, family).unwrap().paths;
            println!(
                "{top} {family}: {} levels, {} carry",
                paths.levels(),
                paths.carry()
            );
            if !paths.within_bar() {
                beyond.push(format!("{top} {family}: {paths:?}"));
            }
        }
    }
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}
