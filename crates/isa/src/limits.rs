//! Upper bounds on what the verifiers and parsers accept, so that no input makes later stages allocate without measure.

/// Moduli of one program.
pub const MAX_MODULI: usize = 1024;
/// Bytes of a name (procedure, parameter, input, output).
pub const MAX_NAME: usize = 256;
/// Operands, or results, of one instruction.
pub const MAX_OPERANDS: usize = 4096;
/// Values, instructions, parameters or results of one procedure; instructions of one macro program.
pub const MAX_VALUES: usize = 1 << 20;
/// Procedures of one program.
pub const MAX_PROCS: usize = 1 << 20;
/// Limbs, inputs, outputs or calls of one program.
pub const MAX_LIMBS: usize = 1 << 27;
/// Slots of outside memory.
pub const MAX_SLOTS: u32 = 1 << 24;
/// Slots of a macro program: N/2 for the largest ring.
pub const MAX_VECTOR_SLOTS: u32 = 1 << 16;
/// Constant vectors, inputs or outputs of a macro program.
pub const MAX_VECTORS: usize = 1 << 20;
/// Levels of a macro program.
pub const MAX_LEVEL: u32 = MAX_MODULI as u32 - 1;
/// Bytes of a text a parser reads.
pub const MAX_TEXT: usize = 1 << 28;
