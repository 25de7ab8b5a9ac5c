// SPDX-License-Identifier: Apache-2.0
//! A number for each slot, stored as one number if all are equal.

use std::borrow::Cow;
use std::sync::Arc;

/// A number for each slot. A vector of numbers repeats through the slots; its length is a power of two.
#[derive(Clone, PartialEq, Debug)]
pub enum Slots {
    /// Every slot has this number.
    All(f64),
    Each(Arc<[f64]>),
}

impl Slots {
    pub const ZERO: Self = Self::All(0.0);

    /// Makes a number for each slot from the vector `values`. An empty vector stands for zero everywhere.
    pub fn each(values: Vec<f64>) -> Self {
        match values.as_slice() {
            [] => Self::ZERO,
            [first, rest @ ..] if rest.iter().all(|x| x == first) => Self::All(*first),
            _ => Self::Each(values.into()),
        }
    }

    /// Returns the number of slots after which the numbers repeat: the length of the vector, or 1 for one number.
    pub fn period(&self) -> usize {
        match self {
            Self::All(_) => 1,
            Self::Each(values) => values.len(),
        }
    }

    pub fn at(&self, slot: usize) -> f64 {
        match self {
            Self::All(value) => *value,
            Self::Each(values) => values.get(slot % values.len()).copied().unwrap_or(0.0),
        }
    }

    /// Returns whether the number of every slot is zero.
    pub fn is_zero(&self) -> bool {
        match self {
            Self::All(value) => *value == 0.0,
            Self::Each(values) => values.iter().all(|x| *x == 0.0),
        }
    }

    /// Returns the largest number in the first `slots` slots.
    pub fn largest(&self, slots: usize) -> f64 {
        match self {
            Self::All(value) => *value,
            Self::Each(values) => values
                .iter()
                .take(slots)
                .copied()
                .fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// Returns the largest number of all slots as the number of every slot. For bounds it is still a bound, and
    /// cheaper to compute with.
    pub fn flattened(&self) -> Self {
        Self::All(self.largest(usize::MAX))
    }

    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        match self {
            Self::All(value) => Self::All(f(*value)),
            Self::Each(values) => Self::Each(values.iter().map(|&x| f(x)).collect()),
        }
    }

    pub fn zip(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        match (self, other) {
            (&Self::All(a), &Self::All(b)) => Self::All(f(a, b)),
            (Self::Each(a), &Self::All(b)) => Self::Each(a.iter().map(|&x| f(x, b)).collect()),
            (&Self::All(a), Self::Each(b)) => Self::Each(b.iter().map(|&y| f(a, y)).collect()),
            (Self::Each(a), Self::Each(b)) => {
                let [a, b] = aligned(a, b);
                Self::Each(a.iter().zip(b.iter()).map(|(&x, &y)| f(x, y)).collect())
            }
        }
    }

    /// Combines the two numbers of each slot into two others. Each result repeats as the longer operand does.
    pub fn zip_both(&self, other: &Self, f: impl Fn(f64, f64) -> (f64, f64)) -> (Self, Self) {
        let (a, b) = match (self, other) {
            (&Self::All(a), &Self::All(b)) => {
                let (first, second) = f(a, b);
                return (Self::All(first), Self::All(second));
            }
            (Self::Each(a), &Self::All(b)) => a.iter().map(|&x| f(x, b)).unzip(),
            (&Self::All(a), Self::Each(b)) => b.iter().map(|&y| f(a, y)).unzip(),
            (Self::Each(a), Self::Each(b)) => {
                let [a, b] = aligned(a, b);
                a.iter()
                    .zip(b.iter())
                    .map(|(&x, &y)| f(x, y))
                    .unzip::<_, _, Vec<f64>, Vec<f64>>()
            }
        };
        (Self::Each(a.into()), Self::Each(b.into()))
    }

    pub fn plus(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::All(0.0), x) | (x, Self::All(0.0)) => x.clone(),
            _ => self.zip(other, |x, y| x + y),
        }
    }

    pub fn times(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::All(0.0), _) | (_, Self::All(0.0)) => Self::ZERO,
            (Self::All(1.0), x) | (x, Self::All(1.0)) => x.clone(),
            _ => self.zip(other, |x, y| x * y),
        }
    }

    /// Rotates the numbers to the left: slot i of the result is slot i + `steps`, cyclically.
    pub fn rotated(&self, steps: i64) -> Self {
        match self {
            Self::All(value) => Self::All(*value),
            Self::Each(values) => {
                let at = steps.rem_euclid(values.len() as i64) as usize;
                let (head, tail) = values.split_at(at);
                Self::Each([tail, head].concat().into())
            }
        }
    }
}

/// Repeats the shorter of two vectors until it is at least as long as the other.
fn aligned<'a>(a: &'a [f64], b: &'a [f64]) -> [Cow<'a, [f64]>; 2] {
    let period = a.len().max(b.len());
    [a, b].map(|x| match period.div_ceil(x.len().max(1)) {
        0 | 1 => Cow::Borrowed(x),
        times => Cow::Owned(x.repeat(times)),
    })
}
