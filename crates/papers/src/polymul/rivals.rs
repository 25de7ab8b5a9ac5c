// SPDX-License-Identifier: Apache-2.0
//! The other works of Tables 4 and 5 beside ours.

use ringmill_machines::polymul::{ArrayOp, Description, Shape, WIDTH, cycles};

use super::paper::{Polymul, Rival};
use super::resources::Taken;
use super::{Rows, cycles};
use crate::error::PaperError;
use crate::figure::{Figure, How};

pub(super) const TABLE: &str = "Tables 4 and 5: other works, theirs in the paper's column";
pub(super) const NOTE: &str = "Other works: each has the moduli and degree printed, some one only (fixed q). Ours is \
this machine at the same degree (2560: 4096),\none 32-bit limb after another where K is larger, at the paper's clock; \
degrees above 4096 are the model's, of a machine with\nlarger memories, while its resources stay those of the machine \
for 4096.\n";

/// A row for each figure that a work prints.
pub(super) fn rows(
    rows: &Rows,
    paper: &Polymul,
    machine: &Description,
    taken: Option<&Taken>,
) -> Result<Vec<Figure>, PaperError> {
    let mut found = Vec::new();
    for rival in &paper.rivals {
        let n = rival.n.next_power_of_two();
        let shape = machine.shape()?;
        let wide = Shape::new(
            shape.units(),
            shape.max_log_n().max(n.ilog2()),
            shape.beat(),
        );
        let degree = cycles::degree(wide.unwrap_or(shape), n)?;
        let limbs = rival.bits.div_ceil(WIDTH);
        let us = |op| {
            let cycles = cycles(wide.unwrap_or(shape), degree, op);
            cycles as f64 * f64::from(limbs) / paper.clock_mhz
        };
        let case = case(rival, limbs);
        let mut push = |how, metric, unit, theirs: Option<f64>, ours, tool| {
            if let Some(theirs) = theirs {
                let made = rows.of(how, TABLE, &case, metric, unit, Some(theirs), ours);
                found.push(Figure { tool, ..made });
            }
        };
        if let Some(taken) = taken {
            for (metric, theirs, ours) in [
                ("LUT", rival.lut, taken.lut()),
                ("DSP", rival.dsp, taken.resources.dsp as f64),
                ("block RAM", rival.bram, taken.bram()),
            ] {
                push(
                    How::Synthesis,
                    metric,
                    "",
                    theirs,
                    ours,
                    Some(taken.tool.clone()),
                );
            }
        }
        push(
            How::Stated,
            "clock",
            "MHz",
            rival.clock_mhz,
            machine.clock_mhz,
            None,
        );
        push(
            How::Model,
            "NTT",
            "us",
            rival.ntt_us,
            us(ArrayOp::Ntt),
            None,
        );
        push(
            How::Model,
            "Pol.Mul.",
            "us",
            rival.multiply_us,
            us(ArrayOp::Fpm),
            None,
        );
    }
    Ok(found)
}

fn case(rival: &Rival, limbs: u32) -> String {
    let fixed = if rival.fixed { ", fixed q" } else { "" };
    let limbs = match limbs {
        1 => String::new(),
        limbs => format!(" ({limbs} limbs)"),
    };
    format!(
        "[{}] {}, n = {}, K = {}{limbs}{fixed}",
        rival.work, rival.platform, rival.n, rival.bits
    )
}
