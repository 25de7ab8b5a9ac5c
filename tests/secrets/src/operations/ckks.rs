// SPDX-License-Identifier: Apache-2.0
//! Operations of CKKS on secrets: key generation, encoding, encryption, decryption, decoding, and shared decryption.

use std::sync::Arc;

use ringmill_math::Prng;
use ringmill_schemes::ckks::{
    Decryptor, Encoder, Encryptor, ErrorDistribution, Flooding, KeyGenerator, Params, Plaintext,
};
use ringmill_schemes::rlwe::SecretDistribution;

use super::{
    Failure, Operation, SECRETS, expect_dependent, expect_dependent_residues, generate,
    mark_residues, secret_key, secret_seed,
};
use crate::valgrind::mark;

pub const OPERATIONS: &[Operation] = &[
    Operation {
        name: "CKKS key generation",
        run: keys,
    },
    Operation {
        name: "CKKS encoding",
        run: encoding,
    },
    Operation {
        name: "CKKS encryption",
        run: encryption,
    },
    Operation {
        name: "CKKS decryption",
        run: decryption,
    },
    Operation {
        name: "CKKS shared decryption",
        run: shared_decryption,
    },
];

/// Exponents of scales: one whose coefficients are below the first prime, one beyond that prime, and one beyond a word.
const SCALES: [u32; 3] = [30, 55, 80];

fn params(secret: SecretDistribution, error: ErrorDistribution) -> Result<Arc<Params>, Failure> {
    let builder = Params::builder(8).prime_bits(&[50, 40], &[50]);
    let builder = builder.secret(secret).error(error);
    Ok(builder.allow_insecure_parameters_for_tests_only().build()?)
}

fn default_params() -> Result<Arc<Params>, Failure> {
    params(Default::default(), Default::default())
}

fn generator(params: &Arc<Params>) -> Result<KeyGenerator, Failure> {
    let seed = [3; 32];
    Ok(KeyGenerator::from_seed_for_reproducible_tests_only(
        Arc::clone(params),
        seed,
    )?)
}

fn values(params: &Params) -> Vec<f64> {
    (0..params.slots())
        .map(|i| 0.25 - i as f64 / 100.0)
        .collect()
}

fn plaintext(params: &Arc<Params>, log_scale: u32) -> Result<Plaintext, Failure> {
    let encoder = Encoder::new(Arc::clone(params));
    let scale = f64::from(log_scale).exp2();
    Ok(encoder.encode_real(&values(params), params.max_level(), scale)?)
}

fn keys() -> Result<(), Failure> {
    // CKKS refuses a binary secret, for which its noise model does not hold.
    for secret in SECRETS
        .into_iter()
        .filter(|&secret| secret != SecretDistribution::Binary)
    {
        generate(params(secret, ErrorDistribution::Gaussian)?)?;
    }
    generate(default_params()?)
}

fn encoding() -> Result<(), Failure> {
    let params = default_params()?;
    let encoder = Encoder::new(Arc::clone(&params));
    for log_scale in SCALES {
        for slots in [1, params.slots()] {
            let values = &values(&params)[..slots];
            mark(values);
            let scale = f64::from(log_scale).exp2();
            let plain = encoder.encode_real(values, params.max_level(), scale)?;
            expect_dependent_residues(plain.limbs())?;
        }
    }
    Ok(())
}

fn encryption() -> Result<(), Failure> {
    let params = default_params()?;
    let keys = generator(&params)?;
    let plain = plaintext(&params, 30)?;
    mark_residues(plain.limbs());
    let public = Encryptor::with_public_key(Arc::clone(&params), &keys.public_key()?)?;
    let public = public.seed_for_reproducible_tests_only(secret_seed(4));
    let secret = Encryptor::with_secret_key(params, secret_key(&keys))?;
    let secret = secret.seed_for_reproducible_tests_only(secret_seed(5));
    for encryptor in [public, secret] {
        expect_dependent_residues(encryptor.encrypt(&plain)?.polys()[0].residues())?;
    }
    Ok(())
}

fn decryption() -> Result<(), Failure> {
    let params = default_params()?;
    let keys = generator(&params)?;
    let encryptor = Encryptor::with_public_key(Arc::clone(&params), &keys.public_key()?)?;
    let encoder = Encoder::new(Arc::clone(&params));
    for log_scale in SCALES {
        let cipher = encryptor.encrypt(&plaintext(&params, log_scale)?)?;
        let decryptor = Decryptor::new(Arc::clone(&params), secret_key(&keys))?;
        expect_dependent(&encoder.decode(&decryptor.decrypt(&cipher)?, params.slots())?)?;
    }
    Ok(())
}

/// Adds flooding noise to a secret plaintext, as shared decryption does after decryption.
fn shared_decryption() -> Result<(), Failure> {
    let params = default_params()?;
    let plain = plaintext(&params, 40)?;
    mark_residues(plain.limbs());
    let mut prng = Prng::from_seed_for_reproducible_tests_only(secret_seed(6));
    let flooding = Flooding::new(16, 16)?;
    let shared = flooding.flood(&params, &plain, (-30f64).exp2(), &mut prng)?;
    expect_dependent(&Encoder::new(Arc::clone(&params)).decode(&shared, params.slots())?)
}
