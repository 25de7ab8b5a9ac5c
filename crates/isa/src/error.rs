// SPDX-License-Identifier: Apache-2.0
//! The error of the verifiers of programs: the place of a fault, the expected value and the value
//! found.

use std::fmt;

use crate::def::Arity;
use crate::mid::LweDimension;
use crate::numbers::Galois;
use crate::source::SourceLoc;

/// The error of a verifier, or of the builder of procedures, that refuses a program, a procedure or
/// an instruction.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct VerifyError {
    pub place: Box<Place>,
    pub fault: Box<Fault>,
}

impl VerifyError {
    pub(crate) fn new(place: Place, fault: Fault) -> Self {
        Self {
            place: Box::new(place),
            fault: Box::new(fault),
        }
    }

    /// Returns this error with the line `loc` of the user's source, or unchanged if it has a line
    /// already.
    pub fn or_loc(mut self, loc: Option<&SourceLoc>) -> Self {
        if self.place.loc.is_none() {
            self.place.loc = loc.cloned();
        }
        self
    }
}

/// The place of an instruction or call in a program: its index in its list, from 0, and its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstrPlace {
    pub number: usize,
    pub text: String,
}

/// The place of a fault in a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// The line of the user's source from which the faulty part came, if known.
    pub loc: Option<SourceLoc>,
    /// The name of the procedure or block in which the fault is, or a word for another place, such as "program".
    pub procedure: String,
    pub instruction: Option<InstrPlace>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(loc) = &self.loc {
            write!(f, "{loc}: ")?;
        }
        write!(f, "{}", self.procedure)?;
        if let Some(instr) = &self.instruction {
            write!(f, ", instruction {} `{}`", instr.number, instr.text)?;
        }
        Ok(())
    }
}

/// The reason for which a verifier refuses a program. The field `item` names the faulty part. For a
/// value or a limb it is the name in the text form.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Fault {
    #[error("{item}: expected {expected}, found {found}")]
    Ring {
        item: String,
        expected: String,
        found: String,
    },
    #[error("{item}: expected modulus {expected}, found {found}")]
    Modulus {
        item: String,
        expected: String,
        found: String,
    },
    /// The modulus of a value is no NTT-friendly prime, but the value's form or ring needs one.
    #[error("{item}: {needs} needs a modulus that is an NTT-friendly prime, found {found}")]
    NotPrime {
        item: String,
        needs: &'static str,
        found: String,
    },
    #[error("moduli {a} and {b} share a factor; expected {what} pairwise coprime")]
    NotCoprime {
        what: &'static str,
        a: String,
        b: String,
    },
    #[error("{item}: expected {expected} form, found {found} form")]
    Form {
        item: String,
        expected: &'static str,
        found: &'static str,
    },
    #[error("{item}: expected {expected}, found {found}")]
    Kind {
        item: String,
        expected: &'static str,
        found: &'static str,
    },
    #[error("{item}: expected an LWE vector of dimension {expected}, found one of {found}")]
    Dimension {
        item: String,
        expected: LweDimension,
        found: LweDimension,
    },
    #[error("{item}: expected {expected} polynomials, found {found}")]
    Size {
        item: String,
        expected: u32,
        found: u32,
    },
    #[error("{item}: expected level {expected}, found {found}")]
    Level {
        item: String,
        expected: String,
        found: String,
    },
    #[error("{item}: expected scale {expected}, found {found}")]
    Scale {
        item: String,
        expected: String,
        found: String,
    },
    #[error(
        "{item}: expected a ciphertext under the secret of galois {expected}, found one under that of galois {found}"
    )]
    Secret {
        item: String,
        expected: Galois,
        found: Galois,
    },
    #[error("{item}: expected {expected}, found {found}")]
    Note {
        item: String,
        expected: String,
        found: String,
    },
    #[error("expected {expected} {what}, found {found}")]
    Count {
        what: &'static str,
        expected: Arity,
        found: usize,
    },
    #[error("expected immediate {expected}, found {found}")]
    Immediate { expected: String, found: String },
    #[error("{what} {found} is out of range: expected below {limit}")]
    Range {
        what: &'static str,
        limit: u64,
        found: u64,
    },
    #[error("too many {what}: expected at most {limit}, found {found}")]
    TooMany {
        what: &'static str,
        limit: usize,
        found: usize,
    },
    #[error("{item} is used before it is defined")]
    Undefined { item: String },
    #[error("{item} is used after it died")]
    Died { item: String },
    #[error("{item} is still alive; its number is free only after it dies")]
    Alive { item: String },
    #[error("{item} is defined twice")]
    Redefined { item: String },
    #[error("{item} has a type but is never defined")]
    NeverDefined { item: String },
    #[error("{what} {item} occurs twice; expected each once")]
    Duplicate { what: &'static str, item: String },
    #[error(
        "carried value {number} of {procedure}: expected {expected} as its parameter, found {found} as its result"
    )]
    Carried {
        number: usize,
        procedure: String,
        expected: String,
        found: String,
    },
    #[error(
        "{what} {caller} calls {what} {callee}: expected one before it, so that none calls itself, directly or through others"
    )]
    Recursion {
        what: &'static str,
        caller: usize,
        callee: u32,
    },
    #[error(
        "{item} in a procedure: expected no inputs and outputs there; pass values as arguments and give them back as results"
    )]
    Outside { item: &'static str },
    #[error("slot {slot} is loaded before anything is stored in it")]
    EmptySlot { slot: u32 },
    #[error("{what}: expected {expected}, found {found}")]
    Illegal {
        what: &'static str,
        expected: String,
        found: String,
    },
}
