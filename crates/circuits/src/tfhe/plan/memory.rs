// SPDX-License-Identifier: Apache-2.0
//! The places of a compiled program's values: words of its memory or of its inputs.

use std::ops::Range;

/// The place where a value of a compiled program lies: in an input of the run, or in the program's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::tfhe) enum Place {
    /// The value lies in one of the run's inputs, by the input's number.
    Input(usize),
    /// The value lies in a range of words of the program's memory.
    Own(Range<usize>),
}

/// Returns the range of words that the places cover together, if they follow one another in memory in this order.
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

/// The words of the memory and of the inputs that a kernel can read while it writes one place.
pub(super) struct Read<'m> {
    inputs: &'m [&'m [u64]],
    before: &'m [u64],
    after: &'m [u64],
    /// The position in the program's memory of the first word of `after`, the words behind the written place.
    end: usize,
}

impl Read<'_> {
    /// Returns the words of a place. The place that is written gives no words, which the kernels refuse by its length.
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

/// Splits the memory into the words of the place that a kernel writes, and all other words, which it reads. If the
/// place lies in an input of the run, there are no words to write.
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
