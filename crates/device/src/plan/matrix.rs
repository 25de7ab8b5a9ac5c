// SPDX-License-Identifier: Apache-2.0
//! Fuses sums of products into the product of a matrix and a vector, which reads each entry of the vector once.

use std::collections::BTreeMap;

use ringmill_math::{Modulus, is_short};

use super::fuse::Flow;
use super::{Job, Step};

/// Sums of products with one list of second factors: a column of a matrix of sums.
struct Column {
    /// The second factors, which are values that steps have computed.
    factors: Vec<u32>,
    /// The indices of the steps that compute the sums. Each has a list of first factors, its row, of its own.
    sums: Vec<usize>,
}

/// Fuses the sums of a product of a matrix and a vector of pairs of limbs. The matrix has two sums for each row: the two
/// have the row's entries as first factors, and one list of second factors each, which the sums of all rows share. The
/// fused step takes the place of the last sum, if nothing reads another sum before that. `flow` says which steps compute
/// and read each value. Sums modulo primes below 2^32 stay as they are.
pub(super) fn matrices(steps: &mut [Option<Step>], flow: &Flow) {
    let mut columns: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
    for (i, step) in steps.iter().enumerate() {
        let Some((_, _, factors)) = step.as_ref().and_then(sum) else {
            continue;
        };
        if factors.iter().all(|&v| flow.maker[v as usize].is_some()) {
            columns.entry(factors).or_default().push(i);
        }
    }
    // For each list of rows, the columns with these rows.
    let mut found: BTreeMap<Vec<Vec<u32>>, Vec<Column>> = BTreeMap::new();
    for (factors, sums) in columns.into_iter().filter(|(_, sums)| sums.len() > 1) {
        let rows = sums.iter().filter_map(|&i| sum(steps[i].as_ref()?));
        let rows = rows.map(|(_, row, _)| row).collect();
        found
            .entry(rows)
            .or_default()
            .push(Column { factors, sums });
    }
    for (rows, columns) in found {
        let [a, b] = columns.as_slice() else {
            continue;
        };
        let sums: Vec<usize> = a
            .sums
            .iter()
            .zip(&b.sums)
            .flat_map(|(&i, &j)| [i, j])
            .collect();
        let last = sums.iter().copied().max().unwrap_or(0);
        let mut made = sums
            .iter()
            .flat_map(|&i| &steps[i])
            .flat_map(|step| &step.dst);
        let early = |v: u32| flow.reader[v as usize].is_some_and(|reader| reader <= last);
        if made.any(|made| early(made.value)) {
            continue;
        }
        let own: Vec<Step> = sums.iter().filter_map(|&i| steps[i].take()).collect();
        let Some((q, _, _)) = own.first().and_then(sum) else {
            continue;
        };
        let factors = a.factors.iter().zip(&b.factors).flat_map(|(&a, &b)| [a, b]);
        steps[last] = own.first().map(|step| Step {
            job: Job::MatVec {
                q,
                factors: a.factors.len(),
            },
            op: step.op,
            instr: step.instr,
            src: factors.chain(rows.into_iter().flatten()).collect(),
            dst: own
                .iter()
                .flat_map(|step| step.dst.iter().copied())
                .collect(),
        });
    }
}

/// Returns the modulus, the first factors and the second factors of a sum of products, or `None` for any other step and
/// for a sum modulo a prime below 2^32.
fn sum(step: &Step) -> Option<(Modulus, Vec<u32>, Vec<u32>)> {
    let Job::Dot(q) = step.job else {
        return None;
    };
    let list = |from: usize| step.src.iter().skip(from).step_by(2).copied().collect();
    (!is_short(q.value().into())).then(|| (q, list(0), list(1)))
}
