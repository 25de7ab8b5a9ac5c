// SPDX-License-Identifier: Apache-2.0
//! Random well-typed procedures and programs: accepted, round-tripped, and refused with the right error when altered.

use crate::support;

use proptest::prelude::*;
use ringmill_isa::Fault;
use ringmill_isa::Galois;
use ringmill_isa::limits;
use ringmill_isa::mid::text::{parse_procedure, parse_program, print_procedure, print_program};
use ringmill_isa::mid::{
    Form, Imm, Instr, LimbId, LimbType, ModulusId, Op, ParamRole, Procedure, Program, TableModulus,
    Unrolled, ValueId, ValueType, Verified, expand_composites, stats, verify_procedure,
    verify_program, verify_unrolled,
};
use ringmill_math::Ring;

use crate::support::{MODULI, PRIMES, any_procedure, any_unrolled, moduli};

/// Asserts that a fault is of the expected kind.
macro_rules! refused {
    ($fault:expr, $kind:pat) => {{
        let fault = $fault;
        let right = matches!(fault, $kind);
        prop_assert!(right, "{:?}", fault);
    }};
}

fn fault(p: &Procedure) -> Fault {
    *verify_procedure(p).expect_err("an altered procedure").fault
}

/// Returns the type of a value that is a limb, to alter it.
fn limb_of(p: &mut Procedure, v: usize) -> &mut LimbType {
    match &mut p.types[v] {
        ValueType::Limb(ty) => ty,
        other => panic!("{other:?} is no limb"),
    }
}

/// Returns the number of the pick-th instruction that fits, counted around.
fn choose(p: &Procedure, pick: u16, fits: impl Fn(&Instr) -> bool) -> Option<usize> {
    let found: Vec<_> = (0..p.instrs.len())
        .filter(|&i| fits(&p.instrs[i]))
        .collect();
    found.get(usize::from(pick) % found.len().max(1)).copied()
}

