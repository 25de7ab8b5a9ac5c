// SPDX-License-Identifier: Apache-2.0
//! Upper bounds on what the verifiers and parsers accept, so that no input makes later stages allocate without limit.

/// Moduli of one program.
pub const MAX_MODULI: usize = 1024;
/// Bytes of a name (procedure, parameter, input, output).
pub const MAX_NAME: usize = 256;
/// Operands, or results, of one instruction.
pub const MAX_OPERANDS: usize = 4096;
/// Values, instructions, parameters or results of one procedure of the mid level.
pub const MAX_VALUES: usize = 1 << 20;
/// Dimension of an LWE vector: twice the degree of the largest ring.
pub const MAX_LWE_DIMENSION: u32 = 1 << 18;
/// Rows of a table of LWE vectors.
pub const MAX_LWE_ROWS: u32 = 1 << 24;
/// Parts of a digit of a key: body and masks.
pub const MAX_KEY_PARTS: u16 = 64;
/// Procedures of one program.
pub const MAX_PROCS: usize = 1 << 20;
/// Limbs, inputs, outputs or calls of one program.
pub const MAX_LIMBS: usize = 1 << 27;
/// Blocks of one program.
pub const MAX_BLOCKS: usize = 1 << 16;
/// Times that one step repeats a block.
pub const MAX_REPEAT: u64 = 1 << 32;
/// Slots of outside memory.
pub const MAX_SLOTS: u32 = 1 << 24;
/// Slots of a macro program: N/2 for the largest ring.
pub const MAX_VECTOR_SLOTS: u32 = 1 << 16;
/// Instructions or values of a macro program outside its procedures, and of each of them.
pub const MAX_MACRO_VALUES: usize = 1 << 23;
/// How often a macro program may repeat a procedure.
pub const MAX_REPEATS: u64 = 1 << 32;
/// Bytes of a scheme's name.
pub const MAX_SCHEME: usize = 32;
/// Constant vectors, inputs or outputs of a macro program.
pub const MAX_VECTORS: usize = 1 << 20;
/// Levels of a macro program.
pub const MAX_LEVEL: u32 = MAX_MODULI as u32 - 1;
/// Bytes of a text a parser reads.
pub const MAX_TEXT: usize = 1 << 28;
