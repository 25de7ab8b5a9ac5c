// SPDX-License-Identifier: Apache-2.0
//! Adds random errors slot by slot, as variances where they are uncorrelated and as amplitudes where they may not be.
//!
//! A product with a mask leaves a large error in some slots, and the rescale after it adds a small error to all slots.
//! Rotations of the large error may be correlated with it, while those of the small error are not. So an error is kept
//! as a few parts that are uncorrelated with each other. One part has the same variance in all slots.

use super::slots::Slots;
use super::sources::{Registry, Sources};

/// The most parts of an error whose variance differs from slot to slot. If there are more, the smallest ones are added
/// to one part.
const MOST_UNEVEN: usize = 2;

/// The variance in each slot, as the three coefficients v_0, v_1, v_2 of [`Noise`](super::Noise).
pub type Variances = [Slots; 3];

/// A random error of each slot: a sum of parts that are uncorrelated with each other in every slot.
#[derive(Clone, Debug, Default)]
pub struct Random(Vec<Part>);

#[derive(Clone, Debug)]
struct Part {
    variance: Variances,
    sources: Sources,
}

fn sum(a: &Variances, b: &Variances) -> Variances {
    let [a0, a1, a2] = a;
    let [b0, b1, b2] = b;
    [a0.plus(b0), a1.plus(b1), a2.plus(b2)]
}

/// Returns a bound on the variance of the sum of two errors that may be correlated.
fn joined(a: &Variances, b: &Variances) -> Variances {
    let one = |x: &Slots, y: &Slots| match (x, y) {
        (Slots::All(0.0), z) | (z, Slots::All(0.0)) => z.clone(),
        _ => x.zip(y, |x, y| x + y + 2.0 * (x * y).sqrt()),
    };
    let [a0, a1, a2] = a;
    let [b0, b1, b2] = b;
    [one(a0, b0), one(a1, b1), one(a2, b2)]
}

impl Part {
    fn is_even(&self) -> bool {
        self.variance.iter().all(|v| v.period() == 1)
    }

    fn largest(&self) -> f64 {
        self.variance.iter().map(|v| v.largest(usize::MAX)).sum()
    }

    /// Adds a part that is uncorrelated with this one.
    fn with(self, other: &Self, registry: &mut Registry) -> Self {
        Self {
            variance: sum(&self.variance, &other.variance),
            sources: registry.union(&self.sources, &other.sources).0,
        }
    }

    /// Adds a part that may be correlated with this one.
    fn joined(self, other: &Self, registry: &mut Registry) -> Self {
        Self {
            variance: joined(&self.variance, &other.variance),
            sources: registry.union(&self.sources, &other.sources).0,
        }
    }
}

/// Returns the variance of the sum of parts that are uncorrelated with each other.
fn summed<'a>(parts: impl Iterator<Item = &'a Part>) -> Variances {
    let none = [Slots::ZERO, Slots::ZERO, Slots::ZERO];
    parts.fold(none, |all, part| sum(&all, &part.variance))
}

/// Returns the sum of parts that are uncorrelated with each other, or `None` if there is none.
fn total<'a>(parts: impl Iterator<Item = &'a Part>, registry: &mut Registry) -> Option<Part> {
    parts.fold(None, |sum, part| match sum {
        None => Some(part.clone()),
        Some(sum) => Some(sum.with(part, registry)),
    })
}

impl Random {
    /// Returns the random error of a value that has none.
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns a random error with these sources.
    pub fn new(variance: Variances, sources: Sources) -> Self {
        Self(vec![Part { variance, sources }])
    }

    /// Returns the variance in each slot.
    pub fn variance(&self) -> Variances {
        summed(self.0.iter())
    }

    /// Returns the largest number of all slots for each coefficient of the variance.
    pub fn largest(&self) -> [f64; 3] {
        let (even, uneven): (Vec<&Part>, Vec<&Part>) = self.0.iter().partition(|p| p.is_even());
        let largest = |variance: &Variances| variance.each_ref().map(|v| v.largest(usize::MAX));
        let uneven = match uneven.as_slice() {
            [part] => largest(&part.variance),
            parts => largest(&summed(parts.iter().copied())),
        };
        let even = even.iter().map(|part| largest(&part.variance));
        even.fold(uneven, |[a, b, c], [x, y, z]| [a + x, b + y, c + z])
    }

    /// Returns the error of a value that is multiplied, slot by slot, by numbers of absolute value up to `gain`.
    pub fn scaled(&self, gain: &Slots) -> Self {
        let squared = gain.map(|g| g * g);
        let scaled = |part: &Part| Part {
            variance: part.variance.each_ref().map(|v| v.times(&squared)),
            sources: part.sources.clone(),
        };
        Self(self.0.iter().map(scaled).collect())
    }

    /// Rotates the error of a value to the left by `steps` slots.
    pub fn rotated(&self, steps: i64, registry: &mut Registry) -> Self {
        let rotated = |part: &Part| Part {
            variance: part.variance.each_ref().map(|v| v.rotated(steps)),
            sources: registry.turned(&part.sources, steps),
        };
        Self(self.0.iter().map(rotated).collect())
    }

    /// Returns the error of the sum of two values.
    pub fn plus(&self, other: &Self, registry: &mut Registry) -> Self {
        match (self.0.as_slice(), other.0.as_slice()) {
            ([], _) => return other.clone(),
            (_, []) => return self.clone(),
            ([a], [b]) if a.is_even() == b.is_even() => {
                let (sources, independent) = registry.union(&a.sources, &b.sources);
                let variance = match independent {
                    true => sum(&a.variance, &b.variance),
                    false => joined(&a.variance, &b.variance),
                };
                return Self::new(variance, sources);
            }
            _ => {}
        }
        Self(merged(correlated(&self.0, &other.0, registry), registry))
    }
}

/// Returns parts of the sum of two errors that are uncorrelated with each other. Each is a part of one error, or the
/// sum of all parts that are connected by a common source.
fn correlated(a: &[Part], b: &[Part], registry: &mut Registry) -> Vec<Part> {
    // For each part of `a`, then of `b`, the number of its group. Parts that may be correlated are of one group.
    let mut group: Vec<usize> = (0..a.len() + b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            let (old, new) = (group[a.len() + j], group[i]);
            if old != new && !x.sources.disjoint(&y.sources) {
                for known in &mut group {
                    if *known == old {
                        *known = new;
                    }
                }
            }
        }
    }
    let mut parts = Vec::new();
    for number in 0..group.len() {
        let within = |parts: &[Part], groups: &[usize], registry: &mut Registry| {
            let kept = parts.iter().zip(groups).filter(|&(_, &of)| of == number);
            total(kept.map(|(part, _)| part), registry)
        };
        let (of_a, of_b) = group.split_at(a.len());
        let (x, y) = (within(a, of_a, registry), within(b, of_b, registry));
        parts.extend(match (x, y) {
            (Some(x), Some(y)) => Some(x.joined(&y, registry)),
            (x, y) => x.or(y),
        });
    }
    parts
}

/// Adds up the parts that have one variance for all slots, and the smallest of the others if there are too many.
fn merged(parts: Vec<Part>, registry: &mut Registry) -> Vec<Part> {
    let (even, mut uneven): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(Part::is_even);
    uneven.sort_by(|a, b| b.largest().total_cmp(&a.largest()));
    while uneven.len() > MOST_UNEVEN {
        let (last, before) = (uneven.pop(), uneven.pop());
        uneven.extend(total(last.iter().chain(&before), registry));
    }
    total(even.iter(), registry)
        .into_iter()
        .chain(uneven)
        .collect()
}
