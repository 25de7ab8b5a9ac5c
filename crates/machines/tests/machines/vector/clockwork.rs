// SPDX-License-Identifier: Apache-2.0
//! Times of micro instructions, against traces worked out by hand.

use ringmill_isa::vector::{Chunk, Instr, MicroOp, Place, Register, Shape};
use ringmill_machines::vector::{Clockwork, Counting, Description};

/// Returns the clock of a small machine, whose limbs have four chunks. The port takes 6 micro-cycles, sums 4 in each
/// of two stages, and transforms 3 in each of five stages in three units.
fn clock(change: impl Fn(&mut Description), counting: Counting) -> Clockwork {
    let mut d = Description::read(Description::PAPER).unwrap();
    d.log_radix = 3;
    d.log_lanes = 4;
    d.stages.mac = 2;
    d.stages.read_permutation = 1;
    d.stages.transform = 3;
    d.stages.write_permutation = 1;
    change(&mut d);
    let shape = Shape {
        chunks: 32,
        ..d.shape(6)
    };
    Clockwork::new(&d, shape, counting)
}

fn r(chunk: u16) -> Place {
    Place::Chunk(Chunk(chunk))
}

fn t(register: u8) -> Place {
    Place::Register(Register(register))
}

fn instr(op: MicroOp, d: Place, a: Place) -> Instr {
    Instr {
        d,
        a,
        ..Instr::new(op)
    }
}

/// Returns when each instruction is sent, and when all of them are done.
fn run(mut clock: Clockwork, program: &[Instr]) -> (Vec<u64>, u64) {
    let sent = program.iter().map(|i| clock.step(i).unwrap()).collect();
    (sent, clock.drain())
}

/// Traces a read that takes the port from 0 to 6, and is in a register after two stages of 4. The sum that reads the
/// register is written after two more, at 16, and the port is busy until 22.
#[test]
fn a_register_is_read_when_its_pipeline_has_ended() {
    let program = [
        instr(MicroOp::Mov, t(0), r(0)),
        instr(MicroOp::Mov, r(4), t(0)),
    ];
    let paper = clock(|_| (), Counting::PAPER);
    assert_eq!(run(paper, &program), (vec![0, 8], 22));
}

/// Traces sums, which the unit takes every four micro-cycles from registers. From the buffer it takes one every six,
/// when the port is free again.
#[test]
fn the_port_and_the_unit_have_rates_of_their_own() {
    let fill = instr(MicroOp::Mov, t(0), r(0));
    let next = instr(MicroOp::Mov, t(1), r(1));
    let add = |n| Instr {
        d: Place::Accumulator,
        a: t(0),
        n,
        ..Instr::new(MicroOp::Muli)
    };
    let program = [fill, next, add(1), add(2), add(3)];
    let paper = clock(|_| (), Counting::PAPER);
    // The second read is sent at 6. Then t0 is there at 8, but the unit is free at 10.
    assert_eq!(run(paper, &program), (vec![0, 6, 10, 14, 18], 26));
}

/// Traces chunks of which half goes through one of five stages in 3 micro-cycles, so the second half is at the end at
/// 18. The pipeline has room for two chunks. At 12 the third finds none, so the first write comes at 18 and the third
/// read at 24.
#[test]
fn a_full_pipeline_is_emptied() {
    let pass = |chunk| instr(MicroOp::Ntt1, r(chunk), r(chunk));
    let program = [pass(0), pass(1), pass(2)];
    let paper = clock(|_| (), Counting::PAPER);
    // The first write is at 18. The others are at 30 and 42, when there is nothing left to read.
    assert_eq!(run(paper, &program), (vec![0, 6, 24], 48));
}

/// Traces a write that is ready at 18. The reads at 18 and 24 come before it, as reads go first.
#[test]
fn reads_come_before_writes() {
    let pass = instr(MicroOp::Ntt1, r(0), r(0));
    let fill = |register, chunk| instr(MicroOp::Mov, t(register), r(chunk));
    let program = [pass, fill(0, 4), fill(1, 5), fill(2, 6), fill(3, 7)];
    let paper = clock(|_| (), Counting::PAPER);
    // The write comes at 30, when no read is left.
    assert_eq!(run(paper, &program), (vec![0, 6, 12, 18, 24], 36));
}

