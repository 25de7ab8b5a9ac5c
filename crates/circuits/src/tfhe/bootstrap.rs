// SPDX-License-Identifier: Apache-2.0
//! Blind rotation: the accumulator times X^(a_i s_i), bit by bit or m bits at a time, without knowing s.
//!
//! For one bit a step is ACC += BK_i x (X^a_i - 1) ACC. For m bits (torus paper, Section III-E; Zhou et al., IEEE Access
//! 2018) it is ACC += the sum over the patterns u of (X^(a u) - 1) (BK_u x ACC), where BK_u encrypts whether the bits are
//! u and a u is the sum of the exponents that u has: the accumulator is decomposed and transformed once for m bits.
//!
//! The steps of math are called in turn: rotate-and-subtract, decompose, transform, accumulate over the key's rows,
//! for several patterns weigh and combine, transform back. Everything is in buffers of [`Workspace`]. Where words of 32
//! bits serve ([`Params::narrow`]), they do from the first step to the last.

use ringmill_math::torus::{NarrowKey, NarrowRing, TransformedKey, rotate_sub};

use super::params::Params;
use super::shared::weigh;
use super::{LookupTable, TfheError};

/// The buffers of one bootstrap, made once and used for many.
pub struct Workspace {
    /// Exponents of the mask and the body.
    pub(super) exponents: Vec<usize>,
    /// k + 1 polynomials.
    pub(super) acc: Vec<u64>,
    /// The accumulator of a table that shares its rotation.
    pub(super) weighed: Vec<u64>,
    /// An LWE ciphertext under the large key.
    pub(super) large: Vec<u64>,
    /// One under the small key.
    pub(super) small: Vec<u64>,
    /// (X^a - 1) times one polynomial of the accumulator.
    difference: Vec<u64>,
    wide: Wide,
    narrow: Narrow,
}

/// A bootstrapping key in transform form.
pub enum RotationKey {
    Wide(TransformedKey),
    Narrow(NarrowKey),
}

impl RotationKey {
    /// Bytes of all.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Wide(key) => key.bytes(),
            Self::Narrow(key) => key.bytes(),
        }
    }
}

/// Buffers of words of 64 bits; empty where those of 32 serve.
#[derive(Default)]
struct Wide {
    /// A lane's digits, (k + 1) l polynomials.
    digits: Vec<u64>,
    /// A lane's sums for each pattern, k + 1 polynomials each.
    sums: Vec<u64>,
    /// A lane's X^(a u) - 1 for each pattern.
    weights: Vec<u64>,
    /// The transform of what the accumulator grows by, in each lane.
    update: [Vec<u64>; 2],
}

/// Buffers of words of 32 bits; empty where they do not serve.
#[derive(Default)]
struct Narrow {
    /// k + 1 polynomials.
    acc: Vec<u32>,
    /// (X^a - 1) times one of them.
    difference: Vec<u32>,
    /// (k + 1) l polynomials.
    digits: Vec<u32>,
    /// X^(a u) - 1 for each pattern.
    weights: Vec<u32>,
    /// The transform of what the accumulator grows by.
    update: Vec<u32>,
}

impl Workspace {
    pub(super) fn new(params: &Params) -> Self {
        let s = params.sizes();
        let (n, cols) = (s.degree(), s.k.0 + 1);
        let (wide, narrow) = match params.narrow() {
            None => (Wide::new(params), Narrow::default()),
            Some(ring) => (Wide::default(), Narrow::new(params, ring)),
        };
        Self {
            exponents: vec![0; s.n.0 + 1],
            acc: vec![0; cols * n],
            weighed: vec![0; cols * n],
            large: vec![0; s.large_dimension() + 1],
            small: vec![0; s.n.0 + 1],
            difference: vec![0; n],
            wide,
            narrow,
        }
    }
}

