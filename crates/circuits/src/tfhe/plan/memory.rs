// SPDX-License-Identifier: Apache-2.0
//! Where the values of a program are.

use std::ops::Range;

/// A value's place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::tfhe) enum Place {
    /// One of the inputs that a run is given.
    Input(usize),
    /// Words of the program's memory.
    Own(Range<usize>),
}

/// Where places are that lie in memory one after another, in this order.
pub(super) fn together(places: &[Place]) -> Option<Range<usize>> {
    let mut all: Option<Range<usize>> = None;
    for place in places {
        let Place::Own(at) = place else {
            return None;
        };
        all = match all {
            None => Some(at.clone()),
            Some(before) if before.end == at.start => Some(before.start..at.end),
            Some(_) => return None,
        };
    }
    all
}

/// What can be read while one place is written.
pub(super) struct Read<'m> {
    inputs: &'m [&'m [u64]],
    before: &'m [u64],
    after: &'m [u64],
    /// Where what is after begins.
    end: usize,
}

impl Read<'_> {
    /// The words of a place; none of the one that is written.
    pub(super) fn of(&self, place: &Place) -> &[u64] {
        let words = match place {
            Place::Input(number) => self.inputs.get(*number).copied(),
            Place::Own(at) if at.start >= self.end => {
                self.after.get(at.start - self.end..at.end - self.end)
            }
            Place::Own(at) => self.before.get(at.clone()),
        };
        words.unwrap_or_default()
    }
}

/// The words of a place to be written, none of an input, and all others to be read.
pub(super) fn split<'m>(
    memory: &'m mut [u64],
    inputs: &'m [&'m [u64]],
    to: &Place,
) -> (&'m mut [u64], Read<'m>) {
    let at = match to {
        Place::Own(at) => at.clone(),
        Place::Input(_) => 0..0,
    };
    let end = at.end.min(memory.len());
    let (head, after) = memory.split_at_mut(end);
    let (before, out) = head.split_at_mut(at.start.min(end));
    let read = Read {
        inputs,
        before,
        after,
        end,
    };
    (out, read)
}
