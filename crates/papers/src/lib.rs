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
