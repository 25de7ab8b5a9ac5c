// SPDX-License-Identifier: Apache-2.0
//! The columns of the macro level against the verifier, the operations of each stage, and a visitor without methods.

use ringmill_isa::macros::linked::{Combination, Elements, Left, Matrix, Products, Turns};
use ringmill_isa::macros::op::{MacroLevel, MacroNote, MacroSize, MacroStage};
use ringmill_isa::macros::{
    Interval, LevelNote, MacroImm, MacroInstr, MacroOp, MacroProc, MacroProgram, MacroType,
    MacroValue, ManagedOp, Note, OfStage, Refused, SchemeName, TracedOp, Visibility, Visitor,
    verify, verify_with_primes,
};
use ringmill_isa::{Galois, Level};

const PRIMES: [u64; 9] = [97, 193, 257, 353, 449, 577, 641, 673, 769];
const SCALE: f64 = 1048576.0;
/// Level of all operands.
const AT: Level = Level(5);
/// Level in immediates of operations that lower a ciphertext.
const DOWN: Level = Level(3);
/// Level in immediates of operations that raise a ciphertext.
const UP: Level = Level(7);

fn at(op: MacroOp, level: Level, times: f64) -> Option<LevelNote> {
    let note = match op.is_of("ckks") {
        true => Note::Scale(SCALE * times),
        false => Note::Factor(times as u64),
    };
    Some(LevelNote { level, note })
}

/// Returns the type of an operand, of the size that the operation takes.
fn operand(op: MacroOp, number: usize, at: Option<LevelNote>) -> MacroType {
    let size = match op.columns().size {
        MacroSize::Given => {
            let of = Visibility::Encrypted;
            return MacroType::Distant { of, at };
        }
        MacroSize::Largest if number == 0 => 3,
        MacroSize::Relinearised | MacroSize::Switched => 3,
        MacroSize::Largest | MacroSize::Product | MacroSize::Two | MacroSize::Morphed => 2,
        MacroSize::Declared | MacroSize::Key | MacroSize::Lifted => {
            unreachable!("calls and linked procedures are tested elsewhere")
        }
    };
    MacroType::Cipher { size, at }
}

/// Returns the type of the result according to the columns.
fn result(op: MacroOp, at: Option<LevelNote>) -> MacroType {
    let size = match op.columns().size {
        MacroSize::Given if op == MacroOp::Encode => return MacroType::Plain { at },
        MacroSize::Morphed => {
            let by = Galois(5);
            return MacroType::Morphed { by, at };
        }
        MacroSize::Largest | MacroSize::Product => 3,
        MacroSize::Given | MacroSize::Relinearised | MacroSize::Two | MacroSize::Switched => 2,
        MacroSize::Declared | MacroSize::Key | MacroSize::Lifted => {
            unreachable!("calls and linked procedures are tested elsewhere")
        }
    };
    MacroType::Cipher { size, at }
}

fn elements() -> Elements {
    Elements {
        of: vec![Galois(5)],
        low: false,
    }
}

