//! What a simulation reports.

use std::collections::BTreeMap;

use ringmill_isa::macros::MacroOp;
use serde::Serialize;

use crate::EndToEnd;
use crate::coprocessor::CardUse;
use crate::fpga::Fit;
use crate::vector::sides::HostUse;

/// Cycles, time, memory and link traffic of one program on one machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MachineReport {
    pub machine: String,
    /// What the program takes from its first input on the link to its last output.
    pub end_to_end: EndToEnd,
    /// How the cycles were obtained: "model", or "RTL" from its simulation.
    pub how: &'static str,
    pub clock_mhz: f64,
    /// Machine cycles, host link apart.
    pub cycles: u64,
    /// `cycles` at `clock_mhz`.
    pub seconds: f64,
    pub calls: u64,
    /// Micro words executed, waits apart (they cost nothing).
    pub instructions: u64,
    pub instructions_by_kind: BTreeMap<String, u64>,
    /// Cycles that words of each kind were in flight; kinds overlap, so they sum to more than `cycles`.
    pub cycles_by_kind: BTreeMap<String, u64>,
    pub procedures: BTreeMap<String, ProcedureUse>,
    pub utilisation: Vec<UnitUse>,
    pub memories: Vec<MemoryUse>,
    pub link: LinkUse,
    /// What the machine is made of: memories and multipliers by name, used and available, and whether the part has them.
    pub fit: Fit,
    #[serde(flatten)]
    pub own: Own,
}

/// What is told of one kind of machine alone.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Own {
    Ring(RingUse),
    /// A machine that runs a part of the program: what is left to its host.
    Offload(OffloadUse),
    Torus(TorusUse),
    Vector(VectorUse),
}

impl MachineReport {
    /// What is told of a ring machine.
    pub fn ring(&self) -> Option<&RingUse> {
        match &self.own {
            Own::Ring(ring) => Some(ring),
            Own::Offload(_) | Own::Torus(_) | Own::Vector(_) => None,
        }
    }

    /// What is told of a machine that has a host beside it.
    pub fn offload(&self) -> Option<&OffloadUse> {
        match &self.own {
            Own::Ring(_) | Own::Torus(_) | Own::Vector(_) => None,
            Own::Offload(offload) => Some(offload),
        }
    }

    /// What programs take that the machine interleaves, where it does.
    pub fn interleaved(&self) -> Option<Interleaved> {
        match &self.own {
            Own::Torus(torus) => Some(Interleaved {
                places: torus.places,
                cycles: torus.interleaved,
            }),
            Own::Ring(_) | Own::Offload(_) | Own::Vector(_) => None,
        }
    }
}

/// Runs of one program that a machine does together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interleaved {
    /// How many it does together.
    pub places: usize,
    /// Each one's share of the cycles of them all.
    pub cycles: u64,
}

/// A memory of the machine, or one of several alike.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MemoryUse {
    pub name: String,
    /// How many there are.
    pub count: usize,
    /// Most bytes that were in use at once in the fullest.
    pub used_bytes: u64,
    /// Bytes that one holds.
    pub available_bytes: u64,
}

/// What a ring machine did with its memories.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RingUse {
    pub rpaus: usize,
    pub multipliers_per_rpau: usize,
    pub memory: SlotUse,
    pub keys: KeyUse,
    pub spills: Spills,
    pub cuts: Cuts,
}

/// What a bootstrapping engine takes for one ciphertext and for several.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TorusUse {
    /// Cycles of one ciphertext: load, blind rotation and extraction, the key switch where the program has one, the result.
    pub alone: u64,
    /// Ciphertexts that are interleaved, and each one's share of the cycles of them all.
    pub places: usize,
    pub interleaved: u64,
    /// The least that butterflies and multipliers take for one ciphertext's blind rotation.
    pub floor: u64,
    /// Cycles of the interleaved run in which products waited for the key.
    pub starved: u64,
    /// Of a program that switches keys.
    pub switch: Option<SwitchUse>,
}

/// What the key switch takes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SwitchUse {
    /// Cycles for one ciphertext, and for all places together.
    pub alone: u64,
    pub together: u64,
    /// The least in which the generators make a switch's masks.
    pub floor: u64,
}

