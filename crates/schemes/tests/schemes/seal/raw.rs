// SPDX-License-Identifier: Apache-2.0
//! Tests that the reader of SEAL's files returns an error or a checked object for any bytes.

use proptest::prelude::*;
use ringmill_limits::{Halt, Limits, Watch};
use ringmill_schemes::internals::{Chain, Sink, emit, raw};
use ringmill_schemes::seal::{Compression, Object, SealError, SealScheme};

const N: usize = 8;
const MODULI: [u64; 3] = [97, 193, 257];
const BUDGET: u64 = 1 << 16;

fn within(memory: u64) -> Watch {
    Watch::new(Limits { memory })
}

fn chain() -> Chain {
    Chain::new(SealScheme::Ckks, N, &MODULI, 0)
}

fn limbs(primes: usize) -> Vec<u64> {
    MODULI
        .iter()
        .take(primes)
        .flat_map(|q| (0..N as u64).map(move |i| (i * 31 + 7) % q))
        .collect()
}

/// Returns one file of each kind, with its kind.
fn samples(compression: Compression) -> Vec<(Object, Vec<u8>)> {
    let chain = chain();
    let (two, three) = (limbs(2), limbs(3));
    let key = || Some(vec![[three.as_slice(), three.as_slice()]; 2]);
    vec![
        (
            Object::Parameters,
            emit::parameters(&chain, compression).unwrap(),
        ),
        (
            Object::Plaintext,
            emit::plaintext(&chain, Object::Plaintext, 2, 0.5, &two, compression)
                .unwrap()
                .to_vec(),
        ),
        (
            Object::SecretKey,
            emit::plaintext(&chain, Object::SecretKey, 3, 1.0, &three, compression)
                .unwrap()
                .to_vec(),
        ),
        (
            Object::Ciphertext,
            emit::ciphertext(
                &chain,
                Object::Ciphertext,
                2,
                64.0,
                &[&two, &two, &two],
                compression,
            )
            .unwrap(),
        ),
        (
            Object::PublicKey,
            emit::ciphertext(
                &chain,
                Object::PublicKey,
                3,
                1.0,
                &[&three, &three],
                compression,
            )
            .unwrap(),
        ),
        (
            Object::RelinKeys,
            emit::keys(&chain, Object::RelinKeys, &[key()], compression).unwrap(),
        ),
        (
            Object::GaloisKeys,
            emit::keys(
                &chain,
                Object::GaloisKeys,
                &[None, key(), None, key()],
                compression,
            )
            .unwrap(),
        ),
    ]
}

fn read(object: Object, bytes: &[u8]) -> Result<(), SealError> {
    let chain = chain();
    match object {
        Object::Parameters => raw::read_parameters(bytes, SealScheme::Ckks).map(drop),
        Object::Plaintext | Object::SecretKey => {
            raw::read_plaintext(&chain, object, bytes).map(drop)
        }
        Object::Ciphertext => raw::read_ciphertext(&chain, object, bytes).map(drop),
        Object::PublicKey => raw::read_public_key(&chain, bytes).map(drop),
        _ => raw::read_keys(&chain, object, bytes, N, &within(BUDGET)).map(drop),
    }
}

#[test]
fn what_is_written_is_read_back() {
    let chain = chain();
    for compression in [Compression::None, Compression::Zstd] {
        for (object, bytes) in samples(compression) {
            let size = u64::from_le_bytes(bytes[8..16].try_into().unwrap());
            assert_eq!(size, bytes.len() as u64, "{object}");
            match object {
                Object::Parameters => {
                    assert_eq!(
                        raw::read_parameters(&bytes, SealScheme::Ckks)
                            .unwrap()
                            .moduli,
                        MODULI
                    )
                }
                Object::Plaintext | Object::SecretKey => {
                    let plain = raw::read_plaintext(&chain, object, &bytes).unwrap();
                    assert_eq!(*plain.data, limbs(plain.primes));
                }
                Object::Ciphertext | Object::PublicKey => {
                    let cipher = raw::read_ciphertext(&chain, object, &bytes).unwrap();
                    assert!(
                        cipher
                            .polys
                            .iter()
                            .all(|poly| *poly == limbs(cipher.primes))
                    );
                }
                _ => {
                    let keys = raw::read_keys(&chain, object, &bytes, N, &within(BUDGET)).unwrap();
                    let digit = raw::RawKey {
                        b: limbs(3),
                        a: limbs(3),
                    };
                    assert!(
                        keys.iter()
                            .all(|(_, key)| *key == [digit.clone(), digit.clone()])
                    );
                    let places: Vec<usize> = keys.iter().map(|(place, _)| *place).collect();
                    assert_eq!(
                        places,
                        if object == Object::RelinKeys {
                            vec![0]
                        } else {
                            vec![1, 3]
                        }
                    );
                }
            }
        }
    }
}

