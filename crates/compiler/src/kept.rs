// SPDX-License-Identifier: Apache-2.0
//! How numbers, ranges, samples and bootstrapping stand in files of programs: JSON without its numbers where they could change.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use num_complex::Complex64;
use serde::{Deserialize, Serialize};

use crate::numbers::{Ends, Numbers, Values};

/// A double as the shortest text that reads back to the same bits: infinities too, which JSON numbers lack.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Exact(pub f64);

impl From<Exact> for String {
    fn from(value: Exact) -> Self {
        format!("{:?}", value.0)
    }
}

impl TryFrom<String> for Exact {
    type Error = std::num::ParseFloatError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

/// What bootstrapping is made from, beside the parameters.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptBootstrapping {
    /// Of the encapsulated secret.
    pub weight: u32,
    /// Of each linear map.
    pub stages: usize,
    /// log2 of the chance of failure.
    pub log2_chance: Exact,
    /// Whether keys come with seeds.
    pub seeded: bool,
}

/// A range: one number for a radius, two for the ends.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum KeptRange {
    Radius(String),
    Ends([String; 2]),
}

impl From<Ends> for KeptRange {
    fn from(ends: Ends) -> Self {
        let double = |x: f64| String::from(Exact(x));
        match ends {
            Ends::Whole(low, high) => Self::Ends([low.to_string(), high.to_string()]),
            Ends::Real(low, high) => Self::Ends([low, high].map(double)),
            Ends::Disc(radius) => Self::Radius(double(radius)),
        }
    }
}

impl KeptRange {
    /// `None` where it is none of such numbers.
    pub(crate) fn ends(&self, numbers: Numbers) -> Option<Ends> {
        let double = |text: &String| text.parse::<f64>().ok();
        match (numbers, self) {
            (Numbers::Whole, Self::Ends([low, high])) => {
                Some(Ends::Whole(low.parse().ok()?, high.parse().ok()?))
            }
            (Numbers::Complex, Self::Ends([low, high])) => {
                Some(Ends::Real(double(low)?, double(high)?))
            }
            (Numbers::Complex, Self::Radius(radius)) => Some(Ends::Disc(double(radius)?)),
            (Numbers::Whole, Self::Radius(_)) => None,
        }
    }
}

/// A slot of a sample. Most of complex numbers are real.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum KeptSlot {
    Whole(i64),
    Real(Exact),
    Complex([Exact; 2]),
}

impl KeptSlot {
    pub(crate) fn all(values: Values) -> Vec<Self> {
        let complex = |z: Complex64| match z.im.to_bits() {
            0 => Self::Real(Exact(z.re)),
            _ => Self::Complex([Exact(z.re), Exact(z.im)]),
        };
        match values {
            Values::Whole(values) => values.into_iter().map(Self::Whole).collect(),
            Values::Complex(values) => values.into_iter().map(complex).collect(),
        }
    }

    /// The values of slots; `None` where one is none of such numbers.
    pub(crate) fn values(slots: Vec<Self>, numbers: Numbers) -> Option<Values> {
        let whole = |slot| match slot {
            Self::Whole(x) => Some(x),
            Self::Real(_) | Self::Complex(_) => None,
        };
        let complex = |slot| match slot {
            Self::Real(Exact(re)) => Some(Complex64::new(re, 0.0)),
            Self::Complex([Exact(re), Exact(im)]) => Some(Complex64::new(re, im)),
            Self::Whole(_) => None,
        };
        let slots = slots.into_iter();
        match numbers {
            Numbers::Whole => slots.map(whole).collect::<Option<_>>().map(Values::Whole),
            Numbers::Complex => slots
                .map(complex)
                .collect::<Option<_>>()
                .map(Values::Complex),
        }
    }
}
