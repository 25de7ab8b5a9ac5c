// SPDX-License-Identifier: Apache-2.0
//! Upper bounds on what the verifiers and parsers accept, so that no input makes later stages allocate without limit.

/// The most moduli in the table of one mid-level program.
pub const MAX_MODULI: usize = 1024;
/// The most bytes of the name of a procedure, block, parameter, result, input or output.
pub const MAX_NAME: usize = 256;
/// The most operands of one instruction, and the most results.
pub const MAX_OPERANDS: usize = 4096;
/// The most values of one mid-level procedure. It is also the most instructions, the most parameters and the most
/// results.
pub const MAX_VALUES: usize = 1 << 20;
/// The largest dimension of an LWE vector: twice the degree of the largest ring.
pub const MAX_LWE_DIMENSION: u32 = 1 << 18;
/// The most LWE vectors (rows) in one table of LWE vectors.
pub const MAX_LWE_ROWS: u32 = 1 << 24;
/// The largest number of polynomials in one digit of a key: a body and its masks.
pub const MAX_KEY_PARTS: u16 = 64;
/// The most procedures of one program.
pub const MAX_PROCS: usize = 1 << 20;
/// The most limbs and the most calls of one mid-level program that is written out call by call. It is also the most
/// inputs, outputs and seeds of any mid-level program, and the most steps of the program itself and of each block.
pub const MAX_LIMBS: usize = 1 << 27;
/// The most blocks of one mid-level program. A block is a list of steps that the program runs or
/// repeats.
pub const MAX_BLOCKS: usize = 1 << 16;
/// The most times that one step of a mid-level program repeats a block.
pub const MAX_REPEAT: u64 = 1 << 32;
/// The most slots of memory outside the machine that a mid-level procedure may use. A slot holds
/// one limb or LWE vector.
pub const MAX_SLOTS: u32 = 1 << 24;
/// The most slots of a vector of a macro program: N/2 for the largest ring.
pub const MAX_VECTOR_SLOTS: u32 = 1 << 16;
/// The most instructions of a macro program outside its procedures, and the most values. The same
/// bounds hold for each procedure.
pub const MAX_MACRO_VALUES: usize = 1 << 23;
/// The most times that one `REPEAT` of a macro program may call its procedure.
pub const MAX_REPEATS: u64 = 1 << 32;
/// The most bytes of a scheme's name.
pub const MAX_SCHEME: usize = 32;
/// The most constant vectors of a macro program. It is also the most inputs and the most outputs.
pub const MAX_VECTORS: usize = 1 << 20;
/// The highest level of a value of a macro program.
pub const MAX_LEVEL: u32 = MAX_MODULI as u32 - 1;
/// The most bytes of a text that a parser reads.
pub const MAX_TEXT: usize = 1 << 28;
