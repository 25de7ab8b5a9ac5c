//! Words that the machine must not run: each is answered by its code, with its stream, and the next procedure runs.

use ringmill_hdl::Hdl;
use ringmill_hdl::ring::{Machine, RpauError};
use ringmill_machines::ring::encode::encode;
use ringmill_machines::ring::micro::{OpWord, Opcode, Operand, STREAMS, Unit, Word};

use crate::bench::{ONCE, PRIMES, toy, with_operand, word};
use crate::setup::hdl;

/// `code_e` of `rm_ring_pkg`.
const NOT_A_WORD: u64 = 1;
const STREAM: u64 = 2;
const MASK: u64 = 3;
const SOURCE: u64 = 4;
const SLOT: u64 = 5;
const UNIT: u64 = 6;
const ROW: u64 = 7;
const NOT_BUILT: u64 = 8;
const FOR_EVER: u64 = 9;
const NO_END: u64 = 10;

/// A word that is refused, in which stream, with which code.
fn cases() -> Vec<(usize, u64, u64)> {
    use Opcode::*;
    let main = |op| word(op, Unit::Main, 0, 1);
    let op = |w: OpWord| encode(&Word::Op(w));
    let add = op(with_operand(main(Add), Operand::Slot(2)));
    let wait = |queue, count| encode(&Word::Wait { queue, count });
    vec![
        // No such operation; no such ring; a slot of b with a bit too many; b without a kind.
        (0, add & !(31 << 59) | 23 << 59, NOT_A_WORD),
        (0, add & !(31 << 59) | 31 << 59, NOT_A_WORD),
        (0, add | 3 << 39, NOT_A_WORD),
        (0, add | 1 << 22, NOT_A_WORD),
        (0, op(main(Ntt)) | 1 << 17, NOT_A_WORD),
        // END and WAIT with more than they have; a counter that there is not.
        (0, 1, NOT_A_WORD),
        (3, wait(1, 1) | 1 << 40, NOT_A_WORD),
        (1, wait(6, 1), NOT_A_WORD),
        (1, add, STREAM),
        (2, add, STREAM),
        (
            0,
            op(OpWord {
                mask: 0,
                ..main(Copy)
            }),
            MASK,
        ),
        (
            0,
            op(OpWord {
                mask: 1 << 3 | 1,
                ..main(Copy)
            }),
            MASK,
        ),
        (
            0,
            op(OpWord {
                mask: 1 << 15,
                ..main(Copy)
            }),
            MASK,
        ),
        (
            0,
            op(OpWord {
                c: 3,
                ..main(Bcast)
            }),
            SOURCE,
        ),
        (
            0,
            op(OpWord {
                dst: 11,
                ..main(Copy)
            }),
            SLOT,
        ),
        (
            0,
            op(OpWord {
                a: 31,
                ..main(Intt)
            }),
            SLOT,
        ),
        (0, op(with_operand(main(Sub), Operand::Slot(11))), SLOT),
        (
            0,
            op(OpWord {
                c: 12,
                ..with_operand(main(Mac), Operand::Key(0))
            }),
            SLOT,
        ),
        (1, op(word(Ntt, Unit::Dyadic, 0, 1)), UNIT),
        (
            0,
            op(OpWord {
                imm: 256,
                ..main(Muli)
            }),
            ROW,
        ),
        (
            1,
            op(OpWord {
                imm: 128,
                ..with_operand(word(Mul, Unit::Dyadic, 0, 1), Operand::Generator)
            }),
            ROW,
        ),
        (0, op(main(Autoc)), NOT_BUILT),
        (
            0,
            op(OpWord {
                layer: 1,
                ..main(Copy)
            }),
            NOT_BUILT,
        ),
        // Nothing retires in the link's counter.
        (2, wait(5, 1), FOR_EVER),
        (0, wait(0, u32::MAX), FOR_EVER),
    ]
}

/// Every refusal, a whole procedure after each.
pub fn check_refusals(hdl: &Hdl, seed: u64) -> Result<(), RpauError> {
    let d = toy(6, 4, 3);
    let mut machine =
        Machine::new(hdl, &d, &PRIMES, ONCE, seed as u32)?.expect("a toy that the RTL builds");
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
        // Behind a word that runs, before one that would.
        let mut streams: [Vec<u64>; STREAMS] = std::array::from_fn(|_| vec![0]);
        streams[0] = vec![good, 0];
        streams[stream].insert(streams[stream].len() - 1, bits);
        let last = streams[stream].len() - 1;
        streams[stream].insert(last, good);
        machine.program(&streams)?;
        let ended = machine.run(10_000)?;
        if (ended.code, ended.stream) != (code, stream as u64) {
            return Err(differs(format!(
                "{bits:#x} in stream {stream}: {ended:?}, not {code}"
            )));
        }
        machine.program(&std::array::from_fn(|s| {
            if s == 0 { vec![good, good, 0] } else { vec![0] }
        }))?;
        let ended = machine.run(10_000)?;
        // Two words of 41 cycles and the dispatch.
        if (ended.code, ended.cycles) != (0, 2 * 41 + 4) {
            return Err(differs(format!("{bits:#x}, then: {ended:?}")));
        }
    }
    // A program without END.
    let mut streams: [Vec<u64>; STREAMS] = std::array::from_fn(|_| vec![0]);
    streams[0] = vec![encode(&Word::Wait { queue: 1, count: 0 }); d.tables.words];
    machine.program(&streams)?;
    let ended = machine.run(20_000)?;
    if (ended.code, ended.stream) != (NO_END, 0) {
        return Err(differs(format!("no END: {ended:?}")));
    }
    Ok(())
}

#[test]
fn words_that_are_refused() {
    check_refusals(hdl(), 1).unwrap();
}
