// SPDX-License-Identifier: Apache-2.0
//! Nothing panics. Verifiers, printers and expansion get arbitrary values in memory, and parsers arbitrary and damaged
//! texts.

use proptest::prelude::*;
use ringmill_isa::macros::linked::{Combination, Elements, Left, Matrix, Products, Turns};
use ringmill_isa::macros::{
    self, Interval, LevelNote, MacroImm, MacroInput, MacroInstr, MacroOp, MacroProc, MacroProgram,
    MacroType, MacroValue, Note, SchemeName, Visibility,
};
use ringmill_isa::mid::text::{parse_procedure, parse_program, print_procedure, print_program};
use ringmill_isa::mid::{
    Call, Form, Imm, ImmType, Input, InputRole, Instr, LimbId, LimbType, LweDimension,
    LweTableType, LweType, ModulusId, Op, Output, Param, ParamRole, Procedure, Program,
    Representative, ResultLimb, TableModulus, Unrolled, ValueId, ValueType, Verified,
    expand_composites, stats, verify_procedure, verify_program, verify_unrolled,
};
use ringmill_isa::source::SourceLoc;
use ringmill_isa::{Galois, Level, Poly};
use ringmill_math::{Ring, RingKind};

use crate::support::{any_procedure, any_unrolled, moduli};

fn elements(n: u32, big: u64) -> Elements {
    let mut of = vec![Galois(n); big as usize % 4];
    of.push(Galois(big as u32 | 1));
    let low = big.is_multiple_of(2);
    Elements { of, low }
}

fn macro_instr() -> impl Strategy<Value = MacroInstr> {
    let values = || prop::collection::vec(number().prop_map(MacroValue), 0..4);
    let imm =
        (0u8..18, number(), any::<u64>(), any::<f64>()).prop_map(
            |(kind, n, big, value)| match kind {
                0 => MacroImm::None,
                1 => MacroImm::Input(n),
                2 => MacroImm::Output(n),
                3 => MacroImm::Data(n),
                4 => MacroImm::Constant { value, scale: None },
                5 => MacroImm::Level(Level(n)),
                6 => MacroImm::Steps(vec![n as i32]),
                7 => MacroImm::Proc(n),
                8 => MacroImm::Integer(i128::from(big) << (n % 64)),
                9 => MacroImm::Galois(Galois(n)),
                10 => MacroImm::Lifted(n),
                11 => MacroImm::Elements(elements(n, big)),
                12 => MacroImm::Turns(Turns {
                    elements: elements(n, big),
                    to: Level(n),
                }),
                13 => MacroImm::Combination(Combination {
                    integers: vec![big as i64; n as usize % 5],
                    to: Level(n),
                }),
                14 => MacroImm::Products(Products {
                    combined: n as u16,
                    factors: vec![
                        (Left::Operand(n as u16), 0),
                        (Left::Combination, big as u16),
                    ],
                    tail: big.is_multiple_of(2),
                    integers: vec![i64::MIN; n as usize % 7],
                    to: Level(n),
                }),
                15 => MacroImm::Interval(Interval {
                    lowest: value,
                    highest: f64::from_bits(big),
                }),
                16 => MacroImm::Matrix(Matrix {
                    babies: vec![Galois(n); big as usize % 3],
                    giants: vec![Galois(big as u32); n as usize % 3],
                    to: Level(n),
                }),
                _ => MacroImm::Repeat {
                    proc: n,
                    count: big >> (n % 64),
                },
            },
        );
    (0..MacroOp::COUNT, values(), values(), imm).prop_map(|(op, dst, src, imm)| MacroInstr {
        op: MacroOp::ALL[op],
        dst,
        src,
        imm,
        loc: None,
    })
}

fn macro_body() -> impl Strategy<Value = (Vec<MacroInstr>, Vec<MacroType>)> {
    let at = (0u32..3, 0u64..3).prop_map(|(level, factor)| LevelNote {
        level: Level(level),
        note: Note::Factor(factor),
    });
    let ty = (0u8..7, 1u32..4, prop::option::of(at)).prop_map(|(kind, size, at)| match kind {
        0 | 1 => MacroType::Cipher { size, at },
        2 => MacroType::Plain { at },
        3 => MacroType::Morphed {
            by: Galois(2 * size + 1),
            at,
        },
        4 => MacroType::Key { at },
        5 => MacroType::Lifted {
            special: size % 2 == 0,
            at,
        },
        _ => MacroType::Distant {
            of: Visibility::Encrypted,
            at,
        },
    });
    (
        prop::collection::vec(macro_instr(), 0..6),
        prop::collection::vec(ty, 0..6),
    )
}

