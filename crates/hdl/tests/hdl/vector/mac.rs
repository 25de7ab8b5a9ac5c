// SPDX-License-Identifier: Apache-2.0
//! The multiply-accumulate unit in lockstep with both simulators. The test plays the unit's controller and buffer, and
//! decides by the unit's outputs. It must send and write in the cycles of the step semantics. The residues must be
//! those of the correctness simulator.

use std::collections::BTreeSet;

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::vector::{Trace, Writer, lockstep};
use ringmill_hdl::{BuildOptions, Hdl, Top};
use ringmill_isa::vector::{Chunk, Instr, MicroOp, MicroProgram, Place, Register, Shape, encode};
use ringmill_machines::vector::clockwork::reads;
use ringmill_machines::vector::{Clockwork, Counting, Description, Memory};
use ringmill_math::Modulus;

use crate::common::failure::{Check, ensure};
use crate::common::setup::{hdl, seed};

const REGISTERS: u8 = 4;
const CHUNKS: u16 = 16;

/// Returns a machine whose multiply-accumulate unit has as many stages as the RTL.
fn description() -> Description {
    let mut d = Description::read(Description::PAPER).expect("shipped");
    d.log_radix = 2;
    d.log_lanes = 2;
    d.registers = REGISTERS;
    d.stages.mac = 6;
    d
}

fn shape() -> Shape {
    Shape {
        chunks: CHUNKS.into(),
        ..description().shape(4)
    }
}

/// Returns two primes that are 1 modulo 2^17, the smaller first.
fn moduli() -> Vec<u64> {
    let primes = |bits, count| ringmill_math::primes::ntt_primes(bits, 16, count);
    let (small, large) = (primes(29, 1), primes(32, 1));
    [small, large]
        .into_iter()
        .flat_map(|found| found.expect("there are such primes"))
        .collect()
}

fn chunk(at: u64) -> Place {
    Place::Chunk(Chunk(at as u16))
}

fn register(at: u64) -> Place {
    Place::Register(Register(at as u8))
}

/// For each place, the number of a modulus below which its words are.
struct Bounds {
    chunks: Vec<u16>,
    registers: Vec<u16>,
    accumulator: u16,
}

impl Bounds {
    fn of(&mut self, place: Place) -> Option<&mut u16> {
        match place {
            Place::Chunk(at) => self.chunks.get_mut(usize::from(at.0)),
            Place::Register(at) => self.registers.get_mut(usize::from(at.0)),
            Place::Accumulator => Some(&mut self.accumulator),
            Place::None => None,
        }
    }
}

/// The mix of operands and results of a random program's instructions.
#[derive(Clone, Copy)]
struct Mix {
    /// One of `buffer` operands and results is in the buffer, the others are in registers.
    buffer: u64,
    /// All but one of `sums` results go to the accumulator, if they may.
    sums: u64,
}

/// Draws a program of `length` instructions. It writes the registers and the accumulator first. Random instructions
/// follow, which take only words below their modulus where they need that.
fn program(mix: Mix, length: usize, moduli: &[u64], dice: &mut Dice) -> Vec<Instr> {
    use MicroOp::*;
    let mut bounds = Bounds {
        chunks: vec![0; CHUNKS.into()],
        registers: vec![0; REGISTERS.into()],
        accumulator: 0,
    };
    let mut program: Vec<Instr> = (0..u64::from(REGISTERS))
        .map(|at| Instr {
            d: register(at),
            a: chunk(at),
            ..Instr::new(Mov)
        })
        .collect();
    program.push(Instr {
        d: Place::Accumulator,
        a: chunk(5),
        n: 77,
        ..Instr::new(Muli)
    });
    let all = [Mov, Add, Sub, Mul, Muli, Mac, Maci, Acc, Acci];
    while program.len() < length {
        let op = all[dice.below(9) as usize];
        let info = op.info();
        let modulus = dice.below(moduli.len() as u64) as u16;
        let n = match dice.below(4) {
            0 => 0,
            1 => moduli[usize::from(modulus)] - 1,
            _ => dice.below(moduli[usize::from(modulus)]),
        };
        let from = |dice: &mut Dice| match dice.chance(mix.buffer) {
            true => chunk(dice.below(CHUNKS.into())),
            false => register(dice.below(REGISTERS.into())),
        };
        let instr = Instr {
            op,
            a: if info.a.nothing() {
                Place::None
            } else {
                from(dice)
            },
            b: if info.b.nothing() {
                Place::None
            } else {
                register(dice.below(REGISTERS.into()))
            },
            d: match info.d.accumulator && dice.below(mix.sums) > 0 {
                true => Place::Accumulator,
                false => from(dice),
            },
            modulus: if info.modulus { modulus } else { 0 },
            n: match op {
                Muli | Maci | Acci => n as u32,
                Mov | Add | Sub | Mul | Mac | Acc | Load | Store | Ntt1 | Ntt2 | Intt1 | Intt2
                | Morph | Hcf => 0,
            },
        };
        let mut below = |place| bounds.of(place).is_none_or(|bound| *bound <= modulus);
        let any_word = matches!(op, Mul | Muli | Mac | Maci | Mov);
        if !(any_word || below(instr.a)) || !below(instr.b) {
            continue;
        }
        if info.adds && !below(Place::Accumulator) {
            continue;
        }
        let bound = match op {
            Mov => bounds.of(instr.a).map_or(0, |bound| *bound),
            _ => modulus,
        };
        if let Some(place) = bounds.of(instr.d) {
            *place = bound;
        }
        program.push(instr);
    }
    program
}

