// SPDX-License-Identifier: Apache-2.0
//! Functions on vectors of residues with one limb after another: limb k has the residues from index k N to (k + 1)
//! N, for the ring degree N.

use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_math::wipe::off_the_stack;
use ringmill_math::{Modulus, NttPlan, Prng, declassify, expand_uniform, kernels, sample};
use zeroize::Zeroizing;

use super::error::RlweError;
use super::params::Params;

/// Returns the prime of index `index` in [`Params::moduli`], with its arithmetic.
///
/// # Errors
/// [`RlweError::Length`] for an index that is no prime's, such as that of an auxiliary modulus in the table of moduli.
pub(crate) fn reducer(params: &Params, index: usize) -> Result<Modulus, RlweError> {
    let missing = || RlweError::Length {
        what: "modulus table",
        expected: index + 1,
        got: params.moduli().len(),
    };
    params.reducers().get(index).copied().ok_or_else(missing)
}

/// Returns the product of `factors` modulo q.
pub(crate) fn product_modulo(q: Modulus, factors: &[u64]) -> u64 {
    let product = |product, &factor: &u64| q.mul(product, q.reduce(factor));
    factors.iter().fold(1, product)
}

/// Returns the plan of the NTT of degree N for the prime of index `index` in [`Params::moduli`].
///
/// # Errors
/// The errors of [`reducer`], and those of [`NttPlan::shared`].
pub(crate) fn plan(params: &Params, index: usize) -> Result<Arc<NttPlan>, RlweError> {
    Ok(NttPlan::shared(reducer(params, index)?, params.ring())?)
}

/// Returns the indices, in the parameters' table of moduli, of the ciphertext primes at `level`, then those of the
/// special primes.
pub(crate) fn extended(params: &Params, level: Level) -> Vec<usize> {
    let count = params.cipher_count();
    (0..level.primes().min(count))
        .chain(count..params.moduli().len())
        .collect()
}

/// Returns an iterator over the limbs of `data`, each with the index of its modulus and the modulus. Limb k belongs
/// to the prime of index `indices[k]` in [`Params::moduli`]. Limbs of other indices are left out.
pub(crate) fn limbs_mut<'a>(
    params: &'a Params,
    indices: &'a [usize],
    data: &'a mut [u64],
) -> impl Iterator<Item = (usize, Modulus, &'a mut [u64])> {
    let reducers = params.reducers();
    let with_modulus = move |(&i, limb)| reducers.get(i).map(|&q| (i, q, limb));
    indices
        .iter()
        .zip(data.chunks_exact_mut(params.degree()))
        .filter_map(with_modulus)
}

/// Computes the evaluation form of a polynomial of small signed coefficients `samples`, modulo each modulus in
/// `indices`.
pub(crate) fn small_to_eval(
    params: &Params,
    indices: &[usize],
    samples: &[i8],
) -> Result<Zeroizing<Vec<u64>>, RlweError> {
    let mut data = Zeroizing::new(vec![0; indices.len() * params.degree()]);
    off_the_stack(|| {
        for (i, q, limb) in limbs_mut(params, indices, &mut data) {
            sample::to_limb(q, samples, limb)?;
            plan(params, i)?.forward(limb)?;
        }
        Ok(data)
    })
}

/// Samples the N coefficients of a new secret from the parameters' distribution.
pub(crate) fn sample_secret(
    params: &Params,
    prng: &mut Prng,
) -> Result<Zeroizing<Vec<i8>>, RlweError> {
    Ok(params.secret_distribution().sample(prng, params.degree())?)
}

/// Samples the N coefficients of an error polynomial from the parameters' distribution.
pub(crate) fn sample_error(
    params: &Params,
    prng: &mut Prng,
) -> Result<Zeroizing<Vec<i8>>, RlweError> {
    Ok(params.error_distribution().sample(prng, params.degree())?)
}

/// Turns a limb of an error polynomial, in coefficient or evaluation form, into an error that leaves the message
/// unchanged. In BGV, whose messages are the phase modulo t, it multiplies by the plaintext modulus t, which is
/// `low`. In other schemes `low` is `None`, and the limb stays.
pub(crate) fn place_error(low: Option<Modulus>, q: Modulus, limb: &mut [u64]) {
    if let Some(t) = low {
        kernels::mul_scalar_assign(q, limb, q.reduce(t.value()));
    }
}

/// Expands a public seed to a uniform polynomial with a limb for each modulus in `indices`. The limb of the modulus
/// of index i is random stream number `first_stream` + i of the seed.
pub(crate) fn expand(
    params: &Params,
    indices: &[usize],
    seed: &[u8; 32],
    first_stream: u64,
) -> Vec<u64> {
    let mut data = vec![0; indices.len() * params.degree()];
    for (i, q, limb) in limbs_mut(params, indices, &mut data) {
        expand_uniform(seed, first_stream + i as u64, q, limb);
    }
    data
}

/// Checks the length of a vector of limbs, and that every residue is below its modulus.
pub(crate) fn check_limbs(
    params: &Params,
    what: &'static str,
    indices: &[usize],
    data: &[u64],
) -> Result<(), RlweError> {
    let expected = indices.len() * params.degree();
    if data.len() != expected {
        return Err(RlweError::Length {
            what,
            expected,
            got: data.len(),
        });
    }
    for (&i, limb) in indices.iter().zip(data.chunks_exact(params.degree())) {
        let q = reducer(params, i)?.value();
        if declassify(limb.iter().fold(false, |any, &x| any | (x >= q))) {
            return Err(RlweError::Residue { what, modulus: q });
        }
    }
    Ok(())
}
