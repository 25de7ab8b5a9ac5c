// SPDX-License-Identifier: Apache-2.0
//! Writes CKKS objects in SEAL's format and reads them back. Objects that SEAL cannot have are refused.

use std::sync::Arc;

use ringmill_isa::{Galois, Level};

use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::ckks::{Ciphertext, Encoder, Encryptor, KeyGenerator, Params};
use ringmill_schemes::internals::{Chain, emit};
use ringmill_schemes::rlwe::RlweError;
use ringmill_schemes::seal::{
    Compression, Object, SealContext, SealError, SealScheme, read_ciphertext, read_galois_keys,
    read_parameters, read_plaintext, read_public_key, read_relin_keys, read_secret_key,
    read_single_prime_secret_key, write_ciphertext, write_galois_keys, write_parameters,
    write_plaintext, write_public_key, write_relin_keys, write_secret_key_in_the_clear,
};

fn params(cipher: &[u32], special: &[u32]) -> Arc<Params> {
    Params::builder(5)
        .prime_bits(cipher, special)
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap()
}

fn context() -> SealContext {
    SealContext::new(params(&[40, 30, 30], &[40])).unwrap()
}

#[test]
fn parameters_come_back() {
    let context = context();
    let bytes = write_parameters(&context, Compression::Zstd).unwrap();
    let builder = read_parameters(&bytes).unwrap();
    assert!(
        builder.clone().build().is_err(),
        "insecure unless opted out"
    );
    assert_eq!(
        &builder
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap(),
        context.params()
    );
}

/// SEAL writes such a secret key for parameters with one prime.
#[test]
fn a_key_of_the_first_prime_alone_is_read() {
    let context = context();
    let params = context.params();
    let keygen = KeyGenerator::new(Arc::clone(params)).unwrap();
    let all = keygen.secret_key().expose_eval_limbs();
    let first = &all[..params.degree()];
    let zstd = Compression::Zstd;
    let chain = Chain::new(SealScheme::Ckks, params.degree(), params.moduli(), 0);
    let bytes = emit::plaintext(&chain, Object::SecretKey, 1, 1.0, first, zstd).unwrap();
    let read = read_single_prime_secret_key(&context, &bytes).unwrap();
    assert_eq!(&read[..], first);
    assert!(read_secret_key(&context, &bytes).is_err());
    let bytes = write_secret_key_in_the_clear(&context, keygen.secret_key(), zstd).unwrap();
    let error = read_single_prime_secret_key(&context, &bytes).unwrap_err();
    assert!(error.to_string().contains("number of primes"), "{error}");
    assert!(read_single_prime_secret_key(&context, &bytes[..bytes.len() / 2]).is_err());
}

#[test]
fn every_object_comes_back() {
    let context = context();
    let params = context.params();
    let keygen =
        KeyGenerator::from_seed_for_reproducible_tests_only(Arc::clone(params), [1; 32]).unwrap();
    // SEAL's files have no key identity, so only objects of a key without one come back equal.
    let unnamed = keygen.secret_key().clone().with_key_id(None);
    let keygen = KeyGenerator::from_secret_key(Arc::clone(params), unnamed).unwrap();
    for compression in [Compression::None, Compression::Zstd] {
        let plain = Encoder::new(Arc::clone(params))
            .encode_real(&[0.5; 16], Level(1), 1024.0)
            .unwrap();
        let bytes = write_plaintext(&context, &plain, compression).unwrap();
        assert_eq!(read_plaintext(&context, &bytes).unwrap(), plain);

        let secret = keygen.secret_key().clone();
        let bytes = write_secret_key_in_the_clear(&context, &secret, compression).unwrap();
        let back = read_secret_key(&context, &bytes).unwrap();
        assert_eq!(back.expose_eval_limbs(), secret.expose_eval_limbs());

        let encryptor = Encryptor::with_secret_key(Arc::clone(params), secret).unwrap();
        let cipher = encryptor.encrypt(&plain).unwrap();
        let bytes = write_ciphertext(&context, &cipher, compression).unwrap();
        assert_eq!(read_ciphertext(&context, &bytes).unwrap(), cipher);

        let public = keygen.public_key().unwrap();
        let bytes = write_public_key(&context, &public, compression).unwrap();
        let back = read_public_key(&context, &bytes).unwrap();
        assert_eq!(
            (back.b(), back.expanded_a(params)),
            (public.b(), public.expanded_a(params))
        );

        let relin = keygen.relin_key(KeyForm::Seeded).unwrap();
        let bytes = write_relin_keys(&context, &relin, compression).unwrap();
        assert_eq!(
            read_relin_keys(&context, &bytes).unwrap().0,
            relin.0.expanded(params).unwrap()
        );

        let galois = keygen
            .galois_keys(&[Galois(3), Galois(63)], KeyForm::Stored)
            .unwrap();
        let bytes = write_galois_keys(&context, &galois, compression).unwrap();
        assert_eq!(read_galois_keys(&context, &bytes).unwrap(), galois);
    }
}

#[test]
fn key_level_and_data_level_are_told_apart() {
    let context = context();
    let params = context.params();
    let keygen =
        KeyGenerator::from_seed_for_reproducible_tests_only(Arc::clone(params), [1; 32]).unwrap();
    let public =
        write_public_key(&context, &keygen.public_key().unwrap(), Compression::None).unwrap();
    assert!(matches!(
        read_ciphertext(&context, &public),
        Err(SealError::Field { field: "level", .. })
    ));
    let secret =
        write_secret_key_in_the_clear(&context, keygen.secret_key(), Compression::None).unwrap();
    assert!(matches!(
        read_plaintext(&context, &secret),
        Err(SealError::Field { field: "level", .. })
    ));
    let words = params.degree() * 3;
    let cipher = Ciphertext::new(params, Level(2), 1.0, vec![vec![0; words]; 2]).unwrap();
    let cipher = write_ciphertext(&context, &cipher, Compression::None).unwrap();
    assert!(matches!(
        read_public_key(&context, &cipher),
        Err(SealError::Field {
            field: "number of primes",
            ..
        })
    ));
    assert_eq!(context.parms_id(Level(2)).unwrap().0, cipher[16..48]);
    assert_eq!(
        context.parms_id(Level(3)).unwrap_err(),
        RlweError::Level {
            got: Level(3),
            max: Level(2)
        }
        .into()
    );
}

#[test]
fn what_seal_cannot_hold_is_refused() {
    assert!(matches!(
        SealContext::new(params(&[40, 30], &[40, 40])),
        Err(SealError::Unsupported { .. })
    ));
    assert!(matches!(
        SealContext::new(params(&[61, 30], &[40])),
        Err(SealError::Unsupported { .. })
    ));
    let builder = Params::builder(5).prime_bits(&[25, 25, 25], &[60]);
    let builder = builder.dnum(2).default_scale(2f64.powi(20));
    let long = builder.allow_insecure_parameters_for_tests_only();
    assert!(matches!(
        SealContext::new(long.build().unwrap()),
        Err(SealError::Unsupported { .. })
    ));
    let (one, other) = (
        context(),
        SealContext::new(params(&[40, 30], &[40])).unwrap(),
    );
    let cipher = Ciphertext::new(other.params(), Level(1), 1.0, vec![vec![0; 64]; 2]).unwrap();
    assert!(matches!(
        write_ciphertext(&one, &cipher, Compression::None),
        Err(SealError::Rlwe(_))
    ));
    let bytes = write_ciphertext(&other, &cipher, Compression::None).unwrap();
    assert!(matches!(
        read_ciphertext(&one, &bytes),
        Err(SealError::UnknownParmsId { .. })
    ));
}
