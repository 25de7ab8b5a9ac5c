// SPDX-License-Identifier: Apache-2.0
//! Encrypts zero under a public key, together with the division by P, the product of the special primes.

use num_bigint::BigUint;
use ringmill_isa::Level;
use ringmill_math::{BaseConverter, Modulus, Prng, RnsBasis, kernels, reduce_big, sample};
use zeroize::{Zeroize, Zeroizing};

use super::arith::{limbs_mut, place_error, plan, reducer, sample_error};
use super::cipher::limb;
use super::encrypt::Message;
use super::error::RlweError;
use super::key::PublicKey;
use super::ops::scaling::rounding_offset;
use super::params::Params;

/// The number of coefficients of a polynomial that are processed together between transforms, so that sums of their
/// residues stay in the first-level cache.
const BLOCK: usize = 1024;

/// A public key (b, a), prepared for encryption.
///
/// SEAL's encryption of zero is (u b + e_0, u a + e_1) modulo q_0 ... q_level P, for a ternary u and errors e_0 and
/// e_1. It is divided by P with the rounding of [`mod_down`](super::ops::scaling::mod_down_all). Little more than
/// the error of that rounding remains. Let x = u b + e be one of the two polynomials, and r(x) the remainder that
/// the division subtracts from x. This type computes the quotient in another order, with the same bits:
///
///   (x - r(x)) / P = u (b / P) + NTT((e - r(x)) / P) modulo each q_i,
///
/// and r(x) needs x only modulo the special primes, as coefficients: INTT(u b) + e. So k special primes and l + 1
/// others cost k (1 + 2) + (l + 1) (1 + 2) transforms, those of u included. Encryption and division one after the
/// other would cost k (3 + 2) + (l + 1) (3 + 2). Encryption without P would cost 3 (l + 1), which is 3 k fewer, but
/// its error would be larger.
///
/// If messages are in the low bits, modulo the plaintext modulus t, then t e replaces e, and the remainder is S + w
/// P (`divide_keeping` in [`scaling`](super::ops::scaling)). So w is subtracted after the division.
pub(crate) struct PublicHalves {
    /// The halves b and a of the public key in evaluation form, each with one limb after another. Limbs modulo
    /// ciphertext primes are multiplied by P^-1, for the product P of the special primes. Limbs modulo special primes
    /// are unchanged.
    halves: [Vec<u64>; 2],
    to_cipher: BaseConverter,
    /// The rounding offset h of the division by P, the product of the special primes: its residue modulo each
    /// ciphertext and special prime. h is 0 if messages are in the low bits (BGV).
    half: Vec<u64>,
    /// The inverse P^-1 modulo every ciphertext prime, where P is the product of the special primes.
    inverse: Vec<u64>,
    /// The plaintext modulus t and -P^-1 mod t, if messages are in the low bits (BGV). t is the last of the moduli to
    /// which the field `to_cipher` extends remainders.
    low: Option<(Modulus, u64)>,
}

impl PublicHalves {
    pub fn new(params: &Params, key: &PublicKey) -> Result<Self, RlweError> {
        let count = params.cipher_count();
        let (cipher, special) = params
            .reducers()
            .split_at(count.min(params.reducers().len()));
        let primes: Vec<u64> = special.iter().map(|q| q.value()).collect();
        let product: BigUint = primes.iter().product();
        let inverse_of_p = |q: Modulus| Ok::<u64, RlweError>(q.inv(reduce_big(&product, q))?);
        let inverse = cipher.iter().map(|&q| inverse_of_p(q));
        let inverse = inverse.collect::<Result<Vec<_>, _>>()?;
        let (half, low) = match params.low_modulus() {
            None => (rounding_offset(&primes), None),
            Some(t) => (BigUint::ZERO, Some((t, t.neg(inverse_of_p(t)?)))),
        };
        let to: Vec<Modulus> = cipher.iter().copied().chain(low.map(|(t, _)| t)).collect();
        let mut halves = [key.b().to_vec(), key.expanded_a(params)?];
        let indices: Vec<usize> = (0..count).collect();
        for key in &mut halves {
            for ((_, q, limb), &w) in limbs_mut(params, &indices, key).zip(&inverse) {
                kernels::mul_scalar_assign(q, limb, w);
            }
        }
        Ok(Self {
            halves,
            to_cipher: BaseConverter::new(&RnsBasis::new(special.to_vec())?, &to),
            half: params
                .reducers()
                .iter()
                .map(|&q| reduce_big(&half, q))
                .collect(),
            inverse,
            low,
        })
    }

