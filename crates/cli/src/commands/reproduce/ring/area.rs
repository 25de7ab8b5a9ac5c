//! The ring paper's Table 3, module by module: logic, and what each has of memories and multipliers.

use ringmill_hdl::leaves::MULTIPLIERS;
use ringmill_hdl::{Hdl, Resources, Top};
use ringmill_machines::fpga::Resource;
use ringmill_machines::ring::{Description, OF_THE_PAPERS_SIZE};

use super::super::figure::How;
use super::super::paper::{Cell, Ring};
use super::super::row::{Ours, Row};
use crate::error::CliError;

const TABLE: &str = "Table 3: modules";
/// Our multiplier for the paper's 60-bit prime, by its place among the library's.
const SPARSE_60: usize = 2;
const NOT_WHOLE: &str = "no RPAU of full size is synthesised";

/// Rows of every module; ours of the leaves that have a like in `rtl/lib`, where the tools of synthesis are, and memories by the
/// descriptions' fields.
pub fn rows(paper: &Ring, synthesis: bool) -> Result<Vec<Row>, CliError> {
    let hdl = match synthesis {
        true => Hdl::find(std::path::Path::new(".")).map_err(|e| e.to_string()),
        false => Err("synthesis was not asked for".to_owned()),
    };
    let mut rows = Vec::new();
    for (module, lut, ff, bram, uram, dsp) in &paper.resources {
        let leaf = leaf(module);
        let found = match (&hdl, &leaf) {
            (Ok(hdl), Some(top)) => Ok(hdl.synthesise(top)?.resources),
            (Err(why), Some(_)) => Err(why.clone()),
            (_, None) => Err(NOT_WHOLE.to_owned()),
        };
        let case = name(module);
        let counted = |of: fn(&Resources) -> u64| match &found {
            Ok(resources) => Ours::Is(of(resources) as f64, How::Synthesis),
            Err(_) => Ours::NotMeasured,
        };
        let remark = match (&found, &leaf) {
            (Ok(_), Some(top)) => format!("{top} for a 7-series part"),
            // Found is what a leaf of ours takes.
            (Ok(_), None) => NOT_WHOLE.to_owned(),
            (Err(why), _) => why.clone(),
        };
        let logic = [
            ("LUT", *lut, counted(|r| r.lut + r.lut_memory)),
            ("registers", *ff, counted(|r| r.ff)),
        ];
        for (metric, printed, ours) in logic {
            let row = Row::new(TABLE, case.as_str(), metric, "", Some(printed), ours);
            rows.push(row.remarked(remark.as_str()));
        }
        if let Some(printed) = dsp.figure() {
            let row = |metric: String, ours| {
                Row::new(TABLE, case.as_str(), metric, "", Some(printed), ours)
            };
            match multipliers(module) {
                Some(of) => {
                    for (machine, count) in of? {
                        let ours = Ours::Is(count, How::Stated);
                        rows.push(row(format!("DSP, {machine}"), ours));
                    }
                }
                None => {
                    rows.push(row("DSP".to_owned(), counted(|r| r.dsp)).remarked(remark.as_str()));
                }
            }
        }
        for (metric, printed, kind) in [
            ("block RAM", bram, Resource::BlockRam),
            ("ultra RAM", uram, Resource::UltraRam),
        ] {
            rows.extend(memory(module, &case, metric, printed, kind)?);
        }
    }
    Ok(rows)
}

fn name(module: &str) -> String {
    module.replace('_', " ").replace('.', ": ")
}

/// The module of ours that does what the paper's does.
fn leaf(module: &str) -> Option<Top> {
    let of = |name| MULTIPLIERS.get(SPARSE_60).map(|m| m.top(name));
    match module {
        "butterfly_unit" => of("rm_butterfly"),
        "butterfly_unit.modular_multiplier" => of("rm_mod_mul"),
        _ => None,
    }
}

/// An RPAU's part of the descriptions' fields: its width, and what of it.
fn part(module: &str) -> Option<(u32, &str)> {
    let (rpau, part) = module.split_once('.').unwrap_or((module, ""));
    match rpau {
        "rpau_54" => Some((54, part)),
        "rpau_60" => Some((60, part)),
        _ => None,
    }
}

type ByMachine = Vec<(&'static str, f64)>;

/// DSP blocks of the multipliers that a module has.
fn multipliers(module: &str) -> Option<Result<ByMachine, CliError>> {
    let (bits, part) = part(module)?;
    let wanted: &[&str] = match part {
        "dyadic_core" => &["dyadic multipliers"],
        "main_core" => &["butterfly multipliers", "twiddle multipliers"],
        "" => &[
            "butterfly multipliers",
            "twiddle multipliers",
            "dyadic multipliers",
        ],
        _ => return None,
    };
    Some(uses(bits, &|need| wanted.contains(&need)))
}

/// What a module has of a kind of memory, beside the printed figure.
fn memory(
    module: &str,
    case: &str,
    metric: &str,
    printed: &Cell,
    kind: Resource,
) -> Result<Vec<Row>, CliError> {
    let Some(printed) = printed.figure() else {
        return Ok(Vec::new());
    };
    let row = |metric: String, ours| Row::new(TABLE, case, metric, "", Some(printed), ours);
    let Some((bits, part)) = part(module) else {
        return Ok(vec![row(metric.to_owned(), Ours::None)]);
    };
    let twiddles = |need: &str| need.contains("twiddle");
    let of: &dyn Fn(&str) -> bool = match part {
        "memory_core" => &|need| !twiddles(need),
        "main_core" => &|need| twiddles(need),
        _ => &|_| true,
    };
    let mut rows = Vec::new();
    for (machine, text) in OF_THE_PAPERS_SIZE {
        let fit = Description::parse(text)?.needs_at(bits)?.fit()?;
        let own = fit.needs.iter().filter(|n| n.units.is_some());
        let needs = own.filter(|n| n.resource == kind);
        let each = needs.filter(|n| of(&n.name)).map(|n| n.each).sum();
        let ours = Ours::Is(each, How::Stated);
        rows.push(row(format!("{metric}, {machine}"), ours));
    }
    Ok(rows)
}

fn uses(bits: u32, wanted: &dyn Fn(&str) -> bool) -> Result<ByMachine, CliError> {
    let mut found = Vec::new();
    for (machine, text) in OF_THE_PAPERS_SIZE {
        let fit = Description::parse(text)?.needs_at(bits)?.fit()?;
        let needs = fit.needs.iter().filter(|n| wanted(&n.name));
        found.push((machine, needs.map(|n| n.each).sum()));
    }
    Ok(found)
}
