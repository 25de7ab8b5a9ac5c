// SPDX-License-Identifier: Apache-2.0
//! The parsers of BFV's and BGV's files, in our format and in SEAL's.

/// Defines a module with the parser of one scheme's files and its seeds.
macro_rules! files {
    ($scheme:ident) => {
        pub mod $scheme {
            use std::sync::{Arc, LazyLock};

            use ringmill_isa::{Galois, Level};
            use ringmill_schemes::seal::{self, Compression, SealContext};
            use ringmill_schemes::$scheme::file::{self, Kind};
            use ringmill_schemes::$scheme::{
                Encoder, Encryptor, Integers, KeyForm, KeyGenerator, Params, PlainModulus,
            };

            use crate::repaired;

            static PARAMS: LazyLock<Arc<Params>> = LazyLock::new(|| {
                let t = PlainModulus::new(97).expect("97 is a plain modulus");
                Params::builder(4, t)
                    .prime_bits(&[40, 30, 30], &[40])
                    .allow_insecure_parameters_for_tests_only()
                    .build()
                    .expect("the test's parameters are well-formed")
            });

            static SEAL: LazyLock<SealContext<Params>> = LazyLock::new(|| {
                SealContext::new(Arc::clone(&PARAMS)).expect("SEAL can have the test's parameters")
            });

            /// Parses the bytes as our file, as they are and with a corrected checksum, and as each kind of object of
            /// SEAL, whose bytes do not tell their kind. Returns whether one of these parsers takes them.
            pub fn parse(bytes: &[u8]) -> bool {
                ours(bytes) | ours(&repaired(bytes)) | seals(bytes)
            }

            fn ours(bytes: &[u8]) -> bool {
                let params = &*PARAMS;
                match file::peek_kind(bytes) {
                    Ok(Kind::Params) => file::read_params(bytes, crate::anything()).is_ok(),
                    Ok(Kind::Plaintext) => file::read_plaintext(bytes, params).is_ok(),
                    Ok(Kind::Ciphertext | Kind::SeededCiphertext) => {
                        file::read_ciphertext(bytes, params).is_ok()
                    }
                    // All ring schemes share the readers of these kinds, which `ckks_file` tests.
                    Ok(
                        Kind::PublicKey
                        | Kind::RelinKey
                        | Kind::GaloisKeys
                        | Kind::SecretKey
                        | Kind::CountedSecretKey
                        | Kind::FurtherKeys
                        | Kind::EvaluationKeys
                        | Kind::Message,
                    ) => false,
                    // Kinds of TFHE.
                    Ok(
                        Kind::BootstrapKey
                        | Kind::KeySwitchKey
                        | Kind::Ciphertexts
                        | Kind::Integers
                        | Kind::SeededIntegers
                        | Kind::CircuitKeys
                        | Kind::NamedIntegers,
                    )
                    | Err(_) => false,
                }
            }

            fn seals(bytes: &[u8]) -> bool {
                let context = &*SEAL;
                let parameters = seal::$scheme::read_parameters(bytes)
                    .map(|b| b.build().is_ok())
                    .is_ok();
                parameters
                    | seal::$scheme::read_plaintext(context, bytes).is_ok()
                    | seal::$scheme::read_ciphertext(context, bytes).is_ok()
                    | seal::read_public_key(context, bytes).is_ok()
                    | seal::read_secret_key(context, bytes).is_ok()
                    | seal::read_relin_keys(context, bytes).is_ok()
                    | seal::read_galois_keys(context, bytes).is_ok()
            }

            pub fn seeds() -> Vec<Vec<u8>> {
                let made = || -> Result<Vec<Vec<u8>>, Box<dyn std::error::Error>> {
                    let (params, context) = (Arc::clone(&PARAMS), &*SEAL);
                    let keys = KeyGenerator::from_seed_for_reproducible_tests_only(
                        Arc::clone(&params),
                        [1; 32],
                    )?;
                    let (public, secret) = (keys.public_key()?, keys.secret_key());
                    let plain =
                        Encoder::new(Arc::clone(&params))?.encode(&[1, -2], Integers::Signed)?;
                    let cipher = Encryptor::with_public_key(Arc::clone(&params), &public)?
                        .seed_for_reproducible_tests_only([2; 32])
                        .encrypt(&plain)?;
                    let seeded = Encryptor::with_secret_key(Arc::clone(&params), secret.clone())?
                        .seed_for_reproducible_tests_only([3; 32])
                        .encrypt_at(&plain, Level(1))?;
                    let relin = keys.relin_key(KeyForm::Stored)?;
                    let galois = keys.galois_keys(&[Galois(3)], KeyForm::Stored)?;
                    let mut seeds = vec![
                        file::write_params(&params),
                        file::write_plaintext(&plain),
                        file::write_ciphertext(&params, &cipher)?,
                        file::write_ciphertext(&params, &seeded)?,
                    ];
                    for compression in [Compression::None, Compression::Zstd] {
                        seeds.push(seal::write_parameters(context, compression)?);
                        seeds.push(seal::$scheme::write_plaintext(
                            context,
                            &plain,
                            compression,
                        )?);
                        seeds.push(seal::$scheme::write_ciphertext(
                            context,
                            &cipher,
                            compression,
                        )?);
                        seeds.push(seal::write_public_key(context, &public, compression)?);
                        let secret =
                            seal::write_secret_key_in_the_clear(context, secret, compression)?;
                        seeds.push(secret.to_vec());
                        seeds.push(seal::write_relin_keys(context, &relin, compression)?);
                        seeds.push(seal::write_galois_keys(context, &galois, compression)?);
                    }
                    Ok(seeds)
                };
                made().expect("the files are written")
            }
        }
    };
}

files!(bfv);
files!(bgv);
