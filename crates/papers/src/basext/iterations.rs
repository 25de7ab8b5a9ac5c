// SPDX-License-Identifier: Apache-2.0
//! Table 4.6: iterations for as many targets as sources.

use ringmill_machines::basext::Word;
use ringmill_runtime::shown::Parts;

use super::architectures::unit;
use super::cycles::{Cycles, shape};
use super::paper::Basext;
use super::terms::{mixed_radix, pipelined_mixed_radix};
use crate::error::PaperError;
use crate::row::{Ours, Row};

pub const TABLE: &str = "Table 4.6: iterations, k = l targets";
/// log N, TP and l of the columns.
const COLUMNS: [(u32, usize, usize); 3] = [(16, 32, 17), (14, 32, 7), (12, 64, 4)];

/// Units that are run: of each column every architecture that is built.
pub const RUNS: u64 = 5 * COLUMNS.len() as u64;

pub fn rows(
    paper: &Basext,
    cycles: &Cycles<'_>,
    parts: &mut Parts<'_>,
) -> Result<Vec<Row>, PaperError> {
    let mut found = Vec::new();
    for (column, (log_n, lanes, l)) in COLUMNS.into_iter().enumerate() {
        let shape = shape(Word::Bits32, lanes, log_n, l, l)?;
        let case = format!("N = 2^{log_n}, TP = {lanes}, l = k = {l}");
        for (architecture, first, second, third) in &paper.iterations {
            let printed = [first, second, third].get(column).map(|&&printed| printed);
            let ours = match unit(architecture, shape) {
                Some(unit) => {
                    let ours = cycles.exact(unit, l, l, log_n)?;
                    parts.done();
                    ours
                }
                None => Ours::NotMeasured,
            };
            let row = Row::new(TABLE, case.as_str(), architecture, "cycles", printed, ours);
            let n = f64::from(1u32 << log_n);
            found.push(match architecture.as_str() {
                "mixed_radix_iterative" => row.but(mixed_radix(l as f64, n)),
                "mixed_radix_pipelined" => row.but(pipelined_mixed_radix(l as f64, n)),
                _ => row,
            });
        }
    }
    Ok(found)
}
