// SPDX-License-Identifier: Apache-2.0
//! Reproduces the tables of the papers that the machines come from: each printed figure beside ours, with the source of
//! ours. `ringmill reproduce` prints them.
//!
//! A [`Paper`] makes the rows of its tables. [`Papers`] is a list of papers: [`Papers::standard`] is the list that
//! Ringmill ships, and [`Papers::with`] adds a paper.

mod area;
mod basext;
mod error;
mod expression;
mod how;
mod mapping;
mod paper;
mod plot;
mod polymul;
mod registry;
mod ring;
mod row;
mod run;
mod scope;
mod sheet;
mod single;
pub mod tables;
mod torus;
mod value;
mod vector;

pub use error::PaperError;
pub use how::How;
pub use paper::{Asked, Paper, Reproduced, Sources, Wish};
pub use registry::Papers;
pub use row::{Ours, Row};

/// Items that the tests of this crate use. They are no part of the public interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::basext::unit::exact;
    pub use crate::expression::number;
    pub use crate::plot::{Curve, Panel, svg};
    pub use crate::run::Figures;
    pub use crate::scope::{Record, Scope, record};
    pub use crate::sheet::Sheet;
    pub use crate::torus::primes::{is_prime, mersenne_primes};
    pub use crate::value::{Value, model};

    /// The papers' names, each with the TOML text of its sheet.
    pub const SHEETS: [(&str, &str); 5] = [
        ("polymul", crate::polymul::SHEET),
        ("basext", crate::basext::SHEET),
        ("ring", crate::ring::SHEET),
        ("torus", crate::torus::SHEET),
        ("vector", crate::vector::SHEET),
    ];

    pub mod polymul {
        pub use crate::polymul::decryption::host::{finish, measure};
        pub use crate::polymul::decryption::sample::{Sample, Set};
        pub use crate::polymul::sweep::{ours, points};
    }

    pub mod vector {
        pub use crate::vector::card::{Operation, operations, params};
        pub use crate::vector::machine::bootstrapping;
        pub use crate::vector::opcodes::OPCODES;
        pub use crate::vector::sigmoid::table;
        pub use crate::vector::training::{Size, WHOLE, compiled, counts};
        pub use crate::vector::{areas, made, reproduced};
    }
}
