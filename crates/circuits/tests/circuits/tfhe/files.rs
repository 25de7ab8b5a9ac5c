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

/// Returns a file of seeded integers, integers with their masks, and integers without types.
fn named(setup: &Setup, cost: Option<&file::RunCost>) -> Vec<u8> {
    let one = vec![setup.client.encrypt_bit(true).unwrap()];
    let types = Arc::from([IntegerType::new(3, true, 3, 4)]);
    let all = [
        ("fresh", fresh(&setup.client)),
        ("", EncryptedIntegers::new(Some(types), one.clone())),
        ("été", EncryptedIntegers::new(None, one)),
    ];
    let all = all.map(|(name, of)| (name.to_owned(), Arc::new(of)));
    file::write_named_integers(setup.params(), &all, cost).unwrap()
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
        ("named integers", named(setup, None), |b, p| {
            let (read, cost) = file::read_named_integers(b, p, &Watch::default())?;
            let read = read.into_iter().map(|(name, of)| (name, Arc::new(of)));
            let read: Vec<_> = read.collect();
            Ok(file::write_named_integers(p, &read, cost.as_ref()).unwrap())
        }),
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

/// Returns a file with another payload: `change` alters the payload, and length and checksum are made to fit.
fn forged(bytes: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut payload = bytes[72..bytes.len() - 32].to_vec();
    change(&mut payload);
    let mut forged = bytes[..64].to_vec();
    forged.extend((payload.len() as u64).to_le_bytes());
    forged.extend(payload);
    let sum = Sha256::digest(&forged);
    forged.extend(sum);
    forged
}

#[test]
fn named_integers_keep_names_kinds_and_the_cost_of_a_run() {
    let setup = small(CiphertextModulus::Torus64, Order::KeySwitchFirst);
    let cost = file::RunCost {
        seconds: 1.5,
        bootstraps: 1 << 40,
        threads: 3,
    };
    let read = |bytes: &[u8]| {
        file::read_named_integers(bytes, setup.params(), &Watch::default())
            .map_err(|e| e.to_string())
    };
    let bytes = named(&setup, Some(&cost));
    let (found, again) = read(&bytes).unwrap();
    assert_eq!(again, Some(cost));
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["fresh", "", "été"]);
    let seeded = found.iter().map(|(_, of)| of.seeded().is_some());
    assert!(seeded.eq([true, false, false]));
    let typed = found.iter().map(|(_, of)| of.types().is_some());
    assert!(typed.eq([true, true, false]));
    for (_, of) in &found {
        let id = setup.client.secret().key_id();
        assert!(of.ciphertexts().iter().all(|x| x.key_id() == id));
        assert_eq!(setup.client.decrypt_bit(&of.ciphertexts()[0]), Ok(true));
    }
    let other = Client::new(setup.params().clone()).unwrap();
    let pair = [&setup.client, &other].map(|client| Arc::new(fresh(client)));
    let mixed = [
        ("x".to_owned(), pair[0].clone()),
        ("y".to_owned(), pair[1].clone()),
    ];
    let refused = file::write_named_integers(setup.params(), &mixed, None);
    assert!(matches!(refused, Err(TfheError::OtherKeys(_))));
    let long = [("x".repeat(1 << 16), pair[0].clone())];
    let refused = file::write_named_integers(setup.params(), &long, None);
    assert!(matches!(refused, Err(TfheError::OutOfRange { .. })));
    let none = file::write_named_integers(setup.params(), &[], None).unwrap();
    assert_eq!(read(&none), Ok((Vec::new(), None)));
}

