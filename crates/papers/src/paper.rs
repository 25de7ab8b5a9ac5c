// SPDX-License-Identifier: Apache-2.0
//! What a paper is: a name, a title, and the function that makes its tables.

use ringmill_device::progress::Progress;
use ringmill_machines::fpga::Printed;

use crate::error::PaperError;
use crate::figure::{self, Figure};
use crate::row::{self, Row};

/// A paper whose tables are printed beside our figures.
pub trait Paper: Send + Sync {
    /// Its table in the text of printed figures, and what `ringmill reproduce` is given.
    fn name(&self) -> &'static str;

    /// In a line: what it is of, or its title.
    fn title(&self) -> &'static str;

    /// The kind of machine that it describes, as descriptions of that machine say it.
    fn machine(&self) -> &'static str {
        self.name()
    }

    /// What it takes beside its tables.
    fn takes(&self) -> &'static [Wish] {
        &[]
    }

    /// What it says that its machine took of its part.
    ///
    /// # Errors
    /// A text of printed figures that has no such row.
    fn printed(&self) -> Result<Printed, PaperError> {
        Ok(Printed::default())
    }

    /// Every figure that it prints, table by table, beside ours.
    ///
    /// # Errors
    /// What our own figures are made with refuses, or disagrees about.
    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError>;
}

/// Where our figures come from.
#[derive(Clone, Copy, Debug)]
pub struct Sources {
    /// Cycles from the model alone, not the RTL.
    pub model: bool,
    /// Resources too, from synthesis.
    pub synthesis: bool,
}

/// What is asked of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub sources: Sources,
    /// A figure of the paper, drawn.
    pub picture: bool,
    /// How often what is measured on this computer is measured.
    pub runs: Option<u32>,
}

impl Asked {
    /// What of it is not for every paper.
    pub fn wishes(&self) -> impl Iterator<Item = Wish> + use<> {
        let made = [
            (self.sources.model, Wish::Model),
            (self.picture, Wish::Picture),
            (self.runs.is_some(), Wish::Runs),
        ];
        made.into_iter()
            .filter_map(|(made, wish)| made.then_some(wish))
    }
}

/// What some papers take and others have no use for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// [`Sources::model`].
    Model,
    /// [`Asked::picture`].
    Picture,
    /// [`Asked::runs`].
    Runs,
}

impl Wish {
    /// As the command has it.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Model => "--model",
            Self::Picture => "--plot",
            Self::Runs => "--runs",
        }
    }

    /// What it does, as the end of a sentence.
    pub fn does(self) -> &'static str {
        match self {
            Self::Model => "takes cycles from the cycle model in the place of the RTL",
            Self::Picture => "draws a figure of the paper",
            Self::Runs => "says how often its study of decryption measures the host",
        }
    }
}

/// A paper's tables with ours in them.
#[derive(Clone, Debug, Default)]
pub struct Reproduced {
    /// Figures of ours beside the paper's, table by table.
    pub figures: Vec<Figure>,
    /// Figures of the paper, after those, with what stands beside them.
    pub rows: Vec<Row>,
    /// What a reader must know of both.
    pub notes: String,
    /// A drawn figure as SVG, where it was asked for.
    pub picture: Option<String>,
}

impl Reproduced {
    /// The tables as text, each under its heading, and the notes.
    pub fn text(&self) -> String {
        figure::table(&self.figures) + &row::table(&self.rows) + &self.notes
    }
}
