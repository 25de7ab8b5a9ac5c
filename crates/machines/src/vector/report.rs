// SPDX-License-Identifier: Apache-2.0
//! The figures of a vector machine in the report of a run.

use std::collections::BTreeMap;
use std::fmt;

use ringmill_isa::macros::MacroOp;
use serde::Serialize;

use super::sides::{HostUse, Period, Placement};
use ringmill_device::report::{How, OwnReport, Rows, grouped};

/// The figures of a vector machine's run. Cycles are the buffer's.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VectorUse {
    /// The cycles by the paper's counting, which leaves out the time of distant memory and of instructions. The
    /// report's cycles have both.
    pub cycles_by_papers_counting: u64,
    /// The reads of the buffer's port. `port_writes` is its writes, and `port_stalls` the cycles in which it was free
    /// and the next instruction, which reads, waited.
    pub port_reads: u64,
    pub port_writes: u64,
    pub port_stalls: u64,
    /// The same wait by the paper's counting, by which reads and writes are as many.
    pub port_stalls_by_papers_counting: u64,
    /// The least cycles of the port for the procedures by themselves. `mac_floor`: those of the multiply-accumulate unit.
    pub port_floor: u64,
    pub mac_floor: u64,
    /// How full the pipelines were, 0 to 1, by the paper's counting.
    pub filled_mac: f64,
    pub filled_transform: f64,
    /// The cycles in which the queue had nothing to send.
    pub queue_dry: u64,
    /// The cycles that chunks took on a channel of distant memory.
    pub distant_cycles: u64,
    pub limbs_loaded: u64,
    /// The limbs that had to leave the buffer and were not in distant memory. `limbs_reloaded`: those of them that procedures loaded
    /// again.
    pub limbs_spilled: u64,
    pub limbs_reloaded: u64,
    /// The masks of keys that were made on the chip from their seeds.
    pub limbs_made: u64,
    /// The time of consecutive runs, with the host's transfers between or beside them.
    pub host: HostUse,
    pub parts: VectorParts,
    /// The instructions that were simulated one by one. `calls_replayed`: the calls that were replayed.
    pub stepped: u64,
    pub calls_replayed: u64,
}

/// The time of a vector machine's program, operation by operation: each list adds up to `all`. The time of work in
/// flight when the last instruction was sent belongs to HCF, which waits for it, or has a row of its own. Cycles are
/// the micro-clock's, all counted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct VectorParts {
    pub all: u64,
    /// The calls of procedures, by their names; work in flight behind the last belongs to none.
    pub by_procedure: BTreeMap<String, CallsUse>,
    /// The ciphertexts and plaintexts that the program reads and that were loaded into the buffer.
    pub loaded: u64,
    /// The instructions of the mid level, in the units' operations; sums of any kind are one.
    pub by_mid: BTreeMap<String, TimeUse>,
    pub by_micro: BTreeMap<String, TimeUse>,
}

/// The row of work in flight when the last instruction was sent, if no HCF waits for it.
pub(crate) const AT_END: &str = "under way at the end";

impl VectorParts {
    /// Returns the time of the macro level's instructions, by their mnemonics. Each procedure `stands_for` some of them,
    /// one after another. `LOAD` has the time of its own micro instructions, wherever the back end sent them, and so has
    /// `MORPH` in procedures that stand for it. If a procedure stands for several others, one row has all their
    /// mnemonics and the rest of the time. A procedure that stands for no known instruction has a row of its name.
    /// Counts are of ciphertexts and plaintexts for `LOAD`, and of calls for the others. Rows add up to `all`.
    pub fn by_macro<'a>(
        &self,
        stands_for: impl Fn(&str) -> &'a [MacroOp],
    ) -> BTreeMap<String, TimeUse> {
        let mut rows: BTreeMap<String, TimeUse> = BTreeMap::new();
        let mut add = |row: &str, count, micro_cycles| {
            let entry = rows.entry(row.to_owned()).or_default();
            entry.count += count;
            entry.micro_cycles += micro_cycles;
        };
        let mut left = self.all;
        for (name, used) in &self.by_procedure {
            left = left.saturating_sub(used.micro_cycles);
            add(MacroOp::Load.mnemonic(), 0, used.loading);
            let mut rest = used.micro_cycles.saturating_sub(used.loading);
            let ops = stands_for(name);
            let turns = |op: &&MacroOp| **op == MacroOp::Morph;
            let others: Vec<&str> = (ops.iter().filter(|op| !turns(op)))
                .map(|op| op.mnemonic())
                .collect();
            if others.len() < ops.len() {
                // All time of a procedure that is an automorphism alone is the automorphism's.
                let turning = if others.is_empty() {
                    rest
                } else {
                    used.turning.min(rest)
                };
                add(MacroOp::Morph.mnemonic(), used.calls, turning);
                rest -= turning;
            }
            match (ops, others.as_slice()) {
                ([], _) => add(name, used.calls, rest),
                (_, []) => {}
                (_, others) => add(&others.join(" "), used.calls, rest),
            }
        }
        add(MacroOp::Load.mnemonic(), self.loaded, 0);
        add(AT_END, 0, left);
        rows
    }
}

