// SPDX-License-Identifier: Apache-2.0
//! The variant of BFV multiplication by Halevi, Polyakov and Shoup ("An improved RNS variant of the BFV homomorphic
//! encryption scheme", CT-RSA 2019; Kırbıyık's thesis, section 2.5.1.4), with exact base extensions. Halevi, Polyakov
//! and Shoup correct extensions by a floating-point count. Here they are exact on every device, so a product is exactly
//! round(t a b / Q) of centred factors a and b, for the plaintext modulus t.

use ringmill_math::basext::Representative::Centred;

use super::{ids, limbs, quotient, times, values};
use crate::bfv::params::Params;
use crate::rlwe::RlweError;
use crate::rlwe::ops::{Emit, Limb};

/// Extends the centred representative of a polynomial modulo Q, times the constant `factor`, to the auxiliary primes.
pub(super) fn extended(
    e: &mut Emit<Params>,
    x: &[Limb],
    factor: u64,
) -> Result<Vec<Limb>, RlweError> {
    let places = e.own.auxiliary().all(e.level);
    let found = e.ops().bextx(&values(x), &ids(places.clone()), Centred)?;
    times(e, &limbs(found, places), factor)
}

/// Computes round(d / Q) modulo Q, for a d known modulo Q and modulo the auxiliary primes of product P. It subtracts
/// the centred remainder modulo Q from d, and divides by Q modulo P, which is large enough for the quotient. Then it
/// extends exactly from P to Q. Q is odd, so there are no ties.
pub(super) fn divided(
    e: &mut Emit<Params>,
    q: &[Limb],
    auxiliary: &[Limb],
) -> Result<Vec<Limb>, RlweError> {
    let places = auxiliary.iter().map(|l| l.modulus);
    let remainder = e.ops().bextx(&values(q), &ids(places), Centred)?;
    let rounded = quotient(e, auxiliary, remainder)?;
    let to = e.level_moduli();
    let found = e
        .ops()
        .bextx(&values(&rounded), &ids(to.clone()), Centred)?;
    Ok(limbs(found, to))
}
