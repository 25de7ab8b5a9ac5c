// SPDX-License-Identifier: Apache-2.0
//! Tests that files of earlier format versions are read for ever. The folder `kept` has files of every version, of toy
//! parameters and seeded keys. A reader must get the same objects from them as are made from the seeds today.

use std::path::PathBuf;
use std::sync::Arc;

use ringmill_isa::{Galois, Level};
use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::exact;
use ringmill_schemes::file::InsecureParams::AllowForTestsOnly;
use ringmill_schemes::file::{self, FileError};
use ringmill_schemes::rlwe::{
    self, Annotation, EvaluationKeys, KeyGenerator, PublicKey, RingParams,
};
use ringmill_schemes::{bfv, bgv, ckks};

/// A file's name, its content, and a function that reads such a file and writes the object as the present version
/// does.
type File = (
    &'static str,
    Vec<u8>,
    Box<dyn Fn(&[u8]) -> Result<Vec<u8>, FileError>>,
);

/// Returns the files of keys that all ring schemes share.
fn keys(params: &Arc<rlwe::Params>, keys: &KeyGenerator, public: &PublicKey) -> Vec<File> {
    let relin = keys.relin_key(KeyForm::Seeded).unwrap();
    let galois = keys
        .galois_keys(&[Galois(3), Galois(5)], KeyForm::Stored)
        .unwrap();
    let of = |read: fn(&[u8], &rlwe::Params) -> Result<Vec<u8>, FileError>| {
        let params = Arc::clone(params);
        Box::new(move |bytes: &[u8]| read(bytes, &params))
    };
    let all = EvaluationKeys {
        relin: Some(relin.clone()),
        galois: galois.clone(),
        ..EvaluationKeys::default()
    };
    vec![
        (
            "public_key",
            file::write_public_key(params, public).unwrap(),
            of(|b, p| file::write_public_key(p, &file::read_public_key(b, p)?)),
        ),
        (
            "relin_key",
            file::write_relin_key(params, &relin).unwrap(),
            of(|b, p| file::write_relin_key(p, &file::read_relin_key(b, p)?)),
        ),
        (
            "galois_keys",
            file::write_galois_keys(params, &galois).unwrap(),
            of(|b, p| file::write_galois_keys(p, &file::read_galois_keys(b, p)?)),
        ),
        (
            "evaluation_keys",
            file::write_evaluation_keys(params, &all).unwrap(),
            of(|b, p| file::write_evaluation_keys(p, &file::read_evaluation_keys(b, p)?)),
        ),
        (
            "secret_key",
            file::write_secret_key_in_the_clear(keys.secret_key()).to_vec(),
            of(|b, p| {
                let key = file::read_secret_key_in_the_clear(b, p)?;
                Ok(file::write_secret_key_in_the_clear(&key).to_vec())
            }),
        ),
    ]
}

/// Returns the files of a ciphertext under the public key and of one under the secret key, which has a seed.
fn ciphertexts<A: Annotation>(
    params: &Arc<rlwe::Params>,
    ciphertexts: [(&'static str, rlwe::Ciphertext<A>); 2],
) -> Vec<File> {
    let file = |(name, cipher): (&'static str, rlwe::Ciphertext<A>)| -> File {
        let (written, params) = (file::write_ciphertext(params, &cipher), Arc::clone(params));
        let again = move |bytes: &[u8]| {
            file::write_ciphertext(&params, &file::read_ciphertext::<A>(bytes, &params)?)
        };
        (name, written.unwrap(), Box::new(again))
    };
    let part = |batch, texts: &[&str], of: usize| file::Part {
        batch,
        texts: texts.iter().map(|&text| text.to_owned()).collect(),
        ciphertexts: vec![("x".to_owned(), ciphertexts[of].1.clone())],
    };
    let parts = [
        part(None, &[], 1),
        part(Some(2), &["text", "detail", "{}"], 0),
    ];
    let message = file::write_message(params, &parts).unwrap();
    let ring = Arc::clone(params);
    let again =
        move |bytes: &[u8]| file::write_message(&ring, &file::read_message::<A>(bytes, &ring)?);
    let mut files: Vec<File> = ciphertexts.map(file).into();
    files.push(("message", message, Box::new(again)));
    files
}

/// Returns the files of CKKS with these primes.
fn approximate(primes: &[u32], special: &[u32]) -> Vec<File> {
    let params = ckks::Params::builder(3).prime_bits(primes, special);
    let params = params
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let ring = params.ring_params();
    let generator = KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), [7; 32]);
    let generator = generator.unwrap();
    let public = generator.public_key().unwrap();
    let by_public = ckks::Encryptor::with_public_key(params.clone(), &public).unwrap();
    let by_public = by_public.seed_for_reproducible_tests_only([8; 32]);
    let secret = generator.secret_key().clone();
    let by_secret = ckks::Encryptor::with_secret_key(params.clone(), secret).unwrap();
    let by_secret = by_secret.seed_for_reproducible_tests_only([9; 32]);
    let plain = ckks::Encoder::new(params.clone());
    let plain = plain
        .encode_real(&[1.0, -2.0], Level(1), 2f64.powi(20))
        .unwrap();
    let mut files = keys(ring, &generator, &public);
    let (cipher, seeded) = (by_public.encrypt(&plain), by_secret.encrypt(&plain));
    let both = [
        ("ciphertext", cipher.unwrap()),
        ("seeded_ciphertext", seeded.unwrap()),
    ];
    files.extend(ciphertexts(ring, both));
    files.push((
        "parameters",
        ckks::file::write_params(&params),
        Box::new(|b| {
            Ok(ckks::file::write_params(&*ckks::file::read_params(
                b,
                AllowForTestsOnly,
            )?))
        }),
    ));
    let of = Arc::clone(ring);
    files.push((
        "plaintext",
        file::write_plaintext(&plain),
        Box::new(move |b| {
            Ok(file::write_plaintext(&file::read_plaintext::<ckks::Scale>(
                b, &of,
            )?))
        }),
    ));
    files
}