/// The calls of a procedure, and their time in micro-cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CallsUse {
    pub calls: u64,
    pub micro_cycles: u64,
    /// The micro-cycles among these that loaded limbs of ciphertexts and plaintexts which the program reads.
    pub loading: u64,
    /// The micro-cycles among these of automorphisms.
    pub turning: u64,
}

impl CallsUse {
    /// Adds other calls.
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.micro_cycles += other.micro_cycles;
        self.loading += other.loading;
        self.turning += other.turning;
    }
}

/// Operations of one kind: their number and their time. An operation takes the time from the dispatch of the one before
/// to its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct TimeUse {
    pub count: u64,
    pub micro_cycles: u64,
}

impl OwnReport for VectorUse {
    const KEY: &'static str = "vector";

    /// Writes the cycles by their causes.
    fn rows(&self, rows: &mut Rows<'_, '_>, how: How) -> fmt::Result {
        let how = Some(how);
        let cycles = |n: u64| format!("{} cycles", grouped(n));
        rows.row(
            "by the paper's counting",
            cycles(self.cycles_by_papers_counting),
            how,
        )?;
        let (reads, writes) = (grouped(self.port_reads), grouped(self.port_writes));
        let stalls = grouped(self.port_stalls);
        let port = format!("{reads} reads, {writes} writes, {stalls} stalled");
        rows.row("port of the buffer", port, how)?;
        rows.row(
            "floor of the port",
            cycles(self.port_floor),
            Some(How::Counted),
        )?;
        rows.row("floor of sums", cycles(self.mac_floor), Some(How::Counted))?;
        let filled = |share: f64| format!("{:.1} %", 100.0 * share);
        rows.row("pipeline of sums, filled", filled(self.filled_mac), how)?;
        let transforms = filled(self.filled_transform);
        rows.row("pipeline of transforms, filled", transforms, how)?;
        rows.row("queue dry", cycles(self.queue_dry), how)?;
        rows.row(
            "on a channel of distant memory",
            cycles(self.distant_cycles),
            how,
        )?;
        let (spilled, reloaded) = (self.limbs_spilled, self.limbs_reloaded);
        let mut limbs = format!(
            "{} loaded, {spilled} spilled, {reloaded} of them had back",
            self.limbs_loaded
        );
        if self.limbs_made > 0 {
            limbs.push_str(&format!(", {} made of seeds", self.limbs_made));
        }
        rows.row("limbs", limbs, how)?;
        let host = &self.host;
        let Period {
            machine,
            host: beside,
            period,
        } = host.in_turn;
        let in_turn = format!(
            "a run each {}: machine {}, then host {}",
            cycles(period),
            grouped(machine),
            grouped(beside)
        );
        rows.row("host and machine in turn", in_turn, how)?;
        let apart = match host.apart {
            Some(of) => format!(
                "a run each {}: machine {} beside host {}",
                cycles(of.period),
                grouped(of.machine),
                grouped(of.host)
            ),
            None => "a side of distant memory is too small, or its channels are no two halves"
                .to_owned(),
        };
        rows.row("each on half of the channels", apart, how)?;
        let placement = match host.placement {
            Placement::InTurn => "in turn, on all channels",
            Placement::Apart => "apart, on half of the channels each",
        };
        rows.row("placement of limbs", placement.to_owned(), how)?;
        let stepped = format!(
            "{} instructions stepped, {} calls replayed",
            grouped(self.stepped),
            grouped(self.calls_replayed)
        );
        rows.row("simulated", stepped, how)
    }
}
