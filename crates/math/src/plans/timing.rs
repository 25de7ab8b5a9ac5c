// SPDX-License-Identifier: Apache-2.0
//! Times candidate kernels against the first of them.
//!
//! A computer is slower for a while, then faster: other programs use its caches, its other thread,
//! the core itself. So a candidate is timed right after the first candidate, time and again, and
//! the median of the two times' ratios counts. On a quiet machine the lower quartiles of both
//! candidates' times lead to the same choice. Ratio and quartiles must agree before another
//! candidate replaces the first. The best time alone does not count: a virtual machine's clock may
//! cut a sample short, and the first candidate has the most samples.

use std::time::{Duration, Instant};

/// The time that one sample, a measurement of several calls together, should take. It is long compared to reading
/// the clock.
const SAMPLE: Duration = Duration::from_micros(10);
/// The most calls of a candidate kernel in one sample, so that a sample of very short calls takes less than
/// [`SAMPLE`].
const CALLS: u128 = 16;
/// Rules by which a slow candidate is dropped. A rule has a number of ratios and a factor. A candidate has a ratio,
/// its time to the first candidate's, for each measurement. It is dropped once it has that number of ratios, if all
/// so far are above the factor.
const DROPPED: [(usize, f64); 2] = [(2, 1.6), (4, 1.15)];
/// The least number of ratios to the first candidate's time that are measured for each remaining
/// candidate. Three are enough if the measurement has taken four times the allowed time.
/// `MOST_RATIOS` is the most.
const RATIOS: usize = 5;
const MOST_RATIOS: usize = 51;
/// The most that a later candidate's time may be, as a part of the first candidate's time, for the
/// later one to be chosen. A smaller gain may be chance.
const GAIN: f64 = 0.97;

/// The measured times of each candidate kernel of a transform.
pub struct Times {
    /// For each candidate kernel, the seconds of a call at the lower quartile of its samples.
    pub better: Vec<f64>,
    /// For each candidate kernel, the measured ratios of the time of a call to that of a call of the first candidate
    /// just before it.
    pub ratios: Vec<Vec<f64>>,
}

/// Times candidate kernels 0 to `count` - 1 for about `patience`. `run(k)` calls candidate k once.
pub fn time(count: usize, patience: Duration, run: &mut dyn FnMut(usize)) -> Times {
    let (mut samples, mut ratios) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    // Wakes the wide vectors, and brings data and tables into the caches.
    run(0);
    let begin = Instant::now();
    let mut going: Vec<usize> = (1..count).collect();
    for turn in 1..=MOST_RATIOS {
        for &k in &going {
            let (first, own) = (sample(0, run), sample(k, run));
            samples[0].push(first);
            samples[k].push(own);
            ratios[k].push(own / first);
        }
        for (turns, factor) in DROPPED {
            if turn >= turns {
                going.retain(|&k| ratios[k].iter().any(|&ratio| ratio <= factor));
            }
        }
        let spent = begin.elapsed();
        let enough = turn >= RATIOS && spent >= patience;
        if going.is_empty() || enough || (turn >= 3 && spent >= patience * 4) {
            break;
        }
    }
    Times {
        better: samples.iter().map(|times| above(times, 4)).collect(),
        ratios,
    }
}

impl Times {
    /// Returns the number of the fastest candidate kernel. It is the first one, unless another candidate takes less
    /// than `GAIN` (0.97) of its time, both by the median of the ratios and by the lower quartiles. Of several such
    /// candidates, the one with the least median counts.
    pub fn fastest(&self) -> usize {
        let mut winner = (0, GAIN);
        for (k, ratios) in self.ratios.iter().enumerate().skip(1) {
            let ratio = above(ratios, 2);
            if ratio < winner.1 && self.better[k] < self.better[0] * GAIN {
                winner = (k, ratio);
            }
        }
        winner.0
    }
}

/// Returns the number at index floor(n / `parts`) of n numbers in ascending order. With `parts` 2 it is the median,
/// or the larger of two middle numbers; with 4 it is the lower quartile. Without numbers it is infinite.
pub fn above(numbers: &[f64], parts: usize) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
        .get(sorted.len() / parts)
        .copied()
        .unwrap_or(f64::INFINITY)
}

/// Returns the seconds of one call `run(k)`, which runs candidate kernel k. A short call is
/// repeated, and the mean counts.
fn sample(k: usize, run: &mut dyn FnMut(usize)) -> f64 {
    // The first call does not count if calls are short, because the candidate before has filled the caches.
    let begin = Instant::now();
    run(k);
    let first = begin.elapsed();
    if first >= SAMPLE * 4 {
        return first.as_secs_f64();
    }
    let calls = (SAMPLE.as_nanos() / first.as_nanos().max(1)).clamp(1, CALLS) as u32;
    let begin = Instant::now();
    (0..calls).for_each(|_| run(k));
    begin.elapsed().as_secs_f64() / f64::from(calls)
}
