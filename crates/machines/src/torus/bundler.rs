// SPDX-License-Identifier: Apache-2.0
//! A cycle model of `rm_torus_bundle`, which computes bundles of an unrolled key in transform form,
//! for one group of evaluation positions after another. A pattern u is a setting of a step's m
//! secret bits that is not all 0. The bundle is the sum over patterns u of (X^(a u) - 1) BK_u. BK_u
//! is the key of pattern u, and a u the inner product of the mask's exponents a with u.

use std::collections::VecDeque;

use super::Shape;
use super::shape::BUNDLE;

/// The registers of the bundler, which sums the keys of all patterns of a step's secret bits, each times its weight
/// X^(a u) - 1. Here u is a pattern, and a u the inner product of the mask's exponents with it. The registers
/// decide when a beat of the key is taken and when such a sum, a bundle, is complete.
pub(super) struct Bundler {
    shape: Shape,
    step: usize,
    group: usize,
    pattern: usize,
    /// The number of bundles (weighted sums over the patterns of a step, each for one group of positions) that have
    /// begun and that no product has used yet. `depth` is the limit of this number.
    held: u64,
    depth: u64,
    /// The number of complete bundles (weighted sums over the patterns of a step) that no product has used yet.
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

    /// Returns whether a complete bundle, the weighted sum over the patterns of a step's secret bits, waits for a
    /// product.
    pub(super) fn available(&self) -> bool {
        self.made > 0
    }

    /// Runs one cycle of the bundler. `waits` tells whether a beat of the key is on offer, and `product` whether a
    /// product uses a complete bundle (the weighted sum over a step's patterns). Returns whether the beat is taken.
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
