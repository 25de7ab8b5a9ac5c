// SPDX-License-Identifier: Apache-2.0
//! Small ring machines, and a bench that runs instruction words on the model and on the RTL.

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::ring::{Lockstep, Rpau, RpauError, Shape, Tables};
use ringmill_hdl::{BuildOptions, Hdl};
use ringmill_isa::Galois;
use ringmill_isa::mid::TableModulus;
use ringmill_machines::ring::Description;
use ringmill_machines::ring::encode::encode;
use ringmill_machines::ring::interpret::{Memory, trace};
use ringmill_machines::ring::micro::{
    MicroCode, OpWord, Opcode, Operand, STREAMS, Stream, Unit, Word,
};
use ringmill_math::RingKind;
use ringmill_schemes::ckks::Params;

/// The primes of the tests: the paper's of 60 bits, and two of 54 bits, just below 2^54 and just above 2^53.
pub const PRIMES: [u64; 3] = [
    (1 << 59) + (1 << 25) + (1 << 22) - (1 << 20) + 1,
    (1 << 54) - (1 << 22) + (1 << 19) + (1 << 17) + 1,
    (1 << 53) + (1 << 20) - (1 << 17) + 1,
];

/// Returns the six primes of two layers on three RPAUs, in which each of [`PRIMES`] is on an RPAU of its own. The order
/// is that of a CKKS chain, which the test of `sim` on this machine's RTL takes.
pub fn primes() -> Vec<u64> {
    let set = Params::named("set2").unwrap();
    let others = set.moduli().iter().filter(|q| !PRIMES.contains(q));
    let first = PRIMES[..1].iter().chain(others.take(3));
    first.chain(&PRIMES[1..]).copied().collect()
}

/// Returns a small machine like `ring-stored`. Its rows have as many coefficients as an RPAU has butterflies. It has
/// two dyadic cores, and narrow slots that move two residues a cycle.
pub fn toy(log_n: u8, butterflies: usize, rpaus: usize) -> Description {
    small(Description::STORED, log_n, butterflies, rpaus)
}

/// Returns a small machine like `ring`. Its rows have twice as many coefficients as an RPAU has butterflies. A pass has
/// one stage, twiddle factors are generated, and the ring network does not reduce the residues that it brings.
pub fn medha(log_n: u8, butterflies: usize, rpaus: usize) -> Description {
    small(Description::MEDHA, log_n, 2 * butterflies, rpaus)
}

fn small(text: &str, log_n: u8, row: usize, rpaus: usize) -> Description {
    let mut d = Description::parse(text).unwrap();
    d.log_n = log_n;
    d.rpaus = rpaus;
    d.cores.butterfly = row >> (2 - d.main.stages);
    d.cores.generator = row - d.cores.butterfly;
    d.cores.dyadic = 2;
    d.row = row;
    d.main.lanes = row;
    d.keys.group = 2;
    d.keys.stripes = 9;
    d.generator.residues_per_cycle = 2;
    d.ring.lanes = row;
    d.stand_in.clear();
    for group in &mut d.memory {
        group.residues = group.residues.map(|_| 2);
    }
    d.keys.slots = 5;
    d.check().unwrap();
    d
}

/// Returns an instruction word of controller 0 for RPAU 0, without a second operand.
pub fn word(op: Opcode, unit: Unit, dst: u8, a: u8) -> OpWord {
    OpWord {
        op,
        controller: 0,
        unit,
        mask: 1,
        ring: RingKind::Full,
        layer: 0,
        dst,
        a,
        b: Operand::None,
        c: 0,
        imm: 0,
    }
}

pub fn with_operand(w: OpWord, b: Operand) -> OpWord {
    OpWord { b, ..w }
}

pub fn with_b(w: OpWord, b: u8) -> OpWord {
    OpWord {
        b: Operand::Slot(b),
        ..w
    }
}

/// Returns the table of Galois elements: six of the ring of degree 2^`log_n`, and from row [`WIDE`] on those of the
/// ring of twice the degree.
pub fn galois(log_n: u8) -> Vec<Galois> {
    let below = |bound: u32, g: u32| Galois((g % bound) | 1);
    let own = [3, 5, 25, 2 << log_n, 0x5555_5555, 1].map(|g| {
        // The elements are rotations, the conjugation and the identity.
        below(2 << log_n, u32::wrapping_sub(g, u32::from(g == 2 << log_n)))
    });
    let twice = [5, 0x3333_3333, u32::MAX, 7].map(|g| below(4 << log_n, g));
    own.into_iter().chain(twice).collect()
}

/// The first row of [`galois`] that only `AUTOH` may take, and the number of rows.
pub const WIDE: u64 = 6;
pub const ELEMENTS: u64 = 10;

