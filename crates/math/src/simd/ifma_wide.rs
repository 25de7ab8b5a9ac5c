// SPDX-License-Identifier: Apache-2.0
//! Multiplies by a constant modulo a number above 50 bits, with the quotient from 52-bit multiply-add.

use std::arch::x86_64::*;
use std::sync::OnceLock;

use super::{Chunks, Form, Forms, LazyMul, splat};
use crate::{Modulus, Shoup};

/// 64-bit arithmetic modulo any q, with quotients from 52-bit products (AVX-512 IFMA, F and DQ).
/// With `SMALL` q is below 2^60.
///
/// Let x be a number and w a constant factor. With x = x1 2^32 + x0, d = floor(w 2^32 / q) and f =
/// w 2^32 / q - d, the quotient is x w / q = x1 d + x1 f + x0 w / q. The first term is exact in 64
/// bits. Multiply-add gives the floors of the other two terms and takes the sum in: five
/// instructions where 32-bit products take eight.
///
/// The quotient is short by less than 3: 1 each for the two floors, x1 2^-32 for f known to 32 bits and x0 2^-52 for
/// w / q known to 52. With x < 15 * 2^60, as here, the last two are together below 15/16 + 2^-20 < 1.
#[derive(Clone, Copy)]
pub(crate) struct IfmaWide<const SMALL: bool>;

/// A constant factor w of [`IfmaWide`] in each lane, with its quotients by q.
#[derive(Clone, Copy)]
pub(crate) struct WideConstant {
    value: __m512i,
    quotient_high: __m512i,
    quotient_52: __m512i,
    fraction_52: __m512i,
}

/// A constant factor of [`IfmaWide`] in memory, for vectors whose lanes all multiply by it.
#[derive(Clone, Copy)]
pub(crate) struct WideForm {
    value: u64,
    /// The quotient floor(w 2^32 / q) of the constant factor w, `value`, by the modulus q.
    quotient_high: u64,
    /// The quotient floor(w 2^52 / q) of the constant factor w, `value`, by the modulus q.
    quotient_52: u64,
    /// The lower 32 bits of floor(w 2^64 / q), shifted up to a fraction of 52 bits, for the
    /// constant factor w and the modulus q.
    fraction_52: u64,
}

impl Form for WideForm {
    fn new(_q: Modulus, w: Shoup) -> Self {
        Self {
            value: w.value,
            quotient_high: w.quotient >> 32,
            quotient_52: w.quotient >> 12,
            fraction_52: (w.quotient & 0xffff_ffff) << 20,
        }
    }

    fn kept(tables: &Forms) -> Option<&OnceLock<Vec<Self>>> {
        Some(&tables.wide)
    }
}

/// The constants of a modulus q for the 64-bit arithmetic of [`IfmaWide`], one in each lane.
#[derive(Clone, Copy)]
pub(crate) struct WideContext {
    q: __m512i,
    /// The mask 2^32 - 1, which selects the low half of a 64-bit lane.
    mask: __m512i,
}

/// A 64-bit constant prepared for products of which only the high word is computed. Its form is
/// that of the quotients of [`IfmaWide`].
#[derive(Clone, Copy)]
pub(crate) struct WideQuotient {
    high: __m512i,
    upper_52: __m512i,
    fraction_52: __m512i,
    /// The mask 2^32 - 1, which selects the low half of a 64-bit lane.
    mask: __m512i,
}

impl WideQuotient {
    /// Prepares the 64-bit constant `ratio`, in every lane, for products of which only the high word is wanted.
    ///
    /// # Safety
    /// The processor must have AVX-512 F.
    #[inline(always)]
    pub(crate) unsafe fn new(ratio: u64) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                high: splat(ratio >> 32),
                upper_52: splat(ratio >> 12),
                fraction_52: splat((ratio & 0xffff_ffff) << 20),
                mask: splat(0xffff_ffff),
            }
        }
    }

    /// Returns in each lane an estimate of the high word of x times the constant. The estimate is never above the exact
    /// product over 2^64, and below it by less than 2 + 2^-20.
    ///
    /// # Safety
    /// The processor must have AVX-512 F and IFMA.
    #[inline(always)]
    pub(crate) unsafe fn of(self, x: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            let high = _mm512_srli_epi64::<32>(x);
            let low = _mm512_and_si512(x, self.mask);
            let quotient = mul_low_halves(high, self.high);
            let quotient = _mm512_madd52hi_epu64(quotient, low, self.upper_52);
            _mm512_madd52hi_epu64(quotient, high, self.fraction_52)
        }
    }
}

