// SPDX-License-Identifier: Apache-2.0
//! Fuses steps of a procedure that one pass over memory can do together.
//!
//! | steps | become |
//! | --- | --- |
//! | `CONV`, `ADDI` | a conversion that adds a constant |
//! | a conversion, with or without a constant, and `NTT` | a transform that begins with the conversion |
//! | `SUB`, `MULI`, and an `ADD` where there is one | a scaled difference, and its addend |
//! | a transform that begins with a conversion, a scaled difference from it | a transform that begins and ends with these |
//! | `DOT` and `DOT` with the same first factors | a pair of sums that reads them once |
//! | such a pair, and one automorphism in evaluation form of all its first factors | a pair that reads them turned |
//! | `DOT` of x0 y1 + x1 y0, `MUL` x0 y0, `MUL` x1 y1 | a tensor product |
//! | elementwise steps on parameters | one pass, a block of coefficients at a time ([`passes`]) |
//! | `DOT` for each of several lists of first factors and each of two lists of second factors | a product of a matrix and a vector ([`matrices`]) |
//! | a pair of many sums | pairs of a few terms that carry on from one another |
//!
//! A value between two steps may vanish only if nothing else reads it. Arithmetic is exact, so the fused steps give the
//! same bits as the steps one by one. The rules look at the flow of data between steps, and at no name of a homomorphic
//! operation.

use std::collections::HashMap;

use ringmill_math::is_short;

use super::matrix::matrices;
use super::pass::passes;
use super::{Job, Made, Step};

/// Returns how many bytes of shared factors one step reads that computes two sums of products with the same first
/// factors. Most of these factors were just computed, each by a transform. A few of them fit into the cache together
/// with the transform's tables and both sums.
fn pair_bytes(cache_bytes: usize) -> usize {
    cache_bytes * 2 / 3
}

/// The flow of data in a list of steps: which step computes each value, and which steps read it.
pub(super) struct Flow {
    /// For each value, the number of reads by steps, plus one for each result that is this value.
    uses: Vec<u32>,
    /// For each value, the index of the step that computes it, or `None` for a parameter.
    pub maker: Vec<Option<usize>>,
    /// For each value, the index of the first step that reads it.
    pub reader: Vec<Option<usize>>,
}

impl Flow {
    fn of(steps: &[Option<Step>], results: &[u32], values: usize) -> Self {
        let mut flow = Self {
            uses: vec![0; values],
            maker: vec![None; values],
            reader: vec![None; values],
        };
        for (i, step) in steps.iter().enumerate() {
            let Some(step) = step else { continue };
            for &v in &step.src {
                flow.uses[v as usize] += 1;
                flow.reader[v as usize].get_or_insert(i);
            }
            for made in &step.dst {
                flow.maker[made.value as usize] = Some(i);
            }
        }
        for &v in results {
            flow.uses[v as usize] += 1;
        }
        flow
    }

    /// Returns the index of the step that computes value `v`. It is `None` if `v` is a parameter,
    /// or if `v` is not read exactly once.
    fn only_for_one(&self, v: u32) -> Option<usize> {
        self.maker[v as usize].filter(|_| self.uses[v as usize] == 1)
    }
}

/// Fuses steps of a procedure. The steps given, and the steps returned, are in an order that
/// respects their dependences. Values that fusion adds get numbers from `values` on.
pub(super) fn fuse(
    steps: Vec<Step>,
    results: &[u32],
    values: &mut usize,
    cache_bytes: usize,
) -> Vec<Step> {
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    let flow = Flow::of(&steps, results, *values);
    chains(&mut steps, &flow);
    differences(&mut steps, &flow);
    tensors(&mut steps, &flow);
    let whole = passes(steps.into_iter().flatten().collect(), results, *values);
    let mut steps: Vec<Option<Step>> = whole.into_iter().map(Some).collect();
    let flow = Flow::of(&steps, results, *values);
    matrices(&mut steps, &flow);
    pairs(&mut steps, &flow);
    let flow = Flow::of(&steps, results, *values);
    turned(&mut steps, &flow);
    let steps = steps.into_iter().flatten();
    let most = pair_bytes(cache_bytes);
    steps
        .flat_map(|step| shorter_sums(step, values, most))
        .collect()
}

