// SPDX-License-Identifier: Apache-2.0
//! Tests that files are read back as they were written, and that altered, truncated or extended files are refused
//! without a panic.

use std::num::NonZeroU32;

use crate::common::Setup;
use ringmill_isa::{Galois, Level};
use ringmill_schemes::ckks::file::{self, FileError, InsecureParams, Kind};
use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::ckks::{
    Ciphertext, Decryptor, Encoder, Encryptor, Evaluator, KeyGenerator, Params, ParamsBuilder,
};
use ringmill_schemes::rlwe::ledger::Charge;
use sha2::{Digest, Sha256};

/// The number of bytes of a file before its payload.
const HEADER: usize = 72;

type Check = Box<dyn Fn(&[u8], &Params) -> Result<Vec<u8>, FileError>>;

/// Returns files of parameters, plaintexts, ciphertexts and keys, each with a function that reads it and writes it
/// again.
fn all_files(s: &mut Setup) -> Vec<(Kind, Vec<u8>, Check)> {
    let values = s.values(1);
    let plain = s.encode(&values);
    let cipher = s.public.encrypt(&plain).unwrap();
    let seeded = s.secret.encrypt(&plain).unwrap();
    let public = s.keygen.public_key().unwrap();
    let stored = s
        .keygen
        .galois_keys(&[Galois(3), Galois(5)], KeyForm::Stored)
        .unwrap();
    let secret = s.keygen.secret_key();
    vec![
        (
            Kind::Params,
            file::write_params(&s.params),
            Box::new(|b, _| {
                Ok(file::write_params(
                    file::read_params(b, InsecureParams::AllowForTestsOnly)?.as_ref(),
                ))
            }),
        ),
        (
            Kind::Plaintext,
            file::write_plaintext(&plain),
            Box::new(|b, p| Ok(file::write_plaintext(&file::read_plaintext(b, p)?))),
        ),
        (
            Kind::Ciphertext,
            file::write_ciphertext(&s.params, &cipher).unwrap(),
            Box::new(|b, p| file::write_ciphertext(p, &file::read_ciphertext(b, p)?)),
        ),
        (
            Kind::SeededCiphertext,
            file::write_ciphertext(&s.params, &seeded).unwrap(),
            Box::new(|b, p| file::write_ciphertext(p, &file::read_ciphertext(b, p)?)),
        ),
        (
            Kind::PublicKey,
            file::write_public_key(&s.params, &public).unwrap(),
            Box::new(|b, p| file::write_public_key(p, &file::read_public_key(b, p)?)),
        ),
        (
            Kind::RelinKey,
            file::write_relin_key(&s.params, &s.relin).unwrap(),
            Box::new(|b, p| file::write_relin_key(p, &file::read_relin_key(b, p)?)),
        ),
        (
            Kind::RelinKey,
            file::write_relin_key(&s.params, &s.relin_stored).unwrap(),
            Box::new(|b, p| file::write_relin_key(p, &file::read_relin_key(b, p)?)),
        ),
        (
            Kind::GaloisKeys,
            file::write_galois_keys(&s.params, &stored).unwrap(),
            Box::new(|b, p| file::write_galois_keys(p, &file::read_galois_keys(b, p)?)),
        ),
        (
            Kind::SecretKey,
            file::write_secret_key_in_the_clear(secret).to_vec(),
            Box::new(|b, p| {
                Ok(
                    file::write_secret_key_in_the_clear(&file::read_secret_key_in_the_clear(b, p)?)
                        .to_vec(),
                )
            }),
        ),
    ]
}

/// Returns the file with its payload changed by `change`, and with the payload length and checksum of the new content.
fn resealed(bytes: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut payload = bytes[HEADER..bytes.len() - 32].to_vec();
    change(&mut payload);
    let mut out = bytes[..HEADER - 8].to_vec();
    out.extend((payload.len() as u64).to_le_bytes());
    out.extend(payload);
    let sum = Sha256::digest(&out);
    out.extend(sum);
    out
}

#[test]
fn what_is_written_is_read_back() {
    let mut s = Setup::new(&[40, 30], &[40], 4);
    for (kind, bytes, rewrite) in all_files(&mut s) {
        assert_eq!(file::peek_kind(&bytes), Ok(kind));
        assert_eq!(
            rewrite(&bytes, &s.params).as_deref(),
            Ok(bytes.as_slice()),
            "{kind:?}"
        );
    }
    assert!(file::read_params(&file::write_params(&s.params), InsecureParams::Refuse).is_err());
    let set = Params::named("set2").unwrap();
    assert_eq!(
        file::read_params(&file::write_params(&set), InsecureParams::Refuse),
        Ok(set)
    );
}

