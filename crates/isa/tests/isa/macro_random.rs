// SPDX-License-Identifier: Apache-2.0
//! Random macro programs of each stage: accepted, round-tripped, and refused with the right error when altered.

mod grower;

use proptest::prelude::*;
use ringmill_isa::Fault;
use ringmill_isa::Level;
use ringmill_isa::macros::text::{parse, print};
use ringmill_isa::macros::{
    Interval, MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue, Note, Stage,
    stage, stats, verify, verify_with_primes,
};

use grower::{Grower, PRIMES, SLOTS, any_program, grow};

/// Counts instructions, those of a procedure as often as it is called.
fn written_out(p: &MacroProgram, instrs: &[MacroInstr]) -> u64 {
    let one = |i: &MacroInstr| match i.imm {
        MacroImm::Proc(n) => written_out(p, &p.procs[n as usize].instrs),
        MacroImm::Repeat { proc, count } => count * written_out(p, &p.procs[proc as usize].instrs),
        _ => 1,
    };
    instrs.iter().map(one).sum()
}

fn bits(p: &MacroProgram) -> Vec<(u64, u64)> {
    p.data
        .iter()
        .flatten()
        .map(|(re, im)| (re.to_bits(), im.to_bits()))
        .collect()
}

/// Asserts that a program is refused with a fault of the expected kind.
macro_rules! refused {
    ($program:expr, $kind:pat) => {{
        let error = verify(&$program).expect_err("an altered program");
        let right = matches!(*error.fault, $kind);
        prop_assert!(right, "{error}");
        error
    }};
}

