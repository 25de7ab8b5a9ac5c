// SPDX-License-Identifier: Apache-2.0
//! Computes the weighted sums of a base extension, and their fractions, with 52-bit multiply-add (AVX-512 IFMA).
//!
//! A 64 x 64 product takes seven multiply-adds if it is kept whole. It takes five if an estimate removes the multiple
//! of the modulus p on the way. For terms x_i below 2^b and constants w_i < p, with l <= 2^g terms, let s = max(0, b +
//! g - 52) and W_i = floor(w_i 2^52 / p):
//!
//! - the sum T of the products is kept modulo 2^104, as the 52-bit parts of x_i and w_i without the product of the two
//!   high parts. It takes two multiply-adds, one more if terms need more than 52 bits, and one more if constants do;
//! - the estimate E = sum_i floor((x_i >> s) W_i / 2^52) is below l 2^(52-g) <= 2^52 (one multiply-add).
//!
//! Each term of 2^s E is at most x_i w_i / p and short of it by less than 3 2^s. The three parts
//! are for the cut of x_i, for W_i (as x_i >> s is below 2^52), and for the floor. So
//! R = T - 2^s E p lies in \[0, 3 l 2^s p), for l <= 65 and b <= 61 below 2^24 p < 2^85, and is
//! known exactly from its residue modulo 2^104.
//!
//! Then R = e p + r with e < 2^24 by Barrett, with k = bits of p. floor((R >> (k-2)) floor(2^(50+k) / p) / 2^52) is at
//! most R / p and short of it by less than 1/2 + 1/4 + 1. So one subtraction of p completes r.

use std::arch::x86_64::*;
use std::ops::Range;

use super::BLOCK;
use crate::kernels::Backend;
use crate::simd::{LANES, correct, load, splat, store};
use crate::{Modulus, Shoup};

/// The mask 2^52 - 1 of the low 52 bits.
const LOW: u64 = (1 << 52) - 1;

/// The number of target moduli whose sums are computed together, so that each source residue is loaded and cut once for
/// all of them.
const GROUP: usize = 4;

/// The constants by which a base extension multiplies its terms, in the order in which the kernel reads them.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    terms: usize,
    /// The number s of low bits that are cut from each term x_i before the multiple of the target
    /// modulus in the sum is estimated.
    cut: u32,
    /// Whether a term x_i may need more than 52 bits.
    wide: bool,
    groups: Vec<Group>,
}

/// The constants of the sums modulo up to [`GROUP`] (four) target moduli, which are computed
/// together.
#[derive(Clone, Debug)]
struct Group {
    /// Whether a constant w_i of the group may need more than 52 bits.
    wide: bool,
    reducers: Vec<Reducer>,
    /// For each term and each target modulus p of the group, three numbers: the term's constant w,
    /// the part of w above 52 bits, and floor(w 2^52 / p).
    constants: Vec<[u64; 3]>,
}

/// The constants of a target modulus p for the final reduction of a sum to its residue modulo p.
#[derive(Clone, Copy, Debug)]
struct Reducer {
    p: u64,
    /// The constant 2^104 - 2^s p for the target modulus p, as its low and its high 52 bits. s is
    /// the number of bits that are cut from the terms before the estimate.
    minus_low: u64,
    minus_high: u64,
    /// The constant floor(2^(50+k) / p) by which the quotient of a sum by the target modulus p is estimated. k is the
    /// number of bits of p.
    ratio: u64,
    /// The shift k - 2 by which a sum is cut before its quotient by the target modulus p is
    /// estimated. k is the number of bits of p.
    shift: u32,
}

