//! The macro level: programs over ciphertexts, plaintexts and keys.

#[rustfmt::skip] // generated
pub mod op;
pub mod program;

pub use op::MacroOp;
pub use program::{
    LevelScale, MacroImm, MacroInput, MacroInstr, MacroProgram, MacroType, MacroValue, Visibility,
};
