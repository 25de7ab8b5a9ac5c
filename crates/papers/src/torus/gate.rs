// SPDX-License-Identifier: Apache-2.0
//! Kong and Li's TFHE parameters as our parameter sets, and the time of a gate on this computer.

use std::sync::Arc;
use std::time::Instant;

use ringmill_circuits::tfhe::{
    Client, Decomposition, Evaluator, FailureRate, Gate, Params, ParamsBuilder, Transforms,
};

use super::peer::Peer;
use crate::error::PaperError;

/// The number of measured gates, of which the shortest time counts.
const RUNS: usize = 10;

/// Kong and Li's decomposition in the key switch: t digits of one bit.
const DIGITS: Decomposition = Decomposition {
    log_base: 1,
    levels: 15,
};

/// Returns Kong and Li's parameter set (1): the TFHE library's set of 2020, with these digits of the key switch. Gates
/// fail with a probability below 2^-40.
fn builder(digits: Decomposition) -> Result<ParamsBuilder, PaperError> {
    let set = ParamsBuilder::named("tfhe_library_2020_below_128_bits")?;
    Ok(set.key_switch(digits).failing(FailureRate::Below2Minus40))
}

/// Returns Kong and Li's parameter set (1) with these digits of the key switch, and transforms modulo the paper's
/// prime.
///
/// # Errors
/// Fails if the parameters are refused.
pub fn with_digits(digits: Decomposition) -> Result<Arc<Params>, PaperError> {
    Ok(builder(digits)?.transforms(Transforms::Solinas).build()?)
}

/// Returns Kong and Li's parameter set (1) with the paper's digits of the key switch.
///
/// # Errors
/// Fails if the parameters are refused.
pub fn params() -> Result<Arc<Params>, PaperError> {
    with_digits(DIGITS)
}

/// The milliseconds of one NAND gate with its bootstrap and key switch, on one thread: the least of ten gates.
pub struct Milliseconds {
    /// The milliseconds of our gate, with the fastest transforms on this computer. The result's bits do not depend on
    /// the transforms.
    pub ours: f64,
    /// The milliseconds of tfhe-rs's gate with the same sizes, measured alternately with ours. `None` if tfhe-rs is not
    /// built.
    pub peer: Option<f64>,
}

/// Measures a NAND gate with Kong and Li's parameter set (1), ours and tfhe-rs's.
///
/// # Errors
/// Fails if a gate gives a wrong result, or if tfhe-rs is built and does not answer.
pub fn milliseconds() -> Result<Milliseconds, PaperError> {
    let params = builder(DIGITS)?.build()?;
    let client = Client::new(params.clone())?;
    let (bootstrap, switch) = (client.bootstrap_key()?, client.key_switch_key()?);
    let evaluator = Evaluator::new(params.clone(), &bootstrap, &switch)?;
    let mut work = evaluator.workspace();
    let (x, y) = (client.encrypt_bit(true)?, client.encrypt_bit(true)?);
    let mut peer = Peer::start(&params)?;
    let mut least = Milliseconds {
        ours: f64::INFINITY,
        peer: None,
    };
    for _ in 0..RUNS {
        let begin = Instant::now();
        let nand = evaluator.gate(&mut work, Gate::Nand, &x, &y)?;
        least.ours = least.ours.min(1e3 * begin.elapsed().as_secs_f64());
        if client.decrypt_bit(&nand)? {
            return Err(PaperError::Disagreement(
                "NAND of two ones decrypts to one".to_owned(),
            ));
        }
        if let Some(peer) = &mut peer {
            let took = peer.milliseconds()?;
            least.peer = Some(least.peer.map_or(took, |least| least.min(took)));
        }
    }
    Ok(least)
}
