//! What every simulated machine offers.

use std::io;

use ringmill_compiler::Target;
use ringmill_isa::mid::{Program, Verified};
use ringmill_limits::Watch;

use crate::{MachineError, MachineReport};

/// A simulated machine: it schedules a mid-level program onto its units and counts cycles, without data.
pub trait Machine: Send + Sync {
    /// The name of its description.
    fn name(&self) -> &str;

    /// Its description as TOML; [`crate::load`] reads it back.
    fn description(&self) -> String;

    /// What parameters must keep for the machine to take a program's work.
    fn target(&self) -> Target;

    /// Schedules and times a program, pulling its calls.
    ///
    /// # Errors
    /// A program that the machine cannot run, or that does not fit its memory.
    fn simulate(
        &self,
        program: &Verified,
        options: SimOptions<'_>,
    ) -> Result<MachineReport, MachineError>;

    /// Refuses a program with values that are no limbs: no machine here holds others.
    ///
    /// # Errors
    /// [`MachineError::Kind`] with the first of them.
    fn check_values(&self, program: &Program) -> Result<(), MachineError> {
        match program.input_of(|ty| ty.limb().is_none()) {
            None => Ok(()),
            Some((input, ty)) => Err(MachineError::Kind {
                machine: self.name().to_owned(),
                input: input.to_owned(),
                kind: ty.kind(),
            }),
        }
    }

    /// Writes the micro code of every procedure of the program, as first placed, and what crosses the host link.
    ///
    /// # Errors
    /// As [`Machine::simulate`], and those of `out`.
    fn micro_text(
        &self,
        program: &Verified,
        options: SimOptions<'_>,
        out: &mut dyn io::Write,
    ) -> Result<(), MachineError>;
}

/// How a program is simulated.
pub struct SimOptions<'a> {
    /// Values that do not fit wait in host memory, as is usual; without it such a program is refused.
    pub spill: bool,
    /// The keys that fit the key memory are there before the program starts, as the paper has it, those that are used first;
    /// otherwise it starts empty. Either way a key limb that is needed and not there crosses the link, and is counted.
    pub resident_keys: bool,
    /// Takes one event for each word and unit, and for what crosses the host link between calls.
    pub trace: Option<&'a mut dyn TraceSink>,
    /// Told how many of the program's calls are done, after each.
    pub progress: Option<&'a mut dyn FnMut(u64)>,
    /// Asked as it goes.
    pub watch: Watch,
}

impl Default for SimOptions<'_> {
    fn default() -> Self {
        Self {
            spill: true,
            resident_keys: true,
            trace: None,
            progress: None,
            watch: Watch::default(),
        }
    }
}

/// Takes the events of a run; one lane a unit.
pub trait TraceSink {
    /// `name` occupied `lane` for `cycles` from cycle `start` of the program.
    fn event(&mut self, lane: &str, name: &str, start: u64, cycles: u64);
}
