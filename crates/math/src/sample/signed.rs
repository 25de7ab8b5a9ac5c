// SPDX-License-Identifier: Apache-2.0
//! Converts signed integers and real numbers to residues, without branching on any of them.

use crate::kernels::check_len;
use crate::{MathError, Modulus};

/// Defines a function whose plain loop is compiled twice, without and with AVX-512. At run time the function chooses
/// the loop for the backend of its thread.
macro_rules! widest {
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)? $body:block) => {
        $(#[$doc])*
        pub(super) fn $name($($arg: $ty),*) $(-> $result)? {
            #[inline(always)]
            fn plain($($arg: $ty),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq")]
            fn wide($($arg: $ty),*) $(-> $result)? {
                plain($($arg),*)
            }

            match $crate::Backend::current() {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Backend::current` only gives backends whose features the processor has.
                $crate::Backend::Avx512 | $crate::Backend::Avx512Ifma => unsafe { wide($($arg),*) },
                _ => plain($($arg),*),
            }
        }
    };
}
pub(super) use widest;

/// Writes the residues modulo q of signed samples, without branching on them.
///
/// # Errors
/// [`MathError::Length`] if the lengths differ.
pub fn to_limb(q: Modulus, samples: &[i8], out: &mut [u64]) -> Result<(), MathError> {
    check_len("samples", out.len(), samples.len())?;
    if q.value() > 128 {
        lift_i8(q.value(), samples, out);
    } else {
        for (residue, &sample) in out.iter_mut().zip(samples) {
            *residue = q.from_i64(i64::from(sample));
        }
    }
    Ok(())
}

/// Writes the residues modulo q of signed samples, without branching on them, for magnitudes up to the public bound
/// `bound`. If the bound is below the modulus, no division is needed. A sample beyond the bound may give a wrong
/// residue, never a fault.
///
/// # Errors
/// [`MathError::Length`] if the lengths differ.
pub fn to_limb_i64(
    q: Modulus,
    bound: u64,
    samples: &[i64],
    out: &mut [u64],
) -> Result<(), MathError> {
    check_len("samples", out.len(), samples.len())?;
    if bound < q.value() {
        lift_i64(q.value(), samples, out);
    } else {
        reduce_i64(q, samples, out);
    }
    Ok(())
}

/// Writes the residues modulo q of signed samples of any size, without branching on them.
///
/// # Errors
/// [`MathError::Length`] if the lengths differ.
pub fn to_limb_i128(q: Modulus, samples: &[i128], out: &mut [u64]) -> Result<(), MathError> {
    check_len("samples", out.len(), samples.len())?;
    // Shifted to be unsigned; the shift is taken off again modulo q.
    const SHIFT: u128 = 1 << 127;
    let shift = q.reduce_wide(SHIFT);
    for (residue, &sample) in out.iter_mut().zip(samples) {
        let shifted = q.reduce_wide((sample as u128).wrapping_add(SHIFT));
        let difference = shifted.wrapping_sub(shift);
        *residue = difference.min(difference.wrapping_add(q.value()));
    }
    Ok(())
}

/// Writes the integer nearest to each real number, halves away from zero. Magnitudes must be below 2^62; others give
/// wrong integers, never a fault.
///
/// # Errors
/// [`MathError::Length`] if the lengths differ.
pub fn round(reals: &[f64], out: &mut [i64]) -> Result<(), MathError> {
    check_len("reals", out.len(), reals.len())?;
    round_all(reals, out);
    Ok(())
}

/// Returns the largest magnitude of real numbers, or 0 for none. It is infinite if any of them is infinite or not a
/// number.
pub fn largest(reals: &[f64]) -> f64 {
    // Without its sign bit the pattern of a double orders as its magnitude, not-a-number above infinity, where it is cut.
    let infinite = f64::INFINITY.to_bits();
    f64::from_bits(largest_bits(reals).min(infinite))
}

widest! {
    fn largest_bits(reals: &[f64]) -> u64 {
        reals.iter().fold(0, |most, x| most.max(x.abs().to_bits()))
    }
}

widest! {
    /// Writes the residue modulo q of each signed sample x: x + q if x is negative, else x. The
    /// magnitudes of all samples are below q.
    fn lift_i8(q: u64, samples: &[i8], out: &mut [u64]) {
        for (residue, &sample) in out.iter_mut().zip(samples) {
            let x = i64::from(sample);
            *residue = (x as u64).wrapping_add((x >> 63) as u64 & q);
        }
    }
}

widest! {
    /// Writes the residue modulo q of each signed sample x: x + q if x is negative, else x. The
    /// magnitudes of all samples are below q.
    fn lift_i64(q: u64, samples: &[i64], out: &mut [u64]) {
        for (residue, &x) in out.iter_mut().zip(samples) {
            *residue = (x as u64).wrapping_add((x >> 63) as u64 & q);
        }
    }
}

widest! {
    /// Writes residues of any signed samples by Barrett reduction with 32-bit products, which
    /// vectors have. The estimated quotient is short by less than 4: one from the rounded constant,
    /// one each from the fractions of the two cross products, one from the low product.
    fn reduce_i64(modulus: Modulus, samples: &[i64], out: &mut [u64]) {
        let (q, ratio) = (modulus.value(), modulus.shoup(1).quotient);
        let (ratio_high, ratio_low) = (ratio >> 32, ratio & 0xffff_ffff);
        for (residue, &x) in out.iter_mut().zip(samples) {
            let magnitude = x.unsigned_abs();
            let (high, low) = (magnitude >> 32, magnitude & 0xffff_ffff);
            let cross = (high.wrapping_mul(ratio_low) >> 32)
                .wrapping_add(low.wrapping_mul(ratio_high) >> 32);
            let quotient = high.wrapping_mul(ratio_high).wrapping_add(cross);
            let rest = magnitude.wrapping_sub(quotient.wrapping_mul(q));
            let rest = rest.min(rest.wrapping_sub(2 * q));
            let rest = rest.min(rest.wrapping_sub(q));
            let negative = 0u64.wrapping_sub(rest);
            let negative = negative.min(negative.wrapping_add(q));
            let sign = (x >> 63) as u64;
            *residue = (rest & !sign) | (negative & sign);
        }
    }
}

widest! {
    /// Rounds real numbers by the bits of the double, which are mantissa times 2^exponent. For an
    /// exponent of 0 or more the mantissa is shifted left. For a negative one, half a unit is
    /// added, and the mantissa is shifted right.
    fn round_all(reals: &[f64], out: &mut [i64]) {
        for (integer, x) in out.iter_mut().zip(reals) {
            let bits = x.to_bits();
            let exponent = ((bits >> 52 & 0x7ff) as i64).wrapping_sub(1075);
            let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
            // From 54 on the result is zero; a mantissa of 53 bits below 2^62 is shifted left by 9 at most.
            let left = exponent.clamp(0, 10) as u32;
            let right = exponent.wrapping_neg().clamp(0, 54) as u32;
            let half = 1u64.wrapping_shl(right) >> 1;
            let shifted = mantissa.wrapping_shl(left).wrapping_add(half);
            let magnitude = shifted.wrapping_shr(right) as i64;
            let sign = (bits as i64) >> 63;
            *integer = (magnitude ^ sign).wrapping_sub(sign);
        }
    }
}
