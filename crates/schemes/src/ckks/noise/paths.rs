// SPDX-License-Identifier: Apache-2.0
//! Follows the errors that operations add on their paths to an output of the program, with their signs.
//!
//! An error is a linear combination of other errors ([`Errors`]). Each of these is multiplied by a number, rotated
//! by some slots, and perhaps conjugated. If the numbers are known, equal errors are joined as soon as they meet,
//! so x + y - x has the error of y. The factors of products are only known to lie in a [`Ball`]. A combination with
//! such factors is a step of its own. From an output backwards, the factors of all paths to a step's error e are
//! added, before an absolute value is taken. Let g be the sum for e, and h that for its conjugate e'. Then |g e + h
//! e'| <= (|g| + |h|) |e|.

use std::collections::BTreeMap;

use ringmill_isa::Level;

use super::bounds::Bounds;
use super::poly::{Domain, Factor, Values};
use super::slots::Slots;
use super::sources::Reach;

/// The number of a step, at which errors are combined and an error is added. A step combines errors of steps with
/// lower numbers.
type Step = u32;

/// A term of a combination of errors. It has the number of the step that added the error, the slots of the ring by
/// which the error is rotated to the left, and whether it is conjugated.
type Term = (Step, u32, bool);

/// A linear combination of the errors of steps, with a factor for each.
#[derive(Clone, Debug, Default)]
pub struct Errors(BTreeMap<Term, Factor>);

/// The most terms that a combination of errors may have without becoming a step of its own.
const TERMS: usize = 8;

impl Errors {
    pub fn none() -> Self {
        Self::default()
    }

    fn is_exact(&self) -> bool {
        self.0.values().all(Factor::is_exact)
    }

    fn len(&self) -> u64 {
        self.0.values().map(Factor::len).sum()
    }
}

fn turned(turn: u32, steps: i64, ring: usize) -> u32 {
    (i64::from(turn) + steps).rem_euclid(ring.max(1) as i64) as u32
}

/// The key with which an operation switches: that of a relinearisation, a conjugation or a rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Relin,
    Conj,
    /// The key of a rotation by this many slots of the ring.
    Rotate(u32),
}

/// The error that a step adds to the errors that it combines.
#[derive(Clone, Debug)]
pub enum Own {
    Nothing,
    /// A random error. `variance` has the coefficients v_0, v_1, v_2 of [`Noise`](super::Noise). The error may be
    /// correlated in any way with errors that have the same number `like`.
    Random {
        variance: [f64; 3],
        reach: Reach,
        like: Option<u64>,
    },
    /// The error of a key, times the mean of the key-switching digits. Its standard deviation is `amplitude` times
    /// the absolute value of 1 + X + ... + X^(N-1) in each slot, where the slots are rotated by `turn`.
    Peak {
        key: Key,
        level: Level,
        turn: i64,
        amplitude: f64,
    },
    /// An error that is not random, of absolute value up to this number in each slot.
    Fixed(Slots),
}

/// The steps by which a program's operations add and combine errors.
#[derive(Clone, Debug)]
pub struct Paths {
    steps: Vec<(Own, Errors)>,
    /// The number of slots of the ring. `vector` is the number of slots of the program's vectors.
    ring: usize,
    vector: usize,
    values: Values,
    /// How many more floating-point numbers the paths may store. `work` is how many more of them they may compute.
    room: u64,
    work: u64,
}

/// The most floating-point numbers that the paths of a program may store. They take some 30 MB.
const ROOM: u64 = 1 << 22;
/// The most floating-point numbers that the paths of a program may compute, which takes about a tenth of a second.
const WORK: u64 = 1 << 25;

/// The factors by which an error and its conjugate are multiplied on the way to an output, for each number of slots
/// by which the error is rotated on the way.
type Gains = BTreeMap<u32, [Factor; 2]>;

/// The factors by which the error of one key and the error's conjugate are multiplied on the way to an output. They
/// are added up for each level of a key switch and each rotation of the digits' mean.
type Peaks = BTreeMap<(Level, i64), [Factor; 2]>;

const NONE: [Factor; 2] = [Factor::ZERO, Factor::ZERO];

fn join([a, b]: &[Factor; 2], [c, d]: &[Factor; 2], values: &mut Values) -> [Factor; 2] {
    [a.plus(c, values), b.plus(d, values)]
}

/// Returns a bound on |g e + h e'| / |e| in each slot, for an error e, its conjugate e', and their factors g and h.
fn size([straight, conjugate]: &[Factor; 2]) -> Slots {
    straight.magnitude().plus(&conjugate.magnitude())
}

impl Paths {
    pub fn new(ring: usize, vector: usize) -> Self {
        Self {
            steps: Vec::new(),
            ring,
            vector,
            values: Values::new(vector),
            room: ROOM,
            work: WORK,
        }
    }

    /// Records the range of the program's value with the number `value`, for factors that are polynomials of such
    /// values.
    pub fn know(&mut self, value: u32, domain: Domain) {
        self.values.know(value, domain);
    }

