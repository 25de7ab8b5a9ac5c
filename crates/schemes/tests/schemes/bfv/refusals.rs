// SPDX-License-Identifier: Apache-2.0
//! Tests the auxiliary primes of BFV, the inputs that BFV refuses, and its files.

use ringmill_device::ResidueVec;
use ringmill_schemes::bfv::{
    Bfv, BfvError, Ciphertext, KeyForm, KeyGenerator, Level, Multiplication, Params, PlainModulus,
    Plaintext, SecurityLevel, SecurityTable, file,
};
use ringmill_schemes::exact::ExactError;
use ringmill_schemes::file::{FileError, InsecureParams};
use ringmill_schemes::rlwe::{KeyRequest, RlweError};
use ringmill_schemes::roles::{self, KeyHolder, Operator};
use ringmill_schemes::scheme::At;
use ringmill_schemes::{ParameterSet, Scheme, bfv, ckks};

use super::setup::{Setup, params};

fn builder(t: u64) -> ringmill_schemes::bfv::ParamsBuilder {
    Params::builder(5, PlainModulus::new(t).unwrap()).allow_insecure_parameters_for_tests_only()
}

#[test]
fn parameters_that_cannot_work_are_refused() {
    let q = 7681;
    for plain in [q, 3 * q] {
        let refused = builder(plain).primes(&[q], &[12289]).build();
        let expected = ExactError::NotCoprime { plain, prime: q };
        assert_eq!(refused, Err(BfvError::Exact(expected)));
    }
    let refused = builder(q).primes(&[12289], &[q]).build();
    assert!(matches!(
        refused,
        Err(BfvError::Exact(ExactError::NotCoprime { .. }))
    ));
    let refused = builder(7682).primes(&[q], &[12289]).build();
    assert_eq!(
        refused,
        Err(BfvError::Exact(ExactError::PlainTooLarge {
            plain: 7682,
            bits: 13
        }))
    );
    let t = PlainModulus::new(65537).unwrap();
    let secure = |bits: &[u32], table| {
        Params::builder(13, t)
            .prime_bits(bits, &[60])
            .security(table, SecurityLevel::Bits128)
            .build()
    };
    assert!(secure(&[50, 50, 50], SecurityTable::default()).is_ok());
    let refused = secure(&[60, 60, 60], SecurityTable::default());
    assert!(matches!(
        refused,
        Err(BfvError::Rlwe(RlweError::Insecure { .. }))
    ));
}