/// Generates macro programs whose instructions, procedures and values mostly do not fit each other.
fn wild_macro_program() -> impl Strategy<Value = MacroProgram> {
    let values = || prop::collection::vec(number().prop_map(MacroValue), 0..3);
    let proc = (name(), values(), macro_body(), values()).prop_map(
        |(name, params, (instrs, types), results)| MacroProc {
            name,
            params,
            instrs,
            types,
            results,
            loc: None,
        },
    );
    let procs = prop::collection::vec(proc, 0..4);
    (name(), procs, macro_body()).prop_map(|(name, procs, (instrs, types))| MacroProgram {
        procs,
        instrs,
        types,
        inputs: vec![MacroInput {
            name: "x".into(),
            visibility: Visibility::Encrypted,
        }],
        outputs: vec!["y".into()],
        ..MacroProgram::new(name, SchemeName::default(), 4)
    })
}

/// Generates numbers, mostly below 6.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0u32..6, 1 => any::<u32>()]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z.]{1,5}", any::<String>()]
}

fn limb_type() -> impl Strategy<Value = LimbType> {
    let kind = prop_oneof![
        Just(RingKind::Full),
        Just(RingKind::HalfPlus),
        Just(RingKind::HalfMinus)
    ];
    let log_n = prop_oneof![3 => Just(5u8), 2 => Just(4u8), 1 => any::<u8>()];
    (log_n, kind, number(), any::<bool>()).prop_map(|(log_n, kind, modulus, eval)| LimbType {
        ring: Ring { log_n, kind },
        modulus: ModulusId(modulus as u16),
        form: if eval { Form::Eval } else { Form::Coeff },
    })
}

fn modulus() -> impl Strategy<Value = TableModulus> {
    prop_oneof![
        any::<u64>().prop_map(TableModulus::Prime),
        any::<u64>().prop_map(TableModulus::Plain),
        any::<u8>().prop_map(TableModulus::PowerOfTwo),
        (0u8..70).prop_map(TableModulus::PowerOfTwo),
        (0u64..20).prop_map(TableModulus::Plain),
    ]
}

fn table() -> impl Strategy<Value = Vec<TableModulus>> {
    prop_oneof![3 => Just(moduli().to_vec()), 2 => prop::collection::vec(modulus(), 0..4)]
}

fn instr() -> impl Strategy<Value = Instr> {
    let values = || prop::collection::vec(number().prop_map(ValueId), 0..4);
    let imm = (0u8..9, number(), any::<u64>()).prop_map(|(kind, a, b)| match kind {
        0 => Imm::None,
        1 => Imm::Scalar(b),
        2 => Imm::Galois(Galois(a)),
        3 => Imm::Stream {
            seed: a as u16,
            stream: b,
        },
        4 => Imm::ScalarOf(a as u16),
        5 => Imm::GaloisOf(a as u16),
        6 => Imm::Representative(Representative::Centred),
        7 => Imm::Base(a as u8),
        _ => Imm::Slot(a),
    });
    (0..Op::COUNT, values(), values(), imm).prop_map(|(op, dst, src, imm)| Instr {
        op: Op::ALL[op],
        dst,
        src,
        imm,
    })
}

prop_compose! {
    fn wild_procedure()(
        name in name(),
        log_n in prop_oneof![3 => Just(5u8), 1 => any::<u8>()],
        moduli in table(),
        params in prop::collection::vec((number(), name(), number()), 0..4),
        seeds in prop::collection::vec(any::<u16>(), 0..3),
        immediates in prop::collection::vec(prop_oneof![Just(ImmType::Galois), any::<u16>().prop_map(|q| ImmType::Scalar(ModulusId(q)))], 0..3),
        instrs in prop::collection::vec(instr(), 0..5),
        results in prop::collection::vec((number(), name()), 0..3),
        types in prop::collection::vec(value_type(), 0..8),
    ) -> Procedure {
        let param = |(v, name, n): (u32, String, u32)| {
            Param { value: ValueId(v), name, role: ParamRole::Key { arg: 0, digit: 1, part: n as u16 } }
        };
        Procedure {
            name,
            log_n,
            moduli,
            params: params.into_iter().map(param).collect(),
            seeds,
            immediates,
            instrs,
            results: results
                .into_iter()
                .map(|(v, name)| ResultLimb { value: ValueId(v), name, index: 0, poly: Poly(v as u16) })
                .collect(),
            types,
        }
    }
}

