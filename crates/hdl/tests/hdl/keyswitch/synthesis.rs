// SPDX-License-Identifier: Apache-2.0
//! Tests of the key-switching unit's lint, its synthesised resources and its longest paths.

use ringmill_hdl::torus::keyswitch::top;
use ringmill_hdl::{Family, Top};
use ringmill_machines::torus::keyswitch::{Digits, Generators, Shape};

use crate::common::setup::hdl;
use crate::keyswitch::bench::shape;

#[test]
fn every_module_lints() {
    for (batch, generators, digits) in [(3, (2, 20, 2), (2, 8)), (1, (1, 2, 1), (5, 3))] {
        hdl().lint(&top(shape(batch, generators, digits))).unwrap();
    }
    let widest = Digits {
        log_base: 1,
        levels: 32,
    };
    let generators = Generators {
        cores: 3,
        rounds: 4,
        steps: 2,
    };
    let shape = Shape::new(128, generators, widest, (65534, 65534)).unwrap();
    hdl().lint(&top(shape)).unwrap();
    let modules = hdl().sources().modules();
    for module in modules.filter(|m| m.starts_with("rm_torus_ks") || m.starts_with("rm_chacha")) {
        hdl().lint(&Top::new(module)).unwrap();
    }
}

/// Parameters outside the unit's ranges fail at elaboration, with a message that names the range.
#[test]
#[ignore = "many elaborations; `make full` runs it"]
fn parameters_out_of_range_fail() {
    for (name, value, says) in [
        ("Batch", 129, "1 to 128"),
        ("Levels", 33, "32 in all"),
        ("MaxLarge", 65535, "65534"),
        ("Rounds", 5, "even"),
        ("Steps", 3, "one or two"),
    ] {
        let outcome = hdl().lint(&Top::new("rm_torus_ks").int(name, value));
        let error = outcome.expect_err(name).to_string();
        assert!(error.contains(says), "{name} = {value}: {error}");
    }
}

/// Units take no DSP block and no block RAM, and their paths are within the bar of docs/rtl.md.
#[test]
#[ignore = "synthesis, minutes; `make full` runs it"]
fn units_are_sums_within_the_bar() {
    let generators = |cores, rounds, steps| Generators {
        cores,
        rounds,
        steps,
    };
    let mut tops = Vec::new();
    for (rounds, steps) in [(20, 1), (20, 2), (2, 2)] {
        let core = Top::new("rm_chacha20")
            .int("StreamWidth", 14)
            .int("CounterWidth", 8);
        tops.push(core.int("Rounds", rounds).int("Steps", steps));
    }
    for (batch, generators, (log_base, levels)) in [
        (1, generators(1, 2, 2), (1, 15)),
        (1, generators(1, 20, 1), (1, 15)),
        // The key switches of the shipped engines.
        (4, generators(14, 20, 2), (1, 15)),
        (8, generators(6, 20, 2), (1, 15)),
        (12, generators(2, 20, 2), (2, 8)),
        (12, generators(1, 20, 2), (4, 4)),
    ] {
        let digits = Digits { log_base, levels };
        tops.push(top(
            Shape::new(batch, generators, digits, (1024, 630)).unwrap()
        ));
    }
    for top in &tops {
        for family in Family::ALL {
            let found = hdl().synthesise_for(top, family).unwrap().resources;
            let paths = hdl().levels(top, family).unwrap().paths;
            println!(
                "{top} {family}: {} LUT, {} as memory, {} FF; {} levels, {} carry bits",
                found.lut,
                found.lut_memory,
                found.ff,
                paths.levels(),
                paths.carry()
            );
            assert_eq!((found.dsp, found.bram18, found.uram), (0, 0, 0), "{top}");
            assert_eq!(found.other, [].into(), "{top} {family}");
            assert!(paths.within_bar(), "{top} {family}: {paths:?}");
        }
    }
}
