// SPDX-License-Identifier: Apache-2.0
//! Bounds the size of a CKKS error at a stated probability of failure.
//!
//! In one slot, given the secret s, the error is a sum of many independent terms, and so close to a complex
//! Gaussian. Its variance V depends on the secret. Rounding errors are multiplied by s, or by s^2 if a ciphertext
//! of three polynomials is rescaled. So V(x) = v_0 + v_1 x + v_2 x^2, where x is |s|^2 over its mean. Over keys and
//! slots, x is exponentially distributed with mean 1. (Key switching multiplies two random polynomials, with the
//! same law.) Therefore
//!
//!   P(|error| > B) = integral of exp(-x - B^2 / V(x)) dx <= (L + 1) e^-L  whenever  x + B^2 / V(x) >= L for all x,
//!
//! as the integrand is then below e^-L for x up to L, and below e^-x beyond it. The least such B^2 is the maximum
//! of (L - x) V(x) over all x.

/// The bits of the failure probability: an error exceeds its bound in some slot with probability at most
/// 2^-FAILURE_BITS.
pub const FAILURE_BITS: u32 = 40;

/// Returns the number L with which bounds on the errors in all of `slots` slots hold, except with probability
/// 2^-[`FAILURE_BITS`]. It solves (L + 1) e^-L slots = 2^-40.
pub fn exponent(slots: usize) -> f64 {
    let wanted = f64::from(FAILURE_BITS) * std::f64::consts::LN_2 + (slots.max(1) as f64).ln();
    // L = wanted + ln(L + 1) by iteration, which is a contraction.
    (0..8).fold(wanted, |l, _| wanted + (l + 1.0).ln())
}

/// Returns the least bound B on an error of variance v_0 + v_1 x + v_2 x^2, where x is |s|^2 over its mean for the
/// secret s. `exponent` is the number L that [`exponent`] returns for a number of slots.
pub fn bound([v0, v1, v2]: [f64; 3], exponent: f64) -> f64 {
    let l = exponent;
    let product = |x: f64| (l - x) * (v0 + x * (v1 + x * v2));
    // The maximum is at the larger root of the derivative, -3 v2 x^2 + 2 (L v2 - v1) x + L v1 - v0. The root is written
    // so that nothing cancels.
    let (a, b, c) = (3.0 * v2, v1 - l * v2, v0 - l * v1);
    let square_root = (b * b - a * c).max(0.0).sqrt();
    let root = if b > 0.0 {
        -c / (b + square_root)
    } else if a > 0.0 {
        (square_root - b) / a
    } else {
        0.0
    };
    let inside = root.clamp(0.0, l);
    product(0.0).max(product(inside)).max(0.0).sqrt()
}
