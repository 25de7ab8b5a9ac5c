// SPDX-License-Identifier: Apache-2.0
//! NTTs that are fused to the operation before or after them. The first pass may read another limb and convert it to
//! the modulus. The last pass may subtract its results from another limb and scale the differences.

use std::arch::x86_64::__m512i;

use super::forward::forward_rest;
use super::words::{Limb, Sink, Wide};
use super::{load_quarters, store_quarters};
use crate::Modulus;
use crate::frame::on_a_line;
use crate::kernels::conversion::{Converter, Way, by_way, way};
use crate::ntt::butterfly::{Stage, shuffle};
use crate::ntt::{Difference, NttPlan};
use crate::plans::Order;
use crate::simd::{Form, Ifma54, IfmaWide, LANES, LazyMul, load, store};

/// An arithmetic, a way of multiplying residues, in which [`forward_from`] computes. If two
/// arithmetics are right for a modulus, the processor decides which is faster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    Bits54,
    Bits54InStep,
    Bits60,
}

impl Width {
    pub(in crate::ntt) const fn name(self) -> &'static str {
        match self {
            Self::Bits54 => "ifma 54 fused",
            Self::Bits54InStep => "ifma 54 in step fused",
            Self::Bits60 => "ifma 60 fused",
        }
    }
}

/// Returns the arithmetics in which [`forward_from`] can convert from the modulus `from` to the plan's modulus and
/// transform; there may be none. The first one is used until the kernels were timed.
pub fn widths(plan: &NttPlan, from: Modulus) -> &'static [Width] {
    match plan.q.bits() {
        _ if way(from, plan.q).is_none() => &[],
        53..=54 => &[Width::Bits54, Width::Bits54InStep, Width::Bits60],
        55..=60 => &[Width::Bits60],
        _ => &[],
    }
}

/// Computes the forward transform of (a mod q) + w into `out`, for a below `from` and w below q, in one of [`widths`].
/// With `end` it writes (minuend - t) * scale of each result t instead, plus an addend if there is one
/// ([`Difference`]). Returns whether it computed anything.
///
/// # Safety
/// The processor has AVX-512 F, DQ and IFMA, and all limbs have the plan's length, which is at least that of the
/// shortest limb that the AVX-512 loops transform.
pub unsafe fn forward_from(
    plan: &NttPlan,
    out: &mut [u64],
    a: &[u64],
    from: Modulus,
    w: u64,
    end: Option<Difference<'_>>,
    (width, order): (Width, Order),
) -> bool {
    let served = widths(plan, from).contains(&width);
    let Some(way) = way(from, plan.q).filter(|_| served) else {
        return false;
    };
    // SAFETY: the caller's promise.
    unsafe {
        match width {
            Width::Bits54 => bits_54::all(plan, out, a, way, w, end, order),
            Width::Bits54InStep => bits_54_in_step::all(plan, out, a, way, w, end, order),
            Width::Bits60 => bits_60::all(plan, out, a, way, w, end, order),
        }
    }
    true
}

/// Defines in one arithmetic the NTT that is fused with the operation before it and the operation after it.
macro_rules! entry {
    ($name:ident, $arithmetic:ty) => {
        mod $name {
            use super::*;

            /// Computes the forward transform of (a mod q) + w into `out`, for a limb a of residues
            /// of another modulus, reduced in the way `way`, and a residue w. With `end` it writes
            /// the scaled difference of another limb and the transform instead ([`Difference`]).
            ///
            /// # Safety
            /// The processor has AVX-512 IFMA, F and DQ. All limbs have the plan's length, which is at least that of
            /// the shortest limb that the AVX-512 loops transform.
            pub(super) unsafe fn all(
                plan: &NttPlan,
                out: &mut [u64],
                a: &[u64],
                way: Way,
                w: u64,
                end: Option<Difference<'_>>,
                order: Order,
            ) {
                // SAFETY: the caller's promise.
                unsafe {
                    by_way!(way, w != 0, first(plan, out, a, w, order));
                    match end {
                        None => rest(plan, out, order),
                        Some(end) if end.addend.is_none() => {
                            difference::<false>(plan, out, end, order)
                        }
                        Some(end) => difference::<true>(plan, out, end, order),
                    }
                }
            }

            #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
            unsafe fn first<const WAY: u8, const ADD: bool>(
                plan: &NttPlan,
                out: &mut [u64],
                a: &[u64],
                w: u64,
                order: Order,
            ) {
                on_a_line();
                // SAFETY: the caller's promise; the features are enabled here.
                unsafe { super::first::<$arithmetic, WAY, ADD>(plan, out, a, w, order) }
            }

            #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
            unsafe fn rest(plan: &NttPlan, out: &mut [u64], order: Order) {
                on_a_line();
                let p = out.as_mut_ptr();
                // SAFETY: the caller's promise; the features are enabled here.
                unsafe { super::rest::<$arithmetic, _>(plan, p, Limb::<Wide>(p), order) }
            }

            #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
            unsafe fn difference<const ADD: bool>(
                plan: &NttPlan,
                out: &mut [u64],
                end: Difference<'_>,
                order: Order,
            ) {
                on_a_line();
                let p = out.as_mut_ptr();
                // SAFETY: the caller's promise; the features are enabled here.
                unsafe {
                    let sink = Scaled::<$arithmetic, ADD>::new(plan, p, end);
                    super::rest::<$arithmetic, _>(plan, p, sink, order);
                }
            }
        }
    };
}