fn value_type() -> impl Strategy<Value = ValueType> {
    let vector = || {
        (number(), number()).prop_map(|(dimension, modulus)| LweType {
            dimension: LweDimension(dimension),
            modulus: ModulusId(modulus as u16),
        })
    };
    let table = (vector(), number())
        .prop_map(|(row, rows)| ValueType::LweTable(LweTableType { row, rows }));
    prop_oneof![
        5 => limb_type().prop_map(ValueType::Limb),
        1 => vector().prop_map(ValueType::Lwe),
        1 => table,
        1 => Just(ValueType::Exponent),
    ]
}

prop_compose! {
    fn wild_program()(
        log_n in prop_oneof![3 => Just(5u8), 1 => any::<u8>()],
        moduli in table(),
        wild in prop::collection::vec(wild_procedure(), 0..2),
        sound in prop::collection::vec(any_procedure(), 0..2),
        limbs in prop::collection::vec(value_type(), 0..8),
        inputs in prop::collection::vec((number(), name(), number()), 0..3),
        calls in prop::collection::vec((number(), prop::collection::vec(number(), 0..4), number()), 0..3),
        outputs in prop::collection::vec((number(), name()), 0..3),
    ) -> Unrolled {
        let limb_ids = |ids: &[u32]| ids.iter().map(|&id| LimbId(id.into())).collect::<Vec<_>>();
        Unrolled {
            log_n,
            moduli,
            procs: wild.into_iter().chain(sound).map(Into::into).collect(),
            limbs,
            inputs: inputs
                .into_iter()
                .map(|(l, name, n)| Input { limb: LimbId(l.into()), name, role: InputRole::Cipher { input: n, poly: Poly(0) } })
                .collect(),
            seeds: vec![1, 2],
            calls: calls
                .into_iter()
                .map(|(proc, ids, n)| Call {
                    proc,
                    args: limb_ids(&ids),
                    seeds: ids,
                    results: limb_ids(&[n]),
                    loc: Some(SourceLoc { file: "\u{0}\"".into(), line: n }),
                })
                .collect(),
            outputs: outputs
                .into_iter()
                .map(|(l, name)| Output { limb: LimbId(l.into()), name, output: 0, poly: Poly(0) })
                .collect(),
        }
    }
}

/// Generates texts in which pieces of `text` are overwritten, cut out or doubled.
fn damaged(text: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let edits = prop::collection::vec(
        (
            any::<u32>(),
            0usize..12,
            0u8..3,
            "[%@q0-9:;=,.\\-\\+a-z^ \"\n(){}\\\\]{0,4}",
        ),
        1..4,
    );
    (text, edits).prop_map(|(text, edits)| {
        let mut chars: Vec<char> = text.chars().collect();
        for (at, len, kind, new) in edits {
            let at = at as usize % (chars.len() + 1);
            let end = (at + len).min(chars.len());
            match kind {
                0 => drop(chars.splice(at..end, new.chars())),
                1 => drop(chars.drain(at..end)),
                _ => {
                    let piece: Vec<_> = chars[at..end].to_vec();
                    drop(chars.splice(at..at, piece));
                }
            }
        }
        chars.into_iter().collect()
    })
}

fn check_mid(text: &str) {
    if let Ok(p) = parse_program(text) {
        let printed = print_program(&p);
        let again = parse_program(&printed);
        assert_eq!(again.as_ref(), Ok(&p), "{printed}");
        let _ = verify_program(&p);
    }
    if let Ok(p) = parse_procedure(text) {
        assert_eq!(parse_procedure(&print_procedure(&p)).as_ref(), Ok(&p));
        let _ = expand_composites(&p, |_| false);
    }
}