/// Returns the files of a scheme of integers. `$module` is the scheme's module.
macro_rules! integers {
    ($module:ident) => {{
        let t = $module::PlainModulus::new(193).unwrap();
        let params = $module::Params::builder(5, t).prime_bits(&[50, 50], &[50]);
        let params = params
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap();
        let ring = params.ring_params();
        let seed = [7; 32];
        let generator = KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), seed);
        let generator = generator.unwrap();
        let public = generator.public_key().unwrap();
        let by_public = $module::Encryptor::with_public_key(params.clone(), &public).unwrap();
        let by_public = by_public.seed_for_reproducible_tests_only([8; 32]);
        let secret = generator.secret_key().clone();
        let by_secret = $module::Encryptor::with_secret_key(params.clone(), secret).unwrap();
        let by_secret = by_secret.seed_for_reproducible_tests_only([9; 32]);
        let plain = exact::Plaintext::new(&*params, (0..32).collect()).unwrap();
        let mut files = keys(ring, &generator, &public);
        let (cipher, seeded) = (
            by_public.encrypt(&plain),
            by_secret.encrypt_at(&plain, Level(1)),
        );
        let both = [
            ("ciphertext", cipher.unwrap()),
            ("seeded_ciphertext", seeded.unwrap()),
        ];
        files.extend(ciphertexts(ring, both));
        files.push((
            "parameters",
            $module::file::write_params(&params),
            Box::new(|b| {
                Ok($module::file::write_params(&*$module::file::read_params(
                    b,
                    AllowForTestsOnly,
                )?))
            }),
        ));
        let of = Arc::clone(&params);
        files.push((
            "plaintext",
            $module::file::write_plaintext(&plain),
            Box::new(move |b| {
                Ok($module::file::write_plaintext(
                    &$module::file::read_plaintext(b, &*of)?,
                ))
            }),
        ));
        files
    }};
}

fn sets() -> Vec<(&'static str, Vec<File>)> {
    vec![
        ("ckks", approximate(&[40, 30], &[40])),
        ("ckks_short", approximate(&[30, 28], &[31])),
        ("bfv", integers!(bfv)),
        ("bgv", integers!(bgv)),
    ]
}

/// The format version that is written.
const PRESENT: &str = "3";

fn folder(version: &str, set: &str) -> PathBuf {
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/kept");
    PathBuf::from(kept).join(version).join(set)
}

/// If this test fails, the format has changed, and needs a new version with files of its own in the folder `kept`. With
/// RINGMILL_KEEP_FILES in the environment the test writes missing files.
#[test]
fn the_present_version_writes_the_files_that_are_kept() {
    for (set, files) in sets() {
        let folder = folder(PRESENT, set);
        if std::env::var_os("RINGMILL_KEEP_FILES").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
        }
        for (name, bytes, _) in files {
            let path = folder.join(name);
            if std::env::var_os("RINGMILL_KEEP_FILES").is_some() && !path.exists() {
                std::fs::write(&path, &bytes).unwrap();
            }
            assert_eq!(std::fs::read(&path).unwrap(), bytes, "{set}/{name}");
        }
    }
}

#[test]
fn files_of_every_version_are_read_to_the_same_objects() {
    for version in ["2", PRESENT] {
        for (set, files) in sets() {
            for (name, bytes, rewrite) in files {
                if version == "2" && ["evaluation_keys", "message"].contains(&name) {
                    // Version 3 has these kinds first.
                    continue;
                }
                let kept = std::fs::read(folder(version, set).join(name)).unwrap();
                assert_eq!(u16::from_le_bytes([kept[8], kept[9]]).to_string(), version);
                let again = rewrite(&kept).unwrap();
                assert_eq!(again, bytes, "version {version}, {set}/{name}");
            }
        }
    }
}
