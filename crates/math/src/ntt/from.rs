// SPDX-License-Identifier: Apache-2.0
//! NTTs that start from residues modulo another prime. Such a transform is fused with the
//! conversion, in one of several arithmetics and orders of stages, or it is a conversion and then a
//! transform.

use std::time::Duration;

use super::avx512::Width;
use super::{Difference, NttPlan, avx512};
use crate::kernels::{conv_add, forced_backend};
use crate::plans::{self, Choice, Chosen, Order, Planned, Scratch, Settling, Task};
use crate::{Backend, Modulus};

/// The number of the candidate kernel that is a conversion and a transform one after the other. The candidates with
/// smaller numbers are fused transforms: the orders of stages in each arithmetic of [`avx512::widths`], arithmetic by
/// arithmetic.
const APART: u8 = 3 * plans::ORDERS.len() as u8;

/// Returns the arithmetic, out of `widths`, and the order of stages of candidate kernel number k for a fused transform.
/// Returns `None` if the candidate is a conversion and a transform one after the other, or if its arithmetic is none of
/// `widths`.
pub fn at(widths: &[Width], k: u8) -> Option<(Width, Order)> {
    let (width, order) = (
        usize::from(k) / plans::ORDERS.len(),
        usize::from(k) % plans::ORDERS.len(),
    );
    Some((*widths.get(width)?, plans::ORDERS[order]))
}

/// Returns the numbers of the candidate kernels for a limb of `bytes` bytes, with the arithmetics `widths`. The last
/// candidate is a conversion and a transform one after the other.
pub fn candidates(widths: &[Width], bytes: usize) -> Vec<u8> {
    let orders = || plans::orders(bytes);
    let fused = (0..widths.len()).flat_map(|a| orders().map(move |o| a * plans::ORDERS.len() + o));
    fused.map(|k| k as u8).chain([APART]).collect()
}

/// Computes the NTT of residues of another modulus ([`NttPlan::forward_from`]) as one fused transform. If there is an
/// `end`, the transform also scales the difference of another limb and its results ([`Difference`]). It computes
/// nothing on other backends than AVX-512 IFMA, for limbs that are too short, and for moduli that no fused kernel
/// serves. It also computes nothing if a conversion and a transform one after the other were found to be faster.
/// Returns whether it computed the transform. All limbs have the plan's length.
pub(super) fn forward_from(
    plan: &NttPlan,
    out: &mut [u64],
    a: &[u64],
    from: Modulus,
    w: u64,
    end: Option<Difference<'_>>,
) -> bool {
    if plan.ring.len() < avx512::MIN_LEN || Backend::current() != Backend::Avx512Ifma {
        return false;
    }
    let w = plan.q.reduce(w);
    let k = match forced_backend() {
        Some(_) => 0,
        None => chosen(plan, from),
    };
    // SAFETY: the backend is in force on processors that have it alone, and the lengths are the plan's.
    at(avx512::widths(plan, from), k)
        .is_some_and(|how| unsafe { avx512::forward_from(plan, out, a, from, w, end, how) })
}

/// Returns the number of the candidate kernel that is chosen for the plan's shape. If none is chosen yet, the kernels
/// are timed on residues modulo `from`; the choice then serves every other modulus of residues. The result is the first
/// candidate if another thread is timing the kernels or there is no memory to time them.
fn chosen(plan: &NttPlan, from: Modulus) -> u8 {
    let (shape, cell) = plan.shape(Task::ForwardFrom);
    match cell.map(plans::chosen) {
        None => APART,
        Some(Chosen::Is(k)) => k,
        Some(Chosen::Busy) => 0,
        Some(Chosen::NotYet) => settle_from(plan, from, plans::patience(shape.log_n)).unwrap_or(0),
    }
}

/// Chooses among the candidate kernels that transform limbs of residues modulo `from`, as the environment asks for, and
/// keeps the choice. Timing takes about `patience`. Returns `None` in the cases of [`NttPlan::choose`].
pub(super) fn choose_from(plan: &NttPlan, from: Modulus, patience: Duration) -> Option<Choice> {
    settle_from(plan, from, patience)?;
    let shape = plan.shape(Task::ForwardFrom).0;
    plans::made()
        .into_iter()
        .find(|choice| choice.shape == shape)
}

#[cold]
fn settle_from(plan: &NttPlan, from: Modulus, patience: Duration) -> Option<u8> {
    let n = plan.ring.len();
    let widths = avx512::widths(plan, from);
    if n < avx512::MIN_LEN || plans::policy().level < Backend::Avx512Ifma || widths.is_empty() {
        return None;
    }
    let (shape, cell) = plan.shape(Task::ForwardFrom);
    let bytes = n * size_of::<u64>();
    let (mut input, mut output) = (Scratch::default(), Scratch::default());
    let run = &mut |k: u8| {
        let (a, out) = (input.limb(n), output.limb(n));
        match at(widths, k) {
            // SAFETY: the level allows the backend, and both have the plan's length, which was found long enough.
            Some(how) => _ = unsafe { avx512::forward_from(plan, out, a, from, 1, None, how) },
            // The lengths are equal.
            None => _ = conv_add(from, plan.q, out, a, 1).and_then(|()| plan.forward(out)),
        }
    };
    let name = &|k: u8| match at(widths, k) {
        Some((width, order)) => {
            format!("{}, {}", width.name(), plans::order_name(order, bytes))
        }
        None => "apart".to_owned(),
    };
    let settling = Settling {
        shape,
        cell: cell?,
        ids: &candidates(widths, bytes),
        name,
        bytes: 2 * bytes as u64,
    };
    settling.settle(patience, run)
}
