//! `ringmill rtl synth`: what a design takes.

use ringmill_hdl::{Family, Synthesis};
use serde_json::json;

use super::args::{SynthArgs, Target};
use super::{design, open};
use crate::error::CliError;
use crate::output;

pub fn synth(args: &SynthArgs) -> Result<(), CliError> {
    let hdl = open()?;
    let design = design::find(&hdl, &args.design)?;
    let family = match args.target {
        Target::Xc7 => Family::Xc7,
        Target::Xcup => Family::Xcup,
    };
    let made = hdl.synthesise_for(&design.top, family)?;
    if args.json {
        return output::json(
            &json!({ "design": design.name, "machine": design.machine, "synthesis": made, "note": family.note() }),
        );
    }
    output::text(&fpga_table(&made))
}

/// The counts, a line each.
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
