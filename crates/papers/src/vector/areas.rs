// SPDX-License-Identifier: Apache-2.0
//! Areas of Tables 4 and 6 of the BASALISC paper, in standard cells of an open library. Table 4 compares arithmetic for
//! Montgomery-friendly moduli with arithmetic for any odd modulus. Table 6 of that paper has the vector machine's
//! units, as sums of their synthesised leaf modules.

use std::path::Path;

use ringmill_hdl::vector::{comparisons, elements, whole_multipliers};
use ringmill_hdl::{Hdl, Library, Top};
use ringmill_machines::vector::Description;

use crate::error::PaperError;
use crate::run::Figures;
use crate::scope::{Record, Scope, record};
use crate::value::{Value, counted, synthesised};

/// The source of chip areas in the tables of the BASALISC paper: the hardware's tools, or the reason why there is no
/// synthesis.
pub struct Areas(Result<Hdl, String>);

impl Areas {
    pub fn new(synthesis: bool) -> Self {
        Self(match synthesis {
            true => Hdl::find(Path::new(".")).map_err(|e| e.to_string()),
            false => Err("synthesis was not asked for".to_owned()),
        })
    }
}

impl Figures for Areas {
    fn records(&mut self, name: &str, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        match (name, &self.0) {
            ("no_synthesis", Err(why)) => Ok(vec![record([("why", why.as_str().into())])]),
            ("area_comparisons", Ok(hdl)) => arithmetic(hdl),
            ("area_whole_multipliers", Ok(hdl)) => {
                let [ours, generic] = &whole_multipliers();
                Ok(vec![areas(hdl, [("ours", ours), ("generic", generic)])?])
            }
            ("area_buffer", Ok(_)) => {
                let d = Description::read(Description::PAPER)?;
                let bits = counted(d.buffer_words as f64 * 32.0);
                Ok(vec![record([("buffer_bits", bits)])])
            }
            ("area_units", Ok(hdl)) => units(hdl, at),
            _ => Ok(Vec::new()),
        }
    }
}

fn source(library: &Library) -> String {
    format!("{}, {}", library.name, library.source)
}

/// Returns the gates and the area of several modules, each under a name of its own.
fn areas<'t>(
    hdl: &Hdl,
    modules: impl IntoIterator<Item = (&'static str, &'t Top)>,
) -> Result<Record, PaperError> {
    let mut found = Record::new();
    for (name, top) in modules {
        let of = hdl.area(top)?;
        found.insert(format!("gates.{name}"), synthesised(of.gates.round()));
        found.insert(format!("um2.{name}"), synthesised(of.area));
        found.insert("source".to_owned(), source(&of.library).into());
    }
    Ok(found)
}

/// Returns the areas of each of our arithmetic modules, and of its counterparts for any odd modulus: with as many
/// pipeline stages, and with stages as short.
fn arithmetic(hdl: &Hdl) -> Result<Vec<Record>, PaperError> {
    let found = comparisons().into_iter().map(|of| {
        let modules = [
            ("ours", &of.friendly),
            ("generic", &of.generic),
            ("deep", &of.deep),
        ];
        let mut found = areas(hdl, modules)?;
        found.insert("what".to_owned(), of.what.into());
        Ok(found)
    });
    found.collect()
}

/// Returns the areas of the units of the BASALISC paper's machine in Table 6. Transforms come first, since the other
/// areas are shares of theirs.
fn units(hdl: &Hdl, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
    let columns = ["element", "mhz", "mm2"].map(str::to_owned);
    let printed = at.list("elements", &columns, "number")?;
    let mut all = elements(&Description::read(Description::PAPER)?);
    all.sort_by_key(|element| element.name != "ntt");
    let mut found = Vec::new();
    let mut transforms = None;
    for element in &all {
        let Some(area) = element.area(hdl)? else {
            continue;
        };
        let name = Value::from(element.name);
        let row = printed.iter().find(|row| row.get("element") == Some(&name));
        let mm2 = row.and_then(|row| row.get("mm2")?.known());
        found.push(record([
            ("element", name),
            ("source", source(&area.library).into()),
            ("leaves", element.text().into()),
            ("um2", synthesised(area.um2)),
            ("gates", synthesised(area.gates)),
            ("printed_mm2", mm2.into()),
            (
                "transforms_um2",
                (*transforms.get_or_insert(area.um2)).into(),
            ),
        ]));
    }
    Ok(found)
}
