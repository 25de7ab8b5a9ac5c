// SPDX-License-Identifier: Apache-2.0
//! Tests of the whole vector machine in lockstep with both simulators. Every dispatch, entry and write-back must come
//! in the performance simulator's cycle. Programs store every chunk of the buffer at the end, and distant memory must
//! be the correctness simulator's.

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::vector::{Divergence, Host, Machine, VectorError, lockstep, moved};
use ringmill_hdl::{BuildOptions, Hdl};
use ringmill_isa::vector::{Chunk, Instr, MicroOp, MicroProgram, Place, Register, Shape};
use ringmill_machines::vector::{Description, Memory, built};

use crate::common::failure::{Check, Failure, ensure};
use crate::common::setup::{hdl, seed};

impl From<VectorError> for Failure {
    fn from(error: VectorError) -> Self {
        match error {
            VectorError::Hdl(error) => error.into(),
            other => Self::Mismatch(other.to_string()),
        }
    }
}

impl From<Divergence> for Failure {
    fn from(error: Divergence) -> Self {
        Self::Mismatch(error.to_string())
    }
}

/// Returns a machine with the RTL's pipelines, of radix 2^`log_radix`, with two lines in a chunk and a buffer of
/// `limbs` limbs.
pub fn description(log_radix: u8, limbs: u64) -> Description {
    let mut d = Description::read(Description::PAPER).expect("shipped");
    d.log_radix = log_radix;
    d.log_lanes = log_radix + 1;
    d.buffer_words = limbs << (2 * log_radix);
    d.registers = 8;
    d.queue = 32;
    d.load_chunks = 3;
    d.store_chunks = 2;
    d.stages = built::stages(log_radix);
    d
}

/// Returns three primes that are 1 modulo 2^17, one of 29 and two of 32 bits.
fn moduli() -> Vec<u64> {
    let of = |bits, count| ringmill_math::primes::ntt_primes(bits, 16, count);
    [of(29, 1), of(32, 2)]
        .into_iter()
        .flat_map(|found| found.expect("there are such primes"))
        .collect()
}

/// A distant memory and a link that stall at random, except in one of four stretches of 512 cycles.
pub struct Slow {
    pub memory: Vec<Vec<u32>>,
    pub dice: Dice,
    /// About the mean number of cycles for which an instruction, a request, a chunk in and a chunk out wait. With 1
    /// they never wait.
    pub odds: [u64; 4],
}

impl Slow {
    /// Draws whether a stream passes in this cycle.
    fn passes(&mut self, stream: usize, cycle: u64) -> bool {
        let odds = if cycle >> 9 & 3 == 0 {
            1
        } else {
            self.odds[stream]
        };
        odds == 1 || self.dice.chance(odds)
    }
}

impl Host for Slow {
    fn give(&mut self, address: u32) -> Vec<u32> {
        let chunk = self.memory.get(address as usize).cloned();
        chunk.unwrap_or_default()
    }

    /// Stores a chunk. One beyond the memory is lost, which the comparison of memories shows.
    fn take(&mut self, address: u32, chunk: Vec<u32>) {
        if let Some(place) = self.memory.get_mut(address as usize) {
            *place = chunk;
        }
    }

    fn instructs(&mut self, cycle: u64) -> bool {
        self.passes(0, cycle)
    }

    fn is_asked(&mut self, cycle: u64) -> bool {
        self.passes(1, cycle)
    }

    fn due(&mut self, _: u32, cycle: u64) -> u64 {
        match self.passes(2, cycle) {
            true => cycle + 1,
            false => cycle + self.dice.below(2 * self.odds[2]),
        }
    }

    fn takes(&mut self, _: u32, cycle: u64) -> bool {
        self.passes(3, cycle)
    }
}

fn register(at: u64) -> Place {
    Place::Register(Register(at as u8))
}

/// A generator of random instructions. Residues of the k-th of three moduli are in limbs and registers k, k + 3 and so
/// on, so that units take only words below their modulus.
struct Draw<'a> {
    shape: Shape,
    moduli: &'a [u64],
    dice: &'a mut Dice,
    /// The number of the modulus of the accumulator's words.
    accumulator: u64,
}

