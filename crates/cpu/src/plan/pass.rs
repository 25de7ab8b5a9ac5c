// SPDX-License-Identifier: Apache-2.0
//! Runs a pass: several elementwise steps on one block of coefficients of all operands at a time.

use std::ops::Range;

use ringmill_device::plan::{self, Act, At, Deed};
use ringmill_math::kernels::{self, Store};
use ringmill_math::{MathError, Modulus, Residues, ResiduesMut, Shoup};

/// The number of coefficients of a block. Blocks of a few dozen operands fit into the second-level cache, and the
/// blocks of one step into the first.
const BLOCK: usize = 512;

/// The number of coefficients of a block if all words have 32 bits.
const SHORT_BLOCK: usize = 2 * BLOCK;

/// A pass: several elementwise steps modulo one prime, with their constants prepared for multiplication.
pub(crate) struct Pass {
    q: Modulus,
    deeds: Vec<Deed>,
    /// The constants of the pass: a list for each step, empty if the step does not compute a sum of
    /// products with constants.
    constants: Vec<Vec<Shoup>>,
    between: usize,
}

impl From<plan::Pass> for Pass {
    fn from(pass: plan::Pass) -> Self {
        let ready = |deed: &Deed| match &deed.act {
            Act::Combine(constants) => constants.iter().map(|&w| pass.q.shoup(w)).collect(),
            Act::Add
            | Act::Sub
            | Act::Neg
            | Act::Mul
            | Act::Mac
            | Act::Addi(_)
            | Act::Dot
            | Act::Tensor => Vec::new(),
        };
        Self {
            q: pass.q,
            constants: pass.deeds.iter().map(ready).collect(),
            deeds: pass.deeds,
            between: pass.between,
        }
    }
}

/// An operand of a pass: a limb, or a limb of blocks of equal residues, given as one value for each block.
#[derive(Clone, Copy)]
pub(crate) enum Operand<'a> {
    Limb(Residues<'a>),
    Spread(&'a [u64]),
}

impl Operand<'_> {
    /// Prefetches the coefficients `next` of the operand, which the pass reads after the current block.
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

/// Returns the ranges of the blocks, of `block` coefficients each, of a limb of `len` coefficients.
/// With each range comes the next one, which is to be prefetched; it is empty for limbs too short
/// to gain by that.
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
    /// Returns the number of 64-bit words of working memory that [`Pass::run`] needs.
    pub fn scratch_len(&self, operands: usize, results: usize) -> usize {
        (self.between + operands + results) * BLOCK
    }

    /// Returns the rough time of the pass. The unit is the time of one elementwise operation on a limb.
    pub fn weight(&self) -> u64 {
        self.deeds.iter().map(|deed| deed.src.len() as u64).sum()
    }

    /// Returns whether the pass can write all its results past the cache to memory.
    pub fn streams(&self) -> bool {
        let leaves = |deed: &&Deed| deed.dst.iter().any(|at| matches!(at, At::Result(_)));
        (self.deeds.iter().filter(leaves)).all(|deed| matches!(deed.act, Act::Add | Act::Mul))
    }

    /// Computes the results of the pass, which are limbs of one length. `scratch` has [`Pass::scratch_len`] words, and
    /// `store` says whether results are written past the cache.
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
                    Operand::Spread(values) => kernels::fill_blocks(block, values, at.start, len),
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
            for (deed, constants) in self.deeds.iter().zip(&self.constants) {
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
                run(&deed.act, constants, self.q, &mut dst, (src, count), store)?;
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

    /// Runs a pass whose words all have 32 bits. It returns `None` unless every step reads only operands, writes a
    /// result, and has a loop over words of 32 bits.
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

/// Computes one step of a pass on a block. `src` returns one of the step's `count` operands. `constants` are the
/// factors of a step that sums products with constants.
fn run<'v>(
    act: &Act,
    constants: &[Shoup],
    q: Modulus,
    dst: &mut [&mut [u64]; 3],
    (src, count): (impl Fn(usize) -> &'v [u64], usize),
    store: Store,
) -> Result<(), MathError> {
    let [out, second, third] = dst;
    match act {
        Act::Add => kernels::add_stored(q, out, src(0), src(1), store),
        Act::Sub => kernels::sub(q, out, src(0), src(1)),
        Act::Neg => kernels::neg(q, out, src(0)),
        Act::Mul => kernels::mul_stored(q, out, src(0), src(1), store),
        Act::Mac => kernels::mac(q, out, src(0), src(1), src(2)),
        Act::Addi(w) => kernels::add_scalar(q, out, src(0), *w),
        Act::Combine(_) => with_limbs(count, &src, |limbs| {
            kernels::dot_scalars(q, out, limbs, constants)
        }),
        Act::Dot => {
            let terms: Vec<(&[u64], &[u64])> = (0..count / 2)
                .map(|i| (src(2 * i), src(2 * i + 1)))
                .collect();
            kernels::dot(q, out, &terms)
        }
        Act::Tensor => {
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
