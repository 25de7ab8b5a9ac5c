// SPDX-License-Identifier: Apache-2.0
//! Tests of the vector machine behind the shell: programs and tables come through the host's manager, distant memory is
//! behind a second one, and channels stall at random. Wrong commands and words must be refused.

use std::sync::{Mutex, PoisonError};

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::vector::{moved, table_words, top};
use ringmill_hdl::{BuildOptions, Hdl, Top};
use ringmill_isa::vector::{Chunk, Instr, MicroOp, MicroProgram, Place, Register, Shape, encode};
use ringmill_machines::vector::queue::{Write, fed};
use ringmill_machines::vector::{Description, Memory, built};

use crate::bus::axi::{ANSWER, BUSY, Bus, COMMAND, COUNT, ENABLE, END, EVENTS, READ};
use crate::bus::{READ_DONE, hdl, seed};
use crate::common::failure::{Check, panics};
use crate::faults::list::{List, When};

const TABLES: u32 = 0;
const INSTRUCTIONS: u32 = 1;
const CLEAR: u32 = 2;
const ENDED: u32 = 1;
const FAULT: u32 = 1 << 2;
const DRY: u32 = 1 << 1;
const FAILED: u32 = 1 << 3;
const ASKS: u32 = 1 << 4;
const FAULT_OP: u32 = 1;
/// Addresses above 4 GiB: of the host's words, and of chunk 0 of distant memory, which is behind the second manager.
const HERE: u64 = 0x5_0000_0f00;
const DISTANT: u64 = 0x7_0001_0000;

/// Returns a machine of radix 2^`log_radix`, with two beats in a chunk and two chunks in a limb.
fn description(log_radix: u8) -> Description {
    let mut d = Description::read(Description::PAPER).unwrap();
    d.log_radix = log_radix;
    d.log_lanes = 2 * log_radix - 1;
    d.buffer_words = 4 << (2 * log_radix);
    d.registers = 4;
    d.queue = 16;
    d.load_chunks = 2;
    d.store_chunks = 2;
    d.stages = built::stages(log_radix);
    d
}

fn moduli() -> Vec<u64> {
    ringmill_math::primes::ntt_primes(32, 16, 2).unwrap()
}

