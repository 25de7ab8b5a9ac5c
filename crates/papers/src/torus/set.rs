// SPDX-License-Identifier: Apache-2.0
//! Torus engines for the 128-bit parameter set: whole bootstraps, runs and key switches by the model, with a key that
//! is never late, beside lower bounds on their cycles.

use ringmill_machines::torus::keyswitch::Floor;
use ringmill_machines::torus::{Description, Shape, give_cycles, load_cycles, run, switch_cycles};

use super::engine;
use crate::error::PaperError;
use crate::scope::{Record, Scope, record};
use crate::value::{Value, model};

/// Returns the model's cycles for `count` interleaved ciphertexts: their blind rotations, their key switches, and each
/// ciphertext's share of whole bootstraps.
fn cycles(shape: Shape, count: usize) -> [Value; 3] {
    let (run, switch) = (
        run(shape, count, || true).cycles,
        switch_cycles(shape, count),
    );
    let share = (run + switch).div_ceil(count as u64);
    [run, switch, load_cycles(shape) + share + give_cycles(shape)].map(model)
}

/// Returns the cycles of the engine that the current row of `data/torus.toml` names beside their lower bounds, for one
/// ciphertext and for several interleaved ones. An engine that Ringmill ships serves for both. If the row sets the
/// number of interleaved ciphertexts, another engine of the same sizes runs one alone.
///
/// # Errors
/// Fails as [`engine::one`] does.
pub fn figures(at: &Scope<'_>) -> Result<Record, PaperError> {
    let d = engine::one(at)?;
    let own = at.number("set.places?")?.known();
    let places = own.map_or(d.places, |places| places as usize);
    let shape = match own {
        Some(_) => Description {
            places: 1,
            ..d.clone()
        }
        .shape()?,
        None => d.shape()?,
    };
    let (sizes, (products, weighing)) = (shape.sizes(), shape.multipliers());
    let (by_butterflies, by_products) = shape.floors();
    let masks = Floor::of(shape.degree(), sizes.switch.digits.levels, sizes.dim);
    let [run, switch, bootstrap] = cycles(shape, 1);
    let interleaved = own.is_none() || places > 1;
    let [run_of_all, switch_of_all, each] = match interleaved {
        true => cycles(d.shape()?, places),
        false => [Value::None, Value::None, Value::None],
    };
    Ok(record([
        ("butterflies", shape.butterflies().into()),
        ("multipliers", (products + weighing).into()),
        ("generators", sizes.switch.generators.cores.into()),
        ("unroll", sizes.unroll.into()),
        ("steps", shape.steps().into()),
        ("by_butterflies", by_butterflies.into()),
        ("by_products", by_products.into()),
        ("mask_blocks", masks.blocks.into()),
        ("alone.bootstrap", bootstrap),
        ("alone.run", run),
        ("alone.switch", switch),
        ("places", interleaved.then_some(places as f64).into()),
        ("together.each", each),
        ("together.run", run_of_all),
        ("together.switch", switch_of_all),
    ]))
}
