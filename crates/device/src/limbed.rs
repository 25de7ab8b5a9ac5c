// SPDX-License-Identifier: Apache-2.0
//! Things made of limbs, as operands of programs.

use ringmill_isa::Poly;
use ringmill_math::Residues;

use crate::KeyId;

/// Identity of a parameter set: SHA-256 of its canonical form.
pub type ParamsId = [u8; 32];

/// A thing made of limbs: polynomials, each over some of the parameters' moduli.
pub trait Limbed {
    fn params_id(&self) -> &ParamsId;

    /// Number of polynomials.
    fn polys(&self) -> usize;

    /// The limb of polynomial `poly` modulo modulus `modulus` of the parameters' table, if it has one, in the words that it is held
    /// in. Polynomials of a key are numbered as [`Place::poly`](crate::call::Place::poly) says.
    fn limb(&self, poly: Poly, modulus: usize) -> Option<Residues<'_>>;

    /// The same limb by its values alone, where each stands for a run of as many equal ones: that of a polynomial in a power of x,
    /// in evaluation form.
    fn spread(&self, poly: Poly, modulus: usize) -> Option<&[u64]> {
        let _ = (poly, modulus);
        None
    }

    /// The secret key this belongs to, where it belongs to one and that is known.
    fn key_id(&self) -> Option<KeyId> {
        None
    }

    /// The public seed that its missing limbs are expanded from.
    fn seed(&self) -> Option<&[u8; 32]> {
        None
    }
}
