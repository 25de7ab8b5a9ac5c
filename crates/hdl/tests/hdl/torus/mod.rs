// SPDX-License-Identifier: Apache-2.0
//! Tests of the bootstrapping engine, `rm_torus`: it must agree with the software's kernels, bit for bit, and with its
//! cycle model, cycle for cycle.

mod bench;
pub mod coefficients;
pub mod faults;
pub mod pairs;
mod refusals;

use crate::common::setup::{hdl, seed};
use bench::{Key, check, check_run, engine, key_switch, small};
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::torus::top;
use ringmill_hdl::{Family, Top};
use ringmill_machines::torus::{Schedule, Shape, Sizes};

/// Whole bootstraps of one to three ciphertexts, with one bit a step, random keys and exponents, with and without
/// stalls.
#[test]
fn one_bit_a_step() {
    check(hdl(), small(1, 3, 24), seed()).unwrap();
}

/// Bootstraps with two bits a step, on an engine like `torus-fit`: two units, two groups of two ciphertexts.
#[test]
#[ignore = "another engine to build; `make full` runs it"]
fn two_bits_a_step() {
    let sizes = Sizes {
        units: 2,
        ..small(2, 4, 24).sizes()
    };
    check(hdl(), Shape::new(sizes).unwrap(), seed()).unwrap();
}

/// Bootstraps on engines with other numbers of units, butterflies, positions a cycle, levels and ciphertexts.
#[test]
#[ignore = "other engines; `make full` runs it"]
fn engines_of_other_sizes() {
    let base = small(1, 1, 7).sizes();
    let with = |change: &dyn Fn(&mut Sizes)| {
        let mut sizes = base;
        change(&mut sizes);
        if sizes.places > 1 {
            let beats: usize = ((1 << sizes.unroll) - 1) << (sizes.log_n - sizes.log_pos);
            sizes.key_beats = beats.next_power_of_two();
        }
        Shape::new(sizes).unwrap()
    };
    for shape in [
        // An engine whose last step has one bit.
        small(3, 1, 25),
        with(&|s| (s.units, s.log_lanes, s.log_pos, s.places, s.group) = (6, 1, 1, 3, 3)),
        with(&|s| {
            (s.units, s.log_lanes, s.log_pos, s.key_beats) = (2, 5, 4, 2);
            s.switch = key_switch((1, 15), (2, 20, 2));
        }),
        with(&|s| (s.levels, s.log_base, s.units, s.log_lanes, s.unroll) = (2, 10, 4, 3, 3)),
        with(&|s| {
            (s.log_n, s.log_lanes, s.levels, s.units, s.log_base) = (4, 1, 1, 2, 16);
            (s.dim, s.switch) = (40, key_switch((8, 4), (1, 10, 1)));
        }),
        with(&|s| (s.log_n, s.log_lanes, s.levels, s.units, s.unroll) = (11, 5, 4, 2, 2)),
        with(&|s| (s.levels, s.units, s.log_base, s.places, s.unroll) = (8, 4, 4, 2, 2)),
    ] {
        check(hdl(), shape, seed()).unwrap_or_else(|e| panic!("{shape:?}: {e:?}"));
    }
}

/// Bootstraps of the 128-bit set on engines of full size, 96 butterflies and 48 product multipliers, bit for bit and
/// cycle for cycle. The key switch has 15 digits in the paper's base 2, or 8 digits in base 4.
#[test]
#[ignore = "600,000 cycles of 144 multipliers; `make full` runs it"]
fn the_128_bit_set() {
    for (unroll, places, schedule, digits) in [
        (3, 2, Schedule::Coefficients, (1, 15)),
        (1, 2, Schedule::Sums, (1, 15)),
        (2, 1, Schedule::Sums, (2, 8)),
    ] {
        let sizes = Sizes {
            log_n: 10,
            levels: 3,
            log_base: 7,
            dim: 630,
            unroll,
            units: 3,
            log_lanes: 5,
            log_pos: 2,
            places,
            group: if unroll == 1 { 1 } else { places },
            key_beats: (256usize * ((1 << unroll) - 1)).next_power_of_two(),
            switch: key_switch(digits, (8, 20, 2)),
        };
        let key_beats = match schedule {
            Schedule::Sums | Schedule::Pairs => sizes.key_beats,
            Schedule::Coefficients => Shape::two_steps(sizes),
        };
        let shape = Shape::scheduled(Sizes { key_beats, ..sizes }, schedule).unwrap();
        let mut dice = Dice::new(seed());
        let key = Key::new(shape, &mut dice).unwrap();
        let mut engine = engine(hdl(), shape).unwrap();
        let (cycles, switch) = check_run(&mut engine, &key, places, false, &mut dice).unwrap();
        println!(
            "m = {unroll}, {places} ciphertexts, {schedule:?}: {cycles} cycles, switch {digits:?} {switch}"
        );
    }
}

/// All paths that Yosys finds between registers are within the bar of docs/rtl.md.
#[test]
#[ignore = "synthesis; `make full` runs it"]
fn paths_are_within_the_bar() {
    let modules = [
        "seq",
        "ctl",
        "key",
        "twiddle",
        "turn",
        "unit",
        "results",
        "gather",
        "gather_turn",
        "coefs",
    ];
    let mut tops = modules
        .map(|module| Top::new(format!("rm_torus_{module}")))
        .to_vec();
    // Four places put accumulators and evaluations into block RAM.
    for module in ["rm_torus_turn", "rm_torus_unit"] {
        tops.push(Top::new(module).int("Places", 4));
    }
    for top in tops {
        let paths = hdl().levels(&top, Family::Xcup).unwrap().paths;
        println!(
            "{top}: {} levels, {} carry bits",
            paths.levels(),
            paths.carry()
        );
        assert!(paths.within_bar(), "{top}: {paths:?}");
    }
}

/// Whole engines lint, of schedules `Sums` and `Coefficients`.
#[test]
fn whole_engines_lint() {
    for shape in [small(1, 2, 25), small(2, 2, 25), coefficients::toy()] {
        hdl().lint(&top(shape)).unwrap();
    }
}

#[test]
#[ignore = "forty modules; `make full` runs it"]
fn every_module_lints() {
    let modules = hdl().sources().modules();
    for module in modules.filter(|m| m.starts_with("rm_torus")) {
        hdl().lint(&Top::new(module)).unwrap();
    }
}
