// SPDX-License-Identifier: Apache-2.0
//! Definition files of the micro levels of machines, and the code
//! generated from them.

mod codegen;
mod definition;

pub use codegen::{markdown, package, rust};
pub use definition::{Definition, FieldDef, InstructionDef, parse};
