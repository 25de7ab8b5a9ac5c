// SPDX-License-Identifier: Apache-2.0
//! Looks ahead in the calls of a program, so that a device knows when each limb is read next.
//!
//! A window holds the next calls. For each argument of a call in the window it keeps a link: the
//! number of the next call in the window that reads the same limb. So a device that takes a call
//! knows for each of its limbs when it is read next. For each of its arguments, a call costs one
//! look-up in a table when it enters the window, and another when it leaves.

use std::collections::VecDeque;

use super::stream::{Called, Stream};
use super::table::{LimbMap, LimbTable};
use super::unrolled::LimbId;
use crate::error::VerifyError;

/// The link of a call's argument if no later call in the window of known calls reads its limb. A link other than this
/// and [`AGAIN`] is the number of the next call that reads the limb.
const NONE: u64 = u64::MAX;
/// The link of a call's argument whose limb is also an earlier argument of the same call.
const AGAIN: u64 = u64::MAX - 1;

/// The reads of one limb by the calls in the window of known calls.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// The number of the first call in the window of known calls that reads the limb.
    next: u64,
    /// The place of the first argument that is this limb in the last call that reads it, among the arguments of all
    /// calls that have entered the window of known calls so far. The call's further arguments that are this limb have
    /// the link [`AGAIN`].
    last: u64,
    /// Whether the limb's last read is known: the window of known calls has got a call after which
    /// no call reads the limb.
    ended: bool,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            next: NONE,
            last: 0,
            ended: false,
        }
    }
}

/// A window on the next calls of a program, in which a device looks ahead. When the device takes a
/// call, the window has at least `window` + 1 calls after it, or all calls that are left if these
/// are fewer.
#[derive(Clone, Debug)]
pub struct Ahead {
    window: usize,
    inputs: u64,
    calls: VecDeque<Called>,
    /// For each argument of the calls in the window, in order, the number of the next call in the window that reads the
    /// same limb, or [`NONE`] or [`AGAIN`].
    links: VecDeque<u64>,
    /// The number of arguments of all calls that a device has taken from the window.
    gone: u64,
    /// For each limb, what the calls in the window tell about its reads. It has the program's
    /// inputs, the limbs that calls in the window read, and those that die in the window.
    /// [`Self::forget`] drops a limb.
    seen: LimbTable<Seen>,
    /// For each argument of the call that was taken last, whether a later call may read its limb.
    later: Vec<bool>,
    /// Whether one limb is two or more arguments of the call that was taken last.
    twice: bool,
    /// The outputs of the program, or `None` until its last call has entered the window.
    outputs: Option<Vec<LimbId>>,
    is_output: LimbMap<()>,
}

impl Ahead {
    /// Makes an empty window for a program with this number of inputs. A device that takes a call then knows at least
    /// `window` + 1 calls after it, or all that are left.
    pub fn new(inputs: usize, window: usize) -> Self {
        Self {
            window,
            inputs: inputs as u64,
            calls: VecDeque::new(),
            links: VecDeque::new(),
            gone: 0,
            seen: LimbTable::new(inputs),
            later: Vec::new(),
            twice: false,
            outputs: None,
            is_output: LimbMap::default(),
        }
    }

    /// Adds the next call of the program to the window.
    pub fn feed(&mut self, called: Called) {
        let first = self.gone + self.links.len() as u64;
        for (&limb, at) in called.call.args.iter().zip(first..) {
            let seen = self.seen.entry(limb);
            let mut link = NONE;
            if seen.next == NONE {
                seen.next = called.number;
            } else if seen.last >= first {
                link = AGAIN;
            } else {
                let before = seen.last.checked_sub(self.gone);
                let before = before.and_then(|before| self.links.get_mut(before as usize));
                if let Some(before) = before {
                    *before = called.number;
                }
            }
            if link == NONE {
                seen.last = at;
            }
            self.links.push_back(link);
        }
        for &limb in &called.dies {
            self.seen.entry(limb).ended = true;
        }
        self.calls.push_back(called);
    }

    /// Records that the program has no further calls, and that `outputs` are its outputs, in their
    /// order.
    pub fn end(&mut self, outputs: Vec<LimbId>) {
        self.is_output = outputs.iter().map(|&limb| (limb, ())).collect();
        self.outputs = Some(outputs);
    }

