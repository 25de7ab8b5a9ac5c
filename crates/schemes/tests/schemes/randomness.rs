// SPDX-License-Identifier: Apache-2.0
//! Tests that every key and every encryption has randomness of its own, in the seeded mode too, and that each carries
//! the identity of its secret key.

use std::collections::HashSet;
use std::sync::Arc;

use ringmill_isa::{Galois, Level};
use ringmill_math::NttPlan;
use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::ckks::{
    Ciphertext, CkksError, Decryptor, Encoder, Encryptor, Evaluator, GaloisKeys, KSwitchKey,
    KeyGenerator, KeyHalf, Params, RelinKey, file,
};
use ringmill_schemes::exact::{ExactScheme, PlainModulus};
use ringmill_schemes::rlwe::{self, PublicKey, RingParams, RlweError, SecretKey};
use ringmill_schemes::roles::KeyHolder as _;
use ringmill_schemes::scheme::At;
use ringmill_schemes::{bfv, bgv, ckks};

fn params() -> Arc<Params> {
    Params::builder(6)
        .prime_bits(&[50, 40], &[50])
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap()
}

fn uniform_half(key: &KSwitchKey, params: &Params) -> Vec<Vec<u64>> {
    match key.expanded(params).unwrap().a() {
        KeyHalf::Stored(a) => a.iter().map(|a| a.residues().wide().into_owned()).collect(),
        KeyHalf::Seed(_) => unreachable!("an expanded key stores its halves"),
    }
}

#[test]
fn threads_that_share_a_generator_and_an_encryptor_repeat_nothing() {
    let params = params();
    let keys = KeyGenerator::new(params.clone()).unwrap();
    let public = keys.public_key().unwrap();
    let by_public = Encryptor::with_public_key(params.clone(), &public).unwrap();
    let secret = keys.secret_key().clone();
    let by_secret = Encryptor::with_secret_key(params.clone(), secret).unwrap();
    let plain = Encoder::new(params.clone())
        .encode_real(&[1.0], Level(1), 2f64.powi(40))
        .unwrap();
    let seen = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut masks = Vec::new();
                    for _ in 0..8 {
                        for encryptor in [&by_public, &by_secret] {
                            let cipher = encryptor.encrypt(&plain).unwrap();
                            masks.push(cipher.polys()[1].clone().into_wide());
                        }
                        let galois = keys
                            .galois_keys(&[Galois(3), Galois(5)], KeyForm::Seeded)
                            .unwrap();
                        let relin = keys.relin_key(KeyForm::Stored).unwrap();
                        let switching = galois.iter().map(|(_, k)| k).chain([&relin.0]);
                        masks.extend(switching.flat_map(|k| uniform_half(k, &params)));
                        masks.push(keys.public_key().unwrap().expanded_a(&params).unwrap());
                    }
                    masks
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|t| t.join().unwrap())
            .collect::<Vec<_>>()
    });
    let count = seen.len();
    assert_eq!(seen.into_iter().collect::<HashSet<_>>().len(), count);
}

#[test]
fn the_seeded_mode_repeats_and_only_there_do_keys() {
    let params = params();
    let seeded = || {
        let keys = KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), [5; 32]);
        let keys = keys.unwrap();
        let first = keys.relin_key(KeyForm::Seeded).unwrap();
        let second = keys.relin_key(KeyForm::Seeded).unwrap();
        assert_ne!(first, second);
        (keys.secret_key().key_id(), first, second)
    };
    assert_eq!(seeded(), seeded());
    let fresh = || KeyGenerator::new(params.clone()).unwrap();
    assert_ne!(fresh().secret_key().key_id(), fresh().secret_key().key_id());
    let own = fresh();
    let copies = [(); 2]
        .map(|()| KeyGenerator::from_secret_key(params.clone(), own.secret_key().clone()).unwrap());
    let [a, b] = copies.map(|keys| keys.relin_key(KeyForm::Seeded).unwrap());
    assert_eq!(a.0.key_id(), own.secret_key().key_id());
    assert_ne!(a.0.seed(), b.0.seed());
}

/// Returns the bits of the largest centred coefficient of x - a s modulo q_0, for x in evaluation form. They are few if
/// x is a s plus noise, otherwise about as many as q_0 has.
fn bits_beside_the_secret(
    params: &rlwe::Params,
    public: &PublicKey,
    secret: &SecretKey,
    x: impl Iterator<Item = u64>,
) -> u32 {
    let (n, q) = (params.degree(), params.reducers()[0]);
    let a = public.expanded_a(params).unwrap();
    let parts = x.zip(&a).zip(secret.expose_eval_limbs());
    let parts = parts.map(|((x, &a), &s)| q.sub(x, q.mul(a, s)));
    let mut rest: Vec<u64> = parts.take(n).collect();
    let plan = NttPlan::shared(q, params.ring()).unwrap();
    plan.inverse(&mut rest).unwrap();
    let largest = rest.iter().map(|&x| q.centred(x).unsigned_abs()).max();
    u64::BITS - largest.unwrap().leading_zeros()
}

