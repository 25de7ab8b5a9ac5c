// SPDX-License-Identifier: Apache-2.0
//! Tests keys that a run expands from seeds as it reads them, under byte budgets: the bits stay the same, and memory
//! stays within the budget.

use std::sync::Arc;

use crate::common::random::{Case, Dice, case, moduli};
use crate::common::ready;
use ringmill_cpu::Cpu;
use ringmill_device::progress::Silent;
use ringmill_device::{
    Bindings, Device, DeviceError, Expanded, ExpandedStats, Limb, Outcome, Request, SeedExpansion,
};
use ringmill_isa::Poly;
use ringmill_isa::mid::*;
use ringmill_math::Ring;
use ringmill_sim::open;

/// Binds a case's data so that all its seeds expand into one place, which has one budget.
fn bind(case: &Case) -> (Bindings<'_>, Arc<Expanded>) {
    let expanded = Arc::default();
    let seeds = case.seeds.iter();
    let seeds = seeds.map(|&seed| Arc::new(SeedExpansion::within(seed, &expanded)));
    let bindings = Bindings {
        seeds: seeds.collect(),
        ..crate::common::bind(case)
    };
    (bindings, expanded)
}

fn under(budget: u64) -> Request<'static> {
    Request {
        expanded_bytes: Some(budget),
        ..Request::function_only()
    }
}

fn stats(outcome: &Outcome) -> ExpandedStats {
    outcome.statistics.as_ref().unwrap().expanded()
}

/// Returns the most bytes of expanded limbs that steps hold while `open` calls are open: the limbs of that many calls
/// in sequence, and those that calls return as results.
fn held(case: &Case, open: usize) -> u64 {
    let program = &case.program;
    let bytes = |proc: &Procedure, value: ValueId| 8 * proc.types[value.0 as usize].words();
    let of_call = |call: &Call| -> [usize; 2] {
        let proc = &program.procs[call.proc as usize];
        let made = proc.instrs.iter().filter(|instr| instr.op == Op::Prng);
        let made: Vec<ValueId> = made.flat_map(|instr| instr.dst.iter().copied()).collect();
        let out = made.iter().filter(|made| {
            // A limb that was stored and loaded is the same limb under another name. So every limb of a procedure that
            // stores counts as a result.
            let stores = proc.instrs.iter().any(|instr| instr.op == Op::Store);
            stores || proc.results.iter().any(|result| result.value == **made)
        });
        [
            made.iter().map(|&value| bytes(proc, value)).sum(),
            out.map(|&value| bytes(proc, value)).sum(),
        ]
    };
    let calls: Vec<[usize; 2]> = program.calls.iter().map(of_call).collect();
    let inside = calls.windows(open.min(calls.len()));
    let inside = inside.map(|window| window.iter().map(|[inside, _]| inside).sum::<usize>());
    let out: usize = calls.iter().map(|[_, out]| out).sum();
    (inside.max().unwrap_or(0) + out) as u64
}

