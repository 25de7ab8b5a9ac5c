// SPDX-License-Identifier: Apache-2.0
//! The reference NTT: radix 2 with Harvey's lazy reduction (numbers below 4q between forward stages and below 2q
//! between inverse stages). Additions wrap, so that an input above q gives a wrong residue and no overflow.

use super::NttPlan;
use crate::Shoup;
use crate::plans::Order;

pub(super) fn forward(plan: &NttPlan, limb: &mut [u64], _: Order) {
    let q = plan.q;
    let two_q = 2 * q.value();
    let (mut blocks, mut half) = (1, limb.len() / 2);
    while half > 0 {
        let values = &plan.forward.value[blocks..2 * blocks];
        let quotients = &plan.forward.quotient()[blocks..2 * blocks];
        for ((block, &value), &quotient) in
            limb.chunks_exact_mut(2 * half).zip(values).zip(quotients)
        {
            let w = Shoup { value, quotient };
            let (low, high) = block.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                let u = (*x).min(x.wrapping_sub(two_q));
                let v = q.mul_shoup_lazy(*y, w);
                *x = u.wrapping_add(v);
                *y = u.wrapping_add(two_q).wrapping_sub(v);
            }
        }
        blocks *= 2;
        half /= 2;
    }
    for x in limb {
        *x = q.correct((*x).min(x.wrapping_sub(two_q)));
    }
}

pub(super) fn inverse(plan: &NttPlan, limb: &mut [u64], _: Order) {
    let q = plan.q;
    let two_q = 2 * q.value();
    let (mut blocks, mut half) = (limb.len() / 2, 1);
    while blocks > 1 {
        let values = &plan.inverse.value[blocks..2 * blocks];
        let quotients = &plan.inverse.quotient()[blocks..2 * blocks];
        for ((block, &value), &quotient) in
            limb.chunks_exact_mut(2 * half).zip(values).zip(quotients)
        {
            let w = Shoup { value, quotient };
            let (low, high) = block.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                let (u, v) = (*x, *y);
                let sum = u.wrapping_add(v);
                *x = sum.min(sum.wrapping_sub(two_q));
                *y = q.mul_shoup_lazy(u.wrapping_add(two_q).wrapping_sub(v), w);
            }
        }
        blocks /= 2;
        half *= 2;
    }
    // The last stage also multiplies by 1/n.
    let (low, high) = limb.split_at_mut(half);
    for (x, y) in low.iter_mut().zip(high) {
        let (u, v) = (*x, *y);
        *x = q.mul_shoup(u.wrapping_add(v), plan.n_inv);
        *y = q.mul_shoup(u.wrapping_add(two_q).wrapping_sub(v), plan.n_inv_twiddle);
    }
}