entry!(bits_54, Ifma54<false>);
entry!(bits_54_in_step, Ifma54<true>);
entry!(bits_60, IfmaWide<true>);

/// Computes the first two forward stages, from the limb `a` to the limb `out`. Before that it
/// converts the residues of `a` to the plan's modulus in the way `WAY`, and with `ADD` adds w.
#[inline(always)]
unsafe fn first<A: LazyMul, const WAY: u8, const ADD: bool>(
    plan: &NttPlan,
    out: &mut [u64],
    a: &[u64],
    w: u64,
    order: Order,
) {
    let quarter = out.len() / 4;
    let (from, to) = (a.as_ptr(), out.as_mut_ptr());
    // SAFETY: both limbs have one length, a multiple of 64; the caller enables the features.
    unsafe {
        let converter = Converter::<WAY, ADD>::new(plan.q, w);
        let stage = Stage::<A>::new(plan, &plan.forward, order);
        let (w, v_low, v_high) = (stage.twiddle(1), stage.twiddle(2), stage.twiddle(3));
        let v = [v_low, v_low, v_high, v_high];
        for k in (0..quarter).step_by(2 * LANES) {
            let mut x = load_quarters::<Wide, 2>(from.add(k), quarter);
            for x in x.iter_mut().flatten() {
                *x = converter.convert(*x);
            }
            let [a, b, c, d] = x;
            let (low, high) = ([a[0], a[1], b[0], b[1]], [c[0], c[1], d[0], d[1]]);
            let (x, y) = stage.forward(low, high, [w; 4]);
            let (low, high) = ([x[0], x[1], y[0], y[1]], [x[2], x[3], y[2], y[3]]);
            let low = stage.before::<true, 4>(low);
            let (x, y) = stage.forward(low, high, v);
            store_quarters(
                to.add(k),
                quarter,
                [[x[0], x[1]], [y[0], y[1]], [x[2], x[3]], [y[2], y[3]]],
            );
        }
    }
}

/// Computes all forward stages of a limb but the first two, from `work` to `out`.
#[inline(always)]
unsafe fn rest<A: LazyMul, S: Sink<A>>(plan: &NttPlan, work: *mut u64, out: S, order: Order) {
    // SAFETY: `work` is valid for the plan's length, and `out` takes it; the caller enables the features.
    unsafe {
        let stage = Stage::<A>::new(plan, &plan.forward, order);
        forward_rest(stage, work, out, plan.ring.len(), 1);
    }
}

/// A receiver of a forward transform's results t. It stores (minuend - t) * scale, plus an addend
/// with `ADD`, as [`Difference`] says.
struct Scaled<A: LazyMul, const ADD: bool> {
    out: *mut u64,
    minuend: *const u64,
    addend: *const u64,
    scale: A::Constant,
}

impl<A: LazyMul, const ADD: bool> Clone for Scaled<A, ADD> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A: LazyMul, const ADD: bool> Copy for Scaled<A, ADD> {}

impl<A: LazyMul, const ADD: bool> Scaled<A, ADD> {
    #[inline(always)]
    unsafe fn new(plan: &NttPlan, out: *mut u64, end: Difference<'_>) -> Self {
        let minuend = end.minuend.as_ptr();
        Self {
            out,
            minuend,
            addend: end.addend.map_or(minuend, <[u64]>::as_ptr),
            // SAFETY: the caller enables the features of A.
            scale: unsafe { A::broadcast(&A::Form::new(plan.q, end.scale)) },
        }
    }
}

impl<A: LazyMul, const ADD: bool> Sink<A> for Scaled<A, ADD> {
    #[inline(always)]
    unsafe fn skip(self, words: usize) -> Self {
        // SAFETY: all limbs have one length, and the place is within it (caller).
        unsafe {
            Self {
                out: self.out.add(words),
                minuend: self.minuend.add(words),
                addend: self.addend.add(words),
                scale: self.scale,
            }
        }
    }

    #[inline(always)]
    unsafe fn put<const K: usize>(self, stage: Stage<A>, x: [__m512i; K], y: [__m512i; K]) {
        // SAFETY: 16 K words of each limb are there (caller), who enables the features of A.
        unsafe {
            for k in 0..K {
                let at = 2 * k * LANES;
                let (x, y) = shuffle(x[k], y[k]);
                let two = |p: *const u64| [load(p.add(at)), load(p.add(at + LANES))];
                let added = if ADD { two(self.addend) } else { [x, y] };
                let [x, y] =
                    stage.difference::<ADD, 2>([x, y], two(self.minuend), self.scale, added);
                store(self.out.add(at), x);
                store(self.out.add(at + LANES), y);
            }
        }
    }
}
