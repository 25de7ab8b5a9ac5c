// SPDX-License-Identifier: Apache-2.0
//! The interface of a paper: a name, a title, and the function that makes its tables.

use std::path::Path;

use ringmill_device::progress::Progress;
use ringmill_hdl::Hdl;
use ringmill_machines::fpga::Printed;

use crate::error::PaperError;
use crate::row::{self, Row};
use crate::sheet::Sheet;

/// A paper whose tables Ringmill prints beside its own figures.
pub trait Paper: Send + Sync {
    /// Returns the paper's name. It is the argument of `ringmill reproduce`, and the key of the paper's table in the
    /// text of printed figures.
    fn name(&self) -> &'static str;

    /// Returns one line for people: the paper's title, or its subject.
    fn title(&self) -> &'static str;

    /// Returns the kind of machine that the paper describes, as the descriptions of such machines name it.
    fn machine(&self) -> &'static str {
        self.name()
    }

    /// Returns those options of a reproduction that this paper takes and that other papers may refuse.
    fn takes(&self) -> &'static [Wish] {
        &[]
    }

    /// Returns the resources that the paper's machine takes of its FPGA part, as the paper states them.
    ///
    /// # Errors
    /// Fails if the text of printed figures has no such row.
    fn printed(&self) -> Result<Printed, PaperError> {
        Ok(Printed::default())
    }

    /// Returns the paper's figures beside ours, table by table, with the requested options.
    ///
    /// # Errors
    /// Fails if one of our figures cannot be computed, or if our results disagree.
    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError>;
}

/// A paper whose tables are a sheet, TOML data with the name of our figure in each row.
pub(crate) struct SheetPaper {
    pub name: &'static str,
    pub title: &'static str,
    pub takes: &'static [Wish],
    pub sheet: &'static str,
    /// The function that makes our figures and the rows of the sheet.
    pub tables: fn(&Sheet, &Asked, &dyn Progress) -> Result<Reproduced, PaperError>,
}

impl Paper for SheetPaper {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn takes(&self) -> &'static [Wish] {
        self.takes
    }

    fn printed(&self) -> Result<Printed, PaperError> {
        Sheet::read(self.sheet)?.printed(self.name)
    }

    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError> {
        (self.tables)(&Sheet::read(self.sheet)?, asked, progress)
    }
}

/// The sources that our figures may come from, besides counts and measurements.
#[derive(Clone, Copy, Debug)]
pub struct Sources {
    /// Whether cycles come from the model alone, and not from RTL.
    pub model: bool,
    /// Whether FPGA resources and areas come from synthesis.
    pub synthesis: bool,
}

impl Sources {
    /// Returns the hardware's tools if cycles come from RTL or resources from synthesis, else `None`.
    pub(crate) fn tools(self) -> Result<Option<Hdl>, PaperError> {
        match self.model && !self.synthesis {
            true => Ok(None),
            false => Ok(Some(Hdl::find(Path::new("."))?)),
        }
    }
}

/// The options with which a caller asks for the tables of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub sources: Sources,
    /// Whether to draw the paper's figure beside the tables.
    pub picture: bool,
    /// The number of runs over which a measurement on this computer is the mean, or `None` for the paper's own number.
    /// Only the decryption study of `polymul` takes it.
    pub runs: Option<u32>,
}

impl Asked {
    /// Returns those of the chosen options that some papers do not take.
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

/// An option of a reproduction that some papers take and others refuse.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// The option to take cycles from the model alone ([`Sources::model`]).
    Model,
    /// The option to draw a figure of the paper ([`Asked::picture`]).
    Picture,
    /// The option to set the number of measured decryptions ([`Asked::runs`]).
    Runs,
}

impl Wish {
    /// Returns the option's flag on the command line, such as `--model`.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Model => "--model",
            Self::Picture => "--plot",
            Self::Runs => "--runs",
        }
    }

    /// Returns the effect of the option as the end of a sentence, for messages.
    pub fn does(self) -> &'static str {
        match self {
            Self::Model => "takes cycles from the cycle model in the place of the RTL",
            Self::Picture => "draws a figure of the paper",
            Self::Runs => "says how often its study of decryption measures the host",
        }
    }
}

/// A paper's tables with our figures beside the printed ones.
#[derive(Clone, Debug, Default)]
pub struct Reproduced {
    /// The rows of tables that compare machines. Each has a machine and a figure of ours.
    pub figures: Vec<Row>,
    /// The rows of the other tables, printed after `figures`.
    pub rows: Vec<Row>,
    /// Notes as text, for people who read `figures` and `rows`.
    pub notes: String,
    /// The drawn figure as SVG, if the options asked for it.
    pub picture: Option<String>,
}

impl Reproduced {
    /// Returns the tables as text, each under its heading, and the notes.
    pub fn text(&self) -> String {
        row::table(&self.figures) + &row::table(&self.rows) + &self.notes
    }
}
