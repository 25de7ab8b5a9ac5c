// SPDX-License-Identifier: Apache-2.0
//! Placement in distant memory while the host works beside the machine.

use std::collections::HashSet;

use ringmill_isa::vector::{Instr, MASKS, MicroOp, Shape, verify};
use ringmill_machines::internals::Decoded;
use ringmill_machines::vector::VectorUse;
use ringmill_machines::vector::sides::{HostUse, Moved, Placement, Side, Sides};
use ringmill_machines::vector::{Counting, Description, VectorMachine, alone, time};
use ringmill_machines::{Machine, SimOptions};
use ringmill_schemes::ckks::OpKey;

use super::check::{params, scaled};
use super::programs::alike;
use crate::common::programs::Builder;

/// Checks that a program on either side uses that side's channels alone, and takes as long as with half the channels.
#[test]
fn a_side_is_a_machine_with_half_the_channels() {
    let program = alike(1, false);
    let procedure = &program.head().procs[0];
    for channels in [2, 4] {
        let mut d = scaled(24);
        d.distant.channels = channels;
        // Distant memory is so slow that it bounds the time.
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

fn host(d: &Description, program: &ringmill_isa::mid::Verified) -> HostUse {
    let machine = VectorMachine::new(d.clone()).unwrap();
    let report = machine.simulate(program, SimOptions::default()).unwrap();
    let own = report.own::<VectorUse>().unwrap();
    assert_eq!(own.host.in_turn.machine, report.cycles);
    own.host
}

/// Checks which placement the machine reports. Sums of many ciphertexts keep the host busy, so host and machine are
/// apart. Products whose keys are loaded again and again keep the channels busy, so host and machine take turns.
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
    // There are 120 limbs of inputs, and at most six of the result in other places.
    assert!((120..=126).contains(&of.distant_limbs), "{of:?}");
    let apart = of.apart.unwrap();
    assert_eq!(of.placement, Placement::Apart, "{of:?}");
    assert!(apart.machine >= of.in_turn.machine);
    assert!(apart.period < of.in_turn.period);

    let keys = host(&scaled(20), &alike(20, false));
    assert_eq!(keys.placement, Placement::InTurn, "{keys:?}");
    // One channel does not make two sides.
    let mut one = scaled(64);
    one.distant.channels = 1;
    let one = host(&one, &sums);
    assert_eq!((one.apart, one.placement), (None, Placement::InTurn));
}

/// Checks that outputs are in distant memory at the end. Those that are in the buffer alone are stored.
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

fn machine(channels: usize) -> (Description, Shape) {
    let mut d = Description::read(Description::PAPER).unwrap();
    d.distant.channels = channels;
    let shape = d.shape(16);
    (d, shape)
}

/// Checks that each side has channels of its own. No two limbs are in one place, limbs take each channel of their side
/// in turn, and all limbs are within the memory.
#[test]
fn sides_do_not_meet() {
    for channels in [2, 4, 32] {
        let (d, shape) = machine(channels);
        let sides = Sides::new(&d, shape).unwrap();
        let limbs = d.distant_limbs(shape);
        assert_eq!(sides.limbs(), limbs / 2);
        let mut taken = HashSet::new();
        for side in [Side::First, Side::Second] {
            let of = |limb: u32| limb as usize % channels / (channels / 2);
            let samples = (0..1000).chain(limbs / 2 - 1000..limbs / 2);
            let at: Vec<u32> = samples.map(|l| sides.limb(side, l).unwrap()).collect();
            assert!(at.iter().all(|&l| l < limbs && taken.insert(l)));
            assert!(at.iter().all(|&l| of(l) == side as usize));
            let first: HashSet<usize> = (at.iter().take(channels / 2))
                .map(|&l| l as usize % channels)
                .collect();
            assert_eq!(first.len(), channels / 2);
            assert_eq!(sides.limb(side, limbs / 2), None);
        }
    }
    let (d, shape) = machine(3);
    assert!(Sides::new(&d, shape).is_none());
}

/// Checks that every chunk of a limb moves with it, and that masks and instructions without transfers stay.
#[test]
fn instructions_move_with_their_limbs() {
    let (d, shape) = machine(2);
    let sides = Sides::new(&d, shape).unwrap();
    let chunks = shape.limb_chunks();
    let at = |op, n| {
        let instr = Instr {
            n,
            ..Instr::new(op)
        };
        let decoded = Decoded::new(&instr, shape.limb_chunks().trailing_zeros());
        [Side::First, Side::Second].map(|side| sides.moved(side, &decoded).n)
    };
    for limb in [0, 1, 2, 77] {
        for chunk in [0, 1, chunks - 1] {
            let there = [2 * limb, 2 * limb + 1].map(|limb| limb * chunks + chunk);
            assert_eq!(at(MicroOp::Load, limb * chunks + chunk), there);
        }
    }
    assert_eq!(at(MicroOp::Load, MASKS + 5), [MASKS + 5; 2]);
    assert_eq!(at(MicroOp::Morph, 5), [5; 2]);
}

/// Checks that the placement with the shorter period is taken. Much data of the host makes it apart. Loads of keys
/// make it in turn, and so does a side that is too small.
#[test]
fn the_faster_placement_is_taken() {
    let (d, shape) = machine(2);
    let of = |limbs_in, distant_limbs, in_turn, apart| {
        let moved = Moved {
            limbs_in,
            limbs_out: 10,
            program_bytes: 12_000,
            distant_limbs,
        };
        HostUse::new(&d, shape, moved, in_turn, apart)
    };
    // A limb of 256 KB takes 10.08 us at 26 GB/s, so 100 limbs take about 1,008,000 cycles of the buffer.
    let much = of(100, 500, 6_000_000, 7_000_000);
    assert_eq!(much.placement, Placement::Apart);
    assert_eq!(much.in_turn.host, 1_008_247);
    assert_eq!(much.in_turn.period, 1_000_000 + 1_008_247);
    let apart = much.apart.unwrap();
    // The host moves 110 limbs of 32 chunks on one channel, in 320 ns each.
    assert_eq!((apart.machine, apart.host), (1_166_667, 1_126_400));
    assert_eq!(apart.period, apart.machine);
    let keys = of(10, 500, 6_000_000, 12_000_000);
    assert_eq!(keys.placement, Placement::InTurn);
    let half = d.distant_limbs(shape) / 2;
    assert!(of(100, half.into(), 1, 1).apart.is_some());
    let full = of(100, u64::from(half) + 1, 1, 1);
    assert_eq!((full.apart, full.placement), (None, Placement::InTurn));
}