#[test]
fn auxiliary_primes_are_seals() {
    // SEAL calls get_primes(2N, 61, ...) for m_sk, gamma and B, in this order.
    let t = 65537;
    let small = params(12, t, &[36, 36], &[37], Multiplication::Behz);
    let found = ringmill_math::primes::ntt_primes(61, 12, 5).unwrap();
    let m_sk_and_b = [found[0], found[2], found[3]];
    assert_eq!(small.auxiliary_primes(Level(1)), m_sk_and_b);
    assert_eq!(small.auxiliary_primes(Level(0)), m_sk_and_b[..2]);
    // 32 + 33 + 60 bits are not below 122.
    let large = params(12, (1 << 32) + 1, &[60], &[60], Multiplication::Behz);
    assert_eq!(large.auxiliary_primes(Level(0)), m_sk_and_b);
    // The table has three primes, m_sk and two of B, then t and m-tilde. If t is m-tilde, the table has it once.
    assert_eq!(small.table().len(), 3 + 3 + 2);
    let word = params(12, 1 << 32, &[60], &[60], Multiplication::Behz);
    assert_eq!(word.table().len(), 2 + 3 + 1);
    // Primes that are ciphertext primes are left out.
    let primes = &found[..2];
    let t = PlainModulus::new(t).unwrap();
    let taken = Params::builder(12, t).primes(&primes[..1], &primes[1..]);
    let taken = taken.allow_insecure_parameters_for_tests_only().build();
    let expected = [found[2], found[4]];
    assert_eq!(taken.unwrap().auxiliary_primes(Level(0)), expected);
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let setup = Setup::new(params(5, 193, &[50, 50], &[50], Multiplication::Behz));
    let e = &setup.evaluator;
    let a = setup.encrypt(&[1, 2, 3]);
    let low = e.mod_switch_to_next(&a).unwrap();
    let product = e.square(&a).unwrap();
    let is_level = |r: Result<Ciphertext, BfvError>| {
        assert!(
            matches!(r, Err(BfvError::Rlwe(RlweError::LevelMismatch { .. }))),
            "{r:?}"
        );
    };
    let is_size = |r: Result<Ciphertext, BfvError>| {
        assert!(
            matches!(r, Err(BfvError::Rlwe(RlweError::Size { .. }))),
            "{r:?}"
        );
    };
    let is_product = |r: Result<Ciphertext, BfvError>, sizes| {
        let BfvError::Rlwe(RlweError::Product {
            first,
            second,
            most,
        }) = r.unwrap_err()
        else {
            panic!("another error");
        };
        assert_eq!(((first, second), most), (sizes, Ciphertext::MAX_SIZE));
    };
    is_level(e.add(&a, &low));
    is_level(e.sub(&low, &a));
    is_level(e.mul(&a, &low));
    is_level(e.mod_switch(&low, Level(1)));
    is_product(e.mul(&product, &a), (3, 2));
    is_product(e.mul(&a, &product), (2, 3));
    is_product(e.square(&product), (3, 3));
    is_size(e.relinearise(&a, &setup.relin));
    is_size(e.rotate_rows(&product, 1, &setup.galois));
    is_size(e.rotate_columns(&product, &setup.galois));
    let bottom = e.mod_switch_to_next(&low);
    assert!(matches!(
        bottom,
        Err(BfvError::Rlwe(RlweError::TooDeep { .. }))
    ));
    for transparent in [e.sub(&a, &a), e.add(&a, &e.negate(&a).unwrap())] {
        assert_eq!(transparent, Err(BfvError::Rlwe(RlweError::Transparent)));
    }
    let zero = Plaintext::new(&*setup.params, vec![0; 32]).unwrap();
    let transparent = e.mul_plain(&a, &zero);
    assert_eq!(transparent, Err(BfvError::Rlwe(RlweError::Transparent)));

    // Objects of other parameters or of another key are refused.
    let other = Setup::new(params(5, 97 * 193, &[50, 50], &[50], Multiplication::Behz));
    let theirs = other.encrypt(&[1]);
    let is_other = |r: Result<(), BfvError>| {
        assert!(
            matches!(r, Err(BfvError::Rlwe(RlweError::OtherParams { .. }))),
            "{r:?}"
        );
    };
    is_other(e.add(&a, &theirs).map(drop));
    is_other(e.mul_relin(&a, &a, &other.relin).map(drop));
    is_other(setup.decryptor.decrypt(&theirs).map(drop));
    is_other(setup.decryptor.noise_budget(&theirs).map(drop));
    let plain = Plaintext::new(&*other.params, vec![0; 32]).unwrap();
    is_other(e.add_plain(&a, &plain).map(drop));
    is_other(setup.public.encrypt(&plain).map(drop));
    let stranger = KeyGenerator::new(setup.params.clone()).unwrap();
    let relin = stranger.relin_key(KeyForm::Seeded).unwrap();
    let refused = e.mul_relin(&a, &a, &relin);
    assert!(matches!(
        refused,
        Err(BfvError::Rlwe(RlweError::OtherKeys { .. }))
    ));
    let hps = Setup::new(params(5, 193, &[50, 50], &[50], Multiplication::Hps));
    is_other(e.add(&a, &hps.encrypt(&[1])).map(drop));
}