/// The patterns that are weighed in a step: none of one bit.
fn weighed(params: &Params) -> usize {
    match params.sizes().unrolling.m() {
        1 => 0,
        _ => params.sizes().unrolling.patterns(),
    }
}

impl Wide {
    fn new(params: &Params) -> Self {
        let (s, ring, patterns) = (params.sizes(), params.ring(), weighed(params));
        let (n, cols) = (s.degree(), s.k.0 + 1);
        Self {
            digits: vec![0; s.rows() * n],
            sums: vec![0; patterns * cols * n],
            weights: vec![0; patterns * n],
            update: [vec![0; cols * n], vec![0; cols * n * (ring.lanes() - 1)]],
        }
    }
}

impl Narrow {
    fn new(params: &Params, ring: &NarrowRing) -> Self {
        let s = params.sizes();
        let (n, cols) = (s.degree(), s.k.0 + 1);
        Self {
            acc: vec![0; cols * n],
            difference: vec![0; n],
            digits: vec![0; s.rows() * n],
            weights: vec![0; weighed(params) * ring.weight_words()],
            update: vec![0; cols * n],
        }
    }
}

impl Workspace {
    /// `weighed` is [`weigh`] of the accumulator.
    pub(super) fn weigh(&mut self, params: &Params, table: &LookupTable) -> Result<(), TfheError> {
        let turned = &mut self.difference;
        weigh(params, table, &self.acc, turned, &mut self.weighed)
    }
}

/// Turns `work.acc` by the exponents in `work.exponents` (the mask's) under encryption.
pub(super) fn blind_rotate(
    params: &Params,
    key: &RotationKey,
    work: &mut Workspace,
) -> Result<(), TfheError> {
    match (key, params.narrow()) {
        (RotationKey::Wide(key), _) => {
            for step in 0..params.sizes().steps() {
                match params.sizes().unrolling.m() {
                    1 => one_bit(params, key, step, work)?,
                    _ => several_bits(params, key, step, work)?,
                }
            }
        }
        (RotationKey::Narrow(key), Some(ring)) => {
            let (exponents, narrow) = (&work.exponents, &mut work.narrow);
            for (narrow, &x) in narrow.acc.iter_mut().zip(&work.acc) {
                *narrow = x as u32;
            }
            for step in 0..params.sizes().steps() {
                narrow_step(params, ring, key, step, exponents, narrow)?;
            }
            for (x, &narrow) in work.acc.iter_mut().zip(&narrow.acc) {
                *x = narrow.into();
            }
        }
        (RotationKey::Narrow(key), None) => {
            return Err(TfheError::Dimension {
                what: "words of 32 bits of a bootstrapping key",
                expected: 0,
                got: key.bytes() / size_of::<u32>(),
            });
        }
    }
    Ok(())
}

/// The pattern u of a step's exponents: the sum of those that it has.
fn exponent(exponents: &[usize], u: usize) -> usize {
    let chosen = exponents.iter().enumerate();
    chosen.map(|(t, &a)| (u >> t & 1) * a).sum()
}

/// [`one_bit`] or [`several_bits`] in words of 32 bits.
fn narrow_step(
    params: &Params,
    ring: &NarrowRing,
    key: &NarrowKey,
    step: usize,
    exponents: &[usize],
    work: &mut Narrow,
) -> Result<(), TfheError> {
    let (gadget, s) = (params.bootstrap_gadget(), params.sizes());
    let (n, m) = (s.degree(), s.unrolling.m());
    let first = step * m;
    let exponents = &exponents[first..(first + m).min(s.n.0)];
    if exponents.iter().all(|&a| a == 0) {
        return Ok(());
    }
    let digits = work.digits.chunks_mut(gadget.levels() * n);
    for (digits, x) in digits.zip(work.acc.chunks(n)) {
        match exponents {
            [a] if m == 1 => {
                ring.rotate_sub(&mut work.difference, x, *a)?;
                ring.decompose(gadget, digits, &work.difference)?;
            }
            _ => ring.decompose(gadget, digits, x)?,
        }
        ring.forward(digits)?;
    }
    let patterns = if m == 1 {
        0
    } else {
        (1 << exponents.len()) - 1
    };
    let weights = &mut work.weights[..patterns * ring.weight_words()];
    for (u, weight) in (1..).zip(weights.chunks_mut(ring.weight_words())) {
        ring.monomial(exponent(exponents, u), weight)?;
    }
    ring.accumulate(key.step(step), &work.digits, weights, &mut work.update)?;
    for (acc, update) in work.acc.chunks_mut(n).zip(work.update.chunks_mut(n)) {
        ring.inverse_add(update, acc)?;
    }
    Ok(())
}

