// SPDX-License-Identifier: Apache-2.0
//! A model of the two registers of the stream buffer `rm_skid`.

/// The registers of a stream buffer: the word at its output, and the word behind it.
#[derive(Clone, Debug)]
pub(super) struct Skid<T> {
    shown: Option<T>,
    spare: Option<T>,
}

impl<T: Copy> Skid<T> {
    pub(super) fn new() -> Self {
        Self {
            shown: None,
            spare: None,
        }
    }

    pub(super) fn shown(&self) -> Option<T> {
        self.shown
    }

    /// Returns whether the stream buffer can take a word, since one of its two registers is empty.
    pub(super) fn ready(&self) -> bool {
        self.spare.is_none()
    }

    /// Runs one cycle of the stream buffer: `word` comes in if there is room, and `taken` tells whether the word at
    /// the output is taken.
    pub(super) fn clock(&mut self, word: Option<T>, taken: bool) {
        let pushed = word.filter(|_| self.ready());
        let next = self.spare.or(pushed);
        if self.shown.is_none() || taken {
            (self.shown, self.spare) = (next, None);
        } else {
            self.spare = next;
        }
    }
}
