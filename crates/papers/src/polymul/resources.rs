// SPDX-License-Identifier: Apache-2.0
//! What the whole machine takes, from synthesis, and how long its paths are.

use ringmill_hdl::polymul::top;
use ringmill_hdl::{Family, Hdl, Paths, Resources};
use ringmill_machines::polymul::Shape;

use super::paper::Polymul;
use super::{Rows, TABLE_4};
use crate::error::PaperError;
use crate::figure::{Figure, How};

pub(super) struct Taken {
    pub resources: Resources,
    paths: Paths,
    pub tool: String,
}

pub(super) fn taken(hdl: &Hdl, shape: Shape) -> Result<Taken, PaperError> {
    let top = top(shape);
    let made = hdl.synthesise(&top)?;
    Ok(Taken {
        resources: made.resources,
        paths: hdl.levels(&top, Family::Xc7)?.paths,
        tool: tool(hdl, made.family),
    })
}

/// What synthesised.
pub(super) fn tool(hdl: &Hdl, family: Family) -> String {
    let version = &hdl.tools().versions().pyosys;
    format!("Yosys (pyosys {version}), synth_xilinx -family {family}")
}

impl Taken {
    /// Look-up tables, as logic and as memory.
    pub fn lut(&self) -> f64 {
        (self.resources.lut + self.resources.lut_memory) as f64
    }

    /// Block RAMs of 36 Kbit.
    pub fn bram(&self) -> f64 {
        self.resources.bram18 as f64 / 2.0
    }

    /// Of Table 4, with what stands for the clock.
    pub fn rows(&self, rows: &Rows, paper: &Polymul) -> Vec<Figure> {
        let r = &self.resources;
        let lines = [
            ("LUT, as logic and as memory", Some(paper.lut), self.lut()),
            ("FF", Some(paper.ff), r.ff as f64),
            ("block RAM, 36 Kbit", Some(paper.bram), self.bram()),
            ("DSP", Some(paper.dsp), r.dsp as f64),
            (
                "levels of the longest path",
                None,
                f64::from(self.paths.levels()),
            ),
            (
                "carry bits of the longest path",
                None,
                f64::from(self.paths.carry()),
            ),
            ("endpoints", None, self.paths.endpoints as f64),
            ("endpoints beyond the bar", None, self.paths.beyond as f64),
        ];
        let made = lines.into_iter().map(|(metric, paper, ours)| Figure {
            tool: Some(self.tool.clone()),
            ..rows.of(How::Synthesis, TABLE_4, "all", metric, "", paper, ours)
        });
        made.collect()
    }
}
