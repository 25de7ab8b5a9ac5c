// SPDX-License-Identifier: Apache-2.0
//! The ring paper (Medha): Tables 2, 3 and 4, and the applications of section 5.3.

mod ablation;
mod application;
mod area;
pub(crate) mod bars;
mod forecast;
mod larger;
mod logistic;
mod memory;
pub(crate) mod paper;
pub(crate) mod rivals;
mod text;
mod words;

use std::path::Path;
use std::sync::Arc;

use ringmill_cpu::Cpu;
use ringmill_device::progress::Progress;
use ringmill_device::report::MachineReport;
use ringmill_hdl::Hdl;
use ringmill_isa::mid::Verified;
use ringmill_machines::Registry;
use ringmill_machines::fpga::{Printed, PrintedUse, Resource};
use ringmill_machines::ring::seen::seen;
use ringmill_machines::ring::{OF_THE_PAPERS_SIZE, SHIPPED};
use ringmill_runtime::shown::Parts;
use ringmill_schemes::ckks::{OpKey, Params, ProcCache};

use crate::error::PaperError;
use crate::figure::{Figure, How};
use crate::mapping::{self, Mapping};
use crate::paper::{Asked, Paper, Reproduced};
use crate::row::Row;
use crate::single;
use crate::single::{measure, own, simulate};

const TABLE_2: &str = "Table 2: instructions and operations";
const TABLE_4: &str = "Table 4: latency of operations";
const MULTIPLY: &str = "multiply + relinearise";
const MULTIPLIERS: &str = "modular multipliers per RPAU";
/// Operations timed for each parameter set.
const OPERATIONS: usize = 3;

/// Medha: its Tables 2 to 5, and sections 4 to 6.
pub struct Medha;

impl Paper for Medha {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn title(&self) -> &'static str {
        "Medha: Microcoded Hardware Accelerator for computing on Encrypted Data"
    }

    fn printed(&self) -> Result<Printed, PaperError> {
        let paper = paper::ring()?;
        let (whole, rpau) = (paper.taken, paper.rpau_60);
        let row = |resource, each, used| PrintedUse {
            resource,
            each: Some(each),
            used,
        };
        Ok(Printed {
            uses: vec![
                row(Resource::BlockRam, rpau.bram, whole.bram),
                row(Resource::UltraRam, rpau.uram, whole.uram),
                row(Resource::Dsp, rpau.dsp, whole.dsp),
            ],
            units_in_a_region: Some(paper.floorplan.rpaus_per_slr),
        })
    }

    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError> {
        let (figures, rows) = figures(asked.sources.synthesis, progress)?;
        Ok(Reproduced {
            figures,
            rows,
            notes: notes()?,
            picture: None,
        })
    }
}

/// What does not fit its part.
fn notes() -> Result<String, PaperError> {
    let mut notes = String::new();
    for (name, _) in SHIPPED {
        if let Some(warning) = Registry::standard().open(name)?.fit().warning() {
            notes.push_str(&format!("\n{name} {warning}\n"));
        }
    }
    Ok(notes)
}

/// Programs that are timed on each device: logistic regression, two of text classification, the forecast.
const APPLICATIONS: usize = 4;

