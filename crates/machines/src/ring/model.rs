// SPDX-License-Identifier: Apache-2.0
//! The cycle model of the ring machine. It executes the decoded instruction words of the four streams, event by event.
//!
//! The rules are (docs/machines/ring.md, "Issue"):
//!
//! - Every stream issues in order. It has at most one instruction word in flight, besides broadcasts, loads and stores.
//! - A `WAIT` holds its stream until a retire counter has reached the instruction word's count, and takes no cycle.
//! - An instruction word starts in the first cycle in which its thread is idle and all resources that it uses are
//!   free: units, ports, generators, the ring network, the host link. Streams are served in the order 0 to 3.
//! - An instruction word retires when its last write is in memory.
//! - A broadcast, a load and a store free their thread when the scoreboard asks that thread again, and advance the
//!   retire counter of the ring network or the host link.
//!
//! A transfer takes the time of a limb at the link's rate, the latencies between link, scoreboard and memory, and the
//! cycles for which the host stalls.

use super::board::Board;
use super::description::Description;
use super::encode::decode;
use super::micro::{MicroCode, OpWord, QUEUES, STREAMS, Word};
use crate::MachineError;

/// The start of an instruction word, its cycles, and the port cycles that it leaves to words of the
/// dyadic cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Started {
    /// The number of the instruction word in the procedure's run, in the order of starts.
    pub sequence: usize,
    /// The cycle in which the instruction word starts; `cycles` is the number of cycles that it takes.
    pub start: u64,
    pub cycles: u64,
    /// The number of cycles of each period that the instruction word leaves free on each of its ports, for words of the
    /// dyadic cores. A period is the time in which these cores take one row. The number is 0 for a dyadic word.
    pub turns: u64,
}

/// Receives the start and the end of every instruction word of a run.
pub trait Observer {
    /// Receives the instruction word `w` when it starts.
    fn start(&mut self, w: &OpWord, at: Started) -> Result<(), MachineError>;
    /// Receives the number of an instruction word, [`Started::sequence`], when the word has retired.
    fn retire(&mut self, sequence: usize) -> Result<(), MachineError>;
}

/// Runs a procedure's instruction words from cycle 0 on, and returns the procedure's cycles: those until the last word
/// has retired, and the latency `dispatch` once.
///
/// # Errors
/// [`MachineError::BadWord`] for an instruction word that does not decode, that is of another stream, that names a slot
/// or RPAU beyond the machine, or that its unit cannot execute. Also for a stream without `END`, and for streams that
/// wait for each other for ever. The observer's errors. Indices of tables, keys and limbs on the host are not checked.
pub fn run(
    d: &Description,
    code: &MicroCode,
    observer: &mut dyn Observer,
) -> Result<u64, MachineError> {
    run_stalled(d, code, &[], observer)
}