fn check_mix(hdl: &Hdl, mix: Mix, length: usize, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let moduli = moduli();
    let instrs = program(mix, length, &moduli, &mut dice);
    let shape = shape();
    let lanes = 1usize << shape.log_lanes;
    let mut memory = Memory::new(shape, &moduli, 0).expect("such moduli are taken");
    for word in &mut memory.buffer {
        *word = dice.below(moduli[0]) as u32;
    }
    let mut buffer: Vec<Vec<u32>> = memory.buffer.chunks(lanes).map(<[u32]>::to_vec).collect();
    let micro = description().micro;
    let top = Top::new("rm_vector_mac")
        .int("Lanes", lanes as u64)
        .int("Registers", REGISTERS.into())
        .int("Period", micro.mac);
    let mut model = hdl.model(&top, BuildOptions::default())?;
    model.restart(dice.bits() as u32)?;
    let [valid_i, word_i, q_i, one_i, chunk_i, take_i] = [
        model.input("valid_i")?,
        model.input("word_i")?,
        model.input("q_i")?,
        model.input("one_i")?,
        model.input("chunk_i")?,
        model.input("take_i")?,
    ];
    let [ready_o, busy_o, waits_o, place_o, chunk_o] = [
        model.output("ready_o")?,
        model.output("busy_o")?,
        model.output("waits_o")?,
        model.output("place_o")?,
        model.output("chunk_o")?,
    ];
    model.set(valid_i, 0)?;
    model.set(take_i, 0)?;
    model.reset()?;
    let (mut next, mut free, mut cycle) = (0, 0u64, 0u64);
    let mut pending = BTreeSet::new();
    let mut found = Trace {
        there: vec![0; instrs.len()],
        ..Trace::default()
    };
    // The registers that are still to be written, as the unit said in the last cycle.
    let mut busy = 0u64;
    // A chunk comes two cycles after it was read; in other cycles the words are random.
    let mut coming: [Option<Vec<u32>>; 3] = [None, None, None];
    while next < instrs.len() || !pending.is_empty() {
        let rubbish = (0..lanes).map(|_| dice.bits() as u32).collect();
        coming.rotate_left(1);
        let words: Vec<u32> = coming[0].take().unwrap_or(rubbish);
        model.set_words(chunk_i, &words)?;
        model.set(valid_i, 0)?;
        model.set(take_i, 0)?;
        model.eval()?;
        let instr = instrs.get(next);
        let blocked = instr.is_none_or(|instr| {
            [instr.a, instr.b, instr.d]
                .into_iter()
                .filter_map(Place::chunk)
                .any(|chunk| pending.contains(&chunk))
        });
        // A register that is written in this cycle can be read from the next one on.
        let held = |instr: &Instr, busy: u64| {
            let registers = [instr.a, instr.b].into_iter().filter_map(Place::register);
            registers
                .into_iter()
                .any(|register| busy >> register.0 & 1 != 0)
        };
        let read = instr.is_some_and(reads);
        let ready = model.get(ready_o)? != 0 && !instr.is_some_and(|instr| held(instr, busy));
        let port = !read || cycle >= free;
        let goes = ready && port && !blocked;
        let mut wrote = false;
        if !(goes && read) && model.get(waits_o)? != 0 && cycle >= free {
            model.set(take_i, 1)?;
            model.eval()?;
            let place = Chunk(model.get(place_o)? as u16);
            ensure!(
                pending.remove(&place),
                "cycle {cycle}: {place:?} was not to be written"
            );
            buffer[usize::from(place.0)] = model.get_words(chunk_o)?;
            found.wrote.push((cycle, Writer::Mac));
            free = cycle + micro.buffer;
            wrote = true;
        }
        if let Some(instr) = instr.filter(|_| goes) {
            let q = moduli[usize::from(instr.modulus)];
            let one = Modulus::new(q).expect("prime").reduce_wide(1 << 32);
            let word = encode(instr);
            let parts = [word as u32, (word >> 32) as u32, (word >> 64) as u32];
            model.set(valid_i, 1)?;
            model.set_words(word_i, &parts)?;
            model.set(q_i, q)?;
            model.set(one_i, one)?;
            found.sent.push(cycle);
            if let Some(from) = instr.a.chunk() {
                coming[2] = Some(buffer[usize::from(from.0)].clone());
                ensure!(!wrote, "cycle {cycle}: two accesses");
                free = cycle + micro.buffer;
            }
            if let Some(to) = instr.d.chunk() {
                pending.insert(to);
            }
            next += 1;
        }
        busy = model.get(busy_o)?;
        if let Some(register) = instr.filter(|_| goes).and_then(|instr| instr.d.register()) {
            busy |= 1 << register.0;
        }
        model.step(1)?;
        cycle += 1;
        ensure!(cycle < 100 * length as u64, "nothing goes on");
    }
    lockstep(&description(), shape, &instrs, &found)?;
    let program = MicroProgram {
        shape,
        moduli,
        masks: Vec::new(),
        holds: (0..CHUNKS).map(Chunk).collect(),
        instrs,
    };
    memory.execute(&program).expect("verified by its making");
    ensure!(memory.buffer == buffer.concat(), "the buffer differs");
    Ok(())
}

