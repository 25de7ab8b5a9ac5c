// SPDX-License-Identifier: Apache-2.0
//! Records of FPGA resources: the cells of synthesised modules, and the needs that a machine's description states.

use ringmill_hdl::Resources;
use ringmill_machines::fpga::{Fit, Resource};

use crate::scope::{Record, record};
use crate::value::{Value, synthesised};

/// Returns the look-up tables, flip-flops, DSP blocks, block RAMs and ultra RAMs of synthesised modules as a record.
/// Without synthesis they count as not measured. `area.lut` counts tables for logic and for memory; in `area.places`
/// tables that share a place count once. `area.bram` counts blocks of 36 Kbit.
pub fn area(found: Option<&Resources>) -> Record {
    let of = |count: fn(&Resources) -> f64| {
        found.map_or(Value::NotMeasured, |found| synthesised(count(found)))
    };
    record([
        ("area.lut", of(|r| (r.lut + r.lut_memory) as f64)),
        ("area.places", of(|r| r.lut_places() as f64)),
        ("area.ff", of(|r| r.ff as f64)),
        ("area.dsp", of(|r| r.dsp as f64)),
        ("area.bram", of(|r| r.bram18 as f64 / 2.0)),
        ("area.uram", of(|r| r.uram as f64)),
    ])
}

/// Returns how much of a resource the whole machine needs.
pub fn needed(fit: &Fit, resource: Resource) -> f64 {
    let total = fit.totals.iter().find(|total| total.resource == resource);
    total.map_or(0.0, |total| total.used)
}
