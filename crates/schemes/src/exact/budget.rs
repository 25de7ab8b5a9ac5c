// SPDX-License-Identifier: Apache-2.0
//! How much noise a ciphertext can still take.

use num_bigint::BigUint;
use num_traits::Zero;
use ringmill_math::{Modulus, RnsBasis};
use zeroize::Zeroizing;

use crate::rlwe::{Level, Params, RlweError};

/// Of a polynomial modulo the primes of a level, in coefficient form and limb-major, whose message is lost where one of its
/// coefficients leaves (-Q/2, Q/2]: with v the largest of them, centred, the bits of Q less those of v less one, SEAL's
/// budget; and none for v >= Q / 4, where messages may be lost. The time depends on the noise.
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
