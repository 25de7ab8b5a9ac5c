// SPDX-License-Identifier: Apache-2.0
//! Checks digits of one width on the engines in Table VI of the paper of Kong and Li. The checks tell whether products
//! are exact modulo the one prime of an engine's transforms, and how often noise makes a gate fail.

use ringmill_circuits::tfhe::{
    Decomposition, LweDimension, Params, ParamsBuilder, TfheError, Transforms, Unrolling,
};
use ringmill_machines::torus::Description;

use super::engine;
use crate::error::PaperError;
use crate::scope::{Record, Scope, record};
use crate::value::{Value, counted};

/// Returns the proofs for digits as wide as the current row of `data/torus.toml` says. For m > 1 secret bits in each
/// step, a second proof is for keys that are summed to one (bundled) in coefficient form before the products. Such a
/// bundle is one gadget ciphertext, so its sums are those of m = 1.
///
/// # Errors
/// Fails as [`engine::described`] does, and if the row lacks a number.
pub fn proofs(at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
    let Some(d) = engine::described(at)? else {
        return Ok(Vec::new());
    };
    let log_base = at.count("log_base")? as u32;
    let (exact, why, fails) = digits(&d, d.unroll, log_base)?;
    let (bundled, bundled_why, _) = digits(&d, 1, log_base)?;
    Ok(vec![record([
        ("exact", counted(exact)),
        ("why", why.into()),
        ("bundled", counted(bundled)),
        ("bundled_why", bundled_why.into()),
        ("fails", fails.map_or(Value::None, counted)),
    ])])
}

/// Checks digits of `log_base` bits with m = `unroll`. Returns three figures. The first is 1 if every sum of products
/// stays within the prime, else 0. The second is the proof, or the refusal and the widest digits that have a proof. The
/// third is log2 of the probability that noise makes a gate fail, if products are exact. The noise is the TFHE
/// library's for n = 630 and n = 500. Nothing is encrypted here.
fn digits(
    d: &Description,
    unroll: usize,
    log_base: u32,
) -> Result<(u32, String, Option<f64>), PaperError> {
    let prove = |log_base| {
        let set = match d.levels {
            2 => "paper_110_bits_below_94_bits",
            _ => "tfhe_library_2020_below_128_bits",
        };
        let unrolling = match unroll {
            1 => Unrolling::One,
            2 => Unrolling::Two,
            _ => Unrolling::Three,
        };
        let builder = ParamsBuilder::named(set)?
            .sizes(|s| s.n = LweDimension(d.dim))
            .unrolling(unrolling)
            .bootstrap(Decomposition {
                log_base,
                levels: d.levels,
            })
            .allow_any_failure_rate_for_tests_only();
        builder.transforms(Transforms::Solinas).build()
    };
    let said = |params: &Params| params.exactness().summary();
    match prove(log_base) {
        Ok(params) => Ok((1, said(&params), Some(params.failure_log2()))),
        Err(refusal @ TfheError::Overflow { .. }) => {
            let narrower = (2..log_base).rev().map(|base| (base, prove(base)));
            let mut found = narrower.filter_map(|(base, params)| Some((base, params.ok()?)));
            let instead = match found.next() {
                Some((base, params)) => format!("Bg = 2^{base} has a proof: {}", said(&params)),
                None => "no narrower digits have a proof".to_owned(),
            };
            Ok((0, format!("{refusal}; {instead}"), None))
        }
        Err(other) => Err(other.into()),
    }
}
