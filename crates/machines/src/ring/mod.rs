// SPDX-License-Identifier: Apache-2.0
//! The ring machine, an accelerator for CKKS after the Medha paper (docs/papers.md): residue polynomial arithmetic
//! units (RPAUs) on a ring network, to which program controllers send instruction words. The module has the machine's
//! descriptions, its scheduler, its cycle model, and an interpreter of its instruction words.

pub mod board;
pub mod built;
pub mod description;
mod emit;
pub mod encode;
pub mod graph;
mod halve;
mod help;
pub mod instructions;
pub mod interpret;
pub mod isa;
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
mod report;
mod residency;
mod rewrite;
pub mod schedule;
pub mod search;
pub mod seen;
mod share;
mod spill;
mod tally;
mod time;
pub mod timing;

pub use description::Description;
pub use machine::RingMachine;
pub use report::{Cuts, Inside, KeyUse, RingUse, SlotUse, Spills};

/// The field `kind` of the descriptions of ring machines.
pub const KIND: &str = "ring";

/// The ring descriptions that Ringmill ships: pairs of name and TOML text.
pub const SHIPPED: [(&str, &str); 3] = [
    ("ring", Description::MEDHA),
    ("ring-stored", Description::STORED),
    ("ring-large", Description::LARGE),
];

/// The descriptions of machines with the size of Medha, whose figures are compared with those of the Medha paper: pairs
/// of name and TOML text.
pub const OF_THE_PAPERS_SIZE: [(&str, &str); 2] = [
    ("ring", Description::MEDHA),
    ("ring-stored", Description::STORED),
];
