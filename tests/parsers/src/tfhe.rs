// SPDX-License-Identifier: Apache-2.0
//! The parsers of TFHE's files.

use std::sync::{Arc, LazyLock};

use ringmill_circuits::tfhe::{
    Client, EncryptedIntegers, IntegerType, LweDimension, Params, ParamsBuilder, file,
};
use ringmill_limits::Watch;
use ringmill_schemes::file::{self as container, InsecureParams, Kind};

use super::repaired;

/// Parameters with secrets of two bits and rings of degree 16, so that keys have some hundred bytes.
static PARAMS: LazyLock<Arc<Params>> = LazyLock::new(|| {
    ParamsBuilder::toy_for_tests_only()
        .sizes(|s| {
            s.n = LweDimension(2);
            s.log_degree = 4;
            s.bootstrap.levels = 1;
            s.key_switch.levels = 1;
        })
        .allow_any_failure_rate_for_tests_only()
        .build()
        .expect("the test's parameters are well-formed")
});

/// Parses the bytes as our TFHE file of any kind, as they are and with a corrected checksum.
pub fn parse(bytes: &[u8]) -> bool {
    object(bytes) | object(&repaired(bytes))
}

fn object(bytes: &[u8]) -> bool {
    let params = &*PARAMS;
    match container::peek_kind(bytes) {
        Ok(Kind::Params) => file::read_params(bytes, InsecureParams::AllowForTestsOnly).is_ok(),
        Ok(Kind::Ciphertext) => file::read_ciphertext(bytes, params).is_ok(),
        Ok(Kind::Ciphertexts) => file::read_ciphertexts(bytes, params).is_ok(),
        Ok(Kind::Integers | Kind::SeededIntegers) => {
            file::read_integers(bytes, params, &Watch::default()).is_ok()
        }
        Ok(Kind::NamedIntegers) => {
            file::read_named_integers(bytes, params, &Watch::default()).is_ok()
        }
        Ok(Kind::BootstrapKey) => file::read_bootstrap_key(bytes, params).is_ok(),
        Ok(Kind::KeySwitchKey) => file::read_key_switch_key(bytes, params).is_ok(),
        Ok(Kind::CircuitKeys) => file::read_circuit_keys(bytes, params).is_ok(),
        Ok(Kind::PublicKey) => file::read_public_key(bytes, params).is_ok(),
        Ok(Kind::SecretKey) => file::read_secret_key_in_the_clear(bytes, params).is_ok(),
        // Kinds of the ring schemes.
        Ok(
            Kind::Plaintext
            | Kind::SeededCiphertext
            | Kind::RelinKey
            | Kind::GaloisKeys
            | Kind::CountedSecretKey
            | Kind::FurtherKeys
            | Kind::EvaluationKeys
            | Kind::Message,
        )
        | Err(_) => false,
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let made = || -> Result<Vec<Vec<u8>>, Box<dyn std::error::Error>> {
        let params = Arc::clone(&PARAMS);
        let client = Client::from_seed_for_reproducible_tests_only(Arc::clone(&params), [1; 32])?;
        let types: Arc<[IntegerType]> = Arc::from([IntegerType::new(2, false, 1, 2)]);
        let mut batch = client.batch()?;
        batch.encrypt_bit(true)?;
        let fresh = EncryptedIntegers::fresh(types.clone(), batch.finish());
        Ok(vec![
            file::write_params(&params),
            file::write_ciphertext(&params, &client.encrypt_bit(true)?),
            file::write_ciphertexts(
                &params,
                &[client.encrypt_bit(true)?, client.encrypt_bit(false)?],
            )?,
            file::write_integers(
                &params,
                &EncryptedIntegers::new(Some(types), vec![client.encrypt_bit(true)?]),
            )?,
            file::write_integers(&params, &fresh)?,
            file::write_named_integers(&params, &[("x".to_owned(), Arc::new(fresh))], None)?,
            file::write_bootstrap_key(&params, &client.bootstrap_key()?),
            file::write_key_switch_key(&params, &client.key_switch_key()?),
            file::write_circuit_keys(&params, &client.bootstrap_key()?, &client.key_switch_key()?)?,
            file::write_public_key(&params, &client.public_key()?),
            file::write_secret_key_in_the_clear(client.secret()).to_vec(),
        ])
    };
    made().expect("the test's own objects are written")
}
