// SPDX-License-Identifier: Apache-2.0
//! Tests of words that the ring machine must refuse: it answers each with a code and the word's stream, and runs the
//! next procedure.

use ringmill_hdl::BuildOptions;
use ringmill_hdl::Hdl;
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::ring::{Ended, Host, Machine, NoHost, RpauError, Wanted};
use ringmill_machines::ring::encode::encode;
use ringmill_machines::ring::isa::{Code, word as field};
use ringmill_machines::ring::micro::{OpWord, Opcode, Operand, STREAMS, Unit, Word};

use crate::common::setup::hdl;
use crate::ring::bench::{PRIMES, primes, toy, with_operand, word};

/// Returns words that the machine must refuse: the word's stream, its bits, and the code of the answer.
fn cases() -> Vec<(usize, u64, Code)> {
    use Opcode::*;
    let main = |op| word(op, Unit::Main, 0, 1);
    let op = |w: OpWord| encode(&Word::Op(w));
    let add = op(with_operand(main(Add), Operand::Slot(2)));
    let narrow = |w, dst| op(OpWord { dst, ..w });
    let wait = |queue, count| encode(&Word::Wait { queue, count });
    vec![
        // An undefined operation, an undefined ring, a slot b with a bit too many, and an operand b of no kind.
        (
            0,
            add & !field::OP.put(31) | field::OP.put(23),
            Code::NotAWord,
        ),
        (0, add | field::OP.put(31), Code::NotAWord),
        (0, add | field::RING.put(3), Code::NotAWord),
        (0, add | field::B.put(1 << 5), Code::NotAWord),
        (0, op(main(Ntt)) | field::B.put(1), Code::NotAWord),
        // `END` and `WAIT` with undefined bits set, and a `WAIT` for an undefined counter.
        (0, 1, Code::NotAWord),
        (3, wait(1, 1) | 1 << 40, Code::NotAWord),
        (1, wait(6, 1), Code::NotAWord),
        (1, add, Code::Stream),
        (2, add, Code::Stream),
        (
            0,
            op(OpWord {
                mask: 0,
                ..main(Copy)
            }),
            Code::Mask,
        ),
        (
            0,
            op(OpWord {
                mask: 1 << 3 | 1,
                ..main(Copy)
            }),
            Code::Mask,
        ),
        (
            0,
            op(OpWord {
                mask: 1 << 15,
                ..main(Copy)
            }),
            Code::Mask,
        ),
        (
            0,
            op(OpWord {
                c: 3,
                ..main(Bcast)
            }),
            Code::Source,
        ),
        (
            0,
            op(OpWord {
                dst: 13,
                ..main(Copy)
            }),
            Code::Slot,
        ),
        (
            0,
            op(OpWord {
                a: 31,
                ..main(Intt)
            }),
            Code::Slot,
        ),
        (
            0,
            op(with_operand(main(Sub), Operand::Slot(13))),
            Code::Slot,
        ),
        (
            0,
            op(OpWord {
                c: 13,
                ..with_operand(main(Mac), Operand::Key(0))
            }),
            Code::Slot,
        ),
        (1, op(word(Ntt, Unit::Dyadic, 0, 1)), Code::Unit),
        (
            0,
            op(OpWord {
                imm: 256,
                ..main(Muli)
            }),
            Code::Row,
        ),
        (
            1,
            op(OpWord {
                imm: 128,
                ..with_operand(word(Mul, Unit::Dyadic, 0, 1), Operand::Generator)
            }),
            Code::Row,
        ),
        (0, op(word(Prng, Unit::Main, 0, 1)), Code::Unit),
        (1, op(word(Autoc, Unit::Dyadic, 0, 1)), Code::Unit),
        (
            0,
            op(OpWord {
                imm: 128,
                ..main(Auto)
            }),
            Code::Row,
        ),
        (
            0,
            op(OpWord {
                c: 13,
                ..with_operand(main(Split), Operand::Slot(2))
            }),
            Code::Slot,
        ),
        // A transfer of several RPAUs.
        (
            0,
            op(OpWord {
                mask: 3,
                ..main(Load)
            }),
            Code::Mask,
        ),
        (
            0,
            op(OpWord {
                imm: 1,
                ..with_operand(main(Ntt), Operand::Generator)
            }),
            Code::NotBuilt,
        ),
        (
            0,
            op(OpWord {
                layer: 2,
                ..main(Copy)
            }),
            Code::NotBuilt,
        ),
        // Words that write whole rows to a narrow slot.
        (0, narrow(main(Ntt), 11), Code::Narrow),
        (0, narrow(main(Intt), 12), Code::Narrow),
        (0, narrow(main(Autoc), 11), Code::Narrow),
        (0, narrow(main(Bcast), 12), Code::Narrow),
        // `WAIT`s for more words than ever retire in a counter.
        (2, wait(5, 1), Code::ForEver),
        (0, wait(0, u32::MAX), Code::ForEver),
    ]
}

