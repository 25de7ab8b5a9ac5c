// SPDX-License-Identifier: Apache-2.0
//! The vector machine (`docs/machines/vector.md`): its description, the compiler's back end, and the two simulators,
//! one of residues and one of time.

pub mod batch;
mod buffer;
pub mod built;
pub mod clockwork;
mod code;
pub mod correct;
pub(crate) mod decode;
pub mod description;
mod emit;
mod graph;
pub mod host;
pub mod interpret;
mod kernel;
pub mod layout;
pub mod lower;
mod machine;
mod merge;
mod needs;
mod order;
mod passes;
mod pending;
mod pipe;
mod place;
pub mod queue;
mod readers;
mod report;
mod rest;
pub mod session;
pub mod sides;
pub(crate) mod states;
mod tally;

pub use clockwork::{Clockwork, Counting};
pub use description::Description;
pub use interpret::Memory;
pub use lower::{Alone, Where, alone, time};
pub use machine::{VectorMachine, resident};
pub use needs::unit_multipliers;
pub use passes::Passes;
pub use report::{CallsUse, TimeUse, VectorParts, VectorUse};
pub use tally::Tally;

/// The field `kind` of the descriptions of vector machines.
pub const KIND: &str = "vector";

/// The vector descriptions that Ringmill ships: pairs of name and TOML text.
pub const SHIPPED: [(&str, &str); 3] = [
    ("vector", Description::PAPER),
    ("vector-ours", Description::OURS),
    ("vector-u250", Description::U250),
];
