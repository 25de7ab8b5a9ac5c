//! Timing candidates against the first of them.
//!
//! A computer is slower for a while, then faster: other programs use its caches, its other thread, the core itself. So
//! a candidate is timed right after the first one, time and again, and what counts is the middle one of these ratios;
//! the best time of each says the same where the machine is quiet, and both must agree before the first candidate is
//! given up.

use std::time::{Duration, Instant};

/// What a sample lasts at least: long beside reading the clock.
const SAMPLE: Duration = Duration::from_micros(10);
/// Most calls in a sample.
const CALLS: u128 = 16;
/// A candidate is dropped when it never was within this factor of the first one, after so many ratios.
const DROPPED: [(usize, f64); 2] = [(2, 1.6), (4, 1.15)];
/// Ratios of each remaining candidate, at least, unless they take four times the time that was granted; and at most.
const RATIOS: usize = 5;
const MOST_RATIOS: usize = 51;
/// What a later candidate must gain: less than this is chance.
const GAIN: f64 = 0.97;

/// What was measured of each candidate.
pub(super) struct Times {
    /// Seconds a call at best.
    pub best: Vec<f64>,
    /// A call beside a call of the first candidate just before it.
    ratios: Vec<Vec<f64>>,
}

/// Times candidates 0 to `count` - 1, of which `run(k)` calls one, for about `patience`.
pub(super) fn time(count: usize, patience: Duration, run: &mut dyn FnMut(usize)) -> Times {
    let mut times = Times {
        best: vec![f64::INFINITY; count],
        ratios: vec![Vec::new(); count],
    };
    // Wakes the wide vectors, and brings data and tables into the caches.
    run(0);
    let begin = Instant::now();
    let mut going: Vec<usize> = (1..count).collect();
    for turn in 1..=MOST_RATIOS {
        for &k in &going {
            let (first, own) = (sample(0, run), sample(k, run));
            times.best[0] = times.best[0].min(first);
            times.best[k] = times.best[k].min(own);
            times.ratios[k].push(own / first);
        }
        for (ratios, factor) in DROPPED {
            if turn >= ratios {
                going.retain(|&k| times.ratios[k].iter().any(|&ratio| ratio <= factor));
            }
        }
        let spent = begin.elapsed();
        let enough = turn >= RATIOS && spent >= patience;
        if going.is_empty() || enough || (turn >= 3 && spent >= patience * 4) {
            break;
        }
    }
    times
}

impl Times {
    /// The fastest candidate: the first one unless another gains more than chance would give it.
    pub fn fastest(&self) -> usize {
        let mut winner = (0, GAIN);
        for (k, ratios) in self.ratios.iter().enumerate().skip(1) {
            let ratio = middle(ratios);
            if ratio < winner.1 && self.best[k] < self.best[0] * GAIN {
                winner = (k, ratio);
            }
        }
        winner.0
    }
}

/// The middle one, of an even number the larger of two.
fn middle(ratios: &[f64]) -> f64 {
    let mut sorted = ratios.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
        .get(sorted.len() / 2)
        .copied()
        .unwrap_or(f64::INFINITY)
}

/// Seconds a call, as the mean of a few.
fn sample(k: usize, run: &mut dyn FnMut(usize)) -> f64 {
    // Not counted where calls are short: the candidate before has had the caches.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn times(best: &[f64], ratios: &[&[f64]]) -> Times {
        Times {
            best: best.to_vec(),
            ratios: ratios.iter().map(|ratios| ratios.to_vec()).collect(),
        }
    }

    #[test]
    fn the_first_is_given_up_for_more_than_chance() {
        assert_eq!(times(&[1.0], &[&[]]).fastest(), 0);
        assert_eq!(times(&[1.0, 0.99], &[&[], &[0.99; 5]]).fastest(), 0);
        assert_eq!(
            times(&[1.0, 0.9, 0.8], &[&[], &[0.9; 5], &[0.8; 5]]).fastest(),
            2
        );
        // Two calls of the first candidate met another program: the middle ratio does not tell of it.
        assert_eq!(
            times(&[1.0, 1.1], &[&[], &[0.1, 1.1, 1.1, 0.2, 1.1]]).fastest(),
            0
        );
        // Nor may the ratios and the best times disagree: beside another program on the core's other thread a kernel may
        // lead that is no faster alone.
        assert_eq!(times(&[1.0, 0.99], &[&[], &[0.9; 5]]).fastest(), 0);
        assert_eq!(times(&[1.0, 1.1], &[&[], &[0.9; 5]]).fastest(), 0);
        // Nothing was measured.
        assert_eq!(times(&[1.0, f64::INFINITY], &[&[], &[]]).fastest(), 0);
    }

    /// Candidates that wait: whatever else the computer does, the slow one is called twice.
    #[test]
    fn what_is_far_behind_is_called_twice() {
        let mut calls = [0; 3];
        let times = time(3, Duration::from_millis(1), &mut |k| {
            calls[k] += 1;
            std::thread::sleep(Duration::from_millis([2, 200, 1][k]));
        });
        assert_eq!((calls[1], times.ratios[1].len()), (2, 2));
        assert!(times.ratios[2].len() >= 3);
        assert!(times.best[1] >= 0.2 && times.best[0] >= 0.002 && times.best[2] >= 0.001);
    }
}
