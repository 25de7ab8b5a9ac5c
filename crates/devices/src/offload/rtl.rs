//! The RTL of a co-processor as the engine of a run.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_hdl::polymul::{Dice, Multiplier, execute};
use ringmill_hdl::{BuildOptions, Hdl, Optimise};
use ringmill_isa::mid::{ModulusId, ValueId};
use ringmill_machines::coprocessor::{Coprocessor, Core, Schedule, Turn};
use ringmill_machines::polymul::{Shape, Tables, as_schedule, stage_commands};

use crate::DeviceError;

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
        let modulus = procedure.types.get(value.0 as usize);
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
        let options = BuildOptions {
            optimise: Optimise::Run,
            waves: false,
        };
        Ok(Self {
            multiplier: Multiplier::new(hdl, shape, options)?,
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
            let Some(ty) = procedure.types.get(value.0 as usize) else {
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