/// Checks that each word is refused, and that a sound procedure runs after each.
pub fn check_refusals(hdl: &Hdl, seed: u64) -> Result<(), RpauError> {
    let d = toy(6, 4, 3);
    let mut machine = Machine::new(hdl, &d, &primes(), BuildOptions::default(), seed as u32)?;
    let good = encode(&Word::Op(OpWord {
        mask: 7,
        ..word(Opcode::Copy, Unit::Main, 0, 1)
    }));
    let differs = |what: String| RpauError::Differs {
        word: what,
        start: 0,
        what: "is not refused as it should be, or what follows it".to_owned(),
    };
    for (stream, bits, code) in cases() {
        // The word is behind one that runs, and before one that would run.
        let mut streams: [Vec<u64>; STREAMS] = std::array::from_fn(|_| vec![0]);
        streams[0] = vec![good, 0];
        streams[stream].insert(streams[stream].len() - 1, bits);
        let last = streams[stream].len() - 1;
        streams[stream].insert(last, good);
        machine.program(&streams)?;
        let ended = machine.run(&mut NoHost, 10_000)?;
        if (ended.code, ended.stream) != (code.bits(), stream as u64) {
            return Err(differs(format!(
                "{bits:#x} in stream {stream}: {ended:?}, not {code}"
            )));
        }
        machine.program(&std::array::from_fn(|s| {
            if s == 0 { vec![good, good, 0] } else { vec![0] }
        }))?;
        let ended = machine.run(&mut NoHost, 10_000)?;
        // Two words of 41 cycles each, and 4 cycles of dispatch.
        if (ended.code, ended.cycles) != (0, 2 * 41 + 4) {
            return Err(differs(format!("{bits:#x}, then: {ended:?}")));
        }
    }
    // A program without `END`.
    let mut streams: [Vec<u64>; STREAMS] = std::array::from_fn(|_| vec![0]);
    streams[0] = vec![encode(&Word::Wait { queue: 1, count: 0 }); d.tables.words];
    machine.program(&streams)?;
    let ended = machine.run(&mut NoHost, 20_000)?;
    if (ended.code, ended.stream) != (Code::NoEnd.bits(), 0) {
        return Err(differs(format!("no END: {ended:?}")));
    }
    Ok(())
}

#[test]
fn words_that_are_refused() {
    check_refusals(hdl(), 1).unwrap();
}

/// A host that gives limbs of these lengths, one after another.
struct Lengths(Vec<usize>);

impl Host for Lengths {
    fn give(&mut self, _: Wanted) -> Vec<u64> {
        vec![7; self.0.remove(0)]
    }

    fn take(&mut self, _: Wanted, _: Vec<u64>) {}
}

/// Checks that a limb of the host that is too short or too long ends the program with a code and the word's stream. The
/// next limb that is loaded must be right.
pub fn check_links(hdl: &Hdl, seed: u64) -> Result<(), RpauError> {
    let d = toy(6, 4, 3);
    let mut machine = Machine::new(hdl, &d, &primes(), BuildOptions::default(), seed as u32)?;
    let mut dice = Dice::new(seed);
    let n = 1 << d.log_n;
    for (stream, bad) in [(0, 1), (3, n - 1), (2, n + 1), (1, 3 * n)] {
        let unit = [Unit::Main, Unit::Dyadic][stream % 2];
        let load = OpWord {
            controller: stream as u8 / 2,
            mask: 4,
            ..word(Opcode::Load, unit, 3, 0)
        };
        let load = encode(&Word::Op(load));
        let mut streams: [Vec<u64>; STREAMS] = std::array::from_fn(|_| vec![0]);
        // The wrong load is behind one that is right, and before one that must not run.
        streams[stream] = vec![load, load, load, 0];
        machine.program(&streams)?;
        let ended = machine.run(&mut Lengths(vec![n, bad, n]), 10_000)?;
        let limb = dice.limb(n, PRIMES[2]);
        machine.fill(2, 3, &limb)?;
        let found = machine.read(2, 3)?;
        if (ended.code, ended.stream) != (Code::Link.bits(), stream as u64) || found != limb {
            return Err(RpauError::Differs {
                word: format!("a load of {bad} residues in stream {stream}"),
                start: 0,
                what: format!("{ended:?}, or the load after it"),
            });
        }
    }
    Ok(())
}