/// The file of a secret key that stores the count has another kind, which earlier versions refuse. Their files of
/// secret keys can still be read.
#[test]
fn a_saved_secret_key_has_its_count_and_nothing_but_a_count() {
    let s = Setup::new(&[40, 30], &[40], 4);
    let secret = s.keygen.secret_key();
    let path = std::env::temp_dir().join(format!("ringmill-counted-{}", std::process::id()));
    secret.save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(file::peek_kind(&bytes), Ok(Kind::CountedSecretKey));
    let bare = file::write_secret_key_in_the_clear(secret);
    assert_eq!(bytes.len(), bare.len() + 28);
    let read = file::read_secret_key_in_the_clear(&bytes, &s.params).unwrap();
    assert_eq!(read.expose_eval_limbs(), secret.expose_eval_limbs());
    assert_eq!(read.key_id(), secret.key_id());
    // A key that was read has no count until it is told the path of its file.
    assert_eq!(read.shared_decryptions(), None);
    assert_eq!(read.kept_in(&path).shared_decryptions(), Some(0));
    assert_eq!(secret.shared_decryptions(), Some(0));
    std::fs::write(&path, &bare).unwrap();
    let old = file::read_secret_key_in_the_clear(&bare, &s.params).unwrap();
    assert_eq!(old.kept_in(&path).shared_decryptions(), None);
    std::fs::remove_file(&path).unwrap();
    // An account with something spent at a count of 0, and accounts of a wrong length, are refused.
    for change in [
        |payload: &mut Vec<u8>| *payload.last_mut().unwrap() = 1,
        |payload: &mut Vec<u8>| payload.truncate(payload.len() - 1),
        |payload: &mut Vec<u8>| payload.truncate(payload.len() - 28),
        |payload: &mut Vec<u8>| payload.push(0),
    ] {
        let altered = resealed(&bytes, change);
        assert!(file::read_secret_key_in_the_clear(&altered, &s.params).is_err());
    }
}

/// A process remembers what it has shared when the key's file is lost, and does not write a bare key over a file that
/// holds the count but cannot be read.
#[test]
fn a_lost_or_damaged_file_does_not_start_the_count_again() {
    let s = Setup::new(&[40, 30], &[40], 4);
    let secret = s.keygen.secret_key();
    let path = std::env::temp_dir().join(format!("ringmill-lost-{}", std::process::id()));
    let charge = |outputs: u64| {
        secret.charge(&Charge {
            outputs: outputs.try_into().unwrap(),
            statistical_bits: NonZeroU32::MIN,
            decryptions: 100,
            decrypted_so_far: None,
        })
    };
    charge(2).unwrap();
    secret.save(&path).unwrap();
    charge(4).unwrap();
    assert_eq!(secret.shared_decryptions(), Some(6));
    let kept = std::fs::read(&path).unwrap();
    std::fs::write(&path, &kept[..kept.len() / 2]).unwrap();
    assert_eq!(secret.shared_decryptions(), Some(6));
    assert!(secret.save(&path).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), kept[..kept.len() / 2]);
    std::fs::remove_file(&path).unwrap();
    charge(1).unwrap();
    assert_eq!(secret.shared_decryptions(), Some(7));
}

/// A residue takes as many bits as its modulus has.
#[test]
fn residues_of_keys_and_ciphertexts_are_packed_to_their_bits() {
    for (cipher, special) in [([30, 28], 31), ([40, 28], 31), ([60, 45], 60)] {
        let s = Setup::new(&cipher, &[special], 4);
        let bytes = |bits: u32| s.params.degree() * bits as usize / 8;
        let level: usize = cipher.into_iter().map(bytes).sum();
        let digit = level + bytes(special);
        for (form, seeded) in [(KeyForm::Stored, false), (KeyForm::Seeded, true)] {
            let key = s.keygen.relin_key(form).unwrap();
            let file = file::write_relin_key(&s.params, &key).unwrap();
            let a = if seeded { 32 } else { 2 * digit };
            assert_eq!(file.len(), HEADER + 1 + 2 * digit + a + 32);
            assert_eq!(file[HEADER], u8::from(seeded));
            assert_eq!(file::read_relin_key(&file, &s.params), Ok(key));
            // A residue that is not below its modulus is refused, and so is a form of files of earlier versions.
            let large = resealed(&file, |payload| payload[1..9].fill(0xff));
            assert!(file::read_relin_key(&large, &s.params).is_err());
            for wrong in [2, 3, 4, 255] {
                let other = resealed(&file, |payload| payload[0] = wrong);
                let refused = file::read_relin_key(&other, &s.params).unwrap_err();
                assert!(refused.to_string().contains("0 or 1"), "{refused}");
            }
        }
        let plain = s.encode(&s.values(1));
        let public = file::write_ciphertext(&s.params, &s.public.encrypt(&plain).unwrap()).unwrap();
        assert_eq!(public.len(), HEADER + 16 + 2 * level + 32);
        let secret = file::write_ciphertext(&s.params, &s.secret.encrypt(&plain).unwrap()).unwrap();
        assert_eq!(secret.len(), HEADER + 12 + 32 + level + 32);
    }
}

