//! The multiplier behind the [`Machine`] trait: limb programs partitioned between it and the host.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;

use ringmill_isa::mid::{Procedure, Program, verify_program};

use super::description::Description;
use super::jobs::{Partition, partition};
use super::timeline::{Command, Timed, timeline};
use super::{Degree, SETS, Shape, check_modulus};
use crate::report::{KeyUse, LinkUse, MachineReport, MemoryUse, ProcedureUse, Spills, UnitUse};
use crate::{Machine, MachineError, SimOptions};

/// Limbs the machine holds.
const SLOTS: usize = 2 * SETS;

/// A polynomial multiplier made from a description.
#[derive(Clone, Debug)]
pub struct PolymulMachine {
    description: Description,
    shape: Shape,
}

/// A procedure as it runs.
struct Planned {
    partition: Partition,
    timeline: Vec<Timed>,
    cycles: u64,
}

/// Sums over the calls of a program.
#[derive(Default)]
struct Totals {
    cycles: u64,
    commands: u64,
    by_kind: BTreeMap<String, u64>,
    cycles_by_kind: BTreeMap<String, u64>,
    procedures: BTreeMap<String, ProcedureUse>,
    /// Busy cycles of array, load, unload.
    busy: [u64; 3],
    words_in: u64,
    words_out: u64,
    /// Most limbs held at once.
    held: usize,
}

impl PolymulMachine {
    /// # Errors
    /// [`MachineError::Field`] for a description out of range.
    pub fn new(description: Description) -> Result<Self, MachineError> {
        let shape = description.shape()?;
        Ok(Self { description, shape })
    }

    /// Partitions and schedules a procedure.
    fn plan(&self, procedure: &Procedure, degree: Degree) -> Result<Planned, MachineError> {
        let partition = partition(procedure);
        let used: HashSet<_> = partition.jobs.iter().map(|job| job.modulus).collect();
        for modulus in used {
            let value = procedure.moduli.get(usize::from(modulus.0));
            let &q = value.ok_or_else(|| {
                MachineError::Program(format!("modulus {} is not in the table", modulus.0))
            })?;
            check_modulus(degree, q)?;
        }
        let timeline = timeline(self.shape, degree, &partition.jobs);
        Ok(Planned {
            cycles: timeline.iter().map(|t| t.end).max().unwrap_or(0),
            partition,
            timeline,
        })
    }

    /// Verifies the program, plans each procedure that is called, and sums over the calls.
    fn totals(
        &self,
        program: &Program,
        options: &mut SimOptions<'_>,
    ) -> Result<(Totals, Degree), MachineError> {
        verify_program(program)?;
        // A program's degree is at most 2^17.
        let degree = self.shape.degree(1 << program.log_n.min(31))?;
        let mut plans: Vec<Option<Planned>> = Vec::new();
        plans.resize_with(program.procs.len(), || None);
        let mut totals = Totals::default();
        for call in &program.calls {
            let at = call.proc as usize;
            let (Some(procedure), Some(slot)) = (program.procs.get(at), plans.get_mut(at)) else {
                return Err(MachineError::Program(format!("no procedure {at}")));
            };
            if slot.is_none() {
                *slot = Some(self.plan(procedure, degree)?);
            }
            let Some(plan) = slot else { continue };
            if let Some(sink) = &mut options.trace {
                for t in &plan.timeline {
                    let (begin, length) = (totals.cycles + t.begin, t.end - t.begin);
                    sink.event(unit(t.command).1, t.command.name(), begin, length);
                }
            }
            totals.add(&procedure.name, plan, self.shape, degree);
        }
        Ok((totals, degree))
    }
}

/// The unit that a command keeps busy: its number and name.
fn unit(command: Command) -> (usize, &'static str) {
    match command {
        Command::Run { .. } => (0, "array"),
        Command::Load { .. } | Command::Tables(_) => (1, "load"),
        Command::Unload { .. } => (2, "unload"),
    }
}