    /// Pulls calls from `stream` into the window until enough calls are known for the next one to
    /// be taken.
    ///
    /// # Errors
    /// None for a program that was verified.
    pub fn look(&mut self, stream: &mut Stream<'_>) -> Result<(), VerifyError> {
        while !self.sees_enough() {
            match stream.next_call()? {
                Some(called) => self.feed(called),
                None => self.end(stream.outputs()?),
            }
        }
        Ok(())
    }

    /// Returns whether the next call can be taken: at least `window` + 1 calls after it are in the
    /// window, or the program's last call has entered the window.
    fn sees_enough(&self) -> bool {
        self.sees_end() || self.calls.len() >= self.window.saturating_add(2)
    }

    /// Removes the next call from the window and returns it, or returns `None` if too few calls after it are known or
    /// no call is left. The methods about "the call that was taken last" then describe this call.
    pub fn next_call(&mut self) -> Option<Called> {
        if !self.sees_enough() {
            return None;
        }
        let called = self.calls.pop_front()?;
        self.later.clear();
        self.twice = false;
        for &limb in &called.call.args {
            let link = self.links.pop_front().unwrap_or(NONE);
            self.gone += 1;
            if link == AGAIN {
                self.twice = true;
                let before = called.call.args.iter().zip(&self.later);
                let first = before.clone().find(|(arg, _)| **arg == limb);
                self.later.push(first.is_none_or(|(_, &later)| later));
                continue;
            }
            let input = self.is_input(limb);
            let seen = self.seen.entry(limb);
            seen.next = link;
            let unknown = self.outputs.is_none() && !input && !seen.ended;
            self.later.push(link != NONE || unknown);
        }
        Some(called)
    }

    /// Returns one flag for each argument of the call that was taken last: whether a later call may
    /// read its limb, as [`Self::read_later`] defines it.
    pub fn later(&self) -> &[bool] {
        &self.later
    }

    /// Returns whether one limb is two or more arguments of the call that was taken last.
    pub fn twice(&self) -> bool {
        self.twice
    }

    /// Returns whether all calls of the program have been taken.
    pub fn is_done(&self) -> bool {
        self.sees_end() && self.calls.is_empty()
    }

    /// Returns whether the program's last call is in the window or taken, so that all answers about
    /// later reads are certain.
    pub fn sees_end(&self) -> bool {
        self.outputs.is_some()
    }

    /// Returns the number of the next call in the window that reads the limb, or `None` if no call
    /// in the window does.
    pub fn next_read(&self, limb: LimbId) -> Option<u64> {
        let next = self.seen.get(limb).map_or(NONE, |seen| seen.next);
        (next != NONE).then_some(next)
    }

    /// Returns whether a call after the one taken last may read the limb. An input counts as read
    /// only if a call in the window reads it, because a device can fetch an input again.
    pub fn read_later(&self, limb: LimbId) -> bool {
        let seen = self.seen.get(limb).copied().unwrap_or_default();
        seen.next != NONE || !(self.sees_end() || self.is_input(limb) || seen.ended)
    }

    pub fn is_input(&self, limb: LimbId) -> bool {
        limb.0 < self.inputs
    }

    /// Returns whether the limb is known to be an output of the program.
    pub fn is_output(&self, limb: LimbId) -> bool {
        self.is_output.contains_key(&limb)
    }

    /// Returns the outputs of the program in their order, or `None` before its last call is known.
    pub fn outputs(&self) -> Option<&[LimbId]> {
        self.outputs.as_deref()
    }

    /// Drops what is known about a limb that the caller will not ask about again. A caller that
    /// does so for every limb that dies bounds the memory of the window. An input is kept.
    pub fn forget(&mut self, limb: LimbId) {
        if !self.is_input(limb) {
            self.seen.remove(limb);
        }
    }
}

/// Returns two sizes of a window in memory: the number of limbs, other than inputs, about which it
/// knows something, and the number of arguments of the calls in it.
pub fn held(ahead: &Ahead) -> (usize, usize) {
    (ahead.seen.made(), ahead.links.len())
}
