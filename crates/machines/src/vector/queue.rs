// SPDX-License-Identifier: Apache-2.0
//! The host's part of the instruction queue (BASALISC paper, section 6.5.3). The host writes batches of instructions at
//! times that it predicts.
//!
//! Times depend only on the instructions, so the host can predict them. A write for which the queue has no room is an
//! overrun, which is refused.

use ringmill_isa::vector::{Instr, MicroOp, MicroProgram};

use super::clockwork::{Clockwork, Counting};
use super::description::Description;
use crate::MachineError;

/// One write of instructions by the host into the machine's queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// The time from which on the write's instructions are in the queue, in micro-cycles (`micro.buffer` of them
    /// make one cycle of the ciphertext buffer).
    pub at: u64,
    pub instructions: usize,
}

/// The time of a program whose instructions the host wrote into the machine's queue in batches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fed {
    pub micro: u64,
    /// The micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer) in which the queue was
    /// empty between the first and the last instruction. An empty queue raises an interrupt.
    pub dry: u64,
}

/// Returns the instructions of a program without the halt instruction HCF at its end.
fn sent(program: &MicroProgram) -> impl Iterator<Item = &Instr> {
    program.instrs.iter().filter(|i| i.op != MicroOp::Hcf)
}

/// Returns the time at which each instruction is sent, and that at which the last result is written, in
/// micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer). Instruction i is in the queue
/// from the micro-cycle `there(i)` on.
fn times(
    d: &Description,
    program: &MicroProgram,
    there: impl Fn(usize) -> u64,
) -> Result<(Vec<u64>, u64), MachineError> {
    let mut clock = Clockwork::new(d, program.shape, Counting::PAPER);
    let mut found = Vec::with_capacity(program.instrs.len());
    for (number, instr) in sent(program).enumerate() {
        let at = clock.step_decoded(&clock.decode(instr), there(number));
        found.push(at.map_err(|stuck| MachineError::Program(stuck.to_string()))?);
    }
    Ok((found, clock.drain()))
}

/// Predicts the host's writes of at most `batch` instructions each; `batch` is first moved into the range from 1 to the
/// size of the queue. The queue has room for each write, and none delays the machine.
///
/// # Errors
/// [`MachineError::Program`] if the machine cannot continue, as with some programs that the verifier refuses.
pub fn predicted(
    d: &Description,
    program: &MicroProgram,
    batch: usize,
) -> Result<Vec<Write>, MachineError> {
    let batch = batch.clamp(1, d.queue);
    let (times, _) = times(d, program, |_| 0)?;
    let writes = (0..times.len()).step_by(batch).map(|first| {
        let instructions = batch.min(times.len() - first);
        // The time at which all but the last `queue` of the instructions written by then were sent.
        let gone = (first + instructions).checked_sub(d.queue + 1);
        let after = gone.and_then(|at| times.get(at)).map_or(0, |at| at + 1);
        Write {
            at: after,
            instructions,
        }
    });
    Ok(writes.collect())
}

/// Times a program whose instructions the host writes as `writes` says. Distant memory and the link take no time, as in
/// the BASALISC paper's counting.
///
/// # Errors
/// [`MachineError::Overrun`] for a write for which the queue has too little room, with the number of the first
/// instruction that does not fit, counted from 1. The errors of [`predicted`]. [`MachineError::Program`] if the writes
/// have fewer instructions than the program.
pub fn fed(d: &Description, program: &MicroProgram, writes: &[Write]) -> Result<Fed, MachineError> {
    let mut there = Vec::new();
    for write in writes {
        there.extend(std::iter::repeat_n(write.at, write.instructions));
    }
    let count = sent(program).count();
    if there.len() < count {
        return Err(MachineError::Program(format!(
            "{count} instructions, of which the host writes {}: expected all",
            there.len()
        )));
    }
    let (times, micro) = times(d, program, |number| there.get(number).copied().unwrap_or(0))?;
    let mut written = 0;
    for write in writes {
        let gone = times.partition_point(|&at| at < write.at);
        let waiting = written - gone.min(written);
        let room = d.queue - waiting.min(d.queue);
        if write.instructions > room {
            return Err(MachineError::Overrun {
                instruction: written + room + 1,
                queue: d.queue,
                waiting,
            });
        }
        written += write.instructions;
    }
    let mut dry = 0;
    for (number, &at) in there.iter().enumerate().take(count).skip(1) {
        let before = times.get(number - 1).copied().unwrap_or(0);
        dry += at.saturating_sub(before + 1);
    }
    Ok(Fed { micro, dry })
}
