// SPDX-License-Identifier: Apache-2.0
//! The cycles of `rm_torus_bundle`: bundles of an unrolled key, each the sum of a group's weighed patterns.

use std::collections::VecDeque;

use super::Shape;
use super::shape::BUNDLE;

/// The registers that decide when a beat is taken and when a bundle is there.
pub(super) struct Bundler {
    shape: Shape,
    step: usize,
    group: usize,
    pattern: usize,
    /// Bundles begun that no product has taken yet, and the most there may be.
    held: u64,
    depth: u64,
    /// Those that are made.
    made: u64,
    under_way: VecDeque<bool>,
}

impl Bundler {
    pub(super) fn new(shape: Shape) -> Self {
        Self {
            shape,
            step: 0,
            group: 0,
            pattern: 1,
            held: 0,
            depth: shape.sizes().key_beats as u64,
            made: 0,
            under_way: vec![false; BUNDLE as usize].into(),
        }
    }

    /// Whether a product finds one.
    pub(super) fn available(&self) -> bool {
        self.made > 0
    }

    /// A cycle in which a beat waits or not, and a product takes a bundle or not; whether the beat is taken.
    pub(super) fn cycle(&mut self, waits: bool, product: bool) -> bool {
        let first = self.pattern == 1;
        let takes = waits && (!first || self.held != self.depth);
        let last = takes && self.pattern == self.shape.patterns(self.step);
        self.held = self.held + u64::from(takes && first) - u64::from(product);
        if last {
            self.pattern = 1;
            self.group += 1;
            if self.group == self.shape.groups() {
                self.group = 0;
                self.step += 1;
            }
        } else if takes {
            self.pattern += 1;
        }
        self.under_way.push_back(last);
        let arrives = self.under_way.pop_front() == Some(true);
        self.made = self.made + u64::from(arrives) - u64::from(product);
        takes
    }
}