/// Returns the microcode of the words of four streams, each of which gets an `END`, with constants and four generated
/// limbs.
pub fn code(log_n: u8, streams: [Vec<Word>; STREAMS], constants: Vec<Vec<u64>>) -> MicroCode {
    MicroCode {
        name: "test".to_owned(),
        log_n,
        streams: streams.map(|words| {
            let words = words.iter().chain([&Word::End]);
            words.map(encode).collect()
        }),
        constants,
        generators: (0..4)
            .map(|i| {
                vec![Some(Stream {
                    seed: i % 2,
                    stream: (1 << 40) + u64::from(i),
                })]
            })
            .collect(),
        primes: vec![0],
        galois: galois(log_n),
    }
}

/// Returns streams that contain nothing but a word of controller 0.
pub fn alone(w: OpWord) -> [Vec<u64>; STREAMS] {
    let mut streams: [Vec<u64>; STREAMS] = std::array::from_fn(|_| vec![encode(&Word::End)]);
    let stream = match w.unit {
        Unit::Main => &mut streams[0],
        Unit::Dyadic => &mut streams[1],
    };
    stream.insert(0, encode(&Word::Op(w)));
    streams
}

/// An RPAU's RTL beside the model's memory. A program finds what the last one left in both.
pub struct Bench {
    description: Description,
    rpau: Rpau,
    shape: Shape,
    memory: Memory,
    log_n: u8,
}

impl Bench {
    /// Builds an RPAU for a prime, and fills all slots and keys with random residues.
    pub fn new(
        hdl: &Hdl,
        d: &Description,
        prime: u64,
        halves: bool,
        dice: &mut Dice,
    ) -> Result<Self, RpauError> {
        let shape = Shape::new(d, &[prime]).unwrap();
        let rpau = Rpau::new(hdl, shape, BuildOptions::default(), dice.bits() as u32)?;
        let seeds: Vec<[u8; 32]> = (0..2)
            .map(|_| std::array::from_fn(|_| dice.bits() as u8))
            .collect();
        let mut bench = Self {
            description: d.clone(),
            rpau,
            shape,
            memory: Memory::new(vec![TableModulus::Prime(prime)], seeds, halves),
            log_n: 0,
        };
        bench.size(d.log_n, dice)?;
        Ok(bench)
    }

    /// Sets the limbs' size to 2^`log_n` coefficients. If it changes, all slots and keys become random.
    pub fn size(&mut self, log_n: u8, dice: &mut Dice) -> Result<(), RpauError> {
        if self.log_n == log_n {
            return Ok(());
        }
        self.log_n = log_n;
        self.rpau.size(log_n)?;
        let (n, prime) = (1 << log_n, self.shape.primes()[0]);
        let (rpau, memory) = (&mut self.rpau, &mut self.memory);
        memory.host = (0..4).map(|i| (i, dice.limb(n, prime))).collect();
        // Key indices have another order than their slots.
        for slot in 0..self.shape.key_slots as u8 {
            let limb = dice.limb(n, prime);
            rpau.fill_key(slot, &limb)?;
            memory.keys.insert((0, slot), limb);
            let index = self.shape.key_slots as u8 - 1 - slot;
            memory.key_table.insert((0, index), slot);
        }
        for slot in 0..self.shape.slots() as u8 {
            let limb = dice.limb(n, prime);
            rpau.fill(slot, &limb)?;
            memory.slots.insert((0, slot), limb);
        }
        Ok(())
    }

    /// Runs `code` on the RPAU and on the model, in lockstep.
    pub fn check(&mut self, code: &MicroCode) -> Result<(), RpauError> {
        let keys = self.memory.key_table.iter();
        self.rpau.tables(&Tables {
            constants: code.constants.iter().map(|row| row[0]).collect(),
            streams: code.generators.iter().map(|row| row[0]).collect(),
            galois: &code.galois,
            seeds: &self.memory.seeds,
            keys: keys.map(|(&(_, index), &slot)| (index, slot)).collect(),
        })?;
        let (words, _) = traced(&self.description, code, &mut self.memory, &[]);
        self.rpau.run(&words)
    }
}

/// Builds an RPAU, and runs `code` on it and on the model, in lockstep.
pub fn check(
    hdl: &Hdl,
    d: &Description,
    prime: u64,
    code: &MicroCode,
    dice: &mut Dice,
) -> Result<(), RpauError> {
    let mut bench = Bench::new(hdl, d, prime, true, dice)?;
    bench.size(code.log_n, dice)?;
    bench.check(code)
}

/// Runs `code` on the model, with the cycles by which the host delays each transfer. Returns what the model says of
/// each word, and the cycles of the program.
pub fn traced(
    d: &Description,
    code: &MicroCode,
    memory: &mut Memory,
    stalls: &[u64],
) -> (Vec<Lockstep>, u64) {
    let mut words = Vec::new();
    let cycles = trace(d, code, memory, stalls, &mut |e| {
        words.push(Lockstep {
            word: e.word,
            start: e.start,
            cycles: e.cycles,
            turns: e.turns,
            results: e.results.to_vec(),
        });
    });
    let cycles = cycles.expect("words that the model runs");
    (words, cycles)
}
