//! Cycle formulas of the micro architecture (docs/machines/ring.md, section "Cycles of a word").

use super::description::Description;
use super::micro::{OpWord, Opcode, Operand, Unit};

/// How long one word occupies what it uses, from its issue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Duration {
    /// Until the last write has landed: thread, unit, and every port but that of `source`.
    pub total: u64,
    /// Until the read port of operand a is free (a transform out of place reads it in its first stage only, a
    /// store into the link's buffer).
    pub source: u64,
}

/// Row reads of a limb of 2^log_n coefficients: one row a cycle and port.
pub fn rows(d: &Description, log_n: u8) -> u64 {
    (1u64 << log_n).div_ceil(d.row() as u64)
}

/// Cycles of a transform: log_n stages of `rows` steps, the waits between stages, and the pipeline once.
pub fn transform(d: &Description, log_n: u8) -> u64 {
    let p = &d.pipeline;
    let depth = p.memory_read + p.multiplier + p.adder + p.memory_write;
    let rows = rows(d, log_n);
    let wait = depth.saturating_sub(rows / 2);
    let stages = u64::from(log_n);
    p.issue + stages * rows + stages.saturating_sub(1) * wait + depth
}

/// Cycles of a limb on the host link.
pub fn link(d: &Description, log_n: u8) -> u64 {
    (d.link_seconds(8 << log_n) * d.clock_mhz * 1e6).ceil() as u64
}

/// Largest number of operands that one port group must deliver.
fn reads_per_group(groups: &[u8], w: &OpWord) -> u64 {
    let group = |slot: u8| groups.get(usize::from(slot)).copied();
    let mut slots = [Some(w.a), None, None];
    if let Operand::Slot(s) = w.b
        && s != w.a
    {
        slots[1] = Some(s);
    }
    if w.op == Opcode::Mac && !slots.contains(&Some(w.c)) {
        slots[2] = Some(w.c);
    }
    let of = slots.map(|s| s.and_then(group));
    of.iter()
        .flatten()
        .map(|g| of.iter().flatten().filter(|h| *h == g).count() as u64)
        .max()
        .unwrap_or(1)
}

/// The duration of `w` on limbs of 2^log_n coefficients; `groups` is [`Description::slot_groups`].
pub fn duration(d: &Description, groups: &[u8], log_n: u8, w: &OpWord) -> Duration {
    let p = &d.pipeline;
    let n = 1u64 << log_n;
    let rows = rows(d, log_n);
    let access = p.memory_read + p.memory_write;
    let generated = n.div_ceil(d.generator.residues_per_cycle as u64);
    let total = match w.op {
        Opcode::Ntt | Opcode::Intt => {
            let total = transform(d, log_n);
            let source = if w.a == w.dst {
                total
            } else {
                p.issue + rows + p.memory_read
            };
            return Duration { total, source };
        }
        Opcode::Split | Opcode::Join => p.issue + 2 * rows + access + p.multiplier + p.adder,
        Opcode::Auto | Opcode::Autoc => p.issue + rows + access,
        Opcode::Autoh => p.issue + 2 * rows + access,
        Opcode::Prng => p.issue + d.generator.latency + generated + p.memory_write,
        Opcode::Bcast => {
            let source = usize::from(w.c);
            let hops = w
                .rpaus()
                .map(|r| (r + d.rpaus - source % d.rpaus) % d.rpaus)
                .max()
                .unwrap_or(0);
            p.issue + n.div_ceil(d.ring.lanes as u64) + access + d.ring.hop * hops as u64
        }
        Opcode::Load => {
            let total = p.issue + link(d, log_n) + p.memory_write;
            return Duration {
                total,
                source: total,
            };
        }
        Opcode::Store => {
            return Duration {
                total: p.issue + link(d, log_n) + p.memory_read,
                source: p.issue + rows + p.memory_read,
            };
        }
        _ => {
            let rate = match w.unit {
                Unit::Main => d.main.lanes,
                Unit::Dyadic => d.cores.dyadic,
            };
            let mut steps = n
                .div_ceil(rate as u64)
                .max(rows * reads_per_group(groups, w));
            let mut fill = access;
            if w.b == Operand::Generator {
                steps = steps.max(generated);
                fill += d.generator.latency;
            }
            fill += match w.op {
                Opcode::Copy => 0,
                Opcode::Add | Opcode::Sub | Opcode::Neg | Opcode::Addi => p.adder,
                Opcode::Mul | Opcode::Muli => p.multiplier,
                // A reduction is a multiplication by one, then the addition where there is one.
                Opcode::Red if w.imm == 0 => p.multiplier,
                _ => p.multiplier + p.adder,
            };
            p.issue + steps + fill
        }
    };
    Duration {
        total,
        source: total,
    }
}