#[test]
fn files_go_round_and_are_of_one_scheme_and_one_set() {
    for multiplication in Multiplication::ALL {
        let setup = Setup::new(params(5, 193, &[50, 50], &[50], multiplication));
        let (params, a) = (&setup.params, setup.encrypt(&[1, 2, 3]));
        let bytes = file::write_params(params);
        let read = file::read_params(&bytes, InsecureParams::AllowForTestsOnly).unwrap();
        assert_eq!(&read, params);
        assert!(file::read_params(&bytes, InsecureParams::Refuse).is_err());
        let cipher = file::write_ciphertext(params, &a).unwrap();
        assert_eq!(file::read_ciphertext(&cipher, params), Ok(a));
        let plain = Plaintext::new(&**params, (0..32).collect()).unwrap();
        let written = file::write_plaintext(&plain);
        assert_eq!(file::read_plaintext(&written, params), Ok(plain.clone()));
        let seeded = setup.secret.encrypt_at(&plain, Level(1)).unwrap();
        let written = file::write_ciphertext(params, &seeded).unwrap();
        assert_eq!(file::read_ciphertext(&written, params), Ok(seeded));

        let theirs = ckks::Params::builder(5).prime_bits(&[50, 50], &[50]);
        let theirs = theirs.allow_insecure_parameters_for_tests_only();
        let theirs = theirs.build().unwrap();
        let refused = ckks::file::read_ciphertext(&cipher, &theirs);
        assert!(matches!(refused, Err(FileError::Scheme { got: 1, .. })));
        let refused = ckks::file::read_params(&bytes, InsecureParams::AllowForTestsOnly);
        assert!(matches!(refused, Err(FileError::Scheme { got: 1, .. })));
        for length in 0..bytes.len() {
            let cut = file::read_params(&bytes[..length], InsecureParams::AllowForTestsOnly);
            assert!(cut.is_err());
        }
    }
    assert_eq!((Bfv::TAG.byte, Bfv::TAG.name), (1, "BFV"));
}

#[test]
fn altered_parameters_are_refused_whatever_is_altered() {
    use sha2::{Digest, Sha256};
    let params = params(5, 193, &[50, 50], &[50], Multiplication::Behz);
    let good = file::write_params(&params);
    for at in 72..good.len() - 32 {
        for flip in [1u8, 0x80] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            let end = bad.len() - 32;
            let sum = Sha256::digest(&bad[..end]);
            bad[end..].copy_from_slice(&sum);
            let read = file::read_params(&bad, InsecureParams::AllowForTestsOnly);
            assert!(read.is_err(), "byte {at}");
        }
    }
}

#[test]
fn the_parties_compute_together() {
    let params = params(6, 7681, &[60, 60, 60], &[60], Multiplication::Hps);
    let holder = <bfv::KeyHolder as roles::KeyHolder>::new(params.clone()).unwrap();
    let operator = <bfv::Operator as roles::Operator>::new(params.clone());
    let at = At {
        level: params.max_level(),
        annotation: (),
    };
    let cipher = holder.encrypt(&vec![1, -2, 3, -3840], &at).unwrap();
    operator.check(&cipher).unwrap();
    assert!(holder.noise_budget(&cipher).unwrap() > 100);
    let requests = [
        KeyRequest::Relin,
        KeyRequest::Galois(params.conjugation_element()),
    ];
    let keys = holder.evaluation_keys(&requests, true).unwrap();
    let key = operator.key(&keys, &KeyRequest::Relin, false).unwrap();
    assert!(key.is_some_and(|key| key.seed().is_none()));
    let weights = operator.encode(&vec![10, 10, 10, 1], &at).unwrap();
    let evaluator = ringmill_schemes::bfv::Evaluator::new(params.clone());
    let result = evaluator.mul_plain(&cipher, &weights).unwrap();
    let polys = result.into_polys().into_iter();
    let polys = polys.map(ResidueVec::into_wide).collect();
    let result = operator.ciphertext(&at, polys, holder.key_id()).unwrap();
    let opened = holder.decrypt(&result).unwrap();
    assert_eq!(holder.decode(&opened, 5).unwrap(), [10, -20, 30, -3840, 10]);
    assert!(holder.encrypt(&vec![3841], &at).is_err());
    assert!(params.summary().contains("BFV") && ParameterSet::summary(&*params).contains("HPS"));
}
