// SPDX-License-Identifier: Apache-2.0
//! The papers that are known: a list, which one's own papers can be added to.

use ringmill_device::progress::Progress;

use crate::error::PaperError;
use crate::paper::{Asked, Paper, Reproduced};
use crate::{basext, polymul, ring, torus, vector};

/// Papers by their names.
pub struct Papers(Vec<Box<dyn Paper>>);

impl Papers {
    /// None.
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// Those of the machines that Ringmill ships.
    pub fn standard() -> Self {
        Self::none()
            .with(ring::Medha)
            .with(polymul::Multiplier)
            .with(basext::Extension)
            .with(torus::Bootstrapping)
            .with(vector::Basalisc)
    }

    /// The same with one more, in the place of one of its name.
    #[must_use]
    pub fn with(mut self, paper: impl Paper + 'static) -> Self {
        self.0.retain(|known| known.name() != paper.name());
        self.0.push(Box::new(paper));
        self
    }

    /// Every paper.
    pub fn all(&self) -> impl Iterator<Item = &dyn Paper> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.all().map(|paper| paper.name())
    }

    /// The paper of a name.
    ///
    /// # Errors
    /// [`PaperError::Unknown`] for a name that none has.
    pub fn get(&self, name: &str) -> Result<&dyn Paper, PaperError> {
        let found = self.all().find(|paper| paper.name() == name);
        found.ok_or_else(|| PaperError::Unknown {
            got: name.to_owned(),
            known: self.names().collect(),
        })
    }

    /// The paper of a kind of machine, where there is one.
    pub fn of_machine(&self, kind: &str) -> Option<&dyn Paper> {
        self.all().find(|paper| paper.machine() == kind)
    }

    /// A paper's tables with ours in them.
    ///
    /// # Errors
    /// [`PaperError::Unknown`]; [`PaperError::NoUse`] where the paper does not take what is asked; those of [`Paper::tables`].
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
