// SPDX-License-Identifier: Apache-2.0
//! Computes the negacyclic number-theoretic transform (NTT) of one limb and its inverse.
//!
//! The forward transform is Cooley-Tukey's, from natural to bit-reversed order. The inverse is Gentleman-Sande's, from
//! bit-reversed to natural order. One layout of tables serves a full ring and its halves ([`crate::RingKind`]): the
//! transform of a half is the transform of the full ring without its first stage. So only the twiddles differ, and the
//! loops are the same.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "x86_64")]
mod butterfly;
#[cfg(target_arch = "x86_64")]
mod doubles;
#[cfg(target_arch = "x86_64")]
pub(crate) mod from;
mod kernels;
mod scalar;
mod word32;

pub use word32::Ntt32;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock, RwLock};
use std::time::Duration;

use ringmill_limits::room;

use crate::bits::bit_reverse;
use crate::kernels::check_len;
use crate::plans::{self, Choice, Task};
use crate::primes::is_prime;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Factor, Form, Forms};
use crate::wipe::on_a_clean_stack;
use crate::{MathError, Modulus, Ring, Shoup};

/// The most bytes of a plan's tables for each coefficient of the full ring. They hold twiddles, their quotients and
/// their SIMD forms for both directions, and the numbers from which these are computed.
const TABLE_BYTES: u64 = 128;

/// The twiddles of one direction. A stage of the transform works on m blocks of the limb (m = 1, 2, 4, ...). Entry m +
/// i of `value` is the twiddle of block i in the stage of m blocks; entry 0 is unused. Further tables, such as
/// quotients, are computed when a transform first needs them, because a process uses few of them.
struct Twiddles {
    q: Modulus,
    value: Aligned,
    quotient: OnceLock<Aligned>,
    #[cfg(target_arch = "x86_64")]
    factor_52: OnceLock<Aligned>,
    #[cfg(target_arch = "x86_64")]
    doubles: OnceLock<[Aligned; 2]>,
    #[cfg(target_arch = "x86_64")]
    shared: Forms,
}

impl Twiddles {
    fn new(q: Modulus, value: &[u64]) -> Self {
        Self {
            q,
            value: Aligned::new(value.iter().copied()),
            quotient: OnceLock::new(),
            #[cfg(target_arch = "x86_64")]
            factor_52: OnceLock::new(),
            #[cfg(target_arch = "x86_64")]
            doubles: OnceLock::new(),
            #[cfg(target_arch = "x86_64")]
            shared: Forms::default(),
        }
    }

    fn constants(&self) -> impl ExactSizeIterator<Item = Shoup> {
        self.value.iter().map(|&w| self.q.shoup(w))
    }

    /// Returns the quotient floor(w * 2^64 / q) of each twiddle w, for the modulus q.
    fn quotient(&self) -> &[u64] {
        let make = || Aligned::new(self.constants().map(|w| w.quotient));
        self.quotient.get_or_init(make)
    }
}

#[cfg(target_arch = "x86_64")]
impl Twiddles {
    fn forms<F: Form>(&self) -> impl ExactSizeIterator<Item = F> {
        self.constants().map(|w| F::new(self.q, w))
    }

    /// Returns the number of entries in each table of 52-bit arithmetic: one for each twiddle, or 0
    /// if 52-bit arithmetic cannot multiply residues of the prime.
    fn count_52(&self) -> usize {
        match in_52_bits(self.q) {
            true => self.value.len(),
            false => 0,
        }
    }

    /// Returns for each twiddle w modulo q the second factor by which 52-bit arithmetic multiplies.
    /// It is floor(w 2^52 / q), or 2^52 w mod q for q = 2^52 - 2^12 + 1. The slice is empty for
    /// primes whose residues 52-bit arithmetic cannot multiply.
    fn factor_52(&self) -> &[u64] {
        let factors = || self.forms::<Factor>().map(|w| w.factor);
        let make = || Aligned::new(factors().take(self.count_52()));
        self.factor_52.get_or_init(make)
    }

