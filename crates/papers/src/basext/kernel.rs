// SPDX-License-Identifier: Apache-2.0
//! Measures the exact base extension of this project's CPU kernels.

use std::time::Instant;

use ringmill_math::basext::{BaseExtension, best_exact};
use ringmill_math::primes::ntt_primes;
use ringmill_math::{Modulus, Prng, RnsBasis, sample};

use crate::error::PaperError;

/// The number of measured runs of a kernel, of which the shortest counts.
const RUNS: usize = 5;

/// Measures an exact base extension from l moduli of 60 bits to l others, at ring degree 2^`log_n` on one thread.
/// Returns microseconds.
///
/// # Errors
/// Fails if there are too few primes of this size, or if the operating system gives no randomness.
pub fn microseconds(log_n: u32, l: usize) -> Result<f64, PaperError> {
    let moduli = ntt_primes(60, log_n, 2 * l)?.into_iter().map(Modulus::new);
    let moduli = moduli.collect::<Result<Vec<_>, _>>()?;
    let (from, to) = moduli.split_at(l);
    let basis = RnsBasis::new(from.to_vec())?;
    let extension = best_exact(&basis, to)?;
    let mut prng = Prng::from_os()?;
    let mut input = vec![vec![0; 1 << log_n]; l];
    for (limb, &q) in input.iter_mut().zip(from) {
        sample::uniform(&mut prng, q, limb);
    }
    let input: Vec<&[u64]> = input.iter().map(Vec::as_slice).collect();
    let mut output = vec![vec![0; 1 << log_n]; l];
    let mut rows: Vec<&mut [u64]> = output.iter_mut().map(Vec::as_mut_slice).collect();
    let mut scratch = vec![0; extension.scratch_len()];
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let begin = Instant::now();
        extension.convert(&input, &mut rows, &mut scratch)?;
        least = least.min(begin.elapsed().as_secs_f64());
    }
    Ok(1e6 * least)
}
