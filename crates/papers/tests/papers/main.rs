// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate, in one binary: what they share is compiled once.

mod basext;
mod expression;
mod one_more;
mod plot;
mod polymul;
mod ring;
mod row;
mod sheet;
mod tables;
mod torus;
mod vector;

use ringmill_device::progress::Progress;
use ringmill_papers::{Asked, Papers, Reproduced, Row, Sources};

/// Nothing is synthesised; cycles are the RTL's where it is asked.
const TABLES: Sources = Sources {
    model: false,
    synthesis: false,
};
/// Nothing is synthesised; cycles are the model's.
const MODEL: Sources = Sources {
    model: true,
    synthesis: false,
};

/// A paper as the command prints it.
fn reproduced(
    name: &str,
    sources: Sources,
    runs: Option<u32>,
    progress: &dyn Progress,
) -> Reproduced {
    let asked = Asked {
        sources,
        picture: false,
        runs,
    };
    let papers = Papers::standard();
    papers.reproduce(name, &asked, progress).unwrap()
}

/// Rows as the command prints them.
fn text(rows: &[Row]) -> String {
    let whole = Reproduced {
        rows: rows.to_vec(),
        ..Reproduced::default()
    };
    whole.text()
}
