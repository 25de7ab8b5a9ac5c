// SPDX-License-Identifier: Apache-2.0
//! The cycle model of the bootstrapping engine. It models the registers that decide when each step happens, cycle by
//! cycle, without data.
//!
//! The registers are those of `rm_torus_seq`, `rm_torus_key`, `rm_torus_bundle`, `rm_torus_gather` and `rm_torus_ctl`.
//! The model equals the RTL cycle for cycle, with the key stream's stalls.

use std::collections::VecDeque;

use super::Shape;
use super::bundler::Bundler;
use super::gather::Gather;
use super::schedule::Schedule;
use super::shape::{BACK, RAW_BEATS};

/// The cycles of a blind rotation: their number, and those in which parts of the engine work or wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Run {
    /// The cycles from the engine's command to its done bit: the blind rotation, and the extraction of a ciphertext for
    /// each place.
    pub cycles: u64,
    /// The cycles in which butterflies of forward transforms of digits were issued. `inverse`
    /// counts those of inverse transforms. `bundles` counts those of bundles, the sums over a
    /// step's patterns of secret bits in coefficient form.
    pub forward: u64,
    pub inverse: u64,
    pub bundles: u64,
    /// The cycles in which the products' multipliers worked. `starved` has the cycles in which a product, or the
    /// transform of a bundle (a sum over a step's patterns of secret bits), waited for the key. With
    /// [`Schedule::Pairs`] and an unrolled key, waits for a bundle that is not complete count, too.
    pub products: u64,
    pub starved: u64,
    /// The cycles in which a beat of the bootstrapping key waited at its source because the engine's key buffer was
    /// full.
    pub crowded: u64,
}

/// Returns the cycles in which one ciphertext and its table are loaded, one word in a cycle: the body's exponent, the
/// table and the mask's exponents.
pub fn load_cycles(shape: Shape) -> u64 {
    2 + (shape.degree() + shape.sizes().dim) as u64
}

/// Returns the cycles in which one extracted ciphertext is unloaded into a stream that does not stall.
pub fn unload_cycles(shape: Shape) -> u64 {
    shape.degree() as u64 + 3
}

/// Models the blind rotation of the first `places` ciphertexts and their extraction. In each cycle in which no beat of
/// the key is on offer, `offers` returns whether the next one arrives. A beat on offer stays until
/// it is taken.
pub fn run(shape: Shape, places: usize, mut offers: impl FnMut() -> bool) -> Run {
    let mut engine = Engine::new(shape, places);
    let mut out = Run::default();
    let (mut offered, total) = (false, shape.key_total());
    // The command's own cycle, in which the key is not taken.
    offered = offered || offers();
    out.cycles = 1;
    while !engine.done() {
        let waiting = engine.key.taken < total;
        if waiting && !offered {
            offered = offers();
        }
        let ready = engine.key.ready();
        out.crowded += u64::from(waiting && offered && !ready);
        let taken = waiting && offered && ready;
        engine.cycle(taken, &mut out);
        if taken {
            offered = false;
        }
        out.cycles += 1;
    }
    // The run's end takes one cycle, and the extraction N + 1 for each place.
    out.cycles += 1 + places as u64 * (shape.degree() as u64 + 1);
    out
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Ready,
    Issue,
    Pause,
    Tail,
}

/// The operand of the transform units: `transform_e` of the RTL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Transform {
    Digits,
    /// The transform units transform the mask's column of a bundle, the sum over a step's patterns of secret bits. With
    /// `Body` they transform the column of the body.
    Mask,
    Body,
    Inverse,
}

/// The module to which the beats of the key go first.
enum Feed {
    Products,
    Bundler(Bundler),
    Gather(Gather),
}

