// SPDX-License-Identifier: Apache-2.0
//! What `ring-stored` must not exceed, and whether it does: the paper's ultra RAM and DSP, 192 block RAMs an RPAU, three quarters of
//! the U250's look-up tables.

use ringmill_hdl::Resources;
use ringmill_hdl::ring::parts::those;

use super::area::{elaborated, of_width, whole};
use super::paper::Ring;
use crate::error::PaperError;
use crate::figure::How;
use crate::mapping::Mapping;
use crate::row::{Ours, Row};

const TABLE: &str = "Table 3: bars for ring-stored (in the paper's place)";
/// Look-up tables of the Alveo U250 (DS962), and how many of them a machine may take.
const U250_LUT: f64 = 1_728_000.0;
const MOST_LUT: f64 = 0.75 * U250_LUT;
/// Block RAM of an RPAU.
const MOST_BLOCK_RAM: f64 = 192.0;

/// A row a bar; without synthesis nothing is said.
pub fn rows(paper: &Ring, mapping: &Mapping<'_>) -> Result<Vec<Row>, PaperError> {
    let machine = elaborated()?;
    let uram = |r: &Resources| r.uram as f64;
    let bram = |r: &Resources| r.bram18 as f64 / 2.0;
    let mut rows = Vec::new();
    let mut bar = |case: String, metric: &str, most: f64, found: Option<f64>| {
        if let Some(value) = found {
            let ours = Ours::Is(value, How::Synthesis);
            let row = Row::new(TABLE, case, metric, "", Some(most), ours);
            rows.push(row.remarked(verdict(value, most)));
        }
    };
    for (bits, printed) in [(60, paper.rpau_60.uram), (54, paper.rpau_54.uram)] {
        if let Some(parts) = of_width(&machine, bits) {
            let found = mapping.resources(&those(parts, None))?;
            let case = format!("RPAU of {bits} bits");
            bar(case, "ultra RAM", printed, found.as_ref().map(uram));
        }
    }
    for (number, (_, parts)) in machine.rpaus.iter().enumerate() {
        let found = mapping.resources(&those(parts, None))?;
        let case = format!("RPAU {number}");
        bar(case, "block RAM", MOST_BLOCK_RAM, found.as_ref().map(bram));
    }
    let found = mapping.resources(&whole(&machine))?;
    let found = found.as_ref();
    let all = || "ten RPAUs and what they share".to_owned();
    bar(all(), "ultra RAM", paper.taken.uram, found.map(uram));
    bar(all(), "DSP", paper.taken.dsp, found.map(|r| r.dsp as f64));
    let lut = found.map(|r| r.lut_places() as f64);
    bar(all(), "LUT", MOST_LUT, lut);
    Ok(rows)
}

/// Whether a figure is within its bar, or by how much not.
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