    /// Returns two tables of doubles, as bits: the twiddles, each as the integer nearest to 0 that is congruent to it,
    /// and these integers' quotients by q. Both are empty for primes whose residues 52-bit arithmetic cannot multiply.
    fn doubles(&self) -> [&[u64]; 2] {
        let pairs = || {
            let pairs = self.value.iter();
            let pairs = pairs.map(|&w| crate::doubles::Pair::new(self.q, w));
            pairs.take(self.count_52())
        };
        let [value, ratio] = self.doubles.get_or_init(|| {
            [
                Aligned::new(pairs().map(|pair| pair.value.to_bits())),
                Aligned::new(pairs().map(|pair| pair.ratio.to_bits())),
            ]
        });
        [value, ratio]
    }

    /// Returns the first eighth of the twiddles in form `F`, for the stages in which a whole vector
    /// shares one twiddle. The slice is empty for a form that the loops read from the tables of
    /// values and 52-bit factors.
    fn shared<F: Form>(&self) -> &[F] {
        let make = || self.forms().take(self.value.len() / 8).collect();
        F::kept(&self.shared).map_or(&[], |table| table.get_or_init(make))
    }
}

/// Returns whether 52-bit arithmetic, of integers or of doubles, multiplies residues modulo q.
#[cfg(target_arch = "x86_64")]
fn in_52_bits(q: Modulus) -> bool {
    q.bits() <= 51 || q.value() == crate::simd::Solinas::P
}

/// A table of words that starts on a cache line, so that no vector of it crosses two lines.
struct Aligned {
    words: Vec<u64>,
    start: usize,
}

impl Aligned {
    fn new(items: impl ExactSizeIterator<Item = u64>) -> Self {
        const LINE: usize = 64;
        let mut words: Vec<u64> = Vec::with_capacity(items.len() + LINE / size_of::<u64>());
        // The offset of the first whole line; the capacity holds it, so the words do not move again.
        let start = words
            .as_ptr()
            .align_offset(LINE)
            .min(LINE / size_of::<u64>());
        words.resize(start, 0);
        words.extend(items);
        Self { words, start }
    }
}

impl std::ops::Deref for Aligned {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.words[self.start..]
    }
}

/// The operands of a last step that is fused to a transform with result t. The step computes (minuend - t) * scale,
/// plus an addend if there is one, modulo the plan's modulus. The minuend and the addend are limbs of residues in
/// evaluation form, of the plan's length. `scale` is a constant that [`Modulus::shoup`] made for the plan's modulus.
#[derive(Clone, Copy)]
pub struct Difference<'a> {
    pub minuend: &'a [u64],
    pub scale: Shoup,
    pub addend: Option<&'a [u64]>,
}

/// The tables for transforms of limbs of one ring modulo one prime.
pub struct NttPlan {
    q: Modulus,
    ring: Ring,
    psi: u64,
    zeta: u64,
    forward: Twiddles,
    inverse: Twiddles,
    /// The constants of the last inverse stage for a limb of n coefficients: 1 / n, and the stage's
    /// twiddle times 1 / n.
    n_inv: Shoup,
    n_inv_twiddle: Shoup,
}

/// A cache of transform plans of one kind (64-bit or 32-bit words) by modulus and ring. A process keeps one plan for
/// each key. Two threads that are the first to need it may both build it; then one of the two is dropped.
type PlanCache<P> = RwLock<HashMap<(Modulus, Ring), Arc<P>>>;

static PLANS: LazyLock<PlanCache<NttPlan>> = LazyLock::new(Default::default);

