//! What every simulated machine offers.

use std::io;

use ringmill_compiler::Target;
use ringmill_isa::mid::{Unrolled, Verified, verify_unrolled};
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

    /// Schedules and times a program.
    ///
    /// # Errors
    /// A program that does not verify, that the machine cannot run, or that does not fit its memory.
    fn simulate(
        &self,
        program: &Unrolled,
        options: SimOptions<'_>,
    ) -> Result<MachineReport, MachineError> {
        self.simulate_verified(verify_unrolled(program)?, options)
    }

    /// As [`Machine::simulate`], of a program that has been verified.
    ///
    /// # Errors
    /// As [`Machine::simulate`].
    fn simulate_verified(
        &self,
        program: Verified<'_>,
        options: SimOptions<'_>,
    ) -> Result<MachineReport, MachineError>;

    /// Writes the micro code of every procedure of the program, as first placed, and what crosses the host link.
    ///
    /// # Errors
    /// As [`Machine::simulate`], and those of `out`.
    fn micro_text(
        &self,
        program: &Unrolled,
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
    pub progress: Option<&'a mut dyn FnMut(usize)>,
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
