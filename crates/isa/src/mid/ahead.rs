// SPDX-License-Identifier: Apache-2.0
//! Looks ahead in the calls of a program, to know when each limb is read next.
//!
//! Each argument of a call in the window is linked to the next call in the window that reads the same limb. So a call
//! that is taken knows for each of its limbs when it is read next. A call costs a look-up for each argument when it is
//! fed, and another when it is taken.

use std::collections::VecDeque;

use super::stream::{Called, Stream};
use super::table::{LimbMap, LimbTable};
use super::unrolled::LimbId;
use crate::error::VerifyError;

/// No call in the window.
const NONE: u64 = u64::MAX;
/// The same limb is an earlier argument of the same call.
const AGAIN: u64 = u64::MAX - 1;

/// The state of a limb.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// The first call in the window that reads the limb.
    next: u64,
    /// The number, among all links so far, of the limb's last read in the window.
    last: u64,
    /// Whether the limb dies with a call that was seen.
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

/// The calls of a program, of which the next `window` are known before one is taken. A program with fewer calls is
/// known completely.
#[derive(Clone, Debug)]
pub struct Ahead {
    window: usize,
    inputs: u64,
    calls: VecDeque<Called>,
    /// For each argument of the calls in the window, the next call that reads it.
    links: VecDeque<u64>,
    /// The number of links of calls that were taken.
    gone: u64,
    /// Inputs, limbs that are read in the window, and limbs that die in it, until [`Self::forget`].
    seen: LimbTable<Seen>,
    /// For each argument of the call that was taken last, whether a later call may read it.
    later: Vec<bool>,
    /// Whether that call has one limb as several arguments.
    twice: bool,
    /// The outputs, known when the last call is seen.
    outputs: Option<Vec<LimbId>>,
    is_output: LimbMap<()>,
}

impl Ahead {
    /// Makes a window for a program with this number of inputs.
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

    /// Feeds the next call.
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

    /// Ends the calls, with the outputs in their order.
    pub fn end(&mut self, outputs: Vec<LimbId>) {
        self.is_output = outputs.iter().map(|&limb| (limb, ())).collect();
        self.outputs = Some(outputs);
    }

    /// Feeds from `stream` until the next call can be taken.
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

    /// Returns whether a call can be taken: `window` calls and one more are left.
    fn sees_enough(&self) -> bool {
        self.sees_end() || self.calls.len() >= self.window.saturating_add(2)
    }

    /// Takes the next call, if enough calls after it are known. The other methods then describe this call.
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

    /// Returns [`Self::read_later`] for each argument of the call that was taken last.
    pub fn later(&self) -> &[bool] {
        &self.later
    }

    /// Returns whether the call that was taken last has one limb as several arguments.
    pub fn twice(&self) -> bool {
        self.twice
    }

    /// Returns whether no call is left to take.
    pub fn is_done(&self) -> bool {
        self.sees_end() && self.calls.is_empty()
    }

    /// Returns whether the program's last call is seen, so that all answers are certain.
    pub fn sees_end(&self) -> bool {
        self.outputs.is_some()
    }

    /// Returns the number of the next call in the window that reads the limb.
    pub fn next_read(&self, limb: LimbId) -> Option<u64> {
        let next = self.seen.get(limb).map_or(NONE, |seen| seen.next);
        (next != NONE).then_some(next)
    }

    /// Returns whether a later call may read the limb. An input that no call in the window reads counts as not read,
    /// because it can be fetched again.
    pub fn read_later(&self, limb: LimbId) -> bool {
        let seen = self.seen.get(limb).copied().unwrap_or_default();
        seen.next != NONE || !(self.sees_end() || self.is_input(limb) || seen.ended)
    }

    pub fn is_input(&self, limb: LimbId) -> bool {
        limb.0 < self.inputs
    }

    /// Returns whether the limb is known to be an output.
    pub fn is_output(&self, limb: LimbId) -> bool {
        self.is_output.contains_key(&limb)
    }

    /// Returns the outputs in their order, once the last call is seen.
    pub fn outputs(&self) -> Option<&[LimbId]> {
        self.outputs.as_deref()
    }

    /// Forgets a limb, about which nobody asks again. A caller that forgets every limb that ends bounds the memory.
    pub fn forget(&mut self, limb: LimbId) {
        if !self.is_input(limb) {
            self.seen.remove(limb);
        }
    }
}

/// Returns the number of limbs and of links of arguments that are held.
pub fn held(ahead: &Ahead) -> (usize, usize) {
    (ahead.seen.made(), ahead.links.len())
}