/// A ciphertext keeps the seed of c_1 while c_1 is as it was drawn, and its file then has the seed.
#[test]
fn only_a_fresh_encryption_under_the_secret_key_has_a_seed() {
    let s = Setup::new(&[40, 30], &[40], 4);
    let plain = s.encode(&s.values(1));
    let (public, secret) = (
        s.public.encrypt(&plain).unwrap(),
        s.secret.encrypt(&plain).unwrap(),
    );
    assert!(public.seed().is_none() && secret.seed().is_some());
    let sum = s.evaluator.add(&secret, &secret).unwrap();
    let lower = s.evaluator.mod_switch(&secret, Level(0)).unwrap();
    assert!(sum.seed().is_none() && lower.seed().is_none());
    let read = file::write_ciphertext(&s.params, &secret).unwrap();
    let read = file::read_ciphertext(&read, &s.params).unwrap();
    assert_eq!(
        (read.seed(), read.key_id()),
        (secret.seed(), secret.key_id())
    );
    assert_eq!(read, secret);
}

#[test]
fn every_flipped_byte_and_every_truncation_is_refused() {
    let mut s = Setup::new(&[40, 30], &[40], 4);
    for (kind, bytes, rewrite) in all_files(&mut s) {
        let mut altered = bytes.clone();
        for i in 0..bytes.len() {
            for flip in [1, 0x80] {
                altered[i] ^= flip;
                assert!(
                    rewrite(&altered, &s.params).is_err(),
                    "{kind:?}: byte {i} flipped by {flip}"
                );
                altered[i] ^= flip;
            }
            assert!(
                rewrite(&bytes[..i], &s.params).is_err(),
                "{kind:?}: cut to {i} bytes"
            );
        }
        altered.push(0);
        assert!(
            rewrite(&altered, &s.params).is_err(),
            "{kind:?}: a byte too many"
        );
        altered.pop();
    }
}

#[test]
fn altered_files_with_a_valid_checksum_are_refused_or_equal_in_size() {
    let mut s = Setup::new(&[40, 30], &[40], 4);
    for (kind, bytes, rewrite) in all_files(&mut s) {
        let length = bytes.len() - HEADER - 32;
        for i in 0..length {
            // Reading must not panic. A file that is accepted has a valid object, which is written back as it was.
            for value in [0u8, 1, 0x7f, 0xff] {
                let file = resealed(&bytes, |p| p[i] = value);
                if let Ok(again) = rewrite(&file, &s.params) {
                    assert_eq!(again, file, "{kind:?}: payload byte {i} set to {value}");
                }
            }
            assert!(
                rewrite(&resealed(&bytes, |p| p.truncate(i)), &s.params).is_err(),
                "{kind:?}: cut to {i}"
            );
        }
        assert!(
            rewrite(&resealed(&bytes, |p| p.push(0)), &s.params).is_err(),
            "{kind:?}: a byte too many"
        );
    }
}

