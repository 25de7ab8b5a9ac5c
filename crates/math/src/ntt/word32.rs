//! The transform of limbs of 32-bit words, for primes below 2^32: half the memory of [`NttPlan`] and twice the lanes.
//!
//! Conventions are those of [`NttPlan`] (smallest psi, bit-reversed evaluation form, half rings), and so are the
//! residues: a limb converted to 64-bit words transforms to the same numbers.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod ifma;
#[cfg(target_arch = "x86_64")]
mod lanes;

use std::sync::{Arc, LazyLock};

use super::{NttPlan, PlanCache, shared};
use crate::kernels::{Backend, check_len};
use crate::{MathError, Modulus, Ring};

/// Twiddles of one direction, as in `Twiddles`, with floor(value * 2^32 / q).
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

/// A constant multiplicand with its quotient floor(value * 2^32 / q) (Shoup's trick).
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

/// Everything needed to transform limbs of 32-bit words of one ring modulo one prime below 2^32.
pub struct Ntt32 {
    q: Modulus,
    /// The same in 64-bit words: its tables serve 52-bit arithmetic.
    wide: NttPlan,
    forward: Twiddles32,
    inverse: Twiddles32,
    /// 1 / n, and the twiddle of the last inverse stage times 1 / n.
    n_inv: Constant32,
    n_inv_twiddle: Constant32,
}

static PLANS: LazyLock<PlanCache<Ntt32>> = LazyLock::new(Default::default);

impl Ntt32 {
    /// Builds the tables. `q` must be a prime below 2^32 that is 1 modulo twice the degree of the full ring. Prefer
    /// [`Ntt32::shared`].
    pub fn new(q: Modulus, ring: Ring) -> Result<Self, MathError> {
        if q.bits() > 32 {
            return Err(MathError::OutOfRange {
                what: "modulus of a 32-bit transform",
                expected: "below 2^32; use NttPlan for larger primes",
                got: q.value().to_string(),
            });
        }
        let wide = NttPlan::new(q, ring)?;
        Ok(Self {
            q,
            forward: Twiddles32::new(q, wide.forward_twiddles()),
            inverse: Twiddles32::new(q, wide.inverse_twiddles()),
            n_inv: constant(q, wide.n_inv.value),
            n_inv_twiddle: constant(q, wide.n_inv_twiddle.value),
            wide,
        })
    }

    /// The plan from a process-wide cache, built on first use.
    pub fn shared(q: Modulus, ring: Ring) -> Result<Arc<Ntt32>, MathError> {
        shared(&PLANS, q, ring, Self::new)
    }

    pub fn modulus(&self) -> Modulus {
        self.q
    }

    pub fn ring(&self) -> Ring {
        self.wide.ring()
    }

    /// The smallest primitive 2N-th root of unity mod q, N being the degree of the full ring.
    pub fn psi(&self) -> u32 {
        self.wide.psi() as u32
    }

    /// Coefficients (below q, natural order) to evaluations (below q, bit-reversed order), in place.
    pub fn forward(&self, limb: &mut [u32]) -> Result<(), MathError> {
        self.check_len(limb)?;
        match Backend::current() {
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512Ifma if limb.len() >= ifma::MIN_LEN => ifma::forward(self, limb),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 | Backend::Avx512Ifma if limb.len() >= avx512::MIN_LEN => {
                avx512::forward(self, limb)
            }
            #[cfg(target_arch = "x86_64")]
            backend if backend != Backend::Scalar && limb.len() >= avx2::MIN_LEN => {
                avx2::forward(self, limb)
            }
            _ => self.forward_scalar(limb),
        }
        Ok(())
    }

    /// Evaluations (below q, bit-reversed order) to coefficients (below q, natural order), in place.
    pub fn inverse(&self, limb: &mut [u32]) -> Result<(), MathError> {
        self.check_len(limb)?;
        match Backend::current() {
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512Ifma if limb.len() >= ifma::MIN_LEN => ifma::inverse(self, limb),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 | Backend::Avx512Ifma if limb.len() >= avx512::MIN_LEN => {
                avx512::inverse(self, limb)
            }
            #[cfg(target_arch = "x86_64")]
            backend if backend != Backend::Scalar && limb.len() >= avx2::MIN_LEN => {
                avx2::inverse(self, limb)
            }
            _ => self.inverse_scalar(limb),
        }
        Ok(())
    }

    fn check_len(&self, limb: &[u32]) -> Result<(), MathError> {
        check_len("limb", self.ring().len(), limb.len())
    }

    /// x * w mod q.
    fn mul(&self, x: u32, w: Constant32) -> u32 {
        let quotient = (u64::from(x) * u64::from(w.quotient)) >> 32;
        let rest = u64::from(x) * u64::from(w.value) - quotient * self.q.value();
        self.q.correct(rest) as u32
    }

    fn add(&self, x: u32, y: u32) -> u32 {
        self.q.add(x.into(), y.into()) as u32
    }

    fn sub(&self, x: u32, y: u32) -> u32 {
        self.q.sub(x.into(), y.into()) as u32
    }

    fn forward_scalar(&self, limb: &mut [u32]) {
        let (mut blocks, mut half) = (1, limb.len() / 2);
        while half > 0 {
            for (i, block) in limb.chunks_exact_mut(2 * half).enumerate() {
                let w = self.forward.at(blocks + i);
                let (low, high) = block.split_at_mut(half);
                for (x, y) in low.iter_mut().zip(high) {
                    let t = self.mul(*y, w);
                    (*x, *y) = (self.add(*x, t), self.sub(*x, t));
                }
            }
            blocks *= 2;
            half /= 2;
        }
    }

    fn inverse_scalar(&self, limb: &mut [u32]) {
        let (mut blocks, mut half) = (limb.len() / 2, 1);
        while blocks > 1 {
            for (i, block) in limb.chunks_exact_mut(2 * half).enumerate() {
                let w = self.inverse.at(blocks + i);
                let (low, high) = block.split_at_mut(half);
                for (x, y) in low.iter_mut().zip(high) {
                    (*x, *y) = (self.add(*x, *y), self.mul(self.sub(*x, *y), w));
                }
            }
            blocks /= 2;
            half *= 2;
        }
        // The last stage also multiplies by 1/n.
        let (low, high) = limb.split_at_mut(half);
        for (x, y) in low.iter_mut().zip(high) {
            (*x, *y) = (
                self.mul(self.add(*x, *y), self.n_inv),
                self.mul(self.sub(*x, *y), self.n_inv_twiddle),
            );
        }
    }
}
