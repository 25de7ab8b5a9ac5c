// SPDX-License-Identifier: Apache-2.0
//! Tests of the base-extension units. Their residues must be those of big integers and of the golden extension, bit for
//! bit, and their cycles those of the cycle models.

mod bench;
pub mod faults;
mod refusals;
pub mod rival_faults;
mod rivals;
mod shared;

use crate::common::setup::{hdl, seed};
use bench::{Case, Order, check, check_large};
use ringmill_hdl::basext::top;
use ringmill_hdl::{Family, Top};
use ringmill_machines::basext::{Shape, Word};

pub const SMALL: [(Word, usize); 4] = [
    (Word::Bits32, 1),
    (Word::Bits32, 4),
    (Word::Bits64, 1),
    (Word::Bits64, 4),
];

pub fn small(word: Word, lanes: usize) -> Shape {
    Shape::new(word, lanes, 8..=9, 5, 3).unwrap()
}

/// Units of both word sizes, with four lanes and with one, extend with different l and k. The cases have l = 1, k = 1,
/// the largest l and k, every order of coefficients, and stalls.
#[test]
fn extensions_with_and_without_stalls() {
    extensions(&[(Word::Bits32, 4), (Word::Bits64, 1)]);
}

#[test]
#[ignore = "the other units; `make full` runs it"]
fn extensions_of_every_word_and_lane() {
    extensions(&SMALL);
}

fn extensions(units: &[(Word, usize)]) {
    for &(word, lanes) in units {
        let mut cases = Vec::new();
        for (l, k, log_n, order) in [
            (3, 2, 8, Order::Natural),
            (1, 1, 8, Order::Reversed),
            (5, 1, 9, Order::Random),
            (1, 3, 8, Order::Natural),
            (5, 3, 8, Order::Random),
        ] {
            for stalls in [false, true] {
                cases.push(Case {
                    l,
                    k,
                    log_n,
                    order,
                    stalls,
                    polynomials: 1,
                });
            }
        }
        check(hdl(), small(word, lanes), &cases, seed()).unwrap();
    }
}

/// Short and long polynomials work with memories so deep that `rm_basext_ram` divides them and reads them a cycle
/// earlier.
#[test]
#[ignore = "a long build; `make full` runs it"]
fn deep_memories() {
    deep(Word::Bits32);
}

#[test]
#[ignore = "the wide word; `make full` runs it"]
fn deep_memories_of_wide_words() {
    deep(Word::Bits64);
}

fn deep(word: Word) {
    let shape = Shape::new(word, 1, 8..=14, 3, 2).unwrap();
    let case = |log_n, stalls| Case {
        l: 3,
        k: 2,
        log_n,
        order: Order::Random,
        stalls,
        polynomials: 1,
    };
    let cases = [(8, false), (8, true), (13, false)].map(|(log_n, stalls)| case(log_n, stalls));
    check(hdl(), shape, &cases, seed()).unwrap();
}

/// Polynomials of 16 beats work, fewer than the pipelines are deep.
#[test]
#[ignore = "a wide unit; `make full` runs it"]
fn polynomials_shorter_than_the_pipeline() {
    shortest(&[(Word::Bits32, 16)]);
}

/// Polynomials of four and of eight beats work, the fewest of any unit of these word sizes.
#[test]
#[ignore = "the widest units; `make full` runs it"]
fn shortest_polynomials() {
    shortest(&[(Word::Bits32, 64), (Word::Bits64, 32)]);
}

fn shortest(units: &[(Word, usize)]) {
    for &(word, lanes) in units {
        let shape = Shape::new(word, lanes, 8..=8, 3, 2).unwrap();
        let case = |l, k, stalls| Case {
            l,
            k,
            log_n: 8,
            order: Order::Natural,
            stalls,
            polynomials: 1,
        };
        let cases = [case(3, 2, false), case(1, 1, false), case(2, 2, true)];
        check(hdl(), shape, &cases, seed()).unwrap();
    }
}

