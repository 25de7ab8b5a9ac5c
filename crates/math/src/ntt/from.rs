//! Transforms that start from residues of another prime: in one go, in which order, or as a conversion and a transform.

use std::time::Duration;

use super::{Difference, NttPlan, avx512};
use crate::kernels::{conv_add, forced_backend};
use crate::plans::{self, Choice, Chosen, Planned, Scratch, Settling, Task};
use crate::{Backend, Modulus};

/// The candidate that is no fused transform but its two halves; those before it are the orders of a fused one.
const APART: u8 = plans::ORDERS.len() as u8;

/// The transform that reads another limb ([`NttPlan::forward_from`]), where it is in force and was found to be faster
/// than its two halves, with what follows it, if anything does. Gives whether it was done. All limbs have the plan's length.
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
    let order = match forced_backend() {
        Some(_) => Some(0),
        None => fused(plan, from),
    };
    order.is_some_and(|k| avx512::forward_from(plan, out, a, from, w, end, plans::ORDERS[k]))
}

/// The order of the fused transform, where it is the faster way.
fn fused(plan: &NttPlan, from: Modulus) -> Option<usize> {
    let (shape, cell) = plan.shape(Task::ForwardFrom);
    let k = match plans::chosen(cell?) {
        Chosen::Is(k) => k,
        Chosen::Busy => 0,
        Chosen::NotYet => settle_from(plan, from, plans::patience(shape.log_n)).unwrap_or(0),
    };
    (avx512::reads(plan, from) && k != APART).then_some(usize::from(k))
}

/// Chooses how limbs of residues of `from` are transformed.
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
    if n < avx512::MIN_LEN
        || plans::policy().level < Backend::Avx512Ifma
        || !avx512::reads(plan, from)
    {
        return None;
    }
    let (shape, cell) = plan.shape(Task::ForwardFrom);
    let bytes = n * size_of::<u64>();
    let mut ids: Vec<u8> = plans::orders(bytes).map(|k| k as u8).collect();
    ids.push(APART);
    let (mut input, mut output) = (Scratch::default(), Scratch::default());
    let run = &mut |k: u8| {
        let (a, out) = (input.limb(n), output.limb(n));
        match plans::ORDERS.get(usize::from(k)) {
            Some(&order) => _ = avx512::forward_from(plan, out, a, from, 1, None, order),
            // The lengths are equal.
            None => _ = conv_add(from, plan.q, out, a, 1).and_then(|()| plan.forward(out)),
        }
    };
    let name = &|k: u8| match plans::ORDERS.get(usize::from(k)) {
        Some(&order) => format!("ifma fused, {}", plans::order_name(order, bytes)),
        None => "apart".to_owned(),
    };
    let settling = Settling {
        shape,
        cell: cell?,
        ids: &ids,
        name,
        bytes: 2 * bytes as u64,
    };
    settling.settle(patience, run)
}
