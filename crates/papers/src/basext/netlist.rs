// SPDX-License-Identifier: Apache-2.0
//! Returns the FPGA resources of a base-extension unit, by synthesis or by the machine's description.

use ringmill_hdl::basext::top;
use ringmill_hdl::{Family, Hdl};
use ringmill_machines::basext::Shape;
use ringmill_machines::fpga::{Part, Resource};

use crate::error::PaperError;
use crate::scope::{Record, record};
use crate::value::{Value, model, synthesised};

/// Returns a base-extension unit's LUT, FF, block RAM, DSP and the logic levels of its longest path. Without synthesis
/// only block RAM and DSP are known, from the needs that the machine model states.
pub fn figures(unit: Shape, synthesis: Option<&Hdl>) -> Result<Record, PaperError> {
    let Some(hdl) = synthesis else {
        let fit = unit.needs("basext", Part::named("U280")?).fit()?;
        let needed = |of| {
            let total = fit.totals.iter().find(|total| total.resource == of);
            model(total.map_or(0.0, |total| total.used))
        };
        return Ok(record([
            ("netlist.levels", Value::NotMeasured),
            ("netlist.lut", Value::NotMeasured),
            ("netlist.ff", Value::NotMeasured),
            ("netlist.bram", needed(Resource::BlockRam)),
            ("netlist.dsp", needed(Resource::Dsp)),
        ]));
    };
    let top = top(unit);
    let found = hdl.synthesise_for(&top, Family::Xcup)?.resources;
    let levels = hdl.levels(&top, Family::Xcup)?.paths.levels();
    let bram = found.bram18 as f64 / 2.0 + 8.0 * found.uram as f64;
    Ok(record([
        ("netlist.levels", synthesised(levels)),
        ("netlist.lut", synthesised(found.lut + found.lut_memory)),
        ("netlist.ff", synthesised(found.ff)),
        ("netlist.bram", synthesised(bram)),
        ("netlist.dsp", synthesised(found.dsp)),
    ]))
}
