// SPDX-License-Identifier: Apache-2.0
//! Tests that files round-trip, that every altered byte and every truncation is refused, and that nothing panics.

use std::sync::Arc;

use ringmill_circuits::tfhe::keys::expand_mask;
use ringmill_circuits::tfhe::{
    CiphertextModulus, Client, EncryptedIntegers, IntegerType, LweDimension, Order, Params,
    TfheError, file,
};
use ringmill_limits::{Halt, Limits, Watch};
use ringmill_math::Prng;
use ringmill_schemes::file::{FileError, InsecureParams, peek_kind, peek_scheme};
use sha2::{Digest, Sha256};

use super::setup::{Setup, toy};

type Read = fn(&[u8], &Params) -> Result<Vec<u8>, FileError>;

/// Returns two integers whose three ciphertexts share a seed.
fn fresh(client: &Client) -> EncryptedIntegers {
    let types = [
        IntegerType::new(2, false, 3, 0),
        IntegerType::new(1, true, 1, 0),
    ];
    let mut batch = client.batch().unwrap();
    for bit in [true, false, true] {
        batch.encrypt_bit(bit).unwrap();
    }
    EncryptedIntegers::fresh(Arc::from(types), batch.finish())
}

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
                let one = vec![setup.client.encrypt_bit(true).unwrap()];
                let integers = EncryptedIntegers::new(Some(Arc::from(types)), one);
                file::write_integers(p, &integers).unwrap()
            },
            |b, p| {
                let read = file::read_integers(b, p, &Watch::default())?;
                Ok(file::write_integers(p, &read).unwrap())
            },
        ),
        (
            "seeded encrypted integers",
            file::write_integers(p, &fresh(&setup.client)).unwrap(),
            |b, p| {
                let read = file::read_integers(b, p, &Watch::default())?;
                Ok(file::write_integers(p, &read).unwrap())
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
        (
            "evaluation keys of circuits",
            file::write_circuit_keys(p, &setup.bootstrap, &setup.switch).unwrap(),
            |b, p| {
                let (bootstrap, switch) = file::read_circuit_keys(b, p)?;
                Ok(file::write_circuit_keys(p, &bootstrap, &switch).unwrap())
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

#[test]
fn fresh_integers_are_saved_as_a_seed_and_bodies_and_read_bit_for_bit() {
    for (modulus, order, word) in [
        (CiphertextModulus::Torus32, Order::BootstrapFirst, 4),
        (CiphertextModulus::Torus64, Order::KeySwitchFirst, 8),
        (
            CiphertextModulus::Prime { bits: 30 },
            Order::BootstrapFirst,
            4,
        ),
    ] {
        let setup = small(modulus, order);
        let params = setup.params();
        let made = fresh(&setup.client);
        let bytes = file::write_integers(params, &made).unwrap();
        // The container, the number of integers, two types, the seed, and three bodies.
        assert_eq!(bytes.len(), 104 + 4 + 2 * 18 + 32 + 3 * word);
        let read = file::read_integers(&bytes, params, &Watch::default()).unwrap();
        assert_eq!(read, made);
        assert_eq!(read.seeded(), made.seeded());
        for (x, bit) in read.ciphertexts().iter().zip([true, false, true]) {
            assert_eq!(setup.client.decrypt_bit(x), Ok(bit));
        }
        // The same ciphertexts without their seed are of the older kind, which holds the masks.
        let types = made.types().map(Arc::from);
        let stored = EncryptedIntegers::new(types, made.ciphertexts().to_vec());
        let longer = file::write_integers(params, &stored).unwrap();
        assert_eq!(peek_kind(&longer).unwrap().name(), "encrypted integers");
        let read = file::read_integers(&longer, params, &Watch::default()).unwrap();
        assert_eq!(read.ciphertexts(), made.ciphertexts());
    }
}

#[test]
fn each_mask_has_a_stream_of_its_own_and_each_batch_a_seed_of_its_own() {
    let setup = small(CiphertextModulus::Torus32, Order::BootstrapFirst);
    let (first, second) = (fresh(&setup.client), fresh(&setup.client));
    let seeds = [&first, &second].map(|x| *x.seeded().unwrap().seed());
    assert_ne!(seeds[0], seeds[1]);
    let q = setup.params().coefficients();
    for (all, seed) in [first, second].iter().zip(&seeds) {
        for (stream, x) in (0..).zip(all.ciphertexts()) {
            let (mask, _) = x.parts();
            let mut expanded = vec![0; mask.len()];
            expand_mask(q, seed, stream, &mut expanded);
            assert_eq!(mask, expanded);
        }
    }
    // Clients from one seed make the same batches, and clients from the system's randomness do not.
    let again = small(CiphertextModulus::Torus32, Order::BootstrapFirst);
    assert_eq!(fresh(&again.client).seeded().unwrap().seed(), &seeds[0]);
    let other = Client::with_secret(setup.params().clone(), setup.client.secret().clone()).unwrap();
    assert_ne!(fresh(&other).seeded().unwrap().seed(), &seeds[0]);
}

#[test]
fn ciphertexts_that_a_seed_expands_to_keep_to_the_memory_limit() {
    let setup = small(CiphertextModulus::Torus64, Order::KeySwitchFirst);
    let bytes = file::write_integers(setup.params(), &fresh(&setup.client)).unwrap();
    let narrow = Watch::new(Limits { memory: 300 });
    let refused = file::read_integers(&bytes, setup.params(), &narrow);
    assert!(matches!(
        refused,
        Err(FileError::Halt(Halt::OverLimit { .. }))
    ));
}

#[test]
fn a_fresh_integer_of_eight_bits_takes_190_bytes_under_the_sets_for_circuits() {
    let kind = IntegerType::new(8, false, 255, 0);
    for (name, count) in [("circuits", 4), ("circuit_bits", 8)] {
        let client = Client::new(Params::named(name).unwrap()).unwrap();
        let mut batch = client.batch().unwrap();
        for i in 0..count {
            match name {
                "circuits" => batch.encrypt(i % 4).unwrap(),
                _ => batch.encrypt_bit(i % 2 == 1).unwrap(),
            }
        }
        let made = EncryptedIntegers::fresh(Arc::from([kind]), batch.finish());
        let bytes = file::write_integers(client.params(), &made).unwrap();
        assert_eq!(bytes.len(), 190, "{name}");
        let read = file::read_integers(&bytes, client.params(), &Watch::default()).unwrap();
        assert_eq!(read, made, "{name}");
    }
}

#[test]
fn both_keys_of_a_circuit_are_one_file_and_belong_to_one_secret_key() {
    let setup = small(CiphertextModulus::Torus32, Order::BootstrapFirst);
    let params = setup.params();
    let bytes = file::write_circuit_keys(params, &setup.bootstrap, &setup.switch).unwrap();
    let (first, second) = (
        file::write_bootstrap_key(params, &setup.bootstrap),
        file::write_key_switch_key(params, &setup.switch),
    );
    let payload = |file: &[u8]| file[72..file.len() - 32].to_vec();
    assert_eq!(
        payload(&bytes),
        [payload(&first), payload(&second)].concat()
    );
    let (bootstrap, switch) = file::read_circuit_keys(&bytes, params).unwrap();
    assert_eq!(bootstrap, setup.bootstrap);
    assert_eq!(switch, setup.switch);
    let stranger = Client::new(params.clone()).unwrap();
    let refused =
        file::write_circuit_keys(params, &stranger.bootstrap_key().unwrap(), &setup.switch);
    assert!(matches!(refused, Err(TfheError::OtherKeys(_))));
}
