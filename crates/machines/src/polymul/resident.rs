//! What stays in the machine from job to job and from call to call: the tables of two moduli, and operands that no
//! command overwrote.

use ringmill_isa::mid::{Call, LimbId, ModulusId, Procedure, ValueId};

use super::timeline::{Command, Timed};
use super::{ArrayOp, SETS, SLOTS};

/// A limb by its name within a call, or between calls by the program's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Name {
    Value(ValueId),
    Limb(LimbId),
}

/// A limb in a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Held {
    name: Name,
    /// In the layout of the evaluation form.
    eval: bool,
    slot: usize,
}

/// Tables and limbs that the machine holds, idle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Resident {
    tables: [Option<ModulusId>; SLOTS],
    /// The slot that was used last; the other's tables go first.
    last: usize,
    /// `[set][polynomial]`.
    limbs: [[Option<Held>; 2]; SETS],
}

impl Resident {
    /// The slot that holds the tables of a modulus.
    pub fn slot_of(&self, modulus: ModulusId) -> Option<usize> {
        self.tables.iter().position(|&t| t == Some(modulus))
    }

    /// Where the tables of a modulus go that are not there: an empty slot, or the one that was not used last.
    pub fn slot_for(&self, modulus: ModulusId) -> usize {
        let empty = || self.tables.iter().position(Option::is_none);
        let found = self.slot_of(modulus).or_else(empty);
        found.unwrap_or(SLOTS - 1 - self.last)
    }

    /// Whether a place holds this limb in this form.
    pub fn holds(&self, set: usize, buf: usize, value: ValueId, eval: bool) -> bool {
        let held = self.limbs.get(set).and_then(|set| *set.get(buf)?);
        held.is_some_and(|held| held.name == Name::Value(value) && held.eval == eval)
    }

    /// What a command changes.
    pub fn apply(&mut self, command: Command) {
        match command {
            Command::Tables { slot, modulus } => {
                self.tables[slot] = Some(modulus);
                self.last = slot;
                for place in self.limbs.iter_mut().flatten() {
                    *place = place.filter(|held| held.slot != slot);
                }
            }
            Command::Load {
                set,
                buf,
                eval,
                limb,
                slot,
            } => {
                self.last = slot;
                self.limbs[set][buf] = Some(Held {
                    name: Name::Value(limb),
                    eval,
                    slot,
                });
            }
            Command::Run { set, slot, job } => {
                self.last = slot;
                self.limbs[set][0] = Some(Held {
                    name: Name::Value(job.out),
                    eval: job.op.forms().out,
                    slot,
                });
                // A full product overwrites its second operand.
                if job.op == ArrayOp::Fpm {
                    self.limbs[set][1] = None;
                }
            }
            Command::Unload { .. } => {}
        }
    }

    /// After these commands.
    pub fn after(mut self, commands: &[Timed]) -> Self {
        for timed in commands {
            self.apply(timed.command);
        }
        self
    }

    /// As a call begins: limbs are named by its parameters, and those that it does not take are forgotten.
    pub fn enter(mut self, procedure: &Procedure, call: &Call) -> Self {
        let params = procedure.params.iter().zip(&call.args);
        self.rename(|name| {
            let known = params.clone().find(|(_, limb)| name == Name::Limb(**limb));
            known.map(|(param, _)| Name::Value(param.value))
        });
        self
    }

    /// As it ends: what only it knew is forgotten, and so is what its results replace.
    pub fn leave(mut self, procedure: &Procedure, call: &Call) -> Self {
        let params = procedure.params.iter().map(|p| p.value).zip(&call.args);
        let results = procedure.results.iter().map(|r| r.value);
        let results = results.zip(&call.results);
        self.rename(|name| {
            let kept = |(param, limb): &(ValueId, &LimbId)| {
                name == Name::Value(*param) && !call.results.contains(limb)
            };
            let made = |(result, _): &(ValueId, &LimbId)| name == Name::Value(*result);
            let found = results.clone().find(made);
            let found = found.or_else(|| params.clone().find(kept));
            found.map(|(_, limb)| Name::Limb(*limb))
        });
        self
    }

    fn rename(&mut self, rename: impl Fn(Name) -> Option<Name>) {
        for place in self.limbs.iter_mut().flatten() {
            *place = place.and_then(|held| {
                let name = rename(held.name)?;
                Some(Held { name, ..held })
            });
        }
    }
}
