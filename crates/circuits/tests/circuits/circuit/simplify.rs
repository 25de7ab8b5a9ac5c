// SPDX-License-Identifier: Apache-2.0
//! Tests that simplified programs keep their values and take no more bootstraps.

use ringmill_limits::Watch;

use super::operations::{Dice, agree, kind, of_two, operations, random_program};
use ringmill_circuits::circuit::Graph;
use ringmill_circuits::circuit::gates::{self, Limits};
use ringmill_circuits::circuit::lower::lower;
use ringmill_circuits::circuit::program::{
    Binary, Comparison, Program, ProgramBuilder, Shift, Type, Value,
};
use ringmill_circuits::circuit::simplify::simplify;

const LIMIT: u64 = 2000;
const LIMITS: Limits = Limits { near: 39, far: 90 };

fn simplified(program: &Program) -> Program {
    simplify(program, &Watch::default()).unwrap()
}

/// Returns the circuits of a program: one of digits, one of bits.
fn graphs(program: &Program) -> [Graph; 2] {
    [
        lower(program, LIMIT, &Watch::default()).unwrap().graph,
        gates::lower(program, LIMITS, &Watch::default())
            .unwrap()
            .graph,
    ]
}

fn bootstraps(program: &Program) -> [usize; 2] {
    graphs(program).map(|graph| graph.cost().bootstraps)
}

fn of_one(of: Type, make: impl Fn(&mut ProgramBuilder, Value) -> Value) -> Program {
    let mut b = ProgramBuilder::new();
    let x = b.input("x", of);
    let z = make(&mut b, x);
    b.output("z", z).unwrap();
    b.finish()
}

/// Returns a program for every operation and every constant, once as the left and once as the right operand.
fn with_constants(of: Type) -> Vec<(String, Program)> {
    let mut all = Vec::new();
    for bits in 0..1u64 << of.bits() {
        let c = of.read(bits);
        let mut add = |name: String, make: &dyn Fn(&mut ProgramBuilder, Value, Value) -> Value| {
            let program = of_one(of, |b, x| {
                let c = b.constant(c, of).unwrap();
                make(b, x, c)
            });
            all.push((name, program));
        };
        for op in Binary::ALL {
            add(format!("{op:?} with {c}"), &|b, x, c| {
                b.binary(op, x, c).unwrap()
            });
            add(format!("{c} {op:?}"), &|b, x, c| {
                b.binary(op, c, x).unwrap()
            });
        }
        for op in Comparison::ALL {
            add(format!("{op:?} {c}"), &|b, x, c| {
                b.compare(op, x, c).unwrap()
            });
            add(format!("{c} {op:?}"), &|b, x, c| {
                b.compare(op, c, x).unwrap()
            });
        }
        for shift in Shift::ALL {
            if shift == Shift::RotateLeft && !of.bits().is_power_of_two() {
                continue;
            }
            add(format!("{c} {shift:?}"), &|b, x, c| {
                let by = b.convert(x, kind(of.bits(), false)).unwrap();
                b.shift(shift, c, by).unwrap()
            });
        }
    }
    all
}

/// Tests all values of small widths, as digits and as bits: simplification keeps the results and never adds bootstraps.
#[test]
fn every_operation_with_every_constant() {
    let mut dearer = Vec::new();
    for bits in 1..=5 {
        for signed in [false, true] {
            let of = kind(bits, signed);
            for (name, program) in with_constants(of) {
                let simple = simplified(&program);
                for x in 0..1 << bits {
                    let found = simple.evaluate(&[x]).unwrap();
                    assert_eq!(found, program.evaluate(&[x]).unwrap(), "{name} of {of} {x}");
                }
                let (before, after) = (bootstraps(&program), bootstraps(&simple));
                if (0..2).any(|i| after[i] > before[i]) {
                    dearer.push(format!("{name} of {of}: {before:?} to {after:?}"));
                }
            }
        }
    }
    assert!(dearer.is_empty(), "{}", dearer.join("\n"));
}

