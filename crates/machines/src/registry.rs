//! The machines: a row for each kind, with all that differs between kinds from outside.

use crate::basext::{self, BasextMachine};
use crate::coprocessor::{self, Card, CardDescription, Coprocessor};
use crate::polymul::{self, PolymulMachine};
use crate::ring::{self, RingMachine};
use crate::torus::{self, TorusMachine};
use crate::vector::{self, VectorMachine};
use crate::{Machine, MachineError};

/// A kind of machine.
#[derive(Debug)]
pub struct Kind {
    /// As the `kind` of a description says it.
    pub name: &'static str,
    /// The descriptions that Ringmill ships, by the names that [`open`] knows.
    pub shipped: &'static [(&'static str, &'static str)],
    /// Reads a description: the machine with its cycle model.
    pub parse: Parse,
    /// The folder of `rtl/` that it is in, where its description alone says what to build.
    pub rtl: Option<&'static str>,
    /// Its paper in `paper_tables.toml`, where it is of one.
    pub paper: Option<&'static str>,
}

/// How much of a program a kind of machine runs.
#[derive(Clone, Copy, Debug)]
pub enum Parse {
    /// All of it.
    Whole(fn(&str) -> Result<Box<dyn Machine>, MachineError>),
    /// Some instructions, alone behind the host link or as one of several on a card; a host runs the others.
    Coprocessor(fn(&str) -> Result<Box<dyn Coprocessor>, MachineError>),
    /// What the co-processors on it take.
    Card(fn(&str) -> Result<Card, MachineError>),
}

/// A machine that was opened, with what a device has to know of it.
pub enum Opened {
    Whole(Box<dyn Machine>),
    Card(Box<Card>),
}

impl Opened {
    /// Whether there is RTL of all of it.
    pub fn has_rtl(&self) -> bool {
        match self {
            Self::Whole(machine) => machine.rtl().is_some(),
            Self::Card(card) => card.units().iter().all(|unit| unit.core().is_some()),
        }
    }
}

/// Every kind. A description that names none is of the first.
pub const KINDS: [Kind; 6] = [
    Kind {
        name: "ring",
        shipped: &ring::SHIPPED,
        parse: Parse::Whole(|text| Ok(Box::new(RingMachine::parse(text)?))),
        // Its top wants the primes of a program besides: it runs as a device, and is none of `ringmill rtl`'s designs.
        rtl: None,
        paper: Some("ring"),
    },
    Kind {
        name: "polymul",
        shipped: &polymul::SHIPPED,
        parse: Parse::Coprocessor(|text| Ok(Box::new(PolymulMachine::parse(text)?))),
        rtl: Some("polymul"),
        paper: Some("polymul"),
    },
    Kind {
        name: "basext",
        shipped: &basext::SHIPPED,
        parse: Parse::Coprocessor(|text| Ok(Box::new(BasextMachine::parse(text)?))),
        rtl: Some("basext"),
        paper: Some("basext"),
    },
    Kind {
        name: "torus",
        shipped: &torus::SHIPPED,
        parse: Parse::Whole(|text| Ok(Box::new(TorusMachine::parse(text)?))),
        rtl: Some("torus"),
        paper: Some("torus"),
    },
    Kind {
        name: "vector",
        shipped: &vector::SHIPPED,
        parse: Parse::Whole(|text| Ok(Box::new(VectorMachine::parse(text)?))),
        rtl: None,
        paper: Some("vector"),
    },
    Kind {
        name: "card",
        shipped: &coprocessor::SHIPPED,
        parse: Parse::Card(CardDescription::parse),
        // Those of the co-processors.
        rtl: None,
        paper: None,
    },
];

impl Kind {
    /// The kind of the machine that a description describes.
    ///
    /// # Errors
    /// [`MachineError::Syntax`] for text that is no TOML, [`MachineError::Field`] for a kind that there is none of.
    pub fn of(text: &str) -> Result<&'static Kind, MachineError> {
        let table: toml::Table =
            toml::from_str(text).map_err(|e| MachineError::Syntax(e.to_string()))?;
        let [first, ..] = &KINDS;
        let Some(kind) = table.get("kind") else {
            return Ok(first);
        };
        let found = KINDS.iter().find(|row| kind.as_str() == Some(row.name));
        found.ok_or_else(|| MachineError::Field {
            field: "kind",
            got: kind.to_string(),
            expected: KINDS.map(|row| format!("\"{}\"", row.name)).join(" or "),
        })
    }

    /// The machine of this kind that a text describes.
    ///
    /// # Errors
    /// Those of its parser; of a co-processor by itself, those of [`Card::alone`].
    pub fn open(&self, text: &str) -> Result<Opened, MachineError> {
        match self.parse {
            Parse::Whole(parse) => Ok(Opened::Whole(parse(text)?)),
            Parse::Coprocessor(parse) => Ok(Opened::Card(Box::new(Card::alone(parse(text)?)?))),
            Parse::Card(parse) => Ok(Opened::Card(Box::new(parse(text)?))),
        }
    }

    /// The names of the machines of this kind that Ringmill ships.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.shipped.iter().map(|&(name, _)| name)
    }
}

/// The names that [`open`] knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().flat_map(Kind::names)
}

/// Names of machines that there is RTL of.
pub fn names_with_rtl() -> impl Iterator<Item = &'static str> {
    let shipped = KINDS
        .iter()
        .flat_map(|kind| kind.shipped.iter().map(move |shipped| (kind, shipped)));
    shipped
        .filter(|(kind, (_, text))| kind.open(text).is_ok_and(|opened| opened.has_rtl()))
        .map(|(_, (name, _))| *name)
}

/// The description of a machine that Ringmill ships, comments and all.
///
/// # Errors
/// [`MachineError::Unknown`] for any other name.
pub fn description(name: &str) -> Result<&'static str, MachineError> {
    let mut shipped = KINDS.iter().flat_map(|kind| kind.shipped);
    let found = shipped.find(|(known, _)| *known == name);
    let unknown = || MachineError::Unknown {
        name: name.to_owned(),
        known: names().collect::<Vec<_>>().join(", "),
    };
    found.map(|&(_, text)| text).ok_or_else(unknown)
}

/// Opens a machine that Ringmill ships.
///
/// # Errors
/// [`MachineError::Unknown`] for any other name.
pub fn open(name: &str) -> Result<Box<dyn Machine>, MachineError> {
    load(description(name)?)
}

/// Opens the machine that a description text describes.
///
/// # Errors
/// [`MachineError::Syntax`] and [`MachineError::Field`].
pub fn load(text: &str) -> Result<Box<dyn Machine>, MachineError> {
    match Kind::of(text)?.open(text)? {
        Opened::Whole(machine) => Ok(machine),
        Opened::Card(card) => Ok(card),
    }
}

/// The co-processor that a description text describes, to be put on a card.
///
/// # Errors
/// [`MachineError::Field`] for a machine of a kind that cannot be put there; those of its parser.
pub fn coprocessor(text: &str) -> Result<Box<dyn Coprocessor>, MachineError> {
    let kind = Kind::of(text)?;
    match kind.parse {
        Parse::Coprocessor(parse) => parse(text),
        Parse::Whole(_) | Parse::Card(_) => Err(MachineError::Field {
            field: "coprocessor",
            got: format!("a machine of kind \"{}\"", kind.name),
            expected: "a machine that takes some instructions".to_owned(),
        }),
    }
}