/// Fuses chains of two or three steps, such as a conversion and a transform. The fused step takes the place of the
/// last. `flow` says which steps compute and read each value.
fn chains(steps: &mut [Option<Step>], flow: &Flow) {
    for i in 0..steps.len() {
        let Some(step) = &steps[i] else { continue };
        let before = |v: u32| {
            let j = flow.only_for_one(v)?;
            Some((j, steps[j].as_ref()?))
        };
        let (job, src, absorbed) = match (&step.job, &*step.src) {
            (&Job::Addi(_, w), &[v]) => match before(v) {
                Some((j, s)) if let Job::Conv(from, to, 0) = s.job => {
                    (Job::Conv(from, to, w), s.src.clone(), j)
                }
                _ => continue,
            },
            (&Job::Ntt { q, ring, w: 0, .. }, &[v]) => match before(v) {
                Some((j, s)) if let Job::Conv(from, _, w) = s.job => {
                    (Job::Ntt { q, ring, from, w }, s.src.clone(), j)
                }
                _ => continue,
            },
            (&Job::Muli(q, w), &[v]) => match before(v) {
                Some((j, s)) if let (Job::Sub(_), &[a, b]) = (&s.job, &*s.src) => {
                    (Job::SubScale(q, w), [a, b].into(), j)
                }
                _ => continue,
            },
            (Job::Add(_), &[x, y]) => {
                let one = |v, other| match before(v) {
                    Some((j, s)) if let (&Job::SubScale(q, w), &[a, b]) = (&s.job, &*s.src) => {
                        Some((Job::SubScale(q, w), [a, b, other].into(), j))
                    }
                    _ => None,
                };
                match one(x, y).or_else(|| one(y, x)) {
                    Some(fused) => fused,
                    None => continue,
                }
            }
            _ => continue,
        };
        steps[absorbed] = None;
        if let Some(step) = &mut steps[i] {
            (step.job, step.src) = (job, src);
        }
    }
}

/// Fuses a scaled difference with the transform of an operand that nothing else reads. The fused step takes the place
/// of the difference. A transform whose operand is modulo the same modulus stays a step of its own, because it works in
/// the memory of its operand. `flow` says which steps compute and read each value.
fn differences(steps: &mut [Option<Step>], flow: &Flow) {
    for i in 0..steps.len() {
        let Some(step) = &steps[i] else { continue };
        let (&Job::SubScale(_, scale), [a, b, c @ ..]) = (&step.job, &*step.src) else {
            continue;
        };
        let Some(j) = flow.only_for_one(*b) else {
            continue;
        };
        let Some(Step { job, src, .. }) = &steps[j] else {
            continue;
        };
        let (&Job::Ntt { q, ring, from, w }, &[limb]) = (job, &**src) else {
            continue;
        };
        if from == q {
            continue;
        }
        let job = Job::Difference {
            q,
            ring,
            from,
            w,
            scale,
        };
        let src = [limb, *a].into_iter().chain(c.iter().copied()).collect();
        steps[j] = None;
        if let Some(step) = &mut steps[i] {
            (step.job, step.src) = (job, src);
        }
    }
}

/// Fuses the three steps of a tensor product. The fused step takes the place of the first of them, if all operands are
/// computed before it. `flow` says which steps compute and read each value.
fn tensors(steps: &mut [Option<Step>], flow: &Flow) {
    let mut products: HashMap<(u32, u32), usize> = HashMap::new();
    for (i, step) in steps.iter().enumerate() {
        if let Some(step) = step
            && let (Job::Mul(_), &[x, y]) = (&step.job, &*step.src)
        {
            products.insert((x.min(y), x.max(y)), i);
        }
    }
    for i in 0..steps.len() {
        let Some(step) = &steps[i] else { continue };
        let (&Job::Dot(q), &[p, r, s, t]) = (&step.job, &*step.src) else {
            continue;
        };
        let product = |x: u32, y: u32| {
            let &at = products.get(&(x.min(y), x.max(y)))?;
            steps[at].as_ref().map(|s| (at, s.dst.clone()))
        };
        // p r + s t = a0 b1 + a1 b0, where the second product may stand either way round.
        let ways = [[p, s, t, r], [p, t, s, r]];
        let found = ways.into_iter().find_map(|[a0, a1, b0, b1]| {
            let (low, high) = (product(a0, b0)?, product(a1, b1)?);
            let first = low.0.min(high.0).min(i);
            let exists = |&v: &u32| flow.maker[v as usize].is_none_or(|maker| maker < first);
            let operands = [a0, a1, b0, b1];
            (low.0 != high.0 && operands.iter().all(exists)).then_some((low, high, first, operands))
        });
        let Some((low, high, first, operands)) = found else {
            continue;
        };
        let dst: Box<[Made]> = [&low.1, &step.dst, &high.1]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        let fused = Step {
            job: Job::Tensor(q),
            op: step.op,
            instr: step.instr,
            src: operands.into(),
            dst,
        };
        for gone in [low.0, high.0, i] {
            steps[gone] = None;
        }
        steps[first] = Some(fused);
    }
}