impl Packed {
    /// Prepares constants for terms below 2^`bits`. `rows` has for each target a list of at most 65 constants, all
    /// lists of one length.
    pub(super) fn new(bits: u32, targets: &[Modulus], rows: &[Vec<Shoup>]) -> Self {
        let terms = rows.first().map_or(0, Vec::len);
        let growth = terms.max(1).next_power_of_two().trailing_zeros();
        let cut = (bits + growth).saturating_sub(52);
        let groups = targets
            .chunks(GROUP)
            .zip(rows.chunks(GROUP))
            .map(|(targets, rows)| Group {
                wide: targets.iter().any(|p| p.bits() > 52),
                reducers: targets.iter().map(|p| Reducer::new(*p, cut)).collect(),
                constants: (0..terms)
                    .flat_map(|i| rows.iter().filter_map(move |row| row.get(i)))
                    .map(|w| [w.value, w.value >> 52, w.quotient >> 12])
                    .collect(),
            })
            .collect();
        Self {
            terms,
            cut,
            wide: bits > 52,
            groups,
        }
    }
}

impl Reducer {
    fn new(p: Modulus, cut: u32) -> Self {
        let minus = (1u128 << 104) - (u128::from(p.value()) << cut);
        Self {
            p: p.value(),
            minus_low: minus as u64 & LOW,
            minus_high: (minus >> 52) as u64,
            ratio: ((1u128 << (50 + p.bits())) / u128::from(p.value())) as u64,
            shift: p.bits() - 2,
        }
    }

    /// Returns the residue modulo the target modulus p of a sum of products. `low` and `high` are
    /// the parts of the sum (lanes below 2^63). `estimate` times 2^s p is the multiple of p to
    /// subtract, where s is the number of bits that were cut from the terms.
    #[inline(always)]
    unsafe fn reduce(&self, low: __m512i, high: __m512i, estimate: __m512i) -> __m512i {
        // SAFETY: the caller enables AVX-512 F, DQ and IFMA.
        unsafe {
            let (minus_low, minus_high) = (splat(self.minus_low), splat(self.minus_high));
            let (mask, p) = (splat(LOW), splat(self.p));
            let zero = _mm512_setzero_si512();
            // R, as a low part below 2^52 and the high part.
            let low = _mm512_madd52lo_epu64(low, estimate, minus_low);
            let high = _mm512_madd52hi_epu64(high, estimate, minus_low);
            let high = _mm512_madd52lo_epu64(high, estimate, minus_high);
            let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
            let (low, high) = (_mm512_and_si512(low, mask), _mm512_and_si512(high, mask));
            // R >> shift: a count of 64 or more shifts everything out.
            let shift = u64::from(self.shift);
            let up = _mm512_sllv_epi64(high, splat(52u64.wrapping_sub(shift)));
            let down = _mm512_srlv_epi64(high, splat(shift.wrapping_sub(52)));
            let top = _mm512_or_si512(
                _mm512_or_si512(up, down),
                _mm512_srlv_epi64(low, splat(shift)),
            );
            let quotient = _mm512_madd52hi_epu64(zero, top, splat(self.ratio));
            let word = _mm512_add_epi64(low, _mm512_slli_epi64::<52>(high));
            let rest = _mm512_sub_epi64(word, _mm512_mullo_epi64(quotient, p));
            correct(rest, p)
        }
    }
}

/// Writes the sums of a base extension's terms times constants, modulo target modulus number j, to `output[j][at]`, for
/// the coefficients that fill whole vectors of eight. Returns their number, which is 0 if this thread's kernels do not
/// use AVX-512 IFMA.
pub(super) fn weighted_sums(
    packed: &Packed,
    y: &[u64],
    output: &mut [&mut [u64]],
    at: &Range<usize>,
) -> usize {
    let done = at.len() - at.len() % LANES;
    if Backend::current() != Backend::Avx512Ifma || packed.terms == 0 || done == 0 {
        return 0;
    }
    // Bounds are checked here, once: the kernel works on pointers.
    let y = &y[..(packed.terms - 1) * BLOCK + done];
    let groups = packed.groups.iter().zip(output.chunks_mut(GROUP));
    for (group, output) in groups {
        let mut out = [std::ptr::null_mut(); GROUP];
        for (pointer, limb) in out.iter_mut().zip(output) {
            *pointer = limb[at.start..at.start + done].as_mut_ptr();
        }
        let width = group.reducers.len();
        // SAFETY: the backend is only in force where the processor has its features; row i of y is valid for `done`
        // words, as is every output of the group.
        unsafe {
            match width {
                4 => by_width::<2, 4>(packed, group, y.as_ptr(), out, done),
                3 => by_width::<2, 3>(packed, group, y.as_ptr(), out, done),
                2 => by_width::<4, 2>(packed, group, y.as_ptr(), out, done),
                _ => by_width::<8, 1>(packed, group, y.as_ptr(), out, done),
            }
        }
    }
    done
}

