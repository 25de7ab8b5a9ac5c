// SPDX-License-Identifier: Apache-2.0
//! Times a turn on a co-processor's engine without data. A turn is the jobs of one co-processor in
//! one stage.

use std::collections::HashMap;

use ringmill_device::DeviceError;
use ringmill_isa::mid::ValueId;
use ringmill_machines::coprocessor::{Engine, Schedule, Turn};

/// Runs a turn, the jobs of one co-processor in one stage, on arbitrary limbs. The time of a turn does not depend on
/// the residues.
///
/// # Errors
/// The errors of [`Engine::turn`].
pub fn on(engine: &mut dyn Engine, turn: &Turn<'_>) -> Result<Schedule, DeviceError> {
    let mut limbs: HashMap<ValueId, Vec<u64>> = HashMap::new();
    let procedure = turn.procedure;
    for &value in turn.jobs.iter().flat_map(|job| &job.takes) {
        let modulus = procedure.limb(value);
        let modulus = modulus.and_then(|ty| procedure.moduli.get(usize::from(ty.modulus.0)));
        let q = modulus.and_then(|q| q.prime()).unwrap_or(1);
        limbs.insert(value, (0..1 << procedure.log_n).map(|i| i % q).collect());
    }
    let limb = |value: ValueId| limbs.get(&value).map(Vec::as_slice);
    Ok(engine.turn(turn, &limb)?.schedule)
}
