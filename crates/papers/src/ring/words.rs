// SPDX-License-Identifier: Apache-2.0
//! The instructions of the ring paper's Table 2.

use ringmill_machines::MachineError;
use ringmill_machines::ring::instructions::instructions;
use ringmill_machines::ring::micro::{OpWord, Opcode, Unit};
use ringmill_machines::ring::seen::seen;
use ringmill_machines::ring::{Description, OF_THE_PAPERS_SIZE, timing};

use super::TABLE_2;
use super::paper;
use crate::figure::{Figure, How};

/// Cycles of each word and how many a second an RPAU does one after another, as the paper counts them, on limbs of 2^14.
pub fn figures(paper: &paper::Ring) -> Result<Vec<Figure>, MachineError> {
    let mut figures = Vec::new();
    for (name, text) in OF_THE_PAPERS_SIZE {
        let d = Description::parse(text)?;
        let groups = d.slot_groups();
        for (metric, word) in instructions(&d) {
            let printed = printed(paper, &word);
            let cycles = timing::duration(&d, &groups, d.log_n, &word).total as f64;
            for (unit, paper, ours) in [
                ("cycles", printed, cycles),
                (
                    "a second",
                    paper.a_second(printed),
                    (d.clock_mhz * 1e6 / cycles).floor(),
                ),
            ] {
                figures.push(Figure {
                    machine: (*name).to_owned(),
                    table: TABLE_2.to_owned(),
                    case: "instruction".to_owned(),
                    metric: metric.to_owned(),
                    unit: unit.to_owned(),
                    paper: Some(paper),
                    should_be: None,
                    ours,
                    how: seen(name).map_or(How::Model, |_| How::Lockstep),
                    tool: None,
                });
            }
        }
    }
    Ok(figures)
}

/// The paper's cycles of an instruction.
fn printed(paper: &paper::Ring, word: &OpWord) -> f64 {
    match (word.op, word.unit) {
        (Opcode::Ntt | Opcode::Intt, _) => paper.ntt_reported,
        (Opcode::Bcast, _) => paper.broadcast,
        (Opcode::Muli, _) => paper.scale,
        (Opcode::Split | Opcode::Join, _) => paper.split_join,
        (Opcode::Auto, _) => paper.automorphism,
        (_, Unit::Dyadic) => paper.coefficientwise_dyadic,
        (_, Unit::Main) => paper.coefficientwise_main,
    }
}
