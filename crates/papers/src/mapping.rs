// SPDX-License-Identifier: Apache-2.0
//! The FPGA resources of the hardware modules in a paper's tables: left out, collected for later, or mapped by Yosys.

use std::cell::RefCell;

use ringmill_device::progress::Progress;
use ringmill_hdl::parts::{Part, resources};
use ringmill_hdl::{Family, Hdl, Resources, Top};
use ringmill_runtime::shown::Parts;

use crate::error::PaperError;
use crate::paper::{Reproduced, Sources};
use crate::run::Figures;
use crate::sheet::Sheet;

/// The FPGA family whose resources the tables of papers count, unless a row names another.
pub const FAMILY: Family = Family::Xcup;

/// The way in which a paper's tables obtain FPGA resources.
pub enum Mapping<'a> {
    /// Figures of FPGA resources are left out of the tables.
    LeftOut,
    /// This pass over a paper's tables only collects the modules and FPGA families that the tables need. It maps none.
    Asked(RefCell<Vec<(Top, Family)>>),
    /// In this pass over a paper's tables Yosys maps the modules, unless the cache has the result.
    By(&'a Hdl),
}

impl Mapping<'_> {
    /// Returns the sum of the hardware parts' resources in [`FAMILY`], or `None` if they are not mapped.
    ///
    /// # Errors
    /// Fails if Yosys cannot map a part.
    pub fn resources(&self, parts: &[Part]) -> Result<Option<Resources>, PaperError> {
        self.resources_of(parts, FAMILY)
    }

    /// Returns the sum of the hardware parts' resources in another FPGA family, or `None` if they are not mapped.
    ///
    /// # Errors
    /// Fails if Yosys cannot map a part.
    pub fn resources_of(
        &self,
        parts: &[Part],
        family: Family,
    ) -> Result<Option<Resources>, PaperError> {
        match self {
            Mapping::LeftOut => Ok(None),
            Mapping::Asked(tops) => {
                let mut tops = tops.borrow_mut();
                for Part { top, .. } in parts {
                    let asked = (top.clone(), family);
                    if !tops.contains(&asked) {
                        tops.push(asked);
                    }
                }
                Ok(None)
            }
            Mapping::By(hdl) => Ok(Some(resources(hdl, parts, family)?)),
        }
    }

    /// Returns whether this pass over the tables only collects modules.
    pub fn collects(&self) -> bool {
        matches!(self, Mapping::Asked(_))
    }
}

/// A source of figures, some of which are resources of hardware modules.
pub trait Mapped<'h>: Figures {
    fn mapping(&mut self) -> &mut Mapping<'h>;
}

/// Returns the tables of a paper's sheet, which is given with the paper's name. With the hardware's tools, a first pass
/// over the tables collects the modules. Yosys maps them one after another, with progress, so that the second pass
/// finds them in the cache.
///
/// # Errors
/// Fails if a figure cannot be computed, or if Yosys cannot map a module.
pub fn reproduce<'h>(
    (sheet, name): (&Sheet, &str),
    figures: &mut impl Mapped<'h>,
    hdl: Option<&'h Hdl>,
    sources: Sources,
    progress: &dyn Progress,
) -> Result<Reproduced, PaperError> {
    if let Some(hdl) = hdl {
        *figures.mapping() = Mapping::Asked(RefCell::default());
        sheet.reproduce(name, figures, sources)?;
        let collected = std::mem::replace(figures.mapping(), Mapping::By(hdl));
        if let Mapping::Asked(tops) = collected {
            let tops = tops.into_inner();
            let mut parts = Parts::new(progress, "synthesis", tops.len() as u64);
            for (top, family) in &tops {
                hdl.synthesise_for(top, *family)?;
                parts.done();
            }
        }
    }
    sheet.reproduce(name, figures, sources)
}