    pub fn sum(&mut self, mut a: Errors, b: Errors) -> Errors {
        for (term, factor) in b.0 {
            let sum = match a.0.get(&term) {
                Some(known) => known.plus(&factor, &mut self.values),
                None => factor,
            };
            a.0.insert(term, sum);
        }
        a.0.retain(|_, factor| !factor.is_zero());
        a
    }

    pub fn times(&mut self, a: &Errors, by: &Factor) -> Errors {
        let times = |(&term, factor): (&Term, &Factor)| (term, factor.times(by, &mut self.values));
        Errors(a.0.iter().map(times).collect())
    }

    pub fn conjugated(&mut self, a: &Errors) -> Errors {
        let conjugate = |(&(step, turn, conjugate), factor): (&Term, &Factor)| {
            (
                (step, turn, !conjugate),
                factor.conjugated(&mut self.values),
            )
        };
        Errors(a.0.iter().map(conjugate).collect())
    }

    /// Rotates errors to the left by `steps` slots of the ring.
    pub fn rotated(&mut self, a: &Errors, steps: i64) -> Errors {
        let turn = |(&(step, turn, conjugate), factor): (&Term, &Factor)| {
            (
                (step, turned(turn, steps, self.ring), conjugate),
                factor.rotated(steps, &mut self.values),
            )
        };
        Errors(a.0.iter().map(turn).collect())
    }

    /// Adds the error `own` of an operation to the errors that the operation combines. Returns the sum, or `None`
    /// if there are too many errors to store.
    pub fn add(&mut self, own: Own, errors: Errors) -> Option<Errors> {
        let few = errors.0.len() <= TERMS && errors.is_exact();
        if few && matches!(own, Own::Nothing) {
            return Some(errors);
        }
        let own_kept = match &own {
            Own::Fixed(size) => size.period() as u64,
            Own::Nothing | Own::Random { .. } | Own::Peak { .. } => 1,
        };
        self.room = self.room.checked_sub(errors.len() + own_kept)?;
        let step = Step::try_from(self.steps.len()).ok()?;
        let kept = |errors| Errors(BTreeMap::from([((step, 0, false), errors)]));
        if few {
            self.steps.push((own, Errors::none()));
            let sum = self.sum(errors, kept(Factor::exact(1.0)));
            return self.add(Own::Nothing, sum);
        }
        self.steps.push((own, errors));
        Some(kept(Factor::exact(1.0)))
    }

    /// Returns the bounds on a combination of errors at an output of the program. `ones` is the absolute value of
    /// 1 + X + ... + X^(N-1) in each slot. Returns `None` if that takes too much work.
    pub fn reached(&mut self, errors: &Errors, ones: &Slots) -> Option<Bounds> {
        let mut waiting: BTreeMap<Step, Gains> = BTreeMap::new();
        let one = Gains::from([(0, [Factor::exact(1.0), Factor::ZERO])]);
        follow(&one, errors, self.ring, &mut self.values, &mut waiting);
        let mut reached = Bounds {
            variance: [Slots::ZERO, Slots::ZERO, Slots::ZERO],
            fixed: Slots::ZERO,
        };
        let mut peaks: BTreeMap<(Key, u32), Peaks> = BTreeMap::new();
        let mut alike: BTreeMap<(u64, u32), [Slots; 3]> = BTreeMap::new();
        while let Some((step, mut gains)) = waiting.pop_last() {
            gains.retain(|_, gain| !gain.iter().all(Factor::is_zero));
            let (own, from) = self.steps.get(step as usize)?;
            let numbers: u64 = gains.values().flatten().map(Factor::len).sum();
            self.work = self.work.checked_sub(numbers * (1 + from.0.len() as u64))?;
            match own {
                Own::Nothing => {}
                Own::Random {
                    variance,
                    reach,
                    like: None,
                } => {
                    let sizes = sizes(&gains, *reach, self.vector, &mut self.values);
                    let squares = sizes.values().map(|size| size.map(|x| x * x));
                    let power = squares.fold(Slots::ZERO, |sum, x| sum.plus(&x));
                    for (sum, &v) in reached.variance.iter_mut().zip(variance) {
                        *sum = sum.plus(&power.times(&Slots::All(v)));
                    }
                }
                Own::Random {
                    variance,
                    reach,
                    like: Some(like),
                } => {
                    for (turn, size) in sizes(&gains, *reach, self.vector, &mut self.values) {
                        let none = [Slots::ZERO, Slots::ZERO, Slots::ZERO];
                        let sums = alike.entry((*like, turn)).or_insert(none);
                        for (sum, v) in sums.iter_mut().zip(variance) {
                            *sum = sum.plus(&size.times(&Slots::All(v.sqrt())));
                        }
                    }
                }
                Own::Fixed(error) => {
                    for (&turn, gain) in &gains {
                        let error = error.rotated(i64::from(turn)).times(&size(gain));
                        reached.fixed = reached.fixed.plus(&error);
                    }
                }
                &Own::Peak {
                    key,
                    level,
                    turn,
                    amplitude,
                } => {
                    for (&before, gain) in &gains {
                        let gain = gain.each_ref().map(|factor| factor.scaled(amplitude));
                        let sums = peaks.entry((key, before)).or_default();
                        let sum = sums.entry((level, turn)).or_insert(NONE);
                        *sum = join(sum, &gain, &mut self.values);
                    }
                }
            }
            follow(&gains, from, self.ring, &mut self.values, &mut waiting);
        }
        for amplitudes in alike.values() {
            for (sum, x) in reached.variance.iter_mut().zip(amplitudes) {
                *sum = sum.plus(&x.map(|x| x * x));
            }
        }
        reached.variance[0] = reached.variance[0].plus(&self.peaks(peaks, ones));
        Some(reached)
    }

