//! The text form of procedures and programs. What is printed parses to an equal value, and prints the same again.
//!
//! One instruction, parameter, result or call a line; `;` starts a comment. Values of a procedure are `%0`, `%1`, ...;
//! limbs of a program are `@0`, `@1`, ...; both are numbered from 0 without gaps. A type is a modulus of the table, a
//! ring if it is not the whole one (`half+`, `half-`), and a form. A procedure inside a program leaves out a ring and
//! moduli equal to the program's.
//!
//! ```
//! use ringmill_isa::mid::{text, verify_program};
//!
//! let program = text::parse_program(
//!     r#"
//! program ring 2^4 moduli q0=97 q1=193
//!
//! proc double.L1 ; twice a limb
//!   in %0 : q1 eval = cipher 0 poly 0 "c0.q1"
//!   %1 = ADD %0, %0 : q1 eval
//!   out %1 = cipher 0 poly 0 "d0.q1"
//! end
//!
//! input @0 : q1 eval = cipher 0 poly 0 "x"
//! call double.L1 (@0) -> (@1) at "model.py":12
//! output @1 = cipher 0 poly 0 "y"
//! end
//! "#,
//! )?;
//! verify_program(&program)?;
//! assert_eq!(text::parse_program(&text::print_program(&program))?, program);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod parse;
mod print;

pub use parse::{parse_procedure, parse_program};
pub(crate) use print::{call_text, instr_text, shorten};
pub use print::{print_procedure, print_program};
