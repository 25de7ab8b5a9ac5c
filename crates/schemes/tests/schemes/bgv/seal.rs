// SPDX-License-Identifier: Apache-2.0
//! Writes BGV objects in SEAL's format and reads them back. `tests/python/test_seal_exact.py` compares with SEAL
//! itself.

use ringmill_schemes::bgv::{Factor, Level, Plaintext};
use ringmill_schemes::seal::{self, Compression, SealContext, SealError, SealScheme};

use super::setup::{Setup, params};

#[test]
fn every_object_comes_back() {
    let setup = Setup::new(params(5, 193, &[50, 45, 40], &[50]));
    let params = &setup.params;
    let context = SealContext::new(params.clone()).unwrap();
    let cipher = setup.encrypt(&[1, 2, 3]).with_key_id(None);
    let plain = Plaintext::new(&**params, (0..32).collect()).unwrap();
    for compression in [Compression::None, Compression::Zstd] {
        let bytes = seal::write_parameters(&context, compression).unwrap();
        let builder = seal::bgv::read_parameters(&bytes).unwrap();
        let builder = builder.allow_insecure_parameters_for_tests_only();
        assert_eq!(&builder.build().unwrap(), params);
        for refused in [
            seal::read_parameters(&bytes).map(drop),
            seal::bfv::read_parameters(&bytes).map(drop),
        ] {
            let Err(SealError::Field { field, .. }) = refused else {
                panic!("{refused:?}");
            };
            assert_eq!(field, "scheme");
        }

        let bytes = seal::bgv::write_plaintext(&context, &plain, compression).unwrap();
        let read = seal::bgv::read_plaintext(&context, &bytes);
        assert_eq!(read.as_ref(), Ok(&plain));
        let low = setup.evaluator.mod_switch_to_next(&cipher).unwrap();
        let product = setup.evaluator.square(&low).unwrap();
        assert_ne!(*product.annotation(), Factor::ONE);
        for cipher in [&cipher, &low, &product] {
            let bytes = seal::bgv::write_ciphertext(&context, cipher, compression).unwrap();
            let read = seal::bgv::read_ciphertext(&context, &bytes);
            assert_eq!(read.as_ref(), Ok(cipher));
        }
        let stored = setup.relin.0.expanded(params).unwrap().with_key_id(None);
        let bytes = seal::write_relin_keys(&context, &setup.relin, compression).unwrap();
        assert_eq!(seal::read_relin_keys(&context, &bytes).unwrap().0, stored);
        let bytes = seal::write_galois_keys(&context, &setup.galois, compression).unwrap();
        let read = seal::read_galois_keys(&context, &bytes).unwrap();
        assert_eq!(read.len(), setup.galois.len());
    }
    assert_ne!(context.parms_id(Level(1)), context.parms_id(Level(2)));
}

#[test]
fn ciphertexts_are_written_for_one_version_and_have_a_factor() {
    let setup = Setup::new(params(5, 193, &[50, 45], &[50]));
    let context = SealContext::new(setup.params.clone()).unwrap();
    let cipher = setup.encrypt(&[1]).with_key_id(None);
    let write = |context: &_| seal::bgv::write_ciphertext(context, &cipher, Compression::None);
    let newest = write(&context).unwrap();
    assert_eq!(newest[3..5], [4, 3]);
    let mut parameters = seal::write_parameters(&context, Compression::None).unwrap();
    for (version, written) in [([3, 6], [4, 0]), ([4, 1], [4, 1])] {
        parameters[3..5].copy_from_slice(&version);
        let bytes = write(&context.for_seal_of(&parameters).unwrap()).unwrap();
        assert_eq!(bytes[3..5], written);
        assert_eq!(
            seal::bgv::read_ciphertext(&context, &bytes).as_ref(),
            Ok(&cipher)
        );
    }
    assert!(context.for_seal_of(&parameters[..15]).is_err());
    assert!(context.for_seal_of(&[0; 16]).is_err());

    // The correction factor follows header, parms_id, form, polynomials, degree, primes and scale.
    let at = 16 + 32 + 1 + 4 * 8;
    for factor in [0u64, 193, u64::MAX] {
        let mut bad = newest.clone();
        bad[at..at + 8].copy_from_slice(&factor.to_le_bytes());
        let refused = seal::bgv::read_ciphertext(&context, &bad);
        assert!(matches!(refused, Err(SealError::Bgv(_))), "{refused:?}");
    }
    // SEAL 3.6 had no BGV, and its ciphertexts have no factor.
    let mut old = [&newest[..at], &newest[at + 8..]].concat();
    old[3..5].copy_from_slice(&[3, 6]);
    let size = old.len() as u64;
    old[8..16].copy_from_slice(&size.to_le_bytes());
    let refused = seal::bgv::read_ciphertext(&context, &old);
    assert!(matches!(
        refused,
        Err(SealError::Field {
            field: "version",
            ..
        })
    ));
}

#[test]
fn what_seal_cannot_have_is_refused() {
    let refused = SealContext::new(params(5, 193, &[50, 45], &[50, 51]));
    assert!(matches!(refused, Err(SealError::Unsupported { .. })));
    assert_eq!(SealScheme::Bgv as u8, 3);
}
