// SPDX-License-Identifier: Apache-2.0
//! The RTL of the base-extension unit as an engine of an offload device.

use crate::Hdl;
use crate::basext::{Executor, ExtendError, Extender};
use ringmill_isa::mid::{ModulusId, Procedure};
use ringmill_machines::basext::{self, Constants, MachineUnit, Rate};
use ringmill_machines::coprocessor::{Bases, Engine, Executed, Residues, Turn};
use ringmill_math::{MathError, Modulus, RnsBasis};

use super::FAST;
use ringmill_device::DeviceError;

/// A base-extension unit in simulation. Its input and output stream go through one memory port.
pub(super) struct Basext {
    executor: Executor,
    unit: MachineUnit,
    rate: Rate,
}

impl Basext {
    /// Builds the simulation model of a base-extension unit. Its input and output stream go through
    /// one memory port, which moves words at the rate `rate`.
    ///
    /// # Errors
    /// The errors of building the model.
    pub fn new(hdl: &Hdl, unit: MachineUnit, rate: Rate) -> Result<Self, DeviceError> {
        let mut extender = Extender::new(hdl, unit, FAST)?;
        extender.behind(Some(rate));
        Ok(Self {
            executor: Executor::new(extender),
            unit,
            rate,
        })
    }

    /// Computes the constants of an extension between two bases of the procedure's table of moduli.
    fn constants(
        unit: MachineUnit,
        procedure: &Procedure,
        bases: &Bases,
    ) -> Result<Constants, ExtendError> {
        let modulus = |id: &ModulusId| -> Result<Modulus, MathError> {
            let found = procedure.moduli.get(usize::from(id.0));
            // The unit claims extensions between primes alone.
            Modulus::new(found.and_then(|q| q.prime()).unwrap_or(0))
        };
        let moduli = |ids: &[ModulusId]| ids.iter().map(modulus).collect::<Result<Vec<_>, _>>();
        let found = || -> Result<_, MathError> {
            let sources = RnsBasis::new(moduli(&bases.sources)?)?;
            let redundant = bases.redundant.as_ref().map(modulus).transpose()?;
            Ok((sources, redundant, moduli(&bases.targets)?))
        };
        let (sources, redundant, targets) = found().map_err(basext::BasextError::from)?;
        Ok(basext::Unit::from(unit).constants(&sources, redundant, &targets)?)
    }
}

impl Engine for Basext {
    fn turn<'a>(&mut self, turn: &Turn<'_>, limb: &Residues<'a>) -> Result<Executed, DeviceError> {
        let (procedure, unit) = (turn.procedure, self.unit);
        let commands = basext::stage_commands(unit, self.rate, procedure, turn.jobs, turn.holds);
        let constants = |bases: &Bases| Self::constants(unit, procedure, bases);
        let ran = self.executor.execute(&commands, constants, limb)?;
        let log_n = u32::from(procedure.log_n);
        Ok(Executed {
            schedule: basext::as_schedule(unit, &ran.commands, turn.holds, log_n),
            limbs: ran.limbs,
        })
    }
}
