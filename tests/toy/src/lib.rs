// SPDX-License-Identifier: Apache-2.0
//! The abacus: a machine that takes every limb instruction and moves a few residues of it in a cycle. It shows the
//! parts of a new machine: a description, a model, a report of its own, a paper, and a row for each registry. No file
//! of another crate changes.

mod description;
mod machine;
mod paper;
mod report;

use ringmill_machines::{Kind, Parse};

pub use description::Description;
pub use machine::Abacus;
pub use paper::OnBeads;
pub use report::AbacusUse;

/// The `kind` in the descriptions of an abacus.
pub const KIND: &str = "abacus";

/// The abacus's row for the registry of machines.
pub const ROW: Kind = Kind {
    name: KIND,
    shipped: &[("abacus", Description::OURS)],
    parse: Parse::Whole(|text| Ok(Box::new(Abacus::new(Description::parse(text)?)?))),
};
