// SPDX-License-Identifier: Apache-2.0
//! The TFHE bootstrapping engine (Kong and Li's paper, Sections II to IV; docs/machines/torus.md): its parameters, its
//! expected results, the order of its key stream, and its cycles.

mod bundler;
mod choice;
mod description;
mod error;
mod gather;
mod golden;
pub mod isa;
mod key;
pub mod keyswitch;
mod machine;
mod model;
mod needs;
mod program;
mod rate;
mod report;
mod schedule;
mod shape;
mod sizes;
mod switch;

pub use description::{Description, KeySource, Switch};
pub use error::TorusError;
pub use golden::Golden;
pub use key::KeyStream;
pub use machine::TorusMachine;
pub use model::{Run, load_cycles, run, unload_cycles};
pub use rate::KeyRate;
pub use report::{SwitchUse, TorusUse};
pub use schedule::Schedule;
pub use shape::{BUTTERFLY, PRODUCT, Shape};
pub use sizes::{KeySwitch, Sizes};
pub use switch::{SEED_WORDS, give_cycles, switch, switch_cycles, switch_words};

/// The field `kind` of the descriptions of bootstrapping engines.
pub const KIND: &str = "torus";

/// The torus descriptions that Ringmill ships: pairs of name and TOML text.
pub const SHIPPED: [(&str, &str); 5] = [
    ("torus", Description::OURS),
    ("torus-paper", Description::PAPER),
    ("torus-fit", Description::FIT),
    ("torus-wide", Description::WIDE),
    ("torus-large", Description::LARGE),
];
