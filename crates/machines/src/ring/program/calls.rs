// SPDX-License-Identifier: Apache-2.0
//! Lists the calls that the ring machine runs, in order, and what is known of later calls.
//!
//! The calls are the program's, some of them perhaps cut into parts ([`super::cutting`]).

use std::sync::Arc;

use ringmill_isa::mid::{Ahead, Call, Called, Head, LimbId, Procedure};

use super::cutting::Cutting;
use crate::MachineError;
use crate::ring::description::Description;
use crate::ring::report::Cuts;

/// The calls that are cut before they run, and the further calls that are known. A program with no more calls is known
/// completely from the first call on.
pub const WINDOW: usize = 4096;
/// The known calls after the one that runs, less one, if none is cut: as many as if some are cut.
const UNCUT: usize = 2 * WINDOW - 1;

/// The position of a call: the number of a call of the program, and its index among the parts that stand before that
/// call. The call itself has the last index.
pub type Place = (u64, u32);

/// The call itself.
pub const ITSELF: u32 = u32::MAX;
/// A use that is not known yet.
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
    /// `None` if no procedure gives several ciphertexts, so that there is nothing to cut.
    cutting: Option<Cutting<'a>>,
    /// For each argument of the call that runs, whether a later call may read it.
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

    /// Feeds the program's next call.
    pub fn feed(&mut self, called: Called) {
        self.ahead.feed(called);
    }

    /// Ends the calls, with the program's outputs.
    pub fn end(&mut self, outputs: Vec<LimbId>) {
        self.ahead.end(outputs);
    }

    /// Returns the next call to run, if enough later calls are known. The methods about limbs then describe the calls
    /// after it.
    ///
    /// # Errors
    /// The errors of legalising a part.
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

    /// Returns [`Self::used_later`] for each argument of the call that was taken last.
    pub fn later(&self) -> &[bool] {
        match self.cutting {
            Some(_) => &self.later,
            None => self.ahead.later(),
        }
    }

    /// Returns for each argument of the call that was taken last whether it must keep its slots. It must if it is read
    /// later, or if it is several arguments, none of which may be overwritten.
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

    /// Returns a bound procedure of the program, or that of a part.
    ///
    /// # Errors
    /// A number without a procedure.
    pub fn procedure(&self, proc: u32) -> Result<&Arc<Procedure>, MachineError> {
        let procedure = match &self.cutting {
            Some(cutting) => cutting.procedure(proc),
            None => self.procs.get(proc as usize),
        };
        procedure.ok_or_else(|| MachineError::Program("a call of no procedure".into()))
    }

    /// Returns the program's procedure that this one is, or of which it is a part.
    pub fn whole(&self, proc: u32) -> u32 {
        let cutting = self.cutting.as_ref();
        cutting.map_or(proc, |cutting| cutting.whole(proc))
    }

    /// Returns the shape of a part's procedure; parts of one shape are scheduled alike.
    pub fn shape(&self, proc: u32) -> Option<usize> {
        self.cutting.as_ref()?.shape(proc)
    }

    pub fn cuts(&self) -> Cuts {
        self.cutting.as_ref().map(Cutting::cuts).unwrap_or_default()
    }

    /// Returns when the limb is read next, as far as that is known.
    pub fn next_use(&self, limb: LimbId) -> Place {
        let planned = self.cutting.as_ref().and_then(|cut| cut.next_use(limb));
        let beyond = || self.ahead.next_read(limb).map(|number| (number, ITSELF));
        planned.or_else(beyond).unwrap_or(FAR)
    }

    /// Returns whether a later call may read the limb.
    pub fn used_later(&self, limb: LimbId) -> bool {
        self.cutting.as_ref().is_some_and(|cut| cut.reads(limb)) || self.ahead.read_later(limb)
    }

    /// Returns whether the limb is known to be an output.
    pub fn is_output(&self, limb: LimbId) -> bool {
        self.ahead.is_output(limb)
    }

    /// Returns the outputs, after the last call.
    pub fn outputs(&self) -> &[LimbId] {
        self.ahead.outputs().unwrap_or_default()
    }

    /// Forgets a limb that is not used again.
    pub fn forget(&mut self, limb: LimbId) {
        self.ahead.forget(limb);
    }

    /// Returns the next limb that turned out to be of no use.
    pub fn next_stale(&mut self) -> Option<LimbId> {
        self.cutting.as_mut()?.next_stale()
    }
}
