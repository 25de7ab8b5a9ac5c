// SPDX-License-Identifier: Apache-2.0
//! Reports as HTML: one page that holds all it needs, or tables without figures for notebooks.
//!
//! [`page`] makes a page of any [`Section`]s: text that is not ours (names, source lines) is escaped there and nowhere else.

mod figures;
mod page;
mod program;
mod run;

pub use figures::{Bars, Curve, Kind, Lanes, Series, Span, Stack};
pub use page::{Cell, Figure, Piece, Section, Table, fragment, page};
pub use program::{Along, of_parameters, of_program};
pub use run::of_runs;
