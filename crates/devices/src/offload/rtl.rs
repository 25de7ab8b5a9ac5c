//! The multiplier's RTL as the engine of a run.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_hdl::polymul::{Dice, Executed, Multiplier, execute};
use ringmill_hdl::{BuildOptions, Hdl, Optimise};
use ringmill_isa::mid::{ModulusId, Procedure, ValueId};
use ringmill_machines::polymul::{Degree, Shape, Stage, Tables, Timed};

use crate::DeviceError;

/// A simulated multiplier and the tables that the run has made.
pub struct Rtl {
    multiplier: Multiplier,
    tables: HashMap<ModulusId, Arc<Tables>>,
}

impl Rtl {
    /// Builds the model, unless it is in the cache: a minute or so for a large machine.
    pub fn new(hdl: &Hdl, shape: Shape) -> Result<Self, DeviceError> {
        let options = BuildOptions {
            optimise: Optimise::Run,
            waves: false,
        };
        Ok(Self {
            multiplier: Multiplier::new(hdl, shape, options)?,
            tables: HashMap::new(),
        })
    }

    /// Runs the commands of a stage on these limbs.
    pub fn stage<'a>(
        &mut self,
        procedure: &Procedure,
        stage: &Stage,
        commands: &[Timed],
        limb: impl Fn(ValueId) -> Option<&'a [u64]>,
    ) -> Result<Executed, DeviceError> {
        let n = 1 << procedure.log_n;
        for job in &stage.jobs {
            let modulus = procedure.moduli.get(usize::from(job.modulus.0));
            // The machine is given jobs of primes alone.
            let q = modulus.and_then(|q| q.prime());
            if let (Some(q), false) = (q, self.tables.contains_key(&job.modulus)) {
                let tables = Tables::new(self.multiplier.shape(), n, q)?;
                self.tables.insert(job.modulus, Arc::new(tables));
            }
        }
        let tables = |modulus| self.tables.get(&modulus).cloned();
        Ok(execute(&mut self.multiplier, commands, tables, limb)?)
    }

    /// Runs the commands of a stage on limbs of no meaning: time hangs on none.
    pub fn time(
        &mut self,
        procedure: &Procedure,
        stage: &Stage,
        commands: &[Timed],
        degree: Degree,
    ) -> Result<Vec<Timed>, DeviceError> {
        let mut dice = Dice::new(0);
        let mut limbs: HashMap<ValueId, Vec<u64>> = HashMap::new();
        for job in &stage.jobs {
            let modulus = procedure.moduli.get(usize::from(job.modulus.0));
            for value in [Some(job.a), job.b].into_iter().flatten() {
                let q = modulus.and_then(|q| q.prime());
                limbs.insert(value, dice.limb(degree.n(), q.unwrap_or(1)));
            }
        }
        let limb = |value: ValueId| limbs.get(&value).map(Vec::as_slice);
        Ok(self.stage(procedure, stage, commands, limb)?.commands)
    }
}
