// SPDX-License-Identifier: Apache-2.0
//! Evaluation of polynomials in a traced program.

use ringmill_isa::source::SourceLoc;

use super::{TraceBuilder, TraceError, Traced};
use crate::line::At;
use crate::poly::{self, Arithmetic};

impl TraceBuilder {
    /// Computes the polynomial `coefficients[0] + coefficients[1] x + coefficients[2] x^2 + ...` in every slot of `x`.
    ///
    /// # Errors
    /// [`TraceError::NoCoefficients`], [`TraceError::NotFinite`]; [`TraceError::PlainArithmetic`] on a plain input.
    pub fn polynomial(
        &mut self,
        x: Traced,
        coefficients: &[f64],
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        if coefficients.is_empty() {
            return Err(TraceError::NoCoefficients { at: At(loc) });
        }
        if let Some(index) = coefficients.iter().position(|c| !c.is_finite()) {
            return Err(TraceError::NotFinite {
                at: At(loc),
                index,
                value: coefficients[index],
            });
        }
        let mut line = Line { trace: self, loc };
        match poly::evaluate(&mut line, x, coefficients)? {
            Some(result) => Ok(result),
            None => line.constant(0.0),
        }
    }
}

/// A builder that marks every instruction with one line of the user's program.
struct Line<'a> {
    trace: &'a mut TraceBuilder,
    loc: Option<SourceLoc>,
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
