//! Encryptions of zero under a public key, divided by P.

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use ringmill_isa::Level;
use ringmill_math::{BaseConverter, Prng, RnsBasis, kernels, sample};
use zeroize::{Zeroize, Zeroizing};

use super::arith::{limbs_mut, plan, reducer, sample_error};
use super::cipher::limb;
use super::error::RlweError;
use super::key::PublicKey;
use super::ops::scaling::rounding_offset;
use super::params::Params;

/// A public key (b, a) made ready to encrypt.
///
/// With u ternary and e_0, e_1 errors, SEAL's encryption of zero is (u b + e_0, u a + e_1) modulo q_0 ... q_level P,
/// divided by P with the rounding of [`mod_down`](super::ops::scaling::mod_down_all): what is left of the errors is little more than that
/// rounding's own. Here x = u b + e and r(x), what the division takes off x to make it divisible, are put together in
/// another order, with the same bits:
///
///   (x - r(x)) / P = u (b / P) + NTT((e - r(x)) / P) modulo each q_i,
///
/// and r(x) needs x modulo the special primes alone, as coefficients: INTT(u b) + e. So k special primes and l + 1
/// others cost k (1 + 2) + (l + 1) (1 + 2) transforms, u's included, where encryption and division one after the other
/// cost k (3 + 2) + (l + 1) (3 + 2). Encrypting without P would cost 3 (l + 1): 3 k fewer, and N^(1/2) times the error.
pub(crate) struct PublicHalves {
    /// b and a, limb-major: modulo the ciphertext primes divided by P, modulo the special primes as they are.
    halves: [Vec<u64>; 2],
    to_cipher: BaseConverter,
    /// The rounding offset h modulo every modulus.
    half: Vec<u64>,
    /// P^-1 modulo every ciphertext prime.
    inverse: Vec<u64>,
}

impl PublicHalves {
    pub fn new(params: &Params, key: &PublicKey) -> Result<Self, RlweError> {
        let count = params.cipher_count();
        let (cipher, special) = params
            .reducers()
            .split_at(count.min(params.reducers().len()));
        let primes: Vec<u64> = special.iter().map(|q| q.value()).collect();
        let product: BigUint = primes.iter().product();
        let half = rounding_offset(&primes);
        let residue = |x: &BigUint, q: u64| (x % q).to_u64().unwrap_or(0); // a remainder below q always fits
        let inverse = cipher
            .iter()
            .map(|q| Ok(q.inv(residue(&product, q.value()))?))
            .collect::<Result<Vec<_>, RlweError>>()?;
        let mut halves = [key.b().to_vec(), key.expanded_a(params)?];
        let indices: Vec<usize> = (0..count).collect();
        for key in &mut halves {
            for ((_, q, limb), &w) in limbs_mut(params, &indices, key).zip(&inverse) {
                kernels::mul_scalar_assign(q, limb, w);
            }
        }
        Ok(Self {
            halves,
            to_cipher: BaseConverter::new(&RnsBasis::new(special.to_vec())?, cipher),
            half: params.moduli().iter().map(|&q| residue(&half, q)).collect(),
            inverse,
        })
    }

    /// The two polynomials of a fresh encryption of zero at `level`, which must be one of the parameters'. Beside them it
    /// takes 2 + 2 k limbs.
    pub fn zero(
        &self,
        params: &Params,
        level: Level,
        prng: &mut Prng,
    ) -> Result<[Vec<u64>; 2], RlweError> {
        let n = params.degree();
        let u = sample::ternary(prng, n);
        let errors = [sample_error(params, prng)?, sample_error(params, prng)?];
        let mut u_eval = Zeroizing::new(vec![0; n]);
        let mut room = Zeroizing::new(vec![0; n]);
        let remainders = self.remainders(params, &u, &errors, &mut u_eval, &mut room)?;

        let indices: Vec<usize> = level.moduli().collect();
        let mut polys = [vec![0; indices.len() * n], vec![0; indices.len() * n]];
        let [c0, c1] = &mut polys;
        let limbs = limbs_mut(params, &indices, c0).zip(limbs_mut(params, &indices, c1));
        let constants = self.half.iter().zip(&self.inverse);
        for (((i, q, c0), (_, _, c1)), (&half, &inverse)) in limbs.zip(constants) {
            let ntt = plan(params, i)?;
            sample::to_limb(q, &u, &mut u_eval)?;
            ntt.forward(&mut u_eval)?;
            let parts = [c0, c1].into_iter().zip(&errors).zip(&remainders);
            for (((c, error), remainder), key) in parts.zip(&self.halves) {
                let scaled: Vec<&[u64]> = remainder.chunks_exact(n).collect();
                self.to_cipher.accumulate(&scaled, i, &mut room)?;
                sample::to_limb(q, error, c)?;
                kernels::sub_assign(q, c, &room)?;
                kernels::add_scalar_assign(q, c, half);
                kernels::mul_scalar_assign(q, c, inverse);
                ntt.forward(c)?;
                kernels::mac_assign(q, c, &u_eval, key_limb(params, key, i)?)?;
            }
        }
        Ok(polys)
    }

