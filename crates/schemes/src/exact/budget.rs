// SPDX-License-Identifier: Apache-2.0
//! Computes the noise budget of a ciphertext: the bits by which its noise may still grow.

use num_bigint::BigUint;
use num_traits::Zero;
use ringmill_math::{Modulus, RnsBasis};
use zeroize::Zeroizing;

use crate::rlwe::{Level, Params, RlweError};

/// Returns the noise budget in bits, from a noise polynomial in coefficient form, with one limb after another. Q is
/// the product of the level's primes. The message is lost if a coefficient of the noise leaves (-Q/2, Q/2]. Let v
/// be the largest absolute value of a centred coefficient. The budget is the bits of Q minus the bits of v minus
/// one, as in SEAL. It is 0 for v >= Q / 4, as messages may then be lost. The run time depends on the noise.
pub(crate) fn budget(params: &Params, noise: &[u64], level: Level) -> Result<u32, RlweError> {
    let primes = params.reducers().iter().take(level.primes()).copied();
    let basis = RnsBasis::new(primes.collect::<Vec<Modulus>>())?;
    let n = params.degree();
    let mut largest = BigUint::zero();
    let mut residues = Zeroizing::new(vec![0; level.primes()]);
    for c in 0..n {
        for (r, limb) in residues.iter_mut().zip(noise.chunks_exact(n)) {
            *r = limb.get(c).copied().unwrap_or(0);
        }
        let value = basis.compose_centred(&residues)?;
        largest = largest.max(value.into_parts().1);
    }
    let q = basis.product();
    if &largest << 2u32 >= *q {
        return Ok(0);
    }
    Ok((q.bits() - largest.bits()).saturating_sub(1) as u32)
}