/// Fuses two sums of products that share their first factors. The fused step takes the place of the second sum, if
/// nothing reads the first sum before that. `flow` says which steps compute and read each value.
fn pairs(steps: &mut [Option<Step>], flow: &Flow) {
    let mut waiting: HashMap<Vec<u32>, usize> = HashMap::new();
    for i in 0..steps.len() {
        let Some(step) = &steps[i] else { continue };
        let Job::Dot(q) = step.job else {
            continue;
        };
        let shared: Vec<u32> = step.src.iter().step_by(2).copied().collect();
        let earlier = waiting.remove(&shared).filter(|&j| {
            let made = steps[j].as_ref().and_then(|s| s.dst.first());
            made.is_some_and(|m| flow.reader[m.value as usize].is_none_or(|reader| reader > i))
        });
        let Some(other) = earlier.and_then(|j| steps[j].take()) else {
            waiting.insert(shared, i);
            continue;
        };
        if let Some(step) = &mut steps[i] {
            let own = |s: &Step, k: usize| s.src[2 * k + 1];
            let terms = shared.iter().enumerate();
            let src = terms.flat_map(|(k, &d)| [d, own(&other, k), own(step, k)]);
            step.src = src.collect();
            step.dst = other.dst.iter().chain(&step.dst).copied().collect();
            let (carry, turn) = (false, None);
            step.job = Job::DotPair { q, carry, turn };
        }
    }
}

/// Fuses a pair of sums with the automorphism of which all their shared factors are results, if nothing else reads these
/// results. Pairs modulo primes below 2^32 stay as they are. `flow` says which steps compute and read each value.
fn turned(steps: &mut [Option<Step>], flow: &Flow) {
    for i in 0..steps.len() {
        let Some(step) = &steps[i] else { continue };
        let Job::DotPair { q, .. } = step.job else {
            continue;
        };
        let made = |&v: &u32| {
            let j = flow.only_for_one(v)?;
            let Step { job, src, .. } = steps[j].as_ref()?;
            let &Job::AutoEval(log_n, g) = job else {
                return None;
            };
            Some((j, *src.first()?, (log_n, g)))
        };
        let found: Option<Vec<_>> = step.src.iter().step_by(3).map(made).collect();
        let Some(found) = found.filter(|_| !is_short(q.value().into())) else {
            continue;
        };
        let Some(&(_, _, turn)) = found.first() else {
            continue;
        };
        if found.iter().any(|&(_, _, other)| other != turn) {
            continue;
        }
        if let Some(step) = &mut steps[i] {
            let (carry, turn) = (false, Some(turn));
            step.job = Job::DotPair { q, carry, turn };
            for (term, &(_, from, _)) in step.src.chunks_mut(3).zip(&found) {
                term[0] = from;
            }
        }
        found.iter().for_each(|&(j, _, _)| steps[j] = None);
    }
}

/// Cuts a step that computes two long sums of products into steps of a few products each. Each step
/// adds its products to the two sums of the step before it, and reads about `pair_bytes` bytes of
/// shared factors. The new sums get numbers from `values` on.
fn shorter_sums(step: Step, values: &mut usize, pair_bytes: usize) -> Vec<Step> {
    let (
        &Job::DotPair {
            q,
            turn,
            carry: false,
        },
        &[a, b],
    ) = (&step.job, &*step.dst)
    else {
        return vec![step];
    };
    let limb = (size_of::<u64>() * a.words).max(1);
    let terms = step.src.len() / 3;
    let parts = terms.div_ceil((pair_bytes / limb).max(2)).max(1);
    let groups: Vec<&[u32]> = step.src.chunks(3 * terms.div_ceil(parts).max(1)).collect();
    let mut sums: Option<[Made; 2]> = None;
    let mut shorter = Vec::with_capacity(groups.len());
    for (k, group) in groups.iter().enumerate() {
        let dst = if k + 1 == groups.len() {
            [a, b]
        } else {
            *values += 2;
            let new = |back: usize, like: Made| Made {
                value: (*values - back) as u32,
                ..like
            };
            [new(2, a), new(1, b)]
        };
        let carried = sums.iter().flatten().map(|m| m.value);
        shorter.push(Step {
            job: Job::DotPair {
                q,
                carry: sums.is_some(),
                turn,
            },
            op: step.op,
            instr: step.instr,
            src: carried.chain(group.iter().copied()).collect(),
            dst: dst.into(),
        });
        sums = Some(dst);
    }
    shorter
}
