// SPDX-License-Identifier: Apache-2.0
//! Figures of Kırbıyık's thesis: storage, arithmetic, cycles and netlists of our base-extension units, and the time of
//! our CPU kernel. The rows are in `data/basext.toml`.

mod kernel;
pub(crate) mod unit;

use ringmill_device::progress::Progress;
use ringmill_hdl::{Family, Hdl};
use ringmill_machines::basext::{self, Extension};
use ringmill_machines::fpga::{Part, Resource};
use ringmill_runtime::shown::Parts;

use crate::area::{area, needed};
use crate::error::PaperError;
use crate::paper::{Asked, Reproduced};
use crate::run::{Figures, no_list};
use crate::scope::{Record, Scope, record};
use crate::sheet::Sheet;
use crate::value::{Value, measured, model, synthesised};

pub const SHEET: &str = include_str!("../../data/basext.toml");

/// The number of steps of progress that a reproduction of the tables reports: base extensions that are run, and kernels
/// that are measured.
const RUNS: u64 = 15 + 18 + 6;

/// Returns Tables 3.1 to 4.11 of Kırbıyık's thesis.
///
/// # Errors
/// Fails if the hardware's tools are asked for and missing, or if a figure cannot be computed.
pub fn tables(
    sheet: &Sheet,
    asked: &Asked,
    progress: &dyn Progress,
) -> Result<Reproduced, PaperError> {
    let sources = asked.sources;
    let hdl = sources.tools()?;
    let mut figures = Ours {
        hdl: hdl.as_ref(),
        rtl: hdl.as_ref().filter(|_| !sources.model),
        synthesis: hdl.as_ref().filter(|_| sources.synthesis),
        parts: Parts::new(progress, "running", RUNS),
    };
    sheet.reproduce("basext", &mut figures, sources)
}

struct Ours<'a> {
    hdl: Option<&'a Hdl>,
    rtl: Option<&'a Hdl>,
    synthesis: Option<&'a Hdl>,
    parts: Parts<'a>,
}

impl Figures for Ours<'_> {
    fn records(&mut self, name: &str, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        let found = match name {
            "arithmetic" => self.arithmetic(at)?,
            "extension" => self.extension(at)?,
            "netlist" => netlist(at, self.synthesis)?,
            "accelerator" => self.accelerator(at)?,
            _ => return Err(no_list(name)),
        };
        Ok(vec![found])
    }
}

impl Ours<'_> {
    /// Returns the storage and arithmetic of the unit that the current row of `data/basext.toml` names.
    fn arithmetic(&self, at: &Scope<'_>) -> Result<Record, PaperError> {
        let Some(unit) = unit::of(at)? else {
            return Ok(Record::new());
        };
        let (l, k, log_n) = (at.count("l")?, at.count("k")?, at.count("log_n")? as u32);
        let mut found = unit::arithmetic(unit, self.hdl)?;
        found.extend(record([
            ("unit.stored", model(unit.stored(l, k))),
            (
                "unit.cycles",
                model(unit.cycles(Extension::Exact, l, k, log_n, 1)),
            ),
        ]));
        Ok(found)
    }

    /// Returns the cycles of an exact base extension by the unit that the current row of `data/basext.toml` names.
    fn extension(&mut self, at: &Scope<'_>) -> Result<Record, PaperError> {
        let Some(unit) = unit::of(at)? else {
            return Ok(Record::new());
        };
        let (l, k, log_n) = (at.count("l")?, at.count("k")?, at.count("log_n")? as u32);
        let cycles = unit::exact(self.rtl, unit, l, k, log_n)?;
        self.parts.done();
        Ok(record([("unit.cycles", cycles.into())]))
    }

    /// Returns our figures for Tables 4.10 and 4.11: the cycles of the folded unit, the least of the printed times of
    /// OpenFHE on processors, and our CPU kernel's time.
    fn accelerator(&mut self, at: &Scope<'_>) -> Result<Record, PaperError> {
        let (l, log_n) = (at.count("l")?, at.count("log_n")? as u32);
        let unit = unit::folded(at)?;
        let columns = ["processor", "parallel", "single"].map(str::to_owned);
        let processors = at.list("openfhe_n{log_n}_by_cpu", &columns, "number")?;
        let place = at.text("at")?;
        let times = processors.iter().flat_map(|times| {
            ["parallel", "single"].map(|of| times.get(&format!("{of}.{place}"))?.known())
        });
        let kernel = kernel::microseconds(log_n, l)?;
        self.parts.done();
        let cycles = basext::cycles(unit, Extension::Exact, l, l, log_n);
        Ok(record([
            ("accelerator.cycles", model(cycles)),
            ("accelerator.beats", unit.beats(log_n).into()),
            ("best", times.flatten().fold(f64::INFINITY, f64::min).into()),
            ("kernel", measured(kernel)),
        ]))
    }
}

/// Returns the resources of the folded unit that the current row of `data/basext.toml` names, and the logic levels of
/// its longest path. Without synthesis only block RAM and DSP are known, from the needs that the machine model states.
fn netlist(at: &Scope<'_>, synthesis: Option<&Hdl>) -> Result<Record, PaperError> {
    let unit = unit::folded(at)?;
    let Some(hdl) = synthesis else {
        let fit = unit.needs("basext", Part::named("U280")?).fit()?;
        let mut found = area(None);
        found.extend(record([
            ("area.bram", model(needed(&fit, Resource::BlockRam))),
            ("area.dsp", model(needed(&fit, Resource::Dsp))),
            ("levels", Value::NotMeasured),
        ]));
        return Ok(found);
    };
    let top = ringmill_hdl::basext::top(unit);
    let mut found = area(Some(&hdl.synthesise_for(&top, Family::Xcup)?.resources));
    let levels = hdl.levels(&top, Family::Xcup)?.paths.levels();
    found.extend(record([("levels", synthesised(levels))]));
    Ok(found)
}
