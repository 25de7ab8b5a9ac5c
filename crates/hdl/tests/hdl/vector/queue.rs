// SPDX-License-Identifier: Apache-2.0
//! Tests of the instruction queue, cycle for cycle against a queue in Rust: which words it takes for instructions,
//! batches, exhaustion, faults and how they are cleared.

use std::collections::VecDeque;

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{BuildOptions, Hdl, Top};
use ringmill_isa::vector::{Allowed, Immediate, Info, MicroOp};

use crate::common::failure::{Check, ensure};
use crate::common::setup::{hdl, seed};

const DEPTH: usize = 8;
const BATCH: usize = 3;
const REGISTERS: u32 = 16;
const CHUNKS: u32 = 64;
const LOG_LIMB: u32 = 2;
const LOG_N: u32 = 8;
const DISTANT: u32 = 1024;
const MODULI: u32 = 5;

/// Fault codes, as numbered in the RTL's `fault_e`.
const NONE: u64 = 0;
const OP: u64 = 1;
const OPERAND: u64 = 2;
const REGISTER: u64 = 3;
const CHUNK: u64 = 4;
const MODULUS: u64 = 5;
const IMMEDIATE: u64 = 6;
const TARGET: u64 = 7;

/// The fields of an instruction word; its operands d, a and b are given by kind and index.
#[derive(Clone, Copy, Debug)]
struct Word {
    op: u32,
    operands: [(u32, u32); 3],
    modulus: u32,
    n: u32,
}

impl Word {
    fn words(self) -> [u32; 3] {
        let mut bits = u128::from(self.op);
        for (kind, index) in self.operands {
            bits = (bits << 2 | u128::from(kind)) << 14 | u128::from(index);
        }
        bits = (bits << 10 | u128::from(self.modulus)) << 32 | u128::from(self.n);
        [bits as u32, (bits >> 32) as u32, (bits >> 64) as u32]
    }

    fn info(self) -> Option<&'static Info> {
        let mut all = MicroOp::ALL.into_iter();
        all.find(|&op| op as u32 == self.op).map(MicroOp::info)
    }

    /// Returns the fault code of a word by the instruction set's table, [`NONE`] for an instruction.
    fn fault(self) -> u64 {
        let Some(info) = self.info() else { return OP };
        let wrong = |allowed: Allowed, (kind, index): (u32, u32)| match kind {
            0 => !allowed.nothing() || index != 0,
            1 => !allowed.chunk,
            2 => !allowed.register,
            _ => !allowed.accumulator || index != 0,
        };
        let [d, a, b] = self.operands;
        let any = |of: u32, limit: u32| self.operands.iter().any(|o| o.0 == of && o.1 >= limit);
        let immediate = match info.n {
            Immediate::None => self.n != 0,
            Immediate::Scalar => false,
            Immediate::Distant => self.n >= DISTANT,
            Immediate::Galois => self.n.is_multiple_of(2) || self.n >= 2 << LOG_N,
        };
        let limb = 1 << LOG_LIMB;
        let target = d.1 % limb != 0 || d.1 / limb == a.1 / limb;
        let rules = [
            (
                wrong(info.d, d) || wrong(info.a, a) || wrong(info.b, b),
                OPERAND,
            ),
            (any(2, REGISTERS), REGISTER),
            (any(1, CHUNKS), CHUNK),
            (
                self.modulus >= if info.modulus { MODULI } else { 1 },
                MODULUS,
            ),
            (immediate, IMMEDIATE),
            (matches!(info.n, Immediate::Galois) && target, TARGET),
        ];
        rules.into_iter().find(|rule| rule.0).map_or(NONE, |r| r.1)
    }

    /// Draws a random instruction, and changes a field in one of `wrong` cases.
    fn random(dice: &mut Dice, wrong: u64) -> Self {
        let op = MicroOp::ALL[dice.below(MicroOp::ALL.len() as u64) as usize];
        let info = op.info();
        let mut of = |allowed: Allowed| loop {
            let (kind, index) = match dice.below(4) {
                1 if allowed.chunk => (1, dice.below(CHUNKS.into()) as u32),
                2 if allowed.register => (2, dice.below(REGISTERS.into()) as u32),
                3 if allowed.accumulator => (3, 0),
                0 if allowed.nothing() => (0, 0),
                _ => continue,
            };
            return (kind, index);
        };
        let mut operands = [of(info.d), of(info.a), of(info.b)];
        if info.n == Immediate::Galois {
            let limbs = u64::from(CHUNKS >> LOG_LIMB);
            let own = operands[1].1 >> LOG_LIMB;
            let other = (u64::from(own) + 1 + dice.below(limbs - 1)) % limbs;
            // At times the target is not a limb's first chunk, or is in the operand's own limb.
            operands[0].1 = match dice.below(16) {
                0 => (other as u32) << LOG_LIMB | 1,
                1 => own << LOG_LIMB,
                _ => (other as u32) << LOG_LIMB,
            };
        }
        let n = match info.n {
            Immediate::None => 0,
            Immediate::Scalar => dice.bits() as u32,
            Immediate::Distant => dice.below(DISTANT.into()) as u32,
            // The Galois element is seldom even.
            Immediate::Galois => 2 * dice.below(1 << LOG_N) as u32 + u32::from(!dice.chance(16)),
        };
        let modulus = match info.modulus {
            true => dice.below(MODULI.into()) as u32,
            false => 0,
        };
        let mut word = Self {
            op: op as u32,
            operands,
            modulus,
            n,
        };
        if dice.chance(wrong) {
            let operand = &mut word.operands[dice.below(3) as usize];
            match dice.below(6) {
                0 => word.op = dice.below(64) as u32,
                1 => operand.0 = dice.below(4) as u32,
                2 => operand.1 = dice.below(1 << 7) as u32,
                3 => word.modulus = dice.below(8) as u32,
                4 => word.n ^= 1 << dice.below(32),
                _ => word.operands[0].1 ^= 1,
            }
        }
        word
    }
}