    /// Returns, for each slot of the program's vectors, the variance of all keys' errors, each times the mean of
    /// key-switching digits. `ones` is the absolute value of 1 + X + ... + X^(N-1) in each slot.
    fn peaks(&self, peaks: BTreeMap<(Key, u32), Peaks>, ones: &Slots) -> Slots {
        // Most errors have the same factor in all slots. Their power is added by the place where the ones begin, so the
        // slots are visited once for each such place.
        let mut even: BTreeMap<i64, f64> = BTreeMap::new();
        let mut variance = Slots::ZERO;
        for ((_, before), sums) in peaks {
            // The same key at another level has the same errors, except for the last digit.
            let mut sizes: BTreeMap<i64, Slots> = BTreeMap::new();
            for ((_, turn), gain) in sums {
                let sum = sizes.entry(turn).or_insert(Slots::ZERO);
                *sum = sum.plus(&size(&gain));
            }
            let mut left = sizes.iter();
            if let (Some((turn, &Slots::All(size))), None) = (left.next(), left.next()) {
                *even.entry(i64::from(before) + turn).or_insert(0.0) += size * size;
                continue;
            }
            let mut amplitude = Slots::ZERO;
            for (turn, size) in sizes {
                let ones = self.window(ones, i64::from(before) + turn);
                amplitude = amplitude.plus(&size.times(&ones));
            }
            variance = variance.plus(&amplitude.map(|x| x * x));
        }
        let squares = ones.map(|x| x * x);
        let mut sums = vec![0.0; if even.is_empty() { 0 } else { self.vector }];
        for (turn, power) in even {
            let first = turn.rem_euclid(self.ring.max(1) as i64) as usize;
            for (slot, sum) in sums.iter_mut().enumerate() {
                *sum += power * squares.at(first + slot);
            }
        }
        variance.plus(&Slots::each(sums))
    }

    /// Returns the numbers `ring` of the ring's slots, rotated to the left by `turn`, cut to the length of the
    /// program's vectors.
    fn window(&self, ring: &Slots, turn: i64) -> Slots {
        let first = turn.rem_euclid(self.ring.max(1) as i64) as usize;
        match ring {
            Slots::All(_) => ring.clone(),
            Slots::Each(_) => Slots::each(
                (first..first + self.vector)
                    .map(|slot| ring.at(slot))
                    .collect(),
            ),
        }
    }
}

/// Passes factors on from a combination of errors to the errors in it. `gains` has the factors by which the
/// combination reaches an output, and `waiting` collects the factors of each step's error.
fn follow(
    gains: &Gains,
    errors: &Errors,
    ring: usize,
    values: &mut Values,
    waiting: &mut BTreeMap<Step, Gains>,
) {
    for (&(step, turn, conjugate), factor) in &errors.0 {
        let sums = waiting.entry(step).or_default();
        for (&before, [straight, conjugated]) in gains {
            let by = factor.rotated(i64::from(before), values);
            let g = straight.times(&by, values);
            let h = conjugated.times(&by.conjugated(values), values);
            let gain = if conjugate { [h, g] } else { [g, h] };
            let turn = turned(before, i64::from(turn), ring);
            let sum = sums.entry(turn).or_insert(NONE);
            *sum = join(sum, &gain, values);
        }
    }
}

/// Returns bounds on the factors of one error at an output, for each number of slots by which the error is rotated.
/// Rotations by the same number modulo the error's [`Reach`] are added. The slots of a random error are uncorrelated,
/// so its other rotations are too.
fn sizes(gains: &Gains, reach: Reach, vector: usize, values: &mut Values) -> BTreeMap<u32, Slots> {
    let sizes = |gains: &Gains| {
        gains
            .iter()
            .map(|(&turn, gain)| (turn, size(gain)))
            .collect()
    };
    match reach {
        Reach::Ring => sizes(gains),
        Reach::Vector => {
            let mut within = Gains::new();
            for (turn, gain) in gains {
                let turn = turn % vector.max(1) as u32;
                let sum = within.entry(turn).or_insert(NONE);
                *sum = join(sum, gain, values);
            }
            sizes(&within)
        }
    }
}
