// SPDX-License-Identifier: Apache-2.0
//! Torus engines for the 128-bit parameter set: whole bootstraps, runs and key switches by the model, with a key that
//! is never late, beside lower bounds on their cycles.

use ringmill_machines::torus::keyswitch::{Digits, Floor, Generators};
use ringmill_machines::torus::{
    Description, KeySwitch, Schedule, Shape, Sizes, give_cycles, load_cycles, run, switch_cycles,
};

use crate::error::PaperError;
use crate::scope::{Record, record};
use crate::value::{Value, model};

/// The parameters of one engine in two cases: while it runs one ciphertext, and while it runs several interleaved
/// ciphertexts.
struct Engine {
    case: String,
    alone: Shape,
    together: Option<Shape>,
}

/// Returns the engine of a description that Ringmill ships. The description's shape, which interleaves several
/// ciphertexts, also serves for a single one.
fn shipped(name: &str, text: &str) -> Result<Engine, PaperError> {
    let shape = Description::read(text)?.shape()?;
    Ok(Engine {
        case: format!("`{name}`"),
        alone: shape,
        together: Some(shape),
    })
}

/// Returns an engine of three transform units with 32 butterflies and 20 mask generators. A step takes m secret bits,
/// and products are computed for `2^log_pos` positions in each cycle.
fn of_three_units(
    unroll: usize,
    log_pos: u32,
    schedule: Schedule,
    interleaved: bool,
) -> Result<Engine, PaperError> {
    let sizes = |places| {
        let sizes = Sizes {
            log_n: 10,
            levels: 3,
            log_base: 7,
            dim: 630,
            unroll,
            units: 3,
            log_lanes: 5,
            log_pos,
            places,
            group: 1,
            key_beats: ((1024 >> log_pos) * ((1 << unroll) - 1_usize)).next_power_of_two(),
            switch: KeySwitch {
                digits: Digits {
                    log_base: 1,
                    levels: 15,
                },
                generators: Generators {
                    cores: 20,
                    rounds: 20,
                    steps: 2,
                },
            },
        };
        match schedule {
            Schedule::Coefficients => Sizes {
                key_beats: Shape::two_steps(sizes),
                ..sizes
            },
            Schedule::Sums | Schedule::Pairs => sizes,
        }
    };
    let shape = |places| {
        let shape = Shape::scheduled(sizes(places), schedule);
        shape.map_err(|e| PaperError::Internal(format!("an engine of the 128-bit set: {e}")))
    };
    let how = match schedule {
        Schedule::Sums => "weighed",
        Schedule::Coefficients => "bundled in coefficient form",
        Schedule::Pairs => "in pairs",
    };
    Ok(Engine {
        case: format!("m = {unroll}, {} positions, {how}", 1 << log_pos),
        alone: shape(1)?,
        together: interleaved.then(|| shape(2)).transpose()?,
    })
}

fn engines() -> Result<Vec<Engine>, PaperError> {
    Ok(vec![
        shipped("torus", Description::OURS)?,
        of_three_units(2, 2, Schedule::Sums, true)?,
        of_three_units(2, 2, Schedule::Coefficients, false)?,
        of_three_units(3, 2, Schedule::Sums, false)?,
        of_three_units(3, 2, Schedule::Coefficients, true)?,
        of_three_units(3, 3, Schedule::Sums, true)?,
        shipped("torus-fit", Description::FIT)?,
        shipped("torus-wide", Description::WIDE)?,
        shipped("torus-large", Description::LARGE)?,
    ])
}

/// Returns three numbers of cycles for `count` interleaved ciphertexts: their blind rotations, their key switches, and
/// each ciphertext's share of whole bootstraps.
fn cycles(shape: Shape, count: usize) -> [u64; 3] {
    let (run, switch) = (
        run(shape, count, || true).cycles,
        switch_cycles(shape, count),
    );
    let share = (run + switch).div_ceil(count as u64);
    [run, switch, load_cycles(shape) + share + give_cycles(shape)]
}

/// Returns the cycles of each engine beside their lower bounds, one record for each engine.
pub fn figures() -> Result<Vec<Record>, PaperError> {
    let engines = engines()?.into_iter().map(|engine| {
        let shape = engine.alone;
        let (sizes, (products, weighing)) = (shape.sizes(), shape.multipliers());
        let (by_butterflies, by_products) = shape.floors();
        let masks = Floor::of(shape.degree(), sizes.switch.digits.levels, sizes.dim);
        let [run, switch, bootstrap] = cycles(shape, 1);
        let number = |count: u64| Value::number(count as f64);
        let together = engine.together.map(|shape| {
            let places = shape.sizes().places;
            (places, cycles(shape, places))
        });
        let shared = |of: fn(&[u64; 3]) -> u64| {
            together
                .as_ref()
                .map_or(Value::None, |(_, cycles)| model(of(cycles)))
        };
        let places = together.as_ref().map(|(places, _)| *places as f64);
        record([
            ("engine", engine.case.into()),
            ("butterflies", number(shape.butterflies())),
            ("multipliers", number(products + weighing)),
            ("generators", number(sizes.switch.generators.cores as u64)),
            ("unroll", number(sizes.unroll as u64)),
            ("steps", number(shape.steps() as u64)),
            ("by_butterflies", number(by_butterflies)),
            ("by_products", number(by_products)),
            ("mask_blocks", number(masks.blocks)),
            ("alone.bootstrap", model(bootstrap)),
            ("alone.run", model(run)),
            ("alone.switch", model(switch)),
            ("places", places.into()),
            ("together.each", shared(|[.., each]| *each)),
            ("together.run", shared(|[run, ..]| *run)),
            ("together.switch", shared(|[_, switch, _]| *switch)),
        ])
    });
    Ok(engines.collect())
}
