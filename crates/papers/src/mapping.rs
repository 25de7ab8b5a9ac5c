// SPDX-License-Identifier: Apache-2.0
//! What modules take of a part: left out, asked for, or mapped by Yosys.

use std::cell::RefCell;

use ringmill_device::progress::Progress;
use ringmill_hdl::parts::{Part, resources};
use ringmill_hdl::{Family, Hdl, Resources, Top};
use ringmill_runtime::shown::Parts;

use crate::error::PaperError;

/// The family that machines are counted for.
pub const FAMILY: Family = Family::Xcup;

/// Where a table's resources come from.
pub enum Mapping<'a> {
    /// They are not in the tables.
    LeftOut,
    /// They are only noted down: the modules that the tables ask for, and for which family.
    Asked(RefCell<Vec<(Top, Family)>>),
    /// Yosys finds them, unless the cache has them.
    By(&'a Hdl),
}

impl Mapping<'_> {
    /// What the parts take together of [`FAMILY`], where they are mapped.
    pub fn resources(&self, parts: &[Part]) -> Result<Option<Resources>, PaperError> {
        self.resources_of(parts, FAMILY)
    }

    /// The same of another family.
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

    /// The different modules that were asked for.
    fn asked(self) -> Vec<(Top, Family)> {
        match self {
            Mapping::Asked(tops) => tops.into_inner(),
            Mapping::LeftOut | Mapping::By(_) => Vec::new(),
        }
    }
}

/// Maps what the tables ask for, one module after another, so that they find it in the cache; tells how far it is.
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
