// SPDX-License-Identifier: Apache-2.0
//! Computes the cycles of the ring machine's instruction words (docs/machines/ring.md, section "Cycles of a word").

use super::description::Description;
use super::micro::{OpWord, Opcode, Operand, Unit};

/// The numbers of cycles for which one instruction word occupies its resources, from its start on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Duration {
    /// The cycles until the last write is in memory. During them the word's unit and ports are busy, except the read
    /// port of operand a, which `source` describes. So is the word's thread, unless the word is a broadcast, a load or
    /// a store. The cycles of a load or store end when the board hears of its end.
    pub total: u64,
    /// The cycles until the read port of operand a is free. A transform into another slot reads a in its first pass
    /// only. For most words they are equal to `total`. For a store, they are the cycles until the ring network is free,
    /// over which the limb goes to the link's buffer.
    pub source: u64,
}

/// Returns the number of rows of a limb of 2^`log_n` coefficients. A port that is not narrow transfers one row in a
/// cycle.
pub fn rows(d: &Description, log_n: u8) -> u64 {
    (1u64 << log_n).div_ceil(d.row as u64)
}

/// Returns the number of passes of a transform over its rows.
pub fn passes(d: &Description, log_n: u8) -> u64 {
    u64::from(log_n).div_ceil(d.main.stages as u64)
}

/// Returns the latency of a core of an RPAU in cycles, from its operands to its result. It is the same for every
/// operation.
fn core(d: &Description) -> u64 {
    d.pipeline.multiplier + d.pipeline.adder
}

/// Returns the cycles from the read of a row to its write by the main cores, through `cores` of them one behind the
/// other.
fn through(d: &Description, cores: u64) -> u64 {
    let p = &d.pipeline;
    p.memory_read + 2 * (p.port + p.network) + cores * core(d) + p.memory_write
}

/// Returns the cycles from the read of a row to its write by the dyadic cores. In each direction a row waits for
/// the port less than one period, the time in which these cores take one row.
fn through_dyadic(d: &Description) -> u64 {
    let p = &d.pipeline;
    let way = p.port + p.row_buffer + period(d) - 1;
    p.memory_read + 2 * way + core(d) + p.memory_write
}

/// Returns the idle cycles between two passes of a transform, for a limb of R memory rows and t transform stages a
/// pass. They are the latency of the main cores' pipeline in cycles, minus R / 2^t, and at least 0. A pass reads one
/// row a cycle. The rows that it reads first were written R / 2^t cycles or more before the end of the pass before
/// (docs/machines/ring.md, "Passes").
pub fn wait(d: &Description, log_n: u8) -> u64 {
    through(d, d.main.stages as u64).saturating_sub(rows(d, log_n) >> d.main.stages)
}

/// Returns the period of the dyadic cores: the cycles in which they take one row. In each period they use a port for
/// some of these cycles only.
pub fn period(d: &Description) -> u64 {
    (d.row / d.cores.dyadic.max(1)).max(1) as u64
}

/// Returns the cycles of `steps` steps of an instruction word, each of which transfers one row. A word of the
/// dyadic cores uses the same port for `turns` cycles of each period. A period is the time in which these cores
/// take one row.
fn paced(d: &Description, steps: u64, turns: u64) -> u64 {
    let period = period(d);
    match period.saturating_sub(turns) {
        0 => steps,
        left => (steps * period).div_ceil(left),
    }
}

/// Returns the cycles of a transform on limbs of 2^`log_n` coefficients. There is one for each row and pass, and there
/// are the waits between passes. The latency to the first read and that of the pipeline come once.
pub fn transform(d: &Description, log_n: u8) -> u64 {
    transform_beside(d, log_n, 0)
}

