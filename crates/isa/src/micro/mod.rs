// SPDX-License-Identifier: Apache-2.0
//! Definition files of the micro levels of machines: their reader, and the generators of opcodes,
//! reference pages and decoders.

mod codegen;
mod definition;

pub use codegen::{markdown, package, rust};
pub use definition::{Definition, FieldDef, InstructionDef, parse};
