// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate in one binary, so that their shared code is compiled once.

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

/// Sources without synthesis, and with the RTL's cycles for papers that run it.
const TABLES: Sources = Sources {
    model: false,
    synthesis: false,
};
/// Sources without synthesis, and with the model's cycles.
const MODEL: Sources = Sources {
    model: true,
    synthesis: false,
};

/// Reproduces a paper as the command does.
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

/// Returns the text that the command prints for rows.
fn text(rows: &[Row]) -> String {
    let whole = Reproduced {
        rows: rows.to_vec(),
        ..Reproduced::default()
    };
    whole.text()
}
