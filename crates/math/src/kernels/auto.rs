// SPDX-License-Identifier: Apache-2.0
//! Applies the automorphisms a(x) -> a(x^g) for odd g to limbs.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, RwLock};

use super::check_len;
use crate::bits::{bit_reverse, exact_log2};
use crate::{MathError, Modulus, Residues, Ring, RingKind};

/// The most permutations of automorphisms in the cache; beyond this number the cache is emptied.
/// Few rotations are in use at a time, and a caller that goes through all of them must not fill
/// gigabytes.
const MAX_CACHED: usize = 512;

/// The permutation of positions by which an automorphism acts on evaluation form. The value of
/// a(x^g) at psi^e is that of a at psi^(g e), where psi is the 2N-th root of unity of the
/// transform.
pub struct AutoEvalPlan {
    galois: u64,
    /// For each output position i, the input position `source[i]` whose value goes there.
    source: Vec<u32>,
}

/// A cache of automorphisms' permutations by the base-2 logarithm of the ring degree and the Galois
/// element.
type PlanCache = RwLock<HashMap<(u32, u64), Arc<AutoEvalPlan>>>;

static PLANS: LazyLock<PlanCache> = LazyLock::new(Default::default);

impl AutoEvalPlan {
    /// Makes the permutation for a full ring of N = 2^`log_n` coefficients.
    ///
    /// # Errors
    /// [`MathError::RingDegree`] unless `log_n` is from 1 to 17. [`MathError::GaloisElement`] unless `galois` is odd
    /// and below 2N. [`MathError::Halt`] if there is no memory for the table.
    pub fn new(log_n: u32, galois: u64) -> Result<Self, MathError> {
        check_galois(log_n, galois)?;
        ringmill_limits::room("the table of a permutation", 4 << log_n)?;
        let n = 1usize << log_n;
        let mask = 2 * n - 1;
        let source = (0..n).map(|i| {
            let exponent = (2 * bit_reverse(i, log_n) + 1).wrapping_mul(galois as usize) & mask;
            bit_reverse(exponent >> 1, log_n) as u32
        });
        Ok(Self {
            galois,
            source: source.collect(),
        })
    }

    /// Returns the permutation of an automorphism from a cache of the process, which computes it on first use.
    ///
    /// # Errors
    /// The errors of [`AutoEvalPlan::new`].
    pub fn shared(log_n: u32, galois: u64) -> Result<Arc<Self>, MathError> {
        let key = (log_n, galois);
        if let Some(plan) = PLANS.read().unwrap_or_else(|e| e.into_inner()).get(&key) {
            return Ok(plan.clone());
        }
        let plan = Arc::new(Self::new(log_n, galois)?);
        let mut plans = PLANS.write().unwrap_or_else(|e| e.into_inner());
        if plans.len() >= MAX_CACHED {
            plans.clear();
        }
        Ok(plans.entry(key).or_insert(plan).clone())
    }

    /// Returns the Galois element g of the automorphism.
    pub fn galois(&self) -> u64 {
        self.galois
    }

    /// Returns the permutation of the automorphism: output position i takes the value at input
    /// position `sources()[i]`.
    pub fn sources(&self) -> &[u32] {
        &self.source
    }

    /// Computes out(x) = a(x^g), both in evaluation form in the full ring.
    ///
    /// # Errors
    /// [`MathError::Length`] unless both limbs have the length of the plan's ring.
    pub fn apply<'a>(&self, out: &mut [u64], a: impl Into<Residues<'a>>) -> Result<(), MathError> {
        let a = a.into();
        check_len("out", self.source.len(), out.len())?;
        check_len("a", self.source.len(), a.len())?;
        match a {
            Residues::Wide(words) => permute(out, words, &self.source),
            Residues::Short(words) => permute(out, words, &self.source),
        }
        Ok(())
    }

    /// Applies the automorphism of Galois element g to a limb that is held as its two halves in evaluation form. They
    /// are p modulo x^n - zeta and m modulo x^n + zeta, with zeta^2 = -1. The plan is that of the full ring. Each
    /// output half comes from one input half: its own if g = 1 mod 4, the other if g = 3 mod 4.
    ///
    /// # Errors
    /// [`MathError::Length`] unless each half has half the length of the plan's ring.
    pub fn apply_halves(
        &self,
        out_p: &mut [u64],
        out_m: &mut [u64],
        p: &[u64],
        m: &[u64],
    ) -> Result<(), MathError> {
        let half = self.source.len() / 2;
        check_len("out_p", half, out_p.len())?;
        check_len("out_m", half, out_m.len())?;
        check_len("p", half, p.len())?;
        check_len("m", half, m.len())?;
        let (from_p, from_m) = if self.galois & 3 == 1 { (p, m) } else { (m, p) };
        let (source_p, source_m) = self.source.split_at(half);
        for (out, from, source) in [(out_p, from_p, source_p), (out_m, from_m, source_m)] {
            permute(out, from, source);
        }
        Ok(())
    }
}

impl AutoEvalPlan {
    /// Applies the automorphism to one part of a limb, such as a half, in evaluation form. The plan
    /// is that of the full ring. `part` is the output part, and `a` is the input part that
    /// [`Self::source`] returns for it.
    ///
    /// # Errors
    /// [`MathError::Length`] for a part of another full ring, and for limbs of another length than the part's.
    pub fn apply_part(&self, part: Ring, out: &mut [u64], a: &[u64]) -> Result<(), MathError> {
        check_len("out", part.len(), out.len())?;
        check_len("a", part.len(), a.len())?;
        check_len("the full ring", self.source.len(), part.parent().len())?;
        let source = self.source.get(part.first()..part.first() + part.len());
        let source = source.unwrap_or_default();
        permute(out, a, source);
        Ok(())
    }

