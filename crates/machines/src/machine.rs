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
    /// Returns the field `kind` of the machine's description.
    fn kind(&self) -> &'static str;

    /// Returns the field `name` of the machine's description.
    fn name(&self) -> &str;

    /// Returns the machine's clock in megahertz.
    fn clock_mhz(&self) -> f64;

    /// Returns the resources that the machine needs, compared with those of the FPGA or die that its description
    /// names.
    fn fit(&self) -> &Fit;

    /// Returns the limits on the parameters of programs that the machine can run.
    fn target(&self) -> Target;

    /// Returns whether the machine can hold values of this type. All machines hold limbs.
    fn holds(&self, ty: ValueType) -> bool {
        ty.limb().is_some()
    }

    /// Returns for each instruction of a procedure, in order, whether the machine runs it; a host runs the others.
    /// `head` has the program's ring degree, moduli, procedures and inputs.
    ///
    /// # Errors
    /// An error for a program on which the machine cannot be opened.
    fn takes(&self, head: &Head<'_>, procedure: &Procedure) -> Result<Vec<bool>, MachineError>;

    /// Begins a run of a program without data, which only counts cycles. `head` has the program's ring degree,
    /// moduli, procedures and inputs, which are known before the first call.
    ///
    /// # Errors
    /// An error for a program that the machine cannot run, as far as `head` shows. A program that is opened may still
    /// fail in [`Session::feed`] or [`Session::finish`].
    fn open<'m>(
        &'m self,
        head: Head<'m>,
        options: SimOptions<'m>,
    ) -> Result<Box<dyn Session + 'm>, MachineError>;

    /// Schedules and times a program: begins a run, feeds it every call, and returns its report.
    ///
    /// # Errors
    /// An error for a program that the machine cannot run, or that does not fit its memory. [`MachineError::Halt`] if
    /// the watch of the options stops the run.
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

    /// Refuses a program with an input of a type that the machine cannot hold. It does not look at other values.
    ///
    /// # Errors
    /// [`MachineError::Kind`] with the first such input.
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

    /// Writes the micro code or the commands of the program's procedures to `out`. The ring machine writes each
    /// procedure that a call runs, with the first schedule that it makes of it. The call may run another schedule. The
    /// other machines write each procedure as it runs by itself.
    ///
    /// # Errors
    /// The errors of [`Machine::simulate`], and write errors of `out`.
    fn micro_text(
        &self,
        program: &Verified,
        options: SimOptions<'_>,
        out: &mut dyn io::Write,
    ) -> Result<(), MachineError>;
}

impl dyn Machine {
    /// Returns the machine as a value of type `M`, or `None` if it has another type. Code about one kind of machine,
    /// such as its RTL, uses this.
    pub fn as_a<M: Machine>(&self) -> Option<&M> {
        (self as &dyn Any).downcast_ref()
    }
}

/// A run of a program on a machine, which takes the program's calls one after another. A caller may drop the session
/// before the end.
pub trait Session {
    /// Takes the program's next call. The machine may run the call later, when it knows as many of the calls after
    /// it as it needs for its decisions.
    ///
    /// # Errors
    /// An error for a call that does not follow the calls before it, or that the machine cannot run.
    /// [`MachineError::Halt`] if the watch of the options stops the run. After an error the session is of no use.
    fn feed(&mut self, called: Called) -> Result<(), MachineError>;

    /// Returns the cycles of the calls that have run, in the machine's clock. The bootstrapping engine returns a lower
    /// bound, since its calls work on one bootstrap together.
    fn cycles(&self) -> u64;

    /// Ends the run after the program's last call, and returns its report. `outputs` are the program's outputs.
    ///
    /// # Errors
    /// The errors of [`Self::feed`]; an error if an output is neither an input nor computed by a call, for instance
    /// because calls are missing.
    fn finish(self: Box<Self>, outputs: Vec<LimbId>) -> Result<MachineReport, MachineError>;
}
