// SPDX-License-Identifier: Apache-2.0
//! AVX-512 arithmetic on eight residues at a time, which transforms and kernels share.
//!
//! Every function here is `inline(always)` and has no target feature of its own. The loop that uses it must enable the
//! features (hence `unsafe`).

mod ifma;
mod ifma_51;
pub(crate) mod ifma_54;
mod ifma_wide;
pub(crate) mod least;
pub(crate) mod short;
mod solinas;

use std::arch::x86_64::*;
use std::sync::OnceLock;

use crate::{Modulus, Shoup};

pub(crate) use ifma::{Ifma, ROOMY, SMALL, SMALL_SPREAD, SPREAD, TIGHT};
pub(crate) use ifma_51::Ifma51;
pub(crate) use ifma_54::Ifma54;
pub(crate) use ifma_wide::{IfmaWide, WideQuotient};
pub(crate) use least::{compares_words, lesser};
pub(crate) use solinas::Solinas;

/// The number of residues in one vector.
pub(crate) const LANES: usize = 8;

/// The number of chunks that a transform takes together through the stages whose butterflies have both operands in one
/// vector, or in a few. A chunk is eight vectors. Instructions on one chunk run while those on another wait. The best
/// number depends on how many other vectors the arithmetic needs, and on how far ahead the processor looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chunks {
    /// Takes one chunk of eight vectors at a time, because registers have no room for two.
    One,
    /// Takes two chunks of eight vectors in turn: a stage of the first, then the same stage of the second.
    Two,
    /// Takes two chunks of eight vectors together: each instruction runs for both chunks before the next instruction.
    TwoInStep,
}

/// Multiplication of residues modulo q by constants, in one width of arithmetic. All but [`Solinas`] use Shoup's trick.
/// Numbers between the stages of a transform have the range that [`LazyMul::WIDE_RANGE`] gives. An arithmetic that
/// replaces the provided functions may let numbers grow further. The numbers of [`Ifma`] are the low 52 bits of each
/// lane, and the bits above are arbitrary, except where a function returns residues.
pub trait LazyMul {
    /// The bound on products: they are below `BOUND` * q for the modulus q.
    const BOUND: u64;
    /// Whether numbers up to 4 `BOUND` q fit a word and may be multiplied. Otherwise numbers stay
    /// below 2 `BOUND` q. Here q is the modulus, and `BOUND` q the bound on products.
    const WIDE_RANGE: bool;
    /// Whether [`LazyMul::constant`] takes, beside a constant's value, the second factor of 52-bit
    /// arithmetic ([`Factor`]). Otherwise it takes the quotient of 64 bits.
    const FACTORS_52: bool = false;
    /// The number of chunks of eight vectors that run together in the last stages of a forward transform.
    const FORWARD: Chunks = Chunks::Two;
    /// The number of chunks of eight vectors that run together in the first stages of an inverse transform.
    const INVERSE: Chunks = Chunks::Two;
    /// A constant factor modulo q in each lane, with the further numbers by which this arithmetic multiplies.
    type Constant: Copy;
    /// The form of a constant factor in memory, if every lane of a vector multiplies by it.
    type Form: Form;
    /// The constants of this arithmetic that depend on the modulus alone.
    type Context: Copy;

    /// Prepares the constants that this arithmetic needs modulo q.
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    unsafe fn context(q: Modulus) -> Self::Context;

    /// Returns a constant factor in each lane from its value and floor(value * 2^64 / q). If
    /// `FACTORS_52` is set, `quotient` is the second factor of 52-bit arithmetic instead
    /// ([`Factor`]).
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    unsafe fn constant(value: __m512i, quotient: __m512i) -> Self::Constant;

    /// Returns one constant factor in every lane, by loads without arithmetic.
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    unsafe fn broadcast(w: &Self::Form) -> Self::Constant;

    /// Returns in each lane a number below `BOUND` * q that is congruent to x * w modulo q. Every arithmetic takes an x
    /// below `BOUND` * q; its own documentation says which larger x it takes.
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    unsafe fn mul(x: __m512i, w: Self::Constant, context: Self::Context) -> __m512i;

    /// Returns numbers below `BOUND` * q that are congruent to x * w modulo q, for K pairs of
    /// vectors x and w together. Instructions on one pair run while those on another wait.
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    #[inline(always)]
    unsafe fn mul_many<const K: usize>(
        mut x: [__m512i; K],
        w: [Self::Constant; K],
        context: Self::Context,
    ) -> [__m512i; K] {
        for k in 0..K {
            // SAFETY: the caller's promise.
            x[k] = unsafe { Self::mul(x[k], w[k], context) };
        }
        x
    }