/// Returns the plan of a modulus and a ring from the cache, which builds it on first use.
fn shared<P>(
    plans: &PlanCache<P>,
    q: Modulus,
    ring: Ring,
    build: impl FnOnce(Modulus, Ring) -> Result<P, MathError>,
) -> Result<Arc<P>, MathError> {
    let key = (q, ring);
    // A poisoned lock still guards a whole map: entries are inserted complete.
    if let Some(plan) = plans.read().unwrap_or_else(|e| e.into_inner()).get(&key) {
        return Ok(plan.clone());
    }
    // A limb may be secret, and the last transform may have left a part of its limb on the stack.
    let plan = on_a_clean_stack(|| build(q, ring).map(Arc::new))?;
    Ok(plans
        .write()
        .unwrap_or_else(|e| e.into_inner())
        .entry(key)
        .or_insert(plan)
        .clone())
}

impl NttPlan {
    /// Builds the tables for transforms of limbs of `ring` modulo `q`. `q` must be a prime that is 1 modulo twice the
    /// degree of the full ring (that is, modulo 4n for a half ring of n coefficients). Prefer [`NttPlan::shared`],
    /// which keeps them for the process.
    ///
    /// # Errors
    /// The errors of [`Ring::check`] and [`plans::check_environment`]. [`MathError::NoRootOfUnity`] or
    /// [`MathError::NotPrime`] for another modulus. [`MathError::Halt`] if there is no memory for the tables.
    pub fn new(q: Modulus, ring: Ring) -> Result<Self, MathError> {
        ring.check()?;
        plans::check_environment()?;
        let order = 2u64 << ring.full_log_n();
        if !(q.value() - 1).is_multiple_of(order) {
            return Err(MathError::NoRootOfUnity {
                modulus: q.value(),
                order,
            });
        }
        if !is_prime(q.value()) {
            return Err(MathError::NotPrime { modulus: q.value() });
        }
        room(
            "the tables of a transform",
            TABLE_BYTES << ring.full_log_n(),
        )?;
        let psi = smallest_primitive_root(q, order)?;
        let n = ring.len();
        let powers = bit_reversed_powers(q, psi, ring.full_log_n());
        let value = stage_twiddles(&powers, ring);
        let inverse_powers = bit_reversed_powers(q, q.inv(psi)?, ring.full_log_n());
        let inverse_value = stage_twiddles(&inverse_powers, ring);
        let n_inv = q.inv(n as u64)?;
        let last = inverse_value.get(1).copied().unwrap_or(1);
        Ok(Self {
            q,
            ring,
            psi,
            zeta: value.get(1).copied().unwrap_or(1),
            forward: Twiddles::new(q, &value),
            inverse: Twiddles::new(q, &inverse_value),
            n_inv: q.shoup(n_inv),
            n_inv_twiddle: q.shoup(q.mul(n_inv, last)),
        })
    }

    /// Returns the plan of a modulus and a ring from a cache of the process, which builds it on first use.
    ///
    /// # Errors
    /// The errors of [`NttPlan::new`].
    pub fn shared(q: Modulus, ring: Ring) -> Result<Arc<NttPlan>, MathError> {
        shared(&PLANS, q, ring, Self::new)
    }

    /// Chooses the kernel of one kind of transform again, as the environment asks for ([`plans`]), and keeps the choice
    /// for the process. If that means timing, it takes about `patience`. Returns `None` if another thread is choosing a
    /// kernel or holds the list that [`plans::made`] returns, or if there is no memory to time kernels.
    /// [`Task::ForwardFrom`] is timed on residues modulo the plan's own modulus. For it the result is also `None` if no
    /// kernel changes the modulus within the transform on this CPU, for this modulus and length.
    pub fn choose(&self, task: Task, patience: Duration) -> Option<Choice> {
        #[cfg(target_arch = "x86_64")]
        if task == Task::ForwardFrom {
            return from::choose_from(self, self.q, patience);
        }
        if task == Task::ForwardFrom {
            return None;
        }
        plans::choice(self, task, patience)
    }

    /// Returns the names of the candidate kernels for this plan's forward and inverse transforms on this processor.
    /// [`NttPlan::run_on`] takes such a name. From 2^9 coefficients on, scalar code is a candidate only if there is no
    /// other.
    pub fn kernels(&self) -> Vec<String> {
        plans::names(self)
    }

