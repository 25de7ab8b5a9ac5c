// SPDX-License-Identifier: Apache-2.0
//! Writes reports as HTML: one self-contained page, or tables without figures for notebooks.
//!
//! [`page()`] makes a page of any [`Section`]s. Its file escapes foreign text (names, source lines) for all pages. The
//! file of the figures escapes labels, in which the plotting library reads tags.

mod compared;
mod explained;
mod figures;
mod page;
mod program;
mod run;

pub use compared::{of_comparison, table_of};
pub use explained::of_explanation;
pub use figures::{Bars, Curve, Kind, Lanes, Series, Span, Stack};
pub use page::{Cell, Figure, Piece, Section, Table, fragment, page};
pub use program::{Along, of_parameters, of_program};
pub use run::of_runs;
