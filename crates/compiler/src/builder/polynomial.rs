// SPDX-License-Identifier: Apache-2.0
//! Evaluation of polynomials in a traced program.

use ringmill_isa::macros::Interval;
use ringmill_isa::source::SourceLoc;

use super::{TraceBuilder, TraceError, Traced};
use crate::line::At;
use crate::poly::{self, Arithmetic, Basis, Chebyshev, Powers, Subtraction};

impl TraceBuilder {
    /// Computes the polynomial `coefficients[0] + coefficients[1] x + coefficients[2] x^2 + ...` in every slot of `x`.
    /// If all coefficients but the first are 0, the result is a constant.
    ///
    /// # Errors
    /// [`TraceError::NoCoefficients`], [`TraceError::NotFinite`] for a coefficient, and the errors of
    /// [`TraceBuilder::mul`] and [`TraceBuilder::add`].
    pub fn polynomial(
        &mut self,
        x: Traced,
        coefficients: &[f64],
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        let mut line = Line { trace: self, loc };
        line.check(coefficients)?;
        line.evaluated(&Powers, x, coefficients)
    }

    /// Computes the Chebyshev series `coefficients[0] + coefficients[1] T_1(u) + coefficients[2] T_2(u) + ...` in every
    /// slot of `x`. Here u goes from -1 to 1 as x goes through the `domain`. Nothing checks that the slots of `x` lie
    /// there.
    ///
    /// # Errors
    /// Fails like [`Self::polynomial`], and with [`TraceError::Domain`] for a domain whose ends are not in order, not
    /// finite, or too close or too far apart for doubles.
    pub fn chebyshev(
        &mut self,
        x: Traced,
        coefficients: &[f64],
        domain: Interval,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        let mut line = Line { trace: self, loc };
        line.check(coefficients)?;
        let (x, scale) = line.centred(x, domain)?;
        let basis = Chebyshev { scale };
        line.evaluated(&basis, x, &basis.coefficients(coefficients))
    }
}

/// A builder that gives every instruction the same line of the user's program.
struct Line<'a> {
    trace: &'a mut TraceBuilder,
    loc: Option<SourceLoc>,
}

impl Line<'_> {
    fn evaluated(
        &mut self,
        basis: &impl Basis<Self>,
        x: Traced,
        coefficients: &[f64],
    ) -> Result<Traced, TraceError> {
        match poly::evaluate(self, basis, x, coefficients)? {
            Some(result) => Ok(result),
            None => self.constant(0.0),
        }
    }

    fn check(&self, coefficients: &[f64]) -> Result<(), TraceError> {
        let at = || At(self.loc.clone());
        if coefficients.is_empty() {
            return Err(TraceError::NoCoefficients { at: at() });
        }
        let mut values = coefficients.iter().copied().enumerate();
        match values.find(|(_, value)| !value.is_finite()) {
            Some((index, value)) => Err(TraceError::NotFinite {
                at: at(),
                index,
                value,
            }),
            None => Ok(()),
        }
    }

    /// Returns `x` less the middle of an interval, and the factor that maps the difference onto [-1, 1].
    fn centred(&mut self, x: Traced, domain: Interval) -> Result<(Traced, f64), TraceError> {
        let Interval { lowest, highest } = domain;
        let (scale, middle) = (2.0 / (highest - lowest), lowest / 2.0 + highest / 2.0);
        if !(lowest < highest && scale.is_normal() && middle.is_finite()) {
            let at = At(self.loc.clone());
            return Err(TraceError::Domain { at, domain });
        }
        if middle == 0.0 {
            return Ok((x, scale));
        }
        let shift = self.constant(-middle)?;
        Ok((self.sum(x, shift)?, scale))
    }
}

impl Arithmetic for Line<'_> {
    type Value = Traced;
    type Coefficient = f64;
    type Error = TraceError;

    fn constant(&mut self, c: f64) -> Result<Traced, TraceError> {
        self.trace.scalar(c, self.loc.clone())
    }

    fn scaled(&mut self, x: Traced, c: f64) -> Result<Traced, TraceError> {
        let c = self.constant(c)?;
        self.trace.mul(x, c, self.loc.clone())
    }

    fn square(&mut self, x: Traced) -> Result<Traced, TraceError> {
        self.trace.square(x, self.loc.clone())
    }

    fn product(&mut self, x: Traced, y: Traced) -> Result<Traced, TraceError> {
        self.trace.mul(x, y, self.loc.clone())
    }

    fn sum(&mut self, x: Traced, y: Traced) -> Result<Traced, TraceError> {
        self.trace.add(x, y, self.loc.clone())
    }
}

impl Subtraction for Line<'_> {
    fn difference(&mut self, x: Traced, y: Traced) -> Result<Traced, TraceError> {
        self.trace.sub(x, y, self.loc.clone())
    }
}
