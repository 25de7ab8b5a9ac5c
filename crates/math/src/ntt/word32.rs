// SPDX-License-Identifier: Apache-2.0
//! Computes the NTT of limbs of 32-bit words, for primes below 2^32. A limb takes half the memory of one of 64-bit
//! words, and a vector has twice the lanes.
//!
//! Conventions are those of [`NttPlan`] (smallest psi, bit-reversed evaluation form, half rings), and so are the
//! results: a limb converted to 64-bit words has the same transform.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod kernels;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod scalar;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use super::{NttPlan, PlanCache, shared};
use crate::kernels::check_len;
use crate::plans::{self, Choice, Task};
use crate::{MathError, Modulus, Ring};

/// The twiddles of one direction of a 32-bit transform, with their quotients floor(value * 2^32 /
/// q). Entry m + i is the twiddle of block i in the stage that works on m blocks of the limb.
struct Twiddles32 {
    value: Vec<u32>,
    quotient: Vec<u32>,
}

impl Twiddles32 {
    fn new(q: Modulus, value: &[u64]) -> Self {
        Self {
            value: value.iter().map(|&w| w as u32).collect(),
            quotient: value.iter().map(|&w| constant(q, w).quotient).collect(),
        }
    }

    fn at(&self, index: usize) -> Constant32 {
        Constant32 {
            value: self.value[index],
            quotient: self.quotient[index],
        }
    }
}

/// A constant factor `value` modulo q with its quotient floor(value * 2^32 / q) (Shoup's trick).
#[derive(Clone, Copy)]
struct Constant32 {
    value: u32,
    quotient: u32,
}

fn constant(q: Modulus, w: u64) -> Constant32 {
    Constant32 {
        value: w as u32,
        quotient: ((w << 32) / q.value()) as u32,
    }
}

/// The tables for transforms of limbs of 32-bit words, for one ring modulo one prime below 2^32.
pub struct Ntt32 {
    q: Modulus,
    /// The plan for limbs of 64-bit words of the same ring and prime. Loops in 52-bit arithmetic
    /// read its tables.
    wide: Arc<NttPlan>,
    forward: Twiddles32,
    inverse: Twiddles32,
    /// The constants of the last inverse stage for a limb of n coefficients: 1 / n, and the stage's
    /// twiddle times 1 / n.
    n_inv: Constant32,
    n_inv_twiddle: Constant32,
}

static PLANS: LazyLock<PlanCache<Ntt32>> = LazyLock::new(Default::default);

impl Ntt32 {
    /// Builds the tables for transforms of limbs of `ring` modulo `q`. `q` must be a prime below 2^32 that is 1 modulo
    /// twice the degree of the full ring. Prefer [`Ntt32::shared`], which keeps them for the process.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for a modulus of 2^32 or more, and the errors of [`NttPlan::new`].
    pub fn new(q: Modulus, ring: Ring) -> Result<Self, MathError> {
        if q.bits() > 32 {
            return Err(MathError::OutOfRange {
                what: "modulus of a 32-bit transform",
                expected: "below 2^32; use NttPlan for larger primes",
                got: q.value().to_string(),
            });
        }
        let wide = NttPlan::shared(q, ring)?;
        Ok(Self {
            q,
            forward: Twiddles32::new(q, wide.forward_twiddles()),
            inverse: Twiddles32::new(q, wide.inverse_twiddles()),
            n_inv: constant(q, wide.n_inv.value),
            n_inv_twiddle: constant(q, wide.n_inv_twiddle.value),
            wide,
        })
    }

    /// Returns the plan of a modulus and a ring from a cache of the process, which builds it on first use.
    ///
    /// # Errors
    /// The errors of [`Ntt32::new`].
    pub fn shared(q: Modulus, ring: Ring) -> Result<Arc<Ntt32>, MathError> {
        shared(&PLANS, q, ring, Self::new)
    }

    pub fn modulus(&self) -> Modulus {
        self.q
    }

    pub fn ring(&self) -> Ring {
        self.wide.ring()
    }

    /// Returns psi, the smallest primitive 2N-th root of unity mod q, where N is the degree of the full ring.
    pub fn psi(&self) -> u32 {
        self.wide.psi() as u32
    }

    /// Transforms coefficients (below q, natural order) to evaluations (below q, bit-reversed order), in place.
    ///
    /// # Errors
    /// [`MathError::Length`] for a limb of another length than the ring's.
    pub fn forward(&self, limb: &mut [u32]) -> Result<(), MathError> {
        self.check_len(limb)?;
        plans::run(self, Task::Forward, limb);
        Ok(())
    }

    /// Transforms evaluations (below q, bit-reversed order) to coefficients (below q, natural order), in place.
    ///
    /// # Errors
    /// [`MathError::Length`] for a limb of another length than the ring's.
    pub fn inverse(&self, limb: &mut [u32]) -> Result<(), MathError> {
        self.check_len(limb)?;
        plans::run(self, Task::Inverse, limb);
        Ok(())
    }

    /// Chooses the kernel of one kind of transform again, as the environment asks for ([`plans`]), and keeps the choice
    /// for the process. If that means timing, it takes about `patience`. Returns `None` if another thread is choosing a
    /// kernel or holds the list that [`plans::made`] returns, or if there is no memory to time kernels.
    pub fn choose(&self, task: Task, patience: Duration) -> Option<Choice> {
        plans::choice(self, task, patience)
    }

    /// Returns the names of the candidate kernels for this plan's transforms on this processor. [`Ntt32::run_on`] takes
    /// such a name. From 2^9 coefficients on, scalar code is a candidate only if there is no other.
    pub fn kernels(&self) -> Vec<String> {
        plans::names(self)
    }

    /// Computes the forward or inverse NTT of a limb in place with one of the kernels that [`Ntt32::kernels`] names,
    /// for tests and measurements. [`Task::ForwardFrom`] stands for the forward NTT here.
    ///
    /// # Errors
    /// [`MathError::Length`] for a limb of another length than the ring's, [`MathError::OutOfRange`] for another
    /// name.
    pub fn run_on(&self, kernel: &str, task: Task, limb: &mut [u32]) -> Result<(), MathError> {
        self.check_len(limb)?;
        plans::run_on(self, kernel, task, limb)
    }

    fn check_len(&self, limb: &[u32]) -> Result<(), MathError> {
        check_len("limb", self.ring().len(), limb.len())
    }
}
