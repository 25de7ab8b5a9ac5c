// SPDX-License-Identifier: Apache-2.0
//! Computes the weighted sums of a base extension for residues and moduli below 2^32. A product of 32-bit numbers takes one
//! instruction a vector; a product for any modulus takes three (IFMA) to five.
//!
//! Factors are signed numbers around zero, so that as many products as possible fit 64 bits. With h half the bound of the terms y_i,
//! x_i = y_i - h lies between -h and h, and the constant w_i is taken from -p/2 to p/2. The sum starts at h sum_i w_i, which undoes
//! the subtraction of h. If one more product could overflow, the sum T is folded: T = T_1 2^32 + T_0 becomes T_1 f + T_0, where f is
//! 2^32 modulo p, nearest to zero. The bounds tell beforehand when the sum must be folded.
//!
//! In the end T is at most m in magnitude. It is folded until 2m + p < 2^(31+k), with k = bits of p. Then the least
//! multiple of p that is at least m is added. The result S is T modulo p and lies in \[0, 2^(31+k)), the range of
//! [`ShortReducer`].

mod sums;

use std::arch::x86_64::{__m256i, __m512i};
use std::ops::Range;

use super::BLOCK;
use crate::kernels::Backend;
use crate::simd::short;
#[cfg(doc)]
use crate::simd::short::ShortReducer;
use crate::{Modulus, Shoup, simd, simd256};

/// The number of target moduli whose sums are computed together, so that each residue is loaded once for all of them.
const GROUP: usize = 4;

/// The constants of a base extension for sums of 32-bit products, in the order in which the kernel
/// reads them.
#[derive(Clone, Debug)]
pub(super) struct Short {
    terms: usize,
    /// The number h: half the bound that all terms y_i of a sum are below. A sum multiplies y_i - h
    /// by its constant.
    half: u64,
    groups: Vec<Group>,
    /// For each target modulus, whether it is in one of the `groups`. In none are a power of two, a modulus above 2^32,
    /// and one for which a sum would not fit 64 bits or would take more than two foldings at its end. Another kernel
    /// computes their sums.
    served: Vec<bool>,
}

/// The constants of the sums modulo up to [`GROUP`] (four) target moduli, which are computed
/// together.
#[derive(Clone, Debug)]
struct Group {
    /// The index of the first target modulus of this group among all target moduli; the group's others follow it.
    first: usize,
    ends: Vec<End>,
    /// The constants of each term of a sum for each modulus of the group, in several parts of
    /// successive terms. Between two parts the sums are folded: made smaller, so that they stay
    /// within 64 bits.
    runs: Vec<Vec<[i32; GROUP]>>,
    /// The number of times that the sums are folded (made smaller) after the last term.
    folds: u32,
}

/// The start of a sum modulo a target modulus p, and the constants of its reduction.
#[derive(Clone, Copy, Default, Debug)]
struct End {
    p: u64,
    /// The start of a sum modulo p: h times the sum of its constants w_i. It undoes the subtraction
    /// of h, half the bound of the terms, from each term.
    start: u64,
    /// The number f by which a folding multiplies the upper 32 bits of a sum modulo p: 2^32 modulo
    /// p, nearest to zero.
    fold: i32,
    /// The multiple of the target modulus p that is added to a sum after the last folding, to make
    /// the sum positive.
    lift: u64,
    /// The constant, from [`short::ratio`], by which the last reduction of a sum estimates its
    /// quotient by the target modulus.
    ratio: u64,
    /// The number k of bits of the target modulus p.
    bits: u32,
    /// The bound on the magnitude of a sum of products, after the terms and foldings that were
    /// counted so far.
    most: u128,
}

/// Returns the number nearest to zero that is congruent to w modulo p.
fn centred(w: u64, p: u64) -> i64 {
    match w > p / 2 {
        true => w as i64 - p as i64,
        false => w as i64,
    }
}

