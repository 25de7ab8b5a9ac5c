// SPDX-License-Identifier: Apache-2.0
//! The abacus: a machine that takes every limb instruction and moves some residues of it in a cycle. It shows what a new machine
//! takes: a description, a model, a report of its own, a paper and a row for each registry; no file of another crate changes.

mod description;
mod machine;
mod paper;
mod report;

use ringmill_machines::{Kind, Parse};

pub use description::Description;
pub use machine::Abacus;
pub use paper::OnBeads;
pub use report::AbacusUse;

/// The kind of these descriptions.
pub const KIND: &str = "abacus";

/// Its row.
pub const ROW: Kind = Kind {
    name: KIND,
    shipped: &[("abacus", Description::OURS)],
    parse: Parse::Whole(|text| Ok(Box::new(Abacus::new(Description::parse(text)?)?))),
};
