//! The mid level: limb programs.

pub mod builder;
pub mod expand;
#[rustfmt::skip] // generated
pub mod op;
pub mod procedure;
pub mod program;
mod rules;
pub mod stats;
pub mod text;
pub mod types;
pub mod verify;

pub use builder::ProcBuilder;
pub use expand::expand_composites;
pub use op::Op;
pub use procedure::{Imm, Instr, Param, ParamRole, Procedure, ResultLimb};
pub use program::{Call, Input, InputRole, LimbId, Output, Program};
pub use types::{Form, LimbType, ModulusId, ValueId};
pub use verify::{verify_procedure, verify_program};
