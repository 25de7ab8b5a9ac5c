// SPDX-License-Identifier: Apache-2.0
//! Computes with polynomials by their values at random points of a prime field.

use std::hash::{DefaultHasher, Hash, Hasher};

/// The prime 2^61 - 1, modulo which polynomials are evaluated.
pub const P: u64 = (1 << 61) - 1;

/// A polynomial of a ciphertext, given by its values modulo [`P`] at three random points. The value
/// at the first point tells whether two polynomials are equal. The values at the second and third
/// point tell whether the errors that two polynomials cause are correlated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The polynomial's value at the first random point. Polynomials with the same value there
    /// count as equal.
    pub same: u64,
    /// The polynomial's values at the second and the third random point. Polynomials for which the quotient of these
    /// two values is the same count as alike, which means that the errors that they cause are correlated.
    pub like: [u64; 2],
    /// Whether the polynomial depends on a plaintext that is an input of the program.
    pub open: bool,
}

impl At {
    pub const ZERO: Self = Self {
        same: 0,
        like: [0; 2],
        open: false,
    };

    pub fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let ([a, b], [x, y]) = (self.like, other.like);
        Self {
            same: f(self.same, other.same),
            like: [f(a, x), f(b, y)],
            open: self.open || other.open,
        }
    }

    /// Returns the polynomial with another value (`same`) at the first random point, the point at which equal
    /// polynomials agree. The values at the two other points stay.
    pub fn with(self, same: u64) -> Self {
        Self { same, ..self }
    }

    /// Returns the polynomial times a whole number: the values at all three random points are
    /// multiplied.
    pub fn exactly(self, by: u64) -> Self {
        self.scaled(by).with(product(self.same, by))
    }

    /// Returns the polynomial with its values at the second and third random point multiplied by a number. These are
    /// the points at which polynomials with correlated errors have one quotient. The value at the first random point,
    /// at which equal polynomials agree, stays.
    pub fn scaled(self, by: u64) -> Self {
        Self {
            like: self.like.map(|x| product(x, by)),
            ..self
        }
    }

    pub fn plus(self, other: Self) -> Self {
        self.zip(other, |a, b| (a + b) % P)
    }

    pub fn minus(self, other: Self) -> Self {
        self.zip(other, |a, b| (a + P - b) % P)
    }

    pub fn times(self, other: Self) -> Self {
        self.zip(other, product)
    }

    /// Returns the values of a new unknown, a polynomial that is independent of all others. Its values at the three
    /// random points are hashes of its name `of`.
    pub fn unknown(of: impl Hash) -> Self {
        let at = |point: u8| hash((point, &of)) % P;
        Self {
            same: at(0),
            like: [at(1), at(2)],
            open: false,
        }
    }

    /// Returns the values of a public polynomial, such as a constant or a plaintext. The value at the first random
    /// point, at which equal polynomials agree, is a hash of the argument `same`, or 0 if `like` is 0. The values at
    /// the second and third point are both the argument `like`.
    pub fn known(same: impl Hash, like: u64) -> Self {
        Self {
            same: if like == 0 { 0 } else { hash(same) % P },
            like: [like; 2],
            open: false,
        }
    }

    /// Returns the value of a new unknown polynomial: an odd function, named `of`, of another
    /// polynomial's value. The negative value gives the negative result.
    pub fn odd(of: impl Hash, polynomial: u64) -> u64 {
        let opposite = (P - polynomial) % P;
        let positive = hash((of, polynomial.min(opposite))) % P;
        match polynomial {
            0 => 0,
            x if x <= opposite => positive,
            _ => (P - positive) % P,
        }
    }

    /// Returns the quotient of the polynomial's values at the second and the third random point. It is the same for
    /// polynomials that are alike, which means that the errors that they cause are correlated. If one of the two values
    /// is 0, the result is a hash of the value at the first point.
    pub fn ray(self) -> u64 {
        match self.like {
            [0, _] | [_, 0] => hash((self.same, "zero")),
            [a, b] => product(a, inverse(b)),
        }
    }
}

pub fn product(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(P)) as u64
}

/// Returns the inverse of a nonzero residue modulo [`P`]: a^(P - 2).
pub fn inverse(a: u64) -> u64 {
    let (mut power, mut square, mut exponent) = (1, a, P - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = product(power, square);
        }
        square = product(square, square);
        exponent >>= 1;
    }
    power
}

pub fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Returns the exact value of a double, a fraction with a power of two as denominator, as a residue
/// modulo [`P`]. Returns 0 for an infinity or a NaN.
pub fn number(x: f64) -> u64 {
    if x == 0.0 || !x.is_finite() {
        return 0;
    }
    let bits = x.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    };
    // 2^61 = 1.
    let positive = product(mantissa, 1 << exponent.rem_euclid(61));
    if x < 0.0 {
        (P - positive) % P
    } else {
        positive
    }
}
