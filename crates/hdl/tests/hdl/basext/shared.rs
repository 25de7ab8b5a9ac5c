// SPDX-License-Identifier: Apache-2.0
//! Tests of the shared base-extension unit, `rm_basext_shared`: the folded unit's checks, and those of batches, rounds,
//! and several polynomials in a command.

use std::num::NonZeroU64;

use ringmill_hdl::basext::top_of;
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{Family, Optimise, Top};
use ringmill_machines::basext::{
    Constants, Extension, Rate, Shape, Shared, Word, golden, load_cycles_through,
};

use crate::basext::bench::{Bases, Case, Order, check, check_large, integers, limbs};
use crate::common::setup::{hdl, seed};

pub fn small(word: Word, lanes: usize, batch: usize) -> Shared {
    Shared::new(crate::basext::small(word, lanes), batch).unwrap()
}

pub fn case(l: usize, k: usize, polynomials: u64, order: Order, stalls: bool) -> Case {
    Case {
        l,
        k,
        log_n: 8,
        order,
        stalls,
        polynomials,
    }
}

/// Returns cases of different l and k, with l = 1, k = 1, and the largest of both. Their rounds have one target, a part
/// of a batch, or a whole batch. They have every order of coefficients, and stalls.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (l, k, polynomials, order) in [
        (3, 2, 2, Order::Natural),
        (1, 1, 3, Order::Reversed),
        (5, 1, 2, Order::Random),
        (1, 3, 2, Order::Natural),
        (2, 3, 2, Order::Natural),
        (5, 3, 3, Order::Random),
    ] {
        for stalls in [false, true] {
            cases.push(case(l, k, polynomials, order, stalls));
        }
    }
    cases.push(Case {
        log_n: 9,
        ..case(4, 3, 1, Order::Reversed, false)
    });
    cases
}

#[test]
fn batches_with_and_without_stalls() {
    check(hdl(), small(Word::Bits32, 4, 2), &cases(), seed()).unwrap();
}

/// Returns a unit with memories so deep that `rm_basext_ram` divides them and reads them a cycle earlier.
pub fn deep() -> Shared {
    let shape = Shape::new(Word::Bits32, 1, 8..=14, 5, 5).unwrap();
    Shared::new(shape, 5).unwrap()
}

#[test]
#[ignore = "a long build; `make full` runs it"]
fn deep_memories_of_the_shared_unit() {
    let cases = [
        case(5, 5, 3, Order::Random, true),
        case(3, 2, 2, Order::Natural, false),
    ];
    check(hdl(), deep(), &cases, seed()).unwrap();
}

#[test]
#[ignore = "the other units; `make full` runs it"]
fn every_word_lane_and_batch() {
    for (word, lanes) in crate::basext::SMALL {
        for batch in 1..=3 {
            check(hdl(), small(word, lanes, batch), &cases(), seed()).unwrap();
        }
    }
}

/// Rows of 16, eight and four beats work, fewer than the pipelines are deep.
#[test]
#[ignore = "wide units; `make full` runs it"]
fn rows_shorter_than_the_pipeline() {
    for (word, lanes) in [(Word::Bits32, 16), (Word::Bits32, 64), (Word::Bits64, 32)] {
        let shape = Shape::new(word, lanes, 8..=8, 3, 2).unwrap();
        let unit = Shared::new(shape, 2).unwrap();
        let cases = [
            case(3, 2, 2, Order::Natural, false),
            case(1, 1, 1, Order::Natural, false),
            case(2, 2, 2, Order::Natural, true),
        ];
        check(hdl(), unit, &cases, seed()).unwrap();
    }
}

