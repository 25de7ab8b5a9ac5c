// SPDX-License-Identifier: Apache-2.0
//! Computes the 32-bit NTT in plain Rust, radix 2, for any processor. Its loops have no branches, so that compilers can
//! vectorise them.
//!
//! With `LAZY` (q < 2^30) numbers stay below 4q between forward stages and below 2q between inverse stages. Otherwise
//! they are residues throughout. Additions wrap, so that an input above q gives a wrong residue and no overflow.

use super::{Constant32, Ntt32, Twiddles32};
use crate::plans::Order;

/// Runs the forward transform of a limb of 32-bit words.
pub(super) fn forward(plan: &Ntt32, limb: &mut [u32], _: Order) {
    match plan.q.bits() {
        ..=30 => forward_with::<true>(plan, limb),
        _ => forward_with::<false>(plan, limb),
    }
}

/// Runs the inverse transform of a limb of 32-bit words.
pub(super) fn inverse(plan: &Ntt32, limb: &mut [u32], _: Order) {
    match plan.q.bits() {
        ..=30 => inverse_with::<true>(plan, limb),
        _ => inverse_with::<false>(plan, limb),
    }
}

/// Returns x - m if x is at least m, otherwise x.
#[inline(always)]
fn correct(x: u32, m: u32) -> u32 {
    x.min(x.wrapping_sub(m))
}

/// Returns a number congruent to x * w modulo q. With `LAZY` it is below 2q, for any x; otherwise
/// it is below q.
#[inline(always)]
fn mul<const LAZY: bool>(x: u32, w: Constant32, q: u32) -> u32 {
    let quotient = ((u64::from(x) * u64::from(w.quotient)) >> 32) as u32;
    if LAZY {
        // Below 2q < 2^32: the low word is all of it.
        return x
            .wrapping_mul(w.value)
            .wrapping_sub(quotient.wrapping_mul(q));
    }
    let rest = u64::from(x) * u64::from(w.value) - u64::from(quotient) * u64::from(q);
    rest.min(rest.wrapping_sub(q.into())) as u32
}

/// Returns (x + y, x - y) modulo q. With `LAZY` x and y are below 2q and the results below 4q.
/// Otherwise all are residues.
#[inline(always)]
fn sum_difference<const LAZY: bool>(x: u32, y: u32, q: u32) -> (u32, u32) {
    if LAZY {
        let above = q.wrapping_mul(2);
        return (x.wrapping_add(y), x.wrapping_add(above).wrapping_sub(y));
    }
    let (x, y, q) = (u64::from(x), u64::from(y), u64::from(q));
    let (sum, difference) = (x + y, (x + q).wrapping_sub(y));
    let reduce = |x: u64| x.min(x.wrapping_sub(q)) as u32;
    (reduce(sum), reduce(difference))
}

/// Runs `butterfly` on every pair of coefficients of the NTT stage that has `blocks` blocks. Block
/// i has the twiddle at index `blocks` + i of `twiddles`.
#[inline(always)]
fn stage(
    twiddles: &Twiddles32,
    limb: &mut [u32],
    blocks: usize,
    butterfly: impl Fn(u32, u32, Constant32) -> (u32, u32),
) {
    let half = limb.len() / (2 * blocks);
    for (i, block) in limb.chunks_exact_mut(2 * half).enumerate() {
        let w = twiddles.at(blocks + i);
        let (low, high) = block.split_at_mut(half);
        for (x, y) in low.iter_mut().zip(high) {
            (*x, *y) = butterfly(*x, *y, w);
        }
    }
}

fn forward_with<const LAZY: bool>(plan: &Ntt32, limb: &mut [u32]) {
    let q = plan.q.value() as u32;
    // Only read with `LAZY`, where it fits.
    let two_q = q.wrapping_mul(2);
    let mut blocks = 1;
    while blocks < limb.len() {
        stage(&plan.forward, limb, blocks, |x, y, w| {
            let x = if LAZY { correct(x, two_q) } else { x };
            sum_difference::<LAZY>(x, mul::<LAZY>(y, w, q), q)
        });
        blocks *= 2;
    }
    if LAZY {
        for x in limb {
            *x = correct(correct(*x, two_q), q);
        }
    }
}

fn inverse_with<const LAZY: bool>(plan: &Ntt32, limb: &mut [u32]) {
    let q = plan.q.value() as u32;
    let two_q = q.wrapping_mul(2);
    let mut blocks = limb.len() / 2;
    while blocks > 1 {
        stage(&plan.inverse, limb, blocks, |x, y, w| {
            let (sum, difference) = sum_difference::<LAZY>(x, y, q);
            let sum = if LAZY { correct(sum, two_q) } else { sum };
            (sum, mul::<LAZY>(difference, w, q))
        });
        blocks /= 2;
    }
    // The last stage also multiplies by 1/n.
    stage(&plan.inverse, limb, 1, |x, y, _| {
        let (sum, difference) = sum_difference::<LAZY>(x, y, q);
        let products = (
            mul::<LAZY>(sum, plan.n_inv, q),
            mul::<LAZY>(difference, plan.n_inv_twiddle, q),
        );
        if LAZY {
            (correct(products.0, q), correct(products.1, q))
        } else {
            products
        }
    });
}
