//! The polymul paper: cycles (Table 2), resources (Table 4), latencies (Table 5), and the decryption of section 5.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ringmill_devices::DeviceError;
use ringmill_devices::progress::{Progress, Step};
use ringmill_hdl::polymul::{Dice, Multiplier, lockstep, top};
use ringmill_hdl::{BuildOptions, Hdl, Optimise};
use ringmill_machines::polymul::{ArrayOp, Description, Shape, Tables, cycles, floor};
use ringmill_math::primes::ntt_primes;

use super::figure::{Figure, How};
use super::paper;
use crate::error::CliError;
use crate::progress::{Bar, Parts};

const TABLE_2: &str = "Table 2: clock cycles, 32 processing units";
const TABLE_4: &str = "Table 4: FPGA resources, the whole machine";
const TABLE_5: &str = "Table 5: latency at the paper's clock";
const SECTION_5: &str = "Section 5: SEAL's BFV decryption with its half product offloaded";
/// Of the operands.
const SEED: u64 = 1;

/// Where the figures come from.
#[derive(Clone, Copy, Debug)]
pub struct Sources {
    /// Cycles from the model alone, not the RTL.
    pub model: bool,
    /// Resources too, from synthesis.
    pub synthesis: bool,
}

/// Every figure, table by table.
pub fn figures(sources: Sources, progress: &dyn Progress) -> Result<Vec<Figure>, CliError> {
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
    let row = |table: &str, case: &str, metric: &str, unit: &str, paper, ours| Figure {
        machine: machine.name.clone(),
        table: table.to_owned(),
        case: case.to_owned(),
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        paper,
        ours,
        how: cycles_how(rtl),
        tool: rtl.map(|hdl| format!("Verilator {}", hdl.tools().versions().verilator)),
    };
    let (mut table_2, mut table_5) = (Vec::new(), Vec::new());
    let runs = paper.sets.len() * 4 + paper.seal_decrypt.len();
    let mut parts = Parts::new(progress, "simulating", runs as u64);
    let stated = |figure: Figure| Figure {
        how: How::Stated,
        tool: None,
        ..figure
    };
    // A link's time is its rate's, wherever the cycles come from.
    let linked = |figure: Figure| Figure {
        how: How::Model,
        tool: None,
        ..figure
    };
    let (theirs, ours) = (paper.processing_units, shape.units() as f64);
    let butterflies = row(
        TABLE_2,
        "all",
        "butterflies (multipliers)",
        "",
        Some(theirs),
        ours,
    );
    table_2.push(stated(butterflies));
    for (at, &(n, bits)) in paper.sets.iter().enumerate() {
        let case = format!("n = {n}, K = {bits}");
        let operations = [
            (
                ArrayOp::Ntt,
                "NTT",
                &paper.ntt_cycles,
                Some((&paper.ntt_us, "NTT")),
            ),
            (ArrayOp::Intt, "INTT", &paper.intt_cycles, None),
            (ArrayOp::Hpm, "HPM", &paper.hpm_cycles, None),
            (
                ArrayOp::Fpm,
                "FPM",
                &paper.fpm_cycles,
                Some((&paper.fpm_us, "Pol.Mul.")),
            ),
        ];
        for (op, metric, theirs, latency) in operations {
            let ours = cycles.of(op, n, bits)?;
            parts.done();
            let theirs = theirs.get(at).copied();
            table_2.push(row(TABLE_2, &case, metric, "cycles", theirs, ours as f64));
            if op == ArrayOp::Fpm {
                let degree = shape
                    .degree(n)
                    .map_err(ringmill_machines::MachineError::from)?;
                let over = ours as f64 / floor(shape, degree, op) as f64;
                let metric = "FPM over its floor";
                table_2.push(row(TABLE_2, &case, metric, "", None, over));
            }
            if let Some((theirs, metric)) = latency {
                let us = ours as f64 / paper.clock_mhz;
                let theirs = theirs.get(at).copied();
                table_5.push(row(TABLE_5, &case, metric, "us", theirs, us));
            }
        }
    }
    let clock = row(
        TABLE_4,
        "all",
        "clock",
        "MHz",
        Some(paper.clock_mhz),
        machine.clock_mhz,
    );
    let mut table_4 = vec![stated(clock)];
    if let Some(hdl) = hdl.as_ref().filter(|_| sources.synthesis) {
        let made = hdl.synthesise(&top(shape))?;
        let r = &made.resources;
        let resources = [
            (
                "LUT, as logic and as memory",
                paper.lut,
                (r.lut + r.lut_memory) as f64,
            ),
            ("FF", paper.ff, r.ff as f64),
            ("block RAM, 36 Kbit", paper.bram, r.bram18 as f64 / 2.0),
            ("DSP", paper.dsp, r.dsp as f64),
        ];
        let tool = format!(
            "Yosys (pyosys {}), synth_xilinx -family {}",
            made.versions.pyosys, made.family
        );
        for (metric, theirs, ours) in resources {
            table_4.push(Figure {
                how: How::Synthesis,
                tool: Some(tool.clone()),
                ..row(TABLE_4, "all", metric, "", Some(theirs), ours)
            });
        }
    }
    let mut section_5 = Vec::new();
    for seal in &paper.seal_decrypt {
        let case = format!("n = {}, K = {}", seal.n, seal.k);
        let machine_us = cycles.of(ArrayOp::Hpm, seal.n, seal.k)? as f64 / paper.clock_mhz;
        parts.done();
        // One polynomial each way, 32 bits a residue; the paper's host does what it did.
        let link_us = 2.0 * 32.0 * seal.n as f64 / (paper.pcie_effective_gbps * 1e3);
        let host_us = seal.software_decrypt_us - seal.software_multiply_us;
        let whole = seal.accelerator_multiply_with_io_us;
        section_5.extend([
            row(
                SECTION_5,
                &case,
                "HPM",
                "us",
                Some(seal.accelerator_multiply_us),
                machine_us,
            ),
            linked(row(
                SECTION_5,
                &case,
                "HPM and link",
                "us",
                Some(whole),
                machine_us + link_us,
            )),
            linked(row(
                SECTION_5,
                &case,
                "decryption (paper's host)",
                "us",
                Some(seal.decrypt_with_accelerator_us),
                host_us + link_us + machine_us,
            )),
        ]);
    }
    Ok([table_2, table_4, table_5, section_5].concat())
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
         Vivado's after\nplacement. Ours holds two sets of limbs and degrees up to 4096, the paper's one set."
    } else {
        "Resources are left out (--no-synth): they take minutes the first time."
    };
    format!(
        "\n{cycles}\n{resources}\nThe clock is the paper's: no frequency of our own is claimed.\n"
    )
}