/// Runs a procedure's instruction words with a slow host. Transfer number n, counted from 0 in the order of starts,
/// takes `stalls[n]` cycles more than the link needs. Transfers beyond the list have no stalls.
///
/// # Errors
/// The errors of [`run`].
pub fn run_stalled(
    d: &Description,
    code: &MicroCode,
    stalls: &[u64],
    observer: &mut dyn Observer,
) -> Result<u64, MachineError> {
    let mut stalls = stalls.iter().copied();
    let bad = |stream: usize, at: usize, what: &str| MachineError::BadWord {
        procedure: code.name.clone(),
        stream,
        at,
        what: what.to_owned(),
    };
    let mut board = Board::new(d, code.log_n);
    let mut at = [0usize; STREAMS];
    let mut retired = [0u32; QUEUES];
    // (end, sequence, queue) of instruction words in flight: at most one a stream, one on the ring and one on the link.
    let mut flying: Vec<(u64, usize, usize)> = Vec::with_capacity(QUEUES);
    // The cycles in which read ports of operand a are free before their instruction words end.
    let mut freed: Vec<u64> = Vec::with_capacity(QUEUES);
    let (mut now, mut sequence) = (0u64, 0usize);
    loop {
        let mut progress = false;
        for (stream, words) in code.streams.iter().enumerate() {
            loop {
                let bits = words.get(at[stream]).copied();
                let bits = bits.ok_or_else(|| bad(stream, at[stream], "no END"))?;
                let word =
                    decode(bits).ok_or_else(|| bad(stream, at[stream], "not an instruction"))?;
                match word {
                    Word::End => break,
                    Word::Wait { queue, count } if retired[usize::from(queue)] >= count => {
                        at[stream] += 1;
                        progress = true;
                    }
                    Word::Wait { .. } => break,
                    Word::Op(w) => {
                        check(d, &w, stream).map_err(|what| bad(stream, at[stream], what))?;
                        if board.thread[stream] > now || !board.can_start(&w, now) {
                            break;
                        }
                        let turns = board.turns_left(&w, now);
                        let stall = if w.op.on_link() { stalls.next() } else { None };
                        let duration = board.start_stalled(d, &w, now, stall.unwrap_or(0));
                        let started = Started {
                            sequence,
                            start: now,
                            cycles: duration.total,
                            turns,
                        };
                        observer.start(&w, started)?;
                        flying.push((now + duration.total, sequence, w.queue()));
                        if duration.source < duration.total {
                            freed.push(now + duration.source);
                        }
                        sequence += 1;
                        at[stream] += 1;
                        progress = true;
                    }
                }
            }
        }
        if progress {
            continue;
        }
        let ends = flying
            .iter()
            .map(|f| f.0)
            .chain(board.thread)
            .chain(freed.iter().copied())
            .filter(|&t| t > now)
            .min();
        let Some(next) = ends else {
            let open = (0..STREAMS)
                .find(|&s| code.streams[s].get(at[s]).copied().and_then(decode) != Some(Word::End));
            return match open {
                // The last instruction words reach the RPAUs `dispatch` cycles later.
                None => Ok(now + d.pipeline.dispatch),
                Some(stream) => Err(bad(stream, at[stream], "waits for ever")),
            };
        };
        now = next;
        freed.retain(|&t| t > now);
        flying.sort_unstable();
        while let Some(&(end, done, queue)) = flying.first() {
            if end > now {
                break;
            }
            flying.remove(0);
            retired[queue] += 1;
            observer.retire(done)?;
        }
    }
}

/// Checks that an instruction word is of this stream, names only slots and RPAUs that the machine has, and that its
/// unit can execute it. The indices of tables, keys and host limbs are not checked, nor is whether the main cores have
/// `mac` and `fused`.
fn check(d: &Description, w: &OpWord, stream: usize) -> Result<(), &'static str> {
    use super::micro::{Opcode, Operand};
    let slots = d.slots();
    let slot = |s: u8| usize::from(s) < slots;
    let c_is_slot = w.op.is_pair() || w.op == Opcode::Mac;
    let b_slot = if let Operand::Slot(s) = w.b {
        slot(s)
    } else {
        true
    };
    if w.stream() != stream || usize::from(w.controller) >= d.controllers {
        return Err("another stream's word");
    }
    if w.mask == 0 || w.mask.checked_shr(d.rpaus as u32).unwrap_or(0) != 0 {
        return Err("an RPAU mask beyond the machine");
    }
    if w.op == Opcode::Bcast && usize::from(w.c) >= d.rpaus {
        return Err("a source RPAU beyond the machine");
    }
    if !slot(w.dst) || !slot(w.a) || !b_slot || (c_is_slot && !slot(w.c)) {
        return Err("a slot beyond the memory");
    }
    let narrow = |s: u8| {
        let groups = d.memory.iter().enumerate();
        let of = groups.flat_map(|(g, group)| std::iter::repeat_n(g, group.slots));
        of.into_iter().nth(s.into()).is_some_and(|g| d.is_narrow(g))
    };
    if w.op.needs_rows() && narrow(w.dst) {
        return Err("a result of rows in a narrow slot");
    }
    if w.op.on_link() && w.mask.count_ones() != 1 {
        return Err("a transfer with other than one RPAU");
    }
    let main_only = !w.op.is_coefficient_wise() && w.on_cores() && w.op != Opcode::Prng;
    if main_only && w.unit == super::micro::Unit::Dyadic {
        return Err("the dyadic cores lack this operation");
    }
    if w.on_cores() && w.unit == super::micro::Unit::Dyadic && d.cores.dyadic == 0 {
        return Err("a word of dyadic cores, of which there are none");
    }
    if w.op == Opcode::Prng && w.unit == super::micro::Unit::Main && d.cores.dyadic > 0 {
        return Err("the generator gives to the dyadic cores alone");
    }
    Ok(())
}

/// An observer that does nothing, for runs in which only the cycles count.
pub struct Silent;

impl Observer for Silent {
    fn start(&mut self, _: &OpWord, _: Started) -> Result<(), MachineError> {
        Ok(())
    }

    fn retire(&mut self, _: usize) -> Result<(), MachineError> {
        Ok(())
    }
}
