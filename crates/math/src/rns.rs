// SPDX-License-Identifier: Apache-2.0
//! Residue number systems (RNS): bases of coprime moduli, composition of integers and fast base extension.

use num_bigint::{BigInt, BigUint};
use num_traits::{ToPrimitive, Zero};

use crate::basext::{BaseExtension, Crt, Targets, check_shapes};
use crate::kernels::{self, check_len};
use crate::{MathError, Modulus, Shoup, WordModulus};

/// A basis of a residue number system: pairwise coprime moduli q_0 ... q_(k-1) with product Q.
#[derive(Clone, Debug)]
pub struct RnsBasis {
    moduli: Vec<Modulus>,
    product: BigUint,
    /// The numbers Q / q_i, one for each modulus q_i, where Q is the product of all moduli.
    punctured: Vec<BigUint>,
    /// The constants (Q / q_i)^-1 mod q_i, one for each modulus q_i, where Q is the product of all moduli.
    inverse_punctured: Vec<Shoup>,
}

impl RnsBasis {
    /// Makes a basis of at least one modulus.
    ///
    /// # Errors
    /// [`MathError::EmptyBasis`] for no moduli, [`MathError::NotCoprime`] if two of them share a factor.
    pub fn new(moduli: Vec<Modulus>) -> Result<Self, MathError> {
        if moduli.is_empty() {
            return Err(MathError::EmptyBasis);
        }
        for (i, a) in moduli.iter().enumerate() {
            for b in &moduli[..i] {
                if a == b || a.inv(b.value()).is_err() {
                    return Err(MathError::NotCoprime {
                        a: b.value(),
                        b: a.value(),
                    });
                }
            }
        }
        let product: BigUint = moduli.iter().map(|q| BigUint::from(q.value())).product();
        let punctured: Vec<BigUint> = moduli.iter().map(|q| &product / q.value()).collect();
        let inverse_punctured = moduli
            .iter()
            .zip(&punctured)
            .map(|(q, p)| Ok(q.shoup(q.inv(reduce_big(p, *q))?)))
            .collect::<Result<_, MathError>>()?;
        Ok(Self {
            moduli,
            product,
            punctured,
            inverse_punctured,
        })
    }

    pub fn moduli(&self) -> &[Modulus] {
        &self.moduli
    }

    /// Returns Q, the product of the moduli.
    pub fn product(&self) -> &BigUint {
        &self.product
    }

    /// Returns Q / q_i for each modulus q_i, where Q is the product of all moduli.
    pub fn punctured_products(&self) -> &[BigUint] {
        &self.punctured
    }

    /// Returns (Q / q_i)^-1 mod q_i for each modulus q_i, where Q is the product of all moduli.
    pub fn inverse_punctured_products(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.inverse_punctured.iter().map(|w| w.value)
    }

    /// Returns the residues of x modulo each of the moduli.
    pub fn decompose(&self, x: &BigUint) -> Vec<u64> {
        self.moduli.iter().map(|q| reduce_big(x, *q)).collect()
    }

    /// Returns the integer x in \[0, Q) with these residues, one for each modulus, where Q is the product of all
    /// moduli. Residues may be any 64-bit numbers, because they are reduced first.
    ///
    /// # Errors
    /// [`MathError::Length`] unless there is one residue for each modulus.
    pub fn compose(&self, residues: &[u64]) -> Result<BigUint, MathError> {
        check_len("residues", self.moduli.len(), residues.len())?;
        let mut sum = BigUint::zero();
        for (((q, p), &w), &x) in self
            .moduli
            .iter()
            .zip(&self.punctured)
            .zip(&self.inverse_punctured)
            .zip(residues)
        {
            sum += p * q.mul_shoup(x, w);
        }
        Ok(sum % &self.product)
    }

    /// Returns the integer x in (-Q/2, Q/2\] with these residues, one for each modulus, where Q is the product of
    /// all moduli.
    ///
    /// # Errors
    /// The errors of [`RnsBasis::compose`].
    pub fn compose_centred(&self, residues: &[u64]) -> Result<BigInt, MathError> {
        let x = self.compose(residues)?;
        let above_half = (&x << 1u32) > self.product;
        let x = BigInt::from(x);
        Ok(if above_half {
            x - BigInt::from(self.product.clone())
        } else {
            x
        })
    }
}

/// Returns x mod q for an integer x of any size.
pub fn reduce_big(x: &BigUint, q: Modulus) -> u64 {
    (x % q.value()).to_u64().unwrap_or(0) // a remainder below q always fits
}

/// Fast (approximate) base extension of integers x from a basis q_0 ... q_(k-1) of product Q to
/// other moduli p_j (Kırbıyık's thesis, Algorithm 1). From the residues x_i it computes y_j = sum_i
/// \[x_i (Q/q_i)^-1\]_(q_i) (Q/q_i) mod p_j. That is x + u Q mod p_j for one u in \[0, k) in each
/// coefficient. [`basext`](crate::basext) has exact base extensions.
#[derive(Clone, Debug)]
pub struct BaseConverter {
    crt: Crt,
    /// The residues Q mod p_j for each target modulus p_j, where Q is the product of the source moduli.
    product: Vec<u64>,
}

