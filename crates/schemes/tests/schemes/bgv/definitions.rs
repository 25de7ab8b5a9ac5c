// SPDX-License-Identifier: Apache-2.0
//! Tests divisions of BGV ciphertexts by primes against their definition in big integers, for edge cases.

use num_bigint::{BigInt, BigUint};
use num_traits::{One, Zero};
use ringmill_device::call::{Interpreted, Results, call};
use ringmill_math::{Modulus, NttPlan, Ring, RnsBasis};
use ringmill_schemes::bgv::{
    Ciphertext, Encryptor, ExactParams, Factor, Integers, Level, OpKey, Params, ProcCache,
};
use ringmill_schemes::{At, Operation};

use super::setup::{Numbers, Setup, params};

/// Returns the primes of a level as an RNS basis.
fn basis(params: &Params, level: Level) -> RnsBasis {
    RnsBasis::new(params.reducers()[..level.primes()].to_vec()).unwrap()
}

fn to_limbs(params: &Params, basis: &RnsBasis, x: &[BigUint]) -> Vec<u64> {
    let mut limbs = Vec::new();
    for &q in basis.moduli() {
        let mut limb: Vec<u64> = x.iter().map(|x| modulo(x, q)).collect();
        plan(params, q).forward(&mut limb).unwrap();
        limbs.extend(limb);
    }
    limbs
}

fn from_limbs(params: &Params, basis: &RnsBasis, limbs: &[u64]) -> Vec<BigUint> {
    let n = params.degree();
    let mut limbs = limbs.to_vec();
    for (limb, &q) in limbs.chunks_exact_mut(n).zip(basis.moduli()) {
        plan(params, q).inverse(limb).unwrap();
    }
    let at = |c: usize| -> Vec<u64> { limbs.iter().skip(c).step_by(n).copied().collect() };
    (0..n).map(|c| basis.compose(&at(c)).unwrap()).collect()
}

fn plan(params: &Params, q: Modulus) -> std::sync::Arc<NttPlan> {
    NttPlan::shared(q, Ring::full(params.log_n())).unwrap()
}

fn modulo(x: &BigUint, q: Modulus) -> u64 {
    u64::try_from(x % q.value()).unwrap()
}

#[test]
fn a_modulus_switch_is_its_definition() {
    // Plaintext moduli below and above the primes, an even one.
    for t in [2, 193, 65536, (1 << 41) + 27, (1 << 59) - 55] {
        let params = params(5, t, &[30, 40, 33], &[40]);
        let mut numbers = Numbers::new(t);
        let cache = ProcCache::new(params.clone());
        for level in [Level(1), Level(2)] {
            let (above, below) = (
                basis(&params, level),
                basis(&params, level.below().unwrap()),
            );
            let q = params.moduli()[level.index()];
            let edges = [0u64, 1, q - 1, q, q + 1, t, q.wrapping_mul(t)].map(BigUint::from);
            let top = above.product();
            let mut x: Vec<BigUint> = edges.iter().map(|x| x % top).collect();
            x.extend(
                edges
                    .iter()
                    .map(|x| (top - BigUint::one() - (x % top)) % top),
            );
            x.resize_with(params.degree(), || {
                let residues: Vec<u64> = above
                    .moduli()
                    .iter()
                    .map(|q| numbers.below(q.value()))
                    .collect();
                above.compose(&residues).unwrap()
            });
            let polys = vec![to_limbs(&params, &above, &x); 2];
            let cipher = Ciphertext::new(&params, level, Factor::ONE, polys).unwrap();
            let op = OpKey::mod_switch(level, 2);
            let made_of = Results {
                size: op.result_size(),
                passes_through: &|poly| op.passes_through(poly),
                short: false,
            };
            let procedure = cache.get(&op).unwrap();
            let results = call(&Interpreted, &procedure, &[&cipher], &made_of).unwrap();
            let (q_big, t_big) = (BigInt::from(q), BigInt::from(t));
            let inverse = Modulus::new(t).unwrap().inv(q % t).unwrap();
            for poly in &results[0] {
                for (x, y) in x
                    .iter()
                    .zip(from_limbs(&params, &below, &poly.residues().wide()))
                {
                    // The least multiple of t, from 0 on, that is x modulo q.
                    let c = BigInt::from(x % q);
                    let w = (-&c * inverse) % &t_big;
                    let w = (w + &t_big) % &t_big;
                    let delta = c + w * &q_big;
                    assert!((&delta % &t_big).is_zero());
                    let quotient = (BigInt::from(x.clone()) - delta) / &q_big;
                    let q_below = BigInt::from(below.product().clone());
                    let expected = (quotient % &q_below + &q_below) % &q_below;
                    assert_eq!(BigInt::from(y), expected);
                }
            }
        }
        assert_eq!(params.plain_modulus().value(), t);
    }
}

/// Encrypting a message equals adding it, by the procedure, to an encryption of zero, under both keys and at every
/// level.
#[test]
fn encryption_adds_what_the_procedure_adds() {
    for t in [2, 257, 65537, 1 << 32, (1 << 59) - 55] {
        let params = params(4, t, &[60, 45, 50], &[55]);
        let setup = Setup::new(params.clone());
        let mut numbers = Numbers::new(t);
        let values: Vec<u64> = (0..params.degree()).map(|_| numbers.below(t)).collect();
        let plain = setup.encoder.encode(&values, Integers::Unsigned).unwrap();
        let zero = setup
            .encoder
            .encode(&[0u64; 1], Integers::Unsigned)
            .unwrap();
        let public = setup.keygen.public_key().unwrap();
        let by_public = || Encryptor::with_public_key(params.clone(), &public).unwrap();
        let secret = || setup.keygen.secret_key().clone();
        let by_secret = || Encryptor::with_secret_key(params.clone(), secret()).unwrap();
        for level in Level::LOWEST.to(params.max_level()) {
            for key in [&by_public as &dyn Fn() -> Encryptor, &by_secret] {
                for factor in [1, t - 1] {
                    let annotation = Factor::new(factor, params.plain_modulus().reducer()).unwrap();
                    let encrypt = |plain| {
                        let encryptor = key().seed_for_reproducible_tests_only([5; 32]);
                        let at = At { level, annotation };
                        encryptor.encrypt_under(plain, &at).unwrap()
                    };
                    let added = setup.evaluator.add_plain(&encrypt(&zero), &plain).unwrap();
                    assert_eq!(encrypt(&plain), added, "t = {t}, {level}");
                }
            }
        }
    }
}
