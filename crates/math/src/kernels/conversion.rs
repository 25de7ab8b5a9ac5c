// SPDX-License-Identifier: Apache-2.0
//! Converts residues of one modulus to another, eight at a time (AVX-512 IFMA). Conversions run by themselves or as the
//! first step of a transform.

use std::arch::x86_64::*;

use crate::Modulus;
use crate::simd::{correct, splat};

/// The way in which residues modulo an old modulus are reduced modulo a new one, with the fewest
/// instructions that suffice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The residues need no reduction, because the old modulus is at most the new one.
    Same,
    /// The residues need at most one subtraction of the new modulus, because the old one is at most
    /// twice as large.
    Once,
    /// The residues need a division by the new modulus, because the old one is more than twice as
    /// large.
    Divide,
}

/// The most bits by which the old modulus may be longer than the new one if residues are reduced by
/// [`Way::Divide`].
const MORE_BITS: u32 = 40;

/// Returns the way to reduce residues modulo `from` modulo `to`, or `None` if `from` has more than [`MORE_BITS`] bits
/// more than `to`.
pub(crate) fn way(from: Modulus, to: Modulus) -> Option<Way> {
    if from <= to {
        Some(Way::Same)
    } else if from.value() <= 2 * to.value() {
        Some(Way::Once)
    } else {
        (from.bits() <= to.bits() + MORE_BITS).then_some(Way::Divide)
    }
}

pub(crate) const SAME: u8 = Way::Same as u8;
pub(crate) const ONCE: u8 = Way::Once as u8;
pub(crate) const DIVIDE: u8 = Way::Divide as u8;

/// The reduction of x modulo q in the way `WAY` ([`Way`]). With `ADD` a residue w is added to the
/// result, modulo q.
///
/// For division, with k = bits of q, the quotient is estimated as (x >> (k-2)) * floor(2^(50+k) / q) >> 52, both
/// factors below 2^52. The estimate is short of x / q by less than 1/2 for the cut, 2^(42-52) for the constant and 1
/// for the floor. So the remainder comes out below 2q.
#[derive(Clone, Copy)]
pub(crate) struct Converter<const WAY: u8, const ADD: bool> {
    q: __m512i,
    w: __m512i,
    shift: __m512i,
    ratio: __m512i,
}

impl<const WAY: u8, const ADD: bool> Converter<WAY, ADD> {
    /// Prepares the reduction of numbers modulo q in eight lanes. With `ADD` the residue w is added
    /// to each result.
    ///
    /// # Safety
    /// The processor must have AVX-512 F.
    #[inline(always)]
    pub(crate) unsafe fn new(q: Modulus, w: u64) -> Self {
        let k = q.bits();
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                q: splat(q.value()),
                w: splat(w),
                shift: splat(u64::from(k - 2)),
                ratio: splat(((1u128 << (50 + k)) / u128::from(q.value())) as u64),
            }
        }
    }

    /// Returns in each of eight lanes x mod q, plus the residue w modulo q with `ADD`. `WAY` says
    /// how x is reduced.
    ///
    /// # Safety
    /// The processor must have AVX-512 F, DQ and IFMA.
    #[inline(always)]
    pub(crate) unsafe fn convert(self, mut x: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            if WAY == DIVIDE {
                let cut = _mm512_srlv_epi64(x, self.shift);
                let quotient = _mm512_madd52hi_epu64(_mm512_setzero_si512(), cut, self.ratio);
                x = _mm512_sub_epi64(x, _mm512_mullo_epi64(quotient, self.q));
            }
            if WAY != SAME {
                x = correct(x, self.q);
            }
            if ADD {
                x = correct(_mm512_add_epi64(x, self.w), self.q);
            }
            x
        }
    }
}

/// Calls a function with two constant parameters: the [`Way`] in which residues are reduced to
/// another modulus, and whether a constant is added.
macro_rules! by_way {
    ($way:expr, $add:expr, $function:ident($($arg:expr),*)) => {{
        use $crate::kernels::conversion::{DIVIDE, ONCE, SAME, Way};
        match ($way, $add) {
            (Way::Same, false) => $function::<SAME, false>($($arg),*),
            (Way::Same, true) => $function::<SAME, true>($($arg),*),
            (Way::Once, false) => $function::<ONCE, false>($($arg),*),
            (Way::Once, true) => $function::<ONCE, true>($($arg),*),
            (Way::Divide, false) => $function::<DIVIDE, false>($($arg),*),
            (Way::Divide, true) => $function::<DIVIDE, true>($($arg),*),
        }
    }};
}
pub(crate) use by_way;
