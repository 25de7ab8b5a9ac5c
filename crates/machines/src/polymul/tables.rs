// SPDX-License-Identifier: Apache-2.0
//! Computes the tables of a modulus for the multiplier: constants and twiddles, multiplied by the Montgomery factor.

use std::sync::Arc;

use ringmill_math::primes::is_prime;
use ringmill_math::{Modulus, NttPlan, Ring};

use super::shape::WIDTH;
use super::{Degree, PolymulError, Shape};
use crate::MachineError;

/// log2 of the Montgomery factor R = 2^33: `NttFriendly` of `rm_arith_pkg`.
const LOG_R: u64 = 33;

/// The multiplier's tables for one degree and modulus, and the software transform that the hardware must equal.
#[derive(Clone)]
pub struct Tables {
    degree: Degree,
    plan: Arc<NttPlan>,
    /// R^2 and R mod q, with R the Montgomery factor and q the modulus.
    constants: [u32; 2],
    twiddles: Vec<u32>,
}

impl Tables {
    /// Computes the tables for `Z_q[x] / (x^n + 1)` on `shape`. R = 2^33 is the Montgomery factor of the hardware,
    /// whose multiplier removes three words of 11 bits from a product. Twiddle i > 0 is psi^bitrev(i) R mod q for
    /// the smallest primitive 2n-th root psi, and twiddle 0 is psi^(n/2) R^2 mod q.
    ///
    /// # Errors
    /// [`PolymulError`] (inside [`MachineError::Own`]) for a degree or modulus that the machine does not support.
    pub fn new(shape: Shape, n: usize, q: u64) -> Result<Self, MachineError> {
        let degree = shape.degree(n)?;
        check_modulus(degree, q)?;
        // A degree is at most 2^16.
        let plan = NttPlan::shared(Modulus::new(q)?, Ring::full(degree.log_n() as u8))?;
        let modulus = plan.modulus();
        let r = modulus.pow(2, LOG_R);
        let scale = modulus.mul(r, r);
        // Words are below q, which is below 2^32.
        let word = |x: u64| x as u32;
        let mut twiddles: Vec<u32> = plan
            .forward_twiddles()
            .iter()
            .map(|&w| word(modulus.mul(w, r)))
            .collect();
        if let [first, root, ..] = &mut twiddles[..] {
            *first = word(modulus.mul(u64::from(*root), r));
        }
        Ok(Self {
            degree,
            plan,
            constants: [word(scale), word(r)],
            twiddles,
        })
    }

    pub fn degree(&self) -> Degree {
        self.degree
    }

    /// Returns the software transform that the hardware must equal.
    pub fn plan(&self) -> &NttPlan {
        &self.plan
    }

    pub fn modulus(&self) -> Modulus {
        self.plan.modulus()
    }

    /// The number of beats before the twiddles in the stream that loads a modulus's tables.
    pub const HEADER_BEATS: usize = 2;

    /// Returns the words of the stream that loads the tables of modulus q: beats {q, 0, ..} and {R^2 mod q, R mod
    /// q, 0, ..}, then the twiddles. R is the Montgomery factor.
    pub fn words(&self, shape: Shape) -> Vec<u32> {
        let mut words = vec![0; Self::HEADER_BEATS * shape.beat()];
        words[0] = self.modulus().value() as u32;
        words[shape.beat()..][..2].copy_from_slice(&self.constants);
        words.extend_from_slice(&self.twiddles);
        words
    }

    /// Checks the length and the residues of a limb before it is sent to the multiplier.
    ///
    /// # Errors
    /// [`PolymulError::Length`] for a limb of another degree, [`PolymulError::NotReduced`] for a residue not below the
    /// modulus.
    pub fn check(&self, limb: &[u64]) -> Result<(), PolymulError> {
        if limb.len() != self.degree.n() {
            return Err(PolymulError::Length {
                expected: self.degree.n(),
                got: limb.len(),
            });
        }
        let q = self.modulus().value();
        match limb.iter().position(|&x| x >= q) {
            Some(at) => Err(PolymulError::NotReduced {
                at,
                value: limb[at],
                q,
            }),
            None => Ok(()),
        }
    }
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables")
            .field("degree", &self.degree)
            .field("q", &self.modulus().value())
            .finish()
    }
}

/// Checks that q is a prime of at most 32 bits and 1 mod 2n, for degree n. All moduli in Table 1 of Mert, Öztürk and
/// Savaş (2020) are such primes.
///
/// # Errors
/// [`PolymulError::Even`], [`PolymulError::Range`], [`PolymulError::NotOneModulo`] or [`PolymulError::Composite`]: the
/// first that q fails.
pub fn check_modulus(degree: Degree, q: u64) -> Result<(), PolymulError> {
    let order = 2 * degree.n() as u64;
    if q.is_multiple_of(2) {
        return Err(PolymulError::Even { q });
    }
    if q <= order || q >> WIDTH != 0 {
        return Err(PolymulError::Range {
            q,
            n: degree.n(),
            least: order + 1,
            bits: WIDTH,
        });
    }
    if q % order != 1 {
        return Err(PolymulError::NotOneModulo { q, order });
    }
    if !is_prime(q) {
        return Err(PolymulError::Composite { q });
    }
    Ok(())
}