/// The queue as the header of `rm_vector_queue` describes it.
#[derive(Default)]
struct Queue {
    words: VecDeque<Word>,
    /// The words in front of `words`: the one that was read from memory, and the one before it, which was checked.
    read: Option<Word>,
    checked: Option<Word>,
    clears: bool,
    asked: usize,
    runs: bool,
    exhausted: bool,
    number: u64,
    underrun: u64,
}

impl Queue {
    fn held(&self) -> usize {
        self.words.len() + usize::from(self.read.is_some()) + usize::from(self.checked.is_some())
    }

    /// Moves the held words on, as a clock edge does. `taken` says whether the front one is taken.
    fn moves(&mut self, taken: bool) {
        if taken {
            self.checked = None;
        }
        if self.checked.is_none() {
            self.checked = self.read.take();
        }
        if self.read.is_none() {
            self.read = self.words.pop_front();
        }
    }
}

pub fn check_queue(hdl: &Hdl, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let top = Top::new("rm_vector_queue")
        .int("Depth", DEPTH as u64)
        .int("Batch", BATCH as u64)
        .int("Registers", REGISTERS.into())
        .int("Chunks", CHUNKS.into())
        .int("LogLimb", LOG_LIMB.into())
        .int("LogN", LOG_N.into())
        .int("Distant", DISTANT.into());
    let mut model = hdl.model(&top, BuildOptions::default())?;
    model.restart(dice.bits() as u32)?;
    let bits = [
        "clear_i",
        "refill_ready_i",
        "valid_i",
        "ready_i",
        "acknowledge_i",
        "held_i",
        "last_i",
    ];
    for name in bits {
        let port = model.input(name)?;
        model.set(port, 0)?;
    }
    let moduli = model.input("moduli_i")?;
    model.set(moduli, MODULI.into())?;
    let word_i = model.input("word_i")?;
    model.reset()?;
    let mut queue = Queue {
        clears: true,
        ..Queue::default()
    };
    let (mut faults, mut clears) = ([0; 8], 0);
    for cycle in 0..60_000 {
        // Host and controller have quick and slow stretches.
        let (host, controller) = (1 + cycle / 500 % 4, 1 + cycle / 300 % 5);
        let stuck = queue.checked.is_some_and(|word| word.fault() != NONE);
        let word = Word::random(&mut dice, 40);
        let clear = (stuck && dice.chance(6)) || dice.chance(700);
        let (valid, ready) = (dice.chance(host), dice.chance(controller));
        let (refill_ready, acknowledge) = (dice.chance(3), dice.chance(9));
        // Whether the controller has an instruction, and whether it is the last of a program.
        let holds = !dice.chance(3);
        let last = dice.chance(6);
        for (name, value) in
            bits.into_iter()
                .zip([clear, refill_ready, valid, ready, acknowledge, holds, last])
        {
            let port = model.input(name)?;
            model.set(port, value.into())?;
        }
        model.set_words(word_i, &word.words())?;
        model.eval()?;
        // The expected outputs in this cycle.
        let front = if queue.clears { None } else { queue.checked };
        let fault = front.map_or(NONE, Word::fault);
        let offers = front.is_some() && fault == NONE;
        let room = !queue.clears && queue.held() < DEPTH;
        let refill = !queue.clears && queue.held() + queue.asked + BATCH <= DEPTH;
        for (name, want) in [
            ("refill_o", refill.into()),
            ("asked_o", queue.asked as u64),
            ("valid_o", offers.into()),
            ("fault_o", fault),
            ("number_o", queue.number),
            ("exhausted_o", queue.exhausted.into()),
            ("underrun_o", queue.underrun),
        ] {
            let got = model.get(model.output(name)?)?;
            ensure!(
                got == want,
                "cycle {cycle}: {name} is {got}, not {want} ({front:?})"
            );
        }
        let takes = model.get(model.output("ready_o")?)? != 0;
        ensure!(takes == room, "cycle {cycle}: ready_o is {takes}");
        if let Some(front) = front {
            let shown = model.get_words(model.output("word_o")?)?;
            ensure!(shown == front.words(), "cycle {cycle}: another word");
        }
        // The expected state after the clock edge.
        model.step(1)?;
        faults[fault as usize] += 1;
        let dry = queue.runs && !holds;
        let taken = offers && ready;
        if queue.clears {
            clears += 1;
            queue = Queue {
                clears: clear,
                ..Queue::default()
            };
            continue;
        }
        queue.moves(taken);
        if taken {
            queue.number += 1;
        }
        if holds {
            queue.runs = !last;
        }
        queue.underrun += u64::from(dry);
        queue.exhausted = dry || (queue.exhausted && !acknowledge);
        if valid && takes {
            queue.words.push_back(word);
            queue.asked = queue.asked.saturating_sub(1);
        }
        if refill && refill_ready {
            queue.asked += BATCH;
        }
        queue.clears = clear;
    }
    ensure!(clears > 20, "{clears} resets of the queue");
    ensure!(
        faults.iter().all(|&times| times > 0),
        "faults that came: {faults:?}"
    );
    Ok(())
}

#[test]
fn queue_in_lockstep() {
    check_queue(hdl(), seed()).unwrap();
}
