//! Precision that rests on a sample, as coarse as it is said and kept.

use serde::{Deserialize, Serialize};

/// So many eighths of a bit after the binary point: a prediction that rests on a sample tells no more than that of it.
///
/// ```
/// use ringmill_compiler::Eighths;
/// let coarse = Eighths::of(0.3);
/// assert_eq!(coarse.error(), (-13.0f64 / 8.0).exp2()); // 0.324
/// assert_eq!(Eighths::of(coarse.error()), coarse);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Eighths(i16);

impl Eighths {
    /// The most that an error leaves right: [`Eighths::error`] is no smaller.
    pub fn of(error: f64) -> Self {
        // An error that is no number leaves nothing. The cast keeps to the ends.
        let whole = (-8.0 * error.log2()).floor().max(f64::NEG_INFINITY) as i16;
        // Logarithms are rounded, so that the answer may be next to it.
        let near = [whole.saturating_add(1), whole].map(Self);
        let found = near.into_iter().find(|bits| bits.error() >= error);
        found.unwrap_or(Self(whole.saturating_sub(1)))
    }

    /// The error that leaves so many bits.
    pub fn error(self) -> f64 {
        (-f64::from(self.0) / 8.0).exp2()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn errors_are_rounded_up_once(error: f64) {
            let error = error.abs();
            let coarse = Eighths::of(error);
            prop_assert!(error.is_nan() || coarse.error() >= error);
            prop_assert!(!(1e-300..1e300).contains(&error) || coarse.error() < error * 1.0906);
            prop_assert_eq!(Eighths::of(coarse.error()), coarse);
        }
    }

    #[test]
    fn every_eighth_is_its_own() {
        for eighths in -8000..8000 {
            assert_eq!(Eighths::of(Eighths(eighths).error()), Eighths(eighths));
        }
        assert_eq!(Eighths::of(0.0).error(), 0.0);
        for nothing in [f64::INFINITY, f64::NAN] {
            assert_eq!(Eighths::of(nothing).error(), f64::INFINITY);
        }
    }
}