    /// Returns the two polynomials of a fresh encryption of the message, or of zero, at `level`, which must be one of
    /// the parameters'. Besides the result, it needs the memory of 2 + 2 k limbs for k special primes, and of 2 more
    /// limbs in BGV. The message is transformed together with the error, at no extra cost.
    pub fn encrypt(
        &self,
        params: &Params,
        level: Level,
        message: Option<Message<'_>>,
        prng: &mut Prng,
    ) -> Result<[Vec<u64>; 2], RlweError> {
        let n = params.degree();
        let u = sample::ternary(prng, n);
        let errors = [sample_error(params, prng)?, sample_error(params, prng)?];
        let mut u_eval = Zeroizing::new(vec![0; n]);
        let mut room = Zeroizing::new(vec![0; n]);
        let remainders = self.remainders(params, &u, &errors, &mut u_eval, &mut room)?;
        let multiples = self.multiples(n, &remainders)?;
        let blocks = remainders.each_ref().map(|limbs| Self::by_block(n, limbs));

        let indices: Vec<usize> = level.moduli().collect();
        let mut polys = [vec![0; indices.len() * n], vec![0; indices.len() * n]];
        let [c0, c1] = &mut polys;
        let limbs = limbs_mut(params, &indices, c0).zip(limbs_mut(params, &indices, c1));
        let constants = self.half.iter().zip(&self.inverse);
        for (((i, q, c0), (_, _, c1)), (&half, &inverse)) in limbs.zip(constants) {
            let ntt = plan(params, i)?;
            sample::to_limb(q, &u, &mut u_eval)?;
            ntt.forward(&mut u_eval)?;
            let parts = [(c0, message), (c1, None)];
            let parts = parts.into_iter().zip(&errors).zip(&blocks);
            for (((((c, message), error), remainder), key), w) in
                parts.zip(&self.halves).zip(&multiples)
            {
                let blocks = c.chunks_mut(BLOCK).zip(error.chunks(BLOCK));
                for ((block, (c, error)), scaled) in blocks.enumerate().zip(remainder) {
                    let Some(room) = room.get_mut(..c.len()) else {
                        continue;
                    };
                    self.to_cipher.accumulate(scaled, i, room)?;
                    sample::to_limb(q, error, c)?;
                    place_error(params.low_modulus(), q, c);
                    kernels::sub_assign(q, c, room)?;
                    kernels::add_scalar_assign(q, c, half);
                    kernels::mul_scalar_assign(q, c, inverse);
                    if let (Some((t, _)), Some(w)) = (self.low, w.chunks(BLOCK).nth(block)) {
                        kernels::conv(t, q, room, w)?;
                        kernels::sub_assign(q, c, room)?;
                    }
                    if let Some(message) = message {
                        message(i, q, block * BLOCK, room)?;
                        kernels::add_assign(q, c, room)?;
                    }
                }
                ntt.forward(c)?;
                kernels::mac_assign(q, c, &u_eval, key_limb(params, key, i)?)?;
            }
        }
        Ok(polys)
    }

    /// Returns a list for each block of [`BLOCK`] coefficients. It has the part of each limb of `limbs` that lies
    /// in the block.
    fn by_block(n: usize, limbs: &[u64]) -> Vec<Vec<&[u64]>> {
        let mut blocks = vec![Vec::new(); n.div_ceil(BLOCK)];
        for limb in limbs.chunks_exact(n) {
            for (block, part) in blocks.iter_mut().zip(limb.chunks(BLOCK)) {
                block.push(part);
            }
        }
        blocks
    }

    /// Returns w for each of the two polynomials. The division by P, the product of the special primes, subtracts the
    /// remainder S + w P, where S is the fast base extension of the dividend modulo P (`divide_keeping`). The vectors
    /// are empty if messages are not in the low bits (all schemes but BGV).
    fn multiples(
        &self,
        n: usize,
        remainders: &[Zeroizing<Vec<u64>>; 2],
    ) -> Result<[Zeroizing<Vec<u64>>; 2], RlweError> {
        let mut multiples = [Zeroizing::default(), Zeroizing::default()];
        let Some((t, factor)) = self.low else {
            return Ok(multiples);
        };
        for (w, remainder) in multiples.iter_mut().zip(remainders) {
            **w = vec![0; n];
            let scaled: Vec<&[u64]> = remainder.chunks_exact(n).collect();
            self.to_cipher.accumulate(&scaled, self.inverse.len(), w)?;
            kernels::mul_scalar_assign(t, w, factor);
        }
        Ok(multiples)
    }

    /// Returns x + h modulo the special primes in coefficient form, first for x = u b + e_0, then for x = u a + e_1.
    /// Here (b, a) is the public key and h the rounding offset, and in BGV t times an error replaces the error. The
    /// result is prepared for [`BaseConverter::accumulate`].
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
                place_error(params.low_modulus(), q, room);
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

/// Returns the limb of one half of a public key modulo the modulus of index `index`. Fails if the key lacks this
/// limb, since it must then not encrypt.
fn key_limb<'a>(params: &Params, half: &'a [u64], index: usize) -> Result<&'a [u64], RlweError> {
    limb(half, index, params.moduli().len())
        .ok_or_else(|| RlweError::MissingKey(format!("public, modulus {index}")))
}