impl End {
    fn new(p: Modulus, row: &[Shoup], half: u64) -> Option<Self> {
        let (value, bits) = (p.value(), p.bits());
        if !short::fits(p) {
            return None;
        }
        let sum = row.iter().fold(0, |sum, w| p.add(sum, p.reduce(w.value)));
        Some(Self {
            p: value,
            start: p.mul(p.reduce(half), sum),
            fold: centred((1 << 32) % value, value) as i32,
            lift: 0,
            ratio: short::ratio(p),
            bits,
            most: u128::from(value - 1),
        })
    }

    /// Returns the bound on the magnitude of a sum modulo p after one more folding. Folding makes
    /// T_1 f + T_0 of a sum T_1 2^32 + T_0, where f is 2^32 modulo p, nearest to zero.
    fn folded(&self) -> u128 {
        ((self.most >> 32) + 1) * u128::from(self.p / 2) + (1 << 32)
    }

    /// Returns whether a sum within the bound `most` can be reduced to a residue without another
    /// folding.
    fn ends(&self) -> bool {
        2 * self.most + u128::from(self.p) < 1 << (31 + self.bits)
    }
}

impl Group {
    /// Makes the group of the target moduli `targets`, of which the first has index `first` among all target moduli.
    /// Returns `None` if one of them is a power of two or above 2^32. Also returns `None` if a sum modulo one of them
    /// might not fit 64 bits, or would take more than two foldings at its end.
    fn new(first: usize, targets: &[Modulus], rows: &[Vec<Shoup>], half: u64) -> Option<Self> {
        let ends = targets.iter().zip(rows);
        let ends: Option<Vec<End>> = ends.map(|(p, row)| End::new(*p, row, half)).collect();
        let (mut ends, mut runs) = (ends?, vec![Vec::new()]);
        for i in 0..rows.first().map_or(0, Vec::len) {
            let product = |end: &End| u128::from(half) * u128::from(end.p / 2);
            let fits = |end: &End| end.most + product(end) < 1 << 63;
            let fold = !ends.iter().all(fits);
            if fold {
                runs.push(Vec::new());
            }
            for end in &mut ends {
                if fold {
                    end.most = end.folded();
                }
                if !fits(end) {
                    return None;
                }
                end.most += product(end);
            }
            let mut constants = [0; GROUP];
            for (constant, (row, end)) in constants.iter_mut().zip(rows.iter().zip(&ends)) {
                *constant = centred(row.get(i)?.value, end.p) as i32;
            }
            runs.last_mut()?.push(constants);
        }
        let mut folds = 0;
        while !ends.iter().all(End::ends) {
            if folds == 2 {
                return None;
            }
            folds += 1;
            for end in &mut ends {
                end.most = end.folded();
            }
        }
        for end in &mut ends {
            end.lift = (end.most as u64).div_ceil(end.p) * end.p;
        }
        Some(Self {
            first,
            ends,
            runs,
            folds,
        })
    }
}

impl Short {
    /// Prepares the constants `rows` of the target moduli for sums of terms y_i below `bound`. Returns `None` for a
    /// bound above 2^32.
    pub(super) fn new(bound: u64, targets: &[Modulus], rows: &[Vec<Shoup>]) -> Option<Self> {
        if bound > 1 << 32 {
            return None;
        }
        let (half, mut groups, mut served) = (bound / 2, Vec::new(), vec![false; targets.len()]);
        let mut first = 0;
        while first < targets.len() {
            // The largest group that can begin with this modulus.
            let group = (1..=GROUP).rev().find_map(|count| {
                let range = first..first + count;
                let (targets, rows) = (targets.get(range.clone())?, rows.get(range)?);
                Group::new(first, targets, rows, half)
            });
            let count = group.as_ref().map_or(0, |group| group.ends.len());
            served
                .iter_mut()
                .skip(first)
                .take(count)
                .for_each(|served| *served = true);
            groups.extend(group);
            first += count.max(1);
        }
        Some(Self {
            terms: rows.first().map_or(0, Vec::len),
            half,
            groups,
            served,
        })
    }

