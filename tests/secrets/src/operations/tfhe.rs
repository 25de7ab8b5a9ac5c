// SPDX-License-Identifier: Apache-2.0
//! Operations of TFHE on secrets: key generation, encryption under the secret and the public key, and decryption.

use std::sync::Arc;

use ringmill_circuits::tfhe::client::Encryptor;
use ringmill_circuits::tfhe::{
    CiphertextModulus, Client, LweDimension, LweKey, Messages, Order, Params, ParamsBuilder,
    Transforms,
};

use super::{Failure, Operation, expect_dependent, secret_seed};
use crate::valgrind::{mark, secret};

pub const OPERATIONS: &[Operation] = &[
    Operation {
        name: "TFHE key generation",
        run: keys,
    },
    Operation {
        name: "TFHE encryption",
        run: encryption,
    },
    Operation {
        name: "TFHE public-key encryption",
        run: public_encryption,
    },
    Operation {
        name: "TFHE decryption",
        run: decryption,
    },
];

fn small(builder: ParamsBuilder, order: Order) -> Result<Arc<Params>, Failure> {
    let builder = builder.allow_any_failure_rate_for_tests_only();
    let builder = builder.order(order).sizes(|s| {
        s.n = LweDimension(4);
        s.log_degree = 7;
    });
    Ok(builder.build()?)
}

/// Returns parameter sets for bits and for integers, with words of both lengths and a prime modulus, and with different
/// transforms.
fn sets() -> Result<Vec<Arc<Params>>, Failure> {
    let toy = ParamsBuilder::toy_for_tests_only;
    let integers = || toy().messages(Messages::CIRCUITS);
    Ok(vec![
        small(toy(), Order::BootstrapFirst)?,
        small(
            toy().transforms(Transforms::TwoPrimes),
            Order::KeySwitchFirst,
        )?,
        small(
            integers().modulus(CiphertextModulus::Torus64),
            Order::KeySwitchFirst,
        )?,
        small(
            integers().modulus(CiphertextModulus::Prime { bits: 50 }),
            Order::BootstrapFirst,
        )?,
    ])
}

fn has_bits(params: &Params) -> bool {
    params.sizes().messages == Messages::Booleans
}

/// Returns a message with four secret bits.
fn message() -> u64 {
    secret(5u64) & 15
}

fn keys() -> Result<(), Failure> {
    for params in sets()? {
        let client = Client::from_seed_for_reproducible_tests_only(params, secret_seed(1))?;
        expect_dependent(client.bootstrap_key()?.bodies())?;
        expect_dependent(client.key_switch_key()?.bodies())?;
        expect_dependent(client.public_key()?.bodies())?;
    }
    Ok(())
}

fn encryption() -> Result<(), Failure> {
    for params in sets()? {
        let bits = has_bits(&params);
        let client = Client::from_seed_for_reproducible_tests_only(params, secret_seed(1))?;
        let cipher = match bits {
            true => client.encrypt_bit(secret(true))?,
            false => client.encrypt(message())?,
        };
        expect_dependent(cipher.words())?;
    }
    Ok(())
}

fn public_encryption() -> Result<(), Failure> {
    for params in sets()? {
        let client = Client::from_seed_for_reproducible_tests_only(Arc::clone(&params), [3; 32])?;
        let encryptor = Encryptor::new(Arc::clone(&params), &client.public_key()?)?;
        let encryptor = encryptor.seed_for_reproducible_tests_only(secret_seed(4));
        let cipher = match has_bits(&params) {
            true => encryptor.encrypt_bit(secret(true))?,
            false => encryptor.encrypt(message())?,
        };
        expect_dependent(cipher.words())?;
    }
    Ok(())
}

fn decryption() -> Result<(), Failure> {
    for params in sets()? {
        let client = Client::from_seed_for_reproducible_tests_only(Arc::clone(&params), [3; 32])?;
        let bits = has_bits(&params);
        let cipher = match bits {
            true => client.encrypt_bit(true)?,
            false => client.encrypt(5)?,
        };
        for key in [LweKey::Small, LweKey::Large] {
            mark(client.secret().expose_bits(key));
        }
        let message = match bits {
            true => u64::from(client.decrypt_bit(&cipher)?),
            false => client.decrypt(&cipher)?,
        };
        expect_dependent(&[message])?;
    }
    Ok(())
}
