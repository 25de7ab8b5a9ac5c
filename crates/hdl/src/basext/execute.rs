// SPDX-License-Identifier: Apache-2.0
//! Runs a machine's schedule of commands on a base-extension unit's RTL, one command after another.

use std::sync::Arc;

use ringmill_isa::mid::ValueId;
use ringmill_machines::basext::{Command, Constants, Timed, serves};
use ringmill_machines::coprocessor::Bases;

use super::{ExtendError, Extender};

/// The commands of a schedule that was run on a base-extension unit's RTL, and the limbs that they
/// computed.
#[derive(Clone, Debug, Default)]
pub struct Executed {
    /// The commands with the cycles in which they began and ended, counted from the first command.
    pub commands: Vec<Timed>,
    /// The limbs that the extensions computed, in order: for each, the value of the procedure that
    /// it is, and its residues.
    pub limbs: Vec<(ValueId, Vec<u64>)>,
}

/// A base-extension unit in simulation, and the source and target moduli whose constants are loaded
/// in it.
pub struct Executor {
    extender: Extender,
    held: Option<Arc<Bases>>,
}

impl Executor {
    pub fn new(extender: Extender) -> Self {
        Self {
            extender,
            held: None,
        }
    }

    /// Runs a schedule (`ringmill_machines::basext::timeline`) on the unit. A command begins when the previous one has
    /// ended. `constants` returns the constants of an extension, `limb` the residues of a value. Constants that the
    /// schedule assumes and the unit does not have are loaded first, in cycles that are not counted.
    ///
    /// # Errors
    /// [`ExtendError::Missing`] for a limb that `limb` does not return; the errors of `constants` and of [`Extender`].
    pub fn execute<'a>(
        &mut self,
        timeline: &[Timed],
        constants: impl Fn(&Bases) -> Result<Constants, ExtendError>,
        limb: impl Fn(ValueId) -> Option<&'a [u64]>,
    ) -> Result<Executed, ExtendError> {
        let mut executed = Executed::default();
        let mut begin = 0;
        for timed in timeline {
            let end = match &timed.command {
                Command::Constants(bases) => begin + self.load(bases, &constants)?,
                Command::Extend(job) => {
                    if !self
                        .held
                        .as_ref()
                        .is_some_and(|there| serves(there, &job.bases))
                    {
                        self.load(&job.bases, &constants)?;
                    }
                    let missing = |value: ValueId| ExtendError::Missing { value: value.0 };
                    let given = job.takes().map(|value| limb(value).ok_or(missing(value)));
                    let given = given.collect::<Result<Vec<_>, _>>()?;
                    let (made, cycles) = self.extender.extend(job.extension, &given)?;
                    executed.limbs.extend(job.targets.iter().copied().zip(made));
                    begin + cycles
                }
            };
            executed.commands.push(Timed {
                command: timed.command.clone(),
                begin,
                end,
            });
            begin = end;
        }
        Ok(executed)
    }

    fn load(
        &mut self,
        bases: &Arc<Bases>,
        constants: impl Fn(&Bases) -> Result<Constants, ExtendError>,
    ) -> Result<u64, ExtendError> {
        self.held = None;
        let cycles = self.extender.load(&constants(bases)?)?;
        self.held = Some(Arc::clone(bases));
        Ok(cycles)
    }
}
