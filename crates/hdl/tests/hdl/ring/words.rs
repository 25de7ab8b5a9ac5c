// SPDX-License-Identifier: Apache-2.0
//! Tests of each instruction word on one RPAU, and of words beside each other.

use ringmill_hdl::Hdl;
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::ring::RpauError;
use ringmill_machines::ring::micro::{OpWord, Opcode, Operand, Unit, Word};
use ringmill_math::RingKind;

use ringmill_machines::ring::Description;

use crate::common::setup::{hdl, seed};
use crate::ring::bench::{
    ELEMENTS, PRIMES, WIDE, check, code, medha, toy, with_b, with_operand, word,
};

/// The main shape of the tests: log2 N, butterflies and prime. Passes of a transform do not wait for each other in it;
/// in the machine of `procedures` they do.
pub const SMALL: (u8, usize, u64) = (10, 4, PRIMES[1]);
/// Other shapes. Some have an odd number of stages, passes that wait for each other, or dyadic cores that take four
/// cycles for a row.
const OTHERS: [(u8, usize, u64); 5] = [
    (7, 8, PRIMES[1]),
    (6, 4, PRIMES[0]),
    (7, 4, PRIMES[2]),
    (8, 8, PRIMES[2]),
    (10, 16, PRIMES[0]),
];

#[test]
#[ignore = "an RPAU by itself to build; `make full` runs it, and make test programs on three RPAUs"]
fn transforms() {
    check_transforms(&[SMALL], toy);
}

#[test]
#[ignore = "another RPAU to build; `make full` runs it"]
fn transforms_with_generated_twiddles() {
    check_transforms(&[SMALL], medha);
}

#[test]
#[ignore = "another RPAU to build; `make full` runs it"]
fn coefficient_wise_words() {
    check_coefficient_wise(&[SMALL], toy);
}

#[test]
#[ignore = "a minute, models of its own; `make full` runs it"]
fn automorphisms_and_half_rings() {
    check_automorphisms(&[SMALL], toy);
}

#[test]
#[ignore = "words that hang on no twiddle, half a minute; `make full` runs it"]
fn other_words_beside_generated_twiddles() {
    check_coefficient_wise(&[SMALL], medha);
    check_automorphisms(&[SMALL], medha);
}

#[test]
#[ignore = "other RPAUs to build; `make full` runs it"]
fn words_of_other_sizes() {
    for machine in [toy, medha] {
        check_transforms(&OTHERS, machine);
        check_coefficient_wise(&OTHERS, machine);
        check_automorphisms(&OTHERS, machine);
    }
}

/// A function that describes a machine, [`toy`] or [`medha`], by log2 N, butterflies and RPAUs.
type Machine = fn(u8, usize, usize) -> Description;

/// Returns log2 of the limb sizes that an RPAU takes, from the native one down.
fn sizes(d: &Description) -> impl Iterator<Item = u8> + use<> {
    (d.row.ilog2() as u8 + 1..=d.log_n).rev()
}

/// Checks forward and inverse transforms of the full ring and of both half rings, for limbs of every size. They work in
/// place and from slot to slot, also from narrow slots.
fn check_transforms(shapes: &[(u8, usize, u64)], machine: Machine) {
    let mut dice = Dice::new(seed());
    let each = shapes
        .iter()
        .map(|&(log_n, butterflies, prime)| (machine(log_n, butterflies, 1), prime))
        .filter(|(d, _)| d.row < 1 << d.log_n)
        .flat_map(|(d, prime)| sizes(&d).map(move |size| (d.clone(), prime, size)));
    for (d, prime, size) in each {
        let mut words = Vec::new();
        for ring in [RingKind::Full, RingKind::HalfPlus, RingKind::HalfMinus] {
            for (op, dst, a) in [
                (Opcode::Ntt, 1, 0),
                (Opcode::Intt, 2, 1),
                (Opcode::Ntt, 9, 8),
                (Opcode::Intt, 9, 9),
                (Opcode::Ntt, 3, 10),
                (Opcode::Ntt, 4, 11),
                (Opcode::Intt, 10, 12),
            ] {
                words.push(Word::Op(OpWord {
                    ring,
                    ..word(op, Unit::Main, dst, a)
                }));
            }
        }
        let code = code(size, [words, vec![], vec![], vec![]], vec![vec![0]]);
        check(hdl(), &d, prime, &code, &mut dice).unwrap();
    }
}

