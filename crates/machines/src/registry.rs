// SPDX-License-Identifier: Apache-2.0
//! The registry of machines: one row for each kind, with its built-in descriptions and its parser.

use crate::basext::{self, BasextMachine};
use crate::coprocessor::{self, Card, CardDescription, Catalogue, Coprocessor};
use crate::error::MachineError;
use crate::machine::Machine;
use crate::polymul::{self, PolymulMachine};
use crate::ring::{self, RingMachine};
use crate::torus::{self, TorusMachine};
use crate::vector::{self, VectorMachine};

/// A kind of machine, such as `ring` or `vector`.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The kind's name in the field `kind` of descriptions.
    pub name: &'static str,
    /// The kind's built-in descriptions: pairs of name and TOML text.
    pub shipped: &'static [(&'static str, &'static str)],
    /// The function that parses a description and returns the machine with its cycle model.
    pub parse: Parse,
}

/// The parser of a kind of machine's descriptions. The variant says which part of a program such a
/// machine runs.
#[derive(Clone, Copy, Debug)]
pub enum Parse {
    /// The parser of a machine that runs every instruction of a program.
    Whole(fn(&str) -> Result<Box<dyn Machine>, MachineError>),
    /// The parser of a co-processor, which runs some of a program's instructions. It is alone behind
    /// the host link, or with other co-processors on a card. A host runs the other instructions.
    Coprocessor(fn(&str) -> Result<Box<dyn Coprocessor>, MachineError>),
    /// The parser of a card, whose co-processors run some of a program's instructions. The catalogue
    /// finds the descriptions of the co-processors.
    Card(fn(&str, &dyn Catalogue) -> Result<Card, MachineError>),
}

/// A machine that was opened from its description, in the form that a simulated device runs. A
/// co-processor alone is put on a card of its own.
pub enum Opened {
    Whole(Box<dyn Machine>),
    Card(Box<Card>),
}

impl Kind {
    /// Returns the names of this kind's built-in machines.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.shipped.iter().map(|&(name, _)| name)
    }
}

/// The kinds of machines that are known by name, each with its built-in descriptions and its parser.
#[derive(Clone, Debug)]
pub struct Registry {
    kinds: Vec<Kind>,
}

impl Registry {
    /// Returns the registry of all machines of Ringmill. A description without the field `kind` has the
    /// first kind, `ring`.
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

    /// Returns the registry with `kind` added. If the registry has a kind of the same name, `kind`
    /// replaces it.
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

    /// Returns the names of all built-in machines, which [`Self::open`] accepts.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.kinds.iter().flat_map(Kind::names)
    }

    /// Returns the TOML text of the built-in machine with this name, with its comments.
    ///
    /// # Errors
    /// [`MachineError::Unknown`] for a name that no built-in machine has.
    pub fn description(&self, name: &str) -> Result<&'static str, MachineError> {
        let mut shipped = self.kinds.iter().flat_map(|kind| kind.shipped);
        let found = shipped.find(|(known, _)| *known == name);
        let unknown = || MachineError::Unknown {
            name: name.to_owned(),
            known: self.names().collect::<Vec<_>>().join(", "),
        };
        found.map(|&(_, text)| text).ok_or_else(unknown)
    }

    /// Returns the kind that a description names in its field `kind`, or the first kind if it has no such field.
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

    /// Makes the machine that a TOML description describes. A co-processor is put on a card of its own.
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

    /// Makes the machine that a TOML description describes.
    ///
    /// # Errors
    /// The errors of [`Self::opened`].
    pub fn load(&self, text: &str) -> Result<Box<dyn Machine>, MachineError> {
        match self.opened(text)? {
            Opened::Whole(machine) => Ok(machine),
            Opened::Card(card) => Ok(card),
        }
    }

    /// Makes the built-in machine with this name.
    ///
    /// # Errors
    /// [`MachineError::Unknown`] for a name that no built-in machine has; the errors of [`Self::load`].
    pub fn open(&self, name: &str) -> Result<Box<dyn Machine>, MachineError> {
        self.load(self.description(name)?)
    }
}

impl Catalogue for Registry {
    fn description(&self, name: &str) -> Result<&'static str, MachineError> {
        Self::description(self, name)
    }

    /// Makes the co-processor that a TOML description describes, for a card.
    ///
    /// # Errors
    /// [`MachineError::Field`] for a description of a machine that cannot be on a card; the errors of
    /// [`Registry::kind_of`] and of the kind's parser.
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
