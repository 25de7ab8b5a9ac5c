// SPDX-License-Identifier: Apache-2.0
//! The order of steps: a value is made shortly before it is wanted, so that it is still in the cache and memory is held
//! for a short time.
//!
//! Results are asked for one after the other, those of one modulus together; each asks for the operands of its step,
//! the first operand first. Steps that no result asks for are left out.
//!
//! Many ciphertexts of one decomposition, hoisted, then hold their sums modulo the special primes all at one time. Where that
//! takes more than [`MORE`] times the memory, results are asked for ciphertext by ciphertext: the digits are held instead, and
//! read once more for each.

use super::{Held, Job, Step, peak};
use crate::pool::buffer_bytes;

/// How many times the memory the order that is kinder to caches may take.
const MORE: u64 = 2;

/// `modulus` and `cipher` give what a result, by its number, is of.
pub(super) fn order<M: Ord, C: Ord>(
    steps: Vec<Step>,
    results: &[u32],
    values: usize,
    modulus: impl Fn(usize) -> M,
    cipher: impl Fn(usize) -> C,
) -> Vec<Step> {
    // Results that no step reads may leave as they are made.
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

/// What a step makes and reads.
fn held(step: &Step) -> Held<'_, impl Iterator<Item = (u32, u64)> + Clone> {
    // An expanded limb belongs to its seed.
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

/// The order in which results are asked for by `key`, as numbers of steps.
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
    // Steps being asked for, and how many of their operands have been seen to.
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
