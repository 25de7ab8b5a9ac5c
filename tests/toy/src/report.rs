// SPDX-License-Identifier: Apache-2.0
//! The abacus's own part of the report of a run.

use std::fmt;

use ringmill_device::report::{How, OwnReport, Remarks, Rows, grouped};
use serde::Serialize;

/// The number of moves of a bead in a run, and the number of beads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AbacusUse {
    pub moves: u64,
    pub beads: u64,
}

impl OwnReport for AbacusUse {
    const KEY: &'static str = "abacus";

    fn rows(&self, rows: &mut Rows<'_, '_>, how: How) -> fmt::Result {
        rows.row("beads moved", grouped(self.moves), Some(how))
    }

    fn remarks(&self) -> Remarks {
        Remarks {
            multipliers: Some(format!("none, {} beads", self.beads)),
            ..Remarks::default()
        }
    }
}