/// The registers of the engine that decide when each step of a blind rotation happens.
struct Engine {
    shape: Shape,
    places: usize,
    state: State,
    transform: Transform,
    /// Whether bundles (sums over a step's patterns of secret bits) are computed one step of the blind rotation ahead,
    /// as they are after the first step.
    ahead: bool,
    /// The index of the first ciphertext of the current group, the interleaved ciphertexts that are in the
    /// transform units together. `member` has the current ciphertext of the group.
    base: usize,
    member: u64,
    step: usize,
    pass: u64,
    slot: u64,
    row: u64,
    wait: u64,
    evaluated: Line,
    summed: Line,
    /// For each ciphertext, whether its complete bundle (the sum over a step's patterns of secret bits) waits to be
    /// transformed.
    gathered: Vec<bool>,
    product: Option<(u64, usize)>,
    product_place: usize,
    product_step: usize,
    key: Key,
    feed: Feed,
}

/// A delay line: ciphertexts enter it, and become ready after a fixed number of cycles.
struct Line {
    delay: VecDeque<Option<usize>>,
    flags: Vec<bool>,
}

/// The ring buffer in which the engine holds beats of the key.
struct Key {
    depth: u64,
    count: u64,
    offset: u64,
    taken: u64,
    ended: bool,
    total: u64,
}

impl Key {
    fn ready(&self) -> bool {
        !self.ended && self.count != self.depth
    }
}

impl Line {
    fn new(delay: u64, places: usize) -> Self {
        Self {
            delay: vec![None; delay as usize].into(),
            flags: vec![false; places],
        }
    }

    /// Runs one cycle of the delay line: the ciphertext `enters` goes in, and the ready flags of the ciphertexts
    /// `taken` are cleared.
    fn cycle(&mut self, enters: Option<usize>, taken: std::ops::Range<usize>) {
        self.delay.push_back(enters);
        self.flags[taken].fill(false);
        if let Some(Some(place)) = self.delay.pop_front() {
            self.flags[place] = true;
        }
    }
}

impl Engine {
    fn new(shape: Shape, places: usize) -> Self {
        let feed = match shape.schedule() {
            Schedule::Coefficients => Feed::Gather(Gather::new(shape, places)),
            Schedule::Pairs if shape.bundles() => Feed::Bundler(Bundler::new(shape)),
            Schedule::Sums | Schedule::Pairs => Feed::Products,
        };
        Self {
            shape,
            places,
            state: State::Ready,
            transform: match feed {
                Feed::Gather(_) => Transform::Mask,
                Feed::Products | Feed::Bundler(_) => Transform::Digits,
            },
            ahead: false,
            base: 0,
            member: 0,
            step: 0,
            pass: 0,
            slot: 0,
            row: 0,
            wait: 0,
            evaluated: Line::new(BACK - 1, places),
            summed: Line::new(shape.inverse_wait().saturating_sub(2), places),
            gathered: vec![false; places],
            product: None,
            product_place: 0,
            product_step: 0,
            key: Key {
                depth: match feed {
                    Feed::Bundler(_) | Feed::Gather(_) => RAW_BEATS,
                    Feed::Products => shape.sizes().key_beats as u64,
                },
                count: 0,
                offset: 0,
                taken: 0,
                ended: false,
                total: shape.key_total(),
            },
            feed,
        }
    }

    fn inverse(&self) -> bool {
        self.transform == Transform::Inverse
    }

    fn slots(&self) -> u64 {
        match self.transform {
            Transform::Inverse => 1,
            Transform::Digits | Transform::Mask | Transform::Body => self.shape.slots(),
        }
    }

    /// Returns whether the transform units, after the digits, transform bundles next: sums over a step's patterns of
    /// secret bits.
    fn bundle_next(&self) -> bool {
        matches!(self.feed, Feed::Gather(_)) && !(self.last_group() && self.last_step())
    }

    fn last_pass(&self) -> bool {
        self.pass + 1 == u64::from(self.shape.sizes().log_n)
    }

    /// Returns the number of ciphertexts in the current group, those that are in the transform units at the same
    /// time. The last group may be smaller.
    fn members(&self) -> usize {
        self.shape.sizes().group.min(self.places - self.base)
    }

