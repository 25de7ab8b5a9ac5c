//! A mid-level program: a sequence of calls of procedures over program-level limbs. Procedures are shared, never
//! expanded, so a program's size is its number of calls.

use std::sync::Arc;

use super::procedure::Procedure;
use super::types::LimbType;
use crate::source::SourceLoc;

/// A program-level limb: index into [`Program::limbs`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LimbId(pub u32);

/// Where the run time finds an input limb; its prime is in its type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InputRole {
    /// Polynomial `poly` of encrypted input number `input`.
    Cipher { input: u32, poly: u16 },
    /// Encoded plaintext number `input`.
    Plain { input: u32 },
    /// Part 0 or 1 of a digit of key number `key`.
    Key { key: u32, digit: u16, part: u16 },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    pub limb: LimbId,
    pub name: String,
    pub role: InputRole,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Index into [`Program::procs`].
    pub proc: u32,
    /// One limb for each parameter, in order, of equal type.
    pub args: Vec<LimbId>,
    /// For each seed parameter, an index into [`Program::seeds`].
    pub seeds: Vec<u32>,
    /// One fresh limb for each result, in order.
    pub results: Vec<LimbId>,
    /// The user's source line this call came from.
    pub loc: Option<SourceLoc>,
}

/// Polynomial `poly` of output ciphertext `output`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    pub limb: LimbId,
    pub name: String,
    pub output: u32,
    pub poly: u16,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    pub log_n: u8,
    pub moduli: Vec<u64>,
    pub procs: Vec<Arc<Procedure>>,
    /// Types of all program-level limbs.
    pub limbs: Vec<LimbType>,
    pub inputs: Vec<Input>,
    /// Key numbers whose seed the run time supplies.
    pub seeds: Vec<u32>,
    pub calls: Vec<Call>,
    pub outputs: Vec<Output>,
}
