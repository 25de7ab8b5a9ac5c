// SPDX-License-Identifier: Apache-2.0
//! A cycle model of `rm_torus_gather`, which sums the keys of all patterns of a step's secret bits in coefficient form,
//! for one ciphertext after the other.

use std::collections::VecDeque;

use super::Shape;

/// The number of steps of the blind rotation whose keys the bundle unit holds. One step's key is received while the
/// patterns of the other step are summed to a bundle.
pub(super) const HELD: u64 = 2;

/// The work that the bundle unit does in a cycle on the current bundle, the sum over the patterns of a step's secret
/// bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Idle,
    Fetch,
    Load,
    Run,
}

/// The registers of the unit that sums the keys of a step's patterns of secret bits in coefficient form. They decide
/// when a beat of the key is taken and when such a sum, a bundle, is complete.
pub(super) struct Gather {
    shape: Shape,
    places: usize,
    /// The position of the next beat of the key: its step of the blind rotation, its group of coefficients and its
    /// pattern of secret bits.
    fill: (usize, usize, usize),
    /// The number of steps of the blind rotation whose key has begun to arrive and is still in the unit. `whole` is
    /// the number of those whose key has arrived entirely.
    held: u64,
    whole: u64,
    state: State,
    place: usize,
    begun: Vec<bool>,
    count: usize,
    /// The bundles (sums over a step's patterns of secret bits) whose last group of coefficients was read and that are
    /// not complete yet. A bundle is named by its ciphertext.
    under_way: VecDeque<Option<usize>>,
}

impl Gather {
    pub(super) fn new(shape: Shape, places: usize) -> Self {
        Self {
            shape,
            places,
            fill: (0, 0, 1),
            held: 0,
            whole: 0,
            state: State::Idle,
            place: 0,
            begun: vec![false; places],
            count: 0,
            under_way: vec![None; shape.gather_latency() as usize].into(),
        }
    }

    /// Returns whether the next bundle, a sum over a step's patterns, waits because the step's key has not arrived.
    pub(super) fn hungry(&self) -> bool {
        self.state == State::Idle && self.whole == 0
    }

    /// Runs one cycle of the bundle unit. `waits` tells whether a beat of the key is on offer. `taken` are the
    /// ciphertexts whose bundles (sums over a step's patterns) the transforms took. Returns whether the beat is taken,
    /// and the ciphertext whose bundle is complete.
    pub(super) fn cycle(
        &mut self,
        waits: bool,
        taken: std::ops::Range<usize>,
    ) -> (bool, Option<usize>) {
        let groups = self.shape.key_groups();
        let (step, group, pattern) = self.fill;
        let begins = pattern == 1 && group == 0;
        let takes = waits && (!begins || self.held != HELD);
        let last_pattern = pattern == self.shape.patterns(step);
        let filled = takes && last_pattern && group + 1 == groups;
        let starts = self.state == State::Idle && self.whole != 0 && !self.begun[self.place];
        let run_last = self.state == State::Run && self.count == groups;
        let freed = run_last && self.place + 1 == self.places;

        self.under_way.push_back(run_last.then_some(self.place));
        let made = self.under_way.pop_front().flatten();
        self.begun[taken].fill(false);
        if starts {
            self.begun[self.place] = true;
        }
        self.state = match self.state {
            State::Idle if starts => State::Fetch,
            State::Idle => State::Idle,
            State::Fetch => State::Load,
            State::Load => State::Run,
            State::Run => {
                self.count = if run_last { 0 } else { self.count + 1 };
                if run_last {
                    self.place = if freed { 0 } else { self.place + 1 };
                    State::Idle
                } else {
                    State::Run
                }
            }
        };
        self.held = self.held + u64::from(takes && begins) - u64::from(freed);
        self.whole = self.whole + u64::from(filled) - u64::from(freed);
        if takes {
            self.fill = match (last_pattern, filled) {
                (_, true) => (step + 1, 0, 1),
                (true, false) => (step, group + 1, 1),
                (false, false) => (step, group, pattern + 1),
            };
        }
        (takes, made)
    }
}
