// SPDX-License-Identifier: Apache-2.0
//! The ring paper's Table 3: what RPAUs take, by the machines' own fields.

use ringmill_machines::MachineError;
use ringmill_machines::fpga::Resource;
use ringmill_machines::ring::{Description, OF_THE_PAPERS_SIZE};

use super::paper;
use crate::figure::{Figure, How};

const TABLE_3: &str = "Table 3: memory and multipliers";

/// An RPAU of each width, and the machine of both sets' primes: one of 60 bits, the others of 54.
pub fn figures(paper: &paper::Ring) -> Result<Vec<Figure>, MachineError> {
    let mut figures = Vec::new();
    for (name, text) in OF_THE_PAPERS_SIZE {
        let d = Description::parse(text)?;
        let mut all = [0.0; 3];
        for (case, bits, count, printed) in [
            ("RPAU of 60 bits", 60, 1, &paper.rpau_60),
            (
                "RPAU of 54 bits",
                54,
                d.rpaus.saturating_sub(1),
                &paper.rpau_54,
            ),
        ] {
            let fit = d.needs_at(bits)?.fit()?;
            for ((kind, printed), sum) in kinds(printed).into_iter().zip(&mut all) {
                let total = fit.totals.iter().find(|t| t.resource == kind);
                let each = total.map_or(0.0, |t| t.each);
                *sum += each * count as f64;
                figures.push(figure(name, case, kind, printed, each));
            }
        }
        let case = all_of(d.rpaus);
        for ((kind, printed), ours) in kinds(&paper.taken).into_iter().zip(all) {
            figures.push(figure(name, &case, kind, printed, ours));
        }
    }
    Ok(figures)
}

/// The machine of both sets' primes.
fn all_of(rpaus: usize) -> String {
    format!(
        "all RPAUs, 1 of 60 bits and {} of 54",
        rpaus.saturating_sub(1)
    )
}

fn kinds(printed: &paper::Taken) -> [(Resource, f64); 3] {
    [
        (Resource::BlockRam, printed.bram),
        (Resource::UltraRam, printed.uram),
        (Resource::Dsp, printed.dsp),
    ]
}

fn figure(machine: &str, case: &str, kind: Resource, paper: f64, ours: f64) -> Figure {
    Figure {
        machine: machine.to_owned(),
        table: TABLE_3.to_owned(),
        case: case.to_owned(),
        metric: kind.name().to_owned(),
        unit: String::new(),
        paper: Some(paper),
        should_be: None,
        ours,
        how: How::Stated,
        tool: None,
    }
}