#[test]
fn sizes_and_fields_of_named_integers_that_lie_are_refused() {
    let setup = small(CiphertextModulus::Torus32, Order::BootstrapFirst);
    let bytes = named(&setup, None);
    let read = |bytes: &[u8]| {
        let read = file::read_named_integers(bytes, setup.params(), &Watch::default());
        read.map_err(|e| e.to_string())
    };
    assert!(read(&forged(&bytes, |_| ())).is_ok());
    // The first name is `fresh` at byte 6. Its kind and its length follow.
    for (at, byte, fault) in [
        (0, 4, "named integers: expected 2 bytes, got 0"),
        (0, 2, "named integers: expected 20 bytes"),
        (3, 255, "named integers: expected 2 bytes, got 0"),
        (4, 255, "bytes, got"),
        (5, 255, "bytes, got"),
        (6, 255, "expected UTF-8"),
        (
            11,
            3,
            "kind of encrypted integers is 3, expected 11, 14 or 17",
        ),
        (11, 19, "kind of encrypted integers is 19"),
        (11, 14, "several"),
        (13, 0, "seeded encrypted integers: expected"),
        (20, 255, "named integers: expected"),
        (21, 255, "seeded encrypted integers: expected"),
        (25, 65, "type of an integer"),
    ] {
        let refused = read(&forged(&bytes, |payload| payload[at] = byte));
        let refused = refused.expect_err(&format!("byte {at} is {byte}"));
        if fault != "several" {
            assert!(refused.contains(fault), "byte {at} is {byte}: {refused}");
        }
    }
    let twice = forged(&bytes, |payload| {
        let first = payload[4..].to_vec();
        payload.extend(first);
        payload[0] = 6;
    });
    assert!(read(&twice).unwrap_err().contains("each name once"));
    let longer = forged(&bytes, |payload| payload.push(0));
    assert!(
        read(&longer)
            .unwrap_err()
            .contains("expected 20 bytes, got 1")
    );
    let idle = forged(&bytes, |payload| payload.extend([0; 20]));
    assert!(read(&idle).unwrap_err().contains("number of threads is 0"));
    // A body that is no whole word, and one that is no residue.
    let seeded = file::write_integers(setup.params(), &fresh(&setup.client)).unwrap();
    let odd = forged(&seeded, |payload| payload.truncate(payload.len() - 1));
    let read = |bytes: &[u8]| file::read_integers(bytes, setup.params(), &Watch::default());
    assert!(matches!(read(&odd), Err(FileError::Length { .. })));
    let prime = small(CiphertextModulus::Prime { bits: 30 }, Order::BootstrapFirst);
    let seeded = file::write_integers(prime.params(), &fresh(&prime.client)).unwrap();
    let large = forged(&seeded, |payload| {
        let last = payload.len() - 1;
        payload[last] = 255;
    });
    let refused = file::read_integers(&large, prime.params(), &Watch::default());
    assert!(matches!(refused, Err(FileError::Refused(_))));
}

/// If this test fails, the format has changed, and needs a new version with files of its own in the folder `kept`. With
/// RINGMILL_KEEP_FILES in the environment the test writes missing files.
#[test]
fn the_files_that_are_kept_are_read_and_written_for_ever() {
    for (modulus, order, set) in [
        (CiphertextModulus::Torus64, Order::KeySwitchFirst, "torus"),
        (
            CiphertextModulus::Prime { bits: 30 },
            Order::BootstrapFirst,
            "prime",
        ),
    ] {
        let setup = small(modulus, order);
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/kept/3");
        let folder = std::path::PathBuf::from(folder).join(set);
        if std::env::var_os("RINGMILL_KEEP_FILES").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
        }
        for (name, bytes, rewrite) in files(&setup) {
            let path = folder.join(name.replace(' ', "_"));
            if std::env::var_os("RINGMILL_KEEP_FILES").is_some() && !path.exists() {
                std::fs::write(&path, &bytes).unwrap();
            }
            let kept = std::fs::read(&path).unwrap();
            assert_eq!(kept, bytes, "{set}/{name}");
            assert_eq!(rewrite(&kept, setup.params()).unwrap(), kept, "{name}");
            // Version 2 has the same payloads.
            let mut older = kept[..kept.len() - 32].to_vec();
            older[8] = 2;
            let sum = Sha256::digest(&older);
            older.extend(sum);
            assert_eq!(rewrite(&older, setup.params()).unwrap(), kept, "{name}");
        }
    }
}
