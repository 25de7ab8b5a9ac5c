// SPDX-License-Identifier: Apache-2.0
//! Table 1: parameters, and those of our set.

use ringmill_isa::Level;
use ringmill_schemes::bgv::bootstrap::Bootstrapping;
use ringmill_schemes::bgv::{NoiseModel, Params};

use super::paper::Vector;
use crate::figure::How;
use crate::row::{Ours, Row};
use crate::tables::Cell;

const TABLE: &str = "Table 1: parameter ranges and the example, ours the set `basalisc`";

pub fn rows(paper: &Vector, setup: &Bootstrapping) -> Vec<Row> {
    let params = setup.params();
    let top = params.max_level();
    let security = params.security();
    let mut found = Vec::new();
    for (parameter, least, most, example) in &paper.parameter_ranges {
        for (case, cell) in [("least", least), ("most", most)] {
            if let Some(printed) = cell.figure() {
                let ours = Ours::None;
                found.push(Row::new(TABLE, parameter, case, "", Some(printed), ours));
            }
        }
        let counted = |value: f64| Ours::Is(value, How::Counted);
        let (ours, printed) = match parameter.as_str() {
            "security_bits" => (counted(f64::from(security.level.bits())), example.figure()),
            "ring" => (counted(params.degree() as f64), example.figure()),
            "plaintext_modulus" => {
                let t = params.prime_power().map_or(0.0, |t| t.value() as f64);
                (counted(t), Some(127f64.powi(3)))
            }
            "slots" => (counted(setup.structure().slots() as f64), example.figure()),
            "log_qp" => (counted(security.log_qp), example.figure()),
            "log_q" => (counted(params.log_q(top)), example.figure()),
            "depth" => (counted(depth(params)), example.figure()),
            _ => (Ours::NotMeasured, example.figure()),
        };
        let row = Row::new(TABLE, parameter, "example", "", printed, ours);
        found.push(match (parameter.as_str(), cell_figure(example)) {
            // 42 primes of 32 bits, whose smallest product is that of the 42 least above 2^31.
            ("log_q", Some(_)) => row.but(params.log_q(top)),
            ("log_qp", Some(_)) => row.but(security.log_qp),
            _ => row,
        });
    }
    found
}

fn cell_figure(cell: &Cell) -> Option<f64> {
    cell.figure()
}

/// Squares in sequence that the noise model is sure of, of a fresh ciphertext, without bootstrapping.
fn depth(params: &Params) -> f64 {
    let model = NoiseModel::new(params);
    let (mut level, mut noise) = (params.max_level(), model.fresh());
    let mut depth = 0;
    loop {
        noise = model.switch_key(model.mul(noise, noise), level);
        if model.room(noise, level) < 0.0 {
            return f64::from(depth);
        }
        depth += 1;
        // A prime goes while that lowers the noise by more than a bit.
        while level > Level::LOWEST {
            let after = model.mod_switch(noise, level, 2);
            if after.log2() > noise.log2() - 1.0 {
                break;
            }
            noise = after;
            level = Level(level.0 - 1);
        }
    }
}

/// What a reader must know of the table.
pub const NOTE: &str = "Table 1: 42 primes of 32 bits have at least 1302 bits, more than the printed 1263, and log2 QP = 1782 is \
above the 128-bit bound at\nN = 65536, 1747: the two maxima are limits on their own, not one set. Ours has the paper's 42 and 14 primes, the \
smallest above 2^31\nthat are 1 mod 2^17. The depth is what our noise model is sure of for squares in sequence, whatever the messages are.\n";