#[test]
fn residues_identities_and_kinds_are_checked() {
    let mut s = Setup::new(&[40, 30], &[40], 4);
    let other = Setup::new(&[41, 30], &[40], 4);
    let files = all_files(&mut s);
    for (kind, bytes, rewrite) in &files {
        if *kind != Kind::Params {
            assert!(
                matches!(
                    rewrite(bytes, &other.params),
                    Err(FileError::OtherParams { .. })
                ),
                "{kind:?}"
            );
            // All bits of the last 8 bytes are set. Only a seed may end so, a residue may not.
            let high = resealed(bytes, |p| {
                let n = p.len();
                p[n - 8..].fill(0xff)
            });
            let seed_is_last = matches!(kind, Kind::PublicKey)
                || (*kind == Kind::RelinKey && rewrite(&high, &s.params).is_ok());
            assert!(
                seed_is_last || matches!(rewrite(&high, &s.params), Err(FileError::Contents(_))),
                "{kind:?}"
            );
        }
        for (wrong, _, reader) in &files {
            // One function reads ciphertexts of both kinds.
            let ciphertexts =
                [kind, wrong].map(|kind| [Kind::Ciphertext, Kind::SeededCiphertext].contains(kind));
            if wrong != kind && ciphertexts != [true; 2] {
                assert!(matches!(
                    reader(bytes, &s.params),
                    Err(FileError::Kind { .. })
                ));
            }
        }
    }
    assert_eq!(file::peek_kind(b"RINGMILX and more"), Err(FileError::Magic));
    assert_eq!(file::peek_kind(b""), Err(FileError::Magic));
    // A tampered parameter file cannot pass for another set: its identity would not match.
    let set = ParamsBuilder::named("set2").unwrap().build().unwrap();
    let moved = resealed(&file::write_params(&set), |p| p[5] = 1);
    assert!(matches!(
        file::read_params(&moved, InsecureParams::Refuse),
        Err(FileError::OtherParams { .. })
    ));
}

/// Returns the file with its header changed by `change`, and with the checksum of the new content.
fn with_header(bytes: &[u8], change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut out = bytes[..bytes.len() - 32].to_vec();
    change(&mut out[..HEADER]);
    let sum = Sha256::digest(&out);
    out.extend(sum);
    out
}

#[test]
fn altered_headers_with_a_valid_checksum_are_refused_but_for_the_key_identity() {
    let mut s = Setup::new(&[40, 30], &[40], 4);
    for (kind, bytes, rewrite) in all_files(&mut s) {
        for i in 0..HEADER {
            for flip in [1, 2, 3, 0x80, 0xff] {
                let file = with_header(&bytes, |h| h[i] ^= flip);
                let identity = (48..64).contains(&i) && kind.has_key();
                // Kinds without packed residues are the same in version 2.
                let same = matches!(kind, Kind::Params | Kind::Plaintext | Kind::SecretKey);
                let older = same && file[8] == 2;
                match rewrite(&file, &s.params) {
                    Ok(again) => {
                        assert!(
                            identity || older,
                            "{kind:?}: header byte {i} changed by {flip}"
                        );
                        assert_eq!(again, if older { bytes.clone() } else { file });
                    }
                    Err(_) => assert!(
                        !identity && !older,
                        "{kind:?}: header byte {i} changed by {flip}"
                    ),
                }
            }
        }
        let other = with_header(&bytes, |h| h[12] = 3);
        let scheme = FileError::Scheme {
            name: "CKKS",
            expected: 0,
            got: 3,
        };
        assert_eq!(rewrite(&other, &s.params), Err(scheme));
        let newer = with_header(&bytes, |h| h[8] = 4);
        let version = FileError::Version {
            expected: 3,
            got: 4,
        };
        assert_eq!(rewrite(&newer, &s.params), Err(version));
    }
}

/// Returns the content of a file of version 1 of the format, from the folder `version_1`.
fn version_1(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/version_1");
    std::fs::read(format!("{folder}/{name}")).unwrap()
}

