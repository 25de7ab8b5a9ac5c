//! Single procedures, for evaluators that run operations one by one ([`Runs`]).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ringmill_isa::mid::{Procedure, Program, Verified};
use ringmill_limits::Watch;
use ringmill_schemes::call::{CallError, Given, Runs, Take};

use super::{Cpu, Kept, MAX_PLANS};
use crate::DeviceError;
use crate::bindings::{Bindings, Limb, SeedExpansion};
use crate::progress::Silent;

/// A procedure, by whose address its program is found, and the program.
type Called = (Arc<Procedure>, Arc<Verified>);

/// Programs of one call.
#[derive(Default)]
pub(super) struct Calling(Mutex<HashMap<usize, Called>>);

impl Calling {
    fn program(&self, procedure: &Arc<Procedure>) -> Result<Arc<Verified>, DeviceError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Arc::as_ptr(procedure) as usize;
        if let Some((_, program)) = known.get(&key) {
            return Ok(Arc::clone(program));
        }
        let program = Program::calling(Arc::clone(procedure), Vec::new());
        let malformed = |e: ringmill_isa::VerifyError| DeviceError::Malformed(e.to_string());
        let program = Arc::new(Verified::new(program).map_err(malformed)?);
        if known.len() >= MAX_PLANS {
            known.clear();
        }
        known.insert(key, (Arc::clone(procedure), Arc::clone(&program)));
        Ok(program)
    }
}

/// The bits of the interpreter.
impl Runs for Cpu {
    fn run(
        &self,
        procedure: &Arc<Procedure>,
        limbs: &[Given<'_>],
        seeds: &[[u8; 32]],
        take: Take<'_>,
    ) -> Result<(), CallError> {
        self.call(procedure, limbs, seeds, take)
            .map_err(|e| match e {
                DeviceError::Halt(halt) => CallError::Halt(halt),
                other => CallError::Malformed(other.to_string()),
            })
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
        let inputs = program.inputs.iter().zip(limbs).map(|(input, limb)| {
            let modulus = input.ty.modulus();
            let modulus = modulus.and_then(|id| program.moduli.get(usize::from(id.0)).copied());
            let modulus = modulus.unwrap_or(crate::bindings::exponents(program.log_n));
            // Operands of operations are made of residues below their moduli: their types check them when they are made.
            match *limb {
                Given::Limb(limb) => Limb::scanned(limb, modulus),
                Given::Spread(values) => Limb::spread(values, input.ty.words(), modulus),
            }
        });
        let bindings = Bindings {
            limbs: inputs.collect(),
            seeds: seeds
                .iter()
                .map(|&seed| Arc::new(SeedExpansion::new(seed)))
                .collect(),
        };
        let (watch, kept) = (Watch::default(), Kept::default());
        self.execute_into(&program, &bindings, &Silent, None, &watch, kept, Some(take))?;
        Ok(())
    }
}