impl<const SMALL: bool> LazyMul for IfmaWide<SMALL> {
    const BOUND: u64 = 3;
    // Values stay below 12 q < 2^64 with q < 2^60, and below 6 q < 2^64 with q < 2^61.
    const WIDE_RANGE: bool = SMALL;
    const INVERSE: Chunks = Chunks::One;
    type Constant = WideConstant;
    type Form = WideForm;
    type Context = WideContext;

    #[inline(always)]
    unsafe fn context(q: Modulus) -> WideContext {
        // SAFETY: the caller's promise.
        unsafe {
            WideContext {
                q: splat(q.value()),
                mask: splat(0xffff_ffff),
            }
        }
    }

    #[inline(always)]
    unsafe fn constant(value: __m512i, quotient: __m512i) -> WideConstant {
        // SAFETY: the caller's promise. Multiply-add reads the low 52 bits of the fraction: the low half of the
        // quotient, moved up.
        unsafe {
            WideConstant {
                value,
                quotient_high: _mm512_srli_epi64::<32>(quotient),
                quotient_52: _mm512_srli_epi64::<12>(quotient),
                fraction_52: _mm512_slli_epi64::<20>(quotient),
            }
        }
    }

    #[inline(always)]
    unsafe fn broadcast(w: &WideForm) -> WideConstant {
        // SAFETY: the caller's promise.
        unsafe {
            WideConstant {
                value: splat(w.value),
                quotient_high: splat(w.quotient_high),
                quotient_52: splat(w.quotient_52),
                fraction_52: splat(w.fraction_52),
            }
        }
    }

    #[inline(always)]
    unsafe fn mul(x: __m512i, w: WideConstant, context: WideContext) -> __m512i {
        // SAFETY: the caller's promise.
        let [product] = unsafe { Self::mul_many([x], [w], context) };
        product
    }

    #[inline(always)]
    unsafe fn mul_many<const K: usize>(
        mut x: [__m512i; K],
        w: [WideConstant; K],
        context: WideContext,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe {
            let (mut low, mut high, mut quotient) = (x, x, x);
            for k in 0..K {
                high[k] = _mm512_srli_epi64::<32>(x[k]);
                low[k] = _mm512_and_si512(x[k], context.mask);
            }
            for k in 0..K {
                quotient[k] = mul_low_halves(high[k], w[k].quotient_high);
            }
            for k in 0..K {
                quotient[k] = _mm512_madd52hi_epu64(quotient[k], low[k], w[k].quotient_52);
            }
            for k in 0..K {
                quotient[k] = _mm512_madd52hi_epu64(quotient[k], high[k], w[k].fraction_52);
            }
            for k in 0..K {
                x[k] = mul_low(x[k], w[k].value);
            }
            for quotient in &mut quotient {
                *quotient = mul_low(*quotient, context.q);
            }
            for k in 0..K {
                x[k] = _mm512_sub_epi64(x[k], quotient[k]);
            }
            x
        }
    }
}

/// Returns in each lane the product of the low 32 bits of x and y. It is written as an assembler
/// instruction. The compiler sees that the upper bits are zero, and would choose the 64-bit
/// multiplication, which occupies the multiplier three times as long.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn mul_low_halves(x: __m512i, y: __m512i) -> __m512i {
    let product;
    // SAFETY: an instruction on registers alone; the caller enables AVX-512 F.
    unsafe {
        std::arch::asm!("vpmuludq {}, {}, {}", lateout(zmm_reg) product, in(zmm_reg) x, in(zmm_reg) y,
            options(nomem, nostack, preserves_flags));
    }
    product
}

/// Returns in each lane the low word of the product of x and y. It is written as an assembler
/// instruction, so that products of several butterflies stay together.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn mul_low(x: __m512i, y: __m512i) -> __m512i {
    let product;
    // SAFETY: an instruction on registers alone; the caller enables AVX-512 DQ.
    unsafe {
        std::arch::asm!("vpmullq {}, {}, {}", lateout(zmm_reg) product, in(zmm_reg) x, in(zmm_reg) y,
            options(nomem, nostack, preserves_flags));
    }
    product
}
