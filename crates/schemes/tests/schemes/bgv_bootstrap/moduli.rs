// SPDX-License-Identifier: Apache-2.0
//! Tests BGV operations modulo each of the plaintext moduli of one parameter set.

use std::sync::Arc;

use ringmill_schemes::At;
use ringmill_schemes::bgv::{
    Ciphertext, CoefficientEncoder, Decryptor, Encryptor, Evaluator, Factor, Galois, KeyForm,
    KeyGenerator, Level, Params, Plaintext, PrimePower, file, friendly_primes,
};

const N: usize = 16;

struct Setup {
    params: Arc<Params>,
    keygen: KeyGenerator,
    encryptor: Encryptor,
    decryptor: Decryptor,
    evaluator: Evaluator,
}

impl Setup {
    fn new() -> Self {
        let t = PrimePower::new(5, 2).unwrap().modulus().unwrap();
        let primes = friendly_primes(8).unwrap();
        let params = Params::builder(4, t)
            .primes(&primes[..6], &primes[6..])
            .further_plain_moduli(3)
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap();
        let keygen =
            KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), [3; 32]).unwrap();
        let secret = keygen.secret_key().clone();
        let encryptor = Encryptor::with_secret_key(params.clone(), secret.clone()).unwrap();
        Self {
            encryptor: encryptor.seed_for_reproducible_tests_only([4; 32]),
            decryptor: Decryptor::new(params.clone(), secret).unwrap(),
            evaluator: Evaluator::new(params.clone()),
            keygen,
            params,
        }
    }

    fn plain(&self, plain: u8, m: &[u64]) -> Plaintext {
        Plaintext::modulo(&*self.params, plain, m.to_vec()).unwrap()
    }

    fn encrypt(&self, plain: u8, m: &[u64]) -> Ciphertext {
        let (level, annotation) = (self.params.max_level(), Factor::one_modulo(plain));
        let at = At { level, annotation };
        self.encryptor
            .encrypt_under(&self.plain(plain, m), &at)
            .unwrap()
    }

    fn open(&self, cipher: &Ciphertext) -> Vec<u64> {
        self.decryptor.decrypt(cipher).unwrap().residues().to_vec()
    }
}

fn product(a: &[u64], b: &[u64], t: u64) -> Vec<u64> {
    let mut out = vec![0u64; N];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            let term = x * y % t;
            let term = if i + j < N { term } else { (t - term) % t };
            out[(i + j) % N] = (out[(i + j) % N] + term) % t;
        }
    }
    out
}

fn turned(a: &[u64], g: usize, t: u64) -> Vec<u64> {
    let mut out = vec![0u64; N];
    for (i, &x) in a.iter().enumerate() {
        let place = i * g % (2 * N);
        out[place % N] = if place < N { x } else { (t - x) % t };
    }
    out
}

#[test]
fn every_operation_is_right_modulo_every_plaintext_modulus() {
    let setup = Setup::new();
    let e = &setup.evaluator;
    let relin = setup.keygen.relin_key(KeyForm::Seeded).unwrap();
    // A key for a level serves that level and the levels below.
    let low = setup
        .keygen
        .relin_key_at(KeyForm::Stored, Level(3))
        .unwrap();
    assert!(low.0.bytes() < 2 * relin.0.bytes());
    let g = Galois(5);
    let galois = setup.keygen.galois_keys(&[g], KeyForm::Stored).unwrap();
    let mut state = 1u64;
    for plain in 0..=setup.params.last_plain() {
        let t = setup.params.plain_at(plain).unwrap().value();
        assert_eq!(t, 25 * 5u64.pow(plain.into()));
        let mut next = || {
            let one = |_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(11);
                (state >> 30) % t
            };
            (0..N).map(one).collect::<Vec<u64>>()
        };
        for _ in 0..20 {
            let (a, b, c) = (next(), next(), next());
            let (x, y) = (setup.encrypt(plain, &a), setup.encrypt(plain, &b));
            let ab = product(&a, &b, t);
            let xy = e.mul_relin(&x, &y, &relin).unwrap();
            let xy = e.mod_switch(&xy, Level(3)).unwrap();
            assert_eq!(setup.open(&xy), ab);
            let squared = e.relinearise(&e.square(&xy).unwrap(), &low).unwrap();
            assert_eq!(setup.open(&squared), product(&ab, &ab, t));
            let moved = e.automorphism(&xy, g, &galois).unwrap();
            assert_eq!(setup.open(&moved), turned(&ab, 5, t));
            let m = setup.plain(plain, &c);
            let sum = e.add_plain(&xy, &m).unwrap();
            let expected: Vec<u64> = ab.iter().zip(&c).map(|(a, c)| (a + c) % t).collect();
            assert_eq!(setup.open(&sum), expected);
            let times = e.mul_plain(&xy, &m).unwrap();
            assert_eq!(setup.open(&times), product(&ab, &c, t));
            let bytes = file::write_ciphertext(&setup.params, &xy).unwrap();
            let read = file::read_ciphertext(&bytes, &setup.params).unwrap();
            assert_eq!(read, xy);
            // Operands of different plaintext moduli are refused.
            let other = (plain + 1) % (setup.params.last_plain() + 1);
            let z = setup.encrypt(other, &[1; N]);
            let z = e.mod_switch(&z, Level(3)).unwrap();
            assert!(e.add(&xy, &z).is_err() && e.sub(&z, &xy).is_err() && e.mul(&xy, &z).is_err());
            let foreign = setup.plain(other, &[1; N]);
            assert!(e.add_plain(&xy, &foreign).is_err() && e.mul_plain(&xy, &foreign).is_err());
        }
    }
    // A plaintext of one modulus is neither encrypted nor decoded as one of another.
    let at = At {
        level: Level(1),
        annotation: Factor::one_modulo(1),
    };
    let plain = setup.plain(0, &[1; N]);
    assert!(setup.encryptor.encrypt_under(&plain, &at).is_err());
    let encoder = CoefficientEncoder::new(setup.params.clone());
    assert!(encoder.decode_signed(&setup.plain(1, &[1; N])).is_err());
    assert!(encoder.decode_signed(&plain).is_ok());
    assert!(Plaintext::modulo(&*setup.params, 4, vec![0; N]).is_err());
    // A public key's errors are multiples of t alone.
    let public = setup.keygen.public_key().unwrap();
    let public = Encryptor::with_public_key(setup.params.clone(), &public).unwrap();
    assert!(public.encrypt_under(&setup.plain(1, &[1; N]), &at).is_err());
    assert!(public.encrypt_at(&plain, Level(1)).is_ok());
}
