// SPDX-License-Identifier: Apache-2.0
//! The paper of the abacus, with its printed figure beside ours.

use ringmill_device::progress::Progress;
use ringmill_machines::fpga::Printed;
use ringmill_papers::{Asked, How, Ours, Paper, PaperError, Reproduced, Row, Wish, tables};
use serde::Deserialize;

use crate::{Description, KIND};

/// The figures that the paper prints.
const TABLES: &str = include_str!("paper.toml");

#[derive(Deserialize)]
struct Table {
    beads: f64,
}

/// The paper "On beads", of which Table 1 is reproduced.
pub struct OnBeads;

impl Paper for OnBeads {
    fn name(&self) -> &'static str {
        "abacus"
    }

    fn title(&self) -> &'static str {
        "On beads"
    }

    fn machine(&self) -> &'static str {
        KIND
    }

    fn takes(&self) -> &'static [Wish] {
        &[]
    }

    fn printed(&self) -> Result<Printed, PaperError> {
        Ok(Printed::default())
    }

    fn tables(&self, _: &Asked, _: &dyn Progress) -> Result<Reproduced, PaperError> {
        let paper: Table = tables::read(TABLES, "abacus")?;
        let ours = Description::parse(Description::OURS)?;
        let ours = Ours::Is(ours.beads as f64, How::Stated);
        let row = Row::new(
            "Table 1",
            "the abacus".to_owned(),
            "beads",
            "",
            Some(paper.beads),
            ours,
        );
        Ok(Reproduced {
            rows: vec![row],
            ..Reproduced::default()
        })
    }
}
