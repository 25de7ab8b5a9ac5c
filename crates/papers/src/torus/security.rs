// SPDX-License-Identifier: Apache-2.0
//! Table III: the security of parameter sets, as printed and by the estimates of `security_tables.toml`.

use ringmill_circuits::tfhe::ParamsBuilder;

use super::paper::Torus;
use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};

const TABLE: &str = "Table III: security of parameter sets, estimator_2026.lwe_binary beside";

/// Bits of the small key and of the ring key with the noise that the TFHE library had for n.
fn estimates(n: u32) -> Result<Option<(f64, f64)>, PaperError> {
    let name = match n {
        630 => "tfhe_library_2020_below_128_bits",
        500 => "paper_110_bits_below_94_bits",
        _ => return Ok(None),
    };
    let params = ParamsBuilder::named(name)?.build()?;
    let security = params.security();
    Ok(security.lwe.bits().zip(security.glwe.bits()))
}

pub fn rows(paper: &Torus) -> Result<Vec<Row>, PaperError> {
    let mut found = Vec::new();
    for (set, n, ring, levels, base, t, bits) in &paper.parameter_sets {
        let case = format!("set ({set}): n = {n}, N = {ring}, L = {levels}, Bg = {base}, t = {t}");
        let row = |metric: &str, printed, ours| {
            Row::new(TABLE, case.as_str(), metric, "bits", printed, ours)
        };
        let counted = |bits| Ours::Is(bits, How::Counted);
        match estimates(*n)? {
            Some((lwe, glwe)) => {
                found.push(row("security", Some(*bits), counted(lwe.min(glwe))));
                let printed = (*set == 1).then_some(&paper.security_bits);
                let of_lwe = printed.map(|p| p.lwe);
                found.push(row("of the small key", of_lwe, counted(lwe)));
                let of_ring = printed.map(|p| p.rlwe);
                found.push(row("of the ring key", of_ring, counted(glwe)));
            }
            None => {
                let why = "its noise is not printed, and no table has it";
                found.push(row("security", Some(*bits), Ours::None).remarked(why));
            }
        }
    }
    Ok(found)
}
