// SPDX-License-Identifier: Apache-2.0
//! Distant memory while the host works beside the machine.

use ringmill_isa::vector::{MicroOp, verify};
use ringmill_machines::vector::VectorUse;
use ringmill_machines::vector::sides::{HostUse, Placement, Side, Sides};
use ringmill_machines::vector::{Counting, VectorMachine, alone, time};
use ringmill_machines::{Machine, SimOptions};
use ringmill_schemes::ckks::OpKey;

use super::check::{params, scaled};
use super::programs::alike;
use crate::common::programs::Builder;

/// A program on either side reads and writes that side's channels alone, and takes what it takes of a machine that has no
/// others.
#[test]
fn a_side_is_a_machine_with_half_the_channels() {
    let program = alike(1, false);
    let procedure = &program.head().procs[0];
    for channels in [2, 4] {
        let mut d = scaled(24);
        d.distant.channels = channels;
        // So slow that it decides.
        d.distant.gbyte_per_second = 1.0;
        let shape = d.shape(8);
        let sides = Sides::new(&d, shape).unwrap();
        let made = alone(&d, procedure, &|_| false, Counting::WHOLE).unwrap();
        let mut half = d.clone();
        half.distant.channels = channels / 2;
        let expected = time(&half, &made.program, Counting::WHOLE).unwrap();
        let in_turn = time(&d, &made.program, Counting::WHOLE).unwrap();
        assert!(in_turn.0 < expected.0);
        for side in [Side::First, Side::Second] {
            let mut moved = made.program.clone();
            for instr in &mut moved.instrs {
                if matches!(instr.op, MicroOp::Load | MicroOp::Store) {
                    instr.n = sides.chunk(side, instr.n);
                    let channel = (instr.n / shape.limb_chunks()) as usize % channels;
                    assert_eq!(channel >= channels / 2, side == Side::Second);
                }
            }
            verify(&moved).unwrap();
            assert_eq!(time(&d, &moved, Counting::WHOLE).unwrap(), expected);
        }
    }
}

fn host(
    d: &ringmill_machines::vector::Description,
    program: &ringmill_isa::mid::Verified,
) -> HostUse {
    let machine = VectorMachine::new(d.clone()).unwrap();
    let report = machine.simulate(program, SimOptions::default()).unwrap();
    let own = report.own::<VectorUse>().unwrap();
    assert_eq!(own.host.in_turn.machine, report.cycles);
    own.host
}

/// Sums of many ciphertexts keep the host busy, so the two are apart; products whose keys come again and again keep the channels busy.
#[test]
fn the_compiler_places_a_programs_limbs() {
    let params = params(8, 3, 1);
    let mut b = Builder::new(&params);
    let level = params.max_level();
    let mut x = b.input(&params, level, 0);
    for at in 1..20 {
        let y = b.input(&params, level, at);
        x = b.apply(&OpKey::add(level, 2, 2), &[&x, &y], 0);
    }
    b.output(&x);
    let sums = b.finish();
    let of = host(&scaled(64), &sums);
    assert_eq!((of.limbs_in, of.limbs_out), (20 * 2 * 3, 2 * 3));
    // All inputs, and the result in the place of nothing that was there.
    assert!((120..=126).contains(&of.distant_limbs), "{of:?}");
    let apart = of.apart.unwrap();
    assert_eq!(of.placement, Placement::Apart, "{of:?}");
    assert!(apart.machine >= of.in_turn.machine);
    assert!(apart.period < of.in_turn.period);

    let keys = host(&scaled(20), &alike(20, false));
    assert_eq!(keys.placement, Placement::InTurn, "{keys:?}");
    // One channel is no two sides.
    let mut one = scaled(64);
    one.distant.channels = 1;
    let one = host(&one, &sums);
    assert_eq!((one.apart, one.placement), (None, Placement::InTurn));
}

/// What the host takes lies in distant memory at the end: outputs that are in the buffer alone are stored.
#[test]
fn outputs_are_stored() {
    let d = scaled(64);
    let program = alike(3, false);
    let machine = VectorMachine::new(d.clone()).unwrap();
    let report = machine.simulate(&program, SimOptions::default()).unwrap();
    let own = report.own::<VectorUse>().unwrap();
    let chunks = u64::from(d.shape(8).limb_chunks());
    let outputs = own.host.limbs_out;
    assert_eq!(
        report.instructions_by_kind["STORE"],
        (outputs + own.limbs_spilled) * chunks
    );
    assert_eq!((outputs, own.limbs_spilled), (6, 0));
}