/// Tests every operation on two integers, and on an integer with itself.
#[test]
fn every_operation_on_every_pair_of_three_bits() {
    for signed in [false, true] {
        let of = kind(3, signed);
        for (name, make) in operations(of) {
            let of_itself = of_one(of, |b, x| make(b, x, x));
            let program = of_two(of, &make);
            let (simple, simple_of_itself) = (simplified(&program), simplified(&of_itself));
            for x in 0..8 {
                for y in 0..8 {
                    let wanted = program.evaluate(&[x, y]).unwrap();
                    assert_eq!(simple.evaluate(&[x, y]).unwrap(), wanted, "{name}");
                }
                let wanted = of_itself.evaluate(&[x]).unwrap();
                assert_eq!(simple_of_itself.evaluate(&[x]).unwrap(), wanted, "{name}");
            }
        }
    }
}

/// Tests random programs, in which several rules apply: the values of the program and of its circuits, one of digits
/// and one of bits, stay.
#[test]
fn random_programs() {
    let mut dice = Dice(21);
    for _ in 0..300 {
        let bits = 1 + dice.next() as u32 % 9;
        let of = kind(bits, dice.next().is_multiple_of(2));
        let program = random_program(&mut dice, of);
        let simple = simplified(&program);
        assert_eq!(simplified(&simple), simple);
        let circuits = [
            lower(&simple, LIMIT, &Watch::default()).unwrap(),
            gates::lower(&simple, LIMITS, &Watch::default()).unwrap(),
        ];
        for _ in 0..8 {
            let inputs = [dice.value(bits), dice.value(bits)];
            let wanted = program.evaluate(&inputs).unwrap();
            assert_eq!(simple.evaluate(&inputs).unwrap(), wanted);
            for circuit in &circuits {
                agree(&program, circuit, &inputs, "random program");
            }
        }
    }
}

type One = fn(&mut ProgramBuilder, Value, Type) -> Value;

fn with(b: &mut ProgramBuilder, op: Binary, x: Value, c: i128, of: Type) -> Value {
    let c = b.constant(c, of).unwrap();
    b.binary(op, x, c).unwrap()
}

fn compared(b: &mut ProgramBuilder, op: Comparison, x: Value, c: i128, of: Type) -> Value {
    let c = b.constant(c, of).unwrap();
    b.compare(op, x, c).unwrap()
}

