// SPDX-License-Identifier: Apache-2.0
//! Writes BFV objects in SEAL's format and reads them back. `tests/python/test_seal_exact.py` compares with SEAL
//! itself.

use ringmill_schemes::bfv::{Level, Multiplication, Plaintext};
use ringmill_schemes::seal::{self, Compression, SealContext, SealError, SealScheme};

use super::setup::{Setup, params};

#[test]
fn every_object_comes_back() {
    let setup = Setup::new(params(5, 193, &[50, 45, 40], &[50], Multiplication::Behz));
    let params = &setup.params;
    let context = SealContext::new(params.clone()).unwrap();
    let cipher = setup.encrypt(&[1, 2, 3]).with_key_id(None);
    let plain = Plaintext::new(&**params, (0..32).collect()).unwrap();
    for compression in [Compression::None, Compression::Zstd] {
        let bytes = seal::write_parameters(&context, compression).unwrap();
        let builder = seal::bfv::read_parameters(&bytes).unwrap();
        let builder = builder.allow_insecure_parameters_for_tests_only();
        assert_eq!(&builder.build().unwrap(), params);
        assert!(matches!(
            seal::read_parameters(&bytes),
            Err(SealError::Field {
                field: "scheme",
                ..
            })
        ));

        let bytes = seal::bfv::write_plaintext(&context, &plain, compression).unwrap();
        let read = seal::bfv::read_plaintext(&context, &bytes);
        assert_eq!(read.as_ref(), Ok(&plain));
        let low = setup.evaluator.mod_switch_to_next(&cipher).unwrap();
        let product = setup.evaluator.square(&low).unwrap();
        for cipher in [&cipher, &low, &product] {
            let bytes = seal::bfv::write_ciphertext(&context, cipher, compression).unwrap();
            let read = seal::bfv::read_ciphertext(&context, &bytes);
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
fn what_seal_cannot_have_is_refused() {
    let hps = params(5, 193, &[50, 45], &[50], Multiplication::Hps);
    let two_special = params(5, 193, &[50, 45], &[50, 51], Multiplication::Behz);
    for params in [hps, two_special] {
        let refused = SealContext::new(params);
        assert!(matches!(refused, Err(SealError::Unsupported { .. })));
    }
    assert_eq!((SealScheme::Bfv as u8, SealScheme::Ckks as u8), (1, 2));
    // A plaintext in evaluation form belongs to a level, as CKKS's plaintexts do. BFV has none.
    let setup = Setup::new(params(5, 193, &[50, 45], &[50], Multiplication::Behz));
    let context = SealContext::new(setup.params.clone()).unwrap();
    let secret = setup.keygen.secret_key();
    let bytes = seal::write_secret_key_in_the_clear(&context, secret, Compression::None);
    assert!(matches!(
        seal::bfv::read_plaintext(&context, &bytes.unwrap()),
        Err(SealError::Field {
            field: "parms_id",
            ..
        } | SealError::Budget { .. })
    ));
}
