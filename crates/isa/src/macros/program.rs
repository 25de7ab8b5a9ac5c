// SPDX-License-Identifier: Apache-2.0
//! A macro program: what a traced function is, and what the compiler's passes rewrite.

use std::fmt;

use super::linked::{Combination, Elements, Products, Turns};
use super::op::MacroOp;
use crate::limits;
use crate::numbers::{Galois, Level};
use crate::source::SourceLoc;

/// The scheme that a program is for: small letters, digits and hyphens, a letter first, at most
/// [`MAX_SCHEME`](limits::MAX_SCHEME) bytes. Which schemes there are is for those to say who have them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SchemeName(String);

impl SchemeName {
    /// The scheme of that name; `None` for what cannot be one.
    pub fn new(name: &str) -> Option<Self> {
        let letters = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let legal = name.len() <= limits::MAX_SCHEME
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().all(letters);
        legal.then(|| Self(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for SchemeName {
    /// `ckks`, the scheme of texts that name none: those of version 1.
    fn default() -> Self {
        Self("ckks".to_owned())
    }
}

impl fmt::Display for SchemeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A macro-level SSA value: index into [`MacroProgram::types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct MacroValue(pub u32);

/// What a scheme keeps of a managed value beside its level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Note {
    /// Nothing, as BFV.
    Bare,
    /// What the message is multiplied by, a real number, as CKKS.
    Scale(f64),
    /// What the message is multiplied by modulo the plaintext modulus, as BGV.
    Factor(u64),
}

/// Level of a managed value and its scheme's note. A value at level l has l + 1 ciphertext primes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LevelNote {
    pub level: Level,
    pub note: Note,
}

impl LevelNote {
    /// Level and scale, of a value that has a scale.
    pub fn scaled(self) -> Option<LevelScale> {
        let level = self.level;
        match self.note {
            Note::Scale(scale) => Some(LevelScale { level, scale }),
            Note::Bare | Note::Factor(_) => None,
        }
    }
}

/// A [`LevelNote`] whose note is a scale.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LevelScale {
    pub level: Level,
    pub scale: f64,
}

impl From<LevelScale> for LevelNote {
    fn from(LevelScale { level, scale }: LevelScale) -> Self {
        let note = Note::Scale(scale);
        Self { level, note }
    }
}

/// Type of a macro value; `at` is `None` in a traced, unmanaged program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MacroType {
    /// `size` polynomials: 2, or 3 before relinearisation.
    Cipher {
        size: u32,
        at: Option<LevelNote>,
    },
    Plain {
        at: Option<LevelNote>,
    },
    /// A ciphertext of two polynomials under the secret s(x^g), and not the program's: only `KSW` takes it.
    Morphed {
        by: Galois,
        at: Option<LevelNote>,
    },
    /// A ciphertext of two polynomials, or a plaintext, in distant memory: only `LOAD` takes it.
    Distant {
        of: Visibility,
        at: Option<LevelNote>,
    },
    /// A key that is a ciphertext of two polynomials: only `RAISE` takes it.
    Key {
        at: Option<LevelNote>,
    },
    /// A constant polynomial of integers, in evaluation form modulo each prime of its level: only `SUMPLAIN` takes it.
    Lifted {
        at: Option<LevelNote>,
    },
}

impl MacroType {
    /// Level and note; `None` in a traced, unmanaged program.
    pub fn at(self) -> Option<LevelNote> {
        match self {
            Self::Cipher { at, .. }
            | Self::Plain { at }
            | Self::Morphed { at, .. }
            | Self::Distant { at, .. }
            | Self::Key { at }
            | Self::Lifted { at } => at,
        }
    }

    /// The same with another level and note.
    pub fn placed(self, at: Option<LevelNote>) -> Self {
        match self {
            Self::Cipher { size, at: _ } => Self::Cipher { size, at },
            Self::Plain { at: _ } => Self::Plain { at },
            Self::Morphed { by, at: _ } => Self::Morphed { by, at },
            Self::Distant { of, at: _ } => Self::Distant { of, at },
            Self::Key { at: _ } => Self::Key { at },
            Self::Lifted { at: _ } => Self::Lifted { at },
        }
    }

    /// Polynomials of a ciphertext, under whatever secret and wherever it is; `None` for a plaintext.
    pub fn polys(self) -> Option<u32> {
        match self {
            Self::Cipher { size, .. } => Some(size),
            Self::Morphed { .. }
            | Self::Key { .. }
            | Self::Distant {
                of: Visibility::Encrypted,
                ..
            } => Some(2),
            Self::Plain { .. }
            | Self::Lifted { .. }
            | Self::Distant {
                of: Visibility::Plain,
                ..
            } => None,
        }
    }
}

/// What an instruction carries; the opcode's definition fixes the variant.
#[derive(Clone, PartialEq, Debug)]
pub enum MacroImm {
    None,
    /// Index into [`MacroProgram::inputs`].
    Input(u32),
    /// Index into [`MacroProgram::outputs`].
    Output(u32),
    /// Index into [`MacroProgram::data`].
    Data(u32),
    /// A real constant; `scale` is what it is multiplied by before rounding to an integer (`MULC`; `None` while unmanaged
    /// and for `ADDC`, which uses its operand's scale).
    Constant {
        value: f64,
        scale: Option<f64>,
    },
    /// An integer constant, exact; schemes that compute on real numbers take it for one.
    Integer(i128),
    Level(Level),
    /// A Galois element: odd, above 1 and below 2N.
    Galois(Galois),
    /// Rotation steps, each in (-slots, slots), not 0.
    Steps(Vec<i32>),
    /// Index into [`MacroProgram::procs`].
    Proc(u32),
    /// Index into [`MacroProgram::procs`], and how often.
    Repeat {
        proc: u32,
        count: u64,
    },
    /// The number of a constant of linked procedures.
    Lifted(u32),
    /// One element a result.
    Elements(Elements),
    Turns(Turns),
    Combination(Combination),
    Products(Products),
}

impl MacroImm {
    /// The procedure that an instruction calls, by its number, and how often.
    pub fn called(&self) -> Option<(u32, u64)> {
        match *self {
            Self::Proc(proc) => Some((proc, 1)),
            Self::Repeat { proc, count } => Some((proc, count)),
            Self::None
            | Self::Input(_)
            | Self::Output(_)
            | Self::Data(_)
            | Self::Constant { .. }
            | Self::Integer(_)
            | Self::Level(_)
            | Self::Galois(_)
            | Self::Steps(_)
            | Self::Lifted(_)
            | Self::Elements(_)
            | Self::Turns(_)
            | Self::Combination(_)
            | Self::Products(_) => None,
        }
    }
}

/// A constant that an instruction carries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Constant {
    /// [`MacroImm::Constant`].
    Real { value: f64, scale: Option<f64> },
    /// [`MacroImm::Integer`].
    Integer(i128),
}

impl Constant {
    /// The constant of an immediate, if it is one.
    pub fn of(imm: &MacroImm) -> Option<Self> {
        match *imm {
            MacroImm::Constant { value, scale } => Some(Self::Real { value, scale }),
            MacroImm::Integer(value) => Some(Self::Integer(value)),
            MacroImm::None
            | MacroImm::Input(_)
            | MacroImm::Output(_)
            | MacroImm::Data(_)
            | MacroImm::Level(_)
            | MacroImm::Galois(_)
            | MacroImm::Steps(_)
            | MacroImm::Proc(_)
            | MacroImm::Repeat { .. }
            | MacroImm::Lifted(_)
            | MacroImm::Elements(_)
            | MacroImm::Turns(_)
            | MacroImm::Combination(_)
            | MacroImm::Products(_) => None,
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct MacroInstr {
    pub op: MacroOp,
    pub dst: Vec<MacroValue>,
    pub src: Vec<MacroValue>,
    pub imm: MacroImm,
    pub loc: Option<SourceLoc>,
}

/// Whether an input arrives encrypted or as a vector that the holder of the data encodes in the clear.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Visibility {
    Encrypted,
    Plain,
}

#[derive(Clone, PartialEq, Debug)]
pub struct MacroInput {
    pub name: String,
    pub visibility: Visibility,
}

/// Instructions that are called: on values of their own, numbered from 0, and the program's constant vectors.
#[derive(Clone, PartialEq, Debug)]
pub struct MacroProc {
    pub name: String,
    /// At a `REPEAT` the first, as many as there are results, are carried.
    pub params: Vec<MacroValue>,
    pub instrs: Vec<MacroInstr>,
    pub types: Vec<MacroType>,
    pub results: Vec<MacroValue>,
    pub loc: Option<SourceLoc>,
}

/// `slots` is the vector length (a power of two, at most N/2; shorter vectors repeat through the slots).
#[derive(Clone, PartialEq, Debug)]
pub struct MacroProgram {
    pub name: String,
    pub scheme: SchemeName,
    pub slots: u32,
    pub inputs: Vec<MacroInput>,
    /// Constant vectors, each of `slots` complex values (re, im).
    pub data: Vec<Vec<(f64, f64)>>,
    /// Each calls those before it only.
    pub procs: Vec<MacroProc>,
    pub instrs: Vec<MacroInstr>,
    pub types: Vec<MacroType>,
    pub outputs: Vec<String>,
}

impl MacroProgram {
    /// A program of a scheme that computes nothing yet.
    pub fn new(name: String, scheme: SchemeName, slots: u32) -> Self {
        Self {
            name,
            scheme,
            slots,
            inputs: Vec::new(),
            data: Vec::new(),
            procs: Vec::new(),
            instrs: Vec::new(),
            types: Vec::new(),
            outputs: Vec::new(),
        }
    }
}
