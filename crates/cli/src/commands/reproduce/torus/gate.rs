//! The paper's parameters as ours, and the gate on this computer.

use std::sync::Arc;
use std::time::Instant;

use ringmill_schemes::tfhe::{
    Client, Decomposition, Evaluator, FailureRate, Gate, Params, ParamsBuilder, Transforms,
};

use crate::error::CliError;

/// Gates that are measured, of which the shortest counts.
const RUNS: usize = 10;

/// The paper's digits of the key switch: t bits.
const DIGITS: Decomposition = Decomposition {
    log_base: 1,
    levels: 15,
};

/// The paper's set (1): the TFHE library's of 2020, with these digits of the key switch. Gates fail below 2^-40.
fn builder(digits: Decomposition) -> Result<ParamsBuilder, CliError> {
    let set = ParamsBuilder::named("tfhe_library_2020_below_128_bits")?;
    Ok(set.key_switch(digits).failing(FailureRate::Below2Minus40))
}

/// The same, transformed modulo the paper's prime.
pub fn with_digits(digits: Decomposition) -> Result<Arc<Params>, CliError> {
    Ok(builder(digits)?.transforms(Transforms::Solinas).build()?)
}

/// The same with the paper's digits.
pub fn params() -> Result<Arc<Params>, CliError> {
    with_digits(DIGITS)
}

/// Milliseconds of a NAND with its bootstrap and key switch, on one thread, by the transforms that are fastest here: the bits are the
/// same.
pub fn milliseconds() -> Result<f64, CliError> {
    let params = builder(DIGITS)?.build()?;
    let client = Client::new(params.clone())?;
    let (bootstrap, switch) = (client.bootstrap_key()?, client.key_switch_key()?);
    let evaluator = Evaluator::new(params.clone(), &bootstrap, &switch)?;
    let mut work = evaluator.workspace();
    let (x, y) = (client.encrypt_bit(true)?, client.encrypt_bit(true)?);
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let begin = Instant::now();
        let nand = evaluator.gate(&mut work, Gate::Nand, &x, &y)?;
        least = least.min(begin.elapsed().as_secs_f64());
        if client.decrypt_bit(&nand)? {
            return Err(CliError::Disagreement(
                "NAND of two ones decrypts to one".to_owned(),
            ));
        }
    }
    Ok(1e3 * least)
}
