// SPDX-License-Identifier: Apache-2.0
//! Times encoding, encryption, decryption, decoding and a relinearisation key of CKKS with the parameters `set1`, which
//! have the sizes of the Medha paper's Set-1. `cargo run --release -p ringmill-schemes --example client_speed` runs it.

use std::time::Instant;

use ringmill_schemes::ckks::{
    CkksError, Decryptor, Encoder, Encryptor, KeyForm, KeyGenerator, Params,
};

/// The number of runs of an operation. The fastest run counts, so that other work of the machine matters little.
const RUNS: usize = 200;

/// Returns the time in milliseconds of the fastest of `runs` calls of `f`.
fn best<T, E>(runs: usize, mut f: impl FnMut() -> Result<T, E>) -> Result<f64, E> {
    let mut least = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        f()?;
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(least)
}

fn main() -> Result<(), CkksError> {
    let params = Params::named("set1")?;
    println!("{}", params.summary());
    let (level, scale) = (params.max_level(), params.default_scale());
    let encoder = Encoder::new(params.clone());
    let keygen = KeyGenerator::new(params.clone())?;
    let secret = keygen.secret_key().clone();
    let public = keygen.public_key()?;
    let by_public = Encryptor::with_public_key(params.clone(), &public)?;
    let by_secret = Encryptor::with_secret_key(params.clone(), secret.clone())?;
    let decryptor = Decryptor::new(params.clone(), secret)?;
    let values: Vec<f64> = (0..params.slots())
        .map(|i| (i % 17) as f64 / 17.0)
        .collect();
    let plain = encoder.encode_real(&values, level, scale)?;
    let cipher = by_public.encrypt(&plain)?;
    println!(
        "encode            {:8.3} ms",
        best(RUNS, || encoder.encode_real(&values, level, scale))?
    );
    println!(
        "encrypt (public)  {:8.3} ms",
        best(RUNS, || by_public.encrypt(&plain))?
    );
    println!(
        "encrypt (seeded)  {:8.3} ms",
        best(RUNS, || by_secret.encrypt(&plain))?
    );
    println!(
        "decrypt           {:8.3} ms",
        best(RUNS, || decryptor.decrypt(&cipher))?
    );
    println!(
        "decode            {:8.3} ms",
        best(RUNS, || encoder.decode(&plain, params.slots()))?
    );
    println!(
        "relinearisation key {:6.1} ms",
        best(RUNS / 10, || keygen.relin_key(KeyForm::Seeded))?
    );
    Ok(())
}