proptest! {
    #[test]
    fn programs_round_trip(p in any_program()) {
        verify(&p).unwrap();
        if stage(&p) == Stage::Managed {
            verify_with_primes(&p, &PRIMES).unwrap();
        } else {
            prop_assert!(verify_with_primes(&p, &PRIMES).is_err());
        }
        let text = print(&p);
        let again = parse(&text).unwrap();
        prop_assert_eq!(&again, &p);
        prop_assert_eq!(bits(&again), bits(&p));
        prop_assert_eq!(print(&again), text);
        prop_assert_eq!(stats::counts(&p).values().sum::<u64>(), written_out(&p, &p.instrs));
    }

    #[test]
    fn altered_programs(p in any_program(), pick in any::<u16>()) {
        let at = usize::from(pick) % p.instrs.len();
        let altered = |change: &dyn Fn(&mut MacroProgram)| {
            let mut bad = p.clone();
            change(&mut bad);
            bad
        };
        let error = refused!(altered(&|p| p.instrs[at].imm = MacroImm::Level(Level(9))),
            Fault::Immediate { .. } | Fault::Level { .. });
        prop_assert_eq!(&error.place.loc, &p.instrs[at].loc);
        prop_assert_eq!(error.place.instruction.map(|i| i.number), Some(at));
        refused!(altered(&|p| p.instrs[at].src.push(MacroValue(0))), Fault::Count { .. } | Fault::Level { .. } | Fault::Size { .. } | Fault::Scale { .. });
        refused!(altered(&|p| { p.types.push(MacroType::Plain { at: None }); }), Fault::NeverDefined { .. });
        refused!(altered(&|p| p.instrs.push(p.instrs[0].clone())), Fault::Redefined { .. });
        refused!(altered(&|p| { p.instrs.pop(); }), Fault::NeverDefined { .. });
        refused!(altered(&|p| p.instrs.push(p.instrs[p.instrs.len() - 1].clone())), Fault::Duplicate { what: "output", .. });
        refused!(altered(&|p| p.slots = 12), Fault::Illegal { what: "slots", .. });
        refused!(altered(&|p| p.data[0].truncate(15)), Fault::Illegal { what: "constant vector", .. });
        refused!(altered(&|p| p.data[0][3].1 = f64::NAN), Fault::Illegal { what: "constant vector", .. });
        refused!(altered(&|p| p.inputs[0].name = "u".into()), Fault::Duplicate { what: "input name", .. });
        refused!(altered(&|p| p.outputs[0] = "z".into()), Fault::Duplicate { what: "output name", .. });
        refused!(altered(&|p| p.instrs[0].imm = MacroImm::Input(3)), Fault::Range { what: "input number", .. });
        refused!(altered(&|p| p.instrs[1].imm = MacroImm::Input(0)), Fault::Duplicate { what: "encrypted input", .. });
        refused!(altered(&|p| p.instrs[0].imm = MacroImm::Input(1)), Fault::Kind { .. });
        for (at, instr) in p.instrs.iter().enumerate() {
            let (n, counted) = match instr.imm {
                MacroImm::Proc(n) => (n as usize, false),
                MacroImm::Repeat { proc, .. } => (proc as usize, true),
                _ => continue,
            };
            let calls = |proc, count| altered(&|p| p.instrs[at].imm = if counted {
                MacroImm::Repeat { proc, count }
            } else {
                MacroImm::Proc(proc)
            });
            let error = refused!(calls(p.procs.len() as u32, 1), Fault::Range { what: "procedure number", .. });
            prop_assert_eq!(&error.place.loc, &instr.loc);
            refused!(altered(&|p| { p.procs[n].results.push(MacroValue(0)); }), Fault::Count { what: "results", .. } | Fault::Illegal { what: "carried values", .. } | Fault::Carried { .. });
            refused!(altered(&|p| p.instrs[at].src[0] = p.instrs[at].src[2]), Fault::Kind { .. });
            refused!(altered(&|p| p.procs[n].instrs = p.instrs[at..=at].to_vec()), Fault::Recursion { .. } | Fault::Undefined { .. } | Fault::Redefined { .. } | Fault::Range { .. } | Fault::Count { .. } | Fault::Kind { .. } | Fault::Level { .. } | Fault::Scale { .. } | Fault::Size { .. });
            refused!(altered(&|p| p.procs[n].params[1] = MacroValue(0)), Fault::Redefined { .. });
            refused!(altered(&|p| p.procs[n].results[0] = MacroValue(u32::MAX)), Fault::Undefined { .. });
            refused!(altered(&|p| p.procs[n].types.push(MacroType::Plain { at: None })), Fault::NeverDefined { .. });
            if counted {
                for count in [0, (1 << 32) + 1, 1 << 60, u64::MAX] {
                    refused!(calls(n as u32, count), Fault::Immediate { .. });
                }
                prop_assert!(verify(&calls(n as u32, 1 << 32)).is_ok());
                refused!(altered(&|p| p.procs[n].results = vec![MacroValue(2)]), Fault::Carried { .. } | Fault::Count { .. } | Fault::Kind { .. });
            }
        }
        if let Some(at) = p.instrs.iter().position(|i| !i.src.is_empty()) {
            refused!(altered(&|p| p.instrs[at].src[0] = MacroValue(u32::MAX)), Fault::Undefined { .. });
        }
        if let Some(at) = p.instrs.iter().position(|i| matches!(i.imm, MacroImm::Steps(_))) {
            for step in [0, SLOTS as i32, i32::MIN] {
                refused!(altered(&|p| p.instrs[at].imm = MacroImm::Steps(vec![step])), Fault::Immediate { .. });
            }
        }
        if let Some(at) = p.instrs.iter().position(|i| matches!(i.imm, MacroImm::Interval(_))) {
            for (lowest, highest) in [(1.0, 0.5), (f64::NAN, 1.0), (0.0, f64::INFINITY), (f64::NEG_INFINITY, 0.0)] {
                let imm = MacroImm::Interval(Interval { lowest, highest });
                refused!(altered(&|p| p.instrs[at].imm = imm.clone()), Fault::Immediate { .. });
            }
        }
        let sums = |i: &MacroInstr| matches!(i.op, MacroOp::Add | MacroOp::Sub | MacroOp::Neg | MacroOp::Conj);
        if let Some(at) = p.instrs.iter().position(sums) {
            let d = p.instrs[at].dst[0].0 as usize;
            let error = refused!(altered(&|p| p.types[d] = match p.types[d] {
                MacroType::Cipher { size, at } => MacroType::Cipher { size: 5 - size, at },
                plain => plain,
            }), Fault::Size { .. });
            if stage(&p) == Stage::Managed {
                prop_assert_eq!(&error.place.loc, &p.instrs[at].loc);
            }
            refused!(altered(&|p| p.types[d] = MacroType::Plain { at: None }), Fault::Kind { .. } | Fault::Level { .. });
            if stage(&p) == Stage::Managed {
                let change = |level: u32, by: f64| altered(&|p| {
                    if let MacroType::Cipher { at: Some(at), .. } = &mut p.types[d] {
                        at.level.0 ^= level;
                        if let Note::Scale(scale) = &mut at.note {
                            *scale *= by;
                        }
                    }
                });
                refused!(change(1, 1.0), Fault::Level { .. });
                refused!(change(0, 1.0 + 1e-9), Fault::Scale { .. });
                refused!(change(0, f64::NAN), Fault::Scale { .. });
                prop_assert!(verify(&change(0, 1.0 + 1e-15)).is_ok() || p.instrs.len() > at + 1);
            }
        }
        if stage(&p) == Stage::Managed {
            let error = verify_with_primes(&p, &PRIMES[..3]).expect_err("too few levels");
            prop_assert!(matches!(*error.fault, Fault::Level { .. }), "{}", error);
            if p.instrs.iter().any(|i| i.op == MacroOp::Rescale) {
                let mut other = PRIMES;
                other.iter_mut().for_each(|q| *q += 1000);
                let error = verify_with_primes(&p, &other).expect_err("other primes");
                prop_assert!(matches!(*error.fault, Fault::Scale { .. }), "{}", error);
            }
        }
    }

    #[test]
    fn damaged_texts(p in any_program(), edits in prop::collection::vec((any::<u32>(), 0usize..9, "[%0-9a-z:;=,.\\-() \"\n]{0,4}"), 1..4)) {
        let mut chars: Vec<char> = print(&p).chars().collect();
        for (at, len, new) in edits {
            let at = at as usize % (chars.len() + 1);
            let end = (at + len).min(chars.len());
            drop(chars.splice(at..end, new.chars()));
        }
        let text: String = chars.into_iter().collect();
        if let Ok(p) = parse(&text) {
            let _ = verify(&p);
            let _ = verify_with_primes(&p, &PRIMES);
            let printed = print(&p);
            // Texts are compared, because a damaged number may be NaN, which equals nothing.
            prop_assert_eq!(print(&parse(&printed).unwrap()), printed);
        }
    }
}