/// Checks every coefficient-wise word on both units. Operands are in one port group, in several or in narrow slots, or
/// one is taken twice.
fn check_coefficient_wise(shapes: &[(u8, usize, u64)], machine: Machine) {
    let mut dice = Dice::new(seed());
    let units = [Unit::Main, Unit::Dyadic];
    let each = units
        .into_iter()
        .flat_map(|u| shapes.iter().map(move |s| (u, s)));
    for (unit, &(log_n, butterflies, prime)) in each {
        let d = machine(log_n, butterflies, 1);
        let mut words = Vec::new();
        for (dst, a, b, c) in [
            (0, 1, 2, 3),
            (8, 8, 9, 10),
            (4, 5, 5, 4),
            (10, 6, 8, 6),
            (9, 7, 7, 7),
            (0, 11, 2, 3),
            (11, 1, 2, 3),
            (12, 11, 12, 4),
            (11, 12, 12, 11),
            (8, 2, 12, 1),
            (3, 9, 2, 11),
        ] {
            for op in [Opcode::Add, Opcode::Sub, Opcode::Mul] {
                words.push(with_b(word(op, unit, dst, a), b));
            }
            words.push(OpWord {
                c,
                ..with_b(word(Opcode::Mac, unit, dst, a), b)
            });
            words.push(OpWord {
                imm: 2,
                ..with_b(word(Opcode::Subm, unit, dst, a), b)
            });
            for (op, imm) in [
                (Opcode::Copy, 0),
                (Opcode::Neg, 0),
                (Opcode::Muli, 1),
                (Opcode::Addi, 2),
                (Opcode::Red, 0),
                (Opcode::Red, 1),
            ] {
                words.push(OpWord {
                    imm,
                    ..word(op, unit, dst, a)
                });
            }
        }
        for (op, dst, a) in [
            (Opcode::Mul, 1, 2),
            (Opcode::Mac, 3, 3),
            (Opcode::Mac, 9, 8),
            (Opcode::Add, 5, 11),
            (Opcode::Mac, 11, 12),
        ] {
            for key in 0..3 {
                words.push(with_operand(word(op, unit, dst, a), Operand::Key(key)));
            }
            for imm in 0..3 {
                let ring = [RingKind::Full, RingKind::HalfMinus, RingKind::HalfPlus][imm];
                let imm = imm as u16;
                let w = with_operand(word(op, unit, dst, a), Operand::Generator);
                words.push(OpWord { imm, ring, ..w });
            }
        }
        let words = words.into_iter().map(Word::Op).collect();
        let streams = match unit {
            Unit::Main => [words, vec![], vec![], vec![]],
            Unit::Dyadic => [vec![], words, vec![], vec![]],
        };
        let constants = vec![vec![0], vec![dice.below(prime)], vec![prime - 1]];
        for size in [log_n, d.row.ilog2() as u8 + 1] {
            let code = code(size, streams.clone(), constants.clone());
            check(hdl(), &d, prime, &code, &mut dice).unwrap();
        }
    }
}

