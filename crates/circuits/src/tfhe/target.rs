// SPDX-License-Identifier: Apache-2.0
//! Adapts TFHE parameters to the bootstrapping engine of a machine, such as the torus machine.

use super::{Decomposition, LweDimension, ParamsBuilder, TfheError, Transforms, Unrolling};
use ringmill_isa::Engine;
use ringmill_isa::engine::Digits;

/// Adapts a parameter set to a bootstrapping engine. It takes the engine's prime for transforms, its number of secret
/// bits in a step of a blind rotation, and its digits of a key switch. If other sizes of the set do not fit, the engine
/// later refuses the set and names the field.
///
/// # Errors
/// [`TfheError::OutOfRange`] if the engine takes more secret bits in a step of a blind rotation than
/// [`Unrolling`](super::params::Unrolling) has.
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

/// Adapts a parameter set to a bootstrapping engine as [`for_engine`] does, and takes the engine's other sizes too.
/// It is for toy sets, as such sizes are mostly insecure.
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

#[cfg(test)]
mod tests {
    use super::*;

    const ENGINE: Engine = Engine {
        dimension: 24,
        log_degree: 7,
        unrolling: 2,
        bootstrap: Digits {
            log_base: 6,
            levels: 4,
        },
        key_switch: Digits {
            log_base: 3,
            levels: 6,
        },
    };

    #[test]
    fn parameters_have_the_numbers_of_their_engine() {
        let toy = || ParamsBuilder::toy_for_tests_only().allow_any_failure_rate_for_tests_only();
        let plain = toy().build().unwrap();
        let set = for_engine(&ENGINE, toy()).unwrap();
        let found = *set.build().unwrap().sizes();
        assert_eq!(found.unrolling, Unrolling::Two);
        assert_eq!((found.key_switch.log_base, found.key_switch.levels), (3, 6));
        assert_eq!(
            (found.n, found.log_degree),
            (plain.sizes().n, plain.sizes().log_degree)
        );
        let set = with_sizes_of(&ENGINE, toy()).unwrap();
        let found = *set.build().unwrap().sizes();
        assert_eq!((found.n, found.log_degree), (LweDimension(24), 7));
        assert_eq!((found.bootstrap.log_base, found.bootstrap.levels), (6, 4));
    }

    #[test]
    fn an_engine_of_more_bits_a_step_than_the_scheme_has_is_refused() {
        for unrolling in [0, 4] {
            let engine = Engine {
                unrolling,
                ..ENGINE
            };
            let refused = for_engine(&engine, ParamsBuilder::toy_for_tests_only());
            assert!(matches!(refused, Err(TfheError::OutOfRange { .. })));
        }
    }
}
