// SPDX-License-Identifier: Apache-2.0
//! Operations of BFV and BGV on secrets: key generation, encoding, encryption, decryption and decoding.

use std::sync::Arc;

use ringmill_schemes::Scheme;
use ringmill_schemes::bfv::{self, Bfv};
use ringmill_schemes::bgv::bootstrap::{BootstrapKeys, Bootstrapping, Maps};
use ringmill_schemes::bgv::{self, Bgv, friendly_primes};
use ringmill_schemes::exact::{
    Decryptor, Encoder, Encryptor, ExactError, ExactParams, ExactScheme, Integers, PlainModulus,
    Plaintext, PrimePower,
};
use ringmill_schemes::rlwe::{Annotation, Ciphertext, KeyForm, KeyGenerator, RlweError};

use super::{
    Failure, Operation, SECRETS, expect_dependent, expect_dependent_residues, generate, secret_key,
    secret_seed,
};
use crate::valgrind::mark;

pub const OPERATIONS: &[Operation] = &[
    Operation {
        name: "BFV key generation",
        run: || {
            SECRETS
                .into_iter()
                .try_for_each(|secret| generate(bfv_builder()?.secret(secret).build()?))
        },
    },
    Operation {
        name: "BFV encoding",
        run: || Setup::<Bfv>::new(bfv_params()?)?.encoding(),
    },
    Operation {
        name: "BFV encryption",
        run: || Setup::<Bfv>::new(bfv_params()?)?.encryption(),
    },
    Operation {
        name: "BFV decryption",
        run: || Setup::<Bfv>::new(bfv_params()?)?.decryption(),
    },
    Operation {
        name: "BGV key generation",
        run: || generate(bgv_params()?),
    },
    Operation {
        name: "BGV bootstrapping keys",
        run: bootstrapping_keys,
    },
    Operation {
        name: "BGV encoding",
        run: || {
            Setup::<Bgv>::new(bgv_params()?)?.encoding()?;
            Setup::<Bgv>::new(thin_params()?)?.encoding()
        },
    },
    Operation {
        name: "BGV encryption",
        run: || {
            Setup::<Bgv>::new(bgv_params()?)?.encryption()?;
            Setup::<Bgv>::new(thin_params()?)?.encryption()
        },
    },
    Operation {
        name: "BGV decryption",
        run: || {
            Setup::<Bgv>::new(bgv_params()?)?.decryption()?;
            Setup::<Bgv>::new(thin_params()?)?.decryption()
        },
    },
];

fn bfv_builder() -> Result<bfv::ParamsBuilder, Failure> {
    let builder = bfv::Params::builder(8, PlainModulus::batching(8, 17)?);
    let builder = builder.prime_bits(&[50, 40], &[50]);
    Ok(builder.allow_insecure_parameters_for_tests_only())
}

fn bfv_params() -> Result<Arc<bfv::Params>, Failure> {
    Ok(bfv_builder()?.build()?)
}

fn bgv_params() -> Result<Arc<bgv::Params>, Failure> {
    let builder = bgv::Params::builder(8, PlainModulus::batching(8, 17)?);
    let builder = builder.prime_bits(&[50, 40], &[50]);
    Ok(builder.allow_insecure_parameters_for_tests_only().build()?)
}

/// Returns parameters for bootstrapping, whose plaintexts are integers modulo a prime power.
fn thin_params() -> Result<Arc<bgv::Params>, Failure> {
    let primes = friendly_primes(12)?;
    let (cipher, special) = primes.split_at(10);
    let builder = bgv::Params::builder(7, PrimePower::new(17, 1)?.modulus()?);
    let builder = builder.primes(cipher, special).further_plain_moduli(1);
    Ok(builder.allow_insecure_parameters_for_tests_only().build()?)
}

fn bootstrapping_keys() -> Result<(), Failure> {
    let params = thin_params()?;
    let setup = Bootstrapping::with_chance(Arc::clone(&params), 8, -1.0)?;
    let maps = Maps::new(&setup, Default::default())?;
    let keys = KeyGenerator::from_seed_for_reproducible_tests_only(params, secret_seed(1))?;
    BootstrapKeys::generate(&setup, &maps, &keys, KeyForm::Seeded)?;
    Ok(())
}

/// Parameters, keys and an encoder of one scheme.
struct Setup<S: ExactScheme> {
    params: Arc<S::Params>,
    keys: KeyGenerator,
    encoder: Encoder<S::Params>,
}

impl<S, A> Setup<S>
where
    S: ExactScheme + Scheme<Annotation = A, Ciphertext = Ciphertext<A>>,
    S::Params: ExactParams,
    S::Error: std::error::Error + From<RlweError> + From<ExactError> + 'static,
    A: Annotation,
{
    fn new(params: Arc<S::Params>) -> Result<Self, Failure> {
        let seed = [3; 32];
        Ok(Self {
            keys: KeyGenerator::from_seed_for_reproducible_tests_only(Arc::clone(&params), seed)?,
            encoder: Encoder::new(Arc::clone(&params))?,
            params,
        })
    }

    fn values() -> Vec<i64> {
        (-4..4).collect()
    }

    fn plaintext(&self) -> Result<Plaintext, Failure> {
        Ok(self.encoder.encode(&Self::values(), Integers::Signed)?)
    }

    fn encoding(&self) -> Result<(), Failure> {
        let values = Self::values();
        mark(&values);
        expect_dependent(self.encoder.encode(&values, Integers::Signed)?.residues())
    }

    fn encryption(&self) -> Result<(), Failure> {
        let (params, keys) = (&self.params, &self.keys);
        let plain = self.plaintext()?;
        mark(plain.residues());
        let public = Encryptor::<S>::with_public_key(Arc::clone(params), &keys.public_key()?)?;
        let public = public.seed_for_reproducible_tests_only(secret_seed(4));
        let secret = Encryptor::<S>::with_secret_key(Arc::clone(params), secret_key(keys))?;
        let secret = secret.seed_for_reproducible_tests_only(secret_seed(5));
        for encryptor in [public, secret] {
            expect_dependent_residues(encryptor.encrypt(&plain)?.polys()[0].residues())?;
        }
        Ok(())
    }

    fn decryption(&self) -> Result<(), Failure> {
        let public = self.keys.public_key()?;
        let encryptor = Encryptor::<S>::with_public_key(Arc::clone(&self.params), &public)?;
        let cipher = encryptor.encrypt(&self.plaintext()?)?;
        let decryptor = Decryptor::<S>::new(Arc::clone(&self.params), secret_key(&self.keys))?;
        expect_dependent(&self.encoder.decode_signed(&decryptor.decrypt(&cipher)?)?)
    }
}
