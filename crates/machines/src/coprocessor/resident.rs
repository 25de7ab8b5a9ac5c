// SPDX-License-Identifier: Apache-2.0
//! What stays in a co-processor from job to job and from call to call: tables, and limbs that no command overwrote.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_isa::mid::{Call, LimbId, ModulusId, Procedure, ValueId};

/// A limb by its name within a call, or between calls by the program's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Name {
    Value(ValueId),
    Limb(LimbId),
}

/// The moduli of a base extension.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bases {
    pub sources: Vec<ModulusId>,
    /// Of an exact extension.
    pub redundant: Option<ModulusId>,
    pub targets: Vec<ModulusId>,
}

/// Something in a place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum What {
    /// The tables of a modulus of the program.
    Tables(ModulusId),
    /// The constants of a base extension.
    Constants(Arc<Bases>),
    /// A limb; `eval`: in the layout of the evaluation form.
    Limb { name: Name, eval: bool },
}

/// A place that is taken.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Held {
    pub what: What,
    /// The place of the tables without which it is of no use: it goes when they go.
    pub under: Option<u16>,
}

/// What a co-processor holds, idle. Places are numbered as its [`Keep`](super::Keep)s say.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Resident {
    places: BTreeMap<u16, Held>,
    /// The place that was put to use last among those that tables go to.
    last: u16,
}

impl Resident {
    pub fn at(&self, place: u16) -> Option<Held> {
        self.places.get(&place).cloned()
    }

    /// Puts something in a place, over what is there; what was under that goes with it.
    pub fn put(&mut self, place: u16, held: Held) {
        if matches!(held.what, What::Tables(_)) {
            self.places.retain(|_, other| other.under != Some(place));
        }
        self.places.insert(place, held);
    }

    pub fn clear(&mut self, place: u16) {
        self.places.remove(&place);
    }

    /// Notes which tables a command works under.
    pub fn used(&mut self, tables: u16) {
        self.last = tables;
    }

    pub fn last_used(&self) -> u16 {
        self.last
    }

    /// How many of these places are taken.
    pub fn taken(&self, places: std::ops::RangeInclusive<u16>) -> u64 {
        self.places.range(places).count() as u64
    }

    /// As a call begins: limbs are named by its parameters, and those that it does not take are forgotten.
    #[must_use]
    pub fn enter(mut self, procedure: &Procedure, call: &Call) -> Self {
        self.rename(|name| entered(name, procedure, call).map(Name::Value));
        self
    }

    /// As it ends: what only it knew is forgotten, and so is what its results replace.
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

/// What a call names a limb of the program: the first parameter that it is given as.
pub(super) fn entered(name: Name, procedure: &Procedure, call: &Call) -> Option<ValueId> {
    let mut params = procedure.params.iter().zip(&call.args);
    let found = params.find(|(_, limb)| name == Name::Limb(**limb));
    found.map(|(param, _)| param.value)
}

/// What the program calls a value of a call after it: results first, then parameters that no result replaces. `real` is the
/// value that holds what a result is.
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
