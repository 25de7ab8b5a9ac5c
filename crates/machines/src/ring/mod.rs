//! The ring machine (Medha): residue polynomial arithmetic units on a ring, run by two program controllers.

pub mod board;
pub mod built;
pub mod description;
mod emit;
pub mod encode;
pub mod graph;
pub mod interpret;
pub mod keys;
pub mod legalise;
mod machine;
pub mod micro;
pub mod model;
mod needs;
pub mod parts;
pub mod passes;
pub mod place;
pub mod policy;
pub mod program;
mod residency;
mod rewrite;
pub mod schedule;
pub mod search;
mod share;
mod spill;
mod tally;
mod time;
pub mod timing;

pub use description::Description;
pub use machine::RingMachine;

/// The descriptions that Ringmill ships, by name.
pub const SHIPPED: [(&str, &str); 2] = [
    ("ring", Description::MEDHA),
    ("ring-stored", Description::STORED),
];