    /// Reduces x before a forward stage, which adds less than `BOUND` q, so that its results stay in the range of
    /// numbers between stages. Stages come in pairs; `SECOND` says that this is the second of a pair. With `WIDE_RANGE`
    /// x is brought below 2 `BOUND` q before the first stage of a pair and left as it is before the second. Otherwise x
    /// is brought below `BOUND` q before each stage. `bound` is `BOUND` q in each lane.
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    #[inline(always)]
    unsafe fn halve_range<const SECOND: bool, const K: usize>(
        x: [__m512i; K],
        bound: __m512i,
        _context: Self::Context,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe {
            match (Self::WIDE_RANGE, SECOND) {
                (true, true) => x,
                (true, false) => correct_many(x, _mm512_add_epi64(bound, bound)),
                (false, _) => correct_many(x, bound),
            }
        }
    }

    /// Reduces numbers in the range that forward stages keep, below 2 `BOUND` q or, with
    /// `WIDE_RANGE`, below 4 `BOUND` q, to residues below q.
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    #[inline(always)]
    unsafe fn reduce_fully<const K: usize>(
        mut x: [__m512i; K],
        q: __m512i,
        bound: __m512i,
        _context: Self::Context,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe {
            if Self::WIDE_RANGE {
                x = correct_many(x, _mm512_add_epi64(bound, bound));
            }
            x = correct_many(x, bound);
            if Self::BOUND > 2 {
                x = correct_many(x, _mm512_add_epi64(q, q));
            }
            correct_many(x, q)
        }
    }

    /// Reduces numbers in the range that forward stages keep, below 2 `BOUND` q or, with
    /// `WIDE_RANGE`, below 4 `BOUND` q. The results are below 2q if that is cheaper, otherwise
    /// residues below q.
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    #[inline(always)]
    unsafe fn reduce_twice<const K: usize>(
        x: [__m512i; K],
        q: __m512i,
        bound: __m512i,
        context: Self::Context,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe { Self::reduce_fully(x, q, bound, context) }
    }

    /// Computes K forward butterflies (x + w y, x - w y + `BOUND` q), for x that [`LazyMul::halve_range`] has reduced.
    /// `bound` is `BOUND` q in each lane.
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    #[inline(always)]
    unsafe fn butterflies<const K: usize>(
        mut x: [__m512i; K],
        y: [__m512i; K],
        w: [Self::Constant; K],
        bound: __m512i,
        context: Self::Context,
    ) -> ([__m512i; K], [__m512i; K]) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut t = Self::mul_many(y, w, context);
            for k in 0..K {
                let other = _mm512_sub_epi64(_mm512_add_epi64(x[k], bound), t[k]);
                x[k] = _mm512_add_epi64(x[k], t[k]);
                t[k] = other;
            }
            (x, t)
        }
    }

    /// Computes K inverse butterflies (x + y, w (x - y)) for x and y below `BOUND` q. Results are below `BOUND` q,
    /// except that some arithmetics let sums grow ([`LazyMul::reduce_sums`]). `FRESH` says that x and y are below q, so
    /// the sum needs no reduction.
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    #[inline(always)]
    unsafe fn inverse_butterflies<const FRESH: bool, const K: usize>(
        x: [__m512i; K],
        y: [__m512i; K],
        w: [Self::Constant; K],
        bound: __m512i,
        context: Self::Context,
    ) -> ([__m512i; K], [__m512i; K]) {
        // SAFETY: the caller's promise.
        unsafe {
            let (mut sum, difference) = Self::sum_difference(x, y, bound, context);
            if !FRESH {
                sum = Self::reduce_sums(sum, bound, context);
            }
            (sum, Self::mul_many(difference, w, context))
        }
    }

    /// Computes x + y, and x - y made positive by a multiple of q, for K pairs of vectors. The differences are small
    /// enough to be multiplied.
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    #[inline(always)]
    unsafe fn sum_difference<const K: usize>(
        mut x: [__m512i; K],
        mut y: [__m512i; K],
        bound: __m512i,
        context: Self::Context,
    ) -> ([__m512i; K], [__m512i; K]) {
        // SAFETY: the caller's promise.
        unsafe {
            let above = Self::above(bound, context);
            for k in 0..K {
                let sum = _mm512_add_epi64(x[k], y[k]);
                y[k] = _mm512_sub_epi64(_mm512_add_epi64(x[k], above), y[k]);
                x[k] = sum;
            }
            (x, y)
        }
    }

    /// Reduces the sums of inverse butterflies to the range of their operands, below `BOUND` q,
    /// unless this arithmetic lets sums grow.
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    #[inline(always)]
    unsafe fn reduce_sums<const K: usize>(
        x: [__m512i; K],
        bound: __m512i,
        _context: Self::Context,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe { correct_many(x, bound) }
    }

    /// Returns the multiple of q that is added to the difference of an inverse butterfly's
    /// operands, to make it positive.
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    #[inline(always)]
    unsafe fn above(bound: __m512i, _context: Self::Context) -> __m512i {
        bound
    }

    /// Reduces the sums of inverse butterflies, when they are first stored, if they are too large
    /// for this arithmetic's next stages. Otherwise returns them as they are.
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    #[inline(always)]
    unsafe fn settle<const K: usize>(x: [__m512i; K], _context: Self::Context) -> [__m512i; K] {
        x
    }

    /// Reduces products, the results of [`LazyMul::mul_many`], to residues below q.
    ///
    /// # Safety
    /// The processor must have the features of this arithmetic.
    #[inline(always)]
    unsafe fn reduce_products<const K: usize>(
        mut x: [__m512i; K],
        q: __m512i,
        _context: Self::Context,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe {
            if Self::BOUND > 2 {
                x = correct_many(x, _mm512_add_epi64(q, q));
            }
            correct_many(x, q)
        }
    }
}

