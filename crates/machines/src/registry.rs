//! The machines: a row for each kind, with all that differs between kinds from outside.

use crate::polymul::{self, PolymulMachine};
use crate::ring::{self, RingMachine};
use crate::{Machine, MachineError};

/// A kind of machine.
#[derive(Debug)]
pub struct Kind {
    /// As the `kind` of a description says it.
    pub name: &'static str,
    /// The descriptions that Ringmill ships, by the names that [`open`] knows.
    pub shipped: &'static [(&'static str, &'static str)],
    /// Reads a description: the machine with its cycle model.
    pub parse: fn(&str) -> Result<Box<dyn Machine>, MachineError>,
    /// Whether it runs programs whole; otherwise it takes some instructions and a host the others.
    pub whole: bool,
    /// The folder of `rtl/` that it is in, where there is RTL of it.
    pub rtl: Option<&'static str>,
    /// Its paper in `paper_tables.toml`.
    pub paper: &'static str,
}

/// Every kind. A description that names none is of the first.
pub const KINDS: [Kind; 2] = [
    Kind {
        name: "ring",
        shipped: &ring::SHIPPED,
        parse: |text| Ok(Box::new(RingMachine::parse(text)?)),
        whole: true,
        rtl: None,
        paper: "ring",
    },
    Kind {
        name: "polymul",
        shipped: &polymul::SHIPPED,
        parse: |text| Ok(Box::new(PolymulMachine::parse(text)?)),
        whole: false,
        rtl: Some("polymul"),
        paper: "polymul",
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
    let kinds = KINDS.iter().filter(|kind| kind.rtl.is_some());
    kinds.flat_map(Kind::names)
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
    (Kind::of(text)?.parse)(text)
}
