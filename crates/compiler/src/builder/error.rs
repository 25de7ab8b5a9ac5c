// SPDX-License-Identifier: Apache-2.0
//! The errors of a builder that traces a function, each with the user's line if it is known.

use ringmill_isa::limits::MAX_NAME;
use ringmill_isa::macros::Interval;
use ringmill_isa::source::SourceLoc;
use ringmill_math::digits::DigitError;
use thiserror::Error;

use super::{MAX_INSTRUCTIONS, MAX_NESTING, MAX_SLOTS};
use crate::line::At;

/// The reason why an operation of a traced function cannot become a part of the program.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum TraceError {
    #[error(
        "a program works on vectors of a power of two slots, at least 1 and at most {MAX_SLOTS}; {slots} were asked for"
    )]
    Slots { slots: u32 },
    #[error(
        "{at}this vector has {got} values and the program's vectors have {expected} slots; pad it, or change the program's slots"
    )]
    Length { at: At, expected: u32, got: usize },
    #[error("{at}value {index} of this vector is {value}; only finite numbers can be encoded")]
    NotFinite { at: At, index: usize, value: f64 },
    #[error(
        "{at}the name of {what} has {length} bytes, and a file keeps at most {MAX_NAME}; shorten it"
    )]
    Name {
        at: At,
        what: &'static str,
        length: usize,
    },
    #[error("{at}there are two inputs named {name:?}; give each its own name")]
    DuplicateInput { at: At, name: String },
    #[error("{at}there are two outputs named {name:?}; give each its own name")]
    DuplicateOutput { at: At, name: String },
    #[error(
        "{at}{operation} takes no plain input on its own: its values are known only at run time; combine them in the clear before they are passed in, or declare the input encrypted"
    )]
    PlainArithmetic { at: At, operation: &'static str },
    #[error(
        "{at}output {name:?} is not encrypted: it depends on no encrypted input; compute it in the clear"
    )]
    PlainOutput { at: At, name: String },
    #[error("{at}{operation} of constants overflows: slot {index} would be {value}")]
    Overflow {
        at: At,
        operation: &'static str,
        index: usize,
        value: f64,
    },
    #[error(
        "{at}a rotation by {steps} steps is out of range for {slots} slots; steps are between -{slots} and {slots}"
    )]
    Steps { at: At, steps: i64, slots: u32 },
    #[error("{at}values cannot lie {interval}; both ends are finite, and the lowest comes first")]
    Interval { at: At, interval: Interval },
    #[error("{at}a polynomial needs at least one coefficient")]
    NoCoefficients { at: At },
    #[error(
        "{at}the domain of a Chebyshev series is an interval, and {domain} is none; the lower end comes first"
    )]
    Domain { at: At, domain: Interval },
    #[error("{at}{error}")]
    Digits { at: At, error: DigitError },
    #[error("{at}this value belongs to another program")]
    ForeignValue { at: At },
    #[error(
        "{at}{what} of the program cannot be declared in a procedure or repeat; pass values in and return results"
    )]
    Inside { at: At, what: &'static str },
    #[error(
        "{at}this value belongs to a procedure or repeat that has ended; return it from there as a result"
    )]
    Ended { at: At },
    #[error(
        "{at}this value belongs to what surrounds the procedure, which is traced once for all its calls; pass it as an argument"
    )]
    Captured { at: At },
    #[error(
        "{at}procedures and repeats are nested more than {MAX_NESTING} deep; does one contain itself?"
    )]
    Nested { at: At },
    #[error("{at}there are more than {limit} {what}; expected at most as many")]
    TooMany {
        at: At,
        what: &'static str,
        limit: usize,
    },
    #[error("{at}result {index} is {found}; procedures and repeats give back encrypted values")]
    Result {
        at: At,
        index: usize,
        found: &'static str,
    },
    #[error(
        "{at}a procedure or repeat gives back at least one encrypted value; return what it computes"
    )]
    NoResults { at: At },
    #[error("{at}no procedure or repeat was begun")]
    NoProcedure { at: At },
    #[error("{at}the procedure takes {expected} arguments, and {found} are given")]
    Count {
        at: At,
        expected: usize,
        found: usize,
    },
    #[error(
        "{at}the repeat carries {carried} values and its body gives back {results}; return as many as it takes"
    )]
    Carried {
        at: At,
        carried: usize,
        results: usize,
    },
    #[error("{at}argument {index}: expected {expected}, found {found}")]
    Argument {
        at: At,
        index: usize,
        expected: &'static str,
        found: &'static str,
    },
    #[error("{at}a repeat is done from 1 to 2^32 times, not {count}")]
    Times { at: At, count: u64 },
    #[error("{at}the program is longer than {MAX_INSTRUCTIONS} instructions; split it")]
    TooLong { at: At },
}

impl TraceError {
    /// Returns the line of the user's program that caused the error, if it is known.
    pub fn loc(&self) -> Option<&SourceLoc> {
        match self {
            Self::Slots { .. } => None,
            Self::Length { at, .. }
            | Self::NotFinite { at, .. }
            | Self::Name { at, .. }
            | Self::DuplicateInput { at, .. }
            | Self::DuplicateOutput { at, .. }
            | Self::PlainArithmetic { at, .. }
            | Self::PlainOutput { at, .. }
            | Self::Overflow { at, .. }
            | Self::Steps { at, .. }
            | Self::Interval { at, .. }
            | Self::NoCoefficients { at }
            | Self::Digits { at, .. }
            | Self::ForeignValue { at }
            | Self::Inside { at, .. }
            | Self::Ended { at }
            | Self::Captured { at }
            | Self::Nested { at }
            | Self::TooMany { at, .. }
            | Self::Result { at, .. }
            | Self::NoResults { at }
            | Self::NoProcedure { at }
            | Self::Carried { at, .. }
            | Self::Count { at, .. }
            | Self::Argument { at, .. }
            | Self::Times { at, .. }
            | Self::Domain { at, .. }
            | Self::TooLong { at } => at.0.as_ref(),
        }
    }
}

/// Refuses a name of a program, a procedure, an input or an output that is too long for the text form of macro
/// programs.
pub(super) fn named(
    what: &'static str,
    name: &str,
    loc: &Option<SourceLoc>,
) -> Result<(), TraceError> {
    if name.len() <= MAX_NAME {
        return Ok(());
    }
    Err(TraceError::Name {
        at: At(loc.clone()),
        what,
        length: name.len(),
    })
}