/// Checks products of the main cores with generated limbs, while dyadic words of one and of two operands use the same
/// ports.
pub fn check_generated(hdl: &Hdl, seed: u64) -> Result<(), RpauError> {
    let mut dice = Dice::new(seed);
    let (log_n, butterflies, prime) = SMALL;
    for d in [toy(log_n, butterflies, 1), medha(log_n, butterflies, 1)] {
        // A word on other ports comes first, because otherwise the unit that starts first would have the ports to
        // itself.
        let elsewhere = word(Opcode::Copy, Unit::Main, 10, 10);
        let main = (0..12).map(|i: u16| {
            let (op, dst, a) = [
                (Opcode::Mul, 0, 1),
                (Opcode::Mac, 1, 2),
                (Opcode::Add, 2, 8),
            ][usize::from(i % 3)];
            let w = with_operand(word(op, Unit::Main, dst, a), Operand::Generator);
            OpWord { imm: i % 4, ..w }
        });
        let dyadic = (0..40).map(|i| {
            let (dst, a, b) = [(4, 5, None), (5, 6, Some(9)), (9, 4, Some(6))][i % 3];
            let w = word(Opcode::Copy, Unit::Dyadic, dst, a);
            match b {
                Some(b) => with_b(
                    OpWord {
                        op: Opcode::Sub,
                        ..w
                    },
                    b,
                ),
                None => w,
            }
        });
        let streams = [
            [elsewhere].into_iter().chain(main).map(Word::Op).collect(),
            dyadic.map(Word::Op).collect(),
            vec![],
            vec![],
        ];
        for size in [log_n, log_n - 2] {
            let code = code(size, streams.clone(), vec![vec![0]]);
            check(hdl, &d, prime, &code, &mut dice)?;
        }
    }
    Ok(())
}

#[test]
#[ignore = "half a minute, a model of its own; `make full` runs it"]
fn generated_operands_beside_dyadic_words() {
    check_generated(hdl(), seed()).unwrap();
}

/// Checks automorphisms in both forms and of half rings, splits into halves and joins, and generated limbs, for limbs
/// of every size. Results go to the shared port group, to groups of one slot, to both, or to narrow slots.
fn check_automorphisms(shapes: &[(u8, usize, u64)], machine: Machine) {
    let mut dice = Dice::new(seed());
    let each = shapes
        .iter()
        .map(|&(log_n, butterflies, prime)| (machine(log_n, butterflies, 1), prime))
        .filter(|(d, _)| d.row < 1 << d.log_n)
        .flat_map(|(d, prime)| sizes(&d).map(move |size| (d.clone(), prime, size)));
    for (d, prime, size) in each {
        let mut words = Vec::new();
        for imm in 0..ELEMENTS as u16 {
            for (dst, a) in [(1, 0), (8, 9), (3, 8), (2, 11), (12, 0), (11, 12)] {
                for op in [Opcode::Auto, Opcode::Autoc] {
                    if u64::from(imm) < WIDE && (op == Opcode::Auto || dst < 11) {
                        words.push(OpWord {
                            imm,
                            ..word(op, Unit::Main, dst, a)
                        });
                    }
                }
            }
            for (dst, c, a, b) in [
                (2, 4, 0, 1),
                (5, 9, 8, 10),
                (9, 10, 6, 8),
                (11, 12, 0, 1),
                (2, 11, 12, 8),
                (0, 1, 11, 3),
            ] {
                words.push(OpWord {
                    imm,
                    c,
                    ..with_b(word(Opcode::Autoh, Unit::Main, dst, a), b)
                });
            }
        }
        for op in [Opcode::Split, Opcode::Join] {
            for (dst, c, a, b) in [
                (2, 4, 0, 1),
                (0, 1, 0, 1),
                (9, 8, 8, 9),
                (10, 3, 5, 5),
                (11, 12, 0, 1),
                (11, 3, 4, 5),
                (3, 11, 4, 8),
                (0, 1, 11, 12),
                (2, 4, 12, 12),
                (5, 12, 11, 3),
                (12, 11, 12, 11),
            ] {
                words.push(OpWord {
                    c,
                    ..with_b(word(op, Unit::Main, dst, a), b)
                });
            }
        }
        let kinds = [RingKind::Full, RingKind::HalfMinus, RingKind::HalfPlus];
        let generated = kinds.map(|ring| OpWord {
            ring,
            imm: 1,
            ..word(Opcode::Prng, Unit::Dyadic, 7, 0)
        });
        let words = words.into_iter().map(Word::Op).collect();
        let generated = generated.into_iter().map(Word::Op).collect();
        let code = code(size, [words, generated, vec![], vec![]], vec![vec![0]]);
        check(hdl(), &d, prime, &code, &mut dice).unwrap();
    }
}