#[test]
fn every_truncation_and_extension_is_refused() {
    for compression in [Compression::None, Compression::Zstd] {
        for (object, bytes) in samples(compression) {
            for end in 0..bytes.len() {
                let mut cut = bytes[..end].to_vec();
                assert!(read(object, &cut).is_err(), "{object} cut to {end}");
                // The cut file is refused even if its header has the length of the cut file.
                if let Some(size) = cut.get_mut(8..16) {
                    size.copy_from_slice(&(end as u64).to_le_bytes());
                    assert!(
                        read(object, &cut).is_err(),
                        "{object} cut to {end}, header adjusted"
                    );
                }
            }
            let mut long = bytes.clone();
            long.push(0);
            assert!(matches!(read(object, &long), Err(SealError::Size { .. })));
            long[8..16].copy_from_slice(&(bytes.len() as u64 + 1).to_le_bytes());
            assert!(
                read(object, &long).is_err(),
                "{object} with a byte too many"
            );
        }
    }
}

#[test]
fn each_header_field_is_checked() {
    let (object, bytes) = samples(Compression::None).swap_remove(3);
    let with = |at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        read(object, &bytes).unwrap_err()
    };
    assert!(matches!(with(0, 0), SealError::NotSeal { .. }));
    assert!(matches!(
        with(2, 17),
        SealError::HeaderSize { found: 17, .. }
    ));
    assert!(matches!(with(3, 2), SealError::Version { major: 2, .. }));
    assert!(matches!(
        with(4, 5),
        SealError::Version {
            major: 3,
            minor: 5,
            ..
        }
    ));
    // The error advises what SEAL 4 can do with a file of that version.
    for (major, says) in [(2, "anew"), (3, "save it again"), (5, "anew")] {
        let mut bytes = bytes.clone();
        bytes[3..5].copy_from_slice(&[major, 5]);
        let said = read(object, &bytes).unwrap_err().to_string();
        assert!(
            said.contains(says) && said.contains(&format!("{major}.5")),
            "{said}"
        );
    }
    assert!(matches!(
        with(5, 9),
        SealError::Compression { found: 9, .. }
    ));
    assert!(matches!(with(8, 0), SealError::Size { .. }));
    assert!(matches!(
        with(16, bytes[16] ^ 1),
        SealError::UnknownParmsId { .. }
    ));
    assert!(matches!(
        with(48, 0),
        SealError::Field { field: "form", .. }
    ));
    assert!(matches!(
        with(49, 17),
        SealError::Field {
            field: "polynomials",
            ..
        }
    ));
    assert!(matches!(
        with(57, 16),
        SealError::Field {
            field: "ring degree",
            ..
        }
    ));
    assert!(matches!(
        with(65, 3),
        SealError::Field {
            field: "number of primes",
            ..
        }
    ));
    assert!(matches!(
        with(80, 0xFF),
        SealError::Field { field: "scale", .. }
    ));
    assert!(matches!(
        with(97, 1),
        SealError::Field {
            field: "length of the data array",
            ..
        }
    ));
    assert!(matches!(
        with(105, 97),
        SealError::Residue {
            index: 0,
            value: 97,
            modulus: 97,
            ..
        }
    ));

    // The same object as SEAL 4 writes it, with a correction factor.
    let mut four = [&bytes[..81], &1u64.to_le_bytes(), &bytes[81..]].concat();
    (four[3], four[4]) = (4, 3);
    let size = four.len() as u64;
    four[8..16].copy_from_slice(&size.to_le_bytes());
    assert_eq!(read(object, &four), Ok(()));
    four[81] = 2;
    assert!(matches!(
        read(object, &four),
        Err(SealError::Field {
            field: "correction factor",
            ..
        })
    ));
}

#[test]
fn a_compression_bomb_is_refused_within_its_budget() {
    let mut sink = Sink::new(0);
    sink.words(&vec![0; 1 << 20]);
    let bomb = sink.finish(Object::GaloisKeys, Compression::Zstd).unwrap();
    assert!(bomb.len() < 4096);
    assert!(matches!(
        read(Object::GaloisKeys, &bomb),
        Err(SealError::UnknownParmsId { .. } | SealError::Field { .. })
    ));

    // Valid keys, one for every place of the file, must also fit the budget.
    let chain = chain();
    let zeros = vec![0; 3 * N];
    let keys = vec![Some(vec![[zeros.as_slice(), zeros.as_slice()]; 2]); N];
    let bytes = emit::keys(&chain, Object::GaloisKeys, &keys, Compression::Zstd).unwrap();
    let read = |budget| {
        raw::read_keys(&chain, Object::GaloisKeys, &bytes, N, &within(budget))
            .map(|keys| keys.len())
    };
    assert_eq!(read(BUDGET), Ok(N));
    assert_eq!(
        read(4096),
        Err(SealError::Budget {
            object: Object::GaloisKeys,
            budget: 4096
        })
    );
}

