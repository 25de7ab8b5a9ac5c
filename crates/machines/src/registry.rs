// SPDX-License-Identifier: Apache-2.0
//! The table of machines: a row for each kind, with its descriptions and its parser.

use crate::basext::{self, BasextMachine};
use crate::coprocessor::{self, Card, CardDescription, Catalogue, Coprocessor};
use crate::error::MachineError;
use crate::machine::Machine;
use crate::polymul::{self, PolymulMachine};
use crate::ring::{self, RingMachine};
use crate::torus::{self, TorusMachine};
use crate::vector::{self, VectorMachine};

/// A kind of machine.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The name in the `kind` field of descriptions.
    pub name: &'static str,
    /// The built-in descriptions, by their names.
    pub shipped: &'static [(&'static str, &'static str)],
    /// Parses a description, and returns the machine with its cycle model.
    pub parse: Parse,
}

/// The part of a program that a kind of machine runs.
#[derive(Clone, Copy, Debug)]
pub enum Parse {
    /// The whole program.
    Whole(fn(&str) -> Result<Box<dyn Machine>, MachineError>),
    /// Some instructions, alone behind the host link or with others on a card; a host runs the rest.
    Coprocessor(fn(&str) -> Result<Box<dyn Coprocessor>, MachineError>),
    /// The instructions of the co-processors on a card, which the catalogue finds.
    Card(fn(&str, &dyn Catalogue) -> Result<Card, MachineError>),
}

/// A machine that was opened, in the form that a device needs.
pub enum Opened {
    Whole(Box<dyn Machine>),
    Card(Box<Card>),
}

impl Kind {
    /// Returns the names of the built-in machines of this kind.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.shipped.iter().map(|&(name, _)| name)
    }
}

/// Kinds of machines.
#[derive(Clone, Debug)]
pub struct Registry {
    kinds: Vec<Kind>,
}

impl Registry {
    /// Returns every kind of Ringmill. A description without a kind is of the first.
    pub fn standard() -> Self {
        let kinds = vec![
            Kind {
                name: ring::KIND,
                shipped: &ring::SHIPPED,
                parse: Parse::Whole(|text| Ok(Box::new(RingMachine::parse(text)?))),
            },
            Kind {
                name: polymul::KIND,
                shipped: &polymul::SHIPPED,
                parse: Parse::Coprocessor(|text| Ok(Box::new(PolymulMachine::parse(text)?))),
            },
            Kind {
                name: basext::KIND,
                shipped: &basext::SHIPPED,
                parse: Parse::Coprocessor(|text| Ok(Box::new(BasextMachine::parse(text)?))),
            },
            Kind {
                name: torus::KIND,
                shipped: &torus::SHIPPED,
                parse: Parse::Whole(|text| Ok(Box::new(TorusMachine::parse(text)?))),
            },
            Kind {
                name: vector::KIND,
                shipped: &vector::SHIPPED,
                parse: Parse::Whole(|text| Ok(Box::new(VectorMachine::parse(text)?))),
            },
            Kind {
                name: coprocessor::KIND,
                shipped: &coprocessor::SHIPPED,
                parse: Parse::Card(CardDescription::parse),
            },
        ];
        Self { kinds }
    }

    /// Returns the table with one more kind, in place of one of the same name.
    #[must_use]
    pub fn with(mut self, kind: Kind) -> Self {
        match self.kinds.iter_mut().find(|row| row.name == kind.name) {
            Some(row) => *row = kind,
            None => self.kinds.push(kind),
        }
        self
    }

    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Returns the names that [`Self::open`] knows.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.kinds.iter().flat_map(Kind::names)
    }

    /// Returns the description of a built-in machine, with its comments.
    ///
    /// # Errors
    /// [`MachineError::Unknown`] for any other name.
    pub fn description(&self, name: &str) -> Result<&'static str, MachineError> {
        let mut shipped = self.kinds.iter().flat_map(|kind| kind.shipped);
        let found = shipped.find(|(known, _)| *known == name);
        let unknown = || MachineError::Unknown {
            name: name.to_owned(),
            known: self.names().collect::<Vec<_>>().join(", "),
        };
        found.map(|&(_, text)| text).ok_or_else(unknown)
    }

    /// Returns the kind of the machine of a description.
    ///
    /// # Errors
    /// [`MachineError::Syntax`] for text that is no TOML, [`MachineError::Field`] for an unknown kind.
    pub fn kind_of(&self, text: &str) -> Result<&Kind, MachineError> {
        let table: toml::Table =
            toml::from_str(text).map_err(|e| MachineError::Syntax(e.to_string()))?;
        let (found, got) = match table.get("kind") {
            None => (self.kinds.first(), "none".to_owned()),
            Some(kind) => {
                let mut kinds = self.kinds.iter();
                let found = kinds.find(|row| kind.as_str() == Some(row.name));
                (found, kind.to_string())
            }
        };
        found.ok_or_else(|| {
            let names = self.kinds.iter().map(|row| format!("\"{}\"", row.name));
            MachineError::Field {
                field: "kind",
                got,
                expected: names.collect::<Vec<_>>().join(" or "),
            }
        })
    }

    /// Makes the machine of a description, in the form that a device needs.
    ///
    /// # Errors
    /// The errors of [`Self::kind_of`] and of the kind's parser; for a co-processor by itself, those of
    /// [`Card::alone`].
    pub fn opened(&self, text: &str) -> Result<Opened, MachineError> {
        match self.kind_of(text)?.parse {
            Parse::Whole(parse) => Ok(Opened::Whole(parse(text)?)),
            Parse::Coprocessor(parse) => Ok(Opened::Card(Box::new(Card::alone(parse(text)?)?))),
            Parse::Card(parse) => Ok(Opened::Card(Box::new(parse(text, self)?))),
        }
    }

    /// Makes the machine of a description.
    ///
    /// # Errors
    /// The errors of [`Self::opened`].
    pub fn load(&self, text: &str) -> Result<Box<dyn Machine>, MachineError> {
        match self.opened(text)? {
            Opened::Whole(machine) => Ok(machine),
            Opened::Card(card) => Ok(card),
        }
    }

    /// Makes a built-in machine.
    ///
    /// # Errors
    /// [`MachineError::Unknown`] for any other name.
    pub fn open(&self, name: &str) -> Result<Box<dyn Machine>, MachineError> {
        self.load(self.description(name)?)
    }
}

impl Catalogue for Registry {
    fn description(&self, name: &str) -> Result<&'static str, MachineError> {
        Self::description(self, name)
    }

    /// [`MachineError::Field`] for a machine of a kind that cannot be on a card.
    fn coprocessor(&self, text: &str) -> Result<Box<dyn Coprocessor>, MachineError> {
        let kind = self.kind_of(text)?;
        match kind.parse {
            Parse::Coprocessor(parse) => parse(text),
            Parse::Whole(_) | Parse::Card(_) => Err(MachineError::Field {
                field: "coprocessor",
                got: format!("a machine of kind \"{}\"", kind.name),
                expected: "a machine that takes some instructions".to_owned(),
            }),
        }
    }
}