/// Units whose smallest ring is larger work: their reduction takes other words, with another latency.
#[test]
#[ignore = "larger rings; `make full` runs it"]
fn every_least_ring() {
    for word in [Word::Bits32, Word::Bits64] {
        for log_n in 8..=16 {
            let shape = Shape::new(word, 16, log_n..=log_n, 2, 1).unwrap();
            let case = Case {
                l: 2,
                k: 1,
                log_n,
                order: Order::Natural,
                stalls: false,
                polynomials: 1,
            };
            check(hdl(), shape, &[case], seed()).unwrap();
        }
    }
}

/// Units of all rows of Tables 4.7 to 4.9 of Kırbıyık's thesis work, with one target each as there. The test prints
/// their cycles.
#[test]
#[ignore = "the paper's sizes; `make full` runs it"]
fn the_papers_rows() {
    for (log_n, l) in [(16, 17), (14, 7), (12, 30)] {
        for (word, lanes) in [(Word::Bits32, [1, 16, 64]), (Word::Bits64, [1, 8, 32])] {
            for lanes in lanes {
                let shape = Shape::new(word, lanes, log_n..=log_n, l, 1).unwrap();
                let case = Case {
                    l,
                    k: 1,
                    log_n,
                    order: Order::Natural,
                    stalls: false,
                    polynomials: 1,
                };
                // Units of few lanes take long to run, and those of many lanes long to build.
                let checked = if lanes < 8 { check_large } else { check };
                let cycles = checked(hdl(), shape, &[case], seed()).unwrap();
                println!(
                    "log N {log_n} l {l} {word:?} TP {lanes}: {cycles} cycles, {} by (l + 2) N / TP",
                    (l as u64 + 2) * shape.beats(log_n)
                );
            }
        }
    }
}

#[test]
#[ignore = "one by one; `make full` runs it"]
fn every_module_lints() {
    let one = Shape::new(Word::Bits64, 1, 16..=16, 1, 1).unwrap();
    for shape in [small(Word::Bits32, 4), one] {
        hdl().lint(&top(shape)).unwrap();
    }
    let modules = hdl().sources().modules();
    for module in modules.filter(|m| m.starts_with("rm_basext_")) {
        hdl().lint(&Top::new(module)).unwrap();
    }
}

#[test]
#[ignore = "the widest units; `make full` runs it"]
fn the_widest_units_lint() {
    for (word, lanes) in [(Word::Bits32, 64), (Word::Bits64, 32)] {
        let shape = Shape::new(word, lanes, 8..=16, 64, 64).unwrap();
        hdl().lint(&top(shape)).unwrap();
    }
}

/// Parameters outside the generator's ranges fail at elaboration, with a message that names the ranges.
#[test]
fn parameters_out_of_range_fail() {
    for (name, value) in [
        ("Lanes", 3),
        ("MinLogN", 7),
        ("MaxLogN", 17),
        ("MaxL", 65),
        ("MaxK", 65),
    ] {
        let top = Top::new("rm_basext_folded").int("Width", 32);
        let outcome = hdl().lint(&top.int(name, value));
        let error = outcome.expect_err(name).to_string();
        assert!(error.contains("log N 8 to 16"), "{name} = {value}: {error}");
    }
}

/// A folded unit has three multipliers a lane, of 5 DSP blocks for the 32-bit word and 20 for the 64-bit word. All
/// paths are within the bar of docs/rtl.md.
#[test]
#[ignore = "synthesis; `make full` runs it"]
fn multipliers_and_memories_are_counted() {
    for (word, lanes, blocks) in [
        (Word::Bits32, 1, 15),
        (Word::Bits32, 4, 60),
        (Word::Bits64, 1, 60),
        (Word::Bits64, 4, 240),
    ] {
        let shape = Shape::new(word, lanes, 8..=12, 4, 2).unwrap();
        for family in Family::ALL {
            let found = hdl().synthesise_for(&top(shape), family).unwrap();
            assert_eq!(found.resources.dsp, blocks, "{shape:?} {family}");
            assert_eq!(found.resources.other, [].into(), "{shape:?} {family}");
            let paths = hdl().levels(&top(shape), family).unwrap().paths;
            assert!(paths.within_bar(), "{shape:?} {family}: {paths:?}");
        }
    }
}
