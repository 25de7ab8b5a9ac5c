// SPDX-License-Identifier: Apache-2.0
//! Figures of bootstrapping keys for the shipped engines: the order in which Kong and Li's engine computes a step, the
//! rates at which keys arrive, and the key switch with masks that are secure.

use ringmill_circuits::tfhe::{Decomposition, Params};
use ringmill_hdl::torus::parts::switch;
use ringmill_machines::torus::keyswitch::{self, Command, Digits, Floor, Generators};
use ringmill_machines::torus::{TorusMachine, give_cycles, load_cycles, run};

use super::{engine, gate};
use crate::area::area;
use crate::error::PaperError;
use crate::mapping::Mapping;
use crate::scope::{Record, Scope, record};
use crate::value::{counted, model};

/// The rates at which a key can arrive, in GB/s: PCIe 3.0 and 4.0 with 16 lanes, and the board's high-bandwidth memory.
const RATES: [f64; 3] = [15.74, 31.5, 460.0];

/// Returns the cycles of each part of a bootstrap's step on the engine that the current row of `data/torus.toml` names.
///
/// # Errors
/// Fails as [`engine::one`] does, and if the machine cannot be built.
pub fn order(at: &Scope<'_>) -> Result<Record, PaperError> {
    let machine = TorusMachine::new(engine::one(at)?)?;
    let shape = machine.shape();
    let (steps, extraction) = (shape.steps() as u64, shape.degree() as u64 + 1);
    let rotation = run(shape, 1, || true).cycles;
    let (load, switch) = (load_cycles(shape), machine.switch(1));
    let fed = rotation + load + switch + give_cycles(shape);
    let at_link = machine.bootstraps(1, true);
    let late = 100 * at_link.saturating_sub(fed) / at_link;
    Ok(record([
        ("n", shape.sizes().dim.into()),
        ("N", shape.degree().into()),
        ("levels", shape.switch().digits().levels.into()),
        ("steps", steps.into()),
        ("load", model(load)),
        ("transform", model(shape.transform_cycles())),
        ("groups", model(shape.groups())),
        ("step", model((rotation - extraction) / steps)),
        ("switch", model(switch)),
        ("fed", model(fed)),
        ("at_link", model(at_link)),
        ("late_percent", late.into()),
    ]))
}

/// Returns the cycles of the blind rotation and extraction of one ciphertext alone and of as many interleaved ones as
/// the engine has places. The current row of `data/torus.toml` names the engine. They are given for a key that is never
/// late and for a key at each of the rates.
///
/// # Errors
/// Fails as [`engine::one`] does.
pub fn runs(at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
    let mut d = engine::one(at)?;
    let shape = d.shape()?;
    let places = shape.sizes().places;
    let counts: &[usize] = if places == 1 { &[1] } else { &[1, places] };
    let mut found = Vec::new();
    for &together in counts {
        let fed = run(shape, together, || true).cycles;
        let mut push = |rate: Option<f64>, cycles: u64| {
            found.push(record([
                ("together", together.into()),
                ("rate", rate.into()),
                ("cycles", cycles.into()),
                ("late", cycles.saturating_sub(fed).into()),
                ("each", model(cycles.div_ceil(together as u64))),
            ]));
        };
        push(None, fed);
        for rate in RATES {
            d.key.gbyte_per_second = rate;
            push(
                Some(rate),
                run(shape, together, d.key_rate()?.offers()).cycles,
            );
        }
    }
    Ok(found)
}

/// Returns the cycles and key bytes of our key switch. The masks of its key are made on the chip from a public seed,
/// and differ in every row.
///
/// # Errors
/// Fails if the row lacks a number, if no unit has these sizes, or if Yosys cannot map the unit.
pub fn switched(
    at: &Scope<'_>,
    params: &Params,
    mapping: &Mapping<'_>,
) -> Result<Record, PaperError> {
    let (large, small) = (params.sizes().large_dimension(), params.sizes().n.0);
    let (batch, log_base, levels) = (at.count("batch")?, at.count("base")? as u32, at.count("t")?);
    let generators = Generators {
        cores: at.count("blocks")?,
        rounds: 20,
        steps: 2,
    };
    let digits = Digits { log_base, levels };
    let refused = |e| PaperError::Internal(format!("a unit of Section III-C: {e}"));
    let shape = keyswitch::Shape::new(batch, generators, digits, (large, small));
    let shape = shape.map_err(refused)?;
    let size = |dimension: usize| {
        let refused = |_| PaperError::Internal(format!("a dimension of {dimension}"));
        u16::try_from(dimension).map_err(refused)
    };
    let command = Command {
        large: size(large)?,
        small: size(small)?,
        count: batch as u8,
    };
    let floor = Floor::of(large, levels, small);
    let set = gate::with_digits(Decomposition { log_base, levels })?;
    let mut found = engine::synthesis(mapping, &switch(shape))?.unwrap_or_else(|| area(None));
    found.extend(record([
        ("fails", counted(set.failure_log2())),
        ("mask_words", counted(floor.mask_words)),
        ("stream_blocks", counted(floor.blocks)),
        ("floor_cycles", counted(floor.cycles(shape))),
        ("cycles", model(keyswitch::cycles(shape, command))),
    ]));
    Ok(found)
}
