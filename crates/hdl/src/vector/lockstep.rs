// SPDX-License-Identifier: Apache-2.0
//! Compares the events of a vector machine's RTL with the performance simulator's.

use ringmill_isa::vector::{Instr, MicroOp, Shape};
use ringmill_machines::vector::{Clockwork, Counting, Description};

use super::machine::{Trace, Writer};

/// The first difference between the RTL's events and the performance simulator's, kind by kind. `what` names the kind
/// of event and `number` counts its events from 0; `found` and `expected` are cycles. If `what` begins with "number
/// of", they are counts, and `None` stands for a missing event.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what} {number} in cycle {found:?} of the RTL, {expected:?} of the model")]
pub struct Divergence {
    pub what: &'static str,
    pub number: usize,
    pub found: Option<u64>,
    pub expected: Option<u64>,
}

fn same(what: &'static str, found: &[u64], expected: &[u64]) -> Result<(), Divergence> {
    for number in 0..found.len().max(expected.len()) {
        let (found, expected) = (found.get(number), expected.get(number));
        if found != expected {
            return Err(Divergence {
                what,
                number,
                found: found.copied(),
                expected: expected.copied(),
            });
        }
    }
    Ok(())
}

/// Compares a run of instructions on the vector machine's RTL with the performance simulator's run of them. The
/// simulator is given the RTL's cycles in which instructions were next in the queue and chunks passed to or from
/// distant memory. The cycles in which instructions are sent, halves of chunks enter the permutation units, and chunks
/// are written must be equal. So must the number of cycles in which the queue was empty, and the numbers of chunks that
/// loads and transforms wrote.
///
/// # Errors
/// An error with the first event that differs.
pub fn lockstep(
    d: &Description,
    shape: Shape,
    instrs: &[Instr],
    trace: &Trace,
) -> Result<(), Divergence> {
    let mut clock = Clockwork::new(d, shape, Counting::PAPER);
    let (mut came, mut gone) = (trace.came.iter(), trace.gone.iter());
    let passed = instrs.iter().filter_map(|instr| match instr.op {
        MicroOp::Load => came.next(),
        MicroOp::Store => gone.next(),
        _ => None,
    });
    clock.observe(passed.copied().collect::<Vec<u64>>());
    let (mut sent, mut entered, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for (instr, &there) in instrs.iter().zip(&trace.there) {
        let decoded = clock.decode(instr);
        loop {
            let earliest = clock.earliest(&decoded).map(|at| at.max(there));
            if clock.write_before(earliest) {
                written.push(clock.now());
                continue;
            }
            let Some(at) = earliest else {
                return Err(Divergence {
                    what: "dispatch",
                    number: sent.len(),
                    found: trace.sent.get(sent.len()).copied(),
                    expected: None,
                });
            };
            clock.send(&decoded, at);
            sent.push(at);
            if instr.op.info().unit == ringmill_isa::vector::Unit::Transform {
                entered.extend([at, at + d.micro.transform]);
            }
            break;
        }
    }
    while clock.write_before(None) {
        written.push(clock.now());
    }
    same("dispatch", &trace.sent, &sent)?;
    same("entry of half a chunk", &trace.entered, &entered)?;
    let wrote: Vec<u64> = trace.wrote.iter().map(|&(at, _)| at).collect();
    same("write-back", &wrote, &written)?;
    let after = trace.there.iter().skip(1).zip(&sent);
    let dry = after.map(|(there, before)| there.saturating_sub(before + 1));
    same(
        "number of cycles with a dry queue",
        &[trace.dry],
        &[dry.sum()],
    )?;
    let count = |of: Writer| {
        trace
            .wrote
            .iter()
            .filter(|(_, writer)| *writer == of)
            .count() as u64
    };
    let tally = clock.tally;
    let transforms = tally.transform;
    same(
        "number of write-backs of loads and of transforms",
        &[count(Writer::Load), count(Writer::Transform)],
        &[tally.loads, transforms],
    )
}
