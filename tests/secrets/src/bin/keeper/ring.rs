// SPDX-License-Identifier: Apache-2.0
//! Scenarios of the ring schemes, with keys, encryptions, phases and files.

use std::path::PathBuf;
use std::sync::Arc;

use ringmill_device::whole_file::{self, Contents};
use ringmill_math::sample::{self, WideGaussian};
use ringmill_math::{Modulus, NttPlan, Prng, kernels};
use ringmill_schemes::bgv::bootstrap::{BootstrapKeys, Bootstrapping, Maps, SparseSecret};
use ringmill_schemes::bgv::{PlainModulus, PrimePower, friendly_primes};
use ringmill_schemes::exact::{BatchEncoder, ExactParams, ExactScheme, Integers};
use ringmill_schemes::rlwe::{
    self, Annotation, Ciphertext, KeyForm, KeyGenerator, Level, Params, RingParams, SecretKey,
};
use ringmill_schemes::roles::KeyHolder as _;
use ringmill_schemes::scheme::{At, Scheme};
use ringmill_schemes::{bfv, bgv, ckks, exact, file};
use ringmill_secrets::telling::{Keeper, Kept, Stage, Teller};
use zeroize::Zeroizing;

use super::generator::{self, seed_of};

const SEED: [u8; 32] = [17; 32];
const LOG_N: u8 = 9;
/// The bits of the ciphertext primes, and of the special primes.
pub type Chain = (&'static [u32], &'static [u32]);
pub const WIDE: Chain = (&[50, 40, 41], &[50]);
pub const SHORT: Chain = (&[30, 29, 28], &[31]);

/// Returns `n` words of zero that are wiped when dropped.
fn words<T: Clone + Default + zeroize::Zeroize>(n: usize) -> Zeroizing<Vec<T>> {
    Zeroizing::new(vec![T::default(); n])
}

/// Tells residues in words of 64 bits and, if all primes are below 2^32, in words of 32 bits.
fn tell_limbs(to: &mut Teller, params: &Params, name: &str, kept: Kept, limbs: &[u64]) {
    to.tell(name, kept, limbs);
    let mut short = words::<u32>(limbs.len());
    for (short, &wide) in short.iter_mut().zip(limbs) {
        *short = wide as u32;
    }
    if params.moduli().iter().all(|q| q >> 32 == 0) {
        to.tell(&format!("{name} in words of 32 bits"), Kept::Never, &short);
    }
}

/// Tells limbs that are in evaluation form, and their coefficients.
fn tell_both_forms(to: &mut Teller, params: &Params, name: &str, limbs: &[u64]) {
    tell_limbs(
        to,
        params,
        &format!("{name}, evaluations"),
        Kept::Never,
        limbs,
    );
    let mut limbs = Zeroizing::new(limbs.to_vec());
    for (&q, limb) in params
        .reducers()
        .iter()
        .zip(limbs.chunks_exact_mut(params.degree()))
    {
        plan(params, q).inverse(limb).expect("inverse");
    }
    tell_limbs(
        to,
        params,
        &format!("{name}, coefficients"),
        Kept::Never,
        &limbs,
    );
}

fn plan(params: &Params, q: Modulus) -> Arc<NttPlan> {
    NttPlan::shared(q, params.ring()).expect("plan")
}

/// Tells small coefficients as they are drawn, and as residues modulo each prime.
fn tell_coefficients(to: &mut Teller, params: &Params, name: &str, samples: &[i8]) {
    to.tell(&format!("{name}, drawn"), Kept::Never, samples);
    let mut limb = words::<u64>(samples.len());
    for &q in params.reducers() {
        sample::to_limb(q, samples, &mut limb).expect("lengths");
        to.tell_small(&format!("{name}, residues"), Kept::Never, &limb);
    }
}