    /// For each polynomial x + h modulo the special primes, ready for [`BaseConverter::accumulate`].
    fn remainders(
        &self,
        params: &Params,
        u: &[i8],
        errors: &[Zeroizing<Vec<i8>>; 2],
        u_eval: &mut [u64],
        room: &mut [u64],
    ) -> Result<[Zeroizing<Vec<u64>>; 2], RlweError> {
        let n = params.degree();
        let special = params.cipher_count()..params.moduli().len();
        let make = || Zeroizing::new(vec![0; special.len() * n]);
        let mut remainders = [make(), make()];
        let halves = self.half.iter().skip(params.cipher_count());
        for ((k, i), &half) in special.enumerate().zip(halves) {
            let (q, ntt) = (reducer(params, i)?, plan(params, i)?);
            sample::to_limb(q, u, u_eval)?;
            ntt.forward(u_eval)?;
            let parts = remainders.iter_mut().zip(errors).zip(&self.halves);
            for ((remainder, error), key) in parts {
                let Some(x) = remainder.chunks_exact_mut(n).nth(k) else {
                    continue;
                };
                kernels::mul(q, x, u_eval, key_limb(params, key, i)?)?;
                ntt.inverse(x)?;
                sample::to_limb(q, error, room)?;
                kernels::add_assign(q, x, room)?;
                kernels::add_scalar_assign(q, x, half);
            }
        }
        for remainder in &mut remainders {
            let mut limbs: Vec<&mut [u64]> = remainder.chunks_exact_mut(n).collect();
            self.to_cipher.scale(&mut limbs)?;
        }
        room.zeroize();
        Ok(remainders)
    }
}

/// The limb of modulus `index` of a key half. A key that lacks it must not encrypt.
fn key_limb<'a>(params: &Params, half: &'a [u64], index: usize) -> Result<&'a [u64], RlweError> {
    limb(half, index, params.moduli().len())
        .ok_or_else(|| RlweError::MissingKey(format!("public, modulus {index}")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ringmill_isa::Poly;

    use super::*;
    use crate::call::call;
    use crate::ckks::{self, OpKey, ProcCache};
    use crate::rlwe::{KeyGenerator, KeyHalf};
    use crate::scheme::{Limbed, ParamsId};

    /// Two polynomials over the moduli of a level and the special primes.
    struct Wide<'a> {
        params: &'a Params,
        indices: &'a [usize],
        polys: [Vec<u64>; 2],
    }

    impl Limbed for Wide<'_> {
        fn params_id(&self) -> &ParamsId {
            self.params.id()
        }

        fn polys(&self) -> usize {
            self.polys.len()
        }

        fn limb(&self, poly: Poly, modulus: usize) -> Option<&[u64]> {
            let position = self.indices.iter().position(|&i| i == modulus)?;
            limb(self.polys.get(poly.index())?, position, self.indices.len())
        }
    }
    use crate::rlwe::arith::{extended, small_to_eval};

    /// The definition: encrypt modulo q_0 ... q_level P, then the mod-down procedure.
    fn by_definition(
        params: &Arc<ckks::Params>,
        key: &PublicKey,
        level: Level,
        prng: &mut Prng,
    ) -> Vec<Vec<u64>> {
        let (indices, count) = (extended(params, level), params.moduli().len());
        let u = small_to_eval(params, &indices, &sample::ternary(prng, params.degree())).unwrap();
        let halves = [key.b().to_vec(), key.expanded_a(params).unwrap()];
        let zero = halves.map(|half| {
            let error = sample_error(params, prng).unwrap();
            let mut c = small_to_eval(params, &indices, &error).unwrap();
            for ((i, q, c), u) in
                limbs_mut(params, &indices, &mut c).zip(u.chunks_exact(params.degree()))
            {
                kernels::mac_assign(q, c, u, limb(&half, i, count).unwrap()).unwrap();
            }
            c
        });
        let cache = ProcCache::new(params.clone());
        let op = OpKey::mod_down(level, 2);
        let procedure = cache.get(&op).unwrap();
        let wide = Wide {
            params,
            indices: &indices,
            polys: zero.map(|c| c.to_vec()),
        };
        let results = call(&op, &procedure, &[&wide]).unwrap();
        results.into_iter().flatten().collect()
    }

    #[test]
    fn the_bits_are_those_of_encryption_then_mod_down() {
        // A special prime below, above and among the ciphertext primes, and several of them.
        for special in [&[39][..], &[55], &[41], &[50, 50], &[45, 60, 50]] {
            let params = ckks::Params::builder(6)
                .prime_bits(&[50, 40, 41, 60, 45], special)
                .allow_insecure_parameters_for_tests_only()
                .build()
                .unwrap();
            let seed = [special.len() as u8; 32];
            let keygen =
                KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), seed).unwrap();
            let key = keygen.public_key().unwrap();
            let stored = KeyHalf::Stored(key.expanded_a(&params).unwrap());
            let stored = PublicKey::new(&params, key.b().to_vec(), stored).unwrap();
            let halves = PublicHalves::new(&params, &stored).unwrap();
            for level in Level::LOWEST.to(params.max_level()) {
                let prng = || Prng::from_seed_for_reproducible_tests_only([7; 32]);
                let zero = halves.zero(&params, level, &mut prng()).unwrap();
                let exact = by_definition(&params, &key, level, &mut prng());
                assert_eq!(zero.to_vec(), exact, "special {special:?} level {level}");
            }
        }
    }
}