/// Every figure of ours beside the paper's, table by table; then what the paper sets beside its machine, with ours in it where
/// there is one.
fn figures(
    synthesis: bool,
    progress: &dyn Progress,
) -> Result<(Vec<Figure>, Vec<Row>), PaperError> {
    let paper = paper::ring()?;
    let machines = OF_THE_PAPERS_SIZE
        .iter()
        .map(|(name, text)| Ok((*name, Registry::standard().load(text)?)))
        .collect::<Result<Vec<_>, PaperError>>()?;
    let sets = [
        Set {
            name: "Set-1",
            id: "set1",
            params: Params::named("set1")?,
            cycles: paper.set1,
            a_second: paper.set1_a_second,
            seal_us: paper.seal_us_set1,
        },
        Set {
            name: "Set-2",
            id: "set2",
            params: Params::named("set2")?,
            cycles: paper.set2,
            a_second: paper.set2_a_second,
            seal_us: paper.seal_us_set2,
        },
    ];
    let (mut table_2, mut table_4) = (words::figures(&paper)?, Vec::new());
    let mut latencies = Vec::new();
    let cpu = Cpu::new(1)?;
    let operations = sets.len() * OPERATIONS;
    let devices = machines.len() + 1;
    let runs = devices * (operations + APPLICATIONS);
    let mut parts = Parts::new(progress, "reproducing", runs as u64);
    for (name, machine) in &machines {
        let row = |case: &str, metric: &str, unit: &str, paper, ours| Figure {
            machine: (*name).to_owned(),
            table: TABLE_2.to_owned(),
            case: case.to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            paper,
            should_be: None,
            ours,
            how: How::Model,
            tool: None,
        };
        let mut operations = [paper::Operations::default(); 2];
        let (mut over_the_link, mut polynomials) = (0.0, 0.0);
        for (set, took) in sets.iter().zip(&mut operations) {
            for Operation {
                name: metric,
                cycles,
                a_second,
                program,
                ..
            } in set.operations()?
            {
                let report = simulate(machine.as_ref(), &program)?;
                parts.done();
                let in_rtl = seen(name).is_some_and(|s| s.has(set.id, metric, report.cycles));
                let how = if in_rtl { How::Lockstep } else { How::Model };
                if table_2
                    .iter()
                    .all(|f: &Figure| f.machine != *name || f.metric != MULTIPLIERS)
                {
                    let ours = own(&report)?.multipliers_per_rpau as f64;
                    table_2.push(row(
                        "all",
                        MULTIPLIERS,
                        "",
                        Some(paper.modular_multipliers_per_rpau),
                        ours,
                    ));
                }
                for (unit, paper, ours) in [
                    ("cycles", cycles, report.cycles as f64),
                    ("a second", a_second, (1.0 / report.seconds).floor()),
                ] {
                    table_2.push(Figure {
                        how,
                        ..row(set.name, metric, unit, Some(paper), ours)
                    });
                }
                let us = report.seconds * 1e6;
                match metric {
                    "add" => took.add = us,
                    MULTIPLY => took.mult_relin = us,
                    _ => took.rescale = us,
                }
                if (set.name, metric) == ("Set-1", MULTIPLY) {
                    let limb = (8u64 << set.params.log_n()) as f64;
                    over_the_link = report.end_to_end.seconds * 1e6;
                    polynomials = (report.link.bytes_in + report.link.bytes_out) as f64 / limb;
                }
                // The machine splits rings itself, so these are seen only inside an operation on the larger ring.
                for (kind, each) in [("SPLIT", paper.split_join), ("JOIN", paper.split_join)] {
                    if let (MULTIPLY, Some(ours)) = (metric, cycles_a_word(&report, kind)) {
                        table_2.push(Figure {
                            how,
                            ..row(set.name, &format!("one {kind}"), "cycles", Some(each), ours)
                        });
                    }
                }
                let us = Figure {
                    table: TABLE_4.to_owned(),
                    how,
                    ..row(
                        set.name,
                        metric,
                        "us",
                        Some(cycles / paper.clock_mhz),
                        report.seconds * 1e6,
                    )
                };
                table_4.push(us);
            }
        }
        let [set1, set2] = operations;
        latencies.push(rivals::Latencies {
            machine: (*name).to_owned(),
            set1,
            set2,
            over_the_link,
            polynomials,
        });
    }
    for set in &sets {
        for Operation {
            name: metric,
            seal_us,
            program,
            ..
        } in set.operations()?
        {
            let ours = measure(&cpu, &program)? * 1e6;
            parts.done();
            table_4.push(Figure {
                machine: "cpu".to_owned(),
                table: TABLE_4.to_owned(),
                case: set.name.to_owned(),
                metric: format!("{metric} (paper: SEAL)"),
                unit: "us".to_owned(),
                paper: Some(seal_us),
                should_be: None,
                ours,
                how: How::Measured,
                tool: None,
            });
        }
    }
    let table_3 = memory::figures(&paper)?;
    let hdl = match synthesis {
        true => Hdl::find(Path::new(".")).map_err(|e| e.to_string()),
        false => Err("synthesis was not asked for".to_owned()),
    };
    let areas = |mapping: &Mapping<'_>| {
        let why = hdl.as_ref().err().map(String::as_str);
        let mut rows = area::rows(&paper, mapping, why)?;
        rows.extend(bars::rows(&paper, mapping)?);
        Ok::<_, PaperError>(rows)
    };
    let mapping = match &hdl {
        Ok(hdl) => {
            mapping::map(hdl, |asked| areas(asked).map(drop), progress)?;
            Mapping::By(hdl)
        }
        Err(_) => Mapping::LeftOut,
    };
    let areas = areas(&mapping)?;
    let logistic = logistic::figures(&paper, &machines, &cpu, &mut parts)?;
    let text = text::figures(&paper, &machines, &cpu, &mut parts)?;
    let forecast = forecast::figures(&paper, &machines, &cpu, &mut parts)?;
    let rows = [
        areas,
        rivals::rows(&paper, &latencies),
        ablation::rows(&paper)?,
        larger::rows(&paper)?,
    ];
    let figures = [table_2, table_3, table_4, logistic, text, forecast];
    Ok((figures.concat(), rows.concat()))
}

/// A parameter set of the paper's Table 1 and what its tables say of it.
struct Set {
    name: &'static str,
    /// The name that [`Params::named`] knows it by.
    id: &'static str,
    params: Arc<Params>,
    cycles: paper::Operations,
    a_second: paper::Operations,
    seal_us: paper::Operations,
}

/// One of a set's operations, at its highest level.
struct Operation {
    name: &'static str,
    /// As the paper prints them.
    cycles: f64,
    a_second: f64,
    seal_us: f64,
    program: Verified,
}

impl Set {
    fn operations(&self) -> Result<[Operation; OPERATIONS], PaperError> {
        let level = self.params.max_level();
        let procs = ProcCache::new(Arc::clone(&self.params));
        let one = |name, key: OpKey, of: fn(&paper::Operations) -> f64| {
            Ok::<_, PaperError>(Operation {
                name,
                cycles: of(&self.cycles),
                a_second: of(&self.a_second),
                seal_us: of(&self.seal_us),
                program: single::program(procs.get(&key)?)?,
            })
        };
        Ok([
            one("add", OpKey::add(level, 2, 2), |o| o.add)?,
            one(MULTIPLY, OpKey::mul_relin(level, true), |o| o.mult_relin)?,
            one("rescale", OpKey::rescale(level, 2), |o| o.rescale)?,
        ])
    }
}

/// Cycles that one word of a kind is in flight, on average over a run; `None` where there is none.
fn cycles_a_word(report: &MachineReport, kind: &str) -> Option<f64> {
    let words = report
        .instructions_by_kind
        .get(kind)
        .filter(|words| **words > 0)?;
    Some((*report.cycles_by_kind.get(kind)? as f64 / *words as f64).round())
}