/// What a vector machine did. Cycles are the buffer's.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VectorUse {
    /// The paper's counting leaves out the time of distant memory and of instructions; the report's cycles have both.
    pub cycles_by_papers_counting: u64,
    /// Of the buffer's port: reads, writes, and cycles in which it was free and the next instruction, which reads, waited.
    pub port_reads: u64,
    pub port_writes: u64,
    pub port_stalls: u64,
    /// The same by the paper's counting, by which reads and writes are as many.
    pub port_stalls_by_papers_counting: u64,
    /// The least that the port and the multiply-accumulate unit take for the procedures by themselves.
    pub port_floor: u64,
    pub mac_floor: u64,
    /// How full the pipelines were, 0 to 1, by the paper's counting.
    pub filled_mac: f64,
    pub filled_transform: f64,
    /// Cycles in which the queue had nothing to send.
    pub queue_dry: u64,
    /// Cycles that chunks took on a channel of distant memory.
    pub distant_cycles: u64,
    pub limbs_loaded: u64,
    /// Limbs that had to leave the buffer and were not in distant memory, and those of them that procedures had back.
    pub limbs_spilled: u64,
    pub limbs_reloaded: u64,
    /// Masks of keys that were made on the chip of their seeds.
    pub limbs_made: u64,
    /// Runs that follow one another, with the host's transfers between or beside them.
    pub host: HostUse,
    pub parts: VectorParts,
    /// Instructions that were stepped through, and calls that were replayed.
    pub stepped: u64,
    pub calls_replayed: u64,
}

/// What a vector machine's program takes, operation by operation: each list adds up to `all`. What was under way when the last
/// instruction was sent is HCF's, which waits for it, or has a row of its own. Cycles are the micro-clock's, all counted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct VectorParts {
    pub all: u64,
    /// Calls of procedures, by their names; what is under way behind the last is none's.
    pub by_procedure: BTreeMap<String, CallsUse>,
    /// Ciphertexts and plaintexts that the program reads and that were brought near.
    pub loaded: u64,
    /// Instructions of the mid level, as the machine's units have them; sums of any kind are one.
    pub by_mid: BTreeMap<String, TimeUse>,
    pub by_micro: BTreeMap<String, TimeUse>,
}

/// The row of what was still under way when the last instruction was sent, where no HCF waits for it.
pub(crate) const AT_END: &str = "under way at the end";

impl VectorParts {
    /// What the macro level's instructions take, by their mnemonics, where each procedure `stands_for` some, one after another. `LOAD`s
    /// and, of procedures that stand for it, `MORPH`s have the time of their own micro instructions, wherever the back end sent
    /// them; of what is left of a procedure that stands for several, a row has all their mnemonics. A procedure that stands for nothing
    /// that is known has a row of its name. Counts are of ciphertexts and plaintexts for `LOAD`, and of calls. Rows add up to `all`.
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
                // Of an automorphism alone all is the automorphism's.
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

/// Calls of a procedure and what they took, in micro-cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CallsUse {
    pub calls: u64,
    pub micro_cycles: u64,
    /// Of these, while limbs were loaded of ciphertexts and plaintexts that the program reads.
    pub loading: u64,
    /// Of these, in automorphisms.
    pub turning: u64,
}

impl CallsUse {
    /// These calls and others.
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.micro_cycles += other.micro_cycles;
        self.loading += other.loading;
        self.turning += other.turning;
    }
}

/// Operations of one kind: how many, and what they took. An operation takes the time from when the one before it was sent until it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct TimeUse {
    pub count: u64,
    pub micro_cycles: u64,
}

/// The parts of a program that a machine and its host run, and what the offload is worth.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct OffloadUse {
    /// Limb instructions of each.
    pub host_instructions: u64,
    pub machine_instructions: u64,
    /// What each co-processor of the card did.
    pub coprocessors: Vec<CoprocessorUse>,
    /// Where the card has a memory: what it did instead of the link.
    pub card: Option<CardUse>,
    /// Where the program was run, not timed alone.
    pub measured: Option<OffloadTimes>,
}

/// A co-processor's share.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CoprocessorUse {
    pub name: String,
    /// Limb instructions.
    pub instructions: u64,
    pub cycles: u64,
}

