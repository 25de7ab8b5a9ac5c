// SPDX-License-Identifier: Apache-2.0
//! The compiler's prediction for the outputs of a program with levels and scales: magnitudes,
//! errors, bits and digits.

use crate::accuracy::Accuracy;
use crate::ckks::growth::Growth;
use crate::ckks::tightest::Tightest;

/// An output whose largest value on the sample is at most this fraction of its bound counts as zero
/// there, since such a value may come from the rounding of doubles.
const ROUNDING: f64 = 1.0 / (1u64 << 40) as f64;

/// The compiler's prediction for one output of a program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Precision {
    /// A bound on the absolute values of the output's slots, by interval analysis.
    pub magnitude: f64,
    /// A bound on the error of every slot for all inputs within their ranges, in units of the message. It fails with
    /// probability at most 2^-[`FAILURE_BITS`](ringmill_schemes::ckks::FAILURE_BITS).
    pub error: f64,
    /// The limit below which absolute values survive decryption at the output's level and scale.
    pub capacity: f64,
    /// The bound `error` for inputs like the sample, or `None` without a sample. For such inputs no value inside the
    /// program is larger than the options' margin times its largest on the sample.
    pub error_like_sample: Option<f64>,
    /// The largest absolute value of a slot on the sample, rounded down to a power of two, or `None` without a sample.
    /// Rounded, it tells nobody a slot of the sample.
    pub largest_on_sample: Option<f64>,
    /// Whether the prediction holds only if values inside the program lie where its author declares (`BOUNDED`).
    pub conditional: bool,
}

impl Precision {
    /// Returns the number of right bits after the binary point in every slot, for all inputs within their ranges: -log2
    /// of the error.
    pub fn bits(&self) -> f64 {
        -self.error.log2()
    }

    /// Returns the number of right bits after the binary point for inputs like the sample, or `None` without a sample.
    pub fn bits_like_sample(&self) -> Option<f64> {
        self.error_like_sample.map(|error| -error.log2())
    }

    /// Returns the number of bits that is compared with the accuracy that the user wants: for inputs like the sample,
    /// or for all inputs without a sample.
    pub fn wanted_bits(&self) -> f64 {
        self.bits_like_sample().unwrap_or_else(|| self.bits())
    }

    /// Returns the magnitude of the output to which its digits are relative.
    pub fn reference(&self) -> Reference {
        // A sample on which the output is zero, up to the rounding of doubles, says nothing of its size.
        let zero = self.magnitude * ROUNDING;
        match self.largest_on_sample.filter(|&largest| largest > zero) {
            Some(largest) => Reference::Sample(largest),
            None => Reference::Bound(self.magnitude),
        }
    }

    /// Returns the number of right decimal digits in every slot, relative to the [reference](Self::reference): for
    /// inputs like the sample, or for all inputs without a sample.
    pub fn digits(&self) -> f64 {
        (self.wanted_bits() + self.reference().magnitude().log2()) / 10f64.log2()
    }

    /// Returns the bits that the output lacks, or 0 or less if it is accurate enough.
    pub(super) fn missing_bits(&self, wanted: Accuracy) -> f64 {
        wanted.bits(self.reference().magnitude()) - self.wanted_bits()
    }

    /// Returns the output's accuracy in the unit of `wanted`: bits after the binary point, or
    /// decimal digits.
    pub(super) fn reached(&self, wanted: Accuracy) -> f64 {
        match wanted {
            Accuracy::Bits(_) => self.wanted_bits(),
            Accuracy::Digits(_) => self.digits(),
        }
    }
}

/// The magnitude of an output to which its digits are relative.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reference {
    /// The largest absolute value on the sample, rounded down to a power of two.
    Sample(f64),
    /// The bound on the output's absolute values, by interval analysis.
    Bound(f64),
}

impl Reference {
    pub fn magnitude(self) -> f64 {
        match self {
            Self::Sample(magnitude) | Self::Bound(magnitude) => magnitude,
        }
    }
}

/// The compiler's predictions for the outputs of a program with levels and scales, and the values
/// that come closest to wrapping around.
#[derive(Clone, Debug)]
pub struct Prediction {
    pub outputs: Vec<Precision>,
    /// The values that have the least room at their levels, each counted together with its error.
    pub tightest: Tightest,
    /// For each output, the instruction that makes the output's largest error grow most, or `None` if no instruction
    /// makes it grow. The errors are those for inputs like the sample, if there is one.
    pub growths: Vec<Option<Growth>>,
}
