// SPDX-License-Identifier: Apache-2.0
//! The polymul paper: cycles (Table 2), resources (Table 4), latencies (Table 5), the decryption of section 5, the other
//! works of Tables 4 and 5, Figure 4's sweep, and the reductions of section 3.1.

mod cycles;
pub(crate) mod decryption;
mod multipliers;
pub(crate) mod paper;
mod resources;
mod rivals;
pub(crate) mod sweep;

use std::path::Path;
use std::time::Instant;

use ringmill_device::progress::{Progress, Step};
use ringmill_hdl::Hdl;
use ringmill_machines::fpga::{Printed, PrintedUse, Resource};
use ringmill_machines::polymul::{ArrayOp, Description, floor};
use ringmill_runtime::shown::{Bar, Parts};

use crate::error::PaperError;
use crate::figure::{Figure, How};
use crate::paper::{Asked, Paper, Reproduced, Sources, Wish};
use crate::plot;
use crate::row::Row;
use cycles::Cycles;

const TABLE_2: &str = "Table 2: clock cycles, 32 processing units";
const TABLE_4: &str = "Table 4: FPGA resources, the whole machine";
const TABLE_5: &str = "Table 5: latency at the paper's clock";

/// Decryptions that the host's times are the mean of: as many as the paper's.
const RUNS: u32 = 1000;

/// The run-time configurable polynomial multiplier: its Tables 2 to 5, Figure 4, and sections 3 to 5.
pub struct Multiplier;

impl Paper for Multiplier {
    fn name(&self) -> &'static str {
        "polymul"
    }

    fn title(&self) -> &'static str {
        "FPGA implementation of a run-time configurable NTT-based polynomial multiplication hardware"
    }

    fn takes(&self) -> &'static [Wish] {
        &[Wish::Model, Wish::Picture, Wish::Runs]
    }

    fn printed(&self) -> Result<Printed, PaperError> {
        let paper = paper::polymul()?;
        Ok(Printed {
            uses: vec![
                PrintedUse::of_the_machine(Resource::BlockRam, paper.bram),
                PrintedUse::of_the_machine(Resource::Dsp, paper.dsp),
            ],
            units_in_a_region: None,
        })
    }

    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError> {
        let panels = asked.picture.then(sweep::panels).transpose()?;
        Ok(Reproduced {
            figures: figures(asked.sources, progress)?,
            rows: study(asked.sources, asked.runs.unwrap_or(RUNS), progress)?,
            notes: notes(asked.sources),
            picture: panels.map(|panels| plot::svg(&panels)),
        })
    }
}

/// How rows come about: counted in the simulation or by the model, stated, synthesised.
struct Rows {
    machine: String,
    /// The simulator, where there is one.
    simulator: Option<String>,
}

impl Rows {
    /// Of cycles.
    fn cycles(
        &self,
        table: &str,
        case: &str,
        metric: &str,
        unit: &str,
        paper: Option<f64>,
        ours: f64,
    ) -> Figure {
        let how = match self.simulator {
            Some(_) => How::Rtl,
            None => How::Model,
        };
        let made = self.of(how, table, case, metric, unit, paper, ours);
        Figure {
            tool: self.simulator.clone(),
            ..made
        }
    }

    /// Of anything else, without a tool.
    #[expect(
        clippy::too_many_arguments,
        reason = "the fields of a row, in their order"
    )]
    fn of(
        &self,
        how: How,
        table: &str,
        case: &str,
        metric: &str,
        unit: &str,
        paper: Option<f64>,
        ours: f64,
    ) -> Figure {
        Figure {
            machine: self.machine.clone(),
            table: table.to_owned(),
            case: case.to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            paper,
            should_be: None,
            ours,
            how,
            tool: None,
        }
    }
}

