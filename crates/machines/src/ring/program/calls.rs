// SPDX-License-Identifier: Apache-2.0
//! Lists the calls that the ring machine runs, in order, and tells what is known of later calls.
//!
//! The calls are those of the program, except that some may be cut into parts ([`super::cutting`]).

use std::sync::Arc;

use ringmill_isa::mid::{Ahead, Call, Called, Head, LimbId, Procedure};

use super::cutting::Cutting;
use crate::MachineError;
use crate::ring::description::Description;
use crate::ring::report::Cuts;

/// The number of calls that are planned before the first of them runs. A part of a cut call counts as one. The limbs
/// that at least as many calls after these read are known, too. If a program has fewer calls, all of them are known
/// before the first runs.
pub const WINDOW: usize = 4096;
/// The window of [`Ahead`] in a program without cut calls. One call more than this is known after the running one, as
/// in a program whose calls may be cut.
const UNCUT: usize = 2 * WINDOW - 1;

/// The position of a call: the number of a call of the program, and an index among the parts of cut calls that run
/// before that call. The call itself has the last index, [`ITSELF`].
pub type Place = (u64, u32);

/// The second component of a [`Place`] that stands for the program's call itself.
pub const ITSELF: u32 = u32::MAX;
/// The position of a use that is not known yet. It is after all others.
const FAR: Place = (u64::MAX, u32::MAX);

/// A call that the machine runs: a call of the program, or a part of one.
#[derive(Debug)]
pub struct Planned {
    pub at: Place,
    pub call: Call,
}

pub struct Calls<'a> {
    ahead: Ahead,
    procs: &'a [Arc<Procedure>],
    /// The cutting of calls into parts; `None` if no procedure returns several ciphertexts.
    cutting: Option<Cutting<'a>>,
    /// For each argument of the running call, whether a later call may read it.
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

    /// Adds the program's next call to the calls that are known.
    pub fn feed(&mut self, called: Called) {
        self.ahead.feed(called);
    }

    /// Notes that no more calls come, and which limbs are the program's outputs.
    pub fn end(&mut self, outputs: Vec<LimbId>) {
        self.ahead.end(outputs);
    }

    /// Returns the next call to run, or `None` if too few later calls are known ([`WINDOW`]) or no call is left. After
    /// that, the methods about limbs describe the calls after the returned one.
    ///
    /// # Errors
    /// The errors of [`Cutting::next_call`].
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

    /// Returns for each argument of the call that was taken last whether a later call may read it
    /// ([`Self::used_later`]).
    pub fn later(&self) -> &[bool] {
        match self.cutting {
            Some(_) => &self.later,
            None => self.ahead.later(),
        }
    }

    /// Writes to `pinned`, for each argument of the call that was taken last, whether its slots
    /// must not be overwritten. That holds if a later call reads the argument's limb, or if the
    /// call has this limb as several arguments.
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

    /// Returns the procedure with index `proc`, which is one of the program or computes a part of a call.
    ///
    /// # Errors
    /// [`MachineError::Program`] for an index without a procedure.
    pub fn procedure(&self, proc: u32) -> Result<&Arc<Procedure>, MachineError> {
        let procedure = match &self.cutting {
            Some(cutting) => cutting.procedure(proc),
            None => self.procs.get(proc as usize),
        };
        procedure.ok_or_else(|| MachineError::Program("a call of no procedure".into()))
    }

    /// Returns the index of a procedure of the program: `proc` itself, or the procedure from which
    /// `proc` was cut. A cut procedure computes some of the result ciphertexts.
    pub fn whole(&self, proc: u32) -> u32 {
        let cutting = self.cutting.as_ref();
        cutting.map_or(proc, |cutting| cutting.whole(proc))
    }

    /// Returns the index of the shape of a procedure that computes a part of a call: that of the first part with as
    /// many ciphertexts. A shape is a class of parts that differ only in Galois elements and names. Returns `None` for
    /// a procedure of the program, and for a part with a number of ciphertexts that was never timed.
    pub fn shape(&self, proc: u32) -> Option<usize> {
        self.cutting.as_ref()?.shape(proc)
    }

    pub fn cuts(&self) -> Cuts {
        self.cutting.as_ref().map(Cutting::cuts).unwrap_or_default()
    }

    /// Returns the position of the next call that reads the limb, or the position after all others if none is known.
    pub fn next_use(&self, limb: LimbId) -> Place {
        let planned = self.cutting.as_ref().and_then(|cut| cut.next_use(limb));
        let beyond = || self.ahead.next_read(limb).map(|number| (number, ITSELF));
        planned.or_else(beyond).unwrap_or(FAR)
    }

    /// Returns whether a call after the running one may read the limb.
    pub fn used_later(&self, limb: LimbId) -> bool {
        self.cutting.as_ref().is_some_and(|cut| cut.reads(limb)) || self.ahead.read_later(limb)
    }

    /// Returns whether the limb is known to be an output of the program.
    pub fn is_output(&self, limb: LimbId) -> bool {
        self.ahead.is_output(limb)
    }

    /// Returns the program's outputs; empty before [`Self::end`].
    pub fn outputs(&self) -> &[LimbId] {
        self.ahead.outputs().unwrap_or_default()
    }

    /// Drops what is known of a limb that no later call uses.
    pub fn forget(&mut self, limb: LimbId) {
        self.ahead.forget(limb);
    }

    /// Returns an argument of a cut call that no part and no later call reads, or `None` if all were returned.
    pub fn next_stale(&mut self) -> Option<LimbId> {
        self.cutting.as_mut()?.next_stale()
    }
}