/// Traces a second pass, which reads rows into which a column of the first pass is still to be written.
#[test]
fn rows_wait_for_columns() {
    let program = [
        instr(MicroOp::Ntt1, r(0), r(0)),
        instr(MicroOp::Ntt2, r(1), r(1)),
    ];
    let paper = clock(|_| (), Counting::PAPER);
    // The column is written at 18, and the port is free at 24.
    assert_eq!(run(paper, &program), (vec![0, 24], 48));
    let program = [
        instr(MicroOp::Ntt2, r(0), r(0)),
        instr(MicroOp::Ntt2, r(1), r(1)),
    ];
    let paper = clock(|_| (), Counting::PAPER);
    assert_eq!(run(paper, &program), (vec![0, 6], 30));
}

/// Traces MORPH, which bypasses the transform. So it is sent when the transform's pipeline is empty.
#[test]
fn both_ways_to_the_write_permutation_unit_take_turns() {
    let program = [
        instr(MicroOp::Ntt1, r(0), r(0)),
        Instr {
            n: 3,
            ..instr(MicroOp::Morph, r(8), r(4))
        },
    ];
    let paper = clock(|_| (), Counting::PAPER);
    // The transform is written at 18, and the port is free at 24. The second half of MORPH's chunk is through two
    // stages after 9 micro-cycles, so it is written at 33.
    assert_eq!(run(paper, &program), (vec![0, 24], 39));
}

/// Traces loads by two countings. By the paper's, a chunk is there at once, and takes one cycle of the port. With
/// distant memory counted, it is there when its channel has brought it.
#[test]
fn loads_take_the_port_and_their_channel() {
    let load = |chunk, n| Instr {
        d: r(chunk),
        n,
        ..Instr::new(MicroOp::Load)
    };
    let program = [load(0, 0), load(1, 1), load(4, 4)];
    let paper = clock(|_| (), Counting::PAPER);
    assert_eq!(run(paper, &program), (vec![0, 1, 2], 18));
    let whole = Counting {
        distant: true,
        instructions: false,
    };
    let change = |d: &mut Description| {
        // 64 bytes a chunk: 60 micro-cycles; no latency.
        d.distant.gbyte_per_second = 6.4;
        d.distant.latency_ns = 0.0;
    };
    // Limb 0 comes on one channel, at 60 and 120. Limb 1 comes on the other at 62, but loads are written in their
    // order.
    assert_eq!(run(clock(change, whole), &program), (vec![0, 1, 2], 132));
}

/// Traces instructions of 12 bytes, of which the link brings a tenth of a byte in a micro-cycle.
#[test]
fn an_instruction_is_sent_when_it_has_come() {
    let counting = Counting {
        distant: false,
        instructions: true,
    };
    let change = |d: &mut Description| d.link.gbit_per_second = 4.8;
    let program = [
        instr(MicroOp::Mov, t(0), r(0)),
        instr(MicroOp::Mov, t(1), r(1)),
    ];
    let slow = clock(change, counting);
    let (sent, _) = run(slow, &program);
    assert_eq!(sent, [120, 240]);
}

/// Traces stores to two channels, of which one has less to do. There is room for another store when any chunk has gone,
/// whichever was sent first.
#[test]
fn stores_make_room_in_the_order_in_which_they_go() {
    let store = |chunk, n| Instr {
        a: r(chunk),
        n,
        ..Instr::new(MicroOp::Store)
    };
    let whole = Counting {
        distant: true,
        instructions: false,
    };
    let change = |d: &mut Description| {
        // 64 bytes a chunk: 60 micro-cycles; no latency.
        d.distant.gbyte_per_second = 6.4;
        d.distant.latency_ns = 0.0;
        d.store_chunks = 3;
    };
    // Chunks of limb 0 go on one channel, and are gone at 66 and 126. Those of limb 1 go on the other, until 78 and
    // 138. So the fourth store has room at 66, and the fifth at 78.
    let program = [
        store(0, 0),
        store(1, 1),
        store(4, 4),
        store(5, 5),
        store(2, 2),
    ];
    let expected = (vec![0, 6, 12, 66, 78], 186);
    assert_eq!(run(clock(change, whole), &program), expected);
}