/// Tells small coefficients as they are drawn, as residues, and in evaluation form.
fn tell_small(to: &mut Teller, params: &Params, name: &str, samples: &[i8]) {
    tell_coefficients(to, params, name, samples);
    let mut limb = words::<u64>(samples.len());
    for &q in params.reducers() {
        sample::to_limb(q, samples, &mut limb).expect("lengths");
        plan(params, q).forward(&mut limb).expect("forward");
        tell_limbs(
            to,
            params,
            &format!("{name}, evaluations"),
            Kept::Never,
            &limb,
        );
    }
}

/// Generates a secret key and evaluation keys, and tells the secrets in them. Returns the key generator.
fn keys<P: RingParams>(keeper: &mut Keeper, own: &Arc<P>) -> KeyGenerator {
    let params = own.ring_params();
    let keygen = KeyGenerator::from_seed_for_reproducible_tests_only(Arc::clone(own), SEED);
    let keygen = keygen.expect("keys");
    keygen.public_key().expect("public key");
    for form in [KeyForm::Seeded, KeyForm::Stored] {
        keygen.relin_key(form).expect("relinearisation key");
        keygen.rotation_keys(&[1], form).expect("Galois keys");
    }
    keeper.tells(|to| tell_keys(to, params, keygen.secret_key().expose_eval_limbs()));
    keygen
}

fn tell_keys(to: &mut Teller, params: &Params, secret: &[u64]) {
    tell_limbs(to, params, "secret key", Kept::WithItsHolder, secret);
    let seed = seed_of(SEED, 0);
    let mut prng = Prng::from_seed_for_reproducible_tests_only(*seed);
    let drawn = params
        .secret_distribution()
        .sample(&mut prng, params.degree());
    tell_coefficients(to, params, "secret", &drawn.expect("secret"));
    generator::tell(to, "generator of the secret", &seed, 0);
    // The third generator makes the public key, after the key's identity. It draws a public seed, and then an error.
    let seed = seed_of(SEED, 2);
    let mut prng = Prng::from_seed_for_reproducible_tests_only(*seed);
    prng.next_seed();
    let drawn = params
        .error_distribution()
        .sample(&mut prng, params.degree());
    tell_small(
        to,
        params,
        "error of the public key",
        &drawn.expect("error"),
    );
    generator::tell(to, "generator of the public key", &seed, 32);
    let n = params.degree();
    let (mut square, mut turned) = (words::<u64>(secret.len()), words::<u64>(secret.len()));
    let galois = params.galois_element(1).expect("element");
    let limbs = square.chunks_exact_mut(n).zip(turned.chunks_exact_mut(n));
    for ((&q, s), (square, turned)) in params
        .reducers()
        .iter()
        .zip(secret.chunks_exact(n))
        .zip(limbs)
    {
        kernels::mul(q, square, s, s).expect("lengths");
        kernels::auto_eval(u64::from(galois), turned, s).expect("lengths");
    }
    tell_limbs(to, params, "square of the secret", Kept::Never, &square);
    tell_limbs(to, params, "turned secret", Kept::Never, &turned);
}

const PUBLIC_SEED: [u8; 32] = [31; 32];
const SECRET_SEED: [u8; 32] = [32; 32];

/// Tells the secret samples of the first encryptions under the public key and under the secret key.
fn tell_encryptions(to: &mut Teller, params: &Params) {
    let error = |prng: &mut Prng| {
        let drawn = params.error_distribution().sample(prng, params.degree());
        drawn.expect("error")
    };
    let seed = seed_of(PUBLIC_SEED, 0);
    let mut prng = Prng::from_seed_for_reproducible_tests_only(*seed);
    tell_small(
        to,
        params,
        "u",
        &sample::ternary(&mut prng, params.degree()),
    );
    tell_small(to, params, "e_0", &error(&mut prng));
    tell_small(to, params, "e_1", &error(&mut prng));
    generator::tell(to, "generator of an encryption", &seed, 0);
    let seed = seed_of(SECRET_SEED, 0);
    let mut prng = Prng::from_seed_for_reproducible_tests_only(*seed);
    prng.next_seed();
    tell_small(to, params, "e", &error(&mut prng));
    generator::tell(to, "generator of a seeded encryption", &seed, 32);
}

