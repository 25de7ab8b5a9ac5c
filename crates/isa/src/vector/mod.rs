// SPDX-License-Identifier: Apache-2.0
//! The micro level of the `vector` machine: instructions, instruction words, text form and verifier.
//!
//! A [`MicroProgram`] is the input of the machine's controller: straight-line instructions on chunks of the ciphertext
//! buffer, registers of the multiply-accumulate unit and chunks of distant memory. The compiler fixes all addresses.
#![deny(clippy::arithmetic_side_effects)]

mod encode;
mod info;
mod instr;
#[rustfmt::skip] // generated
mod op;
mod text;
mod verify;

pub use encode::{NotAWord, decode, encode};
pub use info::{Allowed, Info};
pub use instr::{Chunk, Instr, MASKS, Mask, MicroProgram, Place, Register, Shape};
pub use op::{A_BITS, Immediate, MicroOp, Unit};
pub use text::{ReadError, TextError, parse, print, read};
pub use verify::{MicroError, MicroFault, Written, verify, verify_from};