#[test]
fn files_of_version_1_are_read_and_have_no_key_identity() {
    let params = file::read_params(&version_1("parameters"), InsecureParams::AllowForTestsOnly);
    let params = params.unwrap();
    let (scale, expected) = (2f64.powi(30), [1.0, -2.0]);
    let plain = file::read_plaintext(&version_1("plaintext"), &params).unwrap();
    let cipher = file::read_ciphertext(&version_1("ciphertext"), &params).unwrap();
    let seeded = file::read_ciphertext(&version_1("seeded_ciphertext"), &params).unwrap();
    let public = file::read_public_key(&version_1("public_key"), &params).unwrap();
    let secret = file::read_secret_key_in_the_clear(&version_1("secret_key"), &params).unwrap();
    let relin = file::read_relin_key(&version_1("relin_key"), &params).unwrap();
    let galois = file::read_galois_keys(&version_1("galois_keys"), &params).unwrap();
    assert_eq!((galois.len(), relin.0.seed().is_some()), (2, true));
    assert_eq!(
        [
            cipher.key_id(),
            seeded.key_id(),
            public.key_id(),
            secret.key_id(),
            relin.0.key_id(),
            galois.key_id().unwrap()
        ],
        [None; 6]
    );

    // The objects of the files still work together.
    let encoder = Encoder::new(params.clone());
    let decryptor = Decryptor::new(params.clone(), secret.clone()).unwrap();
    let evaluator = Evaluator::new(params.clone());
    let near = |cipher: &Ciphertext, expected: &[f64], error: f64| {
        let plain = decryptor.decrypt(cipher).unwrap();
        let got = encoder.decode_real(&plain, expected.len()).unwrap();
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() < error, "{got} for {expected}");
        }
    };
    assert_eq!(
        plain,
        encoder.encode_real(&expected, Level(1), scale).unwrap()
    );
    near(&cipher, &expected, 1e-5);
    near(&seeded, &expected, 1e-5);
    let fresh = Encryptor::with_public_key(params.clone(), &public).unwrap();
    let fresh = fresh.encrypt(&plain).unwrap();
    assert_eq!(fresh.key_id(), None);
    near(&fresh, &expected, 1e-5);
    let square = evaluator.square(&cipher).unwrap();
    near(
        &evaluator.relinearise(&square, &relin).unwrap(),
        &[1.0, 4.0],
        1e-4,
    );
    near(
        &evaluator.rotate(&cipher, 1, &galois).unwrap(),
        &[-2.0, 1.0],
        1e-4,
    );
    near(
        &evaluator.conjugate(&cipher, &galois).unwrap(),
        &expected,
        1e-4,
    );

    // A ciphertext that is written again has version 3, still without a key identity, and is otherwise the same.
    let again = file::write_ciphertext(&params, &cipher).unwrap();
    assert_eq!((again[8], &again[48..64]), (3, &[0; 16][..]));
    assert_eq!(file::read_ciphertext(&again, &params), Ok(cipher));

    // Keys that are made from a secret key without an identity have none either.
    let keys = KeyGenerator::from_secret_key(params.clone(), secret).unwrap();
    assert_eq!(keys.public_key().unwrap().key_id(), None);
}

#[test]
fn every_flipped_byte_and_every_truncation_of_version_1_is_refused() {
    let params = file::read_params(&version_1("parameters"), InsecureParams::AllowForTestsOnly);
    let params = params.unwrap();
    let read = |bytes: &[u8]| match file::peek_kind(bytes)? {
        Kind::Params => file::read_params(bytes, InsecureParams::AllowForTestsOnly).map(drop),
        Kind::Plaintext => file::read_plaintext(bytes, &params).map(drop),
        Kind::Ciphertext => file::read_ciphertext(bytes, &params).map(drop),
        Kind::SeededCiphertext => file::read_ciphertext(bytes, &params).map(drop),
        Kind::PublicKey => file::read_public_key(bytes, &params).map(drop),
        Kind::RelinKey => file::read_relin_key(bytes, &params).map(drop),
        Kind::GaloisKeys => file::read_galois_keys(bytes, &params).map(drop),
        Kind::SecretKey | Kind::CountedSecretKey => {
            file::read_secret_key_in_the_clear(bytes, &params).map(drop)
        }
        kind @ (Kind::BootstrapKey
        | Kind::KeySwitchKey
        | Kind::Ciphertexts
        | Kind::FurtherKeys
        | Kind::EvaluationKeys
        | Kind::Message
        | Kind::Integers
        | Kind::SeededIntegers
        | Kind::CircuitKeys
        | Kind::NamedIntegers) => Err(FileError::Kind {
            expected: "a kind of version 1",
            got: kind.name().to_owned(),
        }),
    };
    for name in [
        "parameters",
        "plaintext",
        "ciphertext",
        "seeded_ciphertext",
        "public_key",
        "secret_key",
        "relin_key",
        "galois_keys",
    ] {
        let bytes = version_1(name);
        read(&bytes).unwrap();
        let mut altered = bytes.clone();
        for i in 0..bytes.len() {
            altered[i] ^= 3;
            assert!(read(&altered).is_err(), "{name}: byte {i}");
            altered[i] ^= 3;
            assert!(read(&bytes[..i]).is_err(), "{name}: cut to {i} bytes");
        }
        // With the number of version 2 and a right checksum, the file is refused.
        let mut newer = bytes[..bytes.len() - 32].to_vec();
        newer[8] = 2;
        let sum = Sha256::digest(&newer);
        newer.extend(sum);
        assert!(read(&newer).is_err(), "{name} as version 2");
    }
}
