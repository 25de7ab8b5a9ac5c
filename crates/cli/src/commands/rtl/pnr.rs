// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill rtl pnr`: finds the clock frequency of a design on an FPGA that open tools route.

use ringmill_hdl::Effort;
use serde_json::json;

use super::{design, open};
use crate::args::rtl::PnrArgs;
use crate::error::CliError;
use crate::output;

pub fn pnr(args: &PnrArgs) -> Result<(), CliError> {
    let hdl = open()?;
    let design = design::find(hdl.sources(), &args.design)?;
    let effort = Effort {
        mhz: args.mhz,
        seed: args.seed,
    };
    let made = hdl.place(&design.top, effort)?;
    if args.json {
        return output::json(&json!({
            "design": design.name, "machine": design.machine, "placement": made,
        }));
    }
    let mut text = format!("{}\n  {:<20} {:>8.1}\n", made.top, "clock, MHz", made.mhz);
    for (name, count) in [
        ("LUT4", made.lut4),
        ("FF", made.ff),
        ("MULT18X18D", made.dsp),
        ("DP16KD", made.bram),
    ] {
        text += &format!("  {name:<20} {count:>8}\n");
    }
    let path = &made.path;
    text += &format!(
        "  slowest path: {:.1} ns in logic and {:.1} ns in wires, from {} to {}\n",
        path.logic, path.wires, path.from, path.to
    );
    output::text(&format!(
        "{text}{}; Yosys (pyosys {}), nextpnr {}, seed {}, aimed at {} MHz; with a register at every port.\n",
        made.device,
        made.versions.pyosys,
        made.versions.nextpnr.as_deref().unwrap_or_default(),
        effort.seed,
        effort.mhz
    ))
}
