// SPDX-License-Identifier: Apache-2.0
//! Decrypts BGV ciphertexts: computes the residue of the centred phase modulo the plaintext modulus, exactly.

use ringmill_math::basext::MiddleHalf;
use ringmill_math::{Modulus, RnsBasis, declassify, kernels};
use zeroize::Zeroizing;

use super::Ciphertext;
use super::error::BgvError;
use super::params::Params;
use crate::exact::{ExactError, ExactParams, Plaintext};
use crate::rlwe::{Level, RlweError};

/// Makes, for each level, the base extension from its primes to all plaintext moduli.
///
/// # Errors
/// None for a checked parameter set.
pub(super) fn extensions(params: &Params) -> Result<Vec<MiddleHalf>, BgvError> {
    let plain = params.plain_moduli();
    let plain: Vec<Modulus> = plain.iter().map(|t| t.reducer()).collect();
    let extension = |level: Level| {
        let primes = params.reducers().iter().take(level.primes()).copied();
        let basis = RnsBasis::new(primes.collect::<Vec<Modulus>>())?;
        Ok::<_, RlweError>(MiddleHalf::new(&basis, &plain)?)
    };
    let levels = Level::LOWEST.to(params.max_level());
    Ok(levels.map(extension).collect::<Result<_, _>>()?)
}

/// Returns the message x / f modulo the ciphertext's plaintext modulus t, for the centred phase x = c(s) and the
/// ciphertext's correction factor f. It is SEAL's `bgv_decrypt`, exact for primes of any size.
///
/// The phase of a lost message is anywhere in (-Q/2, Q/2]. So a phase x of Q / 4 or more in magnitude is refused; this
/// threshold is uncertain by at most 2^-42 Q.
pub(super) fn opened(
    extensions: &[MiddleHalf],
    params: &Params,
    cipher: &Ciphertext,
    phase: &[u64],
) -> Result<Plaintext, BgvError> {
    let plain = cipher.annotation().plain();
    let t = params.plain_at(plain)?.reducer();
    let (level, inverse) = (cipher.level(), cipher.annotation().inverse(t)?);
    let max = params.max_level();
    let extension = extensions.get(level.index());
    let extension = extension.ok_or(RlweError::Level { got: level, max })?;
    let message = modulo_t(extension, params, phase, plain)?;
    let mut message = message.ok_or(ExactError::NoBudget)?;
    kernels::mul_scalar_assign(t, &mut message, inverse);
    let message = std::mem::take(&mut *message);
    Ok(Plaintext::modulo(params, plain, message)?)
}

/// Returns the coefficients of the phase, taken as integers in (-Q/4, Q/4), modulo the plaintext modulus of index
/// `plain`. Returns `None` if a coefficient is not in this range.
fn modulo_t(
    extension: &MiddleHalf,
    params: &Params,
    x: &[u64],
    plain: u8,
) -> Result<Option<Zeroizing<Vec<u64>>>, BgvError> {
    let n = params.degree();
    let limbs: Vec<&[u64]> = x.chunks_exact(n).collect();
    let mut all = Zeroizing::new(vec![0; n * (usize::from(params.last_plain()) + 1)]);
    let mut scratch = Zeroizing::new(vec![0; extension.scratch_len()]);
    let mut residues: Vec<&mut [u64]> = all.chunks_exact_mut(n).collect();
    let small = extension.convert(&limbs, &mut residues, &mut scratch)?;
    let wanted = all.chunks_exact(n).nth(plain.into());
    let wanted = wanted.map(|residues| Zeroizing::new(residues.to_vec()));
    Ok(wanted.filter(|_| declassify(small)))
}
