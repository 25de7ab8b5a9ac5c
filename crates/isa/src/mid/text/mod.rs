//! The text form of procedures and programs. `;` starts a comment; what is printed parses to an equal value.

mod parse;
mod print;

pub use parse::{parse_procedure, parse_program};
pub(crate) use print::{call_text, instr_text, shorten};
pub use print::{print_procedure, print_program};