impl Draw<'_> {
    fn slot(&mut self, modulus: u64) -> u64 {
        let count = self.moduli.len() as u64;
        let slots = u64::from(self.shape.slots()) / count;
        self.dice.below(slots) * count + modulus
    }

    fn chunk(&mut self, modulus: u64) -> Place {
        let limb = u64::from(self.shape.limb_chunks());
        let at = self.slot(modulus) * limb + self.dice.below(limb);
        Place::Chunk(Chunk(at as u16))
    }

    fn register(&mut self, modulus: u64) -> Place {
        let count = self.moduli.len() as u64;
        let registers = u64::from(self.shape.registers) / count;
        register(self.dice.below(registers) * count + modulus)
    }

    fn any(&mut self, modulus: u64) -> Place {
        match self.dice.chance(3) {
            true => self.chunk(modulus),
            false => self.register(modulus),
        }
    }

    /// Draws an instruction among `ops`. Returns `None` if the operands drawn do not fit.
    fn instr(&mut self, ops: &[MicroOp]) -> Option<Instr> {
        use MicroOp::*;
        let op = ops[self.dice.below(ops.len() as u64) as usize];
        let info = op.info();
        let modulus = self.dice.below(self.moduli.len() as u64);
        let mut instr = Instr {
            modulus: if info.modulus { modulus as u16 } else { 0 },
            ..Instr::new(op)
        };
        match op {
            Load => {
                instr.d = self.chunk(modulus);
                // A load brings back what the chunk held at first.
                instr.n = instr.d.chunk()?.0.into();
            }
            Store => {
                instr.a = self.chunk(modulus);
                instr.n = 2 * self.shape.chunks + self.dice.below(8) as u32;
            }
            Ntt1 | Ntt2 | Intt1 | Intt2 => {
                instr.a = self.chunk(modulus);
                instr.d = self.chunk(modulus);
            }
            Morph => {
                instr.a = self.chunk(modulus);
                let limb = self.shape.limb_chunks();
                let to = self.slot(modulus) as u32;
                if to == u32::from(instr.a.chunk()?.0) / limb {
                    return None;
                }
                instr.d = Place::Chunk(Chunk((to * limb) as u16));
                instr.n = 2 * self.dice.below(1 << self.shape.log_n) as u32 + 1;
            }
            Hcf => return None,
            Mov | Add | Sub | Mul | Muli | Mac | Maci | Acc | Acci => {
                let foreign = matches!(op, Mul | Muli | Mac | Maci) && self.dice.chance(4);
                let of_a = match foreign {
                    true => self.dice.below(self.moduli.len() as u64),
                    false => modulus,
                };
                if !info.a.nothing() {
                    instr.a = self.any(of_a);
                }
                if !info.b.nothing() {
                    instr.b = self.register(modulus);
                }
                if matches!(op, Muli | Maci | Acci) {
                    instr.n = self.dice.below(self.moduli[modulus as usize]) as u32;
                }
                if info.adds && self.accumulator != modulus {
                    return None;
                }
                let to_sum = info.d.accumulator && self.dice.chance(2);
                instr.d = if to_sum {
                    self.accumulator = modulus;
                    Place::Accumulator
                } else {
                    self.any(modulus)
                };
            }
        }
        Some(instr)
    }
}