    /// Returns whether [`weighted_sums`] computes the sums modulo target modulus number j. If not, another kernel does.
    pub(super) fn has(&self, j: usize) -> bool {
        self.served.get(j).is_some_and(|&served| served)
    }

    /// Returns whether this thread's backend uses these sums of 32-bit products. A backend with
    /// 52-bit products does so only if this table has the constants of every target modulus. It
    /// would compute the few sums that are absent too slowly.
    pub(super) fn serves(&self) -> bool {
        let has = match Backend::current() {
            Backend::Scalar => false,
            Backend::Avx2 | Backend::Avx512 => true,
            Backend::Avx512Ifma => self.served.iter().all(|&served| served),
        };
        has && self.terms > 0
    }
}

/// Writes the sums of terms times constants, modulo each target modulus number j whose constants
/// `short` [has](Short::has) to `output[j][at]`, for the coefficients that fill whole vectors.
/// Returns the number of these coefficients, which is 0 unless [`Short::serves`] is true.
pub(super) fn weighted_sums(
    short: &Short,
    y: &[u64],
    output: &mut [&mut [u64]],
    at: &Range<usize>,
) -> usize {
    let wide = Backend::current() >= Backend::Avx512;
    let lanes = if wide { simd::LANES } else { simd256::LANES };
    let done = at.len() - at.len() % lanes;
    if !short.serves() || done == 0 {
        return 0;
    }
    // Bounds are checked here, once: the kernels work on pointers.
    let y = &y[..(short.terms - 1) * BLOCK + done];
    for group in &short.groups {
        let mut out = [std::ptr::null_mut(); GROUP];
        let output = &mut output[group.first..group.first + group.ends.len()];
        for (pointer, limb) in out.iter_mut().zip(output) {
            *pointer = limb[at.start..at.start + done].as_mut_ptr();
        }
        let (half, y) = (short.half, y.as_ptr());
        // SAFETY: the backends have AVX2 and AVX-512 F; row i of y is valid for `done` words, as is every output of the group.
        unsafe {
            match (group.ends.len(), wide) {
                (4, true) => sums_512::<4>(half, group, y, out, done),
                (3, true) => sums_512::<3>(half, group, y, out, done),
                (2, true) => sums_512::<2>(half, group, y, out, done),
                (_, true) => sums_512::<1>(half, group, y, out, done),
                (4, false) => sums_256::<4>(half, group, y, out, done),
                (3, false) => sums_256::<3>(half, group, y, out, done),
                (2, false) => sums_256::<2>(half, group, y, out, done),
                (_, false) => sums_256::<1>(half, group, y, out, done),
            }
        }
    }
    done
}

/// Computes the sums of one group of target moduli, four coefficients in a vector and two vectors
/// at a time. So each constant is read once for both vectors.
#[target_feature(enable = "avx2")]
unsafe fn sums_256<const J: usize>(
    half: u64,
    group: &Group,
    y: *const u64,
    out: [*mut u64; GROUP],
    len: usize,
) {
    // SAFETY: the feature is enabled here; the rest is the caller's promise.
    unsafe { sums::group_sums::<__m256i, 2, J>(half, group, y, out, len) }
}

/// Computes the sums of one group of target moduli, eight coefficients in a vector and four vectors
/// at a time. The sums of four moduli then take sixteen registers.
#[target_feature(enable = "avx512f")]
unsafe fn sums_512<const J: usize>(
    half: u64,
    group: &Group,
    y: *const u64,
    out: [*mut u64; GROUP],
    len: usize,
) {
    // SAFETY: as above.
    unsafe { sums::group_sums::<__m512i, 4, J>(half, group, y, out, len) }
}
