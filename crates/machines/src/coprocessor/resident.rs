// SPDX-License-Identifier: Apache-2.0
//! The data that stay in a co-processor from one job to the next and from one call to the next: tables, constants, and
//! limbs that no command overwrote.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_isa::mid::{Call, LimbId, ModulusId, Procedure, ValueId};

/// The name of a limb in a card's records. During a call it is a value of the called procedure, between calls a limb
/// of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Name {
    Value(ValueId),
    Limb(LimbId),
}

/// The moduli of a base extension: sources, targets and perhaps a redundant modulus.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bases {
    pub sources: Vec<ModulusId>,
    /// The redundant modulus of an exact extension; `None` for a fast one.
    pub redundant: Option<ModulusId>,
    pub targets: Vec<ModulusId>,
}

/// The kind of data at one place of a co-processor's memory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum What {
    /// The place holds the tables (twiddles and constants) of one modulus of the program.
    Tables(ModulusId),
    /// The place holds the constants of a base extension between these bases.
    Constants(Arc<Bases>),
    /// The place holds a limb. `eval` says whether the limb lies in the layout of the evaluation form.
    Limb { name: Name, eval: bool },
}

/// The content of a place of a co-processor's memory that is in use.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Held {
    pub what: What,
    /// The place of the tables for whose modulus this content was computed. If these tables are replaced, the content
    /// is lost.
    pub under: Option<u16>,
}

/// The data in an idle co-processor, by the number of the place. [`Keep`](super::Keep) says which memory has which
/// places.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Resident {
    places: BTreeMap<u16, Held>,
    /// The place of the tables that a command of the co-processor used last.
    last: u16,
}

impl Resident {
    pub fn at(&self, place: u16) -> Option<Held> {
        self.places.get(&place).cloned()
    }

    /// Puts data into a place and replaces its content. If the data are tables, limbs that were computed with the
    /// place's former tables are dropped, too.
    pub fn put(&mut self, place: u16, held: Held) {
        if matches!(held.what, What::Tables(_)) {
            self.places.retain(|_, other| other.under != Some(place));
        }
        self.places.insert(place, held);
    }

    pub fn clear(&mut self, place: u16) {
        self.places.remove(&place);
    }

    /// Notes that a command of the co-processor uses the tables at the place `tables` of its memory.
    pub fn used(&mut self, tables: u16) {
        self.last = tables;
    }

    pub fn last_used(&self) -> u16 {
        self.last
    }

    /// Returns how many of the places with numbers in `places` are in use, in the co-processor's memory.
    pub fn taken(&self, places: std::ops::RangeInclusive<u16>) -> u64 {
        self.places.range(places).count() as u64
    }

    /// Renames the limbs in the co-processor at the start of a call. A limb that is an argument gets the name of the
    /// procedure's parameter; all other limbs are forgotten.
    #[must_use]
    pub fn enter(mut self, procedure: &Procedure, call: &Call) -> Self {
        self.rename(|name| entered(name, procedure, call).map(Name::Value));
        self
    }

    /// Renames the limbs in the co-processor at the end of a call, from values of the procedure to limbs of the
    /// program. It forgets values that live in the call alone, and limbs that a result replaces.
    #[must_use]
    pub fn leave(mut self, procedure: &Procedure, call: &Call) -> Self {
        let itself = |value| value;
        self.rename(|name| left(name, procedure, call, itself).next().map(Name::Limb));
        self
    }

    fn rename(&mut self, rename: impl Fn(Name) -> Option<Name>) {
        self.places.retain(|_, held| match &mut held.what {
            What::Tables(_) | What::Constants(_) => true,
            What::Limb { name, .. } => match rename(*name) {
                Some(new) => {
                    *name = new;
                    true
                }
                None => false,
            },
        });
    }
}

/// Returns the value by which a call knows the program's limb `name`: the first parameter to which the limb is passed.
pub(super) fn entered(name: Name, procedure: &Procedure, call: &Call) -> Option<ValueId> {
    let mut params = procedure.params.iter().zip(&call.args);
    let found = params.find(|(_, limb)| name == Name::Limb(**limb));
    found.map(|(param, _)| param.value)
}

/// Returns the program's limbs that hold the procedure's value `name` after a call: first results, then arguments that
/// no result replaces. `real` returns the value that holds a result.
pub(super) fn left<'c>(
    name: Name,
    procedure: &'c Procedure,
    call: &'c Call,
    real: impl Fn(ValueId) -> ValueId + 'c,
) -> impl Iterator<Item = LimbId> + 'c {
    let results = procedure.results.iter().zip(&call.results);
    let made = results.filter(move |(result, _)| name == Name::Value(real(result.value)));
    let params = procedure.params.iter().zip(&call.args);
    let kept = params.filter(move |(param, limb)| {
        name == Name::Value(param.value) && !call.results.contains(limb)
    });
    made.map(|(_, limb)| *limb)
        .chain(kept.map(|(_, limb)| *limb))
}
