// SPDX-License-Identifier: Apache-2.0
//! Tests of paths between registers: their levels, compared with a count by hand, registers in DSP blocks, and the bar
//! of docs/rtl.md for every module. `peers` tests the multipliers that the project's are compared with.

mod peers;

use std::path::Path;
use std::sync::OnceLock;

use ringmill_hdl::leaves::leaves;
use ringmill_hdl::{Effort, Family, Hdl, HdlError, LevelPath, MOST_CARRY, MOST_LEVELS, Part, Top};

/// Returns the project's RTL with the modules of these tests and the multipliers of other designs.
fn hdl() -> &'static Hdl {
    static HDL: OnceLock<Hdl> = OnceLock::new();
    HDL.get_or_init(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (rtl, tests) = (
            here.join("../../rtl"),
            here.join("tests/hdl/timing/modules"),
        );
        let peers = here.join("peers");
        let hdl = Hdl::find(here).unwrap_or_else(|e| panic!("{e}"));
        hdl.with_sources(&[&rtl, &tests, &peers])
            .unwrap_or_else(|e| panic!("{e}"))
    })
}

/// Returns the levels and carry bits of the worst path into a port of `tst_paths`, or `None` if there is none.
fn into(paths: &[LevelPath], port: &str) -> Option<(u32, u32)> {
    let into = paths.iter().filter(|path| path.to.starts_with(port));
    into.map(|path| (path.levels, path.carry)).max()
}

/// Levels and carry bits are those that the header of `tst_paths` counts by hand.
#[test]
fn levels_are_those_of_a_hand_count() {
    let found = hdl()
        .levels(&Top::new("tst_paths"), Family::Xc7)
        .unwrap_or_else(|e| panic!("{e}"))
        .paths;
    assert!(found.within_bar(), "{found:?}");
    let (levels, carry) = (&found.by_levels, &found.by_carry);
    assert_eq!(into(levels, "chain_o"), Some((3, 0)), "{levels:?}");
    assert_eq!(into(carry, "sum_o"), Some((1, 11)), "{carry:?}");
    assert_eq!(into(carry, "two_o"), Some((2, 11)), "{carry:?}");
    assert_eq!(into(carry, "sign_o"), Some((2, 23)), "{carry:?}");
    assert_eq!(into(levels, "ram_o"), Some((4, 0)), "{levels:?}");
    // The registers around the product are inside the DSP block.
    let product = levels.iter().find(|path| path.to.contains("register"));
    assert_eq!(product.map(|p| p.levels), Some(2), "{levels:?}");
}

/// A modular adder between registers has three levels: a sum, a difference of 33 bits whose bits follow those of the
/// sum, and a choice.
#[test]
#[ignore = "synthesis; `make full` runs it"]
fn a_modular_adder_is_three_levels_and_a_carry() {
    for family in Family::ALL {
        let top = Top::new("rm_mod_add").int("Width", 32);
        let found = hdl().levels(&top, family).unwrap().paths;
        assert_eq!((found.levels(), found.endpoints), (3, 32), "{found:?}");
        assert!((32..=34).contains(&found.carry()), "{found:?}");
    }
}

/// A modular adder of 72 bits is beyond the bar: the sign of a difference, behind as many carries, chooses every bit of
/// the result.
#[test]
#[ignore = "synthesis; `make full` runs it"]
fn what_is_too_long_is_counted() {
    let top = Top::new("rm_mod_add").int("Width", 72);
    let found = hdl().levels(&top, Family::Xc7).unwrap().paths;
    assert_eq!((found.carry(), found.beyond), (73, 72), "{found:?}");
    assert!(!found.within_bar());
}

/// In a multiplier of four tiles, the registers of operands and products go into the DSP blocks of both Lattice parts.
#[test]
#[ignore = "synthesis for two families; `make full` runs it"]
fn registers_go_into_lattice_blocks() {
    let top = Top::new("rm_mul_tiled").int("InReg", 1);
    for part in Part::ALL {
        let found = hdl()
            .place_on(&top, part, Effort::default())
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((found.dsp, found.absorbed), (4, 8), "{part:?}: {found:?}");
        assert!((60.0..600.0).contains(&found.mhz), "{part:?}: {found:?}");
    }
}

#[test]
#[ignore = "synthesis; `make full` runs it"]
fn what_a_part_cannot_hold_is_told_apart() {
    let large = Top::new("rm_ram_1r1w")
        .int("Width", 18)
        .int("Depth", 1 << 17)
        .text("Style", "block");
    for top in [large, Top::new("rm_ram_2rw")] {
        match hdl().place_on(&top, Part::Nexus, Effort::default()) {
            Err(error @ HdlError::Misfit { .. }) => {
                assert!(error.to_string().contains("LIFCL-40"), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Returns the tops with paths beyond the bar on one of these families, each with its worst path.
fn beyond_bar(tops: &[Top], families: &[Family]) -> Vec<String> {
    let mut beyond = Vec::new();
    for top in tops {
        for &family in families {
            let paths = hdl()
                .levels(top, family)
                .unwrap_or_else(|e| panic!("{e}"))
                .paths;
            println!(
                "{top} {family}: {} levels, {} carry bits",
                paths.levels(),
                paths.carry()
            );
            if !paths.within_bar() {
                let worst = (paths.by_levels.first(), paths.by_carry.first());
                beyond.push(format!(
                    "{top} {family}: {} of {} beyond {MOST_LEVELS} levels or {MOST_CARRY} carry bits: {worst:?}",
                    paths.beyond, paths.endpoints
                ));
            }
        }
    }
    beyond
}

/// The control of `polymul` and the shell are within the bar. The tests of `polymul` check a machine of four units.
#[test]
#[ignore = "synthesises what steers the machine; `make full` runs it"]
fn control_meets_the_bar() {
    let tops = ["rm_polymul_seq", "rm_polymul_cmd", "rm_shell"].map(Top::new);
    let beyond = beyond_bar(&tops, &[Family::Xcup]);
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

/// Every module of the RTL, leaf modules in every configuration that the machines use, is within the bar, and so is
/// `polymul` in its shell. The ring machine has a test of its own.
#[test]
#[ignore = "synthesises every module for two families, half an hour; `make full` runs it"]
fn every_module_meets_the_bar() {
    let mut tops: Vec<Top> = leaves().into_iter().map(|leaf| leaf.top).collect();
    let given: Vec<String> = tops.iter().map(|top| top.module.clone()).collect();
    // A read-only memory depends on its table, and the whole machine comes last.
    let rest = hdl().sources().modules().filter(|module| {
        module.starts_with("rm_")
            && !module.starts_with("rm_ring")
            && !["rm_rom", "rm_polymul", "rm_polymul_axi"].contains(module)
            && !given.iter().any(|g| g == module)
    });
    tops.extend(rest.map(Top::new));
    let machine = |units| Top::new("rm_polymul_axi").int("Units", units);
    tops.extend([4, 32].map(|units| machine(units).int("MaxLogN", 12).int("Beat", 4)));
    let beyond = beyond_bar(&tops, &Family::ALL);
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}