/// The multiplier-cycles that the RTL takes for a stream of polynomials are at most 1.15 times the modular products
/// that the extension needs. Rings and numbers of sources are those of Tables 4.8 and 4.9 of Kırbıyık's thesis, with as
/// many targets as sources.
#[test]
#[ignore = "the paper's sizes; `make full` runs it"]
fn multiplier_cycles_of_the_papers_rows() {
    for (log_n, l, word, lanes, batch, polynomials) in [
        (14, 7, Word::Bits32, 2, 7, 8),
        (14, 7, Word::Bits64, 1, 7, 8),
        (12, 30, Word::Bits32, 1, 15, 4),
        (12, 30, Word::Bits64, 1, 10, 6),
    ] {
        let shape = Shape::new(word, lanes, log_n..=log_n, l, l).unwrap();
        let unit = Shared::new(shape, batch).unwrap();
        let case = Case {
            log_n,
            ..case(l, l, polynomials, Order::Natural, false)
        };
        let cycles = check_large(hdl(), unit, &[case], seed()).unwrap();
        let products = (polynomials << log_n) as f64 * l as f64;
        let each = (unit.multipliers() * cycles) as f64 / products;
        let (_, floor) = unit.multiplier_cycles(l, l, polynomials);
        println!(
            "log N {log_n} l = k = {l} {word:?} TP {lanes} batch {batch}: {cycles} cycles for {polynomials} polynomials, {each:.2} multiplier-cycles a target coefficient, floor {floor:.2}"
        );
        assert!(each <= 1.15 * floor, "{unit:?}: {each} of {floor}");
    }
}

#[test]
fn batches_out_of_range_fail() {
    for (l, k, batch) in [(5, 3, 4), (2, 3, 3)] {
        let top = Top::new("rm_basext_shared").int("Width", 32);
        let top = top.int("MaxL", l).int("MaxK", k).int("Batch", batch);
        let error = hdl().lint(&top).expect_err("a batch").to_string();
        let said = error.contains("a batch of no more targets");
        assert!(said, "l {l}, k {k}, batch {batch}: {error}");
    }
}

#[test]
fn the_shared_unit_lints() {
    let one = Shape::new(Word::Bits64, 1, 16..=16, 1, 1).unwrap();
    let whole = Shape::new(Word::Bits32, 2, 8..=12, 7, 7).unwrap();
    for unit in [
        small(Word::Bits32, 4, 2),
        Shared::new(one, 1).unwrap(),
        Shared::new(whole, 7).unwrap(),
    ] {
        hdl().lint(&top_of(unit.into())).unwrap();
    }
}

/// Synthesis finds Batch + 2 multipliers a lane, of 5 DSP blocks for the 32-bit word and 20 for the 64-bit word. All
/// paths are within the bar of docs/rtl.md.
#[test]
#[ignore = "synthesis; `make full` runs it"]
fn multipliers_are_counted() {
    for (word, lanes, batch, blocks) in [
        (Word::Bits32, 1, 4, 5),
        (Word::Bits32, 2, 2, 5),
        (Word::Bits64, 1, 2, 20),
        (Word::Bits64, 2, 1, 20),
    ] {
        let shape = Shape::new(word, lanes, 8..=12, 4, 4).unwrap();
        let unit = Shared::new(shape, batch).unwrap();
        let top = top_of(unit.into());
        for family in Family::ALL {
            let found = hdl().synthesise_for(&top, family).unwrap();
            assert_eq!(
                found.resources.dsp,
                blocks * unit.multipliers(),
                "{unit:?} {family}"
            );
            assert_eq!(found.resources.other, [].into(), "{unit:?} {family}");
            let paths = hdl().levels(&top, family).unwrap().paths;
            assert!(paths.within_bar(), "{unit:?} {family}: {paths:?}");
        }
    }
}

