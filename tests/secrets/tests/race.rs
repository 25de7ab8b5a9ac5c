// SPDX-License-Identifier: Apache-2.0
//! Tests whether time tells secrets apart for the code that valgrind cannot follow: AVX-512, and other processors than
//! x86.

use std::cell::RefCell;
use std::sync::Arc;

use ringmill_circuits::tfhe::{self, Client, LweCiphertext, LweKey, Messages, ParamsBuilder};
use ringmill_math::kernels::{available_backends, with_backend};
use ringmill_math::{Backend, Modulus, Prng};
use ringmill_schemes::bfv::{
    BatchEncoder, Ciphertext, Decryptor, Encryptor, Integers, KeyGenerator, Params, PlainModulus,
    Plaintext, SecretKey,
};
use ringmill_schemes::exact::ExactParams;
use ringmill_secrets::race::{Class, Pools, TOLD_APART, least_t};

/// The number of inputs of each class.
const POOL: usize = 32;
const ROUNDS: usize = 10_000;
/// A prime of 61 bits, as the auxiliary modulus gamma of BFV's decryption has.
const GAMMA: u64 = (1 << 61) - 1;

/// Runs a race at each level of vector instructions that valgrind cannot run, and asserts that it tells no classes
/// apart.
fn at_each_level(race: impl Fn() -> f64) {
    let known: &[Backend] = match cfg!(target_arch = "x86_64") {
        true => &[Backend::Scalar, Backend::Avx2],
        false => &[],
    };
    let levels = available_backends();
    let unknown: Vec<_> = levels
        .into_iter()
        .filter(|level| !known.contains(level))
        .collect();
    if unknown.is_empty() {
        eprintln!("skipped: valgrind follows all kernels of this processor");
    }
    for level in unknown {
        let t = with_backend(level, &race).unwrap();
        println!("{}: |t| = {t:.1}", level.name());
        assert!(t < TOLD_APART, "{}: |t| = {t:.1}", level.name());
    }
}

fn prng() -> Prng {
    Prng::from_seed_for_reproducible_tests_only([9; 32])
}

/// Returns zeros as the fixed inputs, and uniform residues as the random inputs.
fn residues() -> Pools<Vec<u64>> {
    let (mut prng, q) = (prng(), Modulus::new(GAMMA).unwrap());
    Pools::new(POOL, |class| {
        let random = |_| q.reduce(prng.next_u64());
        match class {
            Class::Fixed => vec![0; 4096],
            Class::Random => (0..4096).map(random).collect(),
        }
    })
}

/// Centres a residue with a branch, as [`Modulus::centred`] must not.
fn branching(q: u64, x: u64) -> i64 {
    if x > q / 2 {
        std::hint::black_box(x as i64 - q as i64)
    } else {
        x as i64
    }
}

#[test]
#[ignore = "times what runs; make full runs it"]
fn a_branch_on_secrets_is_told_apart() {
    let sum = |x: &mut Vec<u64>| x.iter().fold(0i64, |sum, &x| sum ^ branching(GAMMA, x));
    let t = least_t(&residues(), ROUNDS, Vec::clone, sum);
    assert!(t > TOLD_APART, "|t| = {t:.1}");
}

#[test]
#[ignore = "times what runs; make full runs it"]
fn centring_takes_one_time() {
    let q = Modulus::new(GAMMA).unwrap();
    let pools = residues();
    at_each_level(|| {
        let sum = |x: &mut Vec<u64>| x.iter().fold(0i64, |sum, &x| sum ^ q.centred(x));
        least_t(&pools, ROUNDS, Vec::clone, sum)
    });
}

/// Returns small parameters of BFV.
fn bfv() -> Arc<Params> {
    let builder = Params::builder(10, PlainModulus::batching(10, 17).unwrap());
    let builder = builder.prime_bits(&[50, 50], &[50]);
    builder
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap()
}

fn seed(class: Class, prng: &mut Prng) -> [u8; 32] {
    match class {
        Class::Fixed => [7; 32],
        Class::Random => prng.next_seed(),
    }
}

fn message(params: &Arc<Params>, class: Class, prng: &mut Prng) -> Plaintext {
    let t = params.plain_modulus().reducer();
    let random = |_| t.reduce(prng.next_u64()) as i64;
    let values: Vec<i64> = match class {
        Class::Fixed => vec![0; params.degree()],
        Class::Random => (0..params.degree()).map(random).collect(),
    };
    let encoder = BatchEncoder::new(Arc::clone(params)).unwrap();
    encoder.encode(&values, Integers::Unsigned).unwrap()
}

#[test]
#[ignore = "times what runs; make full runs it"]
fn key_generation_takes_one_time() {
    let (params, mut prng) = (bfv(), prng());
    let pools = Pools::new(POOL, |class| seed(class, &mut prng));
    at_each_level(|| {
        let generate = |seed: &mut [u8; 32]| {
            let params = Arc::clone(&params);
            KeyGenerator::from_seed_for_reproducible_tests_only(params, *seed).unwrap()
        };
        least_t(&pools, ROUNDS, |seed| *seed, generate)
    });
}

