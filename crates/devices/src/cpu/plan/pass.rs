//! Elementwise steps on a procedure's parameters in one pass over memory: a block of coefficients of all operands at a time, so that
//! what steps hand to one another stays in the nearest cache.

use std::collections::HashMap;
use std::ops::Range;

use ringmill_math::kernels::{self, Store};
use ringmill_math::{MathError, Modulus, Residues, ResiduesMut, Shoup, is_short};

use super::{Kernel, Made, Step};

/// Coefficients of a block: a few dozen operands of as many words lie in the second-level cache, the few of a step in the first.
const BLOCK: usize = 512;

/// The same where all words are of 32 bits.
const SHORT_BLOCK: usize = 2 * BLOCK;

/// Where a step of a pass finds a limb, or puts it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Operand(usize),
    Result(usize),
    /// Of the pass's own.
    Between(usize),
}

/// What is done with a block. Constants are ready.
enum Act {
    Add,
    Sub,
    Neg,
    Mul,
    Mac,
    Addi(u64),
    /// The sum of operands times constants.
    Combine(Vec<Shoup>),
    Dot,
    Tensor,
}

struct Deed {
    act: Act,
    src: Vec<At>,
    dst: Vec<At>,
}

/// Elementwise steps modulo one prime.
pub(in crate::cpu) struct Pass {
    q: Modulus,
    deeds: Vec<Deed>,
    between: usize,
}

/// An operand: a limb, or its values, each for a run of equal ones.
#[derive(Clone, Copy)]
pub(in crate::cpu) enum Operand<'a> {
    Limb(Residues<'a>),
    Spread(&'a [u64]),
}

impl Operand<'_> {
    /// Asks for what is read of it next.
    fn ahead(&self, next: &Range<usize>) {
        match self {
            Self::Limb(Residues::Wide(words)) => {
                kernels::ahead(words.get(next.clone()).unwrap_or_default());
            }
            Self::Limb(Residues::Short(words)) => {
                kernels::ahead(words.get(next.clone()).unwrap_or_default());
            }
            Self::Spread(_) => {}
        }
    }
}

/// Blocks of that many coefficients of a limb of `len`, each with what is read after it.
fn blocks(len: usize, block: usize) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    (0..len).step_by(block).map(move |start| {
        let end = len.min(start + block);
        let next = match len >= kernels::FAR {
            true => end..len.min(end + block),
            false => 0..0,
        };
        (start..end, next)
    })
}

impl Pass {
    /// Words that [`Pass::run`] works in.
    pub fn scratch_len(&self, operands: usize, results: usize) -> usize {
        (self.between + operands + results) * BLOCK
    }

    /// Rough time in passes over a limb.
    pub fn weight(&self) -> u64 {
        self.deeds.iter().map(|deed| deed.src.len() as u64).sum()
    }

    /// Whether it can write all its results past the cache.
    pub fn streams(&self) -> bool {
        let leaves = |deed: &&Deed| deed.dst.iter().any(|at| matches!(at, At::Result(_)));
        (self.deeds.iter().filter(leaves)).all(|deed| matches!(deed.act, Act::Add | Act::Mul))
    }

