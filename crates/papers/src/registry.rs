// SPDX-License-Identifier: Apache-2.0
//! The list of papers that can be reproduced, to which a program can add its own.

use ringmill_device::progress::Progress;

use crate::error::PaperError;
use crate::paper::{Asked, Paper, Reproduced, SheetPaper, Wish};
use crate::{basext, polymul, ring, torus, vector};

/// The Medha paper, on the co-processor Medha: its Tables 2 to 5, and sections 4 to 6.
const MEDHA: SheetPaper = SheetPaper {
    name: "ring",
    title: "Medha: Microcoded Hardware Accelerator for computing on Encrypted Data",
    takes: &[],
    sheet: ring::SHEET,
    tables: ring::tables,
};

/// The paper of Mert, Öztürk and Savaş on a run-time configurable polynomial multiplier: its Tables 2 to 5, Figure 4,
/// and sections 3 to 5.
const MULTIPLIER: SheetPaper = SheetPaper {
    name: "polymul",
    title: "FPGA implementation of a run-time configurable NTT-based polynomial multiplication hardware",
    takes: &[Wish::Model, Wish::Picture, Wish::Runs],
    sheet: polymul::SHEET,
    tables: polymul::tables,
};

/// Kırbıyık's thesis on a generator of exact base-extension units: its Tables 3.1 to 4.11.
const EXTENSION: SheetPaper = SheetPaper {
    name: "basext",
    title: "Area-time product efficient RNS polynomial base extension on FPGA",
    takes: &[Wish::Model],
    sheet: basext::SHEET,
    tables: basext::tables,
};

/// The paper of Kong and Li on a bootstrapping engine: its Tables I to VI.
const BOOTSTRAPPING: SheetPaper = SheetPaper {
    name: "torus",
    title: "Hardware Acceleration and Implementation of Fully Homomorphic Encryption Over the Torus",
    takes: &[],
    sheet: torus::SHEET,
    tables: torus::tables,
};

/// The BASALISC paper, on the co-processor BASALISC: its Tables 1 and 4 to 8, and the statements of its text.
const BASALISC: SheetPaper = SheetPaper {
    name: "vector",
    title: "BASALISC: Flexible Asynchronous Hardware Accelerator for Fully Homomorphic Encryption",
    takes: &[],
    sheet: vector::SHEET,
    tables: vector::tables,
};

/// A list of papers, each with a name of its own.
pub struct Papers(Vec<Box<dyn Paper>>);

impl Papers {
    /// Returns a list without papers.
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// Returns the list of the papers whose machines Ringmill ships.
    pub fn standard() -> Self {
        Self::none()
            .with(MEDHA)
            .with(MULTIPLIER)
            .with(EXTENSION)
            .with(BOOTSTRAPPING)
            .with(BASALISC)
    }

    /// Returns the list with one more paper, which replaces a paper of the same name.
    #[must_use]
    pub fn with(mut self, paper: impl Paper + 'static) -> Self {
        self.0.retain(|known| known.name() != paper.name());
        self.0.push(Box::new(paper));
        self
    }

    /// Returns every paper of the list, in order.
    pub fn all(&self) -> impl Iterator<Item = &dyn Paper> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Returns the names of the list's papers, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.all().map(|paper| paper.name())
    }

    /// Returns the paper of this name from the list.
    ///
    /// # Errors
    /// Returns [`PaperError::Unknown`] if there is no such paper.
    pub fn get(&self, name: &str) -> Result<&dyn Paper, PaperError> {
        let found = self.all().find(|paper| paper.name() == name);
        found.ok_or_else(|| PaperError::Unknown {
            got: name.to_owned(),
            known: self.names().collect(),
        })
    }

    /// Returns the paper that describes a kind of machine, or `None` if the list has no such paper.
    pub fn of_machine(&self, kind: &str) -> Option<&dyn Paper> {
        self.all().find(|paper| paper.machine() == kind)
    }

    /// Returns the tables of the paper with this name, with our figures beside the printed ones.
    ///
    /// # Errors
    /// Returns [`PaperError::Unknown`] if there is no such paper, and [`PaperError::NoUse`] if the paper does not take
    /// an option. Otherwise fails as [`Paper::tables`] does.
    pub fn reproduce(
        &self,
        name: &str,
        asked: &Asked,
        progress: &dyn Progress,
    ) -> Result<Reproduced, PaperError> {
        let paper = self.get(name)?;
        if let Some(wish) = asked.wishes().find(|wish| !paper.takes().contains(wish)) {
            let takes = self.all().filter(|paper| paper.takes().contains(&wish));
            return Err(PaperError::NoUse {
                paper: paper.name(),
                flag: wish.flag(),
                does: wish.does(),
                of: takes.map(Paper::name).collect(),
            });
        }
        paper.tables(asked, progress)
    }
}