/// Draws a program that fills the buffer and the registers, executes random instructions among `ops`, and stores the
/// whole buffer. `length` is about its length without the stores.
fn program(
    shape: Shape,
    moduli: &[u64],
    ops: &[MicroOp],
    length: usize,
    dice: &mut Dice,
) -> MicroProgram {
    let limbs = shape.slots();
    let mut instrs = moved(MicroOp::Load, shape, limbs, 0);
    for at in 0..u64::from(shape.registers) {
        let slot = at % moduli.len() as u64;
        instrs.push(Instr {
            d: register(at),
            a: Place::Chunk(Chunk((slot * u64::from(shape.limb_chunks())) as u16)),
            ..Instr::new(MicroOp::Mov)
        });
    }
    instrs.push(Instr {
        d: Place::Accumulator,
        a: register(0),
        n: 77,
        ..Instr::new(MicroOp::Muli)
    });
    let mut draw = Draw {
        shape,
        moduli,
        dice,
        accumulator: 0,
    };
    while instrs.len() < length {
        // Runs of one kind of instruction fill a pipeline.
        let few = [ops[draw.dice.below(ops.len() as u64) as usize]];
        let of: &[MicroOp] = if draw.dice.chance(3) { &few } else { ops };
        for _ in 0..draw.dice.below(12) {
            instrs.extend(draw.instr(of));
        }
    }
    instrs.extend(moved(MicroOp::Store, shape, limbs, shape.chunks));
    instrs.push(Instr::new(MicroOp::Hcf));
    MicroProgram {
        shape,
        moduli: moduli.to_vec(),
        masks: Vec::new(),
        holds: Vec::new(),
        instrs,
    }
}

/// Returns a distant memory with random residues modulo the limbs' moduli, then room for results.
fn distant(shape: Shape, moduli: &[u64], dice: &mut Dice) -> Vec<Vec<u32>> {
    let lanes = 1usize << shape.log_lanes;
    let chunks = 0..shape.chunks as usize;
    let mut memory: Vec<Vec<u32>> = chunks
        .map(|chunk| {
            let slot = chunk / shape.limb_chunks() as usize;
            let limb = dice.limb(lanes, moduli[slot % moduli.len()]);
            limb.into_iter().map(|x| x as u32).collect()
        })
        .collect();
    memory.resize(2 * shape.chunks as usize + 8, vec![0; lanes]);
    memory
}

/// Runs a program with streams that stall, and compares its events and the distant memory with the simulators'.
fn check(machine: &mut Machine, d: &Description, program: &MicroProgram, mut host: Slow) -> Check {
    let mut memory = Memory::new(program.shape, &program.moduli, 0).expect("such moduli are taken");
    memory.distant = host.memory.clone();
    memory.execute(program).expect("a program that is none");
    let ended = machine.run(program, &mut host)?;
    ensure!(ended.fault.is_none(), "{:?}", ended.fault);
    lockstep(d, program.shape, &program.instrs, &ended.trace)?;
    let differs = (0..).zip(host.memory.iter().zip(&memory.distant));
    for (at, (found, want)) in differs {
        ensure!(
            found == want,
            "chunk {at} of distant memory: {found:x?}, not {want:x?}"
        );
    }
    Ok(())
}

const SUMS: [MicroOp; 9] = {
    use MicroOp::*;
    [Mov, Add, Sub, Mul, Muli, Mac, Maci, Acc, Acci]
};
const PASSES: [MicroOp; 4] = {
    use MicroOp::*;
    [Ntt1, Ntt2, Intt1, Intt2]
};

fn check_ops(hdl: &Hdl, log_radix: u8, ops: &[MicroOp], length: usize, seed: u64) -> Check {
    check_description(hdl, &description(log_radix, 8), ops, length, seed)
}

fn check_description(
    hdl: &Hdl,
    d: &Description,
    ops: &[MicroOp],
    length: usize,
    seed: u64,
) -> Check {
    let moduli = moduli();
    let mut machine = Machine::new(hdl, d, &moduli, BuildOptions::default(), seed as u32)?;
    let shape = machine.shape();
    let mut dice = Dice::new(seed);
    for odds in [[1; 4], [1, 1, 60, 90], [9, 3, 20, 2], [2, 200, 1, 1]] {
        let mut program = program(shape, &moduli, ops, length, &mut dice);
        // The second run leaves out the stores, so that units are at work when `HCF` comes.
        for _ in 0..2 {
            let host = Slow {
                memory: distant(shape, &moduli, &mut dice),
                dice: Dice::new(dice.bits()),
                odds,
            };
            check(&mut machine, d, &program, host)?;
            program.instrs.retain(|instr| instr.op != MicroOp::Store);
        }
    }
    Ok(())
}