/// A constant factor that all lanes of a vector share, as it lies in memory: its value, and the
/// other numbers by which an arithmetic multiplies. It holds nothing else, because long tables of
/// such constants do not fit the second-level cache and are read from memory.
pub trait Form: Copy + 'static {
    /// Makes the constant factor w modulo q in this form of an arithmetic.
    fn new(q: Modulus, w: Shoup) -> Self;

    /// Returns the cell of `tables` that keeps a table of constants in this form. It is `None` for
    /// a form that the loops read from the tables of the twiddles' values and 52-bit factors.
    fn kept(tables: &Forms) -> Option<&OnceLock<Vec<Self>>>;
}

/// Copies of the first eighth of a transform's twiddles, in each form that some arithmetic has
/// asked for.
#[derive(Default)]
pub struct Forms {
    split: OnceLock<Vec<Split>>,
    wide: OnceLock<Vec<ifma_wide::WideForm>>,
    of_54: OnceLock<Vec<ifma_54::Form54>>,
}

/// A constant factor of 52-bit arithmetic as it lies in memory: its value and a second factor.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    value: u64,
    /// The second factor by which 52-bit arithmetic multiplies: floor(value * 2^52 / q), or 2^52
    /// value mod q for the prime of [`Solinas`].
    pub(crate) factor: u64,
}

impl Form for Factor {
    fn new(q: Modulus, w: Shoup) -> Self {
        Self {
            value: w.value,
            factor: match q.value() {
                Solinas::P => q.reduce_wide(u128::from(w.value) << 52),
                _ => w.quotient >> 12,
            },
        }
    }

    fn kept(_tables: &Forms) -> Option<&OnceLock<Vec<Self>>> {
        None
    }
}

/// A constant factor of [`DoubleWord`] in memory, for vectors whose lanes all multiply by it.
#[derive(Clone, Copy)]
pub(crate) struct Split {
    value: u64,
    /// The quotient floor(value * 2^64 / q) of the constant factor `value` by the modulus q.
    quotient: u64,
    /// The upper half of the quotient of the constant factor by the modulus q: floor(value * 2^32 /
    /// q).
    quotient_high: u64,
}

impl Form for Split {
    fn new(_q: Modulus, w: Shoup) -> Self {
        Self {
            value: w.value,
            quotient: w.quotient,
            quotient_high: w.quotient >> 32,
        }
    }

    fn kept(tables: &Forms) -> Option<&OnceLock<Vec<Self>>> {
        Some(&tables.split)
    }
}

/// 64-bit arithmetic modulo q with 32-bit products (AVX-512 F and DQ). With `SMALL` q is below
/// 2^60.
pub(crate) struct DoubleWord<const SMALL: bool>;

/// A constant factor w of [`DoubleWord`] modulo q in each lane: w, its quotient floor(w 2^64 / q),
/// and the high half of the quotient shifted down.
#[derive(Clone, Copy)]
pub(crate) struct SplitConstant {
    value: __m512i,
    quotient: __m512i,
    quotient_high: __m512i,
}

impl<const SMALL: bool> LazyMul for DoubleWord<SMALL> {
    // The approximate quotient is short of x w / q by less than 4: one from the rounded constant, one each from the
    // fractions of the two cross products, one from the low product.
    const BOUND: u64 = 4;
    // 16 q < 2^64.
    const WIDE_RANGE: bool = SMALL;
    type Constant = SplitConstant;
    type Form = Split;
    type Context = __m512i;

