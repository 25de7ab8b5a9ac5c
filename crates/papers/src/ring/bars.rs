// SPDX-License-Identifier: Apache-2.0
//! Checks the machine `ring-stored` against the resource limits of its design. The limits are the ultra RAM and the DSP
//! slices that the Medha paper states, 192 block RAMs in an RPAU (residue polynomial arithmetic unit), and three
//! quarters of the U250's look-up tables.

use ringmill_hdl::Resources;
use ringmill_hdl::ring::parts::those;

use super::area::{elaborated, of_width, whole};
use crate::error::PaperError;
use crate::mapping::Mapping;
use crate::scope::{Record, Scope, record};
use crate::value::synthesised;

/// The formula of the machine's limit of look-up tables: three quarters of the Alveo U250's (DS962).
const MOST_LUT: &str = "0.75 * 1728000";
/// The limit of block RAMs in one RPAU (residue polynomial arithmetic unit).
const MOST_BLOCK_RAM: &str = "192";

/// A resource limit: the part of the machine, the resource, a formula of the limit, and the amount that the part takes.
pub struct Bar {
    part: String,
    resource: &'static str,
    most: String,
    taken: f64,
}

/// Returns the limits with the amounts that the machine takes, or an empty list without synthesis.
pub fn taken(mapping: &Mapping<'_>) -> Result<Vec<Bar>, PaperError> {
    let machine = elaborated()?;
    let uram = |r: &Resources| r.uram as f64;
    let mut bars = Vec::new();
    let mut bar = |part: String, resource, most: &str, taken: Option<f64>| {
        bars.extend(taken.map(|taken| Bar {
            part,
            resource,
            most: most.to_owned(),
            taken,
        }));
    };
    for bits in [60, 54] {
        if let Some(parts) = of_width(&machine, bits) {
            let found = mapping.resources(&those(parts, None))?;
            let (part, most) = (format!("RPAU of {bits} bits"), format!("rpau_{bits}.uram"));
            bar(part, "ultra RAM", &most, found.as_ref().map(uram));
        }
    }
    for (number, (_, parts)) in machine.rpaus.iter().enumerate() {
        let found = mapping.resources(&those(parts, None))?;
        let bram = found.map(|r| r.bram18 as f64 / 2.0);
        bar(format!("RPAU {number}"), "block RAM", MOST_BLOCK_RAM, bram);
    }
    let found = mapping.resources(&whole(&machine))?;
    let found = found.as_ref();
    let all = || "ten RPAUs and what they share".to_owned();
    bar(all(), "ultra RAM", "uram", found.map(uram));
    bar(all(), "DSP", "dsp", found.map(|r| r.dsp as f64));
    let lut = found.map(|r| r.lut_places() as f64);
    bar(all(), "LUT", MOST_LUT, lut);
    Ok(bars)
}

/// Returns each limit with the taken amount and a verdict, for the rows of the table.
pub fn bars(at: &Scope<'_>, mapping: &Mapping<'_>) -> Result<Vec<Record>, PaperError> {
    let bars = taken(mapping)?.into_iter().map(|bar| {
        let most = at.size(&bar.most)?;
        Ok(record([
            ("part", bar.part.into()),
            ("resource", bar.resource.into()),
            ("most", most.into()),
            ("taken", synthesised(bar.taken)),
            ("verdict", verdict(bar.taken, most).into()),
        ]))
    });
    bars.collect()
}

/// Returns as text whether a taken amount is within its limit, and by how much it exceeds it.
pub fn verdict(value: f64, most: f64) -> String {
    match value <= most {
        true => "holds".to_owned(),
        false => format!(
            "does not hold: {} too many, {:.1} %",
            value - most,
            100.0 * (value / most - 1.0)
        ),
    }
}
