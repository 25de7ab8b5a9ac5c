// SPDX-License-Identifier: Apache-2.0
//! Fuses sums of products into the product of a matrix and a vector, which reads each entry of the vector once.

use std::collections::BTreeMap;

use ringmill_math::is_short;

use super::fuse::Flow;
use super::{Job, Made, Step};

/// Sums of products with one list of second factors: a column of a matrix of sums.
#[derive(Default)]
struct Column {
    /// For each sum, its list of first factors: its row.
    rows: Vec<Vec<u32>>,
    /// The indices of the steps that compute the sums.
    sums: Vec<usize>,
}

/// Fuses the sums of a product of a matrix and a vector of pairs of limbs. The matrix has two sums for each row: the two
/// have the row's entries as first factors, and one list of second factors each, which the sums of all rows share. The
/// fused step takes the place of the last sum, if nothing reads another sum before that. `flow` says which steps compute
/// and read each value. Sums modulo primes below 2^32 stay as they are.
pub(super) fn matrices(steps: &mut [Option<Step>], flow: &Flow) {
    let mut columns: BTreeMap<Vec<u32>, Column> = BTreeMap::new();
    for (i, step) in steps.iter().enumerate() {
        let Some((row, factors)) = step.as_ref().and_then(sum) else {
            continue;
        };
        // The second factors are values that steps have computed.
        if factors.iter().all(|&v| flow.maker[v as usize].is_some()) {
            let column = columns.entry(factors).or_default();
            column.rows.push(row);
            column.sums.push(i);
        }
    }
    // For each list of rows, the columns with these rows: their second factors and their sums.
    type Columns = Vec<(Vec<u32>, Vec<usize>)>;
    let mut found: BTreeMap<Vec<Vec<u32>>, Columns> = BTreeMap::new();
    for (factors, Column { rows, sums }) in columns {
        found.entry(rows).or_default().push((factors, sums));
    }
    for (rows, columns) in found.into_iter().filter(|(rows, _)| rows.len() > 1) {
        let [(a, first), (b, second)] = columns.as_slice() else {
            continue;
        };
        let sums = first.iter().zip(second).flat_map(|(&i, &j)| [i, j]);
        let made = sums.clone().flat_map(|i| &steps[i]).flat_map(|s| &s.dst);
        let dst: Box<[Made]> = made.copied().collect();
        let Some(last) = sums.clone().max() else {
            continue;
        };
        let early = |made: &Made| flow.reader[made.value as usize].is_some_and(|i| i <= last);
        if dst.iter().any(early) {
            continue;
        }
        sums.filter(|&i| i != last).for_each(|i| steps[i] = None);
        if let Some(step) = &mut steps[last]
            && let Job::Dot(q) = step.job
        {
            let factors = a.iter().zip(b).flat_map(|(&a, &b)| [a, b]);
            step.src = factors.chain(rows.into_iter().flatten()).collect();
            (step.job, step.dst) = (
                Job::MatVec {
                    q,
                    factors: a.len(),
                },
                dst,
            );
        }
    }
}

/// Returns the first factors and the second factors of a sum of products, or `None` for any other step and for a sum
/// modulo a prime below 2^32.
fn sum(step: &Step) -> Option<(Vec<u32>, Vec<u32>)> {
    let Job::Dot(q) = step.job else {
        return None;
    };
    let list = |from: usize| step.src.iter().skip(from).step_by(2).copied().collect();
    (!is_short(q.value().into())).then(|| (list(0), list(1)))
}