proptest! {
    #[test]
    fn wild_procedures(p in wild_procedure()) {
        let verified = verify_procedure(&p);
        let expanded = expand_composites(&p, |_| false);
        prop_assert_eq!(verified.is_ok(), expanded.is_ok());
        let _ = parse_procedure(&print_procedure(&p));
        if let Err(error) = verified {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn wild_programs(p in wild_program()) {
        if let Err(error) = verify_unrolled(&p) {
            prop_assert!(!error.to_string().is_empty());
        }
        let p = Program::from(p);
        let _ = stats::program_counts(&p);
        let _ = parse_program(&print_program(&p));
        let _ = Verified::new(p.clone()).map(|ready| Unrolled::of(&ready, 1000));
        if let Err(error) = verify_program(&p) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn wild_macro_programs(p in wild_macro_program()) {
        let _ = macros::stats::counts(&p);
        let _ = macros::text::parse(&macros::text::print(&p));
        for verified in [macros::verify(&p), macros::verify_with_primes(&p, &[97, 101])] {
            if let Err(error) = verified {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }

    #[test]
    fn arbitrary_texts(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        prop_assert!(parse_procedure(&text).is_err());
        prop_assert!(parse_program(&text).is_err());
        prop_assert!(macros::text::parse(&text).is_err());
    }

    #[test]
    fn damaged_programs(text in damaged(any_unrolled().prop_map(|p| print_program(&p.into())))) {
        check_mid(&text);
    }

    #[test]
    fn damaged_procedures(text in damaged(any_procedure().prop_map(|p| print_procedure(&p)))) {
        check_mid(&text);
    }
}

#[test]
fn errors_say_where() {
    let refuse = |text: &str| {
        parse_procedure(text)
            .expect_err("a damaged text")
            .to_string()
    };
    let head = "proc p ring 2^5 moduli q0=97\n";
    for (text, message) in [
        (
            "",
            "line 1, column 1: expected `proc`, found the end of the text",
        ),
        (
            "proc p ring 2^99 moduli q0=97\nend\n",
            "line 1, column 13: expected a ring degree of at most 2^17, found `2`",
        ),
        (
            "proc p ring 2^5 moduli q1=97\nend\n",
            "line 1, column 24: expected q0, of at most 1024 moduli, found `q1`",
        ),
        (
            &format!("{head}  %4000000000 = LOAD slot 0 : q0 eval\nend\n"),
            "line 2, column 3: expected numbers below 1, the count of definitions, found %4000000000",
        ),
        (
            &format!("{head}  %0 = FROB %1 : q0 eval\nend\n"),
            "line 2, column 8: expected an instruction of the mid level, found `FROB`",
        ),
        (
            &format!("{head}  %0 = LOAD slot 0 : q0 evil\nend\n"),
            "line 2, column 25: expected `coeff` or `eval`, found `evil`",
        ),
        (
            &format!("{head}  %0 = LOAD slot 0 : q0 eval ; fine\n"),
            "line 3, column 1: expected an instruction, `in`, `seed`, `out` or `end`, found the end of the text",
        ),
        (
            &format!("{head}  in %0 : q0 eval = plain 0 \"x\\y\"\nend\n"),
            "line 2, column 31: expected an escape `\\\"`, `\\\\` or `\\u{...}`, found another escape",
        ),
        (
            &format!("{head}  %0 = LOAD slot 4294967296 : q0 eval\nend\n"),
            "line 2, column 18: expected a number in range after `slot`, found `4294967296`",
        ),
        (
            "proc p ring 2^5 moduli q0=plain\nend\n",
            "line 1, column 32: expected the value of the modulus, found the end of the line",
        ),
        (
            "proc p ring 2^5 moduli q0=3^4\nend\n",
            "line 1, column 27: expected a prime, `plain M` or a power of 2, found `3`",
        ),
        (
            "proc p ring 2^5 moduli q0=2^256\nend\n",
            "line 1, column 29: expected log2 of the power of two, found `256`",
        ),
        (
            &format!("{head}  %0 = BEXTX %1, middling : q0 coeff\nend\n"),
            "line 2, column 18: expected `nonnegative` or `centred`, found `middling`",
        ),
        (
            &format!("{head}end\nend\n"),
            "line 3, column 1: expected the end of the text, found `end`",
        ),
    ] {
        assert_eq!(refuse(text), message);
    }
    // The value as it is parsed, before any verification.
    let p = parse_procedure(&format!("{head}  %0 = ADD %1, %2 : q7 eval\nend\n"))
        .expect("well-formed text");
    assert!(verify_procedure(&p).is_err());
}