#[test]
fn text_reads_well() {
    let square = MacroOp::ALL
        .iter()
        .position(|&op| op == MacroOp::Square)
        .expect("an opcode");
    let mut p = grow(
        Stage::Managed,
        &[],
        vec![vec![(0.5, 0.0); 16], [(1.0, 0.0), (0.0, -1.0)].repeat(8)],
    );
    p.instrs.truncate(2);
    let mut g = Grower {
        p,
        stage: Stage::Managed,
        in_procedure: false,
    };
    g.step((square as u16, 0, 0, 0.0));
    g.push(MacroOp::Output, &[MacroValue(2)], MacroImm::Output(1), &[]);
    g.push(MacroOp::Output, &[MacroValue(0)], MacroImm::Output(0), &[]);
    let expected = r#"macro "logistic \"1\"\u{9}" scheme ckks slots 16
  input 0 = encrypted "x"
  input 1 = plain "w;"
  input 2 = encrypted "u"
  output 0 = "y"
  output 1 = "z"
  data 0 = 16 repeat 0.5
  data 1 = 16 repeat 1.0 (0.0, -1.0)
  %0 = INPUT input 0 : cipher 2 level 3 scale 1099511627776.0
  %1 = INPUT input 2 : cipher 2 level 3 scale 1099511627776.0 at "a \"b\".py":1
  %2 = SQUARE %0 : cipher 3 level 3 scale 1.2089258196146292e24 at "a \"b\".py":2
  OUTPUT %2 output 1
  OUTPUT %0 output 0 at "a \"b\".py":4
end
"#;
    assert_eq!(print(&g.p), expected);
    verify(&g.p).expect("a sound program");
}

#[test]
fn every_instruction_is_generated() {
    let round =
        |seed: u16| (0..MacroOp::COUNT as u16).map(move |op| (op, seed * 7, u32::from(seed), 0.5));
    let choices: Vec<_> = (0..40).flat_map(round).collect();
    let p = grow(
        Stage::Managed,
        &choices,
        vec![vec![(1.0, 0.0); SLOTS as usize]],
    );
    verify_with_primes(&p, &PRIMES).expect("a sound program");
    let counts = stats::counts(&p);
    // These programs have no factors; `macro_text.rs` and `macro_linked.rs` test those.
    let missing: Vec<_> = MacroOp::ALL
        .iter()
        .filter(|&&op| !matches!(op, MacroOp::Refactor | MacroOp::Bootstrap))
        .filter(|op| !op.is_linked())
        .filter(|op| !counts.contains_key(op) && !p.instrs.iter().any(|i| i.op == **op))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
