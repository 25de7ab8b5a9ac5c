// SPDX-License-Identifier: Apache-2.0
//! The mid level: programs over limbs and LWE vectors, the form in which devices get programs, with their text form and
//! verifier.

pub mod ahead;
mod bind;
pub mod builder;
pub mod expand;
pub mod head;
#[rustfmt::skip] // generated
pub mod op;
pub mod pack;
pub mod procedure;
pub mod program;
mod rules;
pub mod stats;
pub mod stream;
pub mod table;
pub mod text;
pub mod types;
pub mod unrolled;
pub mod verify;
pub mod walk;

pub use ahead::Ahead;
pub use builder::ProcBuilder;
pub use expand::expand_composites;
pub use head::{Head, Order};
pub use op::Op;
pub use procedure::{Imm, ImmType, Instr, Param, ParamRole, Procedure, ResultLimb};
pub use program::{
    Action, Block, HeadInput, HeadOutput, InputRole, LocalId, Operand, Program, Step,
};
pub use ringmill_math::basext::Representative;
pub use stream::{Called, Stream, Verified};
pub use table::{LimbMap, LimbTable};
pub use types::{
    Form, LimbType, LweDimension, LweTableType, LweType, ModulusId, TableModulus, ValueId,
    ValueType,
};
pub use unrolled::{Call, Input, LimbId, Output, Unrolled};
pub use verify::{ProgramTypes, verify_procedure, verify_program, verify_unrolled};
