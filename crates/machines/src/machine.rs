// SPDX-License-Identifier: Apache-2.0
//! The interface that every simulated machine implements.

use std::any::Any;
use std::io;

use ringmill_isa::Target;
use ringmill_isa::mid::{Called, Head, LimbId, Procedure, ValueType, Verified};

use crate::error::MachineError;
use crate::options::SimOptions;
use ringmill_device::report::{Fit, MachineReport};

/// A simulated machine: it schedules a mid-level program onto its units and counts cycles, without data.
pub trait Machine: Any + Send + Sync {
    /// Returns the kind of its description.
    fn kind(&self) -> &'static str;

    /// Returns the name of its description.
    fn name(&self) -> &str;

    /// Returns its clock in megahertz.
    fn clock_mhz(&self) -> f64;

    /// Returns its needs beside the resources of the FPGA that its description names.
    fn fit(&self) -> &Fit;

    /// Returns the limits for parameters of programs that it runs.
    fn target(&self) -> Target;

    /// Returns whether it holds values of this type. All machines hold limbs.
    fn holds(&self, ty: ValueType) -> bool {
        ty.limb().is_some()
    }

    /// Returns for each instruction of a procedure, in order, whether it runs on the machine; a host runs the others.
    ///
    /// # Errors
    /// A head of a program on which the machine cannot be opened.
    fn takes(&self, head: &Head<'_>, procedure: &Procedure) -> Result<Vec<bool>, MachineError>;

    /// Begins a run without data on a program's head, which is known before its first call.
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
    /// The errors of [`Machine::simulate`], and those of `out`.
    fn micro_text(
        &self,
        program: &Verified,
        options: SimOptions<'_>,
        out: &mut dyn io::Write,
    ) -> Result<(), MachineError>;
}

impl dyn Machine {
    /// Returns the machine as type `M`, if it is one, for code about one kind of machine, such as its RTL.
    pub fn as_a<M: Machine>(&self) -> Option<&M> {
        (self as &dyn Any).downcast_ref()
    }
}

/// A run of a machine, fed the calls of a program one after another. Dropping it before the end loses that run and
/// nothing else.
pub trait Session {
    /// Takes the next call. It may run later, when enough later calls are known.
    ///
    /// # Errors
    /// A call that cannot be the next one of a program with that head, or that the machine cannot run. After an error
    /// the session is of no use.
    fn feed(&mut self, called: Called) -> Result<(), MachineError>;

    /// Returns the cycles of the calls that have run so far, by the machine's clock.
    fn cycles(&self) -> u64;

    /// Ends the run after the last call, and returns its report. `outputs` are the program's.
    ///
    /// # Errors
    /// The errors of [`Self::feed`]; an output that no call made, for instance because calls are missing.
    fn finish(self: Box<Self>, outputs: Vec<LimbId>) -> Result<MachineReport, MachineError>;
}
