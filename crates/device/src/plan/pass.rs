// SPDX-License-Identifier: Apache-2.0
//! Joins elementwise steps on a procedure's parameters into one pass over memory.
//!
//! A pass takes a block of coefficients of all operands at a time, so that values between its steps stay in the nearest
//! cache.

use std::collections::HashMap;

use ringmill_math::{Modulus, is_short};

use super::{Job, Made, Step};

/// The place of a limb that a step of a pass reads or writes: an operand or a result of the pass,
/// or a value inside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    Operand(usize),
    Result(usize),
    /// A value inside the pass with this number: one step of the pass computes it, and later steps
    /// of the pass read it.
    Between(usize),
}

/// The computation that one step of a pass does on each block of coefficients.
#[derive(Clone, Debug)]
pub enum Act {
    Add,
    Sub,
    Neg,
    Mul,
    Mac,
    Addi(u64),
    /// The sum of the step's operands, each multiplied by its own constant of this list.
    Combine(Vec<u64>),
    Dot,
    Tensor,
}

/// One elementwise step of a pass over memory: its computation, the limbs that it reads, and the limbs that it writes.
#[derive(Clone, Debug)]
pub struct Deed {
    pub act: Act,
    pub src: Vec<At>,
    pub dst: Vec<At>,
}

/// A pass over memory that runs several elementwise steps modulo one prime.
#[derive(Clone, Debug)]
pub struct Pass {
    pub q: Modulus,
    pub deeds: Vec<Deed>,
    /// The number of values inside the pass. The pass keeps one block of each of them.
    pub between: usize,
}

/// Returns the prime of an elementwise step that a pass can include, or `None` for any other step.
fn elementwise(step: &Step) -> Option<Modulus> {
    match step.job {
        Job::Add(q)
        | Job::Sub(q)
        | Job::Neg(q)
        | Job::Mul(q)
        | Job::Mac(q)
        | Job::Muli(q, _)
        | Job::Addi(q, _)
        | Job::Dot(q)
        | Job::Tensor(q) => Some(q),
        _ => None,
    }
}

/// Joins elementwise steps that depend only on parameters, or on results of such steps, into passes. Two steps belong
/// to one pass if one reads a result of the other, or if both have one modulus and read one parameter. A pass takes the
/// place of its first step. A step that belongs with no other becomes a pass only if its prime is below 2^32 and it is
/// no tensor product whose results other steps alone read.
pub(super) fn passes(steps: Vec<Step>, results: &[u32], values: usize) -> Vec<Step> {
    // For each value that a pass can make, the number of its step.
    let mut maker: Vec<Option<usize>> = vec![None; values];
    let mut made = vec![false; values];
    let mut group: Vec<usize> = (0..steps.len()).collect();
    let mut in_pass = vec![false; steps.len()];
    for (i, step) in steps.iter().enumerate() {
        let from_params = |&v: &u32| !made[v as usize] || maker[v as usize].is_some();
        let q = elementwise(step).filter(|_| step.src.iter().all(from_params));
        for d in &step.dst {
            made[d.value as usize] = true;
        }
        let Some(_) = q else { continue };
        in_pass[i] = true;
        for v in &step.src {
            if let Some(j) = maker[*v as usize] {
                join(&mut group, i, j);
            }
        }
        for d in &step.dst {
            maker[d.value as usize] = Some(i);
        }
    }
    // Sums that read the same limbs become one pass, so that these limbs are read once.
    let mut reader: HashMap<u32, usize> = HashMap::new();
    for (i, step) in steps.iter().enumerate().filter(|&(i, _)| in_pass[i]) {
        for &v in step.src.iter().filter(|&&v| !made[v as usize]) {
            match reader.get(&v) {
                Some(&j) if elementwise(&steps[j]) == elementwise(step) => join(&mut group, i, j),
                Some(_) => {}
                None => {
                    reader.insert(v, i);
                }
            }
        }
    }
    let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
    for i in (0..steps.len()).filter(|&i| in_pass[i]) {
        members.entry(root(&group, i)).or_default().push(i);
    }
    let mut uses = vec![0u32; values];
    for step in &steps {
        step.src.iter().for_each(|&v| uses[v as usize] += 1);
    }
    results.iter().for_each(|&v| uses[v as usize] += 1);
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    for members in members.into_values() {
        // A single step becomes a pass only if it reads or writes words of 32 bits. A tensor product reads them without
        // a pass.
        let short = |&i: &usize| {
            let Some(step) = &steps[i] else {
                return false;
            };
            let given = step.dst.iter().any(|made| results.contains(&made.value));
            let reads = matches!(step.job, Job::Tensor(_)) && !given;
            elementwise(step).is_some_and(|q| is_short(q.value().into())) && !reads
        };
        if members.len() < 2 && !members.iter().any(short) {
            continue;
        }
        let own: Vec<Step> = members.iter().filter_map(|&i| steps[i].take()).collect();
        if let (Some(&first), Some(pass)) = (members.first(), pass(own, &uses)) {
            steps[first] = Some(pass);
        }
    }
    steps.into_iter().flatten().collect()
}

