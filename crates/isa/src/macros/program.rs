//! A macro program: what a traced function is, and what the compiler's passes rewrite.

use super::op::MacroOp;
use crate::source::SourceLoc;

/// A macro-level SSA value: index into [`MacroProgram::types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct MacroValue(pub u32);

/// Level and scale of a managed value. A value at level l has l + 1 ciphertext primes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LevelScale {
    pub level: u32,
    pub scale: f64,
}

/// Type of a macro value; `at` is `None` in a traced, unmanaged program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MacroType {
    /// `size` polynomials: 2, or 3 before relinearisation.
    Cipher {
        size: u32,
        at: Option<LevelScale>,
    },
    Plain {
        at: Option<LevelScale>,
    },
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
    Level(u32),
    /// Rotation steps, each in (-slots, slots), not 0.
    Steps(Vec<i32>),
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

/// `slots` is the vector length (a power of two, at most N/2; shorter vectors repeat through the slots).
#[derive(Clone, PartialEq, Debug)]
pub struct MacroProgram {
    pub name: String,
    pub slots: u32,
    pub inputs: Vec<MacroInput>,
    /// Constant vectors, each of `slots` complex values (re, im).
    pub data: Vec<Vec<(f64, f64)>>,
    pub instrs: Vec<MacroInstr>,
    pub types: Vec<MacroType>,
    pub outputs: Vec<String>,
}