/// Returns the phase c_0 + c_1 s of a ciphertext of two polynomials, in evaluation form.
fn phase<A: Annotation>(
    params: &Params,
    secret: &SecretKey,
    cipher: &Ciphertext<A>,
) -> Zeroizing<Vec<u64>> {
    let n = params.degree();
    let mut phase = words::<u64>(cipher.level().primes() * n);
    let secret = secret.expose_eval_limbs().chunks_exact(n);
    let limbs = phase.chunks_exact_mut(n).zip(secret).zip(params.reducers());
    for (i, ((limb, s), &q)) in limbs.enumerate() {
        let [c0, c1] = [0, 1].map(|poly| {
            let polys = cipher.polys().get(poly).expect("two polynomials");
            polys
                .residues()
                .get(i * n..(i + 1) * n)
                .expect("limb")
                .wide()
        });
        kernels::mac(q, limb, &c0, &c1, s).expect("lengths");
    }
    phase
}

/// A folder for temporary files of this process. Dropping it removes the folder.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        let path = std::env::temp_dir().join(format!("ringmill-secrets-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("folder");
        Self(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Saves a secret key to a file and returns the key that is loaded from it.
fn through_a_file(params: &Params, secret: &SecretKey) -> SecretKey {
    let folder = Folder::new();
    let path = folder.file("secret");
    let bytes = file::write_secret_key_in_the_clear(secret);
    whole_file::write(&path, Contents::Secret, &bytes).expect("written");
    drop(bytes);
    let bytes = whole_file::read_secret(&path, u64::MAX).expect("read");
    let cut = file::read_secret_key_in_the_clear(&bytes[..bytes.len() - 1], params);
    cut.expect_err("a file cut short");
    file::read_secret_key_in_the_clear(&bytes, params).expect("a key")
}

pub fn ckks(keeper: &mut Keeper, (cipher, special): Chain) {
    let builder = ckks::Params::builder(LOG_N).prime_bits(cipher, special);
    let params = builder
        .allow_insecure_parameters_for_tests_only()
        .build()
        .expect("parameters");
    let (ring, scale) = (params.ring_params(), 2f64.powi(26));
    let keygen = keys(keeper, &params);
    let secret = through_a_file(ring, keygen.secret_key());
    let encoder = ckks::Encoder::new(params.clone());
    let values: Vec<f64> = (0..params.slots()).map(|i| (i as f64).sin()).collect();
    let message = encoder
        .encode_real(&values, params.max_level(), scale)
        .expect("message");
    let public = keygen.public_key().expect("public key");
    let encryptor = ckks::Encryptor::with_public_key(params.clone(), &public).expect("encryptor");
    let encryptor = encryptor.seed_for_reproducible_tests_only(PUBLIC_SEED);
    let cipher = encryptor.encrypt(&message).expect("encryption");
    let seeded =
        ckks::Encryptor::with_secret_key(params.clone(), secret.clone()).expect("encryptor");
    let seeded = seeded.seed_for_reproducible_tests_only(SECRET_SEED);
    seeded.encrypt(&message).expect("encryption");
    let decryptor = ckks::Decryptor::new(params.clone(), secret).expect("decryptor");
    opened(&encoder, &decryptor, &cipher);
    keeper.tells(|to| {
        tell_encryptions(to, ring);
        let limbs = phase(ring, keygen.secret_key(), &cipher);
        tell_both_forms(to, ring, "phase", &limbs);
        tell_opened(to, &encoder, &decryptor, &cipher);
    });
    // The key holder does the same. Run time and packages use it.
    let holder = ckks::KeyHolder::with_secret_key(params.clone(), keygen.secret_key().clone());
    let holder = holder.expect("holder");
    let at = At {
        level: params.max_level(),
        annotation: ckks::Scale(scale),
    };
    let plain = holder.decrypt(&cipher).expect("decryption");
    let mut slots = holder.decode(&plain, params.slots()).expect("slots");
    drop(plain);
    forget(&mut slots);
    holder.encrypt(&slots, &at).expect("encryption");
    keeper.search(Stage::Held);
    drop((keygen, seeded, decryptor, holder));
    // The encoder is still alive.
    keeper.search(Stage::Dropped);
    drop(encoder);
    keeper.search(Stage::Dropped);
}

const FLOODING_SEED: [u8; 32] = [33; 32];
/// The bound on the error of a slot, which sets the size of the flooding noise.
const BOUND: f64 = 1e-4;

/// Overwrites a decoded result. The library leaves that to its caller.
fn forget<T: Copy + Default>(slots: &mut [T]) {
    slots.fill(T::default());
    std::hint::black_box(slots);
}

fn flooded(params: &ckks::Params, plain: &ckks::Plaintext) -> ckks::Plaintext {
    let flooding = ckks::Flooding::new(4, 2).expect("flooding");
    let mut prng = Prng::from_seed_for_reproducible_tests_only(FLOODING_SEED);
    flooding
        .flood(params, plain, BOUND, &mut prng)
        .expect("noise")
}

/// Decrypts a ciphertext, and decodes, copies, writes, reads and shares the plaintext.
fn opened(encoder: &ckks::Encoder, decryptor: &ckks::Decryptor, cipher: &ckks::Ciphertext) {
    let params = encoder.params();
    let plain = decryptor.decrypt(cipher).expect("decryption");
    forget(&mut encoder.coefficients(&plain).expect("coefficients"));
    forget(&mut encoder.decode_real(&plain, params.slots()).expect("slots"));
    forget(&mut encoder.decode(&plain, params.slots()).expect("slots"));
    let copy = plain.clone();
    assert!(copy == plain);
    let bytes = Zeroizing::new(ckks::file::write_plaintext(&copy));
    ckks::file::read_plaintext(&bytes, params).expect("a plaintext");
    let shared = flooded(params, &plain);
    forget(&mut encoder.decode(&shared, 8).expect("slots"));
}

/// Tells the phase of a ciphertext in every form that decryption, decoding and sharing give it.
fn tell_opened(
    to: &mut Teller,
    encoder: &ckks::Encoder,
    decryptor: &ckks::Decryptor,
    cipher: &ckks::Ciphertext,
) {
    let params = encoder.params();
    let ring = params.ring_params();
    let plain = decryptor.decrypt(cipher).expect("decryption");
    let coefficients = encoder.coefficients(&plain).expect("coefficients");
    to.tell("phase, lifted", Kept::Never, &coefficients);
    let integers: Vec<i64> = coefficients.iter().map(|&x| x as i64).collect();
    to.tell("phase, lifted to integers", Kept::Never, &integers);
    let reals = encoder.decode_real(&plain, params.slots()).expect("slots");
    to.tell("decoded slots", Kept::Never, &reals);
    let slots = encoder.decode(&plain, params.slots()).expect("slots");
    let parts: Vec<f64> = slots.iter().flat_map(|z| [z.re, z.im]).collect();
    to.tell("decoded complex slots", Kept::Never, &parts);
    let shared = flooded(params, &plain);
    let limbs: Vec<u64> = shared.limbs().iter().collect();
    tell_both_forms(to, ring, "shared phase", &limbs);
    let sigma = BOUND * plain.scale() * 2f64.sqrt() * 16.0;
    let mut prng = Prng::from_seed_for_reproducible_tests_only(FLOODING_SEED);
    let noise = WideGaussian::at_least(sigma)
        .expect("sigma")
        .draw(&mut prng, ring.degree());
    to.tell_small("noise of a shared decryption", Kept::Never, &noise);
    let mut limb = words::<u64>(noise.len());
    for &q in ring.reducers().iter().take(cipher.level().primes()) {
        sample::to_limb_i128(q, &noise, &mut limb).expect("lengths");
        to.tell_small("noise of a shared decryption, residues", Kept::Never, &limb);
        plan(ring, q).forward(&mut limb).expect("forward");
        to.tell(
            "noise of a shared decryption, evaluations",
            Kept::Never,
            &limb,
        );
    }
}

/// Runs a scenario of BFV or BGV: encrypts, decrypts and measures the noise.
fn integers<S, A>(keeper: &mut Keeper, params: Arc<S::Params>)
where
    A: Annotation,
    S: ExactScheme,
    S: Scheme<
            Annotation = A,
            Plaintext = exact::Plaintext,
            Ciphertext = Ciphertext<A>,
            Message = Vec<i64>,
            KeyName = rlwe::KeyRequest,
            Keys = rlwe::EvaluationKeys,
        >,
    S::Params: ExactParams,
    S::Error: From<rlwe::RlweError> + From<exact::ExactError> + std::fmt::Debug,
{
    let ring = params.ring_params();
    let keygen = keys(keeper, &params);
    let secret = through_a_file(ring, keygen.secret_key());
    let encoder = BatchEncoder::new(params.clone()).expect("encoder");
    let values: Vec<i64> = (0..encoder.slots() as i64).map(|i| i % 19 - 9).collect();
    let message = encoder.encode(&values, Integers::Signed).expect("message");
    let public = keygen.public_key().expect("public key");
    let encryptor =
        exact::Encryptor::<S>::with_public_key(params.clone(), &public).expect("encryptor");
    let encryptor = encryptor.seed_for_reproducible_tests_only(PUBLIC_SEED);
    let cipher = encryptor.encrypt(&message).expect("encryption");
    let seeded =
        exact::Encryptor::<S>::with_secret_key(params.clone(), secret.clone()).expect("encryptor");
    let seeded = seeded.seed_for_reproducible_tests_only(SECRET_SEED);
    let low = seeded
        .encrypt_at(&message, Level::LOWEST)
        .expect("encryption");
    let decryptor = exact::Decryptor::<S>::new(params.clone(), secret).expect("decryptor");
    let plain = decryptor.decrypt(&cipher).expect("decryption");
    assert_eq!(encoder.decode_signed(&plain).expect("integers"), values);
    decryptor.noise_budget(&cipher).expect("budget");
    decryptor.decrypt(&low).expect("decryption");
    // The noise of this ciphertext has used up the budget.
    let polys = cipher
        .polys()
        .iter()
        .rev()
        .map(|poly| poly.residues().iter().collect());
    let broken = Ciphertext::<A>::new(ring, cipher.level(), S::FRESH, polys.collect());
    let Ok(broken) = broken else {
        panic!("a ciphertext")
    };
    decryptor.decrypt(&broken).expect_err("no budget");
    decryptor.noise_budget(&broken).expect("budget");
    keeper.tells(|to| {
        tell_encryptions(to, ring);
        let (secret, t) = (keygen.secret_key(), params.plain_modulus().value());
        tell_phases(to, ring, "phase", &phase(ring, secret, &cipher), t);
        tell_phases(
            to,
            ring,
            "phase at the lowest level",
            &phase(ring, secret, &low),
            t,
        );
        tell_phases(to, ring, "lost phase", &phase(ring, secret, &broken), t);
    });
    let holder = rlwe::KeyHolder::<S>::with_secret_key(params.clone(), keygen.secret_key().clone());
    let holder = holder.expect("holder");
    let plain = holder.decrypt(&cipher).expect("decryption");
    holder.decode(&plain, 8).expect("integers");
    drop(plain);
    keeper.search(Stage::Held);
    drop((keygen, seeded, decryptor, holder));
    keeper.search(Stage::Dropped);
}

/// Tells a phase, and the phase times t, by which noise is measured.
fn tell_phases(to: &mut Teller, params: &Params, name: &str, limbs: &[u64], t: u64) {
    tell_both_forms(to, params, name, limbs);
    let mut scaled = Zeroizing::new(limbs.to_vec());
    for (&q, limb) in params
        .reducers()
        .iter()
        .zip(scaled.chunks_exact_mut(params.degree()))
    {
        kernels::mul_scalar_assign(q, limb, q.reduce(t));
    }
    tell_both_forms(to, params, &format!("{name} times t"), &scaled);
}

pub fn bfv(keeper: &mut Keeper) {
    let t = PlainModulus::new(12289).expect("modulus");
    let builder = bfv::Params::builder(LOG_N, t).prime_bits(WIDE.0, WIDE.1);
    let params = builder.allow_insecure_parameters_for_tests_only().build();
    integers::<bfv::Bfv, ()>(keeper, params.expect("parameters"));
}

pub fn bgv(keeper: &mut Keeper) {
    let t = PlainModulus::new(12289).expect("modulus");
    let builder = bgv::Params::builder(LOG_N, t).prime_bits(WIDE.0, WIDE.1);
    let params = builder.allow_insecure_parameters_for_tests_only().build();
    integers::<bgv::Bgv, bgv::Factor>(keeper, params.expect("parameters"));
}

/// Runs a scenario with the sparse secret to which BGV's bootstrapping switches ciphertexts.
pub fn sparse(keeper: &mut Keeper) {
    let primes = friendly_primes(21).expect("primes");
    let (cipher, special) = primes.split_at(primes.len() - 7);
    let t = PrimePower::new(17, 1)
        .expect("power")
        .modulus()
        .expect("modulus");
    let builder = bgv::Params::builder(9, t)
        .primes(cipher, special)
        .further_plain_moduli(1);
    let params = builder
        .allow_insecure_parameters_for_tests_only()
        .build()
        .expect("parameters");
    let ring = params.ring_params();
    let setup = Bootstrapping::with_chance(params.clone(), 8, -40.0).expect("bootstrapping");
    let maps = Maps::new(&setup, Default::default()).expect("maps");
    let keygen = KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), SEED);
    let keygen = keygen.expect("keys");
    let sparse = SparseSecret::sample(setup.params(), setup.weight(), &keygen).expect("secret");
    keeper.tells(|to| {
        let limbs = sparse.secret_key().expose_eval_limbs();
        tell_limbs(to, ring, "sparse secret", Kept::WithItsHolder, limbs);
    });
    BootstrapKeys::of_secret(&setup, &maps, &keygen, &sparse, KeyForm::Seeded).expect("keys");
    keeper.search(Stage::Held);
    drop(sparse);
    keeper.search(Stage::Dropped);
}

