// SPDX-License-Identifier: Apache-2.0
//! Micro levels from their definition files: what a file says, and what is generated from it.

mod codegen;
mod definition;

pub use codegen::{markdown, package, rust};
pub use definition::{Definition, FieldDef, InstructionDef, parse};