/// One seed makes the keys and the encryptions of a seeded holder, but no encryption draws the secret as its polynomial
/// u, nor its product with the public half a as c_1. If one did, P c_1 would be a s plus noise of about P.
#[test]
fn a_seeded_holder_encrypts_with_other_randomness_than_its_secret() {
    let (cipher, special): (&[u32], &[u32]) = (&[55], &[36]);
    let t = PlainModulus::new(257).unwrap();
    macro_rules! holds {
        ($params:expr, $holder:ty, $message:expr, $annotation:expr) => {
            let params = $params.prime_bits(cipher, special);
            let params = params.allow_insecure_parameters_for_tests_only();
            let params = params.build().unwrap();
            let ring = params.ring_params();
            let q = ring.reducers()[0];
            let special = ring.special_moduli();
            let special = special.iter().fold(1, |p, &x| q.mul(p, q.reduce(x)));
            for seed in 0..4 {
                let seeded = <$holder>::from_seed_for_reproducible_tests_only;
                let holder = seeded(params.clone(), [seed; 32]).unwrap();
                let public = holder.public_key().unwrap();
                let secret = holder.secret_key();
                let bits = |x: &[u64], factor| {
                    let x = x.iter().map(|&x| q.mul(x, factor));
                    bits_beside_the_secret(ring, &public, secret, x)
                };
                // b is -a s minus noise.
                assert!(bits(public.b(), q.value() - 1) < 20);
                for _ in 0..3 {
                    let (level, annotation) = (Level(0), $annotation);
                    let cipher = holder.encrypt(&$message, &At { level, annotation });
                    let c1 = cipher.unwrap().polys()[1].clone().into_wide();
                    let bits = bits(&c1, special);
                    assert!(
                        bits > 52,
                        "{}, seed {seed}: {bits} bits",
                        stringify!($holder)
                    );
                }
            }
        };
    }
    let number = num_complex::Complex64::new(1.0, 0.0);
    let scale = ckks::Scale(2f64.powi(30));
    holds!(Params::builder(6), ckks::KeyHolder, vec![number], scale);
    holds!(
        bfv::Params::builder(6, t),
        bfv::KeyHolder,
        vec![1],
        bfv::Bfv::FRESH
    );
    holds!(
        bgv::Params::builder(6, t),
        bgv::KeyHolder,
        vec![1],
        bgv::Bgv::FRESH
    );
}

struct Party {
    secret: Decryptor,
    cipher: Ciphertext,
    relin: RelinKey,
    galois: GaloisKeys,
}

fn party(params: &Arc<Params>) -> Party {
    let keys = KeyGenerator::new(params.clone()).unwrap();
    let public = keys.public_key().unwrap();
    let plain = Encoder::new(params.clone())
        .encode_real(&[1.0, 2.0], Level(1), 2f64.powi(40))
        .unwrap();
    let encryptor = Encryptor::with_public_key(params.clone(), &public).unwrap();
    Party {
        secret: Decryptor::new(params.clone(), keys.secret_key().clone()).unwrap(),
        cipher: encryptor.encrypt(&plain).unwrap(),
        relin: keys.relin_key(KeyForm::Seeded).unwrap(),
        galois: keys.rotation_keys(&[1, 2], KeyForm::Seeded).unwrap(),
    }
}

#[test]
fn what_belongs_to_another_key_is_refused_by_name_of_both() {
    let params = params();
    let (a, b) = (party(&params), party(&params));
    let evaluator = Evaluator::new(params.clone());
    let ids = [&a, &b].map(|p| p.secret.key_id().unwrap().short());
    let refused = |result: Result<Ciphertext, CkksError>| {
        let error = result.unwrap_err();
        assert!(
            matches!(error, CkksError::Rlwe(RlweError::OtherKeys { .. })),
            "{error}"
        );
        let said = error.to_string();
        assert!(ids.iter().all(|id| said.contains(id)), "{said}");
        assert!(said.contains("one client"), "{said}");
    };
    assert_eq!(a.cipher.key_id(), a.secret.key_id());
    refused(evaluator.add(&a.cipher, &b.cipher));
    refused(evaluator.sub(&a.cipher, &b.cipher));
    refused(evaluator.mul(&a.cipher, &b.cipher));
    refused(evaluator.mul_relin(&a.cipher, &a.cipher, &b.relin));
    refused(evaluator.rotate(&a.cipher, 1, &b.galois));
    let square = evaluator.square(&a.cipher).unwrap();
    refused(evaluator.relinearise(&square, &b.relin));
    assert!(matches!(
        b.secret.decrypt(&a.cipher),
        Err(RlweError::OtherKeys { .. })
    ));
    // A set with keys of two secret keys can be neither written nor used.
    let mut mixed = a.galois.clone();
    let stranger = params.galois_element(1).unwrap();
    mixed.insert(stranger, b.galois.get(stranger).unwrap().clone());
    assert!(mixed.key_id().is_err() && file::write_galois_keys(&params, &mixed).is_err());
    assert!(
        evaluator
            .rotate_hoisted(&a.cipher, &[1, 2], &mixed)
            .is_err()
    );

    // Results carry the identity on, through files too; plaintext operands have none and need none.
    let rotated = evaluator.rotate(&a.cipher, 1, &a.galois).unwrap();
    let scaled = evaluator.mul_scalar(&rotated, 3.0, 1.0).unwrap();
    let lower = evaluator.mod_switch(&scaled, Level(0)).unwrap();
    let read = file::write_ciphertext(&params, &lower).unwrap();
    let read = file::read_ciphertext(&read, &params).unwrap();
    assert_eq!(read.key_id(), a.secret.key_id());

    // An operand without an identity is accepted, and the result has no identity.
    let unknown = b.cipher.clone().with_key_id(None);
    let sum = evaluator.add(&a.cipher, &unknown).unwrap();
    assert_eq!(sum.key_id(), None);
    assert!(b.secret.decrypt(&sum).is_ok());
}