fn immediate(op: MacroOp, managed: bool) -> MacroImm {
    match op {
        MacroOp::Encode => MacroImm::Data(0),
        MacroOp::Addc => MacroImm::Constant {
            value: 1.5,
            scale: None,
        },
        MacroOp::Mulc => MacroImm::Constant {
            value: 1.5,
            scale: managed.then_some(4.0),
        },
        MacroOp::Refactor | MacroOp::Quotient => MacroImm::Integer(3),
        MacroOp::Modswitch => MacroImm::Level(DOWN),
        MacroOp::Bootstrap | MacroOp::Modraise => MacroImm::Level(UP),
        MacroOp::Morph => MacroImm::Galois(Galois(5)),
        MacroOp::Bounded => MacroImm::Interval(Interval {
            lowest: -1.0,
            highest: 1.0,
        }),
        MacroOp::Rotate | MacroOp::Hrotate => MacroImm::Steps(vec![1]),
        MacroOp::Drop => MacroImm::Level(DOWN),
        MacroOp::Divide => MacroImm::Integer(3),
        MacroOp::Lift => MacroImm::Lifted(0),
        MacroOp::Hturn => MacroImm::Elements(elements()),
        MacroOp::Sumrot | MacroOp::Sumturn => MacroImm::Turns(Turns {
            elements: elements(),
            to: DOWN,
        }),
        MacroOp::Matvec => MacroImm::Matrix(Matrix {
            babies: vec![Galois(5)],
            giants: Vec::new(),
            to: DOWN,
        }),
        MacroOp::Combine => MacroImm::Combination(Combination {
            integers: vec![1, 2],
            to: DOWN,
        }),
        MacroOp::Sumprod => MacroImm::Products(Products {
            combined: 0,
            factors: vec![(Left::Operand(0), 0)],
            tail: false,
            integers: Vec::new(),
            to: DOWN,
        }),
        _ => MacroImm::None,
    }
}

/// Returns a program with one procedure, which consists of the operation alone.
fn program(op: MacroOp, operands: Vec<MacroType>, made: MacroType) -> MacroProgram {
    let count = operands.len() as u32;
    let params: Vec<MacroValue> = (0..count).map(MacroValue).collect();
    let managed = made.at().is_some();
    let instr = MacroInstr {
        op,
        dst: vec![MacroValue(count)],
        src: params.clone(),
        imm: immediate(op, managed),
        loc: None,
    };
    let mut types = operands;
    types.push(made);
    let mut program = MacroProgram::new("one".to_owned(), SchemeName::default(), 8);
    program.data.push(vec![(1.0, 0.0); 8]);
    program.procs.push(MacroProc {
        name: "one".to_owned(),
        params,
        instrs: vec![instr],
        types,
        results: vec![MacroValue(count)],
        loc: None,
    });
    program
}

/// Returns the operations that may stand in a procedure of any program, except calls.
fn operations() -> impl Iterator<Item = MacroOp> {
    let outside = [
        MacroOp::Input,
        MacroOp::Output,
        MacroOp::Call,
        MacroOp::Repeat,
    ];
    let all = MacroOp::ALL.into_iter();
    all.filter(move |op| !outside.contains(op) && !op.is_linked())
}

fn operands(op: MacroOp, at: Option<LevelNote>) -> Vec<MacroType> {
    let count = op.info().operand_names.len();
    (0..count).map(|number| operand(op, number, at)).collect()
}

#[test]
fn the_verifier_demands_what_the_columns_say() {
    for op in operations() {
        let columns = op.columns();
        let level = match columns.level {
            MacroLevel::Chosen | MacroLevel::Same => AT,
            MacroLevel::Lower => Level(AT.0 - 1),
            MacroLevel::Dropped => DOWN,
            MacroLevel::Raised => UP,
            MacroLevel::Declared | MacroLevel::Key => {
                unreachable!("calls and linked procedures are tested elsewhere")
            }
        };
        let times = match columns.note {
            MacroNote::Chosen | MacroNote::Same | MacroNote::Equal => 1.0,
            MacroNote::Product => SCALE,
            MacroNote::ConstantProduct => 4.0,
            MacroNote::Divided => 1.0 / PRIMES[AT.index()] as f64,
            // The verifier takes any; 3 is an arbitrary one.
            MacroNote::Refactored | MacroNote::Refreshed => 3.0,
            MacroNote::Declared | MacroNote::Key | MacroNote::Combined | MacroNote::Lowered => {
                unreachable!("calls and linked procedures are tested elsewhere")
            }
        };
        let given = operands(op, at(op, AT, 1.0));
        let right = result(op, at(op, level, times));
        let check = |made| verify_with_primes(&program(op, given.clone(), made), &PRIMES);
        check(right).unwrap_or_else(|e| panic!("{}: {e}", op.mnemonic()));
        let chosen = columns.level == MacroLevel::Chosen;
        let other = Level(level.0 + 1);
        assert_eq!(check(right.placed(at(op, other, times))).is_ok(), chosen);
        let any = matches!(
            columns.note,
            MacroNote::Chosen | MacroNote::Refactored | MacroNote::Refreshed
        );
        let note = check(right.placed(at(op, level, 2.0 * times)));
        assert_eq!(note.is_ok(), any, "{}", op.mnemonic());
        if let MacroType::Cipher { size, at } = right {
            let size = 5 - size;
            assert!(check(MacroType::Cipher { size, at }).is_err());
        }
    }
}

