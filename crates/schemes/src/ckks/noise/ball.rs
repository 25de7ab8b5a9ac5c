// SPDX-License-Identifier: Apache-2.0
//! Sets of complex numbers that the noise model works with: in each slot a ball around a
//! centre.

use num_complex::Complex64;

use super::slots::Slots;

/// The set, in each slot, of all complex numbers within `radius` of `re + i im`.
#[derive(Clone, PartialEq, Debug)]
pub struct Ball {
    re: Slots,
    im: Slots,
    radius: Slots,
}

impl Ball {
    pub const ZERO: Self = Self::exact(0.0);

    /// Returns the ball of radius 0 around one real number, in every slot.
    pub const fn exact(value: f64) -> Self {
        Self {
            re: Slots::All(value),
            im: Slots::ZERO,
            radius: Slots::ZERO,
        }
    }

    /// Returns balls of radius 0 around the numbers of a constant vector.
    pub fn constants(values: &[(f64, f64)]) -> Self {
        Self {
            re: Slots::each(values.iter().map(|z| z.0).collect()),
            im: Slots::each(values.iter().map(|z| z.1).collect()),
            radius: Slots::ZERO,
        }
    }

    /// Returns, in each slot, a ball that holds the real numbers from `lowest` to `highest`.
    pub fn real(lowest: &Slots, highest: &Slots) -> Self {
        Self {
            re: lowest.zip(highest, |l, h| (l + h) / 2.0),
            im: Slots::ZERO,
            radius: lowest.zip(highest, |l, h| (h - l) / 2.0),
        }
    }

    /// Returns, in each slot, the ball of all complex numbers of absolute value up to
    /// `radius`.
    pub fn disc(radius: Slots) -> Self {
        Self {
            radius,
            ..Self::ZERO
        }
    }

    /// Returns, for each slot, the largest absolute value of a number in its ball.
    pub fn magnitude(&self) -> Slots {
        self.centre().plus(&self.radius)
    }

    /// Returns whether the number `re + i im` lies in the ball of slot `slot`, or outside of it at a distance of at
    /// most `room`.
    pub fn holds(&self, slot: usize, re: f64, im: f64, room: f64) -> bool {
        let apart = (re - self.re.at(slot)).hypot(im - self.im.at(slot));
        apart <= self.radius.at(slot) + room
    }

    fn centre(&self) -> Slots {
        match &self.im {
            Slots::All(0.0) => self.re.map(f64::abs),
            im => self.re.zip(im, f64::hypot),
        }
    }

    /// Returns how many numbers the balls of all slots keep in memory, at least three. A list that repeats through
    /// the slots is kept once.
    pub(super) fn len(&self) -> u64 {
        let parts = [&self.re, &self.im, &self.radius];
        parts.iter().map(|x| x.period() as u64).sum()
    }

    /// Returns the centre and the radius of the ball if each of its three numbers is stored once for all slots,
    /// otherwise `None`.
    pub(super) fn uniform(&self) -> Option<(Complex64, f64)> {
        match (&self.re, &self.im, &self.radius) {
            (&Slots::All(re), &Slots::All(im), &Slots::All(radius)) => {
                Some((Complex64::new(re, im), radius))
            }
            _ => None,
        }
    }

    pub(super) fn is_finite(&self) -> bool {
        let none = |x: &Slots| x.map(|x| f64::from(u8::from(!x.is_finite())));
        none(&self.magnitude()).largest(usize::MAX) == 0.0
    }

    /// Returns whether the centre of the ball is real in every slot. It may return `false` for a real centre whose
    /// imaginary parts are stored as a vector of zeros.
    pub(super) fn is_on_line(&self) -> bool {
        self.im == Slots::ZERO
    }

    /// Returns the lowest and the highest real number in the ball of each slot. The centres must be real.
    pub fn real_ends(&self) -> (Slots, Slots) {
        let lowest = self.re.zip(&self.radius, |x, r| x - r);
        (lowest, self.re.plus(&self.radius))
    }

    /// Returns whether the ball's radius is 0 in every slot, so that the number in every slot is known exactly.
    pub(super) fn is_exact(&self) -> bool {
        self.radius.largest(usize::MAX) == 0.0
    }

    pub(super) fn is_zero(&self) -> bool {
        [&self.re, &self.im, &self.radius]
            .iter()
            .all(|x| x.is_zero())
    }

    pub fn widened(&self, by: &Slots) -> Self {
        Self {
            radius: self.radius.plus(by),
            ..self.clone()
        }
    }

    pub fn scaled(&self, factor: f64) -> Self {
        let by = |x: &Slots| x.times(&Slots::All(factor));
        Self {
            re: by(&self.re),
            im: by(&self.im),
            radius: self.radius.times(&Slots::All(factor.abs())),
        }
    }

    pub fn conjugated(&self) -> Self {
        Self {
            im: self.im.times(&Slots::All(-1.0)),
            ..self.clone()
        }
    }

    pub fn rotated(&self, steps: i64) -> Self {
        Self {
            re: self.re.rotated(steps),
            im: self.im.rotated(steps),
            radius: self.radius.rotated(steps),
        }
    }

    pub fn plus(&self, other: &Self) -> Self {
        Self {
            re: self.re.plus(&other.re),
            im: self.im.plus(&other.im),
            radius: self.radius.plus(&other.radius),
        }
    }

    pub fn times(&self, other: &Self) -> Self {
        let minus = |x: &Slots, y: &Slots| x.plus(&y.times(&Slots::All(-1.0)));
        let (a, b) = (self, other);
        Self {
            re: minus(&a.re.times(&b.re), &a.im.times(&b.im)),
            im: a.re.times(&b.im).plus(&a.im.times(&b.re)),
            radius: (a.centre().times(&b.radius)).plus(&a.radius.times(&b.magnitude())),
        }
    }
}
