// SPDX-License-Identifier: Apache-2.0
//! A value in a paper's sheet, the TOML data of its tables: a number with its source, a text, or a missing figure.

use crate::how::How;
use crate::row::Ours;

/// A number of a sheet with its source `how`, which is absent for printed figures and for literals.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Known {
    pub value: f64,
    pub how: Option<How>,
    /// Whether the number assumes the clock frequency that the paper states, which no open tool can confirm.
    pub at_papers_clock: bool,
}

/// A value that a sheet's formula can have.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Known(Known),
    /// The figure is missing, because a tool or a computer that it needs is not there.
    NotMeasured,
    /// The figure is missing, because there is no such figure, for instance none in the paper.
    None,
    /// The value is a text, or a formula that is evaluated when a number is needed.
    Text(String),
}

impl Value {
    /// Makes a number whose source is not stated, such as a printed figure.
    pub fn number(value: f64) -> Self {
        Self::Known(Known {
            value,
            how: None,
            at_papers_clock: false,
        })
    }

    /// Returns the number, or `None` for a text or a missing figure.
    pub fn known(&self) -> Option<f64> {
        match self {
            Self::Known(known) => Some(known.value),
            Self::NotMeasured | Self::None | Self::Text(_) => None,
        }
    }

    /// Returns whether both values are the same number or text, or missing for the same reason. The sources of numbers
    /// may differ.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => a.value == b.value,
            _ => self == other,
        }
    }

    /// Applies `f` to a number. Other values stay as they are.
    pub fn map(self, f: impl FnOnce(f64) -> f64) -> Self {
        match self {
            Self::Known(known) => Self::Known(Known {
                value: f(known.value),
                ..known
            }),
            other => other,
        }
    }

    /// Returns a number with `how` as its source. Other values stay as they are.
    #[must_use]
    pub fn by(self, how: How) -> Self {
        match self {
            Self::Known(known) => Self::Known(Known {
                how: Some(how),
                ..known
            }),
            other => other,
        }
    }

    /// Applies `f` to two numbers. The result has the source of the first number that has one. If one of the values is
    /// no number, the result is a missing figure.
    pub fn with(self, other: Self, f: impl FnOnce(f64, f64) -> f64) -> Self {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => Self::Known(Known {
                value: f(a.value, b.value),
                how: a.how.or(b.how),
                at_papers_clock: a.at_papers_clock || b.at_papers_clock,
            }),
            (Self::NotMeasured, _) | (_, Self::NotMeasured) => Self::NotMeasured,
            (Self::None | Self::Text(_), _) | (_, Self::None | Self::Text(_)) => Self::None,
        }
    }
}

impl From<Ours> for Value {
    fn from(ours: Ours) -> Self {
        let known = |value, how, at_papers_clock| {
            Self::Known(Known {
                value,
                how: Some(how),
                at_papers_clock,
            })
        };
        match ours {
            Ours::Is(value, how) => known(value, how, false),
            Ours::AtPapersClock(value, how) => known(value, how, true),
            Ours::NotMeasured => Self::NotMeasured,
            Ours::None => Self::None,
        }
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::number(value)
    }
}

impl From<Option<f64>> for Value {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::None, Self::number)
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::number(count as f64)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Self::number(count as f64)
    }
}

impl From<u32> for Value {
    fn from(count: u32) -> Self {
        Self::number(count.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Makes a number whose source is the cycle model.
pub fn model(value: impl Into<Value>) -> Value {
    value.into().by(How::Model)
}

pub fn counted(value: impl Into<Value>) -> Value {
    value.into().by(How::Counted)
}

pub fn stated(value: impl Into<Value>) -> Value {
    value.into().by(How::Stated)
}

pub fn measured(value: impl Into<Value>) -> Value {
    value.into().by(How::Measured)
}

pub fn synthesised(value: impl Into<Value>) -> Value {
    value.into().by(How::Synthesis)
}