fn transform_beside(d: &Description, log_n: u8, turns: u64) -> u64 {
    let passes = passes(d, log_n);
    let rows = paced(d, rows(d, log_n), turns);
    let steps = passes * rows + passes.saturating_sub(1) * wait(d, log_n);
    d.pipeline.issue + d.pipeline.address + steps + through(d, d.main.stages as u64)
}

/// Returns the cycles in which a limb of 2^`log_n` coefficients crosses the host link, rounded up.
pub fn link(d: &Description, log_n: u8) -> u64 {
    (d.link_seconds(8 << log_n) * d.clock_mhz * 1e6).ceil() as u64
}

/// Returns the slots that a coefficient-wise instruction word or a word with two results reads, each once.
pub(super) fn operands(w: &OpWord) -> impl Iterator<Item = u8> + use<> {
    let a = (w.op != Opcode::Prng).then_some(w.a);
    let b = match w.b {
        Operand::Slot(s) if a != Some(s) => Some(s),
        _ => None,
    };
    let third = w.op == Opcode::Mac && a != Some(w.c) && b != Some(w.c);
    [a, b, third.then_some(w.c)].into_iter().flatten()
}

/// Returns the cycles in which the instruction word's busiest port group transfers `n` residues for each of the group's
/// slots that the word reads, or for each that it writes. A port group is slots that share their ports.
fn port_cycles(d: &Description, groups: &[u8], w: &OpWord, n: u64) -> u64 {
    let busiest = |slots: &[u8]| {
        let group = |slot: &u8| groups.get(usize::from(*slot)).copied().map(usize::from);
        let used: [Option<usize>; 3] = std::array::from_fn(|i| slots.get(i).and_then(group));
        let cycles = |g: usize| {
            let times = used.iter().flatten().filter(|h| **h == g).count() as u64;
            times * n.div_ceil(d.width(g) as u64)
        };
        used.iter().flatten().map(|&g| cycles(g)).max().unwrap_or(0)
    };
    let mut reads = [0; 3];
    let mut count = 0;
    for (place, slot) in reads.iter_mut().zip(operands(w)) {
        *place = slot;
        count += 1;
    }
    let results = [w.dst, w.c];
    let written = 1 + usize::from(w.op.is_pair());
    busiest(&reads[..count]).max(busiest(&results[..written]))
}

/// Returns the cycles of the instruction word `w` on limbs of 2^`log_n` coefficients if no word of the dyadic cores
/// shares its ports. `groups` is [`Description::slot_groups`].
pub fn duration(d: &Description, groups: &[u8], log_n: u8, w: &OpWord) -> Duration {
    beside(d, groups, log_n, w, 0)
}