/// ACC += BK x (X^a - 1) ACC.
fn one_bit(
    params: &Params,
    key: &TransformedKey,
    step: usize,
    work: &mut Workspace,
) -> Result<(), TfheError> {
    let (ring, gadget, n) = (
        params.ring(),
        params.bootstrap_gadget(),
        params.sizes().degree(),
    );
    let a = work.exponents[step];
    if a == 0 {
        return Ok(());
    }
    for lane in 0..ring.lanes() {
        let digits = work.wide.digits.chunks_mut(gadget.levels() * n);
        for (digits, x) in digits.zip(work.acc.chunks(n)) {
            rotate_sub(params.coefficients(), &mut work.difference, x, a)?;
            ring.decompose(lane, gadget, digits, &work.difference)?;
            ring.forward(lane, digits)?;
        }
        let rows = key.rows(lane, step);
        ring.accumulate(
            lane,
            key.shape(),
            &work.wide.digits,
            rows,
            &mut work.wide.update[lane],
        )?;
    }
    add_update(params, work)
}

/// ACC += the sum over patterns u of (X^(a u) - 1) (BK_u x ACC).
fn several_bits(
    params: &Params,
    key: &TransformedKey,
    step: usize,
    work: &mut Workspace,
) -> Result<(), TfheError> {
    let (ring, gadget, s) = (params.ring(), params.bootstrap_gadget(), params.sizes());
    let (n, cols, m) = (s.degree(), s.k.0 + 1, s.unrolling.m());
    let first = step * m;
    let bits = m.min(s.n.0 - first);
    let patterns = (1 << bits) - 1;
    for lane in 0..ring.lanes() {
        let digits = work.wide.digits.chunks_mut(gadget.levels() * n);
        for (digits, x) in digits.zip(work.acc.chunks(n)) {
            ring.decompose(lane, gadget, digits, x)?;
            ring.forward(lane, digits)?;
        }
        let (sums, weights) = (
            &mut work.wide.sums[..patterns * cols * n],
            &mut work.wide.weights[..patterns * n],
        );
        let each = sums.chunks_mut(cols * n).zip(weights.chunks_mut(n));
        for (u, (sums, weight)) in (1usize..).zip(each) {
            let at = step * s.unrolling.patterns() + u - 1;
            ring.accumulate(
                lane,
                key.shape(),
                &work.wide.digits,
                key.rows(lane, at),
                sums,
            )?;
            let exponents = &work.exponents[first..first + bits];
            ring.monomial(lane, exponent(exponents, u), weight)?;
        }
        ring.combine(lane, cols, weights, sums, &mut work.wide.update[lane])?;
    }
    add_update(params, work)
}

/// ACC += what the update is the transform of.
fn add_update(params: &Params, work: &mut Workspace) -> Result<(), TfheError> {
    let (ring, n) = (params.ring(), params.sizes().degree());
    let [first, second] = &mut work.wide.update;
    let mut second = second.chunks_mut(n);
    for (acc, first) in work.acc.chunks_mut(n).zip(first.chunks_mut(n)) {
        ring.inverse_add(first, second.next().unwrap_or_default(), acc)?;
    }
    Ok(())
}
