//! y / q as a fixed-point fraction.

#[cfg(target_arch = "x86_64")]
use super::ifma;
use crate::Modulus;
#[cfg(target_arch = "x86_64")]
use crate::kernels::Backend;

/// y / q in units of 2^-51, rounded down, for y below q: the same bits on every path.
///
/// With b = bits of q, y is brought to 52 bits, x = y 2^(52-b) cut to an integer, and multiplied by
/// t = floor(2^(51+b) / q), at most 2^52 - 1: floor(x t / 2^52) is at most 2^51 y / q and short of it by less than
/// [`Fraction::ERROR`]: one from the cut, one from t, one from the floor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction {
    left: u32,
    right: u32,
    ratio: u64,
}

impl Fraction {
    /// Bits behind the point.
    pub(super) const BITS: u32 = 51;
    /// Bound of the error, in units.
    pub(super) const ERROR: u64 = 3;

    pub(super) fn new(q: Modulus) -> Self {
        // 2^52 exactly only when q is a power of two; the largest 52-bit number then stands for it.
        let ratio = ((1u128 << (51 + q.bits())) / u128::from(q.value())) as u64;
        Self {
            left: 52u32.saturating_sub(q.bits()),
            right: q.bits().saturating_sub(52),
            ratio: ratio.min((1 << 52) - 1),
        }
    }

    /// sums_c += y_c / q.
    pub(super) fn add_to(self, sums: &mut [u64], y: &[u64]) {
        let Self { left, right, ratio } = self;
        #[cfg(target_arch = "x86_64")]
        let done = match Backend::current() {
            Backend::Avx512Ifma => ifma::add_fractions(sums, y, left, right, ratio),
            _ => 0,
        };
        #[cfg(not(target_arch = "x86_64"))]
        let done = 0;
        for (sum, &y) in sums.iter_mut().zip(y).skip(done) {
            let x = y << left >> right;
            *sum = sum.wrapping_add(((u128::from(x) * u128::from(ratio)) >> 52) as u64);
        }
    }
}
