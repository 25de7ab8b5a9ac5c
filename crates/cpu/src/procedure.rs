// SPDX-License-Identifier: Apache-2.0
//! Runs single procedures on the CPU, for evaluators that compute one operation after the other ([`Runs`]).

use std::sync::Arc;

use ringmill_device::call::{CallError, Given, Runs, Take};
use ringmill_device::procedures::{bindings, call_error};
use ringmill_device::progress::Silent;
use ringmill_device::{Bindings, DeviceError, Request, Resident};
use ringmill_isa::mid::Procedure;
use ringmill_limits::Watch;

use crate::Cpu;
use crate::session::Session;

/// Runs a procedure with the kernels of the CPU; the results have the bits of the reference interpreter.
impl Runs for Cpu {
    fn run(
        &self,
        procedure: &Arc<Procedure>,
        limbs: &[Given<'_>],
        seeds: &[[u8; 32]],
        take: Take<'_>,
    ) -> Result<(), CallError> {
        self.call(procedure, limbs, seeds, take).map_err(call_error)
    }
}

impl Cpu {
    fn call(
        &self,
        procedure: &Arc<Procedure>,
        limbs: &[Given<'_>],
        seeds: &[[u8; 32]],
        take: Take<'_>,
    ) -> Result<(), DeviceError> {
        let program = self.calling.program(procedure)?;
        let Bindings { limbs, seeds } = bindings(&program, limbs, seeds);
        let mut session = Session::new(self, &program, Resident::seeds(seeds), &Watch::default())?;
        session.execute(limbs, Request::function_only(), &Silent, Some(take))?;
        Ok(())
    }
}