    /// Computes the forward or inverse NTT of a limb in place with one of the kernels that [`NttPlan::kernels`] names,
    /// for tests and measurements. [`Task::ForwardFrom`] stands for the forward NTT here.
    ///
    /// # Errors
    /// [`MathError::Length`] for a limb of another length than the ring's, [`MathError::OutOfRange`] for another name.
    pub fn run_on(&self, kernel: &str, task: Task, limb: &mut [u64]) -> Result<(), MathError> {
        self.check_len(limb)?;
        plans::run_on(self, kernel, task, limb)
    }

    pub fn modulus(&self) -> Modulus {
        self.q
    }

    pub fn ring(&self) -> Ring {
        self.ring
    }

    /// Returns the smallest primitive 2N-th root of unity mod q, N being the degree of the full ring.
    pub fn psi(&self) -> u64 {
        self.psi
    }

    /// Returns the residue zeta for which the halves of the plan's ring are taken modulo x^n - zeta and x^n + zeta,
    /// where n is half the plan's length. Their product is x^2n - zeta^2, the polynomial of the ring. For a full ring
    /// of degree N, zeta is psi^(N/2), the root of -1 of equation 2 of the Medha paper, where psi is [`NttPlan::psi`].
    pub fn zeta(&self) -> u64 {
        self.zeta
    }

    /// Returns the forward twiddles. Entry m + i is the twiddle of block i in the stage that works
    /// on m blocks of the limb; entry 0 is unused and has the value 1.
    pub fn forward_twiddles(&self) -> &[u64] {
        &self.forward.value
    }

    /// Returns the inverse twiddles in the layout of [`NttPlan::forward_twiddles`]. They do not
    /// contain the factor 1/n of the inverse transform of n coefficients.
    pub fn inverse_twiddles(&self) -> &[u64] {
        &self.inverse.value
    }

    /// Transforms coefficients (below q, natural order) to evaluations (below q, bit-reversed order), in place.
    ///
    /// # Errors
    /// [`MathError::Length`] for a limb of another length than the ring's.
    pub fn forward(&self, limb: &mut [u64]) -> Result<(), MathError> {
        self.transform(Task::Forward, limb)
    }

    /// Transforms evaluations (below q, bit-reversed order) to coefficients (below q, natural order), in place.
    ///
    /// # Errors
    /// [`MathError::Length`] for a limb of another length than the ring's.
    pub fn inverse(&self, limb: &mut [u64]) -> Result<(), MathError> {
        self.transform(Task::Inverse, limb)
    }

    /// Computes out = the transform of (a mod q) + w modulo the plan's modulus q, for a limb a of residues modulo
    /// `from`. One call does a change of modulus, the addition of a constant and [`NttPlan::forward`]. Any w will do,
    /// because it is reduced first; `from` may be q itself.
    ///
    /// # Errors
    /// [`MathError::Length`] for a limb of another length than the ring's.
    pub fn forward_from(
        &self,
        out: &mut [u64],
        a: &[u64],
        from: Modulus,
        w: u64,
    ) -> Result<(), MathError> {
        self.check_len(out)?;
        self.check_len(a)?;
        #[cfg(target_arch = "x86_64")]
        if from::forward_from(self, out, a, from, w, None) {
            return Ok(());
        }
        crate::kernels::conv_add(from, self.q, out, a, w)?;
        self.forward(out)
    }