    #[inline(always)]
    unsafe fn context(q: Modulus) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { splat(q.value()) }
    }

    #[inline(always)]
    unsafe fn constant(value: __m512i, quotient: __m512i) -> SplitConstant {
        // SAFETY: the caller's promise.
        SplitConstant {
            value,
            quotient,
            quotient_high: unsafe { _mm512_srli_epi64::<32>(quotient) },
        }
    }

    #[inline(always)]
    unsafe fn broadcast(w: &Split) -> SplitConstant {
        // SAFETY: the caller's promise.
        unsafe {
            SplitConstant {
                value: splat(w.value),
                quotient: splat(w.quotient),
                quotient_high: splat(w.quotient_high),
            }
        }
    }

    #[inline(always)]
    unsafe fn mul(x: __m512i, w: SplitConstant, q: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            let quotient = mul_high_short(x, w.quotient, w.quotient_high);
            _mm512_sub_epi64(
                _mm512_mullo_epi64(x, w.value),
                _mm512_mullo_epi64(quotient, q),
            )
        }
    }
}

/// Returns x in every lane.
///
/// # Safety
/// The processor must have AVX-512 F.
#[inline(always)]
pub(crate) unsafe fn splat(x: u64) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_set1_epi64(x as i64) }
}

/// Returns x - m in each lane with x >= m, else x.
///
/// # Safety
/// The processor must have AVX-512 F.
#[inline(always)]
pub(crate) unsafe fn correct(x: __m512i, m: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_min_epu64(x, _mm512_sub_epi64(x, m)) }
}

/// Returns x - m in each lane with x >= m, else x, for K vectors. It has a loop and no closure, because a closure does
/// not inherit the target features of the function into which it is inlined.
///
/// # Safety
/// The processor must have AVX-512 F.
#[inline(always)]
pub(crate) unsafe fn correct_many<const K: usize>(mut x: [__m512i; K], m: __m512i) -> [__m512i; K] {
    for x in &mut x {
        // SAFETY: the caller's promise.
        *x = unsafe { correct(*x, m) };
    }
    x
}

/// Returns in each lane the high word of x * y, or one or two less, because the carries of the
/// products of low halves are left out. `y_high` is y >> 32.
///
/// # Safety
/// The processor must have AVX-512 F.
#[inline(always)]
pub(crate) unsafe fn mul_high_short(x: __m512i, y: __m512i, y_high: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe {
        let x_high = _mm512_srli_epi64::<32>(x);
        let cross = _mm512_srli_epi64::<32>(_mm512_mul_epu32(x, y_high));
        let other_cross = _mm512_srli_epi64::<32>(_mm512_mul_epu32(x_high, y));
        _mm512_add_epi64(
            _mm512_mul_epu32(x_high, y_high),
            _mm512_add_epi64(cross, other_cross),
        )
    }
}

/// Returns the whole product x * y in each lane as two words: high, low.
///
/// # Safety
/// The processor must have AVX-512 F.
#[inline(always)]
pub(crate) unsafe fn mul_wide(x: __m512i, y: __m512i) -> (__m512i, __m512i) {
    // SAFETY: the caller's promise.
    unsafe {
        let low_mask = splat(0xffff_ffff);
        let (x_high, y_high) = (_mm512_srli_epi64::<32>(x), _mm512_srli_epi64::<32>(y));
        let low = _mm512_mul_epu32(x, y);
        let cross = _mm512_add_epi64(_mm512_mul_epu32(x_high, y), _mm512_srli_epi64::<32>(low));
        let middle = _mm512_add_epi64(
            _mm512_mul_epu32(x, y_high),
            _mm512_and_si512(cross, low_mask),
        );
        let high = _mm512_add_epi64(
            _mm512_mul_epu32(x_high, y_high),
            _mm512_add_epi64(
                _mm512_srli_epi64::<32>(cross),
                _mm512_srli_epi64::<32>(middle),
            ),
        );
        // Odd 32-bit lanes from the middle sum, even ones from the low product.
        let low = _mm512_mask_blend_epi32(0xaaaa, low, _mm512_slli_epi64::<32>(middle));
        (high, low)
    }
}

/// Loads eight words from memory.
///
/// # Safety
/// p must be readable for 8 words; the processor must have AVX-512 F.
#[inline(always)]
pub(crate) unsafe fn load(p: *const u64) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_loadu_si512(p.cast()) }
}

/// Stores eight words to memory.
///
/// # Safety
/// p must be writable for 8 words; the processor must have AVX-512 F.
#[inline(always)]
pub(crate) unsafe fn store(p: *mut u64, x: __m512i) {
    // SAFETY: the caller's promise.
    unsafe { _mm512_storeu_si512(p.cast(), x) }
}