/// Every figure, table by table.
pub fn figures(sources: Sources, progress: &dyn Progress) -> Result<Vec<Figure>, PaperError> {
    let paper = paper::polymul()?;
    let machine = Description::parse(Description::PAPER)?;
    let shape = machine.shape()?;
    let hdl = if sources.model && !sources.synthesis {
        None
    } else {
        Some(watched(Hdl::find(Path::new("."))?))
    };
    let rtl = hdl.as_ref().filter(|_| !sources.model);
    let mut cycles = Cycles::new(shape, rtl)?;
    let rows = Rows {
        machine: machine.name.clone(),
        simulator: rtl.map(|hdl| format!("Verilator {}", hdl.tools().versions().verilator)),
    };
    let mut parts = Parts::new(progress, "simulating", (paper.sets.len() * 4) as u64);
    let units = shape.units() as f64;
    let (mut table_2, mut table_5) = (Vec::new(), Vec::new());
    let theirs = Some(paper.processing_units);
    table_2.push(rows.of(
        How::Stated,
        TABLE_2,
        "all",
        "butterflies (multipliers)",
        "",
        theirs,
        units,
    ));
    for (at, &(n, bits)) in paper.sets.iter().enumerate() {
        let case = format!("n = {n}, K = {bits}");
        let (ntt_us, fpm_us) = ((&paper.ntt_us, "NTT"), (&paper.fpm_us, "Pol.Mul."));
        let operations = [
            (ArrayOp::Ntt, "NTT", &paper.ntt_cycles, Some(ntt_us)),
            (ArrayOp::Intt, "INTT", &paper.intt_cycles, None),
            (ArrayOp::Hpm, "HPM", &paper.hpm_cycles, None),
            (ArrayOp::Fpm, "FPM", &paper.fpm_cycles, Some(fpm_us)),
        ];
        for (op, metric, theirs, latency) in operations {
            let ours = cycles.of(op, n, bits)?;
            parts.done();
            let theirs = theirs.get(at).copied();
            table_2.push(rows.cycles(TABLE_2, &case, metric, "cycles", theirs, ours as f64));
            if op == ArrayOp::Fpm {
                let least = floor(shape, cycles::degree(shape, n)?, op);
                let over = ours as f64 / least as f64;
                table_2.push(rows.cycles(TABLE_2, &case, "FPM over its floor", "", None, over));
            }
            if let Some((theirs, metric)) = latency {
                let us = ours as f64 / paper.clock_mhz;
                let theirs = theirs.get(at).copied();
                table_5.push(rows.cycles(TABLE_5, &case, metric, "us", theirs, us));
            }
        }
    }
    let theirs = Some(paper.clock_mhz);
    let clock = machine.clock_mhz;
    let mut table_4 = vec![rows.of(How::Stated, TABLE_4, "all", "clock", "MHz", theirs, clock)];
    let synthesis = hdl.as_ref().filter(|_| sources.synthesis);
    let taken = synthesis
        .map(|hdl| resources::taken(hdl, shape))
        .transpose()?;
    if let Some(taken) = &taken {
        table_4.extend(taken.rows(&rows, &paper));
    }
    let rivals = rivals::rows(&rows, &paper, &machine, taken.as_ref())?;
    let sweep = sweep::rows(&rows)?;
    let section_3 = match synthesis {
        Some(hdl) => multipliers::rows(&rows, &paper, hdl)?,
        None => Vec::new(),
    };
    Ok([table_2, table_4, table_5, rivals, sweep, section_3].concat())
}

/// The study of decryption on host and machine; host times are means of `runs`.
pub fn study(sources: Sources, runs: u32, progress: &dyn Progress) -> Result<Vec<Row>, PaperError> {
    let paper = paper::polymul()?;
    let machine = Description::parse(Description::PAPER)?;
    let hdl = match sources.model {
        true => None,
        false => Some(Hdl::find(Path::new("."))?),
    };
    let study = decryption::Study {
        paper: &paper,
        machine: &machine,
        hdl: hdl.as_ref(),
        runs,
    };
    study.rows(&mut Parts::new(progress, "decrypting", study.parts()))
}

/// What a reader must know of the figures.
pub fn notes(sources: Sources) -> String {
    let cycles = if sources.model {
        "Cycles are the model's, which a test holds equal to the RTL's (without --model they are the RTL's)."
    } else {
        "Cycles are counted in the RTL on random operands; every residue was compared with the reference."
    };
    let resources = if sources.synthesis {
        "Resources: Yosys, counts before placement, where it does not share the two outputs of a LUT6; the paper's are \
         Vivado's after\nplacement. Ours holds two sets of limbs and degrees up to 4096, the paper's one set. Levels and \
         carry bits: docs/rtl.md."
    } else {
        "Resources are left out (--no-synth): they take minutes the first time."
    };
    format!(
        "\n{cycles}\n{resources}\nThe clock is the paper's: no frequency of our own is claimed, since no open tool times \
         this part.\n{}{}{}",
        decryption::NOTE,
        rivals::NOTE,
        sweep::NOTE
    )
}

/// Synthesis tells how far it is.
fn watched(hdl: Hdl) -> Hdl {
    let (bar, begin) = (Bar::new(), Instant::now());
    hdl.watched(move |stage| {
        bar.step(Step {
            stage: "synthesising",
            done: stage.done,
            total: stage.total,
            elapsed: begin.elapsed(),
            remaining: None,
        });
    })
}