impl BaseConverter {
    /// Makes the tables of the base extension from the basis `from` to each modulus of `to`. The
    /// targets may be any moduli, whatever `from` is.
    pub fn new<'a>(from: &RnsBasis, to: impl Into<Targets<'a>>) -> Self {
        let to = to.into();
        let product = to.moduli.iter().map(|p| reduce_big(&from.product, *p));
        Self {
            product: product.collect(),
            crt: Crt::new(from, to, None),
        }
    }

    pub fn from_moduli(&self) -> &[Modulus] {
        self.crt.source()
    }

    pub fn to_moduli(&self) -> &[Modulus] {
        self.crt.sums().targets()
    }

    /// Returns the constant (Q/q_i)^-1 mod q_i by which [`BaseConverter::scale`] multiplies limb i. Here q_i are the
    /// source moduli, and Q is their product. It is `None` if there is no limb i.
    pub fn inverse_punctured(&self, i: usize) -> Option<u64> {
        self.crt.scale().get(i).map(|w| w.value)
    }

    /// Returns the constants of target modulus p_j: (Q / q_i) mod p_j for each source modulus q_i, where Q is the
    /// product of the source moduli. They are prepared for [`kernels::dot_scalars`]. It is `None` if there is no such
    /// target; targets that are machine-word powers of two have no number here.
    pub fn row(&self, j: usize) -> Option<&[Shoup]> {
        self.crt.sums().row(j)
    }

    /// Returns Q mod p_j, where Q is the product of the source moduli and p_j is target modulus number j. With it a
    /// caller can subtract a multiple of Q from output limb j. It is `None` if there is no such target modulus; targets
    /// that are machine-word powers of two have no number here.
    pub fn product_mod(&self, j: usize) -> Option<u64> {
        self.product.get(j).copied()
    }

    /// Computes the first half of the base extension, in place: limb i of `limbs`, with residues x_i, becomes x_i
    /// (Q/q_i)^-1 mod q_i. Here q_i are the source moduli, and Q is their product.
    ///
    /// # Errors
    /// [`MathError::Length`] unless there is one limb for each source modulus.
    pub fn scale(&self, limbs: &mut [&mut [u64]]) -> Result<(), MathError> {
        check_len("input limbs", self.from_moduli().len(), limbs.len())?;
        for ((limb, q), w) in limbs
            .iter_mut()
            .zip(self.from_moduli())
            .zip(self.crt.scale())
        {
            kernels::mul_scalar_assign(*q, limb, w.value);
        }
        Ok(())
    }

    /// Computes the second half of the base extension: output limb j, modulo target modulus number j, from limbs
    /// that [`BaseConverter::scale`] has scaled.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] if there is no target modulus number j, [`MathError::Length`] for a wrong number or
    /// length of limbs.
    pub fn accumulate(
        &self,
        scaled: &[&[u64]],
        j: usize,
        out: &mut [u64],
    ) -> Result<(), MathError> {
        let (Some(p), Some(row)) = (self.to_moduli().get(j), self.row(j)) else {
            return Err(MathError::OutOfRange {
                what: "index of the target modulus",
                expected: "below the number of target moduli",
                got: j.to_string(),
            });
        };
        match (scaled, row, self.from_moduli()) {
            // Of one modulus, Q / q is 1.
            ([x], [w], [q]) if w.value == 1 => kernels::conv(*q, *p, out, x),
            _ => kernels::dot_scalars(*p, out, scaled, row),
        }
    }

    /// Computes the whole base extension. `input` has one limb for each source modulus, `output` one for each target
    /// modulus and then one for each target power of two, all of one length. The call allocates its scratch memory;
    /// [`BaseExtension::convert`] takes that from the caller.
    ///
    /// # Errors
    /// The errors of [`BaseExtension::convert`].
    pub fn convert(&self, input: &[&[u64]], output: &mut [&mut [u64]]) -> Result<(), MathError> {
        let mut scratch = vec![0; self.scratch_len()];
        BaseExtension::convert(self, input, output, &mut scratch)
    }
}

impl BaseExtension for BaseConverter {
    fn source(&self) -> &[Modulus] {
        self.from_moduli()
    }

    fn target(&self) -> &[Modulus] {
        self.to_moduli()
    }

    fn words(&self) -> &[WordModulus] {
        self.crt.sums().words()
    }

    fn scratch_len(&self) -> usize {
        self.crt.scratch_len()
    }

    fn convert(
        &self,
        input: &[&[u64]],
        output: &mut [&mut [u64]],
        scratch: &mut [u64],
    ) -> Result<(), MathError> {
        let n = check_shapes(self, input, output, scratch)?;
        self.crt.convert(n, input, output, scratch, |_, _| Ok(()))
    }
}
