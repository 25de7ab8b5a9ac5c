// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill rtl synth`: counts the resources that a design takes.

use ringmill_hdl::{Area, Family, Hdl, Synthesis};
use serde_json::json;

use super::design::Design;
use super::{design, open};
use crate::args::rtl::{SynthArgs, Target};
use crate::error::CliError;
use crate::output;

pub fn synth(args: &SynthArgs) -> Result<(), CliError> {
    let hdl = open()?;
    let design = design::find(hdl.sources(), &args.design)?;
    match args.target {
        Target::Xc7 => fpga(&hdl, &design, Family::Xc7, args.json),
        Target::Xcup => fpga(&hdl, &design, Family::Xcup, args.json),
        Target::Asic => asic(&hdl, &design, args.json),
    }
}

fn fpga(hdl: &Hdl, design: &Design, family: Family, as_json: bool) -> Result<(), CliError> {
    let made = hdl.synthesise_for(&design.top, family)?;
    if as_json {
        return output::json(&json!({
            "design": design.name, "machine": design.machine, "synthesis": made, "note": family.note(),
        }));
    }
    output::text(&fpga_table(&made))
}

const ASIC_NOTE: &str = "cells only, before placement: no wires, no clock tree";

fn asic(hdl: &Hdl, design: &Design, as_json: bool) -> Result<(), CliError> {
    let made = hdl.area(&design.top)?;
    if as_json {
        return output::json(&json!({
            "design": design.name, "machine": design.machine, "area": made, "note": ASIC_NOTE,
        }));
    }
    output::text(&asic_table(&made))
}

fn asic_table(made: &Area) -> String {
    let library = &made.library;
    let mut text = format!(
        "{}\n  {:<20} {:>12.0}\n  {:<20} {:>12.0}\n",
        made.top, "area, um^2", made.area, "NAND2 equivalents", made.gates
    );
    if made.memory_bits > 0 {
        text += &format!(
            "  {:<20} {:>12}  (not in the area)\n",
            "memory bits", made.memory_bits
        );
    }
    let volts = library
        .voltage
        .map(|v| format!(", {v} V"))
        .unwrap_or_default();
    let degrees = library
        .temperature
        .map(|t| format!(", {t} C"))
        .unwrap_or_default();
    text + &format!(
        "{} ({}), {} corner{volts}{degrees}, a NAND2 is {} um^2; Yosys (pyosys {}) and abc; {ASIC_NOTE}.\n",
        library.name, library.source, library.corner, library.nand2, made.versions.pyosys
    )
}

/// Returns a text with a line for each counted FPGA resource.
fn fpga_table(made: &Synthesis) -> String {
    let (r, family) = (&made.resources, made.family);
    let (dsp, rows) = match family {
        Family::Xc7 => ("DSP48E1", &[][..]),
        Family::Xcup => ("DSP48E2", &[("UltraRAM", r.uram)][..]),
    };
    let mut lines = vec![
        ("LUT", r.lut.to_string()),
        ("LUT as memory", r.lut_memory.to_string()),
        ("FF", r.ff.to_string()),
        ("CARRY4", r.carry4.to_string()),
        ("MUXF7, 8, 9", r.muxf.to_string()),
        (dsp, r.dsp.to_string()),
        ("block RAM, 36 Kbit", format!("{}", r.bram18 as f64 / 2.0)),
    ];
    lines.extend(rows.iter().map(|(name, count)| (*name, count.to_string())));
    lines.extend(
        r.other
            .iter()
            .map(|(cell, count)| (cell.as_str(), count.to_string())),
    );
    let mut text = format!("{}\n", made.top);
    for (name, count) in lines {
        text += &format!("  {name:<20} {count:>8}\n");
    }
    text + &format!(
        "Yosys (pyosys {}), synth_xilinx -family {family}; {}.\n",
        made.versions.pyosys,
        family.note()
    )
}
