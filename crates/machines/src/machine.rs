// SPDX-License-Identifier: Apache-2.0
//! What every simulated machine offers.

use std::any::Any;
use std::io;

use ringmill_isa::Target;
use ringmill_isa::mid::{Called, Head, LimbId, Procedure, ValueType, Verified};

use crate::error::MachineError;
use crate::options::SimOptions;
use ringmill_device::report::{Fit, MachineReport};

/// A simulated machine: it schedules a mid-level program onto its units and counts cycles, without data.
pub trait Machine: Any + Send + Sync {
    /// The kind of its description.
    fn kind(&self) -> &'static str;

    /// The name of its description.
    fn name(&self) -> &str;

    /// Megahertz of its clock.
    fn clock_mhz(&self) -> f64;

    /// What it needs of the FPGA that its description names, beside what that has.
    fn fit(&self) -> &Fit;

    /// What parameters must keep for the machine to take a program's work.
    fn target(&self) -> Target;

    /// Whether it holds values of this type: limbs, unless a machine says more.
    fn holds(&self, ty: ValueType) -> bool {
        ty.limb().is_some()
    }

    /// Which instructions of a procedure run here, in their order; a host does the others.
    ///
    /// # Errors
    /// A head of a program that the machine cannot be opened on.
    fn takes(&self, head: &Head<'_>, procedure: &Procedure) -> Result<Vec<bool>, MachineError>;

    /// Begins a run without data, on what is known of a program before its first call.
    ///
    /// # Errors
    /// A head of a program that the machine cannot run.
    fn open<'m>(
        &'m self,
        head: Head<'m>,
        options: SimOptions<'m>,
    ) -> Result<Box<dyn Session + 'm>, MachineError>;

    /// Schedules and times a program, pulling its calls.
    ///
    /// # Errors
    /// A program that the machine cannot run, or that does not fit its memory.
    fn simulate(
        &self,
        program: &Verified,
        options: SimOptions<'_>,
    ) -> Result<MachineReport, MachineError> {
        let mut session = self.open(program.head(), options.for_now())?;
        let mut stream = program.stream();
        while let Some(called) = stream.next_call()? {
            session.feed(called)?;
        }
        session.finish(stream.outputs()?)
    }

    /// Refuses a program with values that the machine does not hold.
    ///
    /// # Errors
    /// [`MachineError::Kind`] with the first of them.
    fn check_values(&self, head: &Head<'_>) -> Result<(), MachineError> {
        match head.input_of(|ty| !self.holds(ty)) {
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

impl dyn Machine {
    /// The machine as what it is, where it is of that type: for what knows machines of one kind, as their RTL does.
    pub fn as_a<M: Machine>(&self) -> Option<&M> {
        (self as &dyn Any).downcast_ref()
    }
}

/// A run of a machine, fed the calls of a program one after another. Who drops it before the end loses that run and nothing
/// else.
pub trait Session {
    /// Takes the next call. It may run later, when enough is known of what comes after it.
    ///
    /// # Errors
    /// A call that cannot be the next one of a program with that head, or that the machine cannot run. After an error
    /// the session is of no use.
    fn feed(&mut self, called: Called) -> Result<(), MachineError>;

    /// Cycles of what has run so far, by the machine's clock.
    fn cycles(&self) -> u64;

    /// After the last call: the report of the whole run. `outputs` are the program's.
    ///
    /// # Errors
    /// As [`Self::feed`]; an output that no call made, as when calls are missing.
    fn finish(self: Box<Self>, outputs: Vec<LimbId>) -> Result<MachineReport, MachineError>;
}
