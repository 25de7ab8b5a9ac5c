// SPDX-License-Identifier: Apache-2.0
//! Reads and writes SEAL's files of BFV: parameters, plaintexts modulo the plaintext modulus t and ciphertexts. SEAL
//! stores ciphertexts in coefficient form, Ringmill in evaluation form. Keys have [the files of every
//! scheme](super::read_relin_keys).

use ringmill_math::NttPlan;

use super::chain::SealScheme;
use super::context::{SealContext, SealParams, special_and_others};
use super::error::{Object, SealError};
pub use super::exact::{read_integers as read_plaintext, write_integers as write_plaintext};
use super::{Compression, emit, raw};
use crate::bfv::{Ciphertext, Multiplication, Params, ParamsBuilder, PlainModulus};
use crate::exact::ExactParams;
use ringmill_device::ResidueVec;

/// The scale that SEAL writes into files of objects that have no scale.
const SCALE: f64 = 1.0;

impl SealParams for Params {
    fn seal_scheme(&self) -> Result<(SealScheme, u64), SealError> {
        if self.multiplication() != Multiplication::Behz {
            let reason = "SEAL multiplies by BEHZ; choose it to have SEAL's bits".into();
            return Err(SealError::Unsupported { reason });
        }
        Ok((SealScheme::Bfv, self.plain_modulus().value()))
    }
}

/// Ringmill's BFV parameters, together with the names by which SEAL's files refer to their levels.
pub type BfvContext = SealContext<Params>;

/// Reads a file that SEAL's `EncryptionParameters::save` wrote for BFV. As with [`super::read_parameters`] for
/// CKKS, the caller chooses the security level.
///
/// # Errors
/// Fails for a file that is not SEAL's, of another scheme, without a special prime, or with a plaintext modulus that
/// BFV cannot have.
pub fn read_parameters(bytes: &[u8]) -> Result<ParamsBuilder, SealError> {
    let raw = raw::read_parameters(bytes, SealScheme::Bfv)?;
    let (special, cipher) = special_and_others(&raw)?;
    let t = PlainModulus::new(raw.plain)?;
    Ok(Params::builder(raw.n.trailing_zeros() as u8, t).primes(cipher, &[special]))
}

/// Reads a file of a BFV ciphertext from SEAL's `Ciphertext::save`. If c_1 is given by a seed, it is expanded.
///
/// # Errors
/// Fails for a file that is no ciphertext of these parameters.
pub fn read_ciphertext(context: &BfvContext, bytes: &[u8]) -> Result<Ciphertext, SealError> {
    let mut raw = raw::read_ciphertext(&context.chain, Object::Ciphertext, bytes)?;
    let level = context.level(Object::Ciphertext, raw.primes)?;
    for poly in &mut raw.polys {
        each_limb(context, poly, NttPlan::forward)?;
    }
    Ok(Ciphertext::new(context.ring(), level, (), raw.polys)?)
}

/// Returns the content of a file of a BFV ciphertext for SEAL's `Ciphertext::load`.
///
/// # Errors
/// Fails for a ciphertext of other parameters.
pub fn write_ciphertext(
    context: &BfvContext,
    cipher: &Ciphertext,
    compression: Compression,
) -> Result<Vec<u8>, SealError> {
    context.ring().check_id("ciphertext", cipher.params_id())?;
    let polys = cipher.polys().iter().cloned();
    let mut polys: Vec<Vec<u64>> = polys.map(ResidueVec::into_wide).collect();
    for poly in &mut polys {
        each_limb(context, poly, NttPlan::inverse)?;
    }
    let polys: Vec<&[u64]> = polys.iter().map(Vec::as_slice).collect();
    let primes = cipher.level().primes();
    let (chain, object) = (&context.chain, Object::Ciphertext);
    emit::ciphertext(chain, object, primes, SCALE, &polys, compression)
}

/// Applies the function `transform` to each limb of a polynomial and the NTT plan of the limb's prime. Limbs belong to
/// q_0, q_1, ... in order.
fn each_limb(
    context: &BfvContext,
    poly: &mut [u64],
    transform: impl Fn(&NttPlan, &mut [u64]) -> Result<(), ringmill_math::MathError>,
) -> Result<(), SealError> {
    let ring = context.ring();
    for (&q, limb) in ring
        .reducers()
        .iter()
        .zip(poly.chunks_exact_mut(ring.degree()))
    {
        let plan = NttPlan::shared(q, ring.ring()).map_err(crate::rlwe::RlweError::from)?;
        transform(&plan, limb).map_err(crate::rlwe::RlweError::from)?;
    }
    Ok(())
}