/// Seconds of a run with an offload machine: the host's are measured, the machine's and the link's are at the clock and
/// the rate of its description. Host, link and machine are taken to work in turn.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct OffloadTimes {
    /// Threads of the host.
    pub threads: usize,
    /// The host's part.
    pub host_seconds: f64,
    /// The machine's part, done by the host instead.
    pub replaced_seconds: f64,
    pub machine_seconds: f64,
    pub link_seconds: f64,
    /// All on the host, in one run.
    pub alone_seconds: f64,
    /// Host, link and machine.
    pub offloaded_seconds: f64,
    /// `alone_seconds` over `offloaded_seconds`.
    pub speedup: f64,
    /// What a machine and a link that take no time would give: Amdahl's bound.
    pub speedup_bound: f64,
}

/// What was measured on the host.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HostTimes {
    pub threads: usize,
    pub host_seconds: f64,
    pub replaced_seconds: f64,
    pub alone_seconds: f64,
}

impl OffloadTimes {
    /// From the host's times and a machine's report.
    pub fn new(host: HostTimes, report: &MachineReport) -> Self {
        let link = &report.link;
        let link = link.seconds_in + link.seconds_out + link.key_seconds + link.program_seconds;
        let offloaded = host.host_seconds + report.seconds + link;
        // Clocks have a resolution; a program of nothing but transforms has no bound.
        let over = |divisor: f64| host.alone_seconds / divisor.max(1e-12);
        Self {
            threads: host.threads,
            host_seconds: host.host_seconds,
            replaced_seconds: host.replaced_seconds,
            machine_seconds: report.seconds,
            link_seconds: link,
            alone_seconds: host.alone_seconds,
            offloaded_seconds: offloaded,
            speedup: over(offloaded),
            speedup_bound: over(host.host_seconds),
        }
    }
}
/// Calls of one procedure and their cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ProcedureUse {
    pub calls: u64,
    pub cycles: u64,
}

/// How busy a unit was.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct UnitUse {
    pub unit: String,
    pub busy_cycles: u64,
    /// Busy cycles over all cycles; for units of which there are several, their mean.
    pub utilisation: f64,
}

/// Slots of polynomial and key memory on each RPAU.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SlotUse {
    pub slots: usize,
    /// At the machine's stored width.
    pub slot_bytes: u64,
    /// Most in use at once, per RPAU.
    pub peak_slots: Vec<u8>,
    pub key_slots: usize,
    /// Distinct key limbs that the program uses on the RPAU with most. Above `key_slots` they cannot all be resident.
    pub key_limbs: usize,
}

/// Key limbs of the program over all RPAUs, as the machine stores them: half a limb of the program each at twice the native
/// ring degree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct KeyUse {
    /// Distinct ones that the program uses.
    pub needed: u64,
    /// Of these, how many the key memory holds at once. With resident keys that many are there at the start.
    pub fit: u64,
    /// Loads over the host link during the run; one limb may come more than once.
    pub loaded: u64,
}

/// Calls of procedures that give several ciphertexts and do not fit whole (hoisted rotations), and the calls of fewer
/// ciphertexts that stand for them. What the parts share is computed by each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Cuts {
    pub calls: u64,
    pub parts: u64,
}

/// Traffic on the host link between calls (64-bit residues). None of it is in the machine's cycles.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct LinkUse {
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub key_bytes: u64,
    /// Words and tables of procedures, and what each call is told.
    pub program_bytes: u64,
    pub seconds_in: f64,
    pub seconds_out: f64,
    pub key_seconds: f64,
    pub program_seconds: f64,
}

/// Limbs that had to leave the machine for want of room between calls, and what that cost on the link, apart from the
/// machine's cycles; then those that moved inside procedures.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Spills {
    pub stores: u64,
    pub loads: u64,
    pub bytes: u64,
    pub seconds: f64,
    pub inside: Inside,
    /// Cycles of the machine's clock that the link takes for these limbs, between calls and inside them; key limbs apart.
    pub cycles: u64,
    /// Their share of the end-to-end time, 0 to 1, hidden or not.
    pub share: f64,
}

/// Limbs, as the machine stores them, that crossed the link inside procedures that do not fit. Their time is in the
/// machine's cycles as far as other work does not hide it.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Inside {
    pub stores: u64,
    pub loads: u64,
    /// Key limbs, loaded into key memory.
    pub key_loads: u64,
    pub bytes: u64,
    pub seconds: f64,
}
