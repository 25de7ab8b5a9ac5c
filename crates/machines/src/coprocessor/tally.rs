// SPDX-License-Identifier: Apache-2.0
//! Adds up the calls of a program on a card: the cycles, of the models or of RTL, and the transfers over the link.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_isa::mid::{Call, Procedure};
use ringmill_isa::source::SourceLoc;

use super::claim::Partition;
use super::report::{CoprocessorUse, OffloadUse};
use super::shelf::Sums;
use super::work::Moved;
use super::{Card, Crosses, Keep, Resident, Schedule};
use crate::machine::Machine;
use ringmill_device::report::{
    EndToEnd, Entry, Ledger, LinkUse, MachineReport, MemoryUse, Own, ProcedureUse, UnitUse,
};
use ringmill_device::trace::{Context, TraceSink};

/// The sums of one co-processor's work since the program's start.
#[derive(Clone, Debug, Default)]
struct OfUnit {
    instructions: u64,
    cycles: u64,
    /// The cycles in which each unit (a lane in reports) of the co-processor was busy.
    busy: Vec<u64>,
    /// For each memory of the co-processor, the most places that were in use at once.
    taken: Vec<u64>,
}

/// The sums of the cycles, transfers and instructions of a program's calls on a card, since the program's start.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    calls: u64,
    cycles: u64,
    ledger: Ledger,
    /// The row of the ledger, which has cycles by source line and by procedure, to which the current call's cycles are
    /// added.
    entry: Option<Entry>,
    line: Option<SourceLoc>,
    commands: u64,
    by_kind: BTreeMap<String, u64>,
    cycles_by_kind: BTreeMap<String, u64>,
    procedures: BTreeMap<String, ProcedureUse>,
    units: Vec<OfUnit>,
    bytes_in: u64,
    bytes_out: u64,
    /// The most limbs that were in the card's memory at once.
    shelved: u64,
    host_instructions: u64,
    sums: Sums,
}

/// Adds `more` to the count named `name`. Only a name's first use allocates memory.
fn add(counts: &mut BTreeMap<String, u64>, name: &str, more: u64) {
    match counts.get_mut(name) {
        Some(count) => *count += more,
        None => {
            counts.insert(name.to_owned(), more);
        }
    }
}

impl Tally {
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    pub fn sums(&mut self) -> &mut Sums {
        &mut self.sums
    }

    /// Counts a call that begins, and the instructions of its procedure that the host and each co-processor run.
    pub fn call(&mut self, procedure: &Procedure, partition: &Partition, call: &Call) {
        self.calls += 1;
        self.entry = Some(self.ledger.call(call.loc.as_ref(), call.proc));
        self.line.clone_from(&call.loc);
        for (op, count) in partition.host(procedure) {
            add(&mut self.by_kind, &format!("host {}", op.mnemonic()), count);
            self.host_instructions += count;
        }
        let entry = self.procedures.entry(procedure.name.clone()).or_default();
        entry.calls += 1;
        for jobs in partition.stages.iter().map(|stage| &stage.jobs) {
            for (unit, jobs) in jobs.iter().enumerate() {
                let instructions: usize = jobs.iter().map(|job| job.instrs.len()).sum();
                self.unit(unit).instructions += instructions as u64;
            }
        }
    }

    fn unit(&mut self, unit: usize) -> &mut OfUnit {
        if self.units.len() <= unit {
            self.units.resize_with(unit + 1, OfUnit::default);
        }
        &mut self.units[unit]
    }

    /// Adds the commands of one co-processor in a stage, which begin when all earlier commands have ended. `moved` has
    /// the bytes that each command moves over the link.
    pub fn steps<'t>(
        &mut self,
        (card, unit): (&Card, usize),
        procedure: &Procedure,
        schedule: &Schedule,
        moved: &[Moved],
        mut trace: Option<&mut (dyn TraceSink + 't)>,
    ) {
        let lanes = card.lanes(unit);
        for (step, moved) in schedule.steps.iter().zip(moved) {
            let length = step.end.saturating_sub(step.begin);
            if let (Some(sink), Some(lane)) = (&mut trace, lanes.get(step.lane)) {
                let first = step.crosses.first();
                let limb = first.and_then(|crosses| match *crosses {
                    Crosses::In { limb, .. } | Crosses::Out { limb, .. } => procedure.limb(limb),
                    Crosses::Tables { .. } => None,
                });
                let of = Context::of_call(self.line.as_ref(), procedure);
                let of = of.limb(limb.map(|ty| ty.modulus.0));
                sink.event(lane, step.name, self.cycles + step.begin, length, &of);
            }
            self.commands += 1;
            add(&mut self.by_kind, step.name, 1);
            add(&mut self.cycles_by_kind, step.name, length);
            let busy = &mut self.unit(unit).busy;
            busy.resize(busy.len().max(step.lane + 1), 0);
            busy[step.lane] += length;
            self.bytes_in += moved.bytes_in;
            self.bytes_out += moved.bytes_out;
        }
        let cycles = schedule.cycles();
        self.cycles += cycles;
        if let Some(entry) = self.entry {
            self.ledger.spend(entry, cycles);
        }
        self.unit(unit).cycles += cycles;
        let entry = self.procedures.entry(procedure.name.clone()).or_default();
        entry.cycles += cycles;
    }

