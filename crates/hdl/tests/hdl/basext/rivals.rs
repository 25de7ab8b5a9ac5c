// SPDX-License-Identifier: Apache-2.0
//! Tests of the other architectures of base extension: `rm_basext_pipelined`, `rm_basext_rowers` (Cox-Rower and mixed
//! radix) and `rm_basext_radix`. They pass the folded unit's checks, and their netlists have the multipliers that the
//! models say.

use ringmill_hdl::basext::top_of;
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{Family, Top};
use ringmill_machines::basext::rowers::Algorithm;
use ringmill_machines::basext::{Arithmetic, Extension, RADIX_MAX_L, Radix, Shape, Unit, Word};

use crate::basext::bench::{Bases, Case, Order, check, check_large};
use crate::basext::small;
use crate::common::setup::{hdl, seed};

pub fn units(shape: Shape) -> [Unit; 4] {
    [
        Unit::Pipelined(shape),
        Unit::Rowers(Algorithm::CoxRower, shape),
        Unit::Rowers(Algorithm::MixedRadix, shape),
        Radix::new(shape).unwrap().into(),
    ]
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

/// Returns cases of different l and k, either being the larger, l = 1, k = 1, and the largest l (`most`) with k = 3.
/// They have several polynomials in a command, every order of coefficients, and stalls.
fn cases(most: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for (l, k, polynomials, order) in [
        (3, 2, 2, Order::Natural),
        (1, 1, 2, Order::Reversed),
        (most, 1, 1, Order::Random),
        (1, 3, 3, Order::Natural),
        (most, 3, 2, Order::Random),
    ] {
        for stalls in [false, true] {
            cases.push(case(l, k, polynomials, order, stalls));
        }
    }
    cases.push(Case {
        log_n: 9,
        ..case(2, 3, 1, Order::Reversed, false)
    });
    cases
}

#[test]
#[ignore = "a model for each architecture; `make full` runs it"]
fn every_architecture_extends() {
    // A shape that is built quickly.
    let shape = Shape::new(Word::Bits32, 2, 8..=9, 3, 3).unwrap();
    for unit in units(shape) {
        check(hdl(), unit, &cases(3), seed()).unwrap();
    }
}

#[test]
#[ignore = "the other words and lanes; `make full` runs it"]
fn every_architecture_extends_with_every_word_and_lane() {
    for (word, lanes) in crate::basext::SMALL {
        for unit in units(small(word, lanes)) {
            check(hdl(), unit, &cases(5), seed()).unwrap();
        }
    }
}

/// Every architecture works with memories so deep that `rm_basext_ram` divides them and reads them a cycle earlier.
#[test]
#[ignore = "larger rings; `make full` runs it"]
fn deep_memories_of_every_architecture() {
    let shape = Shape::new(Word::Bits32, 1, 8..=14, 3, 3).unwrap();
    for unit in units(shape) {
        check(hdl(), unit, &cases(3), seed()).unwrap();
    }
}

/// Every architecture takes shapes with more targets than sources, and polynomials of 16, four and eight beats, the
/// fewest there are.
#[test]
#[ignore = "wide units; `make full` runs it"]
fn every_architecture_takes_short_polynomials() {
    for (word, lanes) in [(Word::Bits32, 16), (Word::Bits32, 64), (Word::Bits64, 32)] {
        let shape = Shape::new(word, lanes, 8..=8, 2, 3).unwrap();
        for unit in units(shape) {
            let cases = [
                case(2, 3, 2, Order::Natural, false),
                case(1, 1, 2, Order::Natural, false),
                case(1, 2, 1, Order::Natural, false),
                case(2, 3, 2, Order::Natural, true),
            ];
            check(hdl(), unit, &cases, seed()).unwrap();
        }
    }
}

/// Pipelined mixed radix works if its smallest ring is larger: the reduction takes other words, and every stage has
/// another latency.
#[test]
#[ignore = "larger rings; `make full` runs it"]
fn pipelined_mixed_radix_of_every_least_ring() {
    for word in [Word::Bits32, Word::Bits64] {
        for log_n in 8..=16 {
            let shape = Shape::new(word, 4, log_n..=log_n, 2, 1).unwrap();
            let case = Case {
                log_n,
                ..case(2, 1, 1, Order::Natural, false)
            };
            check(hdl(), Radix::new(shape).unwrap(), &[case], seed()).unwrap();
        }
    }
}

/// The cycles are those of Table 4.6 of Kırbıyık's thesis, which has as many targets as sources, l, up to the transfers
/// and at most 64 cycles of latency. With B = N / lanes beats in a polynomial, the pipelined unit takes (l + 1) l B
/// cycles. Cox-Rower takes (l + 1) N, mixed radix on rowers (2 l - 1) N, and both 2 l B more for the residues in and
/// out. Pipelined mixed radix takes l N, and l B more for the residues in.
#[test]
#[ignore = "the paper's sizes; `make full` runs it"]
fn iterations_of_the_papers_columns() {
    for (log_n, lanes, l) in [(14, 32, 7), (12, 64, 4)] {
        let shape = Shape::new(Word::Bits32, lanes, log_n..=log_n, l, l).unwrap();
        let case = Case {
            log_n,
            ..case(l, l, 1, Order::Natural, false)
        };
        let (l, n, beats) = (l as u64, 1u64 << log_n, shape.beats(log_n));
        for unit in units(shape) {
            let cycles = check_large(hdl(), unit, &[case], seed()).unwrap();
            let (most, fill) = match unit {
                Unit::Rowers(Algorithm::CoxRower, _) => ((l + 1) * n + 2 * l * beats, 64),
                Unit::Rowers(Algorithm::MixedRadix, _) => ((2 * l - 1) * n + 2 * l * beats, 64),
                Unit::Radix(_) => (l * n + l * beats, 64),
                Unit::Folded(_) | Unit::Shared(_) | Unit::Pipelined(_) => ((l + 1) * l * beats, 64),
            };
            println!("log N {log_n} TP {lanes} l = k = {l} {unit:?}: {cycles} cycles");
            assert!((most..most + fill).contains(&cycles), "{unit:?}: {cycles}");
        }
    }
}

/// Of every architecture, the elaborated design has as many multipliers and adders as its model says, and a load has as
/// many constants.
#[test]
fn multipliers_and_adders_are_those_of_the_models() {
    for lanes in [1, 4] {
        let shape = small(Word::Bits64, lanes);
        let shared = crate::basext::shared::small(Word::Bits64, lanes, 3);
        for unit in units(shape)
            .into_iter()
            .chain([shape.into(), shared.into()])
        {
            let found = hdl().instances(&top_of(unit)).unwrap();
            let of = |module: &str| found.get(module).copied().unwrap_or(0);
            let counted = Arithmetic {
                multipliers: of("rm_wide_mul"),
                modular_adders: of("rm_mod_add") + of("rm_mod_sub"),
                adders: of("rm_basext_cox"),
            };
            assert_eq!(counted, unit.arithmetic(), "{unit:?}");
            for (l, k) in [(1, 1), (5, 2), (3, 3)] {
                let bases = Bases::of(unit, l, k, &mut Dice::new(1));
                let (sources, m) = (&bases.sources, Some(bases.redundant));
                let words = unit.constants(sources, m, &bases.targets).unwrap();
                let m = usize::from(unit.takes_redundant(Extension::Exact));
                let moduli = l + k + m;
                assert_eq!(words.words().len() - moduli, unit.stored(l, k), "{unit:?}");
            }
        }
    }
}

#[test]
fn the_other_architectures_lint() {
    let one = Shape::new(Word::Bits64, 1, 16..=16, 1, 1).unwrap();
    for shape in [small(Word::Bits32, 4), one] {
        for unit in units(shape) {
            hdl().lint(&top_of(unit)).unwrap();
        }
    }
}

#[test]
#[ignore = "many elaborations; `make full` runs it"]
fn parameters_out_of_range_fail_too() {
    let refused = |module: &str, name: &str, value: u64, said: &str| {
        let top = Top::new(module).int("Width", 32).int(name, value);
        let error = hdl().lint(&top).expect_err(module).to_string();
        assert!(error.contains(said), "{module} {name} = {value}: {error}");
    };
    for module in ["rm_basext_pipelined", "rm_basext_rowers", "rm_basext_radix"] {
        refused(module, "Lanes", 3, "log N 8 to 16");
    }
    let beyond = RADIX_MAX_L as u64 + 1;
    refused("rm_basext_radix", "MaxL", beyond, "l up to 17");
}

/// Of every architecture, synthesis finds as many multipliers as its model says, of 5 DSP blocks for the 32-bit word
/// and 20 for the 64-bit word. All paths are within the bar of docs/rtl.md.
#[test]
#[ignore = "synthesis; `make full` runs it"]
fn multipliers_of_every_architecture_are_counted() {
    for (word, lanes, blocks) in [
        (Word::Bits32, 1, 5),
        (Word::Bits32, 4, 5),
        (Word::Bits64, 1, 20),
    ] {
        let shape = Shape::new(word, lanes, 8..=12, 4, 2).unwrap();
        for unit in units(shape) {
            let top = top_of(unit);
            let multipliers = unit.arithmetic().multipliers;
            for family in Family::ALL {
                let found = hdl().synthesise_for(&top, family).unwrap();
                let dsp = found.resources.dsp;
                assert_eq!(dsp, blocks * multipliers, "{unit:?} {family}");
                assert_eq!(found.resources.other, [].into(), "{unit:?} {family}");
                let paths = hdl().levels(&top, family).unwrap().paths;
                assert!(paths.within_bar(), "{unit:?} {family}: {paths:?}");
            }
        }
    }
}