proptest! {
    #[test]
    fn procedures_round_trip(p in any_procedure()) {
        verify_procedure(&p).unwrap();
        let text = print_procedure(&p);
        let again = parse_procedure(&text).unwrap();
        prop_assert_eq!(&again, &p);
        prop_assert_eq!(print_procedure(&again), text);
        verify_procedure(&expand_composites(&p, |_| false).unwrap()).unwrap();
    }

    #[test]
    fn programs_round_trip(p in any_unrolled()) {
        verify_unrolled(&p).unwrap();
        let calls = p.calls.len();
        let p = Program::from(p);
        verify_program(&p).unwrap();
        let unrolled = Unrolled::of(&Verified::new(p.clone()).unwrap(), calls).unwrap();
        verify_unrolled(&unrolled).unwrap();
        prop_assert_eq!(&Unrolled::of(&unrolled.clone().try_into().unwrap(), calls).unwrap(), &unrolled);
        let text = print_program(&p);
        let again = parse_program(&text).unwrap();
        prop_assert_eq!(&again, &p);
        prop_assert_eq!(print_program(&again), text);
    }

    #[test]
    fn wrong_result_types(p in any_procedure(), pick in any::<u16>()) {
        let free = |op| {
            matches!(op, Op::Prng | Op::Conv | Op::Bext | Op::Bextx | Op::Bextr | Op::Store | Op::Decomp)
        };
        let limbs = |i: &Instr| i.dst.first().is_some_and(|&d| p.limb(d).is_some());
        if let Some(at) = choose(&p, pick, |i| !free(i.op) && limbs(i)) {
            let v = p.instrs[at].dst[0].0 as usize;
            let mut bad = p.clone();
            let ty = limb_of(&mut bad, v);
            let prime = ty.modulus.0 < PRIMES;
            ty.modulus = ModulusId((ty.modulus.0 + 1) % PRIMES);
            refused!(fault(&bad), Fault::Modulus { .. });
            let error = verify_procedure(&bad).unwrap_err();
            prop_assert_eq!(error.place.instruction.unwrap().number, at);
            let mut bad = p.clone();
            let ty = limb_of(&mut bad, v);
            ty.form = if ty.form == Form::Eval { Form::Coeff } else { Form::Eval };
            if prime {
                refused!(fault(&bad), Fault::Form { .. });
            } else {
                refused!(fault(&bad), Fault::NotPrime { needs: "evaluation form", .. });
            }
            let error = verify_procedure(&bad).unwrap_err();
            prop_assert_eq!(error.place.instruction.unwrap().number, at);
            let mut bad = p.clone();
            let full = Ring::full(bad.log_n);
            let ty = limb_of(&mut bad, v);
            ty.ring = if ty.ring == full { full.halves().1 } else { full };
            if prime {
                refused!(fault(&bad), Fault::Ring { .. });
            } else {
                refused!(fault(&bad), Fault::NotPrime { needs: "a half ring", .. });
            }
            let mut bad = p.clone();
            limb_of(&mut bad, v).ring.log_n += 1;
            refused!(fault(&bad), Fault::Ring { .. });
            let mut bad = p.clone();
            limb_of(&mut bad, v).modulus = ModulusId(MODULI);
            refused!(fault(&bad), Fault::Range { .. });
        }
    }

    #[test]
    fn wrong_uses_and_definitions(p in any_procedure(), pick in any::<u16>(), wild in any::<u32>()) {
        if let Some(at) = choose(&p, pick, |i| !i.src.is_empty()) {
            let mut bad = p.clone();
            bad.instrs[at].src[0] = bad.instrs.iter().rev().find_map(|i| i.dst.first().copied()).unwrap_or(ValueId(wild));
            let later = bad.instrs.iter().position(|i| i.dst.contains(&bad.instrs[at].src[0])).unwrap_or(usize::MAX);
            if later >= at {
                refused!(fault(&bad), Fault::Undefined { .. });
            }
            let mut bad = p.clone();
            bad.instrs[at].src[0] = ValueId(wild | 1 << 20);
            refused!(fault(&bad), Fault::Undefined { .. });
            let mut bad = p.clone();
            let few = bad.instrs[at].op.info().operands;
            while few.allows(bad.instrs[at].src.len()) {
                bad.instrs[at].src.pop();
            }
            refused!(fault(&bad), Fault::Count { what: "operands", .. });
        }
        if let Some(at) = choose(&p, pick, |i| !i.dst.is_empty()) {
            let mut bad = p.clone();
            bad.instrs[at].dst[0] = bad.params[0].value;
            refused!(fault(&bad), Fault::Redefined { .. });
            let mut bad = p.clone();
            bad.instrs[at].dst[0] = ValueId(wild | 1 << 20);
            refused!(fault(&bad), Fault::Range { what: "value number", .. });
            let mut bad = p.clone();
            bad.instrs[at].dst.clear();
            refused!(fault(&bad), Fault::Count { what: "results", .. });
        }
        let mut bad = p.clone();
        bad.types.push(bad.types[0]);
        refused!(fault(&bad), Fault::NeverDefined { .. });
        let mut bad = p.clone();
        bad.results.push(bad.results[0].clone());
        refused!(fault(&bad), Fault::Duplicate { what: "result", .. });
        let mut bad = p.clone();
        let mut twin = bad.params[0].clone();
        twin.value = ValueId(bad.types.len() as u32);
        bad.types.push(bad.types[bad.params[0].value.0 as usize]);
        bad.params.push(twin);
        refused!(fault(&bad), Fault::Duplicate { what: "parameter role", .. });
        let mut bad = p;
        bad.params[0].role = ParamRole::Key { arg: 0, digit: 0, part: limits::MAX_KEY_PARTS };
        refused!(fault(&bad), Fault::Range { what: "key part", .. });
    }

    #[test]
    fn wrong_immediates(p in any_procedure(), pick in any::<u16>()) {
        let alter = |at: usize, imm| {
            let mut bad = p.clone();
            bad.instrs[at].imm = imm;
            fault(&bad)
        };
        if let Some(at) = choose(&p, pick, |i| matches!(i.imm, Imm::Scalar(_))) {
            let q = moduli()[usize::from(p.types[p.instrs[at].src[0].0 as usize].modulus().unwrap().0)];
            // Modulo 2^64 there is no larger word, as every word is a residue.
            let above = q.top().checked_add(1).map(Imm::Scalar);
            let largest = above.map(|_| Imm::Scalar(u64::MAX));
            for imm in [above, largest, Some(Imm::None), Some(Imm::Galois(Galois(1)))].into_iter().flatten() {
                refused!(alter(at, imm), Fault::Immediate { .. });
            }
        }
        if let Some(at) = choose(&p, pick, |i| matches!(i.imm, Imm::Galois(_))) {
            for g in [0, 2, 2 << p.log_n, (2 << p.log_n) + 1, u32::MAX] {
                refused!(alter(at, Imm::Galois(Galois(g))), Fault::Immediate { .. });
            }
        }
        if let Some(at) = choose(&p, pick, |i| matches!(i.imm, Imm::Representative(_))) {
            for imm in [Imm::None, Imm::Scalar(0)] {
                refused!(alter(at, imm), Fault::Immediate { .. });
            }
        }
        if let Some(at) = choose(&p, pick, |i| matches!(i.imm, Imm::Stream { .. })) {
            refused!(alter(at, Imm::Stream { seed: 2, stream: 0 }), Fault::Immediate { .. });
        }
        if let Some(at) = choose(&p, pick, |i| i.op == Op::Store) {
            refused!(alter(at, Imm::Slot(u32::MAX)), Fault::Immediate { .. });
        }
        if let Some(at) = choose(&p, pick, |i| i.op == Op::Load) {
            refused!(alter(at, Imm::Slot(1 << 20)), Fault::EmptySlot { slot: 1048576 });
        }
    }

    #[test]
    fn wrong_moduli(p in any_procedure()) {
        let with = |table: Vec<TableModulus>| fault(&Procedure { moduli: table, ..p.clone() });
        let q: Vec<u64> = moduli().iter().flat_map(|q| q.prime()).collect();
        for bad in [vec![], vec![0, q[1], q[2], q[3]], vec![q[0], q[1], q[2], 65], vec![u64::MAX; 1], vec![q[0] + 2]] {
            refused!(with(TableModulus::primes(&bad)), Fault::Illegal { .. });
        }
        for kind in [
            TableModulus::Plain(0),
            TableModulus::Plain(1),
            TableModulus::Plain(1 << 61),
            TableModulus::Plain(u64::MAX),
            TableModulus::PowerOfTwo(0),
            TableModulus::PowerOfTwo(65),
            TableModulus::PowerOfTwo(u8::MAX),
        ] {
            refused!(with(vec![kind, q[1].into()]), Fault::Illegal { what: "modulus", .. });
        }
        refused!(with(TableModulus::primes(&[q[0], q[1], q[0], q[2]])), Fault::Duplicate { what: "modulus", .. });
        // One value is not a modulus of two kinds.
        for twice in [
            [TableModulus::Plain(q[0]), q[0].into()],
            [TableModulus::Plain(8), TableModulus::PowerOfTwo(3)],
        ] {
            refused!(with(twice.to_vec()), Fault::Duplicate { what: "modulus", .. });
        }
        refused!(fault(&Procedure { log_n: 200, ..p.clone() }), Fault::Illegal { what: "ring", .. });
        refused!(fault(&Procedure { name: "a b".into(), ..p.clone() }), Fault::Illegal { .. });
    }

    #[test]
    fn wrong_calls(p in any_unrolled(), pick in any::<u16>()) {
        let refuse = |bad: &_| verify_unrolled(bad).expect_err("an altered program");
        if p.calls.is_empty() {
            return Ok(());
        }
        let at = usize::from(pick) % p.calls.len();
        let mut bad = p.clone();
        bad.calls[at].args.pop();
        let error = refuse(&bad);
        refused!(*error.fault, Fault::Count { what: "arguments", .. });
        prop_assert_eq!(&error.place.loc, &p.calls[at].loc);
        let mut bad = p.clone();
        bad.calls[at].results.pop();
        refused!(*refuse(&bad).fault, Fault::Count { what: "results", .. });
        let mut bad = p.clone();
        bad.calls[at].seeds[0] = 3;
        refused!(*refuse(&bad).fault, Fault::Range { what: "seed number", .. });
        let mut bad = p.clone();
        bad.calls[at].proc = 77;
        refused!(*refuse(&bad).fault, Fault::Range { what: "procedure number", .. });
        let mut bad = p.clone();
        bad.calls[at].results[0] = bad.calls[at].args[0];
        refused!(*refuse(&bad).fault, Fault::Redefined { .. });
        let mut bad = p.clone();
        bad.calls[at].args[0] = p.calls[p.calls.len() - 1].results[0];
        refused!(*refuse(&bad).fault, Fault::Undefined { .. });
        let mut bad = p.clone();
        bad.calls[at].args[0] = LimbId(u64::MAX);
        refused!(*refuse(&bad).fault, Fault::Undefined { .. });
        // A new input of another modulus is no argument.
        let mut bad = p.clone();
        let limb = LimbId(bad.limbs.len() as u64);
        let mut ty = bad.limb_type(bad.calls[at].args[0]).unwrap();
        ty.modulus = ModulusId((ty.modulus.0 + 1) % PRIMES);
        bad.limbs.push(ty.into());
        let mut input = bad.inputs[0].clone();
        (input.limb, input.role) = (limb, ringmill_isa::mid::InputRole::Plain { input: 1 << 20 });
        bad.inputs.push(input);
        bad.calls[at].args[0] = limb;
        refused!(*refuse(&bad).fault, Fault::Modulus { .. });
        // A fault inside a procedure names the line of its first call.
        let mut bad = p.clone();
        let proc = bad.calls[at].proc;
        let mut altered = (*bad.procs[proc as usize]).clone();
        altered.types.push(altered.types[0]);
        bad.procs[proc as usize] = altered.into();
        let first = p.calls.iter().filter(|c| c.proc == proc).find_map(|c| c.loc.clone());
        prop_assert_eq!(refuse(&bad).place.loc, first);
    }

    #[test]
    fn wrong_tables(p in any_unrolled()) {
        let refuse = |bad: &_| *verify_unrolled(bad).expect_err("an altered program").fault;
        let mut bad = p.clone();
        bad.procs.push(bad.procs[0].clone());
        refused!(refuse(&bad), Fault::Duplicate { what: "procedure name", .. });
        let mut bad = p.clone();
        bad.moduli.swap(0, 1);
        refused!(refuse(&bad), Fault::Modulus { .. });
        let mut bad = p.clone();
        bad.log_n -= 1; // the moduli still serve this degree
        refused!(refuse(&bad), Fault::Ring { .. });
        let mut bad = p.clone();
        bad.seeds.push(9);
        refused!(refuse(&bad), Fault::Duplicate { what: "seed of key", .. });
        if let Some(output) = p.outputs.first() {
            let mut bad = p.clone();
            bad.outputs.push(output.clone());
            refused!(refuse(&bad), Fault::Duplicate { what: "output", .. });
        }
        if let Some(input) = p.inputs.first() {
            let mut bad = p.clone();
            bad.inputs.push(input.clone());
            refused!(refuse(&bad), Fault::Redefined { .. });
        }
    }
}

/// Checks that the generator makes every instruction, so that the properties above hold for the whole level.
#[test]
fn every_instruction_is_generated() {
    let round =
        |seed: u16| (0..Op::COUNT as u16).map(move |op| (op, seed, seed / 3, u64::from(seed)));
    let choices: Vec<_> = (0..200).flat_map(round).collect();
    let counts = stats::procedure_counts(&support::procedure("all", 0, &choices));
    // HCF stands in programs, not in procedures; `mid_blocks.rs` tests it.
    let missing: Vec<_> = Op::ALL
        .iter()
        .filter(|&&op| op != Op::Hcf)
        .filter(|op| !counts.contains_key(op))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
