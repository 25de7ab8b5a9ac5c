// SPDX-License-Identifier: Apache-2.0
//! Engines of the 128-bit set: whole bootstraps, runs and key switches by the model, the key never late, beside their floors.

use ringmill_machines::torus::keyswitch::{Digits, Floor, Generators};
use ringmill_machines::torus::{
    Description, KeySwitch, Schedule, Shape, Sizes, give_cycles, load_cycles, run, switch_cycles,
};

use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};

const TABLE: &str =
    "The 128-bit set: engines, n = 630, N = 1024, l = 3, whole bootstraps, the key never late";

/// DSP blocks of a multiplier modulo p.
const DSP: u64 = 6;

/// An engine, for one ciphertext and for several interleaved.
struct Engine {
    case: String,
    alone: Shape,
    together: Option<Shape>,
}

/// A shipped description, all of whose places are interleaved.
fn shipped(name: &str, text: &str) -> Result<Engine, PaperError> {
    let shape = Description::read(text)?.shape()?;
    Ok(Engine {
        case: format!("`{name}`"),
        alone: shape,
        together: Some(shape),
    })
}

/// Three units of 32 butterflies and 20 generators, m secret bits a step, products for `2^log_pos` positions.
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

/// A ciphertext's share of whole bootstraps of all places, its load and its result among them.
fn each(shape: Shape) -> u64 {
    let places = shape.sizes().places;
    let together = run(shape, places, || true).cycles + switch_cycles(shape, places);
    load_cycles(shape) + together.div_ceil(places as u64) + give_cycles(shape)
}

/// The same of one ciphertext alone.
fn alone(shape: Shape) -> u64 {
    let taken = run(shape, 1, || true).cycles + switch_cycles(shape, 1);
    load_cycles(shape) + taken + give_cycles(shape)
}

pub fn rows() -> Result<Vec<Row>, PaperError> {
    let mut found = Vec::new();
    for engine in engines()? {
        let shape = engine.alone;
        let sizes = shape.sizes();
        let mut push = |metric: &str, unit, value: f64, how| {
            let ours = Ours::Is(value, how);
            found.push(Row::new(
                TABLE,
                engine.case.as_str(),
                metric,
                unit,
                None,
                ours,
            ));
        };
        let (products, weighing) = shape.multipliers();
        let butterflies = shape.butterflies();
        for (metric, count) in [
            ("butterflies", butterflies),
            (
                "multipliers of products, and of weights",
                products + weighing,
            ),
            ("DSP", DSP * (butterflies + products + weighing)),
            ("generators", sizes.switch.generators.cores as u64),
            ("secret bits of a step", sizes.unroll as u64),
        ] {
            push(metric, "", count as f64, How::Counted);
        }
        let (by_butterflies, by_products) = shape.floors();
        let of_masks = Floor::of(shape.degree(), sizes.switch.digits.levels, sizes.dim);
        let masks = of_masks
            .blocks
            .div_ceil(sizes.switch.generators.cores as u64);
        for (metric, cycles) in [
            ("floor of a step by butterflies", by_butterflies),
            ("floor of a step by products", by_products),
            (
                "floor of the rotation",
                shape.steps() as u64 * by_butterflies.max(by_products),
            ),
            ("floor of the masks", masks),
        ] {
            push(metric, "cycles", cycles as f64, How::Counted);
        }
        for (metric, cycles) in [
            ("bootstrap alone", alone(shape)),
            ("run alone", run(shape, 1, || true).cycles),
            ("switch alone", switch_cycles(shape, 1)),
        ] {
            push(metric, "cycles", cycles as f64, How::Model);
        }
        let Some(together) = engine.together else {
            continue;
        };
        let places = together.sizes().places;
        push("interleaved", "", places as f64, How::Counted);
        for (metric, cycles) in [
            ("bootstrap, each interleaved", each(together)),
            ("run of all", run(together, places, || true).cycles),
            ("switch of all", switch_cycles(together, places)),
        ] {
            push(metric, "cycles", cycles as f64, How::Model);
        }
    }
    Ok(found)
}
