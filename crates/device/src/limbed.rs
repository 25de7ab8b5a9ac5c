// SPDX-License-Identifier: Apache-2.0
//! The interface of objects made of limbs (ciphertexts, plaintexts, keys) as operands of programs.

use ringmill_isa::Poly;
use ringmill_math::Residues;

use crate::KeyId;

/// The identity of a parameter set: SHA-256 of its canonical form. TFHE appends a text that names the expansion of
/// masks.
pub type ParamsId = [u8; 32];

/// The interface of an object made of limbs: polynomials, each over some of the parameters' moduli.
pub trait Limbed {
    fn params_id(&self) -> &ParamsId;

    /// Returns the number of polynomials of the ciphertext, plaintext or key.
    fn polys(&self) -> usize;

    /// Returns the limb of polynomial `poly` modulo the modulus with index `modulus` in the parameters' table. It is
    /// `None` if the object has no such limb. The words have the width in which the object holds them, 32 or 64 bits.
    /// [`Place::poly`](crate::call::Place::poly) numbers the polynomials of a key.
    fn limb(&self, poly: Poly, modulus: usize) -> Option<Residues<'_>>;

    /// Returns the limb of polynomial `poly` modulo modulus `modulus` as one value for each of its
    /// blocks of equal residues. The blocks are equally long. It is `None` if the object does not
    /// hold the limb in this form. A polynomial in x^k, for a power of two k above 1, has such
    /// blocks in evaluation form.
    fn spread(&self, poly: Poly, modulus: usize) -> Option<&[u64]> {
        let _ = (poly, modulus);
        None
    }

    /// Returns the identifier of the secret key to which the ciphertext, plaintext or key belongs,
    /// if that is known.
    fn key_id(&self) -> Option<KeyId> {
        None
    }

    /// Returns the public seed from which the limbs are expanded that a key or ciphertext does not
    /// hold, or `None` if it has no seed.
    fn seed(&self) -> Option<&[u8; 32]> {
        None
    }
}
