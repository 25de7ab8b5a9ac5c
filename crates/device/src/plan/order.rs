// SPDX-License-Identifier: Apache-2.0
//! Orders the steps of a procedure so that a value is computed shortly before it is read.
//!
//! The value is then still in the cache, and its memory is held for a short time. The order follows from requests: the
//! results are requested one after the other, those of one modulus together. Each result requests the operands of its
//! step, the first operand first. Steps that no result requests are left out.
//!
//! With hoisting, many ciphertexts that come from one decomposition hold their sums modulo the special primes at one
//! time. If that takes more than [`MORE`] times the memory, results are requested ciphertext by ciphertext. Then the
//! digits are held instead of the sums, and are read once more for each ciphertext.

use super::{Held, Job, Step, peak};
use crate::pool::buffer_bytes;

/// The most memory that the order of steps modulus by modulus may take, as a multiple of the memory
/// of the order ciphertext by ciphertext. Up to this limit the order modulus by modulus is chosen,
/// because it uses caches better.
const MORE: u64 = 2;

/// Returns the steps in an order in which each value is computed shortly before it is read. The
/// callbacks `modulus` and `cipher` return the modulus and the ciphertext of a result of the
/// procedure, given its number.
pub(super) fn order<M: Ord, C: Ord>(
    steps: Vec<Step>,
    results: &[u32],
    values: usize,
    modulus: impl Fn(usize) -> M,
    cipher: impl Fn(usize) -> C,
) -> Vec<Step> {
    // A result that no step reads is held only while it is computed.
    let mut uses = vec![0; values];
    let reads = steps.iter().flat_map(|step| step.src.iter());
    reads.for_each(|&v| uses[v as usize] += 1);
    let held = |order: &[usize]| peak(order.iter().filter_map(|&i| steps.get(i)).map(held), &uses);
    let mut chosen = by(&steps, results, values, &modulus);
    let other = by(&steps, results, values, |r| (cipher(r), modulus(r)));
    if held(&chosen) > MORE * held(&other) {
        chosen = other;
    }
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    let chosen = chosen.into_iter();
    chosen.filter_map(|i| steps[i].take()).collect()
}

/// Returns the memory of a step: the values that it computes and reads, in bytes.
fn held(step: &Step) -> Held<'_, impl Iterator<Item = (u32, u64)> + Clone> {
    // A limb that is expanded from a seed lies in the cache of the seed, so it does not count here.
    let made = match step.job {
        Job::Prng { .. } => &[][..],
        _ => &step.dst,
    };
    Held {
        made: made
            .iter()
            .map(|made| (made.value, buffer_bytes(made.words, false))),
        src: &step.src,
        room: 0,
    }
}

/// Returns the indices of a procedure's steps in the order in which they are needed if its results
/// are requested one after the other by rising `key`.
fn by<K: Ord>(
    steps: &[Step],
    results: &[u32],
    values: usize,
    key: impl Fn(usize) -> K,
) -> Vec<usize> {
    let mut maker = vec![None; values];
    for (i, step) in steps.iter().enumerate() {
        for made in &step.dst {
            maker[made.value as usize] = Some(i);
        }
    }
    let mut wanted: Vec<usize> = (0..results.len()).collect();
    wanted.sort_by_key(|&r| key(r)); // stable
    let mut ordered = Vec::with_capacity(steps.len());
    let mut met = vec![false; steps.len()];
    // The steps that are being requested, and how many operands of each have been visited.
    let mut path: Vec<(usize, usize)> = Vec::new();
    let mut meet = |v: u32, path: &mut Vec<(usize, usize)>| {
        if let Some(i) = maker[v as usize]
            && !std::mem::replace(&mut met[i], true)
        {
            path.push((i, 0));
        }
    };
    for r in wanted {
        meet(results[r], &mut path);
        while let Some((i, seen)) = path.last_mut() {
            match steps[*i].src.get(*seen) {
                Some(&operand) => {
                    *seen += 1;
                    meet(operand, &mut path);
                }
                None => {
                    ordered.push(*i);
                    path.pop();
                }
            }
        }
    }
    ordered
}
