// SPDX-License-Identifier: Apache-2.0
//! A card with one or more co-processors behind a host link, as a machine.

use std::collections::HashSet;
use std::io::Write;

use ringmill_isa::Target;
use ringmill_isa::mid::{Head, Procedure, Verified};

use super::description::{CardDescription, KIND, Memory};
use super::resident::Resident;
use super::timing::{RunStage, Timing};
use super::work::{Turn, Work};
use super::{Accepted, Claim, Coprocessor, Partition};
use crate::error::MachineError;
use crate::fields::HostLink;
use crate::machine::{Machine, Session};
use crate::options::SimOptions;
use ringmill_device::report::{Fit, MachineReport};

/// A card: co-processors behind a host link. Only one of host, link and co-processors works at a time.
pub struct Card {
    name: String,
    clock_mhz: f64,
    link: HostLink,
    fit: Fit,
    target: Target,
    units: Vec<Box<dyn Coprocessor>>,
    /// The name of each co-processor in reports. If several have the same name, a number behind the
    /// name tells them apart.
    names: Vec<String>,
    lanes: Vec<Vec<String>>,
    memory: Option<Memory>,
}

impl Card {
    /// Makes a card with one co-processor and no memory of residues. Operands and results that do not stay in the
    /// co-processor cross the link of its own description.
    ///
    /// # Errors
    /// [`MachineError::UnknownPart`] if the co-processor's description names an unknown FPGA; the errors of
    /// [`crate::fpga::Needs::accepted`].
    pub fn alone(unit: Box<dyn Coprocessor>) -> Result<Self, MachineError> {
        let lanes = unit.lanes().iter().map(|&lane| lane.to_owned()).collect();
        Ok(Self {
            name: unit.name().to_owned(),
            clock_mhz: unit.clock_mhz(),
            link: unit.link().clone(),
            fit: unit.needs()?.accepted(unit.allowed())?,
            target: unit.target(),
            names: vec![unit.name().to_owned()],
            lanes: vec![lanes],
            units: vec![unit],
            memory: None,
        })
    }

    /// Makes a card from a checked description and its co-processors, of which there must be at least one.
    ///
    /// # Errors
    /// [`MachineError::Field`] for a memory that is too narrow for a co-processor, for no co-processor, or for
    /// co-processors without a common ring degree. [`MachineError::UnknownPart`] for an unknown FPGA; the errors of
    /// [`crate::fpga::Needs::accepted`].
    pub fn of(
        description: CardDescription,
        units: Vec<Box<dyn Coprocessor>>,
    ) -> Result<Self, MachineError> {
        for unit in &units {
            description.memory.serves(unit.as_ref())?;
        }
        let needs = description.needs(&units)?;
        let fit = needs.accepted(description.allow_more_than_the_part_has.as_deref())?;
        // Co-processors of one name are distinguished by their numbers.
        let named = |(number, name): (usize, &str)| {
            let alike = units.iter().filter(|other| other.name() == name);
            match alike.count() {
                1 => name.to_owned(),
                _ => format!("{name}.{number}"),
            }
        };
        let names = units.iter().map(|unit| unit.name()).enumerate();
        let names: Vec<String> = names.map(named).collect();
        let lanes = units.iter().zip(&names).map(|(unit, name)| {
            let lanes = unit.lanes().iter();
            let named = lanes.map(|lane| match units.len() {
                1 => (*lane).to_owned(),
                _ => format!("{name} {lane}"),
            });
            named.collect()
        });
        Ok(Self {
            target: target(&description.name, &units)?,
            name: description.name,
            clock_mhz: description.clock_mhz,
            link: description.link,
            fit,
            lanes: lanes.collect(),
            names,
            units,
            memory: Some(description.memory),
        })
    }

    /// Returns the card's co-processors, in the order in which they claim instructions.
    pub fn units(&self) -> &[Box<dyn Coprocessor>] {
        &self.units
    }

