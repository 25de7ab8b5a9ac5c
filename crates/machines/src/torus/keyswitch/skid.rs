// SPDX-License-Identifier: Apache-2.0
//! The two words of `rm_skid`.

/// What it shows, and the word behind that.
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

    /// Whether it takes a word.
    pub(super) fn ready(&self) -> bool {
        self.spare.is_none()
    }

    /// A cycle in which a word comes (it is taken where there is room), and the one that is shown is taken or stays.
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