impl Totals {
    fn add(&mut self, name: &str, plan: &Planned, shape: Shape, degree: Degree) {
        self.cycles += plan.cycles;
        let entry = self.procedures.entry(name.to_owned()).or_default();
        entry.calls += 1;
        entry.cycles += plan.cycles;
        for t in &plan.timeline {
            let name = t.command.name();
            self.commands += 1;
            *self.by_kind.entry(name.to_owned()).or_default() += 1;
            *self.cycles_by_kind.entry(name.to_owned()).or_default() += t.end - t.begin;
            self.busy[unit(t.command).0] += t.end - t.begin;
            let n = degree.n() as u64;
            match t.command {
                Command::Tables(_) => self.words_in += n + shape.beat() as u64,
                Command::Load { set, buf, .. } => {
                    self.words_in += n;
                    self.held = self.held.max(2 * set + buf + 1);
                }
                Command::Unload { .. } => self.words_out += n,
                Command::Run { .. } => {}
            }
        }
        for (op, count) in &plan.partition.host {
            *self
                .by_kind
                .entry(format!("host {}", op.mnemonic()))
                .or_default() += count;
        }
    }
}

impl Machine for PolymulMachine {
    fn name(&self) -> &str {
        &self.description.name
    }

    fn description(&self) -> String {
        toml::to_string(&self.description).unwrap_or_default()
    }

    /// Transforms and products of the full ring run here; `instructions_by_kind` counts what the host does as
    /// "host ...". Every operand and result crosses the link, whose time is apart from the machine's.
    fn simulate(
        &self,
        program: &Program,
        mut options: SimOptions<'_>,
    ) -> Result<MachineReport, MachineError> {
        let (totals, degree) = self.totals(program, &mut options)?;
        let d = &self.description;
        let unit = |name: &str, busy: u64| UnitUse {
            unit: name.to_owned(),
            busy_cycles: busy,
            utilisation: busy as f64 / totals.cycles.max(1) as f64,
        };
        let [array, load, unload] = totals.busy;
        let (bytes_in, bytes_out) = (4 * totals.words_in, 4 * totals.words_out);
        let slot_bytes = 4 * degree.n() as u64;
        Ok(MachineReport {
            machine: d.name.clone(),
            how: "model",
            clock_mhz: d.clock_mhz,
            cycles: totals.cycles,
            seconds: totals.cycles as f64 / (d.clock_mhz * 1e6),
            calls: program.calls.len() as u64,
            instructions: totals.commands,
            utilisation: vec![
                unit("array", array),
                unit("load", load),
                unit("unload", unload),
            ],
            instructions_by_kind: totals.by_kind,
            cycles_by_kind: totals.cycles_by_kind,
            procedures: totals.procedures,
            memory: MemoryUse {
                slots: SLOTS,
                slot_bytes,
                // At most SLOTS.
                peak_slots: vec![totals.held as u8],
                peak_bytes: vec![totals.held as u64 * slot_bytes],
                ..MemoryUse::default()
            },
            keys: KeyUse::default(),
            link: LinkUse {
                bytes_in,
                bytes_out,
                key_bytes: 0,
                seconds_in: d.link_seconds(bytes_in),
                seconds_out: d.link_seconds(bytes_out),
                key_seconds: 0.0,
            },
            spills: Spills::default(),
            rpaus: 1,
            multipliers_per_rpau: self.shape.units(),
        })
    }

    fn micro_text(
        &self,
        program: &Program,
        mut options: SimOptions<'_>,
        out: &mut dyn Write,
    ) -> Result<(), MachineError> {
        let (_, degree) = self.totals(program, &mut options)?;
        let mut seen = HashSet::new();
        for procedure in program.procs.iter().filter(|p| seen.insert(&p.name)) {
            let plan = self.plan(procedure, degree)?;
            writeln!(
                out,
                "proc {} n {} ; {} cycles",
                procedure.name,
                degree.n(),
                plan.cycles
            )?;
            for t in &plan.timeline {
                writeln!(out, "  {:>8} .. {:>8}  {}", t.begin, t.end, text(t.command))?;
            }
            for (op, count) in &plan.partition.host {
                writeln!(out, "  host {} x {count}", op.mnemonic())?;
            }
        }
        Ok(())
    }
}

/// A command as text.
fn text(command: Command) -> String {
    let form = |eval: bool| if eval { "eval" } else { "coeff" };
    match command {
        Command::Tables(modulus) => format!("TABLES q{}", modulus.0),
        Command::Load {
            set,
            buf,
            eval,
            limb,
        } => format!("LOAD   s{set}.{buf} {} %{}", form(eval), limb.0),
        Command::Run { set, .. } => format!("{:<6} s{set}", command.name()),
        Command::Unload { set, eval, limb } => {
            format!("UNLOAD s{set}.0 {} %{}", form(eval), limb.0)
        }
    }
}