/// Compares area times time with the rows of one lane that Kırbıyık's thesis prints, where memories weigh most. The
/// time is that for one target of a stream of polynomials. The area is by the thesis's formula, and the clock is the
/// same for both. The unit's product is at most half of the printed one, except for N = 2^16. There l = k = 17 targets
/// need 34 memories of N words in any unit, and these alone are half of the printed product.
#[test]
#[ignore = "synthesis; `make full` runs it"]
fn area_times_time_is_half_of_the_printed() {
    // `printed` is the area LUT + FF / 2 + 100 DSP + 300 BRAM of Tables 4.7 to 4.9.
    for (log_n, word, l, batch, printed, most) in [
        (14, Word::Bits32, 7, 7, 19_500.0, 0.5),
        (14, Word::Bits64, 7, 7, 46_200.0, 0.5),
        (12, Word::Bits32, 30, 15, 12_050.0, 0.5),
        (16, Word::Bits32, 17, 17, 64_300.0, 0.54),
    ] {
        let shape = Shape::new(word, 1, log_n..=log_n, l, l).unwrap();
        let unit = Shared::new(shape, batch).unwrap();
        let found = hdl().synthesise_for(&top_of(unit.into()), Family::Xcup);
        let found = found.unwrap().resources;
        let luts = (found.lut + found.lut_memory) as f64;
        let blocks = found.bram18 as f64 / 2.0 + 8.0 * found.uram as f64;
        let area = luts + found.ff as f64 / 2.0 + 100.0 * found.dsp as f64 + 300.0 * blocks;
        let rows = unit.rows(Extension::Exact, l, l, 1000) as f64 / 1000.0;
        let ratio = area * rows / l as f64 / (printed * (l + 2) as f64);
        println!(
            "log N {log_n} {word:?} l = k = {l}: {found:?}: area {area}, {ratio:.3} of the printed area-time product"
        );
        assert!(ratio <= most, "log N {log_n} {word:?}: {ratio}");
    }
}

#[test]
fn the_models_cycles_behind_a_memory_port() {
    check_behind_a_port(small(Word::Bits32, 4, 2));
}

#[test]
#[ignore = "the wide word; `make full` runs it"]
fn the_models_cycles_behind_a_memory_port_with_the_wide_word() {
    check_behind_a_port(small(Word::Bits64, 1, 3));
}

/// Checks a unit whose streams share one memory port, at rates that stall reads, writes or neither. Cycles must be
/// those of the model, and residues those of the golden model.
fn check_behind_a_port(unit: Shared) {
    let rates = [(9, 8), (1, 1), (5, 8), (2, 1)].map(|(gain, beat)| Rate::new(gain, beat));
    let mut rng = Dice::new(seed());
    let mut extender = crate::basext::bench::unit(hdl(), unit, Optimise::default()).unwrap();
    let mut stalled = 0;
    for (at, case) in cases().iter().filter(|case| !case.stalls).enumerate() {
        let rate = rates[at % rates.len()];
        extender.behind(Some(rate));
        let bases = Bases::of(unit.into(), case.l, case.k, &mut rng);
        let redundant = Some(bases.redundant);
        let constants = Constants::shared(unit, &bases.sources, redundant, &bases.targets);
        let constants = constants.unwrap();
        let loaded = extender.load(&constants).unwrap();
        assert_eq!(loaded, load_cycles_through(rate, constants.words().len()));
        let mut moduli = bases.sources.moduli().to_vec();
        for extension in [Extension::Fast, Extension::Exact] {
            if extension == Extension::Exact {
                moduli.push(bases.redundant);
            }
            let values = (0..case.polynomials).map(|_| integers(&bases, 1 << case.log_n, &mut rng));
            let given: Vec<_> = values.map(|values| limbs(&values, &moduli)).collect();
            let given: Vec<Vec<&[u64]>> = given
                .iter()
                .map(|limbs| limbs.iter().map(Vec::as_slice).collect())
                .collect();
            let (got, taken) = extender.extend_all(extension, &given).unwrap();
            let golden = |given: &Vec<&[u64]>| {
                golden(&bases.sources, redundant, &bases.targets, extension, given).unwrap()
            };
            let want: Vec<_> = given.iter().flat_map(golden).collect();
            assert!(got == want, "{unit:?} {case:?} {extension:?} {rate:?}");
            let (bases, degree, polynomials) = ((case.l, case.k), case.log_n, case.polynomials);
            let together = NonZeroU64::new(polynomials).unwrap();
            let model = unit.cycles_through(rate, extension, bases, degree, together);
            assert_eq!(taken, model, "{unit:?} {case:?} {extension:?} {rate:?}");
            let alone = unit.cycles(extension, case.l, case.k, degree, polynomials);
            stalled += u32::from(taken > alone);
        }
    }
    assert!(stalled > 3, "{unit:?}: {stalled} commands stalled");
}
