// SPDX-License-Identifier: Apache-2.0
//! Figures of Kırbıyık's thesis: storage, arithmetic, cycles and netlists of our base-extension units, and the time of
//! our CPU kernel. The rows are in `data/basext.toml`.

mod architectures;
pub(crate) mod cycles;
mod kernel;
mod netlist;

use std::path::Path;

use ringmill_device::progress::Progress;
use ringmill_hdl::Hdl;
use ringmill_machines::basext::{self, Unit, Word};
use ringmill_machines::fpga::Printed;
use ringmill_runtime::shown::Parts;

use crate::error::PaperError;
use crate::paper::{Asked, Paper, Reproduced, Wish};
use crate::run::{Figures, no_list};
use crate::scope::{Record, Scope, record};
use crate::sheet::Sheet;
use crate::value::{Value, model, stated};
use architectures::{arithmetic, unit};
use cycles::{Cycles, shape, word};

pub const SHEET: &str = include_str!("../../data/basext.toml");

/// The number of steps of progress that a reproduction of the tables reports: base extensions that are run, and kernels
/// that are measured.
const RUNS: u64 = 15 + 18 + 6;

/// Kırbıyık's thesis on a generator of exact base-extension units: its Tables 3.1 to 4.11.
pub struct Extension;

impl Paper for Extension {
    fn name(&self) -> &'static str {
        "basext"
    }

    fn title(&self) -> &'static str {
        "Area-time product efficient RNS polynomial base extension on FPGA"
    }

    fn takes(&self) -> &'static [Wish] {
        &[Wish::Model]
    }

    fn printed(&self) -> Result<Printed, PaperError> {
        Sheet::read(SHEET)?.printed(self.name())
    }

    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError> {
        let sources = asked.sources;
        let hdl = match sources.model && !sources.synthesis {
            true => None,
            false => Some(Hdl::find(Path::new("."))?),
        };
        let mut figures = Ours {
            hdl: hdl.as_ref(),
            cycles: Cycles {
                rtl: hdl.as_ref().filter(|_| !sources.model),
            },
            synthesis: hdl.as_ref().filter(|_| sources.synthesis),
            parts: Parts::new(progress, "running", RUNS),
        };
        Sheet::read(SHEET)?.reproduce(self.name(), &mut figures, sources)
    }
}

struct Ours<'a> {
    hdl: Option<&'a Hdl>,
    cycles: Cycles<'a>,
    synthesis: Option<&'a Hdl>,
    parts: Parts<'a>,
}

impl Figures for Ours<'_> {
    fn records(&mut self, name: &str, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        let found = match name {
            "arithmetic" => self.arithmetic(at)?,
            "extension" => self.extension(at)?,
            "netlist" => netlist::figures(folded(at, at.count("k")?)?, self.synthesis)?,
            "accelerator" => self.accelerator(at)?,
            _ => return Err(no_list(name)),
        };
        Ok(vec![found])
    }
}

/// Returns the shape of a folded base-extension unit with `targets` targets. The current row of `data/basext.toml`
/// (`scope`) names its word, lanes, ring degree and number of sources.
fn folded(at: &Scope<'_>, targets: usize) -> Result<basext::Shape, PaperError> {
    let (lanes, log_n) = (at.count("TP")?, at.count("log_n")? as u32);
    let bits = at.count("bits")? as u32;
    shape(word(bits), lanes, log_n, at.count("l")?, targets)
}

impl Ours<'_> {
    /// Returns the storage and arithmetic of the base-extension unit with moduli of 64 bits, for the architecture that
    /// the current row of `data/basext.toml` names.
    fn arithmetic(&self, at: &Scope<'_>) -> Result<Record, PaperError> {
        let (l, k, log_n) = (at.count("l")?, at.count("k")?, at.count("log_n")? as u32);
        let shape = shape(Word::Bits64, at.count("TP")?, log_n, l, k)?;
        let Some(unit) = unit(&at.text("architecture")?, shape) else {
            let names = [
                "made",
                "multipliers",
                "modular_adders",
                "adders",
                "stored",
                "cycles",
            ];
            let missing = names.map(|name| (format!("unit.{name}"), Value::NotMeasured));
            return Ok(missing.into());
        };
        let (found, how) = arithmetic(unit, self.hdl)?;
        let of = |count: u64| crate::row::Ours::Is(count as f64, how).into();
        let made = if matches!(unit, Unit::Rowers(..)) {
            k
        } else {
            1
        };
        let cycles = unit.cycles(basext::Extension::Exact, l, k, log_n, 1);
        Ok(record([
            ("unit.made", stated(made)),
            ("unit.multipliers", of(found.multipliers)),
            ("unit.modular_adders", of(found.modular_adders)),
            ("unit.adders", of(found.adders)),
            ("unit.stored", model(unit.stored(l, k))),
            ("unit.cycles", model(cycles)),
        ]))
    }

    /// Returns the cycles of an exact base extension by the unit, for the architecture that the current row of
    /// `data/basext.toml` names.
    fn extension(&mut self, at: &Scope<'_>) -> Result<Record, PaperError> {
        let (l, k, log_n) = (at.count("l")?, at.count("k")?, at.count("log_n")? as u32);
        let Some(unit) = unit(&at.text("architecture")?, folded(at, k)?) else {
            return Ok(record([("unit.cycles", Value::NotMeasured)]));
        };
        let cycles = self.cycles.exact(unit, l, k, log_n)?;
        self.parts.done();
        Ok(record([("unit.cycles", cycles.into())]))
    }

    /// Returns our figures for Tables 4.10 and 4.11: the folded unit, the least time of a processor, and our CPU
    /// kernel's time.
    fn accelerator(&mut self, at: &Scope<'_>) -> Result<Record, PaperError> {
        const LANES: usize = 32;
        let (l, log_n) = (at.count("l")?, at.count("log_n")? as u32);
        let unit = shape(Word::Bits64, LANES, log_n, l, l)?;
        let columns = ["processor", "parallel", "single"].map(str::to_owned);
        let processors = at.list("openfhe_n{log_n}_by_cpu", &columns, "number")?;
        let place = at.text("at")?;
        let times = processors.iter().flat_map(|times| {
            ["parallel", "single"].map(|of| times.get(&format!("{of}.{place}"))?.known())
        });
        let kernel = kernel::microseconds(log_n, l)?;
        self.parts.done();
        let cycles = basext::cycles(unit, basext::Extension::Exact, l, l, log_n);
        Ok(record([
            ("accelerator.cycles", model(cycles)),
            ("accelerator.beats", (unit.beats(log_n) as f64).into()),
            ("best", times.flatten().fold(f64::INFINITY, f64::min).into()),
            ("kernel", crate::value::measured(kernel)),
        ]))
    }
}