/// Computes the sums of one group of `J` target moduli with as few multiply-adds as its terms and constants allow.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn by_width<const V: usize, const J: usize>(
    packed: &Packed,
    group: &Group,
    y: *const u64,
    out: [*mut u64; GROUP],
    len: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match (packed.wide, group.wide) {
            (true, true) => group_sums::<V, J, true, true>(packed, group, y, out, len),
            (true, false) => group_sums::<V, J, true, false>(packed, group, y, out, len),
            (false, true) => group_sums::<V, J, false, true>(packed, group, y, out, len),
            (false, false) => group_sums::<V, J, false, false>(packed, group, y, out, len),
        }
    }
}

/// Computes the sums of terms times constants modulo the `J` target moduli of one group, `V` vectors of
/// coefficients at a time. Terms may have more than 52 bits with `TERMS`, and constants with `CONSTANTS`.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn group_sums<const V: usize, const J: usize, const TERMS: bool, const CONSTANTS: bool>(
    packed: &Packed,
    group: &Group,
    y: *const u64,
    out: [*mut u64; GROUP],
    len: usize,
) {
    let full = len - len % (V * LANES);
    // SAFETY: the caller's promise.
    unsafe {
        for c in (0..full).step_by(V * LANES) {
            vector_sums::<V, J, TERMS, CONSTANTS>(packed, group, y, out, c);
        }
        for c in (full..len).step_by(LANES) {
            vector_sums::<1, J, TERMS, CONSTANTS>(packed, group, y, out, c);
        }
    }
}

/// Computes the sums of terms times constants modulo the `J` target moduli of one group for `V` vectors of
/// coefficients, from coefficient c on.
#[inline(always)]
unsafe fn vector_sums<const V: usize, const J: usize, const TERMS: bool, const CONSTANTS: bool>(
    packed: &Packed,
    group: &Group,
    y: *const u64,
    out: [*mut u64; GROUP],
    c: usize,
) {
    // SAFETY: the pointers are valid from c on for V vectors; the caller enables the features.
    unsafe {
        let zero = _mm512_setzero_si512();
        let cut = _mm_cvtsi64_si128(i64::from(packed.cut));
        let (mut low, mut high, mut estimate) = ([[zero; J]; V], [[zero; J]; V], [[zero; J]; V]);
        for (i, constants) in group.constants.chunks_exact(J).enumerate() {
            let x: [__m512i; V] = std::array::from_fn(|v| load(y.add(i * BLOCK + c + v * LANES)));
            let x_high: [__m512i; V] = std::array::from_fn(|v| _mm512_srli_epi64::<52>(x[v]));
            let x_cut: [__m512i; V] = std::array::from_fn(|v| _mm512_srl_epi64(x[v], cut));
            for (j, [w, w_high, ratio]) in constants.iter().enumerate() {
                let (w, w_high, ratio) = (splat(*w), splat(*w_high), splat(*ratio));
                for v in 0..V {
                    low[v][j] = _mm512_madd52lo_epu64(low[v][j], x[v], w);
                    high[v][j] = _mm512_madd52hi_epu64(high[v][j], x[v], w);
                    estimate[v][j] = _mm512_madd52hi_epu64(estimate[v][j], x_cut[v], ratio);
                    if CONSTANTS {
                        high[v][j] = _mm512_madd52lo_epu64(high[v][j], x[v], w_high);
                    }
                    if TERMS {
                        high[v][j] = _mm512_madd52lo_epu64(high[v][j], x_high[v], w);
                    }
                }
            }
        }
        for (j, (reducer, out)) in group.reducers.iter().zip(out).enumerate() {
            for v in 0..V {
                let sum = reducer.reduce(low[v][j], high[v][j], estimate[v][j]);
                store(out.add(c + v * LANES), sum);
            }
        }
    }
}
