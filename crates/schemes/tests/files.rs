//! Files: round trips, and every altered, truncated or extended file refused without a panic.

mod common;

use common::Setup;
use ringmill_schemes::ckks::file::{self, FileError, InsecureParams, Kind};
use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::ckks::{Params, ParamsBuilder};
use sha2::{Digest, Sha256};

type Check = Box<dyn Fn(&[u8], &Params) -> Result<Vec<u8>, FileError>>;

/// Every kind of file of a tiny parameter set, with a function that reads it and writes it again.
fn all_files(s: &mut Setup) -> Vec<(Kind, Vec<u8>, Check)> {
    let values = s.values(1);
    let plain = s.encode(&values);
    let cipher = s.public.encrypt(&plain).unwrap();
    let seeded = s.secret.encrypt_seeded(&plain).unwrap();
    let public = s.keygen.public_key().unwrap();
    let stored = s.keygen.galois_keys(&[3, 5], KeyForm::Stored).unwrap();
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
            file::write_ciphertext(&cipher),
            Box::new(|b, p| Ok(file::write_ciphertext(&file::read_ciphertext(b, p)?))),
        ),
        (
            Kind::SeededCiphertext,
            file::write_seeded_ciphertext(&seeded),
            Box::new(|b, p| {
                Ok(file::write_seeded_ciphertext(
                    &file::read_seeded_ciphertext(b, p)?,
                ))
            }),
        ),
        (
            Kind::PublicKey,
            file::write_public_key(&public),
            Box::new(|b, p| Ok(file::write_public_key(&file::read_public_key(b, p)?))),
        ),
        (
            Kind::RelinKey,
            file::write_relin_key(&s.relin),
            Box::new(|b, p| Ok(file::write_relin_key(&file::read_relin_key(b, p)?))),
        ),
        (
            Kind::RelinKey,
            file::write_relin_key(&s.relin_stored),
            Box::new(|b, p| Ok(file::write_relin_key(&file::read_relin_key(b, p)?))),
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

/// The payload changed by `change`, with the length and checksum of an honest writer.
fn resealed(bytes: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut payload = bytes[56..bytes.len() - 32].to_vec();
    change(&mut payload);
    let mut out = bytes[..48].to_vec();
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
        let length = bytes.len() - 56 - 32;
        for i in 0..length {
            // No panic; what is accepted is a well-formed object, which is written back as it came.
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
            // The last residue, or seed, set to all ones: only a seed may be that.
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
            if wrong != kind {
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
    let set = ParamsBuilder::named("set1").unwrap().build().unwrap();
    let moved = resealed(&file::write_params(&set), |p| p[5] = 1);
    assert!(matches!(
        file::read_params(&moved, InsecureParams::Refuse),
        Err(FileError::OtherParams { .. })
    ));
}

#[test]
fn writing_is_atomic() {
    let directory = std::env::temp_dir().join(format!("ringmill-files-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("a.key");
    file::write_atomic(&path, b"first").unwrap();
    file::write_atomic(&path, b"second").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"second");
    assert!(file::write_atomic(&directory.join("none").join("a.key"), b"x").is_err());
    assert!(file::write_atomic(std::path::Path::new("/"), b"x").is_err());
    let left: Vec<_> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left, ["a.key"]);
    std::fs::remove_dir_all(&directory).unwrap();
}
