// SPDX-License-Identifier: Apache-2.0
//! Tests which programs compile for this computer's kernels, and which are refused because they are no bootstrap.

use std::sync::Arc;

use ringmill_circuits::internals::Plan;
use ringmill_circuits::tfhe::mid::{self, BootstrapPrograms, Ending, RotationInput};
use ringmill_circuits::tfhe::{
    CiphertextModulus, LweDimension, Order, Params, ParamsBuilder, TfheError, Transforms, Unrolling,
};
use ringmill_isa::mid::{Instr, LocalId, Op, Operand, Procedure, Program, Verified};

use super::setup::toy;

fn plan(params: &Params, program: Program, keys: &[RotationInput]) -> Result<(), TfheError> {
    Plan::of(params, &Verified::new(program).unwrap(), keys).map(drop)
}

fn params(builder: ParamsBuilder) -> Arc<Params> {
    builder.build().unwrap()
}

/// Tests that every program compiles, under every kind of parameters and with a last turn of fewer bits.
#[test]
fn every_program_of_a_bootstrap_is_made_ready() {
    for unrolling in Unrolling::ALL {
        let uneven = |n: &mut LweDimension| n.0 += usize::from(n.0.is_multiple_of(unrolling.m()));
        let each = || toy().unrolling(unrolling).sizes(|s| uneven(&mut s.n));
        for builder in [
            each(),
            each().transforms(Transforms::TwoPrimes),
            each().order(Order::KeySwitchFirst),
            each().modulus(CiphertextModulus::Prime { bits: 30 }),
            each().modulus(CiphertextModulus::Prime { bits: 32 }),
        ] {
            let params = params(builder);
            let programs = BootstrapPrograms::new(&params).unwrap();
            let turned = mid::rotation_inputs(&params, Ending::Accumulator);
            let whole = mid::rotation_inputs(&params, Ending::Entry);
            plan(&params, programs.turn, &turned).unwrap();
            plan(&params, programs.rotate, &whole).unwrap();
            plan(&params, programs.switch, &[]).unwrap();
            plan(&params, mid::extract(&params).unwrap(), &[]).unwrap();
        }
    }
}

fn refused(params: &Params, program: Program, keys: &[RotationInput]) -> String {
    match plan(params, program, keys) {
        Err(TfheError::Unplanned { what }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn keys_lie_as_turns_take_them() {
    let params = params(toy());
    let keys = mid::rotation_inputs(&params, Ending::Accumulator);
    let (first, last) = (2 + params.sizes().n.0, keys.len() - 1);
    for (a, b) in [(first, first + 1), (first, last), (last - 1, last)] {
        let mut keys = keys.clone();
        keys.swap(a, b);
        let what = refused(&params, mid::turn(&params).unwrap(), &keys);
        assert!(what.contains("keys in another order"), "{what}");
    }
    let what = refused(&params, mid::turn(&params).unwrap(), &[]);
    assert!(what.contains("key"), "{what}");
    let other = self::params(toy().sizes(|s| s.log_degree += 1));
    let what = refused(&other, mid::turn(&params).unwrap(), &keys);
    assert!(what.contains("other sizes"), "{what}");
}

/// Tests that a turn does not compile for parameters of another unrolling. A turn of one bit multiplies the limbs by
/// X^e - 1, a turn of several bits the products, and their buffers differ.
#[test]
fn turns_of_another_unrolling_are_refused() {
    let of = |unrolling| params(toy().unrolling(unrolling));
    for (made_for, given) in [
        (Unrolling::One, Unrolling::Two),
        (Unrolling::Two, Unrolling::One),
        (Unrolling::Two, Unrolling::Three),
    ] {
        let (made_for, given) = (of(made_for), of(given));
        let keys = mid::rotation_inputs(&made_for, Ending::Accumulator);
        refused(&given, mid::turn(&made_for).unwrap(), &keys);
    }
}

/// Returns the program of a blind rotation whose turn is altered. `change` receives those instructions of the turn that
/// have the opcode `op`.
fn with_turn(params: &Params, op: Op, change: impl FnOnce(&mut [&mut Instr])) -> Program {
    let mut program = mid::turn(params).unwrap();
    let mut turn = Procedure::clone(&program.procs[1]);
    assert_eq!(turn.name, "turn");
    let instrs = turn.instrs.iter_mut();
    change(&mut instrs.filter(|instr| instr.op == op).collect::<Vec<_>>());
    program.procs[1] = Arc::new(turn);
    program
}

/// Tests that well-formed programs of the same types that compute something else are refused.
#[test]
fn turns_of_another_data_flow_are_refused() {
    for unrolling in [Unrolling::One, Unrolling::Two] {
        let params = params(toy().unrolling(unrolling));
        let keys = mid::rotation_inputs(&params, Ending::Accumulator);
        let check = |op, change: &dyn Fn(&mut [&mut Instr])| {
            let what = refused(&params, with_turn(&params, op, change), &keys);
            assert!(
                what.contains("turn") || what.contains("keys"),
                "{op:?}: {what}"
            );
        };
        check(Op::Dot, &|dots| dots[0].src.swap(0, 2));
        check(Op::Dot, &|dots| dots[0].src.swap(1, 3));
        check(Op::Dot, &|dots| dots[0].src[1] = dots[1].src[1]);
        check(Op::Dot, &|dots| dots[1].src[0] = dots[1].src[2]);
        check(Op::Decomp, &|decomps| {
            decomps[0].src = decomps[1].src.clone()
        });
        check(Op::Intt, &|intts| intts[0].src = intts[1].src.clone());
        check(Op::Add, &|adds| {
            let last = adds.len() - 1;
            adds[last].src.swap(0, 1);
        });
        check(Op::Rotdiff, &|turns| {
            let [first, second, ..] = turns else {
                panic!("{unrolling:?}");
            };
            match unrolling {
                // With one bit the first instruction multiplies another limb.
                Unrolling::One => first.src[1] = second.src[1],
                // With several bits one pattern has another exponent in one column.
                _ => first.src[0] = second.src[0],
            }
        });
    }
}

#[test]
fn so_are_loops_that_carry_limbs_elsewhere() {
    let params = params(toy());
    let keys = mid::rotation_inputs(&params, Ending::Accumulator);
    let mut program = mid::turn(&params).unwrap();
    program.blocks[0].results.reverse();
    let what = refused(&params, program, &keys);
    assert!(what.contains("carries"), "{what}");
    // All turns take the exponent of the first turn.
    let mut program = mid::turn(&params).unwrap();
    let repeat = program.steps.last_mut().unwrap();
    let exponent = repeat.args.iter_mut().find_map(|arg| match arg {
        Operand::InTurn { step, .. } => Some(step),
        Operand::Input(_) | Operand::Local(_) => None,
    });
    *exponent.unwrap() = 0;
    let what = refused(&params, program, &keys);
    assert!(what.contains("exponents"), "{what}");
    // The limbs of the accumulator stay alive after the loop.
    let mut program = mid::turn(&params).unwrap();
    let cols = params.sizes().k.0 as u32 + 1;
    let repeat = program.steps.last_mut().unwrap();
    repeat.dies.clear();
    repeat.results = (cols..2 * cols).map(LocalId).collect();
    let what = refused(&params, program, &keys);
    assert!(what.contains("read again"), "{what}");
}
