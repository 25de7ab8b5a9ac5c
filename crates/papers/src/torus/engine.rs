// SPDX-License-Identifier: Apache-2.0
//! Our bootstrapping engines, as rows of `data/torus.toml` describe them. Cycles come from the model, which lockstep
//! holds to the RTL. Resources come from synthesis of the engine's modules, or from the description's needs.

use ringmill_hdl::parts::Part;
use ringmill_hdl::torus::parts::{parts, unit};
use ringmill_machines::Machine;
use ringmill_machines::fpga::Resource;
use ringmill_machines::torus::{Description, SHIPPED, Schedule, TorusMachine};
use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};

use crate::area::{area, needed};
use crate::error::PaperError;
use crate::mapping::Mapping;
use crate::scope::{Record, Scope, fields, record};
use crate::value::{Value, counted, model};

/// log2 of the butterflies of the widest unit whose LUT and FF are synthesised. In a wider engine the module that
/// rotates accumulators was not mapped to an FPGA's cells.
const WIDEST: u32 = 6;

/// Returns the description of the engine that the current row of `data/torus.toml` names: one that Ringmill ships, with
/// the row's own values of some fields, `set.unroll` for instance. With `cheapest` the row asks for the schedule of
/// least cost, which has no effect on the schedule `pairs`. Returns `None` if the row has no engine of ours.
///
/// # Errors
/// Fails if no shipped engine has the name, or if a value of the row is refused.
pub fn described(at: &Scope<'_>) -> Result<Option<Description>, PaperError> {
    let name = at.text("name")?;
    if name.is_empty() {
        return Ok(None);
    }
    let found = SHIPPED.iter().find(|(known, _)| *known == name);
    let (_, text) = found.ok_or_else(|| PaperError::Tables(format!("no engine `{name}`")))?;
    let mut d = Description::read(text)?;
    let own = |field: &str| at.number(&format!("set.{field}?"));
    for (field, value) in [
        ("dim", &mut d.dim),
        ("levels", &mut d.levels),
        ("unroll", &mut d.unroll),
        ("units", &mut d.units),
        ("places", &mut d.places),
        ("group", &mut d.group),
        ("key_beats", &mut d.key_beats),
        ("cores", &mut d.switch.cores),
    ] {
        *value = own(field)?.known().map_or(*value, |own| own as usize);
    }
    for (field, value) in [("log_lanes", &mut d.log_lanes), ("log_pos", &mut d.log_pos)] {
        *value = own(field)?.known().map_or(*value, |own| own as u32);
    }
    let rate = &mut d.key.gbyte_per_second;
    *rate = own("rate")?.known().unwrap_or(*rate);
    d.clock_mhz = own("clock_mhz")?.known().unwrap_or(d.clock_mhz);
    if let Value::Text(schedule) = at.evaluate("set.schedule?")? {
        let schedule = Schedule::deserialize(StrDeserializer::<Error>::new(&schedule));
        d.schedule = schedule.map_err(|reason| PaperError::Tables(reason.to_string()))?;
    }
    let cheapest = at.number("cheapest?")?.known() == Some(1.0);
    Ok(Some(match d.schedule {
        Schedule::Sums | Schedule::Coefficients if cheapest => d.cheapest()?,
        Schedule::Sums | Schedule::Coefficients | Schedule::Pairs => d,
    }))
}

/// Returns the description of the row's engine. A row without an engine of ours is an error.
///
/// # Errors
/// Fails as [`described`] does, and for a row without an engine of ours.
pub fn one(at: &Scope<'_>) -> Result<Description, PaperError> {
    described(at)?.ok_or_else(|| PaperError::Tables("a row without an engine".to_owned()))
}

/// Returns the fields of the row's engine, and the bytes of its bootstrapping key.
///
/// # Errors
/// Fails as [`one`] does.
pub fn description(at: &Scope<'_>) -> Result<Record, PaperError> {
    let d = one(at)?;
    let mut found = fields(&d)?;
    found.insert("key_bytes".to_owned(), d.shape()?.key_bytes().into());
    Ok(found)
}

/// Returns a record without figures, for a design in the tables of the paper of Kong and Li that is not ours.
fn none() -> Record {
    let others = ["engine.cycles", "engine.each", "places"].map(str::to_owned);
    let names = area(None).into_keys().chain(others);
    names.map(|name| (name, Value::None)).collect()
}

/// Returns the resources of an engine's hardware parts, or `None` if they are not mapped.
///
/// # Errors
/// Fails if Yosys cannot map a part.
pub fn synthesis(mapping: &Mapping<'_>, parts: &[Part]) -> Result<Option<Record>, PaperError> {
    let found = mapping.resources(parts)?;
    Ok(found.map(|found| area(Some(&found))))
}

/// Returns cycles and resources of a transform unit of the row's engine, as in Table IV of the paper of Kong and Li.
///
/// # Errors
/// Fails as [`described`] does, and if Yosys cannot map a part.
pub fn transform(at: &Scope<'_>, mapping: &Mapping<'_>) -> Result<Record, PaperError> {
    let Some(d) = described(at)? else {
        return Ok(none());
    };
    let parts = unit(d.log_n, d.log_lanes);
    let mut found = synthesis(mapping, &parts)?.unwrap_or_else(|| area(None));
    let cycles = model(d.shape()?.transform_cycles());
    found.insert("engine.cycles".to_owned(), cycles);
    Ok(found)
}

/// Returns the cycles of a whole bootstrap on the row's engine, with its load, key switch and output, and the engine's
/// resources.
///
/// # Errors
/// Fails as [`described`] does, and if Yosys cannot map a part.
pub fn engine(at: &Scope<'_>, mapping: &Mapping<'_>) -> Result<Record, PaperError> {
    let Some(d) = described(at)? else {
        return Ok(none());
    };
    let machine = TorusMachine::new(d)?;
    let shape = machine.shape();
    let taken = match shape.sizes().log_lanes <= WIDEST {
        true => synthesis(mapping, &parts(shape))?,
        false => None,
    };
    let mut found = taken.unwrap_or_else(|| {
        let mut found = area(None);
        found.extend(record([
            ("area.dsp", counted(needed(machine.fit(), Resource::Dsp))),
            (
                "area.bram",
                counted(needed(machine.fit(), Resource::BlockRam)),
            ),
        ]));
        found
    });
    let places = shape.sizes().places;
    let each = match places {
        1 => Value::None,
        _ => model(machine.bootstraps(places, true).div_ceil(places as u64)),
    };
    found.extend(record([
        ("engine.cycles", model(machine.bootstraps(1, true))),
        ("engine.each", each),
        ("places", places.into()),
    ]));
    Ok(found)
}