/// Makes secrets in a computation that ends in a panic.
pub fn panicking(keeper: &mut Keeper) {
    std::panic::set_hook(Box::new(|_| {}));
    let builder = ckks::Params::builder(LOG_N).prime_bits(WIDE.0, WIDE.1);
    let params = builder
        .allow_insecure_parameters_for_tests_only()
        .build()
        .expect("parameters");
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let keygen = keys(keeper, &params);
        let public = keygen.public_key().expect("public key");
        let encryptor =
            ckks::Encryptor::with_public_key(params.clone(), &public).expect("encryptor");
        let encryptor = encryptor.seed_for_reproducible_tests_only(PUBLIC_SEED);
        let encoder = ckks::Encoder::new(params.clone());
        let message = encoder
            .encode_real(&[0.25; 64], Level(1), 2f64.powi(26))
            .expect("message");
        let cipher = encryptor.encrypt(&message).expect("encryption");
        let secret = keygen.secret_key().clone();
        let decryptor = ckks::Decryptor::new(params.clone(), secret).expect("decryptor");
        let plain = decryptor.decrypt(&cipher).expect("decryption");
        keeper.tells(|to| {
            let ring = params.ring_params();
            tell_both_forms(
                to,
                ring,
                "phase",
                &phase(ring, keygen.secret_key(), &cipher),
            );
        });
        panic!(
            "a fault of the caller, who holds {} limbs",
            plain.limbs().len()
        );
    }));
    assert!(caught.is_err());
    keeper.search(Stage::Dropped);
}
