// SPDX-License-Identifier: Apache-2.0
//! Figures of bootstrapping keys for the shipped engines: the order in which Kong and Li's engine computes a step, the
//! rates at which keys arrive, and the key switch with masks that are secure.

use ringmill_circuits::tfhe::{Decomposition, Params};
use ringmill_hdl::torus::parts::switch;
use ringmill_machines::torus::keyswitch::{self, Command, Digits, Floor, Generators};
use ringmill_machines::torus::{
    Description, SHIPPED, Schedule, TorusMachine, give_cycles, load_cycles, run,
};

use super::{engine, gate};
use crate::error::PaperError;
use crate::mapping::Mapping;
use crate::scope::{Record, Scope, record};
use crate::value::{counted, model, stated};

/// The rates at which a key can arrive, in GB/s: PCIe 3.0 and 4.0 with 16 lanes, and the board's high-bandwidth memory.
const RATES: [f64; 3] = [15.74, 31.5, 460.0];

/// Returns the description that Ringmill ships for the engine that the current row of `data/torus.toml` names.
pub fn shipped(at: &Scope<'_>) -> Result<Description, PaperError> {
    let name = at.text("name")?;
    let found = SHIPPED.iter().find(|(known, _)| *known == name);
    let (_, text) = found.ok_or_else(|| PaperError::Internal(format!("no engine `{name}`")))?;
    Ok(Description::read(text)?)
}

/// Returns the rate in GB/s at which an engine reads outside memory: the engine that the current row of
/// `data/torus.toml` names.
pub fn rate(at: &Scope<'_>) -> Result<Record, PaperError> {
    Ok(record([(
        "rate",
        stated(shipped(at)?.key.gbyte_per_second),
    )]))
}

/// Returns the cycles of each part of a bootstrap's step in the order of Kong and Li's engine. The current row of
/// `data/torus.toml` has the number m of secret bits in a step, the clock and the link.
pub fn own_order(at: &Scope<'_>) -> Result<Record, PaperError> {
    let mut d = Description::read(Description::PAPER)?;
    d.unroll = at.count("m")?;
    d.clock_mhz = at.size("mhz")?;
    d.key.gbyte_per_second = at.size("rate")?;
    let machine = TorusMachine::new(d)?;
    let shape = machine.shape();
    let (steps, extraction) = (shape.steps() as u64, shape.degree() as u64 + 1);
    let rotation = run(shape, 1, || true).cycles;
    let (load, switch) = (load_cycles(shape), machine.switch(1));
    let fed = rotation + load + switch + give_cycles(shape);
    let at_link = machine.bootstraps(1, true);
    let late = 100 * at_link.saturating_sub(fed) / at_link;
    Ok(record([
        ("n", (shape.sizes().dim as f64).into()),
        ("N", (shape.degree() as f64).into()),
        ("levels", (shape.switch().digits().levels as f64).into()),
        ("steps", (steps as f64).into()),
        ("load", model(load)),
        ("transform", model(shape.transform_cycles())),
        ("groups", model(shape.groups())),
        ("step", model((rotation - extraction) / steps)),
        ("switch", model(switch)),
        ("fed", model(fed)),
        ("at_link", model(at_link)),
        ("late_percent", (late as f64).into()),
    ]))
}

/// Returns an engine's description with keys of m = `unroll` secret bits in each step.
fn unrolled(mut d: Description, unroll: usize) -> Result<Description, PaperError> {
    d.unroll = unroll;
    match d.schedule {
        Schedule::Pairs => Ok(d),
        Schedule::Sums | Schedule::Coefficients => Ok(d.cheapest()?),
    }
}

/// Returns the cycles of the shipped engines with keys of m = 1 to 3 secret bits in each step.
pub fn engines() -> Result<Vec<Record>, PaperError> {
    let mut found = Vec::new();
    for (name, text) in SHIPPED {
        for m in 1..=3 {
            let d = unrolled(Description::read(text)?, m)?;
            let form = match d.schedule {
                Schedule::Coefficients => ", bundled in coefficient form",
                Schedule::Sums | Schedule::Pairs => "",
            };
            found.push(record([
                ("name", (*name).into()),
                ("m", (m as f64).into()),
                ("form", form.into()),
                ("key_bytes", (d.shape()?.key_bytes() as f64).into()),
            ]));
        }
    }
    Ok(found)
}

/// Returns the cycles of one ciphertext alone and of several interleaved ones, on the engine that the current row of
/// `data/torus.toml` names. They are given for a key that is never late and for a key at each of the rates.
pub fn runs(at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
    let mut d = unrolled(shipped(at)?, at.count("m")?)?;
    let shape = d.shape()?;
    let places = shape.sizes().places;
    let counts: &[usize] = if places == 1 { &[1] } else { &[1, places] };
    let mut found = Vec::new();
    for &together in counts {
        let among = match together {
            1 => "alone".to_owned(),
            together => format!("each of {together}"),
        };
        let mut push = |feed: String, cycles: u64, bound: String| {
            found.push(record([
                ("among", among.as_str().into()),
                ("feed", feed.into()),
                ("cycles", model(cycles.div_ceil(together as u64))),
                ("bound", bound.into()),
            ]));
        };
        let fed = run(shape, together, || true).cycles;
        push("the key never late".to_owned(), fed, String::new());
        for rate in RATES {
            d.key.gbyte_per_second = rate;
            let cycles = run(shape, together, d.key_rate()?.offers()).cycles;
            let share = 100.0 * cycles.saturating_sub(fed) as f64 / cycles as f64;
            let bound = match share >= 1.0 {
                true => format!("bound by the key, which it waits for in {share:.0} % of them"),
                false => String::new(),
            };
            push(format!("{rate} GB/s"), cycles, bound);
        }
    }
    Ok(found)
}

/// Returns the cycles and key bytes of our key switch. The masks of its key are made on the chip from a public seed,
/// and differ in every row.
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
    let mut found = engine::synthesis(mapping, &switch(shape))?.unwrap_or_else(engine::none);
    found.extend(record([
        ("fails", counted(set.failure_log2())),
        ("mask_words", counted(floor.mask_words)),
        ("stream_blocks", counted(floor.blocks)),
        ("floor_cycles", counted(floor.cycles(shape))),
        ("cycles", model(keyswitch::cycles(shape, command))),
    ]));
    Ok(found)
}
