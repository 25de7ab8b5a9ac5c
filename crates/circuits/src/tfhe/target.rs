// SPDX-License-Identifier: Apache-2.0
//! Adapts TFHE parameters to the bootstrapping engine of a machine, such as the torus machine.

use super::{Decomposition, LweDimension, ParamsBuilder, TfheError, Transforms, Unrolling};
use ringmill_isa::Engine;
use ringmill_isa::engine::Digits;

/// Adapts a parameter set to a bootstrapping engine. The adapted set takes the prime 2^52 - 2^12 + 1 of all engines for
/// transforms. It takes the engine's number of secret bits in a step of a blind rotation, and the engine's digits of a
/// key switch. If other sizes of the set do not fit, the engine later refuses the set and names the field.
///
/// # Errors
/// [`TfheError::OutOfRange`] if the engine takes 0 or more than 3 secret bits in a step of a blind rotation, which no
/// [`Unrolling`](super::params::Unrolling) does.
pub fn for_engine(engine: &Engine, set: ParamsBuilder) -> Result<ParamsBuilder, TfheError> {
    let found = Unrolling::ALL.iter().find(|u| u.m() == engine.unrolling);
    let unrolling = found.ok_or_else(|| TfheError::OutOfRange {
        what: "secret bits of one step of the engine",
        expected: "1 to 3".to_owned(),
        got: engine.unrolling.to_string(),
    })?;
    let set = set.transforms(Transforms::Solinas).unrolling(*unrolling);
    Ok(set.key_switch(decomposition(engine.key_switch)))
}

/// Adapts a parameter set to a bootstrapping engine as [`for_engine`] does, and takes the engine's small dimension,
/// ring degree and digits of a blind rotation too. It is for toy sets, as such sizes are mostly insecure.
///
/// # Errors
/// Those of [`for_engine`].
pub fn with_sizes_of(engine: &Engine, set: ParamsBuilder) -> Result<ParamsBuilder, TfheError> {
    Ok(for_engine(engine, set)?.sizes(|s| {
        s.n = LweDimension(engine.dimension);
        s.log_degree = engine.log_degree;
        s.bootstrap = decomposition(engine.bootstrap);
    }))
}

fn decomposition(digits: Digits) -> Decomposition {
    Decomposition {
        log_base: digits.log_base,
        levels: digits.levels,
    }
}
