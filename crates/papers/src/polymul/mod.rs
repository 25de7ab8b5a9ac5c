// SPDX-License-Identifier: Apache-2.0
//! Figures of the paper of Mert, Öztürk and Savaş: cycles, resources and modular reductions of our polynomial
//! multiplier, the sweep of Figure 4, and the study of decryption. The rows of its tables are in `data/polymul.toml`.

mod cycles;
pub(crate) mod decryption;
mod resources;
pub(crate) mod sweep;

use std::path::Path;
use std::time::Instant;

use ringmill_device::progress::{Progress, Step};
use ringmill_hdl::Hdl;
use ringmill_machines::fpga::Printed;
use ringmill_machines::polymul::{ArrayOp, Description, Shape, WIDTH, floor};
use ringmill_runtime::shown::{Bar, Parts};
use serde::Deserialize;

use crate::error::PaperError;
use crate::figure::How;
use crate::paper::{Asked, Paper, Reproduced, Wish};
use crate::plot;
use crate::row;
use crate::run::{Figures, no_list};
use crate::scope::{Record, Scope, record};
use crate::sheet::Sheet;
use crate::tables;
use crate::value::model;
use cycles::Cycles;
use decryption::Study;

pub const SHEET: &str = include_str!("../../data/polymul.toml");

/// The number of decryptions over which the host's times are means, as many as in the paper of Mert, Öztürk and Savaş.
const RUNS: u32 = 1000;

/// Figures that the paper of Mert, Öztürk and Savaş prints and from which our own figures are computed.
#[derive(Deserialize)]
pub struct Given {
    clock_mhz: f64,
    pcie_effective_gbps: f64,
    /// The parameter sets of Mert, Öztürk and Savaş, each as its ring degree and the bits of its modulus.
    sets: Vec<(usize, u32)>,
    seal_decrypt: Vec<SealDecrypt>,
}

/// A parameter set that Mert, Öztürk and Savaş's decryption study prints, and the paper's time of the product in
/// software.
#[derive(Deserialize)]
struct SealDecrypt {
    n: usize,
    k: u32,
    software_multiply_us: f64,
}

/// The paper of Mert, Öztürk and Savaş on a run-time configurable polynomial multiplier: its Tables 2 to 5, Figure 4,
/// and sections 3 to 5.
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
        Sheet::read(SHEET)?.printed(self.name())
    }

    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError> {
        let sources = asked.sources;
        let panels = asked.picture.then(sweep::panels).transpose()?;
        let hdl = match sources.model && !sources.synthesis {
            true => None,
            false => Some(watched(Hdl::find(Path::new("."))?)),
        };
        let given: Given = tables::of(self.name())?;
        let machine = Description::parse(Description::PAPER)?;
        let study = Study {
            given: &given,
            machine: &machine,
            hdl: hdl.as_ref().filter(|_| !sources.model),
            runs: asked.runs.unwrap_or(RUNS),
        };
        let mut figures = Ours {
            study,
            shape: machine.shape()?,
            synthesis: hdl.as_ref().filter(|_| sources.synthesis),
            operations: Vec::new(),
            decryptions: None,
            progress,
        };
        let made = Sheet::read(SHEET)?.reproduce(self.name(), &mut figures, sources)?;
        Ok(Reproduced {
            picture: panels.map(|panels| plot::svg(&panels)),
            ..made
        })
    }
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
    decryptions: Option<decryption::Found>,
    progress: &'a dyn Progress,
}

impl Figures for Ours<'_> {
    fn records(&mut self, name: &str, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        match name {
            "machine" => Ok(vec![record([
                ("own", self.study.machine.name.as_str().into()),
                ("simulator", self.study.simulator().into()),
                ("units", (self.shape.units() as f64).into()),
                ("own_mhz", self.study.machine.clock_mhz.into()),
            ])]),
            "operations" => {
                if self.operations.is_empty() {
                    self.operations = self.operations()?;
                }
                Ok(self.operations.clone())
            }
            "taken" => resources::whole(self.synthesis, self.shape),
            "rival" => Ok(vec![self.rival(at)?]),
            "sweep" => sweep::figures(),
            "reductions" => resources::reductions(self.synthesis),
            "decryptions" => Ok(self.decryptions()?.sets.clone()),
            "encryptions" => Ok(self.decryptions()?.encryptions.clone()),
            "six_primes" => Ok(vec![self.decryptions()?.six_primes.clone()]),
            "homomorphic" => Ok(vec![self.decryptions()?.homomorphic.clone()]),
            _ => Err(no_list(name)),
        }
    }
}

impl Ours<'_> {
    /// Returns the cycles of the machine's four operations for each parameter set.
    fn operations(&self) -> Result<Vec<Record>, PaperError> {
        let sets = &self.study.given.sets;
        let mut cycles = Cycles::new(self.shape, self.study.hdl)?;
        let mut parts = Parts::new(self.progress, "simulating", (sets.len() * 4) as u64);
        let how = match self.study.hdl {
            Some(_) => How::Rtl,
            None => How::Model,
        };
        let mut found = Vec::new();
        for (set, &(n, bits)) in sets.iter().enumerate() {
            for (op, name, key) in [
                (ArrayOp::Ntt, "NTT", "ntt"),
                (ArrayOp::Intt, "INTT", "intt"),
                (ArrayOp::Hpm, "HPM", "hpm"),
                (ArrayOp::Fpm, "FPM", "fpm"),
            ] {
                let taken = cycles.of(op, n, bits)?;
                parts.done();
                let least = floor(self.shape, cycles::degree(self.shape, n)?, op);
                found.push(record([
                    ("n", (n as f64).into()),
                    ("bits", f64::from(bits).into()),
                    ("set", (set as f64).into()),
                    ("op", name.into()),
                    ("key", key.into()),
                    ("cycles", row::Ours::Is(taken as f64, how).into()),
                    ("floor", (least as f64).into()),
                ]));
            }
        }
        Ok(found)
    }

    /// Returns the cycles of our machine at the ring degree of another design with which the paper of Mert, Öztürk and
    /// Savaş compares itself, and the limbs of that design's modulus.
    fn rival(&self, at: &Scope<'_>) -> Result<Record, PaperError> {
        let n = at.count("n")?.next_power_of_two();
        let shape = self.shape;
        let log_n = shape.max_log_n().max(n.ilog2());
        let wide = Shape::new(shape.units(), log_n, shape.beat()).unwrap_or(shape);
        let degree = cycles::degree(wide, n)?;
        let cycles = |op| model(ringmill_machines::polymul::cycles(wide, degree, op));
        let limbs = (at.count("bits")? as u32).div_ceil(WIDTH);
        Ok(record([
            ("limbs", f64::from(limbs).into()),
            ("ntt_cycles", cycles(ArrayOp::Ntt)),
            ("fpm_cycles", cycles(ArrayOp::Fpm)),
        ]))
    }

    /// Returns the figures of the decryption study, which runs only at the first call.
    fn decryptions(&mut self) -> Result<&decryption::Found, PaperError> {
        let found = match self.decryptions.take() {
            Some(found) => found,
            None => {
                let total = self.study.parts();
                let mut parts = Parts::new(self.progress, "decrypting", total);
                self.study.figures(&mut parts)?
            }
        };
        Ok(self.decryptions.insert(found))
    }
}
