// SPDX-License-Identifier: Apache-2.0
//! Tests that files round-trip, that every altered byte and every truncation is refused, and that nothing panics.

use ringmill_circuits::tfhe::{CiphertextModulus, IntegerType, LweDimension, Order, Params, file};
use ringmill_math::Prng;
use ringmill_schemes::file::{FileError, InsecureParams, peek_kind, peek_scheme};
use sha2::{Digest, Sha256};

use super::setup::{Setup, toy};

type Read = fn(&[u8], &Params) -> Result<Vec<u8>, FileError>;

/// Returns a file of each kind, with a function that reads it and writes it again.
fn files(setup: &Setup) -> Vec<(&'static str, Vec<u8>, Read)> {
    let p = setup.params();
    let x = setup.client.encrypt_bit(true).unwrap();
    let public = setup.client.public_key().unwrap();
    vec![
        ("parameters", file::write_params(p), |b, _| {
            let read = file::read_params(b, InsecureParams::AllowForTestsOnly)?;
            Ok(file::write_params(&read))
        }),
        ("ciphertext", file::write_ciphertext(p, &x), |b, p| {
            Ok(file::write_ciphertext(p, &file::read_ciphertext(b, p)?))
        }),
        (
            "several ciphertexts",
            file::write_ciphertexts(p, &[x.clone(), x]).unwrap(),
            |b, p| {
                let read = file::read_ciphertexts(b, p)?;
                Ok(file::write_ciphertexts(p, &read).unwrap())
            },
        ),
        (
            "encrypted integers",
            {
                let types = [
                    IntegerType::new(3, true, 3, 4),
                    IntegerType::new(64, false, u64::MAX, 0),
                ];
                file::write_integers(p, &types, &[setup.client.encrypt_bit(true).unwrap()]).unwrap()
            },
            |b, p| {
                let (types, read) = file::read_integers(b, p)?;
                let types = types.unwrap_or_default();
                Ok(file::write_integers(p, &types, &read).unwrap())
            },
        ),
        (
            "bootstrapping key",
            file::write_bootstrap_key(p, &setup.bootstrap),
            |b, p| {
                let read = file::read_bootstrap_key(b, p)?;
                Ok(file::write_bootstrap_key(p, &read))
            },
        ),
        (
            "key-switching key",
            file::write_key_switch_key(p, &setup.switch),
            |b, p| {
                let read = file::read_key_switch_key(b, p)?;
                Ok(file::write_key_switch_key(p, &read))
            },
        ),
        ("public key", file::write_public_key(p, &public), |b, p| {
            Ok(file::write_public_key(p, &file::read_public_key(b, p)?))
        }),
        (
            "secret key",
            file::write_secret_key_in_the_clear(setup.client.secret()).to_vec(),
            |b, p| {
                let read = file::read_secret_key_in_the_clear(b, p)?;
                Ok(file::write_secret_key_in_the_clear(&read).to_vec())
            },
        ),
    ]
}

fn small(modulus: CiphertextModulus, order: Order) -> Setup {
    let builder = toy().modulus(modulus).order(order).sizes(|s| {
        s.n = LweDimension(2);
        s.log_degree = 4;
        s.bootstrap.levels = 1;
        s.key_switch.levels = 1;
    });
    let params = builder
        .allow_any_failure_rate_for_tests_only()
        .build()
        .unwrap();
    Setup::new(params, 15)
}

#[test]
fn files_round_trip_and_alterations_are_refused() {
    for (modulus, order) in [
        (CiphertextModulus::Torus32, Order::BootstrapFirst),
        (CiphertextModulus::Torus64, Order::KeySwitchFirst),
        (CiphertextModulus::Prime { bits: 30 }, Order::BootstrapFirst),
    ] {
        let setup = small(modulus, order);
        let params = setup.params();
        for (name, bytes, read) in files(&setup) {
            assert_eq!(read(&bytes, params), Ok(bytes.clone()), "{name}");
            assert_eq!(peek_kind(&bytes).unwrap().name(), name);
            assert_eq!(peek_scheme(&bytes), Ok(3));
            let mut altered = bytes.clone();
            for i in 0..bytes.len() {
                altered[i] ^= 3;
                assert!(read(&altered, params).is_err(), "{name}: byte {i}");
                altered[i] ^= 3;
                assert!(read(&bytes[..i], params).is_err(), "{name}: cut to {i}");
            }
            // A file that was altered and has a matching checksum is read or refused. If it is read, it writes to the
            // same file again.
            let mut prng = Prng::from_seed_for_reproducible_tests_only([16; 32]);
            for _ in 0..2000 {
                let mut forged = bytes[..bytes.len() - 32].to_vec();
                let at = prng.next_u64() as usize % forged.len();
                forged[at] = prng.next_u64() as u8;
                let sum = Sha256::digest(&forged);
                forged.extend(sum);
                if let Ok(again) = read(&forged, params) {
                    assert_eq!(again, forged, "{name}: byte {at}");
                }
            }
        }
    }
}

#[test]
fn files_of_other_parameters_and_insecure_ones_are_refused() {
    let setup = small(CiphertextModulus::Torus32, Order::BootstrapFirst);
    let other = small(CiphertextModulus::Torus32, Order::KeySwitchFirst);
    for (name, bytes, read) in files(&setup).into_iter().skip(1) {
        let refused = read(&bytes, other.params());
        assert!(
            matches!(refused, Err(FileError::OtherParams { .. })),
            "{name}"
        );
    }
    let bytes = file::write_params(setup.params());
    assert!(matches!(
        file::read_params(&bytes, InsecureParams::Refuse),
        Err(FileError::Refused(_))
    ));
    let good = Params::named("boolean_p64").unwrap();
    let read = file::read_params(&file::write_params(&good), InsecureParams::Refuse).unwrap();
    assert_eq!(read.id(), good.id());
}