/// Tests that operations which cost nothing take no bootstrap at any width, neither as digits nor as bits.
#[test]
fn what_takes_no_bootstrap() {
    let nothing: &[(&str, One)] = &[
        ("x // 1", |b, x, of| with(b, Binary::Div, x, 1, of)),
        ("x // 16", |b, x, of| with(b, Binary::Div, x, 16, of)),
        ("x % 1", |b, x, of| with(b, Binary::Rem, x, 1, of)),
        ("x % 16", |b, x, of| with(b, Binary::Rem, x, 16, of)),
        ("x * 1", |b, x, of| with(b, Binary::Mul, x, 1, of)),
        ("x * 16", |b, x, of| with(b, Binary::Mul, x, 16, of)),
        ("x ^ x", |b, x, _| b.binary(Binary::Xor, x, x).unwrap()),
        ("x & x", |b, x, _| b.binary(Binary::And, x, x).unwrap()),
        ("x | x", |b, x, _| b.binary(Binary::Or, x, x).unwrap()),
        ("x - x", |b, x, _| b.binary(Binary::Sub, x, x).unwrap()),
        ("x % x", |b, x, _| b.binary(Binary::Rem, x, x).unwrap()),
        ("x & ~x", |b, x, _| {
            let y = b.not(x).unwrap();
            b.binary(Binary::And, x, y).unwrap()
        }),
        ("x + ~x", |b, x, _| {
            let y = b.not(x).unwrap();
            b.binary(Binary::Add, x, y).unwrap()
        }),
        ("maximum(x, largest)", |b, x, of| {
            with(b, Binary::Max, x, of.ends().1, of)
        }),
        ("maximum(x, least)", |b, x, of| {
            with(b, Binary::Max, x, of.ends().0, of)
        }),
        ("minimum(x, largest)", |b, x, of| {
            with(b, Binary::Min, x, of.ends().1, of)
        }),
        ("minimum(x, least)", |b, x, of| {
            with(b, Binary::Min, x, of.ends().0, of)
        }),
        ("minimum(x, x)", |b, x, _| {
            b.binary(Binary::Min, x, x).unwrap()
        }),
        ("x <= largest", |b, x, of| {
            compared(b, Comparison::LessOrEqual, x, of.ends().1, of)
        }),
        ("x < least", |b, x, of| {
            compared(b, Comparison::Less, x, of.ends().0, of)
        }),
        ("x == x", |b, x, _| {
            b.compare(Comparison::Equal, x, x).unwrap()
        }),
        ("x < x", |b, x, _| {
            b.compare(Comparison::Less, x, x).unwrap()
        }),
        ("-(-x)", |b, x, of| {
            let zero = b.constant(0, of).unwrap();
            let y = b.binary(Binary::Sub, zero, x).unwrap();
            b.binary(Binary::Sub, zero, y).unwrap()
        }),
        ("x + 3 - 3", |b, x, of| {
            let y = with(b, Binary::Add, x, 3, of);
            with(b, Binary::Sub, y, 3, of)
        }),
        ("largest or -1, less x", |b, x, of| {
            let ones = b.constant(of.read(u64::MAX), of).unwrap();
            b.binary(Binary::Sub, ones, x).unwrap()
        }),
        ("select(x < 7, x, x)", |b, x, of| {
            let bit = compared(b, Comparison::Less, x, 7, of);
            b.select(bit, x, x).unwrap()
        }),
        ("select(x == x, x, 0)", |b, x, of| {
            let bit = b.compare(Comparison::Equal, x, x).unwrap();
            let zero = b.constant(0, of).unwrap();
            b.select(bit, x, zero).unwrap()
        }),
        ("x + 0 + 0", |b, x, of| {
            let zero = b.constant(0, of).unwrap();
            b.sum(&[x, zero, zero]).unwrap()
        }),
        ("wider and back", |b, x, of| {
            let y = b.convert(x, kind(64, of.signed())).unwrap();
            b.convert(y, of).unwrap()
        }),
        ("x // x * 0", |b, x, of| {
            let y = b.binary(Binary::Div, x, x).unwrap();
            with(b, Binary::Mul, y, 0, of)
        }),
    ];
    for bits in [8, 12, 16, 33, 64] {
        for signed in [false, true] {
            let of = kind(bits, signed);
            for (name, make) in nothing {
                // Signed quotients and remainders round towards 0, so they are more than a shift. An odd width splits a
                // digit of two bits.
                let rounds = signed && ["x // 16", "x % 16"].contains(name);
                let cuts = bits % 2 == 1 && ["x * 16", "x // 16"].contains(name);
                if rounds || cuts {
                    continue;
                }
                let program = of_one(of, |b, x| make(b, x, of));
                let found = bootstraps(&simplified(&program));
                assert_eq!(found, [0, 0], "{name} of {of}");
            }
        }
    }
}

/// Tests the number of bootstraps before and after simplification, as digits and as bits, for operations that become
/// cheaper but not free.
#[test]
fn what_becomes_cheaper() {
    let (byte, signed) = (kind(8, false), kind(8, true));
    let cheaper: &[(&str, Type, One)] = &[
        ("x // 1", byte, |b, x, of| with(b, Binary::Div, x, 1, of)),
        ("x // 2", byte, |b, x, of| with(b, Binary::Div, x, 2, of)),
        ("x % 16", byte, |b, x, of| with(b, Binary::Rem, x, 16, of)),
        ("x % 8", byte, |b, x, of| with(b, Binary::Rem, x, 8, of)),
        ("x // x", byte, |b, x, _| {
            b.binary(Binary::Div, x, x).unwrap()
        }),
        ("x // -8", signed, |b, x, of| {
            with(b, Binary::Div, x, -8, of)
        }),
        ("x % 8", signed, |b, x, of| with(b, Binary::Rem, x, 8, of)),
    ];
    for (name, of, make) in cheaper {
        let program = of_one(*of, |b, x| make(b, x, *of));
        let (before, after) = (bootstraps(&program), bootstraps(&simplified(&program)));
        println!("{name} of {of}: {before:?} to {after:?}");
        assert!(
            after[0] < before[0] && after[1] <= before[1],
            "{name} of {of}"
        );
    }
}
