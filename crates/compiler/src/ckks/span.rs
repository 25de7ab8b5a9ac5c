// SPDX-License-Identifier: Apache-2.0
//! Spans: real intervals or complex balls, one for each slot of a value, with their arithmetic.

use ringmill_isa::macros::{Linear, Terms};
use ringmill_schemes::ckks::{Ball, Domain, Slots};

/// The set in which the slots of a value lie: real intervals, or complex balls.
#[derive(Clone, PartialEq, Debug)]
pub enum Span {
    Real { lowest: Slots, highest: Slots },
    Complex(Ball),
}

impl Span {
    /// Returns the intersection of two real spans, or the one with the smaller largest absolute value if one of them is
    /// complex.
    pub fn met(self, other: Self) -> Self {
        match (self, other) {
            (
                Self::Real { lowest, highest },
                Self::Real {
                    lowest: low,
                    highest: high,
                },
            ) => {
                let lowest = lowest.zip(&low, f64::max);
                // Roundings must not put the highest end below the lowest.
                let highest = highest.zip(&high, f64::min).zip(&lowest, f64::max);
                Self::Real { lowest, highest }
            }
            (a, b) => {
                let largest = |x: &Self| x.magnitude().largest(usize::MAX);
                if largest(&a) <= largest(&b) { a } else { b }
            }
        }
    }

    pub fn anything() -> Self {
        Self::Complex(Ball::disc(Slots::All(f64::INFINITY)))
    }

    /// Returns for each slot the largest absolute value that the span allows.
    pub fn magnitude(&self) -> Slots {
        match self {
            Self::Real { lowest, highest } => lowest.zip(highest, |l, h| l.abs().max(h.abs())),
            Self::Complex(ball) => ball.magnitude(),
        }
    }

    pub fn ball(&self) -> Ball {
        match self {
            Self::Real { lowest, highest } => Ball::real(lowest, highest),
            Self::Complex(ball) => ball.clone(),
        }
    }

    pub fn domain(&self) -> Domain {
        Domain {
            ball: self.ball(),
            real: matches!(self, Self::Real { .. }),
        }
    }

    /// Returns a ball that holds the part of the span with absolute values of at most `size`.
    pub fn within(&self, size: f64) -> Ball {
        let magnitude = self.magnitude();
        if magnitude.largest(usize::MAX) <= size {
            return self.ball();
        }
        match self {
            // Clamping each end keeps the ends in order, even for a span that lies outside of `size`.
            Self::Real { lowest, highest } => Ball::real(
                &lowest.map(|l| l.clamp(-size, size)),
                &highest.map(|h| h.clamp(-size, size)),
            ),
            Self::Complex(_) => Ball::disc(magnitude.map(|x| x.min(size))),
        }
    }

    /// Returns one span for all slots, which holds the span of each slot.
    pub fn flattened(self) -> Self {
        match self {
            Self::Real { lowest, highest } => Self::Real {
                lowest: lowest.map(|x| -x).flattened().map(|x| -x),
                highest: highest.flattened(),
            },
            Self::Complex(ball) => Self::Complex(Ball::disc(ball.magnitude().flattened())),
        }
    }

    pub fn constant(values: &[(f64, f64)]) -> Self {
        if values.iter().all(|&(_, im)| im == 0.0) {
            let exact = Slots::each(values.iter().map(|&(re, _)| re).collect());
            Self::Real {
                lowest: exact.clone(),
                highest: exact,
            }
        } else {
            Self::Complex(Ball::constants(values))
        }
    }

    pub fn plus(&self, other: &Self) -> Self {
        match (self, other) {
            (
                Self::Real { lowest, highest },
                Self::Real {
                    lowest: low,
                    highest: high,
                },
            ) => Self::Real {
                lowest: lowest.plus(low),
                highest: highest.plus(high),
            },
            _ => Self::Complex(self.ball().plus(&other.ball())),
        }
    }

    pub fn negated(&self) -> Self {
        match self {
            Self::Real { lowest, highest } => Self::Real {
                lowest: highest.map(|x| -x),
                highest: lowest.map(|x| -x),
            },
            Self::Complex(ball) => Self::Complex(ball.scaled(-1.0)),
        }
    }

    /// Returns the span of the result of a linear operation for slots in this span. The result is
    /// the sum of a slot times a factor and its conjugate times a factor. It is real if the two
    /// factors are equal.
    pub fn mapped(&self, map: Linear) -> Self {
        match map.terms() {
            Terms::Slot(by) => self.scaled(by),
            Terms::Conjugate(by) => self.conjugated().scaled(by),
            Terms::Both { slot, conjugate } => {
                let turned = self.conjugated().scaled(conjugate);
                match self.scaled(slot).plus(&turned) {
                    Self::Complex(ball) if slot == conjugate => {
                        let (lowest, highest) = ball.real_ends();
                        Self::Real { lowest, highest }
                    }
                    span => span,
                }
            }
        }
    }

    pub fn conjugated(&self) -> Self {
        match self {
            Self::Real { .. } => self.clone(),
            Self::Complex(ball) => Self::Complex(ball.conjugated()),
        }
    }

    pub fn times(&self, other: &Self) -> Self {
        let (
            Self::Real { lowest, highest },
            Self::Real {
                lowest: low,
                highest: high,
            },
        ) = (self, other)
        else {
            return Self::Complex(self.ball().times(&other.ball()));
        };
        let corners = [
            (lowest, low),
            (lowest, high),
            (highest, low),
            (highest, high),
        ]
        .map(|(a, b)| a.times(b));
        let [a, b, c, d] = &corners;
        Self::Real {
            lowest: a.zip(b, f64::min).zip(&c.zip(d, f64::min), f64::min),
            highest: a.zip(b, f64::max).zip(&c.zip(d, f64::max), f64::max),
        }
    }

    pub fn squared(&self) -> Self {
        match self {
            Self::Complex(ball) => Self::Complex(ball.times(ball)),
            Self::Real { lowest, highest } => Self::Real {
                lowest: lowest.zip(highest, |l, h| {
                    if l <= 0.0 && h >= 0.0 {
                        0.0
                    } else {
                        (l * l).min(h * h)
                    }
                }),
                highest: lowest.zip(highest, |l, h| (l * l).max(h * h)),
            },
        }
    }

    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Self::Complex(ball) => Self::Complex(ball.scaled(factor)),
            Self::Real { lowest, highest } => {
                let (lowest, highest) = (lowest.map(|x| x * factor), highest.map(|x| x * factor));
                if factor < 0.0 {
                    Self::Real {
                        lowest: highest,
                        highest: lowest,
                    }
                } else {
                    Self::Real { lowest, highest }
                }
            }
        }
    }

    pub fn shifted(&self, term: f64) -> Self {
        match self {
            Self::Complex(ball) => Self::Complex(ball.plus(&Ball::exact(term))),
            Self::Real { lowest, highest } => Self::Real {
                lowest: lowest.map(|x| x + term),
                highest: highest.map(|x| x + term),
            },
        }
    }

    pub fn rotated(&self, steps: i64) -> Self {
        match self {
            Self::Complex(ball) => Self::Complex(ball.rotated(steps)),
            Self::Real { lowest, highest } => Self::Real {
                lowest: lowest.rotated(steps),
                highest: highest.rotated(steps),
            },
        }
    }
}
