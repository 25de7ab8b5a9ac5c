// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill rtl table`: measures every leaf module of the RTL, for the table of `docs/rtl.md`.

use ringmill_hdl::leaves::{Leaf, leaves};
use ringmill_hdl::{Area, Effort, Family, Hdl, HdlError, Placement, Synthesis};
use ringmill_runtime::shown::{Bar, Parts};
use serde_json::json;

use crate::args::rtl::TableArgs;
use crate::error::CliError;
use crate::output;

/// A leaf module of the RTL with all its measured figures, for the table of `docs/rtl.md`.
struct Row {
    leaf: Leaf,
    xc7: Synthesis,
    xcup: Synthesis,
    /// The module's area in standard cells, or `None` if there is no cell library.
    area: Option<Area>,
    /// The module's placement on an ECP5 FPGA, or `None` if it does not fit.
    ecp5: Option<Placement>,
}

pub fn table(args: &TableArgs) -> Result<(), CliError> {
    let hdl = super::open_quietly()?;
    let wanted: Vec<Leaf> = leaves()
        .into_iter()
        .filter(|leaf| {
            args.module
                .as_ref()
                .is_none_or(|module| leaf.top.module == *module)
        })
        .collect();
    if wanted.is_empty() {
        let mut known: Vec<String> = leaves().into_iter().map(|leaf| leaf.top.module).collect();
        known.dedup();
        return Err(CliError::Usage(format!(
            "the table has rows for {}; `{}` is none of them",
            known.join(", "),
            args.module.as_deref().unwrap_or_default()
        )));
    }
    let bar = Bar::new();
    let mut parts = Parts::new(&bar, "synthesising", wanted.len() as u64);
    let mut rows = Vec::new();
    for leaf in wanted {
        rows.push(row(&hdl, leaf)?);
        parts.done();
    }
    drop(bar);
    if args.json {
        return rows.iter().try_for_each(|row| {
            output::json(&json!({
                "what": row.leaf.what, "latency": row.leaf.latency,
                "xc7": row.xc7, "xcup": row.xcup, "area": row.area, "ecp5": row.ecp5,
            }))
        });
    }
    output::text(&markdown(&rows))
}

fn row(hdl: &Hdl, leaf: Leaf) -> Result<Row, CliError> {
    Ok(Row {
        xc7: hdl.synthesise_for(&leaf.top, Family::Xc7)?,
        xcup: hdl.synthesise_for(&leaf.top, Family::Xcup)?,
        area: match hdl.area(&leaf.top) {
            Err(HdlError::LibertyMissing { .. }) => None,
            found => Some(found?),
        },
        ecp5: match hdl.place(&leaf.top, Effort::default()) {
            Err(HdlError::Misfit { .. }) => None,
            found => Some(found?),
        },
        leaf,
    })
}

fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| module | configuration | latency | LUT | as memory | FF | DSP48E1 | RAMB18 | US+ LUT | US+ FF | DSP48E2 | \
         NAND2 | memory bits | ECP5 MHz |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for Row {
        leaf,
        xc7,
        xcup,
        area,
        ecp5,
    } in rows
    {
        let (x, u) = (&xc7.resources, &xcup.resources);
        let gates = area
            .as_ref()
            .map_or("-".to_owned(), |a| format!("{:.0}", a.gates));
        let bits = area
            .as_ref()
            .map_or("-".to_owned(), |a| a.memory_bits.to_string());
        let mhz = ecp5
            .as_ref()
            .map_or("-".to_owned(), |p| format!("{:.0}", p.mhz));
        text += &format!(
            "| `{}` | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {gates} | {bits} | {mhz} |\n",
            leaf.top.module,
            leaf.what,
            leaf.latency,
            x.lut,
            x.lut_memory,
            x.ff,
            x.dsp,
            x.bram18,
            u.lut,
            u.ff,
            u.dsp
        );
    }
    let Some(row) = rows.first() else {
        return text;
    };
    text += &format!(
        "\nYosys (pyosys {}): synth_xilinx -family xc7 and -family xcup. ",
        row.xc7.versions.pyosys
    );
    if let Some(area) = &row.area {
        text += &format!(
            "Cells: {} ({}), {} corner. ",
            area.library.name, area.library.source, area.library.corner
        );
    }
    if let Some(placed) = rows.iter().find_map(|row| row.ecp5.as_ref()) {
        text += &format!(
            "ECP5: nextpnr {}, {}, seed {}, aimed at {} MHz.",
            placed.versions.nextpnr.as_deref().unwrap_or_default(),
            placed.device,
            placed.effort.seed,
            placed.effort.mhz
        );
    }
    text + "\n"
}