/// Checks random programs at radix 4, N = 16: of some units, and of all units together.
pub fn check_small(hdl: &Hdl, seed: u64) -> Check {
    use MicroOp::*;
    let memory = [Load, Store];
    check_ops(hdl, 2, &[SUMS.as_slice(), &memory].concat(), 400, seed)?;
    check_ops(hdl, 2, &[PASSES.as_slice(), &memory].concat(), 400, seed)?;
    check_ops(
        hdl,
        2,
        &[PASSES.as_slice(), &memory, &[Morph, Mov]].concat(),
        400,
        seed,
    )?;
    check_ops(
        hdl,
        2,
        &[SUMS.as_slice(), &PASSES, &memory, &[Morph]].concat(),
        800,
        seed,
    )
}

#[test]
fn random_programs_at_radix_four() {
    check_small(hdl(), seed()).unwrap();
}

/// Random programs are right at radix 8, N = 64. The transform has an odd number of stages; a chunk has four lines, so
/// that there are two transform units.
#[test]
#[ignore = "half a minute, a machine of its own; `make full` runs it"]
fn random_programs_at_radix_eight() {
    use MicroOp::*;
    let all = [SUMS.as_slice(), &PASSES, &[Load, Store, Morph, Morph]].concat();
    let mut d = description(3, 8);
    d.log_lanes = 5;
    check_description(hdl(), &d, &all, 600, seed()).unwrap();
}

/// Random programs are right at radix 16, N = 256.
#[test]
#[ignore = "another machine to build; `make full` runs it"]
fn random_programs_at_radix_sixteen() {
    use MicroOp::*;
    let all = [SUMS.as_slice(), &PASSES, &[Load, Store, Morph, Morph]].concat();
    check_ops(hdl(), 4, &all, 600, seed()).unwrap();
}

/// Checks that a word that is no instruction stops the queue. The instructions before it are executed, and the machine
/// names the word. After a reset of the queue alone it runs on with the contents of its buffer and registers.
pub fn check_fault(hdl: &Hdl, seed: u64) -> Check {
    let d = description(2, 8);
    let moduli = moduli();
    let mut machine = Machine::new(hdl, &d, &moduli, BuildOptions::default(), seed as u32)?;
    let shape = machine.shape();
    let mut dice = Dice::new(seed);
    let mut program = program(shape, &moduli, &SUMS, 200, &mut dice);
    let whole = program.instrs.clone();
    let stop = 40 + dice.below(100) as usize;
    let mut memory = Memory::new(shape, &moduli, 0).expect("such moduli are taken");
    memory.distant = distant(shape, &moduli, &mut dice);
    let mut host = Slow {
        memory: memory.distant.clone(),
        dice: Dice::new(dice.bits()),
        odds: [1, 1, 40, 40],
    };
    // An undefined opcode, and a modulus beyond the table.
    for (code, bits) in [(1, 5u128 << 90), (5, 0)] {
        let first = whole[..stop].to_vec();
        let mut words: Vec<u128> = first.iter().map(ringmill_isa::vector::encode).collect();
        let wrong = match code {
            1 => bits,
            _ => ringmill_isa::vector::encode(&Instr {
                d: register(0),
                a: register(0),
                b: register(0),
                modulus: 3,
                ..Instr::new(MicroOp::Add)
            }),
        };
        words.push(wrong);
        words.extend(whole[stop..].iter().map(ringmill_isa::vector::encode));
        let ended = machine.run_words(&words, &first, &mut host)?;
        let fault = ended
            .fault
            .map(|fault| (fault.code, fault.number, fault.word));
        ensure!(fault == Some((code, stop as u64, wrong)), "{fault:?}");
        lockstep(&d, shape, &first, &ended.trace)?;
        program.instrs = first;
        memory.execute(&program).expect("a program that is none");
        machine.clear_queue()?;
        program.instrs = whole[stop..].to_vec();
        memory.execute(&program).expect("a program that is none");
        let ended = machine.run(&program, &mut host)?;
        ensure!(ended.fault.is_none(), "{:?}", ended.fault);
        lockstep(&d, shape, &program.instrs, &ended.trace)?;
        ensure!(host.memory == memory.distant, "distant memory differs");
    }
    Ok(())
}

#[test]
fn a_fault_stops_the_queue_alone() {
    check_fault(hdl(), seed()).unwrap();
}