fn root(group: &[usize], mut i: usize) -> usize {
    while group[i] != i {
        i = group[i];
    }
    i
}

fn join(group: &mut [usize], i: usize, j: usize) {
    let (i, j) = (root(group, i), root(group, j));
    group[i.max(j)] = i.min(j);
}

/// Makes one pass of several steps, which keep their order, or `None` if they cannot form a pass. `uses` has for each
/// value the number of its reads by all steps of the procedure, plus one for each result that is this value.
fn pass(steps: Vec<Step>, uses: &[u32]) -> Option<Step> {
    let q = elementwise(steps.first()?)?;
    let (op, instr) = (steps.first()?.op, steps.first()?.instr);
    let mut inside: HashMap<u32, u32> = HashMap::new();
    for v in steps.iter().flat_map(|step| &step.src) {
        *inside.entry(*v).or_default() += 1;
    }
    let (mut src, mut dst): (Vec<u32>, Vec<Made>) = (Vec::new(), Vec::new());
    let mut at: HashMap<u32, At> = HashMap::new();
    let mut between = 0;
    let mut deeds: Vec<Deed> = Vec::new();
    for step in steps {
        let mut places = Vec::with_capacity(step.src.len());
        for &v in &step.src {
            places.push(*at.entry(v).or_insert_with(|| {
                src.push(v);
                At::Operand(src.len() - 1)
            }));
        }
        let mut results = Vec::with_capacity(step.dst.len());
        for &made in &step.dst {
            let v = made.value;
            let leaves = uses[v as usize] > inside.get(&v).copied().unwrap_or(0);
            let place = match leaves {
                true => {
                    dst.push(made);
                    At::Result(dst.len() - 1)
                }
                false => {
                    between += 1;
                    At::Between(between - 1)
                }
            };
            at.insert(v, place);
            results.push(place);
        }
        let act = match step.job {
            Job::Add(_) => Act::Add,
            Job::Sub(_) => Act::Sub,
            Job::Neg(_) => Act::Neg,
            Job::Mul(_) => Act::Mul,
            Job::Mac(_) => Act::Mac,
            Job::Muli(_, w) => Act::Combine(vec![w]),
            Job::Addi(_, w) => Act::Addi(w),
            Job::Dot(_) => Act::Dot,
            Job::Tensor(_) => Act::Tensor,
            _ => return None,
        };
        deeds.push(Deed {
            act,
            src: places,
            dst: results,
        });
    }
    combine(&mut deeds);
    Some(Step {
        job: Job::Pass(Pass { q, deeds, between }),
        op,
        instr,
        src: src.into(),
        dst: dst.into(),
    })
}

/// Replaces chains of multiplications by constants and additions in a pass by one sum of products,
/// which is reduced once.
fn combine(deeds: &mut Vec<Deed>) {
    let mut readers: HashMap<usize, usize> = HashMap::new();
    for place in deeds.iter().flat_map(|deed| &deed.src) {
        if let At::Between(i) = place {
            *readers.entry(*i).or_default() += 1;
        }
    }
    let mut made: HashMap<usize, usize> = HashMap::new();
    let mut gone = vec![false; deeds.len()];
    for i in 0..deeds.len() {
        if let (Act::Add, &[a, b]) = (&deeds[i].act, deeds[i].src.as_slice()) {
            let one = |at: At| match at {
                At::Between(k) if readers.get(&k) == Some(&1) => {
                    let j = *made.get(&k)?;
                    matches!(deeds[j].act, Act::Combine(_)).then_some(j)
                }
                _ => None,
            };
            if let (Some(x), Some(y)) = (one(a), one(b))
                && x != y
            {
                let (mut constants, mut src) = (Vec::new(), Vec::new());
                for j in [x, y] {
                    if let Act::Combine(own) = &deeds[j].act {
                        constants.extend_from_slice(own);
                        src.extend_from_slice(&deeds[j].src);
                    }
                    gone[j] = true;
                }
                deeds[i].act = Act::Combine(constants);
                deeds[i].src = src;
            }
        }
        if let Some(At::Between(k)) = deeds[i].dst.first() {
            made.insert(*k, i);
        }
    }
    let mut gone = gone.into_iter();
    deeds.retain(|_| !gone.next().unwrap_or(false));
}