    /// Updates the largest use of a co-processor's memories and of the card's memory after a stage.
    /// `holds` is the data in the co-processor, and `shelved` the number of limbs in the card's
    /// memory.
    pub fn held(&mut self, unit: usize, holds: &Resident, keeps: &[Keep], shelved: usize) {
        let taken = &mut self.unit(unit).taken;
        taken.resize(keeps.len(), 0);
        for (most, keep) in taken.iter_mut().zip(keeps) {
            *most = (*most).max(holds.taken(keep.places.clone()));
        }
        self.shelved = self.shelved.max(shelved as u64);
    }

    /// Returns the report of the run. `how` is the source of the cycles, "model" or "RTL". `keeps` has the places of
    /// each co-processor's memories. `shelf` has the card's memory, if any: its room in limbs and the bytes of each
    /// limb.
    pub fn report(
        mut self,
        card: &Card,
        procs: &[Arc<Procedure>],
        how: &'static str,
        keeps: &[Vec<Keep>],
        shelf: Option<(u64, u64)>,
    ) -> MachineReport {
        let bytes_out = self.bytes_out + self.sums.bytes_out;
        let crossed = self.sums.crossed + self.sums.bytes_out;
        let saved = self.sums.moved.saturating_sub(crossed);
        self.sums.card.link_bytes_saved = saved;
        self.sums.card.link_seconds_saved = card.link().seconds(saved);
        let link = LinkUse {
            bytes_in: self.bytes_in,
            bytes_out,
            key_bytes: 0,
            program_bytes: 0,
            seconds_in: card.link().seconds(self.bytes_in),
            seconds_out: card.link().seconds(bytes_out),
            key_seconds: 0.0,
            program_seconds: 0.0,
        };
        let seconds = self.cycles as f64 / (card.clock_mhz() * 1e6);
        let (mut utilisation, mut memories, mut coprocessors) =
            (Vec::new(), Vec::new(), Vec::new());
        for (unit, keeps) in keeps.iter().enumerate() {
            let of_unit = std::mem::take(self.unit(unit));
            let busy = of_unit.busy.iter().copied().chain(std::iter::repeat(0));
            for (lane, busy_cycles) in card.lanes(unit).iter().zip(busy) {
                utilisation.push(UnitUse {
                    unit: lane.clone(),
                    busy_cycles,
                    utilisation: busy_cycles as f64 / self.cycles.max(1) as f64,
                });
            }
            let taken = of_unit.taken.iter().copied().chain(std::iter::repeat(0));
            for (keep, taken) in keeps.iter().zip(taken) {
                memories.push(MemoryUse {
                    name: card.named(unit, keep.memory),
                    count: 1,
                    used_bytes: taken * keep.bytes,
                    available_bytes: keep.places.len() as u64 * keep.bytes,
                });
            }
            coprocessors.push(CoprocessorUse {
                name: card.unit_name(unit).to_owned(),
                instructions: of_unit.instructions,
                cycles: of_unit.cycles,
            });
        }
        memories.extend(shelf.map(|(room, bytes)| MemoryUse {
            name: "card memory".to_owned(),
            count: 1,
            used_bytes: self.shelved * bytes,
            available_bytes: room * bytes,
        }));
        let machine_instructions = coprocessors.iter().map(|unit| unit.instructions).sum();
        MachineReport {
            machine: card.name().to_owned(),
            end_to_end: EndToEnd::offload(None, &link, seconds),
            how,
            clock_mhz: card.clock_mhz(),
            cycles: self.cycles,
            seconds,
            calls: self.calls,
            instructions: self.commands,
            utilisation,
            link,
            instructions_by_kind: self.by_kind,
            cycles_by_kind: self.cycles_by_kind,
            procedures: self.procedures,
            lines: self.ledger.lines(procs, 1, self.cycles),
            memories,
            fit: card.fit().clone(),
            own: Own::new(OffloadUse {
                host_instructions: self.host_instructions,
                machine_instructions,
                coprocessors,
                card: shelf.map(|_| self.sums.card),
                measured: None,
            }),
        }
    }
}