    /// Computes the results, all of one length, and writes them as `store` says.
    pub fn run(
        &self,
        operands: &[Operand<'_>],
        results: &mut [ResiduesMut<'_>],
        scratch: &mut [u64],
        store: Store,
    ) -> Result<(), MathError> {
        if let Some(()) = self.run_short(operands, results, store)? {
            return Ok(());
        }
        let len = results.first().map_or(0, |r| r.len());
        let short = |result: &ResiduesMut<'_>| matches!(result, ResiduesMut::Short(_));
        let short = results.iter().any(short);
        let (between, rest) = scratch.split_at_mut((self.between * BLOCK).min(scratch.len()));
        let (spread, made) = rest.split_at_mut((operands.len() * BLOCK).min(rest.len()));
        for (at, next) in blocks(len, BLOCK) {
            let size = at.len();
            for (operand, block) in operands.iter().zip(spread.chunks_exact_mut(BLOCK)) {
                operand.ahead(&next);
                let block = &mut block[..size];
                match operand {
                    Operand::Limb(Residues::Wide(_)) => {}
                    Operand::Limb(Residues::Short(words)) => {
                        kernels::widen(block, words.get(at.clone()).unwrap_or_default())?;
                    }
                    Operand::Spread(values) => fill(values, len, at.start, block),
                }
            }
            let spread: &[u64] = spread;
            let operand = |i: usize| match operands[i] {
                Operand::Limb(Residues::Wide(limb)) => limb.get(at.clone()),
                Operand::Limb(Residues::Short(_)) | Operand::Spread(_) => {
                    spread.get(i * BLOCK..i * BLOCK + size)
                }
            };
            let made_blocks = made.chunks_exact_mut(BLOCK).zip(&mut *results);
            let mut blocks: Vec<&mut [u64]> = made_blocks
                .map(|(made, result)| match result {
                    ResiduesMut::Wide(words) => words.get_mut(at.clone()).unwrap_or_default(),
                    ResiduesMut::Short(_) => made.get_mut(..size).unwrap_or_default(),
                })
                .collect();
            let mut between: Vec<&mut [u64]> = (between.chunks_exact_mut(BLOCK))
                .map(|b| b.get_mut(..size).unwrap_or_default())
                .collect();
            for deed in &self.deeds {
                let mut dst: [&mut [u64]; 3] = Default::default();
                for (dst, at) in dst.iter_mut().zip(&deed.dst) {
                    *dst = match *at {
                        At::Result(i) => std::mem::take(&mut blocks[i]),
                        At::Between(i) => std::mem::take(&mut between[i]),
                        At::Operand(_) => Default::default(),
                    };
                }
                let read = |at: At| match at {
                    At::Operand(i) => operand(i).unwrap_or_default(),
                    At::Result(i) => &*blocks[i],
                    At::Between(i) => &*between[i],
                };
                let store = match deed.dst.first() {
                    Some(At::Result(_)) if !short => store,
                    _ => Store::Cached,
                };
                let (src, count) = (|i: usize| read(deed.src[i]), deed.src.len());
                deed.act.run(self.q, &mut dst, src, count, store)?;
                for (dst, at) in dst.into_iter().zip(&deed.dst) {
                    match *at {
                        At::Result(i) => blocks[i] = dst,
                        At::Between(i) => between[i] = dst,
                        At::Operand(_) => {}
                    }
                }
            }
            drop(blocks);
            for (result, made) in results.iter_mut().zip(made.chunks_exact(BLOCK)) {
                if let ResiduesMut::Short(words) = result {
                    let words = words.get_mut(at.clone()).unwrap_or_default();
                    kernels::narrow(words, made.get(..size).unwrap_or_default(), store)?;
                }
            }
        }
        Ok(())
    }

    /// The same where all is in words of 32 bits and every step is one that has a loop over these, from operands to a result.
    fn run_short(
        &self,
        operands: &[Operand<'_>],
        results: &mut [ResiduesMut<'_>],
        store: Store,
    ) -> Result<Option<()>, MathError> {
        type Loop = fn(Modulus, &mut [u32], &[u32], &[u32], Store) -> Result<(), MathError>;
        let words = |at: At| match at {
            At::Operand(i) => match operands.get(i) {
                Some(Operand::Limb(Residues::Short(words))) => Some(*words),
                _ => None,
            },
            At::Result(_) | At::Between(_) => None,
        };
        let mut deeds: Vec<(Loop, &[u32], &[u32], usize)> = Vec::with_capacity(self.deeds.len());
        for deed in &self.deeds {
            let by: Loop = match deed.act {
                Act::Add => kernels::add_short,
                Act::Sub => kernels::sub_short,
                Act::Mul => kernels::mul_short,
                Act::Neg | Act::Mac | Act::Addi(_) | Act::Combine(_) | Act::Dot | Act::Tensor => {
                    return Ok(None);
                }
            };
            let (&[a, b], &[At::Result(to)]) = (deed.src.as_slice(), deed.dst.as_slice()) else {
                return Ok(None);
            };
            match (words(a), words(b), results.get(to)) {
                (Some(a), Some(b), Some(ResiduesMut::Short(_))) => deeds.push((by, a, b, to)),
                _ => return Ok(None),
            }
        }
        let len = results.first().map_or(0, |r| r.len());
        for (at, next) in blocks(len, SHORT_BLOCK) {
            operands.iter().for_each(|operand| operand.ahead(&next));
            for &(by, a, b, to) in &deeds {
                let Some(ResiduesMut::Short(out)) = results.get_mut(to) else {
                    continue;
                };
                let out = out.get_mut(at.clone()).unwrap_or_default();
                let a = a.get(at.clone()).unwrap_or_default();
                by(self.q, out, a, b.get(at.clone()).unwrap_or_default(), store)?;
            }
        }
        Ok(Some(()))
    }
}

/// The block from `start` on of a limb of `len` residues that is known by its values.
fn fill(values: &[u64], len: usize, start: usize, block: &mut [u64]) {
    let run = (len / values.len().max(1)).max(1);
    for (i, x) in block.iter_mut().enumerate().step_by(run.min(BLOCK)) {
        *x = values.get((start + i) / run).copied().unwrap_or(0);
    }
    if run > 1 {
        for chunk in block.chunks_mut(run.min(BLOCK)) {
            if let Some(&first) = chunk.first() {
                chunk.fill(first);
            }
        }
    }
}

impl Act {
    fn run<'v>(
        &self,
        q: Modulus,
        dst: &mut [&mut [u64]; 3],
        src: impl Fn(usize) -> &'v [u64],
        count: usize,
        store: Store,
    ) -> Result<(), MathError> {
        let [out, second, third] = dst;
        match self {
            Self::Add => kernels::add_stored(q, out, src(0), src(1), store),
            Self::Sub => kernels::sub(q, out, src(0), src(1)),
            Self::Neg => kernels::neg(q, out, src(0)),
            Self::Mul => kernels::mul_stored(q, out, src(0), src(1), store),
            Self::Mac => kernels::mac(q, out, src(0), src(1), src(2)),
            Self::Addi(w) => kernels::add_scalar(q, out, src(0), *w),
            Self::Combine(constants) => with_limbs(count, &src, |limbs| {
                kernels::dot_scalars(q, out, limbs, constants)
            }),
            Self::Dot => {
                let terms: Vec<(&[u64], &[u64])> = (0..count / 2)
                    .map(|i| (src(2 * i), src(2 * i + 1)))
                    .collect();
                kernels::dot(q, out, &terms)
            }
            Self::Tensor => {
                let out = [&mut **out, &mut **second, &mut **third];
                let (a, b) = ([src(0), src(1)], [src(2), src(3)]);
                kernels::tensor(
                    q,
                    out,
                    a.map(Residues::Wide),
                    b.map(Residues::Wide),
                    Store::Cached,
                )
            }
        }
    }
}

fn with_limbs<'v, T>(
    count: usize,
    src: &impl Fn(usize) -> &'v [u64],
    f: impl FnOnce(&[&[u64]]) -> T,
) -> T {
    const FEW: usize = 32;
    if count > FEW {
        return f(&(0..count).map(src).collect::<Vec<_>>());
    }
    let mut limbs: [&[u64]; FEW] = [&[]; FEW];
    for (i, limb) in limbs.iter_mut().enumerate().take(count) {
        *limb = src(i);
    }
    f(&limbs[..count])
}

/// The prime of a step that a pass can have.
fn elementwise(step: &Step) -> Option<Modulus> {
    match step.kernel {
        Kernel::Add(q)
        | Kernel::Sub(q)
        | Kernel::Neg(q)
        | Kernel::Mul(q)
        | Kernel::Mac(q)
        | Kernel::Muli(q, _)
        | Kernel::Addi(q, _)
        | Kernel::Dot(q)
        | Kernel::Tensor(q) => Some(q),
        _ => None,
    }
}

/// Steps that are elementwise on parameters alone, or on what such steps make, become passes: each of those that are connected, in the
/// place of the first.
pub(super) fn passes(steps: Vec<Step>, results: &[u32], values: usize) -> Vec<Step> {
    // Of each value that a pass can make: the number of its step.
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
    // Sums that read the same limbs are one pass, so that these are read once.
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
        // One step alone is a pass where it has to read or write words of 32 bits; a tensor product reads them by itself.
        let short = |&i: &usize| {
            let Some(step) = &steps[i] else {
                return false;
            };
            let given = step.dst.iter().any(|made| results.contains(&made.value));
            let reads = matches!(step.kernel, Kernel::Tensor(_)) && !given;
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

/// One step of several, in their order.
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
        let act = match step.kernel {
            Kernel::Add(_) => Act::Add,
            Kernel::Sub(_) => Act::Sub,
            Kernel::Neg(_) => Act::Neg,
            Kernel::Mul(_) => Act::Mul,
            Kernel::Mac(_) => Act::Mac,
            Kernel::Muli(_, w) => Act::Combine(vec![q.shoup(w)]),
            Kernel::Addi(_, w) => Act::Addi(w),
            Kernel::Dot(_) => Act::Dot,
            Kernel::Tensor(_) => Act::Tensor,
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
        kernel: Kernel::Pass(Pass { q, deeds, between }),
        op,
        instr,
        src: src.into(),
        dst: dst.into(),
        room: Box::default(),
    })
}

/// Sums of multiples become one sum each, reduced once.
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
