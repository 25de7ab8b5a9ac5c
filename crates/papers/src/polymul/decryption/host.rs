// SPDX-License-Identifier: Apache-2.0
//! Times the host's part of a BFV decryption on one thread, split as in Table 3 of the paper of Mert, Öztürk and Savaş.

use std::time::{Duration, Instant};

use ringmill_math::kernels;
use serde::Serialize;
use zeroize::Zeroizing;

use super::sample::Sample;
use crate::error::PaperError;

/// The mean times of the parts of a BFV decryption on the host, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Parts {
    /// Microseconds for the product c_1 s of the ciphertext's second polynomial and the secret key.
    pub product: f64,
    /// Microseconds for the base conversion FASTBCONV, from the ciphertext's prime to t and gamma.
    pub extension: f64,
    /// Microseconds for the addition of c_0, the product with gamma t, and the correction of the message.
    pub others: f64,
}

/// The buffers that one BFV decryption on the host uses.
struct Room {
    phase: Zeroizing<Vec<u64>>,
    sums: Zeroizing<Vec<u64>>,
    message: Vec<u64>,
}

impl Room {
    fn new(n: usize) -> Self {
        Self {
            phase: Zeroizing::new(vec![0; n]),
            sums: Zeroizing::new(vec![0; 2 * n]),
            message: vec![0; n],
        }
    }

    /// Computes line 2 of Algorithm 5 of the paper of Mert, Öztürk and Savaş, the product of the phase c_0 + c_1 s with
    /// gamma t. It starts from the product c_1 s in `phase`.
    fn raise(&mut self, of: &Sample) -> Result<(), PaperError> {
        kernels::add_assign(of.plan.modulus(), &mut self.phase, &of.c0)?;
        of.division.raise(&mut self.phase);
        Ok(())
    }

    /// Computes lines 3 to 5 of Algorithm 5 of the paper of Mert, Öztürk and Savaş, the base conversion FASTBCONV.
    fn extend(&mut self, of: &Sample) -> Result<(), PaperError> {
        Ok(of.division.extend(&self.phase, &mut self.sums)?)
    }

    /// Computes lines 6 to 13 of Algorithm 5 of the paper of Mert, Öztürk and Savaş, the correction of the message.
    fn correct(&mut self, of: &Sample) {
        of.division.correct(&self.sums, &mut self.message);
    }
}

/// Decrypts the sample `runs` times on the host, after a tenth as many runs that warm up, and checks the message of the
/// last run. Returns the parts' mean times.
///
/// # Errors
/// Returns [`PaperError::Disagreement`] if the decrypted message is wrong.
pub fn measure(sample: &Sample, runs: u32) -> Result<Parts, PaperError> {
    let mut room = Room::new(sample.n());
    let mut sums = [Duration::ZERO; 3];
    let [product, extension, others] = &mut sums;
    for run in 0..runs + runs.div_ceil(10) {
        let begin = Instant::now();
        sample.product(&mut room.phase)?;
        let multiplied = Instant::now();
        room.raise(sample)?;
        let raised = Instant::now();
        room.extend(sample)?;
        let extended = Instant::now();
        room.correct(sample);
        let end = Instant::now();
        if run >= runs.div_ceil(10) {
            *product += multiplied - begin;
            *extension += extended - raised;
            *others += (raised - multiplied) + (end - extended);
        }
    }
    sample.check(&room.message, "the host")?;
    let mean = |sum: Duration| 1e6 * sum.as_secs_f64() / f64::from(runs.max(1));
    let [product, extension, others] = sums.map(mean);
    Ok(Parts {
        product,
        extension,
        others,
    })
}

/// Finishes a decryption on the host from the machine's product c_1 s, and checks the message.
///
/// # Errors
/// Returns [`PaperError::Disagreement`] if the decrypted message is wrong.
///
/// # Panics
/// Panics if `product` has another length than the sample's polynomials.
pub fn finish(sample: &Sample, product: &[u64]) -> Result<(), PaperError> {
    let mut room = Room::new(sample.n());
    room.phase.copy_from_slice(product);
    room.raise(sample)?;
    room.extend(sample)?;
    room.correct(sample);
    sample.check(&room.message, "the host with the machine's product")
}
