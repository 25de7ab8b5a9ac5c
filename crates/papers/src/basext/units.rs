// SPDX-License-Identifier: Apache-2.0
//! Tables 4.7 to 4.9: eighteen units with one target each.

use ringmill_hdl::basext::top;
use ringmill_hdl::{Family, Hdl};
use ringmill_machines::fpga::{Part, Resource};
use ringmill_runtime::shown::Parts;

use super::cycles::{Cycles, shape, word};
use super::paper::{Basext, UnitRow};
use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};

const TABLES: [&str; 3] = [
    "Table 4.7: N = 2^16, l = 17, one target",
    "Table 4.8: N = 2^14, l = 7, one target",
    "Table 4.9: N = 2^12, l = 30, one target",
];
/// Of both, for the area-time product: nanoseconds.
const PERIOD_NS: f64 = 5.0;

pub fn rows(
    paper: &Basext,
    cycles: &Cycles<'_>,
    synthesis: Option<&Hdl>,
    parts: &mut Parts<'_>,
) -> Result<Vec<Row>, PaperError> {
    let mut found = Vec::new();
    for (number, row) in paper.rows.iter().enumerate() {
        let Some(&table) = TABLES.get(number / 6) else {
            continue;
        };
        found.extend(of_unit(table, row, cycles, synthesis)?);
        parts.done();
    }
    Ok(found)
}

/// What a netlist takes: LUT, FF, levels of the longest path.
struct Netlist {
    lut: f64,
    ff: f64,
    bram: f64,
    dsp: f64,
    levels: f64,
}

fn of_unit(
    table: &'static str,
    &(log_n, l, bits, lanes, klut, kff, bram, dsp, t_min, printed, us, area_time): &UnitRow,
    cycles: &Cycles<'_>,
    synthesis: Option<&Hdl>,
) -> Result<Vec<Row>, PaperError> {
    let unit = shape(word(bits), lanes, log_n, l, 1)?;
    let ours = cycles.exact(unit, l, 1, log_n)?;
    let netlist = synthesis
        .map(|hdl| -> Result<Netlist, PaperError> {
            let top = top(unit);
            let found = hdl.synthesise_for(&top, Family::Xcup)?.resources;
            Ok(Netlist {
                lut: (found.lut + found.lut_memory) as f64,
                ff: found.ff as f64,
                bram: found.bram18 as f64 / 2.0 + 8.0 * found.uram as f64,
                dsp: found.dsp as f64,
                levels: f64::from(hdl.levels(&top, Family::Xcup)?.paths.levels()),
            })
        })
        .transpose()?;
    // Without a netlist: what the machine's description would need.
    let fit = unit.needs("basext", Part::named("U280")?).fit()?;
    let needed = |of| {
        let total = fit.totals.iter().find(|total| total.resource == of);
        total.map_or(0.0, |total| total.used)
    };
    let case = format!("{bits} bits, TP = {lanes}");
    let row = |metric: &str, unit, printed, ours| {
        Row::new(table, case.as_str(), metric, unit, printed, ours)
    };
    let made = |value: fn(&Netlist) -> f64| match &netlist {
        Some(netlist) => Ours::Is(value(netlist), How::Synthesis),
        None => Ours::NotMeasured,
    };
    let counted = |value: fn(&Netlist) -> f64, of| match &netlist {
        Some(netlist) => Ours::Is(value(netlist), How::Synthesis),
        None => Ours::Is(needed(of), How::Model),
    };
    let area = |lut: f64, ff: f64, dsp: f64, bram: f64| lut + ff / 2.0 + 100.0 * dsp + 300.0 * bram;
    let product = match (&netlist, ours) {
        (Some(n), Ours::Is(cycles, _)) => {
            let time = cycles * PERIOD_NS / 1e3;
            let millions = time * area(n.lut, n.ff, n.dsp, n.bram) / 1e6;
            Ours::Is(millions, How::Synthesis)
        }
        _ => Ours::NotMeasured,
    };
    let theirs = area(1e3 * klut, 1e3 * kff, dsp, bram) * printed * PERIOD_NS / 1e9;
    let time = match ours {
        Ours::Is(cycles, how) => Ours::Is(cycles * PERIOD_NS / 1e3, how),
        Ours::AtPapersClock(..) | Ours::NotMeasured | Ours::None => ours,
    };
    Ok(vec![
        row("cycles", "cycles", Some(printed), ours),
        row("time at t_min", "us", Some(us), Ours::NotMeasured),
        row(
            "time at 200 MHz",
            "us",
            Some(printed * PERIOD_NS / 1e3),
            time,
        ),
        row("t_min", "ns", Some(t_min), Ours::NotMeasured),
        row(
            "LUT levels of the longest path",
            "",
            None,
            made(|n| n.levels),
        ),
        row("LUT", "", Some(1e3 * klut), made(|n| n.lut)),
        row("FF", "", Some(1e3 * kff), made(|n| n.ff)),
        row(
            "block RAM, 36 Kbit",
            "",
            Some(bram),
            counted(|n| n.bram, Resource::BlockRam),
        ),
        row("DSP", "", Some(dsp), counted(|n| n.dsp, Resource::Dsp)),
        row(
            "area-time product at t_min",
            "millions",
            Some(area_time),
            Ours::NotMeasured,
        ),
        row(
            "area-time product at 200 MHz",
            "millions",
            Some(theirs),
            product,
        ),
    ])
}
