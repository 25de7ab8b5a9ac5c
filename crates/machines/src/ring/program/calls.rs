// SPDX-License-Identifier: Apache-2.0
//! The calls that the machine runs, one after another, and what is known of the calls to come: the program's calls as they
//! are, or some of them cut into parts ([`super::cutting`]).

use std::sync::Arc;

use ringmill_isa::mid::{Ahead, Call, Called, Head, LimbId, Procedure};

use super::cutting::Cutting;
use crate::MachineError;
use crate::ring::description::Description;
use crate::ring::report::Cuts;

/// Calls that are cut before they run, and calls beyond them that are in sight. Of programs no longer than that everything
/// is known from the first call on.
pub const WINDOW: usize = 4096;
/// Calls in sight after the one that runs, where none is cut, less one: as many as where some are.
const UNCUT: usize = 2 * WINDOW - 1;

/// When a call runs: the number of a call of the program, and which of those that stand before it, the call itself last.
pub type Place = (u64, u32);

/// The call itself.
pub const ITSELF: u32 = u32::MAX;
/// Not in sight.
const FAR: Place = (u64::MAX, u32::MAX);

/// A call of the program, or a part of one.
#[derive(Debug)]
pub struct Planned {
    pub at: Place,
    pub call: Call,
}

pub struct Calls<'a> {
    ahead: Ahead,
    procs: &'a [Arc<Procedure>],
    /// `None` where no procedure gives several ciphertexts: there is nothing to cut.
    cutting: Option<Cutting<'a>>,
    /// Of each argument of the call that runs: whether a call to come may read it.
    later: Vec<bool>,
}

impl<'a> Calls<'a> {
    pub fn new(d: &'a Description, head: Head<'a>) -> Self {
        let cutting = Cutting::new(d, head);
        let window = if cutting.is_some() { WINDOW } else { UNCUT };
        Self {
            ahead: Ahead::new(head.inputs.len(), window),
            procs: head.procs,
            cutting,
            later: Vec::new(),
        }
    }

    /// The program's call after those fed so far.
    pub fn feed(&mut self, called: Called) {
        self.ahead.feed(called);
    }

    /// There are no more calls, and these are the outputs.
    pub fn end(&mut self, outputs: Vec<LimbId>) {
        self.ahead.end(outputs);
    }

    /// The next call to run, if enough is known of what comes after it; what is said of limbs from then on is of the calls after it.
    ///
    /// # Errors
    /// Those of legalising a part.
    pub fn next_call(&mut self) -> Result<Option<Planned>, MachineError> {
        if let Some(cutting) = &mut self.cutting {
            let next = cutting.next_call(&mut self.ahead)?;
            self.later.clear();
            if let Some(planned) = &next {
                let later = |&limb: &LimbId| cutting.reads(limb) || self.ahead.read_later(limb);
                self.later.extend(planned.call.args.iter().map(later));
            }
            return Ok(next);
        }
        Ok(self.ahead.next_call().map(|called| Planned {
            at: (called.number, ITSELF),
            call: called.call,
        }))
    }

    /// Of each argument of the call that was taken last, [`Self::used_later`].
    pub fn later(&self) -> &[bool] {
        match self.cutting {
            Some(_) => &self.later,
            None => self.ahead.later(),
        }
    }

    /// Of each argument of the call that was taken last: whether it must keep its slots, as it is read later, or is several
    /// arguments, none of which may be overwritten.
    pub fn pinned(&self, call: &Call, pinned: &mut Vec<bool>) {
        pinned.clear();
        pinned.extend(self.later());
        if self.cutting.is_some() || self.ahead.twice() {
            for ((at, limb), pinned) in call.args.iter().enumerate().zip(pinned) {
                let mut others = call.args.iter().enumerate();
                *pinned |= others.any(|(other, l)| l == limb && other != at);
            }
        }
    }

    /// A bound procedure of the program, or that of a part.
    ///
    /// # Errors
    /// Where there is none.
    pub fn procedure(&self, proc: u32) -> Result<&Arc<Procedure>, MachineError> {
        let procedure = match &self.cutting {
            Some(cutting) => cutting.procedure(proc),
            None => self.procs.get(proc as usize),
        };
        procedure.ok_or_else(|| MachineError::Program("a call of no procedure".into()))
    }

    /// The program's procedure that this one is, or is a part of.
    pub fn whole(&self, proc: u32) -> u32 {
        let cutting = self.cutting.as_ref();
        cutting.map_or(proc, |cutting| cutting.whole(proc))
    }

    /// Procedures of parts that are scheduled alike have a shape in common.
    pub fn shape(&self, proc: u32) -> Option<usize> {
        self.cutting.as_ref()?.shape(proc)
    }

    pub fn cuts(&self) -> Cuts {
        self.cutting.as_ref().map(Cutting::cuts).unwrap_or_default()
    }

    /// When the limb is read next, as far as that is in sight.
    pub fn next_use(&self, limb: LimbId) -> Place {
        let planned = self.cutting.as_ref().and_then(|cut| cut.next_use(limb));
        let beyond = || self.ahead.next_read(limb).map(|number| (number, ITSELF));
        planned.or_else(beyond).unwrap_or(FAR)
    }

    /// Whether the limb may be read by a call to come.
    pub fn used_later(&self, limb: LimbId) -> bool {
        self.cutting.as_ref().is_some_and(|cut| cut.reads(limb)) || self.ahead.read_later(limb)
    }

    /// Whether the limb is known to be an output.
    pub fn is_output(&self, limb: LimbId) -> bool {
        self.ahead.is_output(limb)
    }

    /// The outputs, after the last call.
    pub fn outputs(&self) -> &[LimbId] {
        self.ahead.outputs().unwrap_or_default()
    }

    /// Nothing will be asked about a limb that is used no more.
    pub fn forget(&mut self, limb: LimbId) {
        self.ahead.forget(limb);
    }

    /// Takes limbs that turned out to be of no use, one after another.
    pub fn next_stale(&mut self) -> Option<LimbId> {
        self.cutting.as_mut()?.next_stale()
    }
}
