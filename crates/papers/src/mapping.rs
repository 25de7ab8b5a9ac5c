// SPDX-License-Identifier: Apache-2.0
//! The FPGA resources of the hardware modules in a paper's tables: left out, collected for later, or mapped by Yosys.

use std::cell::RefCell;

use ringmill_device::progress::Progress;
use ringmill_hdl::parts::{Part, resources};
use ringmill_hdl::{Family, Hdl, Resources, Top};
use ringmill_runtime::shown::Parts;

use crate::error::PaperError;

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
    pub fn resources(&self, parts: &[Part]) -> Result<Option<Resources>, PaperError> {
        self.resources_of(parts, FAMILY)
    }

    /// Returns the sum of the hardware parts' resources in another FPGA family, or `None` if they are not mapped.
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

    /// Returns the modules that a collecting pass over a paper's tables found, each once with each FPGA family for
    /// which the tables need it. The list is empty for a pass that does not collect.
    fn asked(self) -> Vec<(Top, Family)> {
        match self {
            Mapping::Asked(tops) => tops.into_inner(),
            Mapping::LeftOut | Mapping::By(_) => Vec::new(),
        }
    }
}

/// Maps all modules that `tables` asks for, one after another, so that a second pass finds them in the cache. Reports
/// progress.
pub fn map(
    hdl: &Hdl,
    tables: impl FnOnce(&Mapping<'_>) -> Result<(), PaperError>,
    progress: &dyn Progress,
) -> Result<(), PaperError> {
    let asked = Mapping::Asked(RefCell::default());
    tables(&asked)?;
    let tops = asked.asked();
    let mut parts = Parts::new(progress, "synthesis", tops.len() as u64);
    for (top, family) in &tops {
        hdl.synthesise_for(top, *family)?;
        parts.done();
    }
    Ok(())
}
