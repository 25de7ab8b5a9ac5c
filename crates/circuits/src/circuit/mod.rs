// SPDX-License-Identifier: Apache-2.0
//! Programs on encrypted bits and integers, and what TFHE runs of them.
//!
//! | question | file |
//! | --- | --- |
//! | what a program is, and its result in the clear | [`program`] |
//! | what of a program changes nothing, and what is cheaper | [`mod@simplify`] |
//! | what a server runs: lookups on sums, one bootstrap each | [`graph`], [`sum`] |
//! | which table and which sum a lookup takes | [`small`] |
//! | which lookups are made by one rotation | [`share`] |
//! | integers of digits and limbs, and their operations | [`integer`] |
//! | from a program to lookups | [`lower`] |
//! | the same as gates of bits | [`gates`] |
//! | from BLIF or JSON to lookups or gates | [`netlist`] |
//! | lookups or gates: which costs less | [`choose`] |
//! | a circuit as text | [`text`] |

pub mod choose;
pub mod error;
pub mod gates;
pub mod graph;
pub mod integer;
pub mod lower;
pub mod netlist;
pub mod program;
pub mod share;
pub mod simplify;
pub mod small;
pub mod sum;
#[cfg(test)]
mod tests;
pub mod text;

pub use choose::{Chosen, Estimate, Source, choose};
pub use error::CircuitError;
pub use graph::{Cost, Graph, Lookup};
pub use lower::{Circuit, Part, Port, lower};
pub use program::{Program, ProgramBuilder, Type, Value};
