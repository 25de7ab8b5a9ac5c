// SPDX-License-Identifier: Apache-2.0
//! The RTL of a TFHE bootstrapping engine as a device, `rtl:torus`.

use std::borrow::Cow;
use std::path::Path;

use crate::Hdl;
use crate::torus::{Engine, top};
use ringmill_device::report::{Ledger, MachineReport};
use ringmill_isa::mid::{InputRole, Op};
use ringmill_machines::Machine;
use ringmill_machines::torus::{KeyStream, TorusMachine};
use ringmill_math::Residues;

use super::{FAST, Job, RtlError, Whole};
use ringmill_device::DeviceError;
use ringmill_device::pool::OutputLimb;

/// The RTL of a bootstrapping engine as a device. Its simulation model is built once and cached.
/// Each run of a program starts one.
pub(super) struct TorusRtl {
    machine: TorusMachine,
    hdl: Hdl,
}

impl TorusRtl {
    /// Makes the device from a bootstrapping engine, and builds the engine's simulation model.
    ///
    /// # Errors
    /// An error if the RTL sources or the tools are missing; the errors of building the model.
    pub fn new(machine: TorusMachine) -> Result<Self, DeviceError> {
        let hdl = Hdl::find(Path::new("."))?;
        hdl.build(&top(machine.shape()), FAST)?;
        Ok(Self { machine, hdl })
    }

    /// Runs one bootstrap on the engine's RTL, with the key switch if the program has one. Returns the words of the
    /// resulting LWE ciphertext, and the clock cycles of all commands.
    fn bootstrap(&self, job: &Job<'_, '_>) -> Result<(Vec<u64>, u64), DeviceError> {
        let (program, bindings) = (job.program, job.bindings);
        let shape = self.machine.shape();
        let dim = shape.sizes().dim;
        let malformed = |what: &str| DeviceError::Malformed(format!("{what} of a blind rotation"));
        let inputs = program.head().inputs;
        let residues = |i: usize| {
            bindings
                .limbs
                .get(i)
                .map_or(Cow::Borrowed(&[][..]), |limb| limb.residues())
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
        let key: Vec<Cow<'_, [u64]>> = (first_key..first_key + keys).map(residues).collect();
        let key = key.iter().map(|limb| &**limb).collect();
        let key = KeyStream::new(shape, key).map_err(ringmill_machines::MachineError::from)?;
        let mut engine = Engine::new(&self.hdl, shape, FAST)?;
        engine.source(Some(self.machine.key_rate()));
        let mut cycles = engine.load(0, &residues(0), word(1), &mask)?;
        cycles += engine.run(0, &key)?;
        let procs = program.head().procs.iter();
        let switches = procs.flat_map(|p| &p.instrs).any(|i| i.op == Op::Lweks);
        let out = if switches {
            let rows = bindings
                .limbs
                .last()
                .ok_or_else(|| malformed("no inputs"))?;
            let seed = rows.seed().ok_or_else(|| RtlError::NoSeed {
                device: job.device.to_owned(),
            })?;
            let words = rows.residues();
            let bodies = words.chunks(dim + 1).filter_map(<[u64]>::last);
            let bodies: Vec<u32> = bodies.map(|&body| body as u32).collect();
            cycles += engine.switch(0, seed, &bodies)?;
            engine.give(0)?
        } else {
            engine.unload(0)?
        };
        Ok((out.0, cycles + out.1))
    }
}

impl Whole for TorusRtl {
    fn machine(&self) -> &dyn Machine {
        &self.machine
    }

    fn execute(
        &self,
        job: &Job<'_, '_>,
        report: &mut MachineReport,
    ) -> Result<Vec<OutputLimb>, DeviceError> {
        let (words, cycles) = self.bootstrap(job)?;
        report.cycles = cycles;
        report.lines = Ledger::default().lines(&[], 1, cycles);
        report.seconds = cycles as f64 / (report.clock_mhz * 1e6);
        Ok(vec![OutputLimb::of(Residues::Wide(&words), None)])
    }
}