#[test]
#[ignore = "times what runs; make full runs it"]
fn encryption_takes_one_time() {
    let (params, mut prng) = (bfv(), prng());
    let keys = KeyGenerator::from_seed_for_reproducible_tests_only(Arc::clone(&params), [3; 32]);
    let public = keys.unwrap().public_key().unwrap();
    let encryptor = Encryptor::with_public_key(Arc::clone(&params), &public).unwrap();
    let encryptor = RefCell::new(Some(encryptor));
    let pools = Pools::new(POOL, |class| {
        (seed(class, &mut prng), message(&params, class, &mut prng))
    });
    at_each_level(|| {
        let prepare = |(seed, plain): &([u8; 32], Plaintext)| {
            let seeded = encryptor
                .take()
                .map(|e| e.seed_for_reproducible_tests_only(*seed));
            encryptor.replace(seeded);
            plain.clone()
        };
        least_t(&pools, ROUNDS, prepare, |plain| {
            encryptor
                .borrow()
                .as_ref()
                .map(|e| e.encrypt(plain).unwrap())
        })
    });
}

/// Returns a key and a ciphertext: both zero for the fixed class, and drawn for the random class.
fn opened(params: &Arc<Params>, class: Class, prng: &mut Prng) -> (SecretKey, Ciphertext) {
    let keys =
        KeyGenerator::from_seed_for_reproducible_tests_only(Arc::clone(params), prng.next_seed());
    let keys = keys.unwrap();
    let level = params.max_level();
    if class == Class::Fixed {
        let zeros = |limbs: usize| vec![0; limbs * params.degree()];
        let key = SecretKey::from_eval_limbs(params, zeros(params.moduli().len()).into()).unwrap();
        let polys = vec![zeros(level.primes()), zeros(level.primes())];
        return (key, Ciphertext::new(params, level, (), polys).unwrap());
    }
    let encryptor = Encryptor::with_public_key(Arc::clone(params), &keys.public_key().unwrap());
    let cipher = encryptor
        .unwrap()
        .encrypt(&message(params, class, prng))
        .unwrap();
    (keys.secret_key().clone(), cipher)
}

#[test]
#[ignore = "times what runs; make full runs it"]
fn bfv_decryption_takes_one_time() {
    let (params, mut prng) = (bfv(), prng());
    let pools = Pools::new(POOL, |class| opened(&params, class, &mut prng));
    at_each_level(|| {
        let prepare = |(key, cipher): &(SecretKey, Ciphertext)| {
            let decryptor = Decryptor::new(Arc::clone(&params), key.clone()).unwrap();
            (decryptor, cipher.clone())
        };
        least_t(&pools, ROUNDS, prepare, |(decryptor, cipher)| {
            decryptor.decrypt(cipher).unwrap()
        })
    });
}

/// Returns the bits of the small and the large key, and a ciphertext: all zero for the fixed class, and drawn for the
/// random class.
fn torus(
    params: &Arc<tfhe::Params>,
    class: Class,
    prng: &mut Prng,
) -> (Vec<u8>, Vec<u8>, LweCiphertext) {
    let client =
        Client::from_seed_for_reproducible_tests_only(Arc::clone(params), prng.next_seed());
    let client = client.unwrap();
    let cipher = client.encrypt(prng.next_u64() & 15).unwrap();
    let bits = |key| match class {
        Class::Fixed => vec![0; client.secret().expose_bits(key).len()],
        Class::Random => client.secret().expose_bits(key).to_vec(),
    };
    let words = match class {
        Class::Fixed => vec![0; cipher.words().len()],
        Class::Random => cipher.words().to_vec(),
    };
    let cipher = LweCiphertext::new(params, cipher.key(), words).unwrap();
    (bits(LweKey::Small), bits(LweKey::Large), cipher)
}

#[test]
#[ignore = "times what runs; make full runs it"]
fn tfhe_decryption_takes_one_time() {
    let builder = ParamsBuilder::toy_for_tests_only().messages(Messages::CIRCUITS);
    let builder = builder.modulus(tfhe::CiphertextModulus::Prime { bits: 50 });
    let builder = builder.order(tfhe::Order::KeySwitchFirst);
    let params = builder
        .allow_any_failure_rate_for_tests_only()
        .build()
        .unwrap();
    let mut prng = prng();
    let pools = Pools::new(POOL, |class| torus(&params, class, &mut prng));
    at_each_level(|| {
        let prepare = |(small, large, cipher): &(Vec<u8>, Vec<u8>, LweCiphertext)| {
            let (small, large) = (small.clone().into(), large.clone().into());
            let secret = tfhe::SecretKey::from_bits(&params, small, large).unwrap();
            let client = Client::with_secret(Arc::clone(&params), Arc::new(secret)).unwrap();
            (client, cipher.clone())
        };
        // Eight decryptions are timed together, since one takes little longer than reading the clock.
        least_t(&pools, ROUNDS, prepare, |(client, cipher)| {
            (0..8).fold(0, |sum, _| sum + client.decrypt(cipher).unwrap())
        })
    });
}