#[test]
fn operations_stand_from_their_stage_on() {
    for op in operations() {
        let unmanaged = program(op, operands(op, None), result(op, None));
        // Programs have relinearisations before they have levels.
        let early = op.columns().stage == MacroStage::Traced || op == MacroOp::Relin;
        assert_eq!(verify(&unmanaged).is_ok(), early, "{}", op.mnemonic());
    }
    let made_up = program(
        MacroOp::Madeup,
        vec![MacroType::Cipher { size: 2, at: None }],
        MacroType::Cipher { size: 2, at: None },
    );
    let refused = verify(&made_up).unwrap_err().to_string();
    assert!(refused.contains("MADEUP"), "{refused}");
    assert!(MacroOp::from_mnemonic("MADEUP").is_none());
}

#[test]
fn stages_are_left_upwards_and_not_down() {
    for op in MacroOp::ALL {
        let stage = op.columns().stage;
        let traced = TracedOp::try_from(op);
        let managed = ManagedOp::try_from(op);
        assert_eq!(traced.is_ok(), stage == MacroStage::Traced);
        assert_eq!(managed.is_ok(), stage != MacroStage::Explicit);
        if let Ok(traced) = traced {
            assert_eq!(MacroOp::from(traced), op);
            assert_eq!(MacroOp::from(ManagedOp::from(traced)), op);
        }
        if let Ok(managed) = managed {
            assert_eq!(MacroOp::from(managed), op);
            let down = TracedOp::try_from(managed);
            assert_eq!(down, traced);
        }
    }
    let OfStage { op, expected } = TracedOp::try_from(ManagedOp::Rescale).unwrap_err();
    assert_eq!((op, expected), (MacroOp::Rescale, MacroStage::Traced));
    let refused = ManagedOp::try_from(MacroOp::Load).unwrap_err().to_string();
    assert_eq!(
        refused,
        "LOAD is an operation of explicit programs; expected one of managed programs"
    );
}

/// Visitor without methods of its own.
struct Nothing;

impl Visitor for Nothing {
    const PASS: &'static str = "nothing";
    type Out = ();
    type Error = Refused;
}

#[test]
fn what_a_visitor_does_not_know_it_refuses_by_name() {
    for op in MacroOp::ALL.into_iter().chain([MacroOp::Madeup]) {
        let imm = match op {
            MacroOp::Input => MacroImm::Input(0),
            MacroOp::Output => MacroImm::Output(0),
            MacroOp::Call => MacroImm::Proc(0),
            MacroOp::Repeat => MacroImm::Repeat { proc: 0, count: 1 },
            _ => immediate(op, true),
        };
        let instr = |imm| MacroInstr {
            op,
            dst: Vec::new(),
            src: Vec::new(),
            imm,
            loc: None,
        };
        let unknown = Nothing.visit(&instr(imm)).unwrap_err();
        assert_eq!((unknown.pass, unknown.op), ("nothing", op));
        let message = format!("nothing has no meaning for {}", op.mnemonic());
        assert_eq!(unknown.to_string(), message);
        // Of all operations MORPH alone takes a Galois element.
        if op != MacroOp::Morph && op != MacroOp::Madeup {
            let shape = Nothing
                .visit(&instr(MacroImm::Galois(Galois(3))))
                .unwrap_err();
            assert!(shape.to_string().contains("another immediate"), "{shape}");
        }
    }
}
