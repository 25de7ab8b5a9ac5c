// SPDX-License-Identifier: Apache-2.0
//! Figures of the paper of Mert, Öztürk and Savaş: cycles, resources and modular reductions of our polynomial
//! multiplier, the sweep of Figure 4, and the study of decryption. The rows of its tables are in `data/polymul.toml`.

mod cycles;
pub(crate) mod decryption;
mod resources;
pub(crate) mod sweep;

use std::collections::BTreeMap;
use std::time::Instant;

use ringmill_device::progress::{Progress, Step};
use ringmill_hdl::Hdl;
use ringmill_machines::polymul::{ArrayOp, Description, Shape, WIDTH, floor};
use ringmill_runtime::shown::{Bar, Parts};

use crate::error::PaperError;
use crate::paper::{Asked, Reproduced};
use crate::plot;
use crate::row;
use crate::run::{Figures, no_list};
use crate::scope::{Record, Scope, record};
use crate::sheet::Sheet;
use crate::value::model;
use cycles::Cycles;
use decryption::Study;

pub const SHEET: &str = include_str!("../../data/polymul.toml");

/// The number of decryptions over which the host's times are means, as many as in the paper of Mert, Öztürk and Savaş.
const RUNS: u32 = 1000;

/// Returns Tables 2 to 5 and Figure 4 of the paper of Mert, Öztürk and Savaş, and its sections 3 to 5.
///
/// # Errors
/// Fails if the hardware's tools are asked for and missing, or if a figure cannot be computed.
pub fn tables(
    sheet: &Sheet,
    asked: &Asked,
    progress: &dyn Progress,
) -> Result<Reproduced, PaperError> {
    let sources = asked.sources;
    let panels = asked.picture.then(sweep::panels).transpose()?;
    let hdl = sources.tools()?.map(watched);
    let machine = Description::parse(Description::PAPER)?;
    let mut figures = Ours {
        study: Study {
            machine: &machine,
            hdl: hdl.as_ref().filter(|_| !sources.model),
            runs: asked.runs.unwrap_or(RUNS),
        },
        shape: machine.shape()?,
        synthesis: hdl.as_ref().filter(|_| sources.synthesis),
        operations: Vec::new(),
        decryptions: BTreeMap::new(),
        progress,
    };
    let made = sheet.reproduce("polymul", &mut figures, sources)?;
    Ok(Reproduced {
        picture: panels.map(|panels| plot::svg(&panels)),
        ..made
    })
}

/// Returns the hardware tools with synthesis that reports its progress.
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

struct Ours<'a> {
    study: Study<'a>,
    shape: Shape,
    synthesis: Option<&'a Hdl>,
    operations: Vec<Record>,
    /// The figures of the decryption study by list, once it has run.
    decryptions: BTreeMap<&'static str, Vec<Record>>,
    progress: &'a dyn Progress,
}

impl Figures for Ours<'_> {
    fn records(&mut self, name: &str, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        match name {
            "machine" => Ok(vec![record([
                ("own", self.study.machine.name.as_str().into()),
                ("simulator", self.study.simulator().into()),
                ("units", self.shape.units().into()),
                ("own_mhz", self.study.machine.clock_mhz.into()),
            ])]),
            "operations" => {
                if self.operations.is_empty() {
                    self.operations = self.operations(at)?;
                }
                Ok(self.operations.clone())
            }
            "taken" => resources::whole(self.synthesis, self.shape),
            "rival" => Ok(vec![self.rival(at)?]),
            "sweep" => sweep::figures(at),
            "reductions" => resources::reductions(self.synthesis),
            "decryptions" | "encryptions" | "six_primes" | "homomorphic" => {
                if self.decryptions.is_empty() {
                    let parts = |count| Parts::new(self.progress, "decrypting", count);
                    self.decryptions = self.study.figures(parts)?;
                }
                Ok(self.decryptions.get(name).cloned().unwrap_or_default())
            }
            _ => Err(no_list(name)),
        }
    }
}

/// The machine's operations, each with the name under which the printed figures have it.
const OPERATIONS: [(ArrayOp, &str); 4] = [
    (ArrayOp::Ntt, "ntt"),
    (ArrayOp::Intt, "intt"),
    (ArrayOp::Hpm, "hpm"),
    (ArrayOp::Fpm, "fpm"),
];

impl Ours<'_> {
    /// Returns the cycles of the machine's four operations for each parameter set, beside their lower bound.
    fn operations(&self, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        let columns = ["n", "bits"].map(str::to_owned);
        let sets = at.list("sets", &columns, "set")?;
        let count = (sets.len() * OPERATIONS.len()) as u64;
        let mut parts = Parts::new(self.progress, "simulating", count);
        let mut cycles = Cycles::new(self.shape, self.study.hdl)?;
        let mut found = Vec::new();
        for set in sets {
            let set_at = at.with(set.clone());
            let (n, bits) = (set_at.count("n")?, set_at.count("bits")? as u32);
            for (op, key) in OPERATIONS {
                let taken = cycles.of(op, n, bits)?;
                parts.done();
                let least = floor(self.shape, cycles::degree(self.shape, n)?, op);
                let mut record = record([
                    ("key", key.into()),
                    (
                        "cycles",
                        row::Ours::Is(taken as f64, self.study.how()).into(),
                    ),
                    ("floor", least.into()),
                ]);
                record.extend(set.clone());
                found.push(record);
            }
        }
        Ok(found)
    }

    /// Returns the model's cycles of our machine and the limbs of the modulus, for another design with which the paper
    /// of Mert, Öztürk and Savaş compares itself. The ring degree is that design's, rounded up to a power of two.
    fn rival(&self, at: &Scope<'_>) -> Result<Record, PaperError> {
        let n = at.count("n")?.next_power_of_two();
        let shape = self.shape;
        let log_n = shape.max_log_n().max(n.ilog2());
        let wide = Shape::new(shape.units(), log_n, shape.beat()).unwrap_or(shape);
        let degree = cycles::degree(wide, n)?;
        let cycles = |op| model(ringmill_machines::polymul::cycles(wide, degree, op));
        let limbs = (at.count("bits")? as u32).div_ceil(WIDTH);
        Ok(record([
            ("limbs", limbs.into()),
            ("ntt_cycles", cycles(ArrayOp::Ntt)),
            ("fpm_cycles", cycles(ArrayOp::Fpm)),
        ]))
    }
}
