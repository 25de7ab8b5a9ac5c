//! Programs drawn at random: words of all streams beside each other, in ports that they share.

use ringmill_hdl::polymul::Dice;
use ringmill_machines::ring::micro::{OpWord, Opcode, Operand, QUEUES, STREAMS, Unit, Word};
use ringmill_math::RingKind;

use crate::bench::{PRIMES, check, code, hdl, seed, toy, word};

/// Slots that a word reads, and slots that it writes.
fn accesses(w: &OpWord) -> (Vec<u8>, Vec<u8>) {
    if w.op == Opcode::Load {
        return (vec![], vec![w.dst]);
    }
    let mut reads = vec![w.a];
    if let Operand::Slot(b) = w.b {
        reads.push(b);
    }
    if w.op == Opcode::Mac {
        reads.push(w.c);
    }
    (reads, vec![w.dst])
}

/// Key indices of the test's RPAU.
const KEYS: u64 = 5;

/// A legal word on slots below `slots`.
fn draw(dice: &mut Dice, slots: u64, constants: u64) -> OpWord {
    use Opcode::*;
    let slot = |dice: &mut Dice| dice.below(slots) as u8;
    let unit = if dice.chance(2) {
        Unit::Main
    } else {
        Unit::Dyadic
    };
    let wise = [Copy, Add, Sub, Neg, Mul, Mac, Muli, Addi, Subm, Red];
    let op = match (unit, dice.below(8)) {
        (_, 0) => [Load, Bcast][dice.below(2) as usize],
        (Unit::Main, 1..=4) => [Ntt, Intt][dice.below(2) as usize],
        _ => wise[dice.below(wise.len() as u64) as usize],
    };
    let b = match op {
        Add | Sub | Mul | Mac | Subm => match (unit, dice.below(6)) {
            (_, 0 | 1) => Operand::Key(dice.below(KEYS) as u8),
            (Unit::Dyadic, 2) if op != Subm => Operand::Generator,
            _ => Operand::Slot(slot(dice)),
        },
        _ => Operand::None,
    };
    let imm = match op {
        _ if b == Operand::Generator => dice.below(4),
        Load => dice.below(4),
        Bcast => dice.below(constants),
        Muli | Addi | Subm => 1 + dice.below(constants - 1),
        Red => dice.below(constants),
        _ => 0,
    };
    let kinds = [RingKind::Full, RingKind::HalfPlus, RingKind::HalfMinus];
    OpWord {
        controller: dice.below(2) as u8,
        ring: kinds[dice.below(3) as usize],
        b,
        c: if op == Mac { slot(dice) } else { 0 },
        imm: imm as u16,
        ..word(op, unit, slot(dice), slot(dice))
    }
}

/// Words in the order in which they were drawn, each behind the waits that its data need.
fn streams(dice: &mut Dice, count: usize, slots: u64, constants: u64) -> [Vec<Word>; STREAMS] {
    let mut streams: [Vec<Word>; STREAMS] = Default::default();
    let mut given = [0u32; QUEUES];
    let mut before: Vec<(usize, u32, Vec<u8>, Vec<u8>)> = Vec::new();
    for _ in 0..count {
        let w = draw(dice, slots, constants);
        let (reads, writes) = accesses(&w);
        let mut needs = [0u32; QUEUES];
        for (queue, number, others_reads, others_writes) in &before {
            let meets = |x: &[u8], y: &[u8]| x.iter().any(|s| y.contains(s));
            // The link's and the ring's words stay in order, so that their counters say which have retired.
            let conflict = (!w.on_cores() && *queue == w.queue())
                || meets(&reads, others_writes)
                || meets(&writes, others_writes)
                || meets(&writes, others_reads);
            // Its own stream's words end before it, but for what the link does.
            if conflict {
                needs[*queue] = needs[*queue].max(*number);
            }
        }
        let stream = &mut streams[w.stream()];
        for (queue, &count) in needs.iter().enumerate() {
            if count > 0 && queue != w.stream() {
                let queue = queue as u8;
                stream.push(Word::Wait { queue, count });
            }
        }
        stream.push(Word::Op(w));
        given[w.queue()] += 1;
        before.push((w.queue(), given[w.queue()], reads, writes));
    }
    streams
}

fn check_random(log_n: u8, butterflies: usize, prime: u64, programs: usize) {
    let mut dice = Dice::new(seed());
    let d = toy(log_n, butterflies, 1);
    for _ in 0..programs {
        // Few slots: much waiting; all of them: much beside each other.
        let slots = 2 + dice.below(d.slots() as u64 - 1);
        let constants: Vec<Vec<u64>> = (0..8)
            .map(|i| vec![if i == 0 { 0 } else { dice.below(prime) }])
            .collect();
        let streams = streams(&mut dice, 40, slots, constants.len() as u64);
        let code = code(log_n, streams, constants);
        check(hdl(), &d, prime, &code, true, &mut dice).unwrap();
    }
}

#[test]
fn words_beside_each_other() {
    check_random(6, 4, PRIMES[0], 6);
    check_random(7, 8, PRIMES[1], 4);
}

#[test]
#[ignore = "many programs; `make full` runs it"]
fn many_words_beside_each_other() {
    check_random(6, 4, PRIMES[0], 300);
    check_random(7, 8, PRIMES[1], 200);
    check_random(10, 16, PRIMES[0], 10);
}
