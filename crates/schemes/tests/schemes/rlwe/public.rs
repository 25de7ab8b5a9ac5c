// SPDX-License-Identifier: Apache-2.0
//! Tests encryption under a public key against its definition.

use std::fmt::Debug;
use std::sync::Arc;

use num_bigint::BigUint;
use ringmill_math::{Modulus, NttPlan, Prng, PrngSource, Seeded, reduce_big, sample};
use ringmill_schemes::exact::PlainModulus;
use ringmill_schemes::rlwe::{
    Annotation, Encryptor, KeyGenerator, KeyHalf, Level, Params, Plaintext, PublicKey, RingParams,
};
use ringmill_schemes::{bgv, ckks};

fn plan(params: &Params, index: usize) -> Arc<NttPlan> {
    NttPlan::shared(params.reducers()[index], params.ring()).unwrap()
}

fn small(q: Modulus, samples: &[i8]) -> Vec<u64> {
    let mut limb = vec![0; samples.len()];
    sample::to_limb(q, samples, &mut limb).unwrap();
    limb
}

/// Returns the fast base extension of the residues of x as an integer. It is x modulo P, and below k P for k primes.
fn extended(primes: &[Modulus], product: &BigUint, residues: &[u64]) -> BigUint {
    let term = |(p, &x): (&Modulus, &u64)| {
        let others = product / p.value();
        let inverse = p.inv(reduce_big(&others, *p)).unwrap();
        others * p.mul(x, inverse)
    };
    primes.iter().zip(residues).map(term).sum()
}

/// Computes the division of one coefficient by P, the product of the special primes. `cipher` has its residues modulo
/// the ciphertext primes, and `special` those modulo the special primes.
fn mod_down(params: &Params, cipher: &[u64], special: &[u64]) -> Vec<u64> {
    let primes = &params.reducers()[params.cipher_count()..];
    let product: BigUint = primes.iter().map(|p| p.value()).product();
    // The numbers that are added to x and then subtracted, so that the result is a multiple of P.
    let (added, taken) = match params.low_modulus() {
        None => {
            let halves = primes
                .iter()
                .map(|p| &product / p.value() * (p.value() / 2));
            let half: BigUint = halves.sum();
            let shifted = special.iter().zip(primes);
            let shifted = shifted.map(|(&x, &p)| p.add(x, reduce_big(&half, p)));
            let shifted: Vec<u64> = shifted.collect();
            let taken = extended(primes, &product, &shifted);
            (half, taken)
        }
        Some(t) => {
            let rest = extended(primes, &product, special);
            let inverse = t.inv(reduce_big(&product, t)).unwrap();
            let multiple = t.neg(t.mul(reduce_big(&rest, t), inverse));
            (BigUint::ZERO, rest + &product * multiple)
        }
    };
    let quotient = |(&x, &q): (&u64, &Modulus)| {
        let x = q.add(x, reduce_big(&added, q));
        let x = q.sub(x, reduce_big(&taken, q));
        q.mul(x, q.inv(reduce_big(&product, q)).unwrap())
    };
    cipher.iter().zip(params.reducers()).map(quotient).collect()
}

/// Encrypts zero by the definition: modulo q_0 ... q_level P, with a division by P at the end.
fn by_definition(params: &Params, key: &PublicKey, level: Level, prng: &mut Prng) -> Vec<Vec<u64>> {
    let (n, primes) = (params.degree(), level.primes());
    let special = params.cipher_count()..params.moduli().len();
    let u = sample::ternary(prng, n);
    let halves = [key.b().to_vec(), key.expanded_a(params).unwrap()];
    let divided = halves.map(|half| {
        let error = params.error_distribution().sample(prng, n).unwrap();
        let limb = |i: usize| {
            let q = params.reducers()[i];
            let mut limb = small(q, &u);
            plan(params, i).forward(&mut limb).unwrap();
            for (x, &key) in limb.iter_mut().zip(&half[i * n..]) {
                *x = q.mul(*x, key);
            }
            plan(params, i).inverse(&mut limb).unwrap();
            let by = params.low_modulus().map_or(1, |t| q.reduce(t.value()));
            for (x, e) in limb.iter_mut().zip(small(q, &error)) {
                *x = q.add(*x, q.mul(e, by));
            }
            limb
        };
        let cipher: Vec<Vec<u64>> = (0..primes).map(limb).collect();
        let special: Vec<Vec<u64>> = special.clone().map(limb).collect();
        let mut limbs = vec![Vec::new(); primes];
        for k in 0..n {
            let at = |limbs: &[Vec<u64>]| limbs.iter().map(|limb| limb[k]).collect::<Vec<_>>();
            let quotient = mod_down(params, &at(&cipher), &at(&special));
            limbs
                .iter_mut()
                .zip(quotient)
                .for_each(|(limb, x)| limb.push(x));
        }
        for (i, limb) in limbs.iter_mut().enumerate() {
            plan(params, i).forward(limb).unwrap();
        }
        limbs.concat()
    });
    divided.to_vec()
}

fn check<P: RingParams, A: Annotation<Error: Debug>>(params: &Arc<P>, annotation: A) {
    let ring = params.ring_params();
    let seed = [ring.special_count() as u8; 32];
    let keygen = KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), seed).unwrap();
    let key = keygen.public_key().unwrap();
    let stored = KeyHalf::Stored(key.expanded_a(ring).unwrap());
    let stored = PublicKey::new(ring, key.b().to_vec(), stored).unwrap();
    let seed = [7; 32];
    for level in Level::LOWEST.to(ring.max_level()) {
        let encryptor = Encryptor::with_public_key(params.clone(), &stored).unwrap();
        let encryptor = encryptor.seed_for_reproducible_tests_only(seed);
        let zeros = vec![0; level.primes() * ring.degree()];
        let zero = Plaintext::<A>::new(ring, level, annotation.clone(), zeros).unwrap();
        let zero = encryptor.encrypt(&zero).unwrap();
        let polys = zero
            .polys()
            .iter()
            .map(|poly| poly.residues().wide().into_owned());
        let source = PrngSource::from_seed_for_reproducible_tests_only(seed, Seeded::Encryptor);
        let exact = by_definition(ring, &key, level, &mut source.fresh().unwrap());
        assert_eq!(
            polys.collect::<Vec<_>>(),
            exact,
            "{} {level}",
            ring.chain_summary()
        );
    }
}

#[test]
fn the_bits_are_those_of_encryption_then_mod_down() {
    // A special prime below, above and among the ciphertext primes, and several of them.
    for special in [&[39][..], &[55], &[41], &[50, 50], &[45, 60, 50]] {
        let cipher = [50, 40, 41, 60, 45];
        let params = ckks::Params::builder(6).prime_bits(&cipher, special);
        let params = params.allow_insecure_parameters_for_tests_only();
        check(&params.build().unwrap(), ckks::Scale(1.0));
        // A plaintext modulus below, above and among the primes, and an even one.
        for t in [257, 7681, (1 << 41) - 21, 1 << 52, (1 << 59) - 55] {
            let t = PlainModulus::new(t).unwrap();
            let params = bgv::Params::builder(6, t).prime_bits(&cipher, special);
            let params = params.allow_insecure_parameters_for_tests_only();
            check(&params.build().unwrap(), bgv::Factor::ONE);
        }
    }
}
