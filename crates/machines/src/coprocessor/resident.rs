// SPDX-License-Identifier: Apache-2.0
//! The data that stay in a co-processor from job to job and from call to call: tables, and limbs that no command
//! overwrote.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_isa::mid::{Call, LimbId, ModulusId, Procedure, ValueId};

/// The name of a limb: within a call its value, between calls the program's limb.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Name {
    Value(ValueId),
    Limb(LimbId),
}

/// The moduli of a base extension.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bases {
    pub sources: Vec<ModulusId>,
    /// The redundant modulus of an exact extension.
    pub redundant: Option<ModulusId>,
    pub targets: Vec<ModulusId>,
}

/// The content of a place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum What {
    /// The tables of a modulus of the program.
    Tables(ModulusId),
    /// The constants of a base extension.
    Constants(Arc<Bases>),
    /// A limb; `eval`: in the layout of the evaluation form.
    Limb { name: Name, eval: bool },
}

/// A place in use.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Held {
    pub what: What,
    /// The place of the tables that the content needs: the content goes when they go.
    pub under: Option<u16>,
}

/// The data of an idle co-processor. Its [`Keep`](super::Keep)s number the places.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Resident {
    places: BTreeMap<u16, Held>,
    /// The place of tables that was used last.
    last: u16,
}

impl Resident {
    pub fn at(&self, place: u16) -> Option<Held> {
        self.places.get(&place).cloned()
    }

    /// Puts data into a place, in place of its content; data that needed that content goes, too.
    pub fn put(&mut self, place: u16, held: Held) {
        if matches!(held.what, What::Tables(_)) {
            self.places.retain(|_, other| other.under != Some(place));
        }
        self.places.insert(place, held);
    }

    pub fn clear(&mut self, place: u16) {
        self.places.remove(&place);
    }

    /// Notes the tables that a command uses.
    pub fn used(&mut self, tables: u16) {
        self.last = tables;
    }

    pub fn last_used(&self) -> u16 {
        self.last
    }

    /// Returns how many of these places are in use.
    pub fn taken(&self, places: std::ops::RangeInclusive<u16>) -> u64 {
        self.places.range(places).count() as u64
    }

    /// Begins a call: limbs are named by its parameters, and limbs that are no parameters are forgotten.
    #[must_use]
    pub fn enter(mut self, procedure: &Procedure, call: &Call) -> Self {
        self.rename(|name| entered(name, procedure, call).map(Name::Value));
        self
    }

    /// Ends a call: values of the call alone are forgotten, and so are limbs that its results replace.
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

/// Returns the name of a program's limb in a call: the first parameter to which it is given.
pub(super) fn entered(name: Name, procedure: &Procedure, call: &Call) -> Option<ValueId> {
    let mut params = procedure.params.iter().zip(&call.args);
    let found = params.find(|(_, limb)| name == Name::Limb(**limb));
    found.map(|(param, _)| param.value)
}

/// Returns the program's name of a call's value after the call: results first, then parameters that no result replaces.
/// `real` returns the value that holds a result.
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