#[test]
fn random_programs_give_the_same_bits_under_every_budget() {
    let mut dropped = 0;
    for seed in 0..16 {
        // Programs of all instructions, and programs that mostly multiply by keys.
        let case = match seed % 2 {
            0 => case(seed, 6, 12),
            _ => random_keys(seed),
        };
        let program = ready(&case.program);
        let run = |cpu: &Cpu, request| {
            let (bindings, expanded) = bind(&case);
            let outcome = cpu.run(&program, &bindings, request, &Silent);
            (outcome, expanded)
        };
        let one = Cpu::new(1).unwrap();
        let whole = run(&one, Request::function_only()).0.unwrap();
        let all = stats(&whole);
        assert_eq!(
            (all.budget_bytes, all.limbs_again),
            (None, 0),
            "everything is kept"
        );
        let (refused, expanded) = run(&one, under(0));
        let least = match refused {
            Err(DeviceError::SmallBudget { budget: 0, least }) => least,
            Ok(_) if all.limbs == 0 => continue,
            other => panic!("{other:?}"),
        };
        assert_eq!(expanded.bytes(), 0, "nothing was expanded");
        let whole = whole.outputs.unwrap();
        for (threads, open) in [(1, 1), (2, 8)] {
            let cpu = Cpu::new(threads).unwrap();
            for budget in (least..=all.peak_bytes + 512).step_by(512) {
                let (outcome, expanded) = run(&cpu, under(budget));
                let outcome = outcome.unwrap();
                let one = stats(&outcome);
                let at = format!("seed {seed}, {threads} threads, {budget} bytes: {one:?}");
                assert_eq!(outcome.outputs.as_ref().unwrap(), &whole, "{at}");
                assert_eq!(one.budget_bytes, Some(budget), "{at}");
                // The bound is the budget, or the bytes that open calls hold if these are more.
                assert!(one.peak_bytes <= budget.max(held(&case, open)), "{at}");
                assert!(expanded.bytes() <= budget, "{at}");
                assert_eq!(one.limbs - one.limbs_again, all.limbs, "{at}");
                if budget >= all.peak_bytes {
                    assert_eq!(one.limbs_again, 0, "{at}");
                }
                dropped += one.limbs_again;
            }
        }
    }
    assert!(
        dropped > 1000,
        "{dropped} limbs were dropped and made again"
    );
}

/// Returns a program of `calls`, each a procedure's number and a seed's number. Procedure i reads `limbs[i]` limbs of a
/// key. An even procedure multiplies by one limb after the other; an odd one adds up products with all.
fn keyed(limbs: &[u64], calls: &[(u32, u32)]) -> Case {
    const LOG_N: u8 = 6;
    let moduli = TableModulus::primes(&moduli(LOG_N)[..1]);
    let ty = LimbType {
        ring: Ring::full(LOG_N),
        modulus: ModulusId(0),
        form: Form::Eval,
    };
    let role = ParamRole::Cipher {
        arg: 0,
        poly: Poly(0),
    };
    let procedure = |(number, &limbs): (usize, &u64)| {
        let mut b = ProcBuilder::new(format!("times{number}"), LOG_N, &moduli).unwrap();
        let x = b.param("x", ty, role).unwrap();
        let seed = b.seed(1).unwrap();
        let key = |b: &mut ProcBuilder, stream| b.prng(ty, seed, stream).unwrap();
        let y = if number % 2 == 0 {
            (0..limbs).fold(x, |y, stream| {
                let key = key(&mut b, stream);
                b.mul(y, key).unwrap()
            })
        } else {
            let pairs: Vec<_> = (0..limbs).map(|stream| (x, key(&mut b, stream))).collect();
            b.dot(&pairs).unwrap()
        };
        b.result(y, "y", 0, Poly(0)).unwrap();
        Arc::new(b.finish().unwrap())
    };
    let limb = |number: usize| LimbId(number as u64);
    let call = |(number, &(proc, seed)): (usize, &(u32, u32))| Call {
        proc,
        args: vec![limb(number)],
        seeds: vec![seed],
        results: vec![limb(number + 1)],
        loc: None,
    };
    let seeds = 1 + calls.iter().map(|&(_, seed)| seed).max().unwrap();
    let program = Unrolled {
        procs: limbs.iter().enumerate().map(procedure).collect(),
        seeds: (0..seeds).collect(),
        limbs: vec![ty.into(); calls.len() + 1],
        inputs: vec![Input {
            limb: limb(0),
            name: "x".into(),
            role: InputRole::Cipher {
                input: 0,
                poly: Poly(0),
            },
        }],
        calls: calls.iter().enumerate().map(call).collect(),
        outputs: vec![Output {
            limb: limb(calls.len()),
            name: "y".into(),
            output: 0,
            poly: Poly(0),
        }],
        ..Unrolled::empty(LOG_N, moduli.clone())
    };
    let inputs = vec![Dice::new(1).residues(moduli[0], 1 << LOG_N)];
    Case {
        program,
        inputs,
        seeds: (0..seeds).map(|seed| [seed as u8; 32]).collect(),
    }
}

/// Returns a program whose calls each multiply by one limb of a key, with two keys in turn.
fn in_turn(calls: u32) -> Case {
    let calls: Vec<_> = (0..calls).map(|number| (0, number % 2)).collect();
    keyed(&[1], &calls)
}

