// SPDX-License-Identifier: Apache-2.0
//! The RTL of the polynomial multiplier as an engine of an offload device.

use std::collections::HashMap;
use std::sync::Arc;

use crate::Hdl;
use crate::polymul::{Multiplier, execute};
use ringmill_isa::mid::ModulusId;
use ringmill_machines::coprocessor::{Engine, Executed, Residues, Turn};
use ringmill_machines::polymul::{Shape, Tables, as_schedule, stage_commands};

use super::FAST;
use ringmill_device::DeviceError;

/// A polynomial multiplier in simulation, and the transform tables that were computed for it, by
/// modulus.
pub(super) struct Polymul {
    multiplier: Multiplier,
    tables: HashMap<ModulusId, Arc<Tables>>,
}

impl Polymul {
    /// Builds the simulation model of a polynomial multiplier of this shape.
    ///
    /// # Errors
    /// The errors of building the model.
    pub fn new(hdl: &Hdl, shape: Shape) -> Result<Self, DeviceError> {
        Ok(Self {
            multiplier: Multiplier::new(hdl, shape, FAST)?,
            tables: HashMap::new(),
        })
    }
}

impl Engine for Polymul {
    fn turn<'a>(&mut self, turn: &Turn<'_>, limb: &Residues<'a>) -> Result<Executed, DeviceError> {
        let (procedure, shape) = (turn.procedure, self.multiplier.shape());
        let degree = shape
            .degree(1 << procedure.log_n)
            .map_err(ringmill_machines::MachineError::from)?;
        for &value in turn.jobs.iter().flat_map(|job| &job.gives) {
            let Some(ty) = procedure.limb(value) else {
                continue;
            };
            let modulus = procedure.moduli.get(usize::from(ty.modulus.0));
            // The multiplier claims jobs of primes alone.
            let q = modulus.and_then(|q| q.prime());
            if let (Some(q), false) = (q, self.tables.contains_key(&ty.modulus)) {
                let tables = Tables::new(shape, degree.n(), q)?;
                self.tables.insert(ty.modulus, Arc::new(tables));
            }
        }
        let tables = |modulus| self.tables.get(&modulus).cloned();
        let commands = stage_commands(shape, degree, procedure, turn.jobs, turn.holds);
        let ran = execute(&mut self.multiplier, &commands, tables, limb)?;
        Ok(Executed {
            schedule: as_schedule(shape, &ran.commands, turn.holds, degree),
            limbs: ran.limbs,
        })
    }
}