fn bus(hdl: &Hdl, d: &Description, seed: u64) -> Bus {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _guard = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let whole = top(d, moduli().len()).unwrap();
    let top = Top {
        module: "rm_vector_axi".to_owned(),
        ..whole
    };
    // The number of 32-bit words in a beat of one manager.
    let beat = 1 << (d.log_lanes - 1);
    let top = top.int("DataWidth", 32 * beat);
    let model = hdl
        .model(&top, BuildOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    Bus::new(model, 2 * beat as usize, 2, Dice::new(seed)).unwrap()
}

fn command(bus: &mut Bus, word: u32) -> u32 {
    bus.write(COMMAND, word).unwrap();
    for _ in 0..100 {
        let answer = bus.read(ANSWER).unwrap();
        if answer >> 31 == 1 {
            return answer & 0xff;
        }
    }
    panic!("command {word:#x} has no answer");
}

/// Sends the command `what`, and starts a read of words of 128 bits through the host's manager, `beat` words in each
/// beat. The last beat is filled with padding, words whose top bit is set.
fn send(bus: &mut Bus, beat: usize, what: u32, words: &[u128]) {
    assert_eq!(command(bus, what), 0);
    let mut words = words.to_vec();
    words.resize(words.len().next_multiple_of(beat), 1 << 127);
    for (number, word) in words.iter().enumerate() {
        for part in 0..4 {
            let address = HERE + (16 * number + 4 * part) as u64;
            bus.memory.insert(address, (word >> (32 * part)) as u32);
        }
    }
    bus.write(READ, HERE as u32).unwrap();
    bus.write(READ + 4, (HERE >> 32) as u32).unwrap();
    bus.write(READ + 8, (words.len() / beat) as u32).unwrap();
}

fn tables(bus: &mut Bus, beat: usize, shape: Shape) {
    let moduli = moduli();
    let entry = |kind: u128, pass: u128, word: u64| {
        ((kind << 10) << 2 | pass) << 40 | u128::from(word as u32)
    };
    let words = table_words(&moduli, shape).unwrap().into_iter();
    let mut words: Vec<u128> = words.map(u128::from).collect();
    // Padding: the top bit says that the other bits mean nothing.
    words.push(1 << 127 | words[0]);
    words.push(entry(6, 0, moduli.len() as u64));
    words.push(entry(7, 0, DISTANT));
    words.push(entry(7, 1, DISTANT >> 32));
    send(bus, beat, TABLES, &words);
    bus.wait(READ_DONE).unwrap();
}

/// Writes chunks to distant memory, from chunk 0 on.
fn lay(bus: &mut Bus, chunks: &[Vec<u32>]) {
    for (at, &word) in (0..).zip(chunks.iter().flatten()) {
        bus.memory.insert(DISTANT + 4 * at, word);
    }
}

fn chunk(at: u16) -> Place {
    Place::Chunk(Chunk(at))
}

/// Returns a program that loads the whole buffer, transforms one limb forward and another back, applies an
/// automorphism, multiplies a chunk by a register, and stores the whole buffer.
fn program(shape: Shape) -> MicroProgram {
    use MicroOp::*;
    let pass = |op, a, modulus| Instr {
        d: chunk(a),
        a: chunk(a),
        modulus,
        ..Instr::new(op)
    };
    let register = Place::Register(Register(1));
    let mut instrs = moved(Load, shape, shape.slots(), 0);
    instrs.extend([
        pass(Ntt1, 0, 0),
        pass(Ntt1, 1, 0),
        pass(Ntt2, 0, 0),
        pass(Ntt2, 1, 0),
    ]);
    instrs.extend([pass(Intt1, 2, 1), pass(Intt1, 3, 1), pass(Intt2, 2, 1)]);
    for (d, a) in [(6, 0), (6, 1)] {
        instrs.push(Instr {
            d: chunk(d),
            a: chunk(a),
            n: 5,
            ..Instr::new(Morph)
        });
    }
    instrs.push(Instr {
        d: register,
        a: chunk(0),
        ..Instr::new(Mov)
    });
    instrs.push(Instr {
        d: chunk(4),
        a: chunk(1),
        b: register,
        ..Instr::new(Mul)
    });
    instrs.extend(moved(Store, shape, shape.slots(), shape.chunks));
    instrs.push(Instr::new(Hcf));
    MicroProgram {
        shape,
        moduli: moduli(),
        masks: Vec::new(),
        holds: Vec::new(),
        instrs,
    }
}

/// Runs the machine of radix 4, N = 16 and beats of 128 bits.
#[test]
#[ignore = "another model; `make full` runs it"]
fn programs_behind_the_shell() {
    check(&hdl(), 2);
}

/// Runs the machine of radix 8, N = 64 and beats of 512 bits, as wide as the paper's.
#[test]
#[ignore = "another machine to build; `make full` runs it"]
fn programs_behind_the_shell_with_beats_of_512_bits() {
    check(&hdl(), 3);
}

fn check(hdl: &Hdl, log_radix: u8) {
    let mut dice = Dice::new(seed());
    let d = description(log_radix);
    let mut bus = bus(hdl, &d, dice.bits());
    let shape = d.shape(2 * log_radix);
    let program = program(shape);
    let words: Vec<u128> = program.instrs.iter().map(encode).collect();
    let lanes = 1 << shape.log_lanes;
    // A chunk is two beats; a word of 128 bits is four lanes.
    let beat = lanes / 8;
    tables(&mut bus, beat, shape);
    for stalls in [false, true] {
        bus.stall(stalls);
        let mut memory = Memory::new(shape, &program.moduli, 0).unwrap();
        let chunks = 0..2 * shape.chunks;
        memory.distant = chunks
            .map(|_| {
                let limb = dice.limb(lanes, moduli()[0].min(moduli()[1]));
                limb.into_iter().map(|x| x as u32).collect()
            })
            .collect();
        lay(&mut bus, &memory.distant);
        memory.execute(&program).unwrap();
        send(&mut bus, beat, INSTRUCTIONS, &words);
        bus.wait(ENDED).unwrap();
        bus.wait(READ_DONE).unwrap();
        assert_eq!(bus.read(BUSY).unwrap(), 0);
        for (at, &want) in (0..).zip(memory.distant.iter().flatten()) {
            assert_eq!(bus.word(DISTANT + 4 * at), want, "word {at}");
        }
    }
    // Undefined commands.
    assert_eq!(command(&mut bus, 3), 1);
    assert_eq!(command(&mut bus, 1 << 8), 1);
    // An undefined instruction stops the queue with a fault code; the instructions before it are executed.
    bus.stall(false);
    let store = moved(MicroOp::Store, shape, 1, 0);
    let mut wrong = vec![encode(&store[0]), encode(&store[1]), 5 << 90];
    // More words than the queue holds: those behind the wrong one are dropped.
    wrong.extend(&words[..3 * d.queue / 2]);
    send(&mut bus, beat, INSTRUCTIONS, &wrong);
    bus.wait(FAULT).unwrap();
    bus.wait(READ_DONE).unwrap();
    assert_eq!(bus.read(END).unwrap(), FAULT_OP);
    // The fault is cleared only after the stores were sent.
    assert!((0..100).any(|_| command(&mut bus, CLEAR) == 0));
    assert_eq!(bus.read(END).unwrap(), 0);
    assert!((0..1000).any(|_| bus.read(BUSY).unwrap() == 0));
    let kept: Vec<u32> = (0..2 * lanes as u64)
        .map(|i| bus.word(DISTANT + 4 * i))
        .collect();
    let again: Vec<u32> = (0..2 * lanes as u64)
        .map(|i| bus.word(DISTANT + 4 * (u64::from(shape.chunks) * lanes as u64 + i)))
        .collect();
    assert_eq!(kept, again);
    // An error of distant memory is told by an event, and the program goes on.
    bus.fenced = DISTANT..DISTANT + 4;
    send(&mut bus, beat, INSTRUCTIONS, &words);
    bus.wait(ENDED).unwrap();
    bus.wait(FAILED).unwrap();
}

/// Sends a program in the batches for which the queue asks. Each batch comes as many cycles after its request as
/// `pause` returns. Returns the cycles in which the words came, and the number of cycles in which the queue was
/// dry, as the machine counts them.
fn refill(bus: &mut Bus, words: &[u128], mut pause: impl FnMut() -> u64) -> (Vec<u64>, u32) {
    assert_eq!(command(bus, INSTRUCTIONS), 0);
    let dry = bus.read(COUNT).unwrap();
    bus.write(EVENTS, DRY | ASKS).unwrap();
    bus.write(ENABLE, ASKS).unwrap();
    for (at, &word) in (0..).zip(words) {
        for part in 0..4 {
            let address = HERE + 16 * at + 4 * part;
            bus.memory.insert(address, (word >> (32 * part)) as u32);
        }
    }
    bus.write(READ + 4, (HERE >> 32) as u32).unwrap();
    bus.came.clear();
    let (mut sent, mut rounds) = (0, 0);
    while sent < words.len() {
        rounds += 1;
        assert!(rounds < 10_000, "{sent} words sent, no more asked for");
        let asked = bus.read(COUNT + 4).unwrap() as usize;
        if asked == 0 {
            for waited in 0.. {
                if bus.interrupt().unwrap() {
                    break;
                }
                assert!(waited < 100_000, "no batch is asked for");
                bus.tick().unwrap();
            }
            bus.write(EVENTS, ASKS).unwrap();
            continue;
        }
        for _ in 0..pause() {
            bus.tick().unwrap();
        }
        let batch = asked.min(words.len() - sent);
        bus.write(READ, HERE as u32 + 16 * sent as u32).unwrap();
        bus.write(READ + 8, batch as u32).unwrap();
        bus.wait(READ_DONE).unwrap();
        sent += batch;
    }
    bus.wait(ENDED).unwrap();
    let came = std::mem::take(&mut bus.came);
    (came, bus.read(COUNT).unwrap() - dry)
}

/// A host refills the queue while the program runs. One host keeps up. The other is late, so a dry queue interrupts
/// its program, for as many cycles as the performance simulator says.
#[test]
fn a_running_queue_is_refilled_by_batches() {
    check_refill(&hdl());
}

fn check_refill(hdl: &Hdl) {
    let mut dice = Dice::new(seed());
    let mut d = description(2);
    d.queue = 32;
    let mut bus = bus(hdl, &d, dice.bits());
    let shape = d.shape(4);
    // A beat of the host's manager is one word of 128 bits.
    tables(&mut bus, 1, shape);
    let whole = program(shape).instrs;
    let of = |kept: fn(&Instr) -> bool, times: usize| {
        let mut instrs: Vec<Instr> = whole.iter().filter(|i| kept(i)).copied().collect();
        instrs = instrs.repeat(times);
        instrs.push(Instr::new(MicroOp::Hcf));
        MicroProgram {
            instrs,
            ..program(shape)
        }
    };
    let load = of(|i| i.op == MicroOp::Load, 1);
    let work = of(
        |i| ![MicroOp::Load, MicroOp::Store, MicroOp::Hcf].contains(&i.op),
        20,
    );
    let store = of(|i| i.op == MicroOp::Store, 1);
    let mut memory = Memory::new(shape, &work.moduli, 0).unwrap();
    let chunks = 0..2 * shape.chunks;
    memory.distant = chunks
        .map(|_| {
            let limb = dice.limb(8, moduli()[0].min(moduli()[1]));
            limb.into_iter().map(|x| x as u32).collect()
        })
        .collect();
    lay(&mut bus, &memory.distant);
    let encoded = |program: &MicroProgram| program.instrs.iter().map(encode).collect::<Vec<_>>();
    refill(&mut bus, &encoded(&load), || 0);
    memory.execute(&load).unwrap();
    // Five more words find room between the queue and the controller's head.
    let roomy = Description {
        queue: d.queue + 5,
        ..d.clone()
    };
    for (late, stalls) in [(0, false), (900, false), (2000, true)] {
        bus.stall(stalls);
        let (came, dry) = refill(&mut bus, &encoded(&work), || match late {
            0 => 0,
            late => dice.below(late),
        });
        memory.execute(&work).unwrap();
        let writes: Vec<Write> = came
            .iter()
            .map(|&at| Write {
                at: at - came[0],
                instructions: 1,
            })
            .collect();
        let fed = fed(&roomy, &work, &writes).unwrap();
        println!("{} micro-cycles, {} of them dry", fed.micro, fed.dry);
        assert_eq!(u64::from(dry), fed.dry);
        assert_eq!(dry > 0, late > 0, "{dry} dry cycles");
        let told = bus.read(EVENTS).unwrap() & DRY != 0;
        assert_eq!(told, late > 0);
        // The dry queue has an interrupt of its own.
        bus.write(ENABLE, DRY).unwrap();
        bus.tick().unwrap();
        bus.tick().unwrap();
        assert_eq!(bus.interrupt().unwrap(), late > 0);
    }
    bus.stall(false);
    refill(&mut bus, &encoded(&store), || 0);
    memory.execute(&store).unwrap();
    for (at, &want) in (0..).zip(memory.distant.iter().flatten()) {
        assert_eq!(bus.word(DISTANT + 4 * at), want, "word {at}");
    }
    // The count of dry cycles starts again at zero when the queue is cleared.
    assert!(bus.read(COUNT).unwrap() > 0);
    assert!((0..100).any(|_| command(&mut bus, CLEAR) == 0));
    assert_eq!(bus.read(COUNT).unwrap(), 0);
    assert_eq!(bus.read(COUNT + 4).unwrap(), 32);
}

/// Faults of the wrapper, and of what it shows the host of the queue.
pub const FAULTS: List = List {
    name: "bus_vector",
    text: include_str!("../faults/bus_vector.toml"),
    checks: &[("shell", all)],
};

fn all(hdl: &Hdl, _: u64) -> Check {
    // RTL that does not build proves nothing: this panic is no mismatch.
    drop(bus(hdl, &description(2), 1));
    panics(|| check_refill(hdl))?;
    (2..=3).try_for_each(|log_radix| panics(|| check(hdl, log_radix)))
}

#[test]
#[ignore = "builds the machine once or twice for each fault; `make full` runs it"]
fn every_fault_of_the_wrapper_is_noticed() {
    FAULTS.all_are_noticed(When::Full);
}