    /// Begins a run of a program on the card. `head` has the program's ring degree, moduli, procedures and inputs.
    /// The caller then gives the program's calls to the returned run.
    ///
    /// # Errors
    /// An error if an input of the program is no limb; the first co-processor's error if every co-processor refuses the
    /// program ([`Coprocessor::accept`]).
    pub fn work(&self, head: &Head<'_>) -> Result<Work<'_>, MachineError> {
        Ok(Work::new(self, head, self.accept(head)?))
    }

    fn accept(&self, head: &Head<'_>) -> Result<Vec<Option<Box<dyn Accepted>>>, MachineError> {
        self.check_values(head)?;
        let (mut all, mut first) = (Vec::with_capacity(self.units.len()), None);
        for unit in &self.units {
            match unit.accept(head) {
                Ok(accepted) => all.push(Some(accepted)),
                Err(error) => {
                    first.get_or_insert(error);
                    all.push(None);
                }
            }
        }
        match first {
            Some(error) if all.iter().all(Option::is_none) => Err(error),
            _ => Ok(all),
        }
    }

    /// Times a program in which `run` executes each turn: the commands of one co-processor in one
    /// stage of a procedure. `run` executes a turn once for each state of the co-processor's data;
    /// the result is reused after that, while it is in the cache. `how` is the source of the cycles, "model" or "RTL".
    ///
    /// # Errors
    /// The errors of [`Self::work`] and of `run`.
    pub fn simulate_with<E: From<MachineError>>(
        &self,
        program: &Verified,
        options: SimOptions<'_>,
        how: &'static str,
        run: &mut RunStage<'_, E>,
    ) -> Result<MachineReport, E> {
        let mut timing = Timing::new(self, program.head(), options.for_now(), run)?;
        let mut stream = program.stream();
        while let Some(called) = stream.next_call().map_err(MachineError::from)? {
            timing.take(&called)?;
        }
        let outputs = stream.outputs().map_err(MachineError::from)?;
        Ok(timing.report(how, &outputs)?)
    }

    /// Returns how many limbs of degree 2^`log_n` the card's memory can hold: 0 for a card without memory.
    pub(super) fn limbs(&self, log_n: u8) -> usize {
        let fits = |memory: &Memory| match memory.max_log_n.checked_sub(log_n) {
            Some(halvings) => (memory.limbs << halvings) as usize,
            None => (memory.limbs >> (log_n - memory.max_log_n).min(63)) as usize,
        };
        self.memory.as_ref().map_or(0, fits)
    }

    /// Returns the bytes of a limb of degree 2^`log_n` in the card's memory, or `None` for a card without memory.
    pub(super) fn limb_bytes(&self, log_n: u8) -> Option<u64> {
        let memory = self.memory.as_ref()?;
        Some((u64::from(memory.residue_bits) << log_n).div_ceil(8))
    }

    pub(super) fn lanes(&self, unit: usize) -> &[String] {
        self.lanes.get(unit).map_or(&[], Vec::as_slice)
    }

    /// Returns `what` with the co-processor's name before it, or `what` alone if the card has one co-processor.
    pub(super) fn named(&self, unit: usize, what: &str) -> String {
        match self.units.len() {
            1 => what.to_owned(),
            _ => format!("{} {what}", self.unit_name(unit)),
        }
    }

    pub(super) fn unit_name(&self, unit: usize) -> &str {
        self.names.get(unit).map_or("", String::as_str)
    }

    pub(super) fn link(&self) -> &HostLink {
        &self.link
    }
}

/// Returns the limits on the parameters of programs that are within the limits of every co-processor of a card.
fn target(name: &str, units: &[Box<dyn Coprocessor>]) -> Result<Target, MachineError> {
    let mut targets = units.iter().map(|unit| unit.target());
    let Some(mut all) = targets.next() else {
        return Err(MachineError::Field {
            field: "coprocessor",
            got: "none".to_owned(),
            expected: "one at least".to_owned(),
        });
    };
    all.machine = name.to_owned();
    for other in targets {
        let machine = other.machine.clone();
        all = all.and(other).ok_or_else(|| MachineError::Field {
            field: "coprocessor",
            got: format!("{machine} with others"),
            expected: "co-processors that have a ring degree in common".to_owned(),
        })?;
    }
    Ok(all)
}

impl Machine for Card {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn clock_mhz(&self) -> f64 {
        self.clock_mhz
    }

    fn fit(&self) -> &Fit {
        &self.fit
    }

    fn target(&self) -> Target {
        self.target.clone()
    }

    fn takes(&self, head: &Head<'_>, procedure: &Procedure) -> Result<Vec<bool>, MachineError> {
        let partition = Partition::new(procedure, &self.accept(head)?);
        let mut taken = vec![false; procedure.instrs.len()];
        for at in partition.stages.iter().flat_map(|stage| stage.offloaded()) {
            if let Some(taken) = taken.get_mut(at) {
                *taken = true;
            }
        }
        Ok(taken)
    }

    /// Opens the card on a program. The cycles of every co-processor come from its cycle model.
    fn open<'m>(
        &'m self,
        head: Head<'m>,
        options: SimOptions<'m>,
    ) -> Result<Box<dyn Session + 'm>, MachineError> {
        let modelled = |turn: Turn<'_>| Ok::<_, MachineError>(turn.model());
        Ok(Box::new(Timing::new(self, head, options, modelled)?))
    }

    fn micro_text(
        &self,
        program: &Verified,
        _options: SimOptions<'_>,
        out: &mut dyn Write,
    ) -> Result<(), MachineError> {
        let head = program.head();
        let accepted = self.accept(&head)?;
        let mut seen = HashSet::new();
        for procedure in program
            .bound_procs()
            .iter()
            .filter(|p| seen.insert(&p.name))
        {
            let partition = Partition::new(procedure, &accepted);
            writeln!(out, "proc {} n {}", procedure.name, 1u64 << head.log_n)?;
            let mut holds = vec![Resident::default(); accepted.len()];
            for (number, stage) in partition.stages.iter().enumerate() {
                writeln!(out, "  stage {number}")?;
                for &at in &stage.host {
                    let op = procedure.instrs.get(at).map_or("", |i| i.op.mnemonic());
                    writeln!(out, "    host {op} #{at}")?;
                }
                for (unit, (jobs, holds)) in stage.jobs.iter().zip(&mut holds).enumerate() {
                    let Some(accepted) = accepted.get(unit).and_then(Option::as_deref) else {
                        continue;
                    };
                    let jobs: Vec<&Claim> = jobs.iter().collect();
                    let schedule = accepted.schedule(procedure, &jobs, holds);
                    let texts = accepted.text(procedure, &jobs, holds);
                    for (step, text) in schedule.steps.iter().zip(texts) {
                        let text = self.named(unit, &text);
                        writeln!(out, "    {:>8} .. {:>8}  {text}", step.begin, step.end)?;
                    }
                    *holds = schedule.after;
                }
            }
        }
        Ok(())
    }
}