/// Returns a program that reads the limbs of four keys in random order.
fn random_keys(seed: u64) -> Case {
    let mut dice = Dice::new(seed);
    let limbs: Vec<u64> = (0..4).map(|_| 1 + dice.below(6) as u64).collect();
    let mut below = |end| dice.below(end) as u32;
    let calls: Vec<_> = (0..30).map(|_| (below(4), below(4))).collect();
    keyed(&limbs, &calls)
}

#[test]
fn two_keys_in_turn_are_expanded_as_often_as_the_hand_count_says() {
    const LIMB: u64 = 8 << 6;
    let case = in_turn(10);
    let program = ready(&case.program);
    let cpu = Cpu::new(1).unwrap();
    let (bindings, expanded) = bind(&case);
    let run = |request| cpu.run(&program, &bindings, request, &Silent);
    let counts = |request| {
        let stats = stats(&run(request).unwrap());
        (stats.limbs, stats.limbs_again, stats.peak_bytes)
    };
    // A budget below one limb is refused before anything is expanded, and the error names the least budget.
    let refused = run(under(LIMB - 1)).unwrap_err();
    let text = refused.to_string();
    let DeviceError::SmallBudget { budget, least } = refused else {
        panic!("{text}");
    };
    assert_eq!((budget, least, expanded.bytes()), (LIMB - 1, LIMB, 0));
    assert!(
        text.contains("511 bytes") && text.contains("at least 512 bytes"),
        "{text}"
    );
    // With room for one limb, each call finds the other key's limb and expands its own.
    assert_eq!(counts(under(LIMB)), (10, 8, LIMB));
    // The second key's limb remains from the last call. The first key's limb is expanded once more, and both stay.
    assert_eq!(counts(under(2 * LIMB)), (1, 1, 2 * LIMB));
    assert_eq!(counts(Request::function_only()), (0, 0, 2 * LIMB));
    assert_eq!(expanded.bytes(), 2 * LIMB);
    // Under a smaller budget, the run first drops the limbs that exceed it: here the first key's, which was read before
    // the second's.
    assert_eq!(counts(under(LIMB)), (10, 10, LIMB));
    assert_eq!(expanded.bytes(), LIMB);
}

#[test]
fn budgets_that_nothing_would_keep_to_are_refused() {
    let case = in_turn(4);
    let program = ready(&case.program);
    let cpu = Cpu::new(1).unwrap();
    let apart = crate::common::bind(&case);
    let refused = cpu.run(&program, &apart, under(4096), &Silent);
    assert!(matches!(
        refused,
        Err(DeviceError::SeveralBudgets { places: 2 })
    ));
    let (bindings, _) = bind(&case);
    let polymul = open("sim:polymul").unwrap();
    let refused = polymul.run(&program, &bindings, under(4096), &Silent);
    assert!(
        matches!(&refused, Err(DeviceError::NoBudget { device, .. }) if device == "sim:polymul"),
        "{refused:?}"
    );
    for device in ["sim:ring", "sim:polymul"] {
        let request = Request {
            expanded_bytes: Some(4096),
            ..Request::timing_only()
        };
        let device = open(device).unwrap();
        let refused = device.run(&program, &Bindings::default(), request, &Silent);
        assert!(
            matches!(refused, Err(DeviceError::NoBudget { .. })),
            "{refused:?}"
        );
    }
}

/// If no budget is asked for, limbs and seeds may expand into several places, and each keeps its limbs from run to run.
#[test]
fn seeds_apart_keep_what_they_expand() {
    let case = in_turn(4);
    let q = case.program.moduli[0];
    let bindings = Bindings {
        limbs: vec![Limb::borrowed(&case.inputs[0], q).unwrap()],
        ..crate::common::bind(&case)
    };
    let cpu = Cpu::new(1).unwrap();
    for limbs in [2, 0] {
        let run = cpu.run(
            &ready(&case.program),
            &bindings,
            Request::function_only(),
            &Silent,
        );
        assert_eq!(stats(&run.unwrap()).limbs, limbs);
    }
}
