// SPDX-License-Identifier: Apache-2.0
//! Models modular multiplication as hardware computes it. Each algorithm has one type. Its constructor refuses moduli
//! that the algorithm does not serve, and the type returns the value of every pipeline stage.
//!
//! | type | moduli | what it avoids | paper |
//! | --- | --- | --- | --- |
//! | [`Barrett`] | any | division | Medha, appendix A (SEAL's and HEAX's method) |
//! | [`ShoupMultiplier`] | any, one factor constant | the double-width product | Medha, appendix A (as Barrett) |
//! | [`Montgomery`] | odd | division; results have the factor 2^-64 | BASALISC, reference 32 |
//! | [`WordMontgomery`] | 1 mod 2^w | the wide products of Montgomery | Mert, Öztürk and Savaş, Algorithm 4; Kırbıyık, Algorithm 7 |
//! | [`Solinas52`] | 2^52 - 2^12 + 1 | all multiplications | Kong and Li, Algorithm 3 |
//! | [`SparsePseudoMersenne`] | 2^a + few ±2^b + 1 | all multiplications | Medha, appendix A |
//! | [`MontgomeryFriendly32`] | 1 mod 2^17, below 2^32 | half of Montgomery's products | BASALISC, section 6.4 |
//!
//! These types are references: they follow the algorithms and are not fast. The CPU computes with [`Modulus`] and
//! [`kernels`](crate::kernels).

mod barrett;
mod friendly;
mod montgomery;
mod shoup;
mod solinas;
mod sparse;
mod word_montgomery;

pub use barrett::{Barrett, BarrettStages};
pub use friendly::{FriendlyStages, MontgomeryFriendly32};
pub use montgomery::{Montgomery, MontgomeryStages};
pub use shoup::{ShoupMultiplier, ShoupStages};
pub use solinas::{Solinas52, SolinasStages};
pub use sparse::{SparsePseudoMersenne, SparseTerm};
pub use word_montgomery::{PARAMETER_SETS, ParameterSet, WordMontgomery, WordStep};

use crate::Modulus;

/// A reduction modulo q of double-width numbers x below a limit. Its result is x times a fixed
/// factor modulo q.
pub trait Reduction {
    /// Returns the modulus q of the reduction.
    fn modulus(&self) -> Modulus;

    /// Returns the factor by which the reduction multiplies, a residue modulo q. It is 1, or 1 / R
    /// for the Montgomery types, where R is the power of two by which they divide.
    fn factor(&self) -> u64 {
        1
    }

    /// Returns the number that inputs of [`Reduction::reduce`] must be below. It is above (q - 1)^2, so that
    /// products of residues are allowed.
    fn limit(&self) -> u128;

    /// Returns x times [`Reduction::factor`] modulo q, below q. An x at or above
    /// [`Reduction::limit`] gives some number, never a fault.
    fn reduce(&self, x: u128) -> u64;

    /// Returns a * b times [`Reduction::factor`] modulo q, for residues a and b.
    fn mul(&self, a: u64, b: u64) -> u64 {
        self.reduce(u128::from(a) * u128::from(b))
    }
}

/// Returns x - q if that is not negative, otherwise x. It is the last stage of most reductions.
fn subtract_once(x: u128, q: Modulus) -> u128 {
    x.checked_sub(q.value().into()).unwrap_or(x)
}