fn cycles_how(rtl: Option<&Hdl>) -> How {
    if rtl.is_some() { How::Rtl } else { How::Model }
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

/// Cycles of operations, from the RTL where there is one.
struct Cycles {
    shape: Shape,
    rtl: Option<Multiplier>,
    dice: Dice,
}

impl Cycles {
    fn new(shape: Shape, hdl: Option<&Hdl>) -> Result<Self, CliError> {
        let options = BuildOptions {
            optimise: Optimise::Run,
            waves: false,
        };
        let build = |hdl| Multiplier::new(hdl, shape, options);
        Ok(Self {
            shape,
            rtl: hdl.map(build).transpose()?,
            dice: Dice::new(SEED),
        })
    }

    /// Of an operation on random operands modulo the largest prime of `bits` bits.
    fn of(&mut self, op: ArrayOp, n: usize, bits: u32) -> Result<u64, CliError> {
        let Some(rtl) = &mut self.rtl else {
            let degree = self.shape.degree(n);
            let degree = degree.map_err(ringmill_machines::MachineError::from)?;
            return Ok(cycles(self.shape, degree, op));
        };
        let fault = |e| CliError::from(DeviceError::from(e));
        let primes = ntt_primes(bits, n.ilog2(), 1)?;
        let q = primes.first().copied().unwrap_or_default();
        let loaded = rtl.tables().ok();
        if loaded.is_none_or(|t| t.degree().n() != n || t.modulus().value() != q) {
            let tables = Arc::new(Tables::new(self.shape, n, q)?);
            rtl.load_tables(&tables).map_err(fault)?;
        }
        let (a, b) = (self.dice.limb(n, q), self.dice.limb(n, q));
        Ok(lockstep(rtl, op, &a, &b, 0).map_err(fault)?.cycles)
    }
}

#[cfg(test)]
mod tests {
    use ringmill_devices::progress::Silent;

    use super::*;

    /// Every cell of Table 2 in the RTL, with no more butterflies; the full product near its floor.
    #[test]
    fn the_figures_we_claim_to_beat_are_beaten() {
        let sources = Sources {
            model: false,
            synthesis: false,
        };
        let rtl = figures(sources, &Silent).unwrap();
        let cells: Vec<&Figure> = rtl
            .iter()
            .filter(|f| f.table == TABLE_2 && f.unit == "cycles")
            .collect();
        assert_eq!(cells.len(), 6 * 4);
        for cell in &cells {
            assert!(cell.ours <= cell.paper.unwrap(), "{cell:?}");
            assert_eq!(cell.how, How::Rtl);
        }
        let find = |table: &str, metric: &str| -> Vec<&Figure> {
            let of = rtl
                .iter()
                .filter(|f| f.table == table && f.metric == metric);
            of.collect()
        };
        let butterflies = find(TABLE_2, "butterflies (multipliers)");
        assert!(butterflies.len() == 1 && butterflies[0].ours <= butterflies[0].paper.unwrap());
        let over = find(TABLE_2, "FPM over its floor");
        assert_eq!(over.len(), 6);
        for row in over {
            let most = match row.case.split([' ', ',']).nth(2).unwrap().parse().unwrap() {
                256 | 512 => continue,
                1024 => 1.25,
                n if n >= 2048 => 1.15,
                n => panic!("n = {n}"),
            };
            assert!(row.ours >= 1.0 && row.ours <= most, "{row:?}");
        }
        let latencies = find(TABLE_5, "Pol.Mul.");
        assert_eq!(latencies.len(), 6);
        assert!(latencies.iter().all(|f| f.ours <= f.paper.unwrap()));
        let decryptions = find(SECTION_5, "decryption (paper's host)");
        assert_eq!(decryptions.len(), 3);
        assert!(decryptions.iter().all(|f| f.ours <= f.paper.unwrap()));

        // The model says the same, and says that it is the model.
        let sources = Sources {
            model: true,
            ..sources
        };
        let model = figures(sources, &Silent).unwrap();
        assert_eq!(model.len(), rtl.len());
        for (model, rtl) in model.iter().zip(&rtl) {
            assert_eq!((model.ours, &model.metric), (rtl.ours, &rtl.metric));
            assert!(model.how == How::Model || model.how == How::Stated);
            assert!(model.how == rtl.how || rtl.how == How::Rtl);
        }
        assert!(notes(sources).contains("--no-synth"));
    }
}
