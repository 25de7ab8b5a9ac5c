// SPDX-License-Identifier: Apache-2.0
//! Our key switch: masks made on the chip from a public seed, distinct for every row.

use ringmill_circuits::tfhe::{Decomposition, Params};
use ringmill_hdl::torus::parts::switch;
use ringmill_machines::torus::keyswitch::{Command, Digits, Floor, Generators, Shape, cycles};

use super::gate;
use crate::error::PaperError;
use crate::figure::How;
use crate::mapping::Mapping;
use crate::row::{Ours, Row};

const TABLE: &str = "Section III-C: the key switch with honest masks, n = 630, N = 1024";

/// A unit: generators of a block a cycle each, ciphertexts switched together, base and digits.
pub struct Case {
    generators: usize,
    batch: usize,
    log_base: u32,
    levels: usize,
}

/// The paper's digits, the TFHE library's, and larger ones; one ciphertext and twelve.
pub const CASES: [Case; 5] = [
    case(1, 1, 1, 15),
    case(2, 12, 1, 15),
    case(2, 12, 2, 8),
    case(8, 12, 2, 8),
    case(2, 12, 3, 5),
];

const fn case(generators: usize, batch: usize, log_base: u32, levels: usize) -> Case {
    Case {
        generators,
        batch,
        log_base,
        levels,
    }
}

pub fn rows(params: &Params, mapping: &Mapping<'_>) -> Result<Vec<Row>, PaperError> {
    let (large, small) = (params.sizes().large_dimension(), params.sizes().n.0);
    let mut found = Vec::new();
    for Case {
        generators,
        batch,
        log_base,
        levels,
    } in CASES
    {
        let made = Generators {
            cores: generators,
            rounds: 20,
            steps: 2,
        };
        let digits = Digits { log_base, levels };
        let refused = |e| PaperError::Internal(format!("a unit of Section III-C: {e}"));
        let shape = Shape::new(batch, made, digits, (large, small)).map_err(refused)?;
        let size = |dimension: usize| {
            u16::try_from(dimension)
                .map_err(|_| PaperError::Internal(format!("a dimension of {dimension}")))
        };
        let command = Command {
            large: size(large)?,
            small: size(small)?,
            count: batch as u8,
        };
        let floor = Floor::of(large, levels, small);
        let found_cycles = cycles(shape, command) as f64;
        let case = format!(
            "base 2^{log_base}, t = {levels}, {generators} blocks a cycle, {batch} ciphertexts"
        );
        let mut push = |metric: &str, unit, value: f64, how| {
            let ours = Ours::Is(value, how);
            found.push(Row::new(TABLE, case.as_str(), metric, unit, None, ours));
        };
        let set = gate::with_digits(Decomposition { log_base, levels })?;
        push("a gate fails, log2", "", set.failure_log2(), How::Counted);
        push("mask words", "words", floor.mask_words as f64, How::Counted);
        push(
            "blocks of key stream",
            "",
            floor.blocks as f64,
            How::Counted,
        );
        push("floor", "cycles", floor.cycles(shape) as f64, How::Counted);
        push("cycles", "cycles", found_cycles, How::Model);
        push(
            "cycles a ciphertext",
            "cycles",
            found_cycles / batch as f64,
            How::Model,
        );
        if let Some(resources) = mapping.resources(&switch(shape))? {
            let lut = (resources.lut + resources.lut_memory) as f64;
            push("LUT", "", lut, How::Synthesis);
            push("FF", "", resources.ff as f64, How::Synthesis);
            let ram = resources.bram18 as f64 / 2.0;
            push("block RAM, 36 Kbit", "", ram, How::Synthesis);
            push("DSP", "", resources.dsp as f64, How::Synthesis);
        }
    }
    Ok(found)
}
