// SPDX-License-Identifier: Apache-2.0
//! Table 4: the arithmetic for Montgomery-friendly moduli beside that for any odd modulus, in standard cells of the open library. Table 6's
//! areas: units of the full machine as sums of leaves in the same library.

use std::path::Path;

use ringmill_hdl::vector::{ElementArea, comparisons, elements, saved_percent, whole_multipliers};
use ringmill_hdl::{Area, Hdl, Library};
use ringmill_machines::vector::Description;

use super::paper::Vector;
use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};

const TABLE: &str = "Table 4: areas of the arithmetic";
const UNITS: &str = "Table 6: areas of the units, sums of synthesised leaves";

/// What a reader must know of them.
pub const NOTE: &str = "Table 4: ours are in NAND gates of two inputs of the library that each row names (another node than the paper's), cells only, before \
                        placement;\nsavings are comparable, areas are not. Generic arithmetic has as many stages as ours, or (\"stages as short\") one more for each \
                        product that ours does\nnot have: its product of the modulus is twice as deep. The paper's butterfly is its whole saving; power is not \
                        estimated.\nTable 6: no unit is synthesised whole. Each is a sum of leaves, whose remark says how often which module at which size \
counts; a network is its\nfirst bit and 31 times what a second adds. Registers have enables, as the RTL has them. The library has no memory, so the \
buffer has bits alone,\nand tables of factors are left out; the register file is flip-flops. Its 0.18 um are not the paper's 12 nm: shares are comparable.\n";

fn source(library: &Library) -> String {
    format!("{}, {}", library.name, library.source)
}

/// The units of the paper's machine.
fn units(printed: &Vector, hdl: &Hdl) -> Result<Vec<Row>, PaperError> {
    let d = Description::read(Description::PAPER)?;
    let mut found = Vec::new();
    let mm2 = |name: &str| {
        let mut all = printed.elements.iter();
        let row = all.find(|(of, ..)| of == name);
        row.and_then(|(_, _, mm2, ..)| number(mm2))
    };
    for (name, ..) in &printed.elements {
        let row = Row::new(UNITS, name, "area", "mm^2", mm2(name), Ours::None);
        found.push(row.remarked("GF12; ours are below"));
    }
    let bits = Ours::Is(d.buffer_words as f64 * 32.0, How::Counted);
    let row = Row::new(UNITS, "ctb", "memory", "bits", None, bits);
    found.push(row.remarked("the library has no memory: its area is not known"));
    let mut transforms = None;
    // Transforms first: the others are shares of them.
    let mut all = elements(&d);
    all.sort_by_key(|element| element.name != "ntt");
    for element in &all {
        let Some(area) = element.area(hdl)? else {
            continue;
        };
        let ElementArea {
            um2,
            gates,
            library,
        } = &area;
        let name = element.name;
        let is = |value: f64| Ours::Is(value, How::Synthesis);
        let row = Row::new(UNITS, name, "cells, 0.18 um", "mm^2", None, is(um2 / 1e6));
        found.push(row.remarked(format!("{}: {}", source(library), element.text())));
        let row = Row::new(UNITS, name, "cells", "million gates", None, is(gates / 1e6));
        found.push(row);
        let whole = *transforms.get_or_insert(*um2);
        if name != "ntt" {
            let share = mm2(name).zip(mm2("ntt")).map(|(this, ntt)| this / ntt);
            let ours = is(um2 / whole);
            found.push(Row::new(UNITS, name, "of the transforms", "", share, ours));
        }
    }
    Ok(found)
}

fn number(value: &toml::Value) -> Option<f64> {
    let whole = value.as_integer().map(|n| n as f64);
    value.as_float().or(whole)
}

/// The rows; where there is no synthesis, not asked for or without its tools, they say so.
pub fn rows(printed: &Vector, synthesis: bool) -> Result<Vec<Row>, PaperError> {
    let mut found = Vec::new();
    for (name, um2, _) in &printed.butterfly {
        let row = Row::new(TABLE, "butterfly", name, "um^2", Some(*um2), Ours::None);
        found.push(row.remarked("GF12; ours are in gates, below"));
    }
    let hdl = match synthesis {
        true => Hdl::find(Path::new(".")).map_err(|e| e.to_string()),
        false => Err("synthesis was not asked for".to_owned()),
    };
    let hdl = match hdl {
        Ok(hdl) => hdl,
        Err(why) => {
            let saved = Some(printed.butterfly_saved_percent.area);
            let row = Row::new(TABLE, "butterfly", "saved", "%", saved, Ours::NotMeasured);
            found.push(row.remarked(why));
            return Ok(found);
        }
    };
    for comparison in comparisons() {
        let [friendly, generic, deep] = [
            hdl.area(&comparison.friendly)?,
            hdl.area(&comparison.generic)?,
            hdl.area(&comparison.deep)?,
        ];
        let source = |area: &Area| source(&area.library);
        for (metric, area) in [
            ("ours", &friendly),
            ("generic, as many stages", &generic),
            ("generic, stages as short", &deep),
        ] {
            let gates = Ours::Is(area.gates.round(), How::Synthesis);
            let row = Row::new(TABLE, comparison.what, metric, "gates", None, gates);
            found.push(row.remarked(source(area)));
        }
        let saved = match comparison.what {
            "butterfly" => Some(printed.butterfly_saved_percent.area),
            _ => None,
        };
        for (metric, than) in [
            ("saved, as many stages", &generic),
            ("saved, stages as short", &deep),
        ] {
            let percent = Ours::Is(saved_percent(friendly.area, than.area), How::Synthesis);
            found.push(Row::new(
                TABLE,
                comparison.what,
                metric,
                "%",
                saved,
                percent,
            ));
        }
    }
    let [friendly, generic] = whole_multipliers();
    let [friendly, generic] = [hdl.area(&friendly)?, hdl.area(&generic)?];
    let saved = saved_percent(friendly.area, generic.area);
    for (metric, unit, value) in [
        ("ours", "gates", friendly.gates.round()),
        ("generic, as many stages", "gates", generic.gates.round()),
        ("saved, as many stages", "%", saved),
    ] {
        let ours = Ours::Is(value, How::Synthesis);
        let row = Row::new(TABLE, "first product in one", metric, unit, None, ours);
        found.push(row.remarked("the multiplier, its first product not of tiles, on both sides"));
    }
    found.extend(units(printed, &hdl)?);
    Ok(found)
}