/// Checks programs with half of their operands in the buffer, programs with few there, and programs of sums one after
/// another.
pub fn check_mac(hdl: &Hdl, seed: u64) -> Check {
    for (buffer, sums) in [(2, 2), (6, 2), (4, 8), (40, 20)] {
        check_mix(hdl, Mix { buffer, sums }, 600, seed)?;
    }
    Ok(())
}

#[test]
fn lockstep_of_sums() {
    check_mac(hdl(), seed()).unwrap();
}

/// The performance simulator has the rates of the paper's section 6.3. Instructions on registers take four micro-cycles
/// each. If both operands come from the buffer, its port limits the rate, to six and a little more.
#[test]
fn rates_of_the_unit() {
    let period = |program: &[Instr]| {
        let mut clock = Clockwork::new(&description(), shape(), Counting::PAPER);
        let sent = program.iter().map(|instr| clock.step(instr));
        let sent: Vec<u64> = sent.collect::<Result<_, _>>().unwrap();
        (sent[sent.len() - 1] - sent[0]) as f64 / (sent.len() - 1) as f64
    };
    let scale = Instr {
        d: Place::Accumulator,
        a: register(0),
        ..Instr::new(MicroOp::Muli)
    };
    let sum = Instr {
        op: MicroOp::Maci,
        ..scale
    };
    assert_eq!(period(&[scale; 40]), 4.0);
    assert_eq!(period(&[sum; 40]), 4.0);
    let both = |at: u64| {
        let load = Instr {
            d: register(at % 4),
            a: chunk(at % 8),
            ..Instr::new(MicroOp::Mov)
        };
        let product = Instr {
            d: Place::Accumulator,
            a: chunk(8 + at % 8),
            b: register((at + 1) % 4),
            ..Instr::new(MicroOp::Mul)
        };
        [load, product]
    };
    let halves: Vec<Instr> = (0..40).flat_map(both).collect();
    assert!((6.0..6.6).contains(&period(&halves)));
}
