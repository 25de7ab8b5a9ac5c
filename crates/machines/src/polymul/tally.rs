//! Sums over the calls of a program: the machine's cycles, whether modelled or from the RTL, and the link's.

use std::collections::BTreeMap;

use ringmill_isa::mid::Procedure;

use super::jobs::Partition;
use super::timeline::{Command, Timed};
use super::{Degree, Description, SETS, Shape, Tables};
use crate::fpga::Fit;
use crate::report::{LinkUse, MachineReport, MemoryUse, OffloadUse, Own, ProcedureUse, UnitUse};
use crate::{EndToEnd, TraceSink};

/// Limbs the machine holds.
const SLOTS: usize = 2 * SETS;

/// What a program has taken so far.
#[derive(Clone, Debug)]
pub struct Tally {
    description: Description,
    fit: Fit,
    shape: Shape,
    degree: Degree,
    calls: u64,
    cycles: u64,
    commands: u64,
    by_kind: BTreeMap<String, u64>,
    cycles_by_kind: BTreeMap<String, u64>,
    procedures: BTreeMap<String, ProcedureUse>,
    /// Whose stages are counted now.
    procedure: String,
    /// Busy cycles of array, load, unload.
    busy: [u64; 3],
    words_in: u64,
    words_out: u64,
    /// Most limbs held at once.
    held: usize,
    offload: OffloadUse,
}

impl Tally {
    pub(super) fn new(description: Description, fit: Fit, shape: Shape, degree: Degree) -> Self {
        Self {
            description,
            fit,
            shape,
            degree,
            calls: 0,
            cycles: 0,
            commands: 0,
            by_kind: BTreeMap::new(),
            cycles_by_kind: BTreeMap::new(),
            procedures: BTreeMap::new(),
            procedure: String::new(),
            busy: [0; 3],
            words_in: 0,
            words_out: 0,
            held: 0,
            offload: OffloadUse::default(),
        }
    }

    /// A call begins; its stages follow.
    pub fn call(&mut self, procedure: &Procedure, partition: &Partition) {
        self.calls += 1;
        self.procedure.clone_from(&procedure.name);
        let entry = self.procedures.entry(procedure.name.clone()).or_default();
        entry.calls += 1;
        for (op, count) in partition.host(procedure) {
            let name = format!("host {}", op.mnemonic());
            *self.by_kind.entry(name).or_default() += count;
            self.offload.host_instructions += count;
        }
        let offloaded = partition.stages.iter().map(|s| s.offloaded.len() as u64);
        self.offload.machine_instructions += offloaded.sum::<u64>();
    }

    /// The commands of a stage, the machine idle before and after.
    pub fn stage(&mut self, commands: &[Timed], mut trace: Option<&mut dyn TraceSink>) {
        for t in commands {
            let (name, length) = (t.command.name(), t.end.saturating_sub(t.begin));
            let (unit, lane) = unit(t.command);
            if let Some(sink) = &mut trace {
                sink.event(lane, name, self.cycles + t.begin, length);
            }
            self.commands += 1;
            *self.by_kind.entry(name.to_owned()).or_default() += 1;
            *self.cycles_by_kind.entry(name.to_owned()).or_default() += length;
            self.busy[unit] += length;
            let n = self.degree.n() as u64;
            match t.command {
                Command::Tables { .. } => {
                    self.words_in += n + (Tables::HEADER_BEATS * self.shape.beat()) as u64
                }
                Command::Load { set, buf, .. } => {
                    self.words_in += n;
                    self.held = self.held.max(2 * set + buf + 1);
                }
                Command::Unload { .. } => self.words_out += n,
                Command::Run { .. } => {}
            }
        }
        let cycles = commands.iter().map(|t| t.end).max().unwrap_or(0);
        self.cycles += cycles;
        let entry = self.procedures.entry(self.procedure.clone()).or_default();
        entry.cycles += cycles;
    }

    pub fn degree(&self) -> Degree {
        self.degree
    }

    /// Cycles so far.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// The report; `how` the cycles were obtained: "model" or "RTL".
    pub fn report(self, how: &'static str) -> MachineReport {
        let d = &self.description;
        let unit = |name: &str, busy: u64| UnitUse {
            unit: name.to_owned(),
            busy_cycles: busy,
            utilisation: busy as f64 / self.cycles.max(1) as f64,
        };
        let [array, load, unload] = self.busy;
        let (bytes_in, bytes_out) = (4 * self.words_in, 4 * self.words_out);
        let slot_bytes = 4 * self.degree.n() as u64;
        let link = LinkUse {
            bytes_in,
            bytes_out,
            key_bytes: 0,
            seconds_in: d.link_seconds(bytes_in),
            seconds_out: d.link_seconds(bytes_out),
            key_seconds: 0.0,
        };
        let seconds = self.cycles as f64 / (d.clock_mhz * 1e6);
        MachineReport {
            machine: d.name.clone(),
            end_to_end: EndToEnd::offload(None, &link, seconds),
            how,
            clock_mhz: d.clock_mhz,
            cycles: self.cycles,
            seconds,
            calls: self.calls,
            instructions: self.commands,
            utilisation: vec![
                unit("array", array),
                unit("load", load),
                unit("unload", unload),
            ],
            link,
            instructions_by_kind: self.by_kind,
            cycles_by_kind: self.cycles_by_kind,
            procedures: self.procedures,
            memories: vec![MemoryUse {
                name: "polynomial memory",
                count: 1,
                used_bytes: self.held as u64 * slot_bytes,
                available_bytes: SLOTS as u64 * slot_bytes,
            }],
            fit: self.fit,
            own: Own::Offload(self.offload),
        }
    }
}

/// The unit that a command keeps busy: its number and name.
fn unit(command: Command) -> (usize, &'static str) {
    match command {
        Command::Run { .. } => (0, "array"),
        Command::Load { .. } | Command::Tables { .. } => (1, "load"),
        Command::Unload { .. } => (2, "unload"),
    }
}
