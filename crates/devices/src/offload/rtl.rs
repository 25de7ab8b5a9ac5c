//! The RTL of a co-processor as the engine of a run.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_hdl::basext::{Executor, ExtendError, Extender};
use ringmill_hdl::polymul::{Dice, Multiplier, execute};
use ringmill_hdl::{BuildOptions, Hdl, Optimise};
use ringmill_isa::mid::{ModulusId, Procedure, ValueId};
use ringmill_machines::basext::{self, Constants, MachineUnit, Rate};
use ringmill_machines::coprocessor::{Bases, Coprocessor, Core, Schedule, Turn};
use ringmill_machines::polymul::{Shape, Tables, as_schedule, stage_commands};
use ringmill_math::{MathError, Modulus, RnsBasis};

use crate::DeviceError;

/// Models that run fast.
const FAST: BuildOptions = BuildOptions {
    optimise: Optimise::Run,
    waves: false,
    open: false,
};

/// A turn as the RTL ran it: the commands with its cycles, and the limbs that it gave.
pub struct Executed {
    pub schedule: Schedule,
    pub limbs: Vec<(ValueId, Vec<u64>)>,
}

/// The residues of a value of the procedure, where they are known.
pub type Residues<'a> = dyn Fn(ValueId) -> Option<&'a [u64]> + 'a;

/// Simulated RTL of one co-processor.
pub trait Engine {
    /// Carries out the commands that the model has for a turn, on these limbs.
    ///
    /// # Errors
    /// Those of the RTL's driver, as where it is slower than the model.
    fn turn<'a>(&mut self, turn: &Turn<'_>, limb: &Residues<'a>) -> Result<Executed, DeviceError>;
}

/// The engine of a co-processor. Builds its model, unless it is in the cache: a minute or so for a large machine.
///
/// # Errors
/// [`DeviceError::NoRtl`] for a co-processor without RTL; those of the build.
pub fn engine(hdl: &Hdl, unit: &dyn Coprocessor) -> Result<Box<dyn Engine>, DeviceError> {
    match unit.core() {
        Some(Core::Polymul(shape)) => Ok(Box::new(Polymul::new(hdl, shape)?)),
        Some(Core::Basext { unit, rate }) => Ok(Box::new(Basext::new(hdl, unit, rate)?)),
        None => Err(DeviceError::NoRtl {
            machine: unit.name().to_owned(),
            known: ringmill_machines::registry::names_with_rtl()
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}

/// Carries out a turn on limbs of no meaning: time hangs on none.
///
/// # Errors
/// Those of [`Engine::turn`].
pub fn time(engine: &mut dyn Engine, turn: &Turn<'_>) -> Result<Schedule, DeviceError> {
    let mut dice = Dice::new(0);
    let mut limbs: HashMap<ValueId, Vec<u64>> = HashMap::new();
    let procedure = turn.procedure;
    for &value in turn.jobs.iter().flat_map(|job| &job.takes) {
        let modulus = procedure.limb(value);
        let modulus = modulus.and_then(|ty| procedure.moduli.get(usize::from(ty.modulus.0)));
        let q = modulus.and_then(|q| q.prime()).unwrap_or(1);
        limbs.insert(value, dice.limb(1 << procedure.log_n, q));
    }
    let limb = |value: ValueId| limbs.get(&value).map(Vec::as_slice);
    Ok(engine.turn(turn, &limb)?.schedule)
}

/// A simulated multiplier and the tables that the run has made.
struct Polymul {
    multiplier: Multiplier,
    tables: HashMap<ModulusId, Arc<Tables>>,
}

impl Polymul {
    fn new(hdl: &Hdl, shape: Shape) -> Result<Self, DeviceError> {
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

/// A simulated base-extension unit behind its memory's port.
struct Basext {
    executor: Executor,
    unit: MachineUnit,
    rate: Rate,
}

impl Basext {
    fn new(hdl: &Hdl, unit: MachineUnit, rate: Rate) -> Result<Self, DeviceError> {
        let mut extender = Extender::new(hdl, unit, FAST)?;
        extender.behind(Some(rate));
        Ok(Self {
            executor: Executor::new(extender),
            unit,
            rate,
        })
    }

    /// The constants of an extension in a procedure's table of moduli.
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