    /// Computes out = (minuend - t) * scale, plus an addend if there is one, where t is the result of
    /// [`NttPlan::forward_from`]. One call also does the last step of a division by a modulus.
    ///
    /// # Errors
    /// [`MathError::Length`] for a limb of another length than the ring's.
    pub fn difference_from(
        &self,
        out: &mut [u64],
        a: &[u64],
        from: Modulus,
        w: u64,
        end: Difference<'_>,
    ) -> Result<(), MathError> {
        self.check_len(out)?;
        self.check_len(a)?;
        self.check_len(end.minuend)?;
        end.addend.map_or(Ok(()), |c| self.check_len(c))?;
        #[cfg(target_arch = "x86_64")]
        if from::forward_from(self, out, a, from, w, Some(end)) {
            return Ok(());
        }
        self.forward_from(out, a, from, w)?;
        crate::kernels::sub_scale_assign(self.q, out, end.minuend, end.scale, end.addend)
    }

    /// Computes the forward NTT ([`NttPlan::forward`]) of several limbs modulo the plan's modulus; the tables stay in
    /// the cache from one limb to the next.
    ///
    /// # Errors
    /// [`MathError::Length`] for a limb of another length than the ring's; then no limb has changed.
    pub fn forward_batch(&self, limbs: &mut [&mut [u64]]) -> Result<(), MathError> {
        limbs.iter().try_for_each(|limb| self.check_len(limb))?;
        limbs.iter_mut().try_for_each(|limb| self.forward(limb))
    }

    /// Computes the inverse NTT ([`NttPlan::inverse`]) of several limbs modulo the plan's modulus.
    ///
    /// # Errors
    /// [`MathError::Length`] for a limb of another length than the ring's; then no limb has changed.
    pub fn inverse_batch(&self, limbs: &mut [&mut [u64]]) -> Result<(), MathError> {
        limbs.iter().try_for_each(|limb| self.check_len(limb))?;
        limbs.iter_mut().try_for_each(|limb| self.inverse(limb))
    }

    fn transform(&self, task: Task, limb: &mut [u64]) -> Result<(), MathError> {
        self.check_len(limb)?;
        plans::run(self, task, limb);
        Ok(())
    }

    fn check_len(&self, limb: &[u64]) -> Result<(), MathError> {
        check_len("limb", self.ring.len(), limb.len())
    }
}

/// Returns the smallest element of multiplicative order exactly `order` (a power of two dividing q - 1) for a prime q.
fn smallest_primitive_root(q: Modulus, order: u64) -> Result<u64, MathError> {
    let minus_one = q.value() - 1;
    let exponent = minus_one / order;
    // Half of all residues give a primitive root here, so 256 trials fail with probability 2^-256 for a prime q.
    let any = (2..258u64)
        .map(|x| q.pow(x, exponent))
        .find(|&y| q.pow(y, order / 2) == minus_one)
        .ok_or(MathError::NoRootOfUnity {
            modulus: q.value(),
            order,
        })?;
    let square = q.shoup(q.mul(any, any));
    let mut power = any;
    let mut smallest = any;
    for _ in 1..order / 2 {
        power = q.mul_shoup(power, square);
        smallest = smallest.min(power);
    }
    Ok(smallest)
}

/// Returns a table whose entry bitrev(i) is root^i, for i below 2^log_n.
fn bit_reversed_powers(q: Modulus, root: u64, log_n: u32) -> Vec<u64> {
    let step = q.shoup(root);
    let mut table = vec![0; 1 << log_n];
    let mut power = 1;
    for i in 0..table.len() {
        table[bit_reverse(i, log_n)] = power;
        power = q.mul_shoup(power, step);
    }
    table
}

/// Returns the twiddles of `ring` out of the table of its full ring. A half's stage of m blocks is
/// the full ring's stage of 2m blocks, restricted to the first or the second half of these blocks.
/// The same rule leads from halves to quarters. So block i of a stage of m blocks has entry k m + i
/// of the full ring's table, where k is the ring's number ([`crate::RingKind::number`]).
fn stage_twiddles(full: &[u64], ring: Ring) -> Vec<u64> {
    let mut table = vec![1; ring.len()];
    let mut m = 1;
    while m < ring.len() {
        let start = usize::from(ring.kind.number()) * m;
        table[m..2 * m].copy_from_slice(&full[start..start + m]);
        m *= 2;
    }
    table
}