    /// Returns the input part from which the automorphism takes all values of the output part
    /// `part`. There is one such input part, because the exponents of the roots of a part agree in
    /// their low bits.
    pub fn source(&self, part: Ring) -> RingKind {
        let at = self.source.get(part.first()).map_or(0, |&s| s as usize);
        let number = (1 << part.kind.depth()) + at / part.len().max(1);
        let number = u8::try_from(number).ok();
        number.and_then(RingKind::of_number).unwrap_or(part.kind)
    }
}

/// Writes to each output position i the value at input position `source[i]`, taken modulo the
/// length of `from`, a power of two.
fn permute<W: Word>(out: &mut [u64], from: &[W], source: &[u32]) {
    #[cfg(target_arch = "x86_64")]
    let done = super::permute::permute(out, from, source);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    let mask = from.len().wrapping_sub(1);
    for (o, &s) in out.iter_mut().zip(source).skip(done) {
        *o = from[s as usize & mask].into();
    }
}

/// A word of memory that holds a residue, of 32 or 64 bits.
pub(super) trait Word: Copy + Into<u64> {
    /// Loads eight residues into lanes of 64 bits.
    ///
    /// # Safety
    /// The pointer must be valid for eight words; the processor must have AVX-512 F.
    #[cfg(target_arch = "x86_64")]
    unsafe fn eight(p: *const Self) -> __m512i;
}

impl Word for u64 {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn eight(p: *const u64) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_loadu_si512(p.cast()) }
    }
}

impl Word for u32 {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn eight(p: *const u32) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_cvtepu32_epi64(_mm256_loadu_si256(p.cast())) }
    }
}

/// Computes out(x) = a(x^g) mod x^N + 1 in coefficient form, for the Galois element g = `galois`. N is the length of
/// the limb.
///
/// # Errors
/// [`MathError::Length`] for two lengths, or one that is no power of two. [`MathError::RingDegree`] unless N is from
/// 2 to 2^17. [`MathError::GaloisElement`] unless g is odd and below 2N.
pub fn auto_coeff(q: Modulus, galois: u64, out: &mut [u64], a: &[u64]) -> Result<(), MathError> {
    auto_coeff_by(galois, out, a, |x| q.neg(x))
}

/// Computes out(x) = a(x^g) in coefficient form, as [`auto_coeff`] does, for the Galois element g =
/// `galois`. `neg` is the negation of residues, so that one function serves any modulus.
#[inline]
pub(super) fn auto_coeff_by(
    galois: u64,
    out: &mut [u64],
    a: &[u64],
    neg: impl Fn(u64) -> u64,
) -> Result<(), MathError> {
    check_len("a", out.len(), a.len())?;
    let log_n = limb_log2("limb", a.len())?;
    check_galois(log_n, galois)?;
    let n = a.len();
    let Some(out) = out.get_mut(..n) else {
        return Ok(());
    };
    let step = galois as usize;
    let mut put = |exponent: usize, x: u64| {
        // x^N = -1, so bit log_n of the exponent is the sign. The bits above do not matter, because x^2N = 1.
        out[exponent & (n - 1)] = if exponent & n == 0 { x } else { neg(x) };
    };
    // Four coefficients at a time. The running exponent needs no mask, because a word wraps at a multiple of 2N.
    let (fours, rest) = a.as_chunks::<4>();
    let mut exponent = 0usize;
    for four in fours {
        for (k, &x) in four.iter().enumerate() {
            put(exponent.wrapping_add(step.wrapping_mul(k)), x);
        }
        exponent = exponent.wrapping_add(step.wrapping_mul(4));
    }
    for &x in rest {
        put(exponent, x);
        exponent = exponent.wrapping_add(step);
    }
    Ok(())
}

/// Computes out(x) = a(x^g) in evaluation form of the full ring, for the Galois element g = `galois`. That is a
/// permutation of positions ([`AutoEvalPlan`]).
///
/// # Errors
/// The errors of [`auto_coeff`], and [`MathError::Halt`] if there is no memory for the permutation.
pub fn auto_eval(galois: u64, out: &mut [u64], a: &[u64]) -> Result<(), MathError> {
    AutoEvalPlan::shared(limb_log2("limb", a.len())?, galois)?.apply(out, a)
}

/// Computes out(x) = a(x^g) in evaluation form, for the Galois element g = `galois`, on a limb that is held as the
/// evaluation forms of its halves ([`AutoEvalPlan::apply_halves`]).
///
/// # Errors
/// The errors of [`auto_eval`], where N is twice the length of a half.
pub fn auto_eval_halves(
    galois: u64,
    out_p: &mut [u64],
    out_m: &mut [u64],
    p: &[u64],
    m: &[u64],
) -> Result<(), MathError> {
    AutoEvalPlan::shared(limb_log2("half limb", p.len())? + 1, galois)?
        .apply_halves(out_p, out_m, p, m)
}

/// Returns the base-2 logarithm of a limb's length. It is an error if the length is no power of two.
fn limb_log2(what: &'static str, len: usize) -> Result<u32, MathError> {
    exact_log2(len).ok_or(MathError::Length {
        what,
        expected: len.max(1).next_power_of_two(),
        got: len,
    })
}

fn check_galois(log_n: u32, galois: u64) -> Result<(), MathError> {
    let max = u32::from(Ring::MAX_LOG_N);
    if !(1..=max).contains(&log_n) {
        return Err(MathError::RingDegree {
            got: log_n,
            min: 1,
            max,
        });
    }
    let bound = 2u64 << log_n;
    if galois & 1 == 0 || galois >= bound {
        return Err(MathError::GaloisElement { got: galois, bound });
    }
    Ok(())
}
