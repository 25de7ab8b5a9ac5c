// SPDX-License-Identifier: Apache-2.0
//! The form of numbers, ranges, samples and bootstraps in files of programs. The files are JSON, with text in place of
//! JSON numbers that could change.
#![deny(clippy::arithmetic_side_effects)]

use std::fmt;

use num_complex::Complex64;
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::numbers::{Ends, Numbers, Values};

/// A double as the shortest text that reads back to the same bits. Infinities have a text too, which JSON numbers lack.
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

/// The fields from which a scheme makes its bootstrap again, besides the parameters. The scheme names them and gives
/// their order.
#[derive(Clone)]
pub struct KeptBootstrapping(Vec<(String, Value)>);

impl KeptBootstrapping {
    pub fn new<const N: usize>(fields: [(&str, Value); N]) -> Self {
        let owned = |(name, value): (&str, Value)| (name.to_owned(), value);
        Self(fields.map(owned).into())
    }

    /// Converts the fields of a bootstrap to the scheme's own type for them.
    ///
    /// # Errors
    /// Returns in words what is wrong with the fields.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, String> {
        let fields: Map<String, Value> = self.0.into_iter().collect();
        serde_json::from_value(fields.into()).map_err(|fault| fault.to_string())
    }
}

impl Serialize for KeptBootstrapping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for KeptBootstrapping {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

/// A reader of the fields of a bootstrap, which refuses a field that stands twice.
struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = KeptBootstrapping;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the fields of a bootstrapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut fields = Map::new();
        while let Some((name, value)) = access.next_entry::<String, Value>()? {
            if fields.contains_key(&name) {
                let duplicate = format!("duplicate field `{name}`");
                return Err(A::Error::custom(duplicate));
            }
            fields.insert(name, value);
        }
        Ok(KeptBootstrapping(fields.into_iter().collect()))
    }
}

/// A range in a file: one number for a disc's radius, two for the ends of an interval.
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
    /// Returns the ends of the range, or `None` if its texts are not of the scheme's kind of numbers.
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

/// A slot of a sample in a file. Most slots of complex vectors are real, and take one number.
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

    /// Returns the values of slots, or `None` if one of them is not of the scheme's kind of numbers.
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
