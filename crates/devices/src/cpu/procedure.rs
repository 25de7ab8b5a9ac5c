//! Single procedures, for evaluators that run operations one by one ([`Runs`]).

use std::sync::Arc;

use ringmill_isa::mid::Procedure;
use ringmill_limits::Watch;
use ringmill_schemes::call::{CallError, Given, Runs, Take};

use super::{Cpu, Kept};
use crate::DeviceError;
use crate::procedures::{bindings, call_error};
use crate::progress::Silent;

/// The bits of the interpreter.
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
        let bindings = bindings(&program, limbs, seeds);
        let (watch, kept) = (Watch::default(), Kept::default());
        self.execute_into(&program, &bindings, &Silent, None, &watch, kept, Some(take))?;
        Ok(())
    }
}
