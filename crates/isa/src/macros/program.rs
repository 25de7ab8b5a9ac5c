// SPDX-License-Identifier: Apache-2.0
//! A macro program, which tracing a Python function produces and the compiler's passes rewrite.

use std::fmt;

use super::linked::{Combination, Elements, Matrix, Products, Turns};
use super::op::MacroOp;
use crate::limits;
use crate::numbers::{Galois, Level};
use crate::source::SourceLoc;

/// The name of a program's scheme: small letters, digits and hyphens, a letter first, at most
/// [`MAX_SCHEME`](limits::MAX_SCHEME) bytes. Crates that implement schemes decide which names exist.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SchemeName(String);

impl SchemeName {
    /// Returns the scheme with this name, or `None` for a text that cannot be a name.
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
    /// Returns `ckks`, the scheme of a text that names no scheme. Such texts of macro programs have
    /// format version 1.
    fn default() -> Self {
        Self("ckks".to_owned())
    }
}

impl fmt::Display for SchemeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A value of a macro program, defined once (SSA): its index in [`MacroProgram::types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct MacroValue(pub u32);

/// What a scheme tracks for a ciphertext or plaintext in addition to its level: a scale, a correction factor, or
/// nothing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Note {
    /// The scheme tracks nothing besides the level, as for values of BFV.
    Bare,
    /// The scheme tracks the scale of the message, a real number, as for values of CKKS.
    Scale(f64),
    /// The scheme tracks the correction factor of the message modulo the plaintext modulus, as for values of BGV. The
    /// factor is in the low 60 bits. The bits above hold the index of its plaintext modulus, 0 for that of messages.
    Factor(u64),
}

/// The level of a value, and the note of its scheme: a scale or a correction factor. A value at level l has l + 1
/// ciphertext primes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LevelNote {
    pub level: Level,
    pub note: Note,
}

impl LevelNote {
    /// Returns the level and scale of a value, or `None` if its note is no scale.
    pub fn scaled(self) -> Option<LevelScale> {
        let level = self.level;
        match self.note {
            Note::Scale(scale) => Some(LevelScale { level, scale }),
            Note::Bare | Note::Factor(_) => None,
        }
    }
}

/// The level and scale of a value: a [`LevelNote`] whose note is a scale.
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

/// The type of a value of a macro program. `at` has the value's level and its note, which is a
/// scale or a correction factor. In a program before levels are chosen, `at` is `None`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MacroType {
    /// A ciphertext of `size` polynomials: 2, or 3 before relinearisation.
    Cipher {
        size: u32,
        at: Option<LevelNote>,
    },
    Plain {
        at: Option<LevelNote>,
    },
    /// A ciphertext of two polynomials after an automorphism x -> x^g without a key switch. It is
    /// under the secret s(x^g), where s is the program's secret. Only the key switch `KSW` takes
    /// it.
    Morphed {
        by: Galois,
        at: Option<LevelNote>,
    },
    /// A ciphertext of two polynomials, or a plaintext, that lies in distant memory. Only the instruction `LOAD` takes
    /// it.
    Distant {
        of: Visibility,
        at: Option<LevelNote>,
    },
    /// An evaluation key in the form of a ciphertext of two polynomials. Only `RAISE`, which raises the modulus in a
    /// bootstrap, takes it.
    Key {
        at: Option<LevelNote>,
    },
    /// A constant polynomial of integers, in evaluation form modulo each prime of its level. Only `SUMPLAIN`, a sum of
    /// products with such constants, and `MATVEC` take it.
    Lifted {
        /// Whether the constant also has limbs modulo the special primes. `MATVEC` takes such constants only, and
        /// `SUMPLAIN` takes the others only.
        special: bool,
        at: Option<LevelNote>,
    },
}

impl MacroType {
    /// Returns the level and note (scale or correction factor) of a value of this type, or `None`
    /// if no levels are chosen yet.
    pub fn at(self) -> Option<LevelNote> {
        match self {
            Self::Cipher { at, .. }
            | Self::Plain { at }
            | Self::Morphed { at, .. }
            | Self::Distant { at, .. }
            | Self::Key { at }
            | Self::Lifted { at, .. } => at,
        }
    }

    /// Returns this type with `at` as its level and note (scale or correction factor); `None`
    /// removes both.
    pub fn placed(self, at: Option<LevelNote>) -> Self {
        match self {
            Self::Cipher { size, at: _ } => Self::Cipher { size, at },
            Self::Plain { at: _ } => Self::Plain { at },
            Self::Morphed { by, at: _ } => Self::Morphed { by, at },
            Self::Distant { of, at: _ } => Self::Distant { of, at },
            Self::Key { at: _ } => Self::Key { at },
            Self::Lifted { special, at: _ } => Self::Lifted { special, at },
        }
    }

    /// Returns the number of polynomials of a ciphertext or of a key in the form of a ciphertext,
    /// or `None` for a plaintext or a constant.
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

/// The immediate of a macro instruction: the data that it has besides its operands. Its opcode
/// fixes the kind. A constant is [`MacroImm::Constant`] or [`MacroImm::Integer`]; every other kind
/// has one variant.
#[derive(Clone, PartialEq, Debug)]
pub enum MacroImm {
    None,
    /// The immediate is the number of an input: an index into [`MacroProgram::inputs`].
    Input(u32),
    /// The immediate is the number of an output: an index into [`MacroProgram::outputs`].
    Output(u32),
    /// The immediate is the number of a constant vector: an index into [`MacroProgram::data`].
    Data(u32),
    /// A real constant. `scale` multiplies the constant before it is rounded to an integer. It is `None` before levels
    /// are chosen, in a scheme without scales, and for `ADDC`, which uses its operand's scale.
    Constant {
        value: f64,
        scale: Option<f64>,
    },
    /// An exact integer constant. Schemes on real numbers take it as a real number.
    Integer(i128),
    Level(Level),
    /// The immediate is the Galois element g of one automorphism x -> x^g: an odd number above 1
    /// and below 2N.
    Galois(Galois),
    Interval(Interval),
    /// The immediate is the numbers of slots by which rotations turn the operand, one for each
    /// result. Each is not 0, and between -slots and slots.
    Steps(Vec<i32>),
    /// The number of the procedure that `CALL` calls: an index into [`MacroProgram::procs`].
    Proc(u32),
    /// The number of the procedure that `REPEAT` calls, an index into [`MacroProgram::procs`], and
    /// how many times `REPEAT` calls it.
    Repeat {
        proc: u32,
        count: u64,
    },
    /// The immediate is the number of a constant polynomial (`lifted`) that belongs to a procedure
    /// which the compiler links in.
    Lifted(u32),
    /// The immediate is the Galois elements of several automorphisms, one for each result.
    Elements(Elements),
    Turns(Turns),
    Matrix(Matrix),
    Combination(Combination),
    Products(Products),
}

impl MacroImm {
    /// Returns the number of the procedure that a `CALL` or `REPEAT` names, and how many times it
    /// calls the procedure. Returns `None` for other instructions.
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
            | Self::Interval(_)
            | Self::Steps(_)
            | Self::Lifted(_)
            | Self::Elements(_)
            | Self::Turns(_)
            | Self::Matrix(_)
            | Self::Combination(_)
            | Self::Products(_) => None,
        }
    }
}

/// An interval in which all slots of a value lie, as real numbers, as the program's author states.
/// Both ends belong to the interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    pub lowest: f64,
    pub highest: f64,
}

/// How far outside of an interval a number may lie and still count as inside, as a share of the
/// interval's largest absolute value. Rounding errors of doubles are smaller.
const ROUNDING: f64 = 1e-12;

impl Interval {
    /// Returns whether the interval exists: both ends are finite, and the lowest is not above the highest.
    pub fn is_valid(&self) -> bool {
        self.lowest.is_finite() && self.highest.is_finite() && self.lowest <= self.highest
    }

    /// Returns whether a complex number lies in the interval and has no imaginary part, except for
    /// rounding errors of doubles. A number that is not finite never does.
    pub fn contains(&self, re: f64, im: f64) -> bool {
        let room = ROUNDING * self.lowest.abs().max(self.highest.abs());
        let real = self.lowest - room <= re && re <= self.highest + room;
        real && im.abs() <= room
    }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "from {:?} to {:?}", self.lowest, self.highest)
    }
}

/// The constant that an instruction adds, or by which it multiplies or divides.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Constant {
    /// The constant is a real number, from the immediate [`MacroImm::Constant`].
    Real { value: f64, scale: Option<f64> },
    /// The constant is an exact integer, from the immediate [`MacroImm::Integer`].
    Integer(i128),
}

impl Constant {
    /// Returns the constant of an immediate, or `None` if the immediate is no constant.
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
            | MacroImm::Interval(_)
            | MacroImm::Steps(_)
            | MacroImm::Proc(_)
            | MacroImm::Repeat { .. }
            | MacroImm::Lifted(_)
            | MacroImm::Elements(_)
            | MacroImm::Turns(_)
            | MacroImm::Matrix(_)
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

/// Whether an input is encrypted, or is a plaintext vector that the holder of the data encodes without encryption.
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

/// A procedure of a macro program. Its instructions work on the procedure's own values, numbered
/// from 0, and on the program's constant vectors.
#[derive(Clone, PartialEq, Debug)]
pub struct MacroProc {
    pub name: String,
    /// The parameters of the procedure. If `REPEAT` calls it, each call takes its first parameters
    /// from the results of the call before, one for each result.
    pub params: Vec<MacroValue>,
    pub instrs: Vec<MacroInstr>,
    pub types: Vec<MacroType>,
    pub results: Vec<MacroValue>,
    pub loc: Option<SourceLoc>,
}

/// A macro program. `slots` is the length of its vectors: a power of two, at most N/2. A vector of
/// less than N/2 slots is repeated through all slots of a ciphertext.
#[derive(Clone, PartialEq, Debug)]
pub struct MacroProgram {
    pub name: String,
    pub scheme: SchemeName,
    pub slots: u32,
    pub inputs: Vec<MacroInput>,
    /// The constant vectors of the program, each of `slots` complex values (real part, imaginary part).
    pub data: Vec<Vec<(f64, f64)>>,
    /// The procedures of the program. Each calls only procedures that stand before it.
    pub procs: Vec<MacroProc>,
    pub instrs: Vec<MacroInstr>,
    pub types: Vec<MacroType>,
    pub outputs: Vec<String>,
}

impl MacroProgram {
    /// Makes a program without instructions, for a scheme and a vector length of `slots`.
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
