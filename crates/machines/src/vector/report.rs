// SPDX-License-Identifier: Apache-2.0
//! The figures of a vector machine in the report of a run.

use std::collections::BTreeMap;
use std::fmt;

use ringmill_isa::macros::MacroOp;
use serde::Serialize;

use super::sides::{HostUse, Period, Placement};
use ringmill_device::report::{How, OwnReport, Rows, grouped};

/// The figures of a vector machine's run of a program. Cycles are those of the ciphertext buffer.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VectorUse {
    /// The cycles as the BASALISC paper counts them, without the time of distant memory and of instructions. The
    /// report's own cycles contain both.
    pub cycles_by_papers_counting: u64,
    /// The cycles in which the buffer's port read. In `port_writes` cycles it wrote. The field `port_stalls` sums the
    /// cycles in which the port was free before each instruction that reads was sent.
    pub port_reads: u64,
    pub port_writes: u64,
    pub port_stalls: u64,
    /// The same cycles as `port_stalls`, as the BASALISC paper counts: without distant memory and the link. The port's
    /// numbers of reads and writes are the same in both ways of counting time.
    pub port_stalls_by_papers_counting: u64,
    /// A lower bound on the run's cycles, by the buffer's port: the sum over the calls of the cycles in which the
    /// call's reads and writes need the port, without loads and stores. `mac_floor` is the bound by the
    /// multiply-accumulate unit.
    pub port_floor: u64,
    pub mac_floor: u64,
    /// The mean fill of the multiply-accumulate pipeline, from 0 to 1, as the BASALISC paper counts. `filled_transform`
    /// is that of the transform's pipeline.
    pub filled_mac: f64,
    pub filled_transform: f64,
    /// The cycles of the ciphertext buffer in which the controller waited only for the next instruction to cross the
    /// link.
    pub queue_dry: u64,
    /// The mean cycles of a channel of distant memory in which chunks pass it: the sum over the channels, divided
    /// by their number.
    pub distant_cycles: u64,
    pub limbs_loaded: u64,
    /// The number of stores of limbs to distant memory because the buffer was full. `limbs_reloaded` is the number of
    /// loads of stored limbs by the call that computed them; loads by later calls count in `limbs_loaded`.
    pub limbs_spilled: u64,
    pub limbs_reloaded: u64,
    /// The number of masks (uniform halves of keys) that the generator on the chip expanded from seeds. A mask that is
    /// expanded again counts again.
    pub limbs_made: u64,
    /// The time of successive runs of the program, with the host's transfers between or beside them.
    pub host: HostUse,
    pub parts: VectorParts,
    /// The number of instructions that were simulated one by one. `calls_replayed` is the number of calls that
    /// began in a state of the machine that had occurred before, whose known effect was applied instead.
    pub stepped: u64,
    pub calls_replayed: u64,
}

/// The time of a program on the vector machine by procedures and operations. `by_mid` and `by_micro` add up to `all`
/// each; `by_procedure` leaves out the time after the last call. The halt instruction HCF,
/// which waits until the pipelines are empty, takes the time of the instructions in them. In a program without HCF
/// that time has its own row. Times are in micro-cycles (`micro.buffer` of them make one cycle of the ciphertext
/// buffer), and contain distant memory and instructions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct VectorParts {
    pub all: u64,
    /// The calls of each procedure, by its name. Instructions in the pipelines after the last call belong to none.
    pub by_procedure: BTreeMap<String, CallsUse>,
    /// The number of the program's input ciphertexts and plaintexts that were an operand of a call.
    pub loaded: u64,
    /// The micro instructions by the mid-level operation to which they belong, counted in limbs: `NTT` and `INTT` have
    /// both their passes, and `AUTO` has `MORPH`. Each other micro operation has a row under its own mnemonic. `HCF`
    /// counts instructions.
    pub by_mid: BTreeMap<String, TimeUse>,
    pub by_micro: BTreeMap<String, TimeUse>,
}

/// The name of the row for instructions that are in the pipelines when the last one is sent, if the program has no halt
/// instruction HCF that waits for them.
pub(crate) const AT_END: &str = "under way at the end";

impl VectorParts {
    /// Returns the time of the macro level's instructions, by their mnemonics. `stands_for` gives for a procedure's
    /// name the macro instructions whose work the procedure does. `LOAD` has the time of its own micro instructions,
    /// wherever the back end sent them, and so has `MORPH` in procedures that stand for it and for others. A procedure
    /// that stands for `MORPH` alone gives it all its other time. The rest of a procedure's time has one row with the
    /// mnemonics of all other instructions for which the procedure stands. A procedure that stands for no known
    /// instruction has a row of its name, and the time after the last call has the row `AT_END`. Counts are of
    /// ciphertexts and plaintexts for `LOAD`, and of calls for the others. Rows add up to `all`.
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

/// The number of calls of one procedure, and their time in micro-cycles (`micro.buffer` of them make one cycle of
/// the ciphertext buffer).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CallsUse {
    pub calls: u64,
    pub micro_cycles: u64,
    /// The part of `micro_cycles` that loads take. It counts the loads of limbs of ciphertexts and plaintexts which
    /// the program reads. A cycle of the ciphertext buffer is `micro.buffer` micro-cycles.
    pub loading: u64,
    /// The part of `micro_cycles` that automorphisms (`MORPH`) take. A cycle of the ciphertext buffer is `micro.buffer`
    /// micro-cycles.
    pub turning: u64,
}

impl CallsUse {
    /// Adds other calls and their time to these.
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.micro_cycles += other.micro_cycles;
        self.loading += other.loading;
        self.turning += other.turning;
    }
}

/// The number of operations of one kind, and their time. An operation's time begins when the instruction before it is
/// sent, and ends when its own instruction is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct TimeUse {
    pub count: u64,
    pub micro_cycles: u64,
}

impl OwnReport for VectorUse {
    const KEY: &'static str = "vector";

    /// Writes the rows of the report: the vector machine's cycles by their causes.
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
