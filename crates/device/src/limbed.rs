// SPDX-License-Identifier: Apache-2.0
//! The interface of objects made of limbs (ciphertexts, plaintexts, keys) as operands of programs.

use ringmill_isa::Poly;
use ringmill_math::Residues;

use crate::KeyId;

/// The identity of a parameter set: SHA-256 of its canonical form.
pub type ParamsId = [u8; 32];

/// An object made of limbs: polynomials, each over some of the parameters' moduli.
pub trait Limbed {
    fn params_id(&self) -> &ParamsId;

    /// Returns the number of polynomials.
    fn polys(&self) -> usize;

    /// Returns the limb of polynomial `poly` modulo modulus `modulus` of the parameters' table, or `None` if there is
    /// none. The residues are in words of 32 or 64 bits, as held. [`Place::poly`](crate::call::Place::poly) numbers the
    /// polynomials of a key.
    fn limb(&self, poly: Poly, modulus: usize) -> Option<Residues<'_>>;

    /// Returns the same limb as values that each stand for a run of equal residues, all runs of one length. A
    /// polynomial in a power of x has such a limb in evaluation form.
    fn spread(&self, poly: Poly, modulus: usize) -> Option<&[u64]> {
        let _ = (poly, modulus);
        None
    }

    /// Returns the identifier of the secret key to which the object belongs, if that is known.
    fn key_id(&self) -> Option<KeyId> {
        None
    }

    /// Returns the public seed from which missing limbs are expanded.
    fn seed(&self) -> Option<&[u8; 32]> {
        None
    }
}
