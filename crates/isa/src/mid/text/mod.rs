// SPDX-License-Identifier: Apache-2.0
//! The text form of mid-level procedures and programs. The text of one that verifies parses to an equal value, except
//! that source files lose their folders, and prints the same again.
//!
//! Each line has one item, such as an instruction, a parameter or a step; `;` starts a comment. Values of a procedure
//! are `%0`, `%1`, ..., numbered from 0 without gaps. Inputs of a program are `$0`, `$1`, .... Limbs of a frame are
//! `@0`, `@1`, ..., and a number is used again after a step that names it after `dies`.
//!
//! The type of a limb is a modulus of the table, a ring if it is not the whole one (`half+`, `half-`), and a form.
//! Other values are LWE vectors (`lwe 630 q2`: dimension and modulus), tables of LWE vectors (`rows 2048 lwe 630 q2`)
//! and public exponents (`exponent`). A modulus of the table is an NTT-friendly prime (`q0=97`), any other number
//! (`q1=plain 65537`) or a power of two (`q2=2^64`). A procedure inside a program leaves out a ring and moduli equal
//! to the program's, if these are at most 64 moduli.
//!
//! ```
//! use ringmill_isa::mid::{text, verify_program};
//!
//! let program = text::parse_program(
//!     r#"
//! program ring 2^4 moduli q0=97 q1=193
//!
//! proc scale.L1 ; a limb times a constant of the call
//!   in %0 : q1 eval = cipher 0 poly 0 "c0.q1"
//!   imm 0 = scalar q1
//!   %1 = MULI %0, imm 0 : q1 eval
//!   out %1 = cipher 0 poly 0 "d0.q1"
//! end
//!
//! block twice (q1 eval)
//!   call scale.L1 (@0) imm (2) dies (@0) -> (@0)
//!   give (@0)
//! end
//!
//! input $0 : q1 eval = cipher 0 poly 0 "x"
//! repeat 5 twice ($0) -> (@0) at "model.py":12 ; x times 2^5
//! output @0 = cipher 0 poly 0 "y"
//! end
//! "#,
//! )?;
//! verify_program(&program)?;
//! assert_eq!(text::parse_program(&text::print_program(&program))?, program);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(clippy::arithmetic_side_effects)]

mod parse;
mod print;

pub use parse::{parse_procedure, parse_program};
pub(crate) use print::{instr_text, representative_word, shorten, step_text};
pub use print::{print_procedure, print_program};