/// Returns the cycles of the instruction word `w` if a word of the dyadic cores uses one of its ports for `turns`
/// cycles of each period. A period is the time in which these cores take one row.
pub fn beside(d: &Description, groups: &[u8], log_n: u8, w: &OpWord, turns: u64) -> Duration {
    let paced = |steps| paced(d, steps, turns);
    let p = &d.pipeline;
    let n = 1u64 << log_n;
    let rows = rows(d, log_n);
    let begin = p.issue + p.address;
    let generated = n.div_ceil(d.generator.residues_per_cycle as u64);
    // A narrow slot gives a row of neighbours in several cycles, and one residue a cycle of a row that strides.
    let group = groups.get(usize::from(w.a)).copied().unwrap_or(0);
    let width = d.width(usize::from(group)) as u64;
    let strides = matches!(w.op, Opcode::Ntt | Opcode::Autoc) && d.is_narrow(usize::from(group));
    let read = n.div_ceil(if strides { 1 } else { width });
    // The cycles of a row of a slot. `drain` is those behind the first when the instruction word's last row is written.
    let parts = |slot: u8| {
        let group = groups.get(usize::from(slot)).copied().unwrap_or(0);
        (d.row as u64).div_ceil(d.width(usize::from(group)) as u64)
    };
    let drain = parts(if w.op.is_pair() { w.c } else { w.dst }) - 1;
    let total = match w.op {
        Opcode::Ntt | Opcode::Intt => {
            let total = transform_beside(d, log_n, turns) + paced(read) - paced(rows);
            let source = if w.a == w.dst {
                total
            } else {
                begin + paced(read) + p.memory_read
            };
            return Duration { total, source };
        }
        // A row of an operand comes in every step but the last, a row of a result in every step but the first. The
        // second result's row comes when the first one's is written.
        Opcode::Split | Opcode::Join => {
            let beside = u64::from(parts(w.dst) > 1 && parts(w.c) == 1);
            let steps = (2 * rows).max(port_cycles(d, groups, w, n)) + parts(w.dst) - beside;
            begin + paced(steps) + through(d, 1) + drain
        }
        Opcode::Auto | Opcode::Autoc => {
            let steps = read.max(rows * parts(w.dst));
            begin + paced(steps) + through(d, 1) + p.affine + drain
        }
        // One row after another, each as long as the narrowest of its slots takes.
        Opcode::Autoh => {
            let slots = [w.a, w.dst, w.c].into_iter().chain(match w.b {
                Operand::Slot(b) => Some(b),
                Operand::None | Operand::Key(_) | Operand::Generator => None,
            });
            let beats = slots.map(parts).max().unwrap_or(1);
            begin + paced(2 * rows * beats) + through(d, 1) + p.affine + drain
        }
        Opcode::Bcast => {
            let source = usize::from(w.c) % d.rpaus;
            let way = w.rpaus().map(|r| d.way(source, r)).max().unwrap_or(0);
            let reducer = if d.ring.reduces {
                d.ring.reducer + 2 * p.adder
            } else {
                0
            };
            let access = p.memory_read + 2 * p.port + p.memory_write;
            begin + paced(n.div_ceil(d.ring.lanes as u64).max(read)) + access + way + reducer
        }
        // The board hears of a transfer's end after it has ended. It knows other instruction words' ends `dispatch`
        // cycles before.
        Opcode::Load => {
            let way = w.rpaus().map(|r| d.way(0, r)).max().unwrap_or(0);
            let total = p.dispatch + begin + link(d, log_n) + way + p.port + p.memory_write;
            return Duration {
                total,
                source: total,
            };
        }
        Opcode::Store => {
            // The limb goes along the ring into the link's buffer of one limb, which sends its first residues while the
            // rest follows.
            let way = w.rpaus().map(|r| d.way(r, 0)).max().unwrap_or(0);
            let constant = if d.ring.reduces { p.adder } else { 0 };
            let first = begin + p.memory_read + p.port + constant + way;
            let buffer = p.memory_write + p.memory_read + p.port;
            // Its first row is read in its first step, which may be late beside a dyadic instruction word; a row of a
            // narrow slot has several steps.
            let late = paced(parts(w.a)) - 1;
            return Duration {
                total: p.dispatch
                    + first
                    + late
                    + buffer
                    + link(d, log_n).max(paced(read))
                    + p.issue,
                source: first + paced(n.div_ceil(d.ring.lanes as u64).max(read)),
            };
        }
        _ => {
            let (rate, fill) = match w.unit {
                Unit::Main => (d.main.lanes, through(d, 1) + drain),
                Unit::Dyadic => (d.cores.dyadic.max(1), through_dyadic(d)),
            };
            let steps = n.div_ceil(rate as u64).max(port_cycles(d, groups, w, n));
            let (steps, late) = match (w.op, w.b) {
                (Opcode::Prng, _) | (_, Operand::Generator) => {
                    (steps.max(generated), d.generator.latency + d.generator.fold)
                }
                (_, Operand::Key(_)) => (steps.max(rows), d.keys.rotate),
                (_, Operand::None | Operand::Slot(_)) => (steps, 0),
            };
            begin + paced(steps) + fill + late
        }
    };
    Duration {
        total,
        source: total,
    }
}