    fn group(&self) -> std::ops::Range<usize> {
        self.base..self.base + self.members()
    }

    fn last_group(&self) -> bool {
        self.group().end == self.places
    }

    fn last_step(&self) -> bool {
        self.step + 1 == self.shape.steps()
    }

    /// Returns whether the blind rotation ends in this cycle.
    fn done(&self) -> bool {
        self.state == State::Tail
            && self.wait == 0
            && self.inverse()
            && self.last_step()
            && self.last_group()
    }

    fn cycle(&mut self, key_taken: bool, out: &mut Run) {
        let issue = self.state == State::Issue;
        let last_slot = self.slot + 1 == self.slots();
        let evaluates = issue
            && self.transform == Transform::Digits
            && self.last_pass()
            && last_slot
            && self.row == 0;
        let evaluates = evaluates.then_some(self.base + self.member as usize);
        let ready = match self.transform {
            Transform::Digits | Transform::Body => true,
            Transform::Mask => self.group().all(|place| self.gathered[place]),
            Transform::Inverse => self.group().all(|place| self.summed.flags[place]),
        };
        let begins = self.state == State::Ready && ready;
        if let Feed::Gather(gather) = &self.feed {
            let waits = self.state == State::Ready && self.transform == Transform::Mask && !ready;
            out.starved += u64::from(waits && gather.hungry());
        }
        let when = |is: bool| if is { self.group() } else { 0..0 };
        let takes = when(begins && self.inverse());
        let takes_bundles = when(begins && self.transform == Transform::Mask);
        // The bundles are no longer needed when the last rows of their last column are read.
        let frees = when(
            issue
                && self.transform == Transform::Body
                && self.pass == 0
                && last_slot
                && self.member + 1 == self.members() as u64
                && self.row + 1 == self.shape.half_rows(),
        );
        let (ends, made) = self.products(key_taken, frees, out);
        self.transforms(begins, out);
        if let Some(place) = made {
            self.gathered[place] = true;
        }
        self.gathered[takes_bundles].fill(false);
        self.summed.cycle(ends, takes);
        let taken = ends.map_or(0..0, |place| place..place + 1);
        self.evaluated.cycle(evaluates, taken);
    }

    /// Runs one cycle of the products and of the key. `frees_bundles` are the ciphertexts whose bundles (sums over a
    /// step's patterns, in coefficient form) were taken. Returns the ciphertext whose products end, and the one whose
    /// bundle is complete.
    fn products(
        &mut self,
        key_taken: bool,
        frees_bundles: std::ops::Range<usize>,
        out: &mut Run,
    ) -> (Option<usize>, Option<usize>) {
        let waits = self.key.offset < self.key.count;
        let available = match &self.feed {
            Feed::Products => waits,
            Feed::Bundler(bundler) => bundler.available(),
            Feed::Gather(_) => true,
        };
        let keeps = self.product_place + 1 != self.places;
        let mut ends = None;
        let mut frees = false;
        match &mut self.product {
            None => {
                if self.evaluated.flags[self.product_place] {
                    self.product = Some((0, 1));
                }
            }
            Some(_) if !available => out.starved += 1,
            Some((group, pattern)) => {
                out.products += 1;
                frees = !keeps;
                if matches!(self.feed, Feed::Products) {
                    self.key.offset += u64::from(keeps);
                }
                let last_pattern = *pattern == self.shape.product_patterns(self.product_step);
                let last = last_pattern && *group + 1 == self.shape.groups() as u64;
                *pattern = if last_pattern { 1 } else { *pattern + 1 };
                *group += u64::from(last_pattern);
                if last {
                    ends = Some(self.product_place);
                    self.product = None;
                    self.key.offset = 0;
                    self.product_place += 1;
                    if !keeps {
                        self.product_place = 0;
                        self.product_step += 1;
                    }
                }
            }
        }
        // The next reader of the ring buffer of the key.
        let (frees, made) = match &mut self.feed {
            Feed::Products => (frees, None),
            Feed::Bundler(bundler) => (bundler.cycle(waits, frees), None),
            Feed::Gather(gather) => gather.cycle(waits, frees_bundles),
        };
        self.key.count = self.key.count + u64::from(key_taken) - u64::from(frees);
        self.key.taken += u64::from(key_taken);
        self.key.ended |= self.key.taken == self.key.total;
        (ends, made)
    }

