//! `rtl:torus`: a blind rotation on the simulated RTL of the bootstrapping engine, its key switch on this computer.

use std::path::Path;

use ringmill_hdl::torus::{Engine, top};
use ringmill_hdl::{BuildOptions, Hdl, Optimise};
use ringmill_isa::mid::{Imm, InputRole, Op, ValueType, Verified};
use ringmill_machines::torus::{KeyStream, TorusMachine};
use ringmill_machines::{Machine, SimOptions};
use ringmill_math::torus::{Coefficients, Gadget, switch_words};

use crate::DeviceError;
use crate::bindings::Bindings;
use crate::checkpoint::CheckpointError;
use crate::device::{Device, Outcome, Request, check_budget, check_values};
use crate::pool::OutputLimb;
use crate::progress::Progress;

/// Models that run fast.
const FAST: BuildOptions = BuildOptions {
    optimise: Optimise::Run,
    waves: false,
};

/// The engine's RTL. Its model takes a minute or so to build for a large engine, and is kept; each run starts one.
pub struct TorusRtl {
    name: String,
    machine: TorusMachine,
    hdl: Hdl,
}

impl TorusRtl {
    /// # Errors
    /// Those of the build.
    pub fn new(name: String, machine: TorusMachine) -> Result<Self, DeviceError> {
        let hdl = Hdl::find(Path::new("."))?;
        hdl.build(&top(machine.shape()), FAST)?;
        Ok(Self { name, machine, hdl })
    }

    /// What the engine extracts and the host switches, and the engine's cycles.
    fn bootstrap(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
    ) -> Result<(Vec<u64>, u64), DeviceError> {
        let shape = self.machine.shape();
        let dim = shape.sizes().dim;
        let malformed = |what: &str| DeviceError::Malformed(format!("{what} of a blind rotation"));
        let inputs = program.head().inputs;
        let residues = |i: usize| {
            bindings
                .limbs
                .get(i)
                .map_or(&[][..], |limb| limb.residues())
        };
        let exponents = inputs
            .iter()
            .take_while(|input| !matches!(input.role, InputRole::Key { .. }));
        let first_key = exponents.count();
        let keys = shape.gadgets() * shape.rows() * 2;
        if first_key != dim + 2 || inputs.len() < first_key + keys {
            return Err(malformed("inputs that are not those"));
        }
        let word = |i: usize| residues(i).first().copied().unwrap_or(0) as usize;
        let mask: Vec<usize> = (2..first_key).map(word).collect();
        let key = (first_key..first_key + keys).map(residues).collect();
        let key = KeyStream::new(shape, key).map_err(ringmill_machines::MachineError::from)?;
        let mut engine = Engine::new(&self.hdl, shape, FAST)?;
        engine.source(Some(self.machine.key_rate()));
        let mut cycles = engine.load(0, residues(0), word(1), &mask)?;
        cycles += engine.run(0, &key)?;
        let (large, unloaded) = engine.unload(0)?;
        cycles += unloaded;
        // What comes after the extraction.
        let procs = program.head().procs.iter();
        let mut switches = procs.flat_map(|p| &p.instrs).filter(|i| i.op == Op::Lweks);
        let Some(switch) = switches.next() else {
            return Ok((large, cycles));
        };
        let (Imm::Base(log_base), Some((&body, mask))) = (switch.imm, large.split_last()) else {
            return Err(malformed("a key switch that is not that"));
        };
        let rows = residues(inputs.len() - 1);
        let levels = rows.len() / (dim + 1) / mask.len();
        let q = Coefficients::word(32)?;
        let gadget = Gadget::new(q, log_base.into(), levels)?;
        let mut out = vec![0; dim + 1];
        switch_words(rows, &gadget, mask, body, &mut out)?;
        Ok((out, cycles))
    }
}

impl Device for TorusRtl {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn clock_mhz(&self) -> Option<f64> {
        Some(self.machine.clock_mhz())
    }

    fn holds(&self, ty: ValueType) -> bool {
        self.machine.holds(ty)
    }

    fn run(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
        request: Request<'_>,
        _: &dyn Progress,
    ) -> Result<Outcome, DeviceError> {
        if !request.function && !request.timing {
            return Err(DeviceError::NothingAsked);
        }
        check_values(self, program)?;
        check_budget(self, &request)?;
        if request.saving.is_some() || request.resume.is_some() {
            let device = self.name();
            return Err(CheckpointError::NotHere { device }.into());
        }
        // The model says whether the program is one of the engine's.
        let options = SimOptions {
            watch: request.watch.clone(),
            ..SimOptions::default()
        };
        let mut report = self.machine.simulate(program, options)?;
        if !request.function {
            return Ok(Outcome {
                machine: Some(report),
                ..Outcome::default()
            });
        }
        bindings.check(program.program())?;
        let (words, cycles) = self.bootstrap(program, bindings)?;
        report.how = "RTL";
        report.cycles = cycles;
        report.seconds = cycles as f64 / (report.clock_mhz * 1e6);
        Ok(Outcome {
            outputs: Some(vec![OutputLimb::shared(words.into())]),
            cpu: None,
            machine: request.timing.then_some(report),
        })
    }
}