/// Keys of zero residues compress to a file of about a thousandth of the memory that they take.
#[test]
fn keys_that_pack_as_no_uniform_residues_do_are_refused() {
    use std::io::Write;
    let n = 1 << 12;
    let chain = Chain::new(
        SealScheme::Ckks,
        n,
        &[1_099_511_480_321, 1_073_692_673, 549_755_731_969],
        0,
    );
    let zeros = vec![0; 3 * n];
    let keys = vec![Some(vec![[zeros.as_slice(), zeros.as_slice()]; 2]); 16];
    let plain = emit::keys(&chain, Object::GaloisKeys, &keys, Compression::None).unwrap();
    let zstd = emit::keys(&chain, Object::GaloisKeys, &keys, Compression::Zstd).unwrap();
    let encoder =
        flate2::write::ZlibEncoder::new(plain[..16].to_vec(), flate2::Compression::best());
    let mut packer = encoder;
    packer.write_all(&plain[16..]).unwrap();
    let mut zlib = packer.finish().unwrap();
    zlib[5] = 1;
    let size = (zlib.len() as u64).to_le_bytes();
    zlib[8..16].copy_from_slice(&size);
    let read = |bytes: &[u8]| {
        raw::read_keys(&chain, Object::GaloisKeys, bytes, n, &within(1 << 40))
            .map(|keys| keys.len())
    };
    assert_eq!(read(&plain), Ok(16), "as long as it says");
    for bomb in [&zstd, &zlib] {
        assert!(bomb.len() * 100 < plain.len());
        let packed = bomb.len() as u64;
        let object = Object::GaloisKeys;
        assert_eq!(read(bomb), Err(SealError::Packed { object, packed }));
    }
}

/// The residues of keys count against the budget in a file without compression, too.
#[test]
fn a_budget_holds_for_files_that_are_not_packed() {
    let chain = chain();
    let zeros = vec![0; 3 * N];
    let keys = vec![Some(vec![[zeros.as_slice(), zeros.as_slice()]; 2]); 2];
    let bytes = emit::keys(&chain, Object::GaloisKeys, &keys, Compression::None).unwrap();
    let most = 8 * 3 * N as u64 * 2 * 2 * 2;
    let read = |budget| {
        raw::read_keys(&chain, Object::GaloisKeys, &bytes, N, &within(budget))
            .map(|keys| keys.len())
    };
    assert_eq!(read(most), Ok(2));
    let object = Object::GaloisKeys;
    let budget = most - 1;
    assert_eq!(read(budget), Err(SealError::Budget { object, budget }));
}

#[test]
fn nobody_waits_for_the_rest_of_the_keys() {
    let chain = chain();
    let zeros = vec![0; 3 * N];
    let keys = vec![Some(vec![[zeros.as_slice(), zeros.as_slice()]; 2]); 2];
    let bytes = emit::keys(&chain, Object::GaloisKeys, &keys, Compression::Zstd).unwrap();
    let watch = within(BUDGET);
    watch.stop();
    let read = raw::read_keys(&chain, Object::GaloisKeys, &bytes, N, &watch);
    assert_eq!(read, Err(SealError::Halt(Halt::Interrupted)));
}

#[test]
fn zlib_is_read_and_a_foreign_scheme_is_not() {
    use std::io::Write;
    let (object, bytes) = samples(Compression::None).swap_remove(3);
    let mut packed =
        flate2::write::ZlibEncoder::new(bytes[..16].to_vec(), flate2::Compression::default());
    packed.write_all(&bytes[16..]).unwrap();
    let mut packed = packed.finish().unwrap();
    packed[5] = 1;
    let size = (packed.len() as u64).to_le_bytes();
    packed[8..16].copy_from_slice(&size);
    assert_eq!(read(object, &packed), Ok(()));

    let (object, mut bytes) = samples(Compression::None).swap_remove(0);
    bytes[16] = 1;
    assert!(matches!(
        read(object, &bytes),
        Err(SealError::Field {
            field: "scheme",
            ..
        })
    ));
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..256), which in 0usize..7) {
        let (object, _) = samples(Compression::None)[which];
        prop_assert!(read(object, &bytes).is_err());
    }

    #[test]
    fn altered_files_never_panic(
        which in 0usize..7,
        packed in any::<bool>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let compression = if packed { Compression::Zstd } else { Compression::None };
        let (object, mut bytes) = samples(compression).swap_remove(which);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = read(object, &bytes); // a changed residue below its modulus is a valid file
    }
}