    /// Runs one cycle of the transform units. `begins` tells whether the next transform may begin. `out` counts the
    /// cycles in which butterflies work.
    fn transforms(&mut self, begins: bool, out: &mut Run) {
        match self.state {
            State::Ready => {
                (self.pass, self.member, self.slot, self.row) = (0, 0, 0, 0);
                if begins {
                    self.state = State::Issue;
                }
            }
            State::Issue => self.issue(out),
            State::Pause => {
                if self.wait == 0 {
                    self.state = State::Issue;
                }
                self.wait = self.wait.saturating_sub(1);
            }
            State::Tail => {
                if self.wait == 0 {
                    self.next();
                }
                self.wait = self.wait.saturating_sub(1);
            }
        }
    }

    fn issue(&mut self, out: &mut Run) {
        match self.transform {
            Transform::Digits => out.forward += 1,
            Transform::Mask | Transform::Body => out.bundles += 1,
            Transform::Inverse => out.inverse += 1,
        }
        let (slots, half_rows) = (self.slots(), self.shape.half_rows());
        self.row += 1;
        if self.row < half_rows {
            return;
        }
        self.row = 0;
        self.slot += 1;
        if self.slot < slots {
            return;
        }
        self.slot = 0;
        self.member += 1;
        let members = self.members() as u64;
        if self.member < members {
            return;
        }
        self.member = 0;
        let polynomials = slots * members;
        if self.last_pass() {
            self.state = State::Tail;
            self.wait = self.tail(members) - 1;
        } else {
            let pass = self.shape.pass(polynomials, self.inverse(), self.pass);
            let pause = pass - polynomials * half_rows;
            if pause > 0 {
                self.state = State::Pause;
                self.wait = pause - 1;
            }
        }
        self.pass += 1;
    }

    /// Returns the cycles from the issue of a transform's last butterflies to the start of the next
    /// transform, for a group of `members` ciphertexts. Between the transform of a bundle and
    /// another forward transform the butterflies lose no cycle.
    fn tail(&self, members: u64) -> u64 {
        let forward_next = match self.transform {
            Transform::Digits => self.bundle_next(),
            Transform::Mask => true,
            Transform::Body => !self.ahead,
            Transform::Inverse => false,
        };
        match forward_next {
            true => 1,
            false => self.shape.tail(self.inverse(), members),
        }
    }

    /// Advances to the next transform, in this step of the blind rotation or in the next one.
    fn next(&mut self) {
        self.state = State::Ready;
        let (last_group, next) = (self.last_group(), self.base + self.shape.sizes().group);
        self.transform = match self.transform {
            Transform::Mask => Transform::Body,
            Transform::Body if self.ahead => Transform::Inverse,
            Transform::Body => Transform::Digits,
            Transform::Digits => {
                let bundles = self.bundle_next();
                let first_step = self.step == 0;
                self.base = if last_group { 0 } else { next };
                match first_step {
                    true => self.ahead = last_group,
                    false => self.step -= usize::from(!last_group),
                }
                match (bundles, first_step && !last_group) {
                    (true, _) => Transform::Mask,
                    (false, true) => Transform::Digits,
                    (false, false) => Transform::Inverse,
                }
            }
            // Forward again, one step on; after the last step come the next group's inverses.
            Transform::Inverse if self.last_step() => {
                self.base = next;
                Transform::Inverse
            }
            Transform::Inverse => {
                self.step += 1;
                Transform::Digits
            }
        };
    }
}
