// SPDX-License-Identifier: Apache-2.0
//! Runs single procedures on any device, for evaluators that compute one operation after the other ([`Runs`]).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::call::{CallError, Given, Runs, Take};
use ringmill_isa::mid::{Procedure, Program, Verified};

use crate::DeviceError;
use crate::bindings::{Bindings, Limb, SeedExpansion, exponents};
use crate::device::{Device, Request};
use crate::progress::Silent;

/// The most programs that the cache [`Calling`] keeps. A cache with this number of programs is
/// emptied before the next one is added.
const MAX_PROGRAMS: usize = 1 << 14;

/// A procedure and the program that calls it once. The cache [`Calling`] finds the program by the
/// procedure's address.
type Called = (Arc<Procedure>, Arc<Verified>);

/// A cache of programs, each of which calls one procedure once.
#[derive(Default)]
pub struct Calling(Mutex<HashMap<usize, Called>>);

impl Calling {
    /// Returns the program that calls the procedure once, from the cache or newly made.
    ///
    /// # Errors
    /// [`DeviceError::Malformed`] for a procedure that the verifier refuses.
    pub fn program(&self, procedure: &Arc<Procedure>) -> Result<Arc<Verified>, DeviceError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Arc::as_ptr(procedure) as usize;
        if let Some((_, program)) = known.get(&key) {
            return Ok(Arc::clone(program));
        }
        let program = Program::calling(Arc::clone(procedure), Vec::new());
        let malformed = |e: ringmill_isa::VerifyError| DeviceError::Malformed(e.to_string());
        let program = Arc::new(Verified::new(program).map_err(malformed)?);
        if known.len() >= MAX_PROGRAMS {
            known.clear();
        }
        known.insert(key, (Arc::clone(procedure), Arc::clone(&program)));
        Ok(program)
    }
}

/// Returns the bindings of a program that calls one procedure: its limbs and seeds.
pub fn bindings<'a>(program: &Verified, limbs: &[Given<'a>], seeds: &[[u8; 32]]) -> Bindings<'a> {
    let inputs = program.inputs.iter().zip(limbs).map(|(input, limb)| {
        let modulus = input.ty.modulus();
        let modulus = modulus.and_then(|id| program.moduli.get(usize::from(id.0)).copied());
        let modulus = modulus.unwrap_or(exponents(program.log_n));
        // Operands consist of residues below their moduli: their types check them when they are made.
        match *limb {
            Given::Limb(limb) => Limb::scanned(limb, modulus),
            Given::Spread(values) => Limb::spread(values, input.ty.words(), modulus),
        }
    });
    Bindings {
        limbs: inputs.collect(),
        seeds: seeds
            .iter()
            .map(|&seed| Arc::new(SeedExpansion::new(seed)))
            .collect(),
    }
}

/// Converts a device's error in running a procedure to the error of the call.
pub fn call_error(error: DeviceError) -> CallError {
    match error {
        DeviceError::Halt(halt) => CallError::Halt(halt),
        other => CallError::Malformed(other.to_string()),
    }
}

/// A runner of single procedures on any device, each as a program of one call. The results have the bits of the
/// interpreter. The CPU has an implementation of its own, which passes each result on as soon as it is computed.
pub struct Procedures {
    device: Box<dyn Device>,
    calling: Calling,
}

impl Procedures {
    pub fn new(device: Box<dyn Device>) -> Self {
        Self {
            device,
            calling: Calling::default(),
        }
    }
}

impl Runs for Procedures {
    fn run(
        &self,
        procedure: &Arc<Procedure>,
        limbs: &[Given<'_>],
        seeds: &[[u8; 32]],
        take: Take<'_>,
    ) -> Result<(), CallError> {
        let program = self.calling.program(procedure).map_err(call_error)?;
        let bindings = bindings(&program, limbs, seeds);
        let outcome = (self.device)
            .run(&program, &bindings, Request::function_only(), &Silent)
            .map_err(call_error)?;
        for (number, limb) in outcome.outputs.iter().flatten().enumerate() {
            take(number, limb.residues());
        }
        Ok(())
    }
}
