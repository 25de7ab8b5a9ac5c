// SPDX-License-Identifier: Apache-2.0
//! The interface of a paper: a name, a title, and the function that makes its tables.

use ringmill_device::progress::Progress;
use ringmill_machines::fpga::Printed;

use crate::error::PaperError;
use crate::figure::{self, Figure};
use crate::row::{self, Row};

/// A paper whose tables are printed beside our figures.
pub trait Paper: Send + Sync {
    /// Returns the name: the table of the paper in the text of printed figures, and the argument of `ringmill
    /// reproduce`.
    fn name(&self) -> &'static str;

    /// Returns one line that says what the paper is about, or its title.
    fn title(&self) -> &'static str;

    /// Returns the kind of machine that the paper describes, by the name in that machine's descriptions.
    fn machine(&self) -> &'static str {
        self.name()
    }

    /// Returns the options that the paper takes besides its tables.
    fn takes(&self) -> &'static [Wish] {
        &[]
    }

    /// Returns the resources that the paper says its machine takes of its part.
    ///
    /// # Errors
    /// A text of printed figures without such a row.
    fn printed(&self) -> Result<Printed, PaperError> {
        Ok(Printed::default())
    }

    /// Returns every figure that the paper prints, table by table, beside ours.
    ///
    /// # Errors
    /// Errors of the parts that make our figures, and disagreements among our results.
    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError>;
}

/// The sources that our figures may use.
#[derive(Clone, Copy, Debug)]
pub struct Sources {
    /// Whether cycles come from the model alone, and not from RTL.
    pub model: bool,
    /// Whether resources come from synthesis.
    pub synthesis: bool,
}

/// The options of a reproduction.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub sources: Sources,
    /// Whether to draw a figure of the paper.
    pub picture: bool,
    /// The number of runs of each measurement on this computer.
    pub runs: Option<u32>,
}

impl Asked {
    /// Returns the options that not every paper takes.
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

/// An option that some papers take and others refuse.
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
    /// Returns the command's flag.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Model => "--model",
            Self::Picture => "--plot",
            Self::Runs => "--runs",
        }
    }

    /// Returns the effect of the flag, as the end of a sentence.
    pub fn does(self) -> &'static str {
        match self {
            Self::Model => "takes cycles from the cycle model in the place of the RTL",
            Self::Picture => "draws a figure of the paper",
            Self::Runs => "says how often its study of decryption measures the host",
        }
    }
}

/// A paper's tables with our figures in them.
#[derive(Clone, Debug, Default)]
pub struct Reproduced {
    /// Our figures beside the paper's, table by table.
    pub figures: Vec<Figure>,
    /// Further rows, printed after `figures`, each with a remark.
    pub rows: Vec<Row>,
    /// Notes for the reader of both.
    pub notes: String,
    /// A drawn figure as SVG, if it was asked for.
    pub picture: Option<String>,
}

impl Reproduced {
    /// Returns the tables as text, each under its heading, and the notes.
    pub fn text(&self) -> String {
        figure::table(&self.figures) + &row::table(&self.rows) + &self.notes
    }
}
