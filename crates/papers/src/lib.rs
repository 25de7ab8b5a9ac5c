// SPDX-License-Identifier: Apache-2.0
//! The papers that machines come from: each table as printed, beside our figures and how they were obtained. This is what
//! `ringmill reproduce` prints.
//!
//! A [`Paper`] makes the rows of its tables; [`Papers`] is a list of them, [`Papers::standard`] the one that Ringmill ships and
//! [`Papers::with`] one that has a paper more.

mod basext;
mod error;
mod expression;
mod figure;
mod mapping;
mod paper;
mod plot;
mod polymul;
mod registry;
mod ring;
mod row;
mod single;
pub mod tables;
mod torus;
mod vector;

pub use error::PaperError;
pub use figure::{Figure, How};
pub use paper::{Asked, Paper, Reproduced, Sources, Wish};
pub use registry::Papers;
pub use row::{Ours, Row};

/// Items that the crate's own tests reach; no part of the interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::basext::cycles::{Cycles, shape};
    pub use crate::expression::value;
    pub use crate::plot::{Curve, Panel, svg};
    pub use crate::torus::primes::{is_prime, mersenne_primes};

    pub mod polymul {
        pub use crate::polymul::decryption::host::{finish, measure};
        pub use crate::polymul::decryption::link::{Link, OneCall, stream_break_even};
        pub use crate::polymul::decryption::sample::{Sample, Set};
        pub use crate::polymul::decryption::seal::Seal;
        pub use crate::polymul::paper::polymul;
        pub use crate::polymul::sweep::{ours, points};
    }

    pub mod ring {
        pub use crate::ring::bars::verdict;
        pub use crate::ring::paper::{Operations, ring};
        pub use crate::ring::rivals::{Latencies, rows};
    }

    pub mod vector {
        pub use crate::vector::areas::rows as areas;
        pub use crate::vector::card::{Operation, operations, params, rows as card};
        pub use crate::vector::machine::bootstrapping;
        pub use crate::vector::opcodes::OPCODES;
        pub use crate::vector::paper::vector;
        pub use crate::vector::sigmoid::table;
        pub use crate::vector::training::{Size, WHOLE, compiled, counts};
        pub use crate::vector::{made, notes, rows};
    }
}