#[test]
fn a_link_that_sends_too_little_or_too_much() {
    check_links(hdl(), 1).unwrap();
}

/// Checks two transfers of different RPAUs, one after another, of which the second RPAU is farther on the ring network.
/// The second must not receive the first one's last residues. A load would write over such residues in a slot, so that
/// the check also loads a key, because key memory counts residues.
pub fn check_trailing(hdl: &Hdl, seed: u64) -> Result<(), RpauError> {
    // The RPAUs are so far apart that the second word arrives before the first one's residues would.
    let mut d = toy(6, 4, 3);
    d.ring.hop = 8;
    let mut machine = Machine::new(hdl, &d, &primes(), BuildOptions::default(), seed as u32)?;
    let mut dice = Dice::new(seed);
    let n = 1 << d.log_n;
    // The prime of RPAU 2's first layer.
    let prime = primes()[2];
    let limb = dice.limb(n, prime);
    machine.fill(2, 3, &limb)?;
    machine.fill_key(2, 1, &dice.limb(n, prime))?;
    // A load to slot 5 of RPAU 0, then a transfer of RPAU 2. A store names slot 0 as its result, which it must not
    // write.
    let load = OpWord {
        mask: 1,
        ..word(Opcode::Load, Unit::Main, 5, 0)
    };
    let store = OpWord {
        mask: 4,
        ..word(Opcode::Store, Unit::Main, 0, 3)
    };
    let next = OpWord {
        mask: 4,
        ..word(Opcode::Load, Unit::Main, 3, 0)
    };
    let key = with_operand(next, Operand::Key(0));
    let product = OpWord {
        mask: 4,
        ..with_operand(word(Opcode::Mul, Unit::Main, 4, 3), Operand::Key(0))
    };
    let square = |x: &u64| (u128::from(*x) * u128::from(*x) % u128::from(prime)) as u64;
    let squares: Vec<u64> = limb.iter().map(square).collect();
    for second in [store, next, key] {
        let mut host = Beside(limb.clone());
        let transfers = run_words(&mut machine, &[load, second], &mut host)?;
        let found = machine.read(2, 3)?;
        let other = machine.read(2, 0)?;
        let multiplied = run_words(&mut machine, &[product], &mut host)?;
        let wrong = second == key && machine.read(2, 4)? != squares;
        if transfers.code != 0
            || multiplied.code != 0
            || found != limb
            || other.contains(&SENTINEL)
            || wrong
        {
            return Err(RpauError::Differs {
                word: Word::Op(second).to_string(),
                start: 0,
                what: format!("{transfers:?}, or a residue that was another's"),
            });
        }
    }
    Ok(())
}

/// Runs words in the first stream, with the other streams empty.
fn run_words(
    machine: &mut Machine,
    words: &[OpWord],
    host: &mut dyn Host,
) -> Result<Ended, RpauError> {
    let mut streams: [Vec<u64>; STREAMS] = std::array::from_fn(|_| vec![encode(&Word::End)]);
    let words = words.iter().map(|w| encode(&Word::Op(*w)));
    streams[0].splice(0..0, words);
    machine.program(&streams)?;
    machine.run(host, 10_000)
}

/// The value of all residues that RPAU 0 is sent.
const SENTINEL: u64 = 77;

/// A host that gives RPAU 0 sentinels and the others a limb, and takes every stored limb.
struct Beside(Vec<u64>);

impl Host for Beside {
    fn give(&mut self, wanted: Wanted) -> Vec<u64> {
        if wanted.rpau == 0 {
            vec![SENTINEL; self.0.len()]
        } else {
            self.0.clone()
        }
    }

    fn take(&mut self, _: Wanted, _: Vec<u64>) {}
}

#[test]
#[ignore = "another machine to build; `make full` runs it"]
fn what_is_loaded_stops_where_it_is_received() {
    check_trailing(hdl(), 1).unwrap();
}
