// SPDX-License-Identifier: Apache-2.0
//! Programs on encrypted bits and integers, and the circuits that TFHE runs for them.
//!
//! | question | file |
//! | --- | --- |
//! | a program, and its result in the clear | [`program`] |
//! | removal of operations that change nothing, and cheaper replacements | [`mod@simplify`] |
//! | the lookups that a server runs, one bootstrap each or one for several, and the sums between them | [`graph`], [`sum`] |
//! | the table and the sum of a lookup | [`small`] |
//! | lookups that share a rotation | [`share`] |
//! | integers of digits and limbs, and their operations | [`integer`] |
//! | from a program to lookups | [`lower`] |
//! | from a program to gates of bits | [`gates`] |
//! | from BLIF or JSON to lookups or gates | [`netlist`] |
//! | lookups or gates: which costs less | [`choose`] |
//! | a circuit as text | [`text`] |
//! | a compiled circuit as a file | [`saved`] |

pub mod choose;
pub mod error;
pub mod gates;
pub mod graph;
pub mod integer;
pub mod lower;
pub mod netlist;
pub mod program;
pub mod saved;
pub mod share;
pub mod simplify;
pub mod small;
pub mod sum;
pub mod text;

pub use choose::{Chosen, Estimate, Source, choose};
pub use error::CircuitError;
pub use graph::{Cost, Graph, Lookup};
pub use lower::{Circuit, Part, Port, lower};
pub use program::{Program, ProgramBuilder, Type, Value};
