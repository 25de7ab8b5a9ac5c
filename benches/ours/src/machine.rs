//! What this processor does in a second, measured: the rates that the floors are counted with.

use std::hint::black_box;
use std::time::Instant;

use ringmill_math::Backend;
use serde_json::{Value, json};

/// Independent accumulators: more than latency times ports of any multiplier so far.
const CHAINS: usize = 16;
/// A round takes a fraction of a millisecond: short against a time slice, so that the best one was not interrupted.
const STEPS: u64 = 50_000;
const ROUNDS: usize = 60;
/// Bytes that a memory rate is measured with, read and written: from inside the second-level cache to far outside it.
const FOOTPRINTS: [usize; 5] = [1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26];

/// Vector multiplications and bytes a second; `null` where the instruction is missing. Bytes count read and written: of a
/// copy, or of a sum of two arrays that is written past the caches, whichever is faster.
pub fn measure() -> Value {
    json!({
        "backend": format!("{:?}", Backend::current()),
        "clock_hz": clock(),
        "vpmuludq_per_second": multiply_rate(),
        "vpmadd52_per_second": multiply_add_rate(),
        "copies": FOOTPRINTS.map(|bytes| json!({
            "footprint_bytes": bytes,
            "bytes_per_second": copy_rate(bytes).max(streamed_rate(bytes)),
        })),
    })
}

/// The best of several rounds: `work` things over the seconds that `f` takes.
fn rate(work: f64, mut f: impl FnMut()) -> f64 {
    (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            f();
            work / begin.elapsed().as_secs_f64()
        })
        .fold(0.0, f64::max)
}

/// The clock, from a chain of multiplications (three cycles) and exclusive ors (one).
fn clock() -> f64 {
    let steps = 200_000u64;
    rate(4.0 * steps as f64, || {
        let factor = black_box(0x9e37_79b9_7f4a_7c15u64);
        let mut x = black_box(3u64);
        for step in 0..steps {
            x = x.wrapping_mul(factor) ^ step;
        }
        black_box(x);
    })
}

/// From one half of `footprint` bytes to the other.
fn copy_rate(footprint: usize) -> f64 {
    let words = footprint / 16;
    let repeats = ((1 << 22) / footprint).max(1);
    let from = vec![1u64; words];
    let mut to = vec![0u64; words];
    rate((footprint * repeats) as f64, || {
        for _ in 0..repeats {
            to.copy_from_slice(black_box(&from));
            black_box(&mut to);
        }
    })
}

#[cfg(target_arch = "x86_64")]
fn streamed_rate(footprint: usize) -> f64 {
    let words = footprint / 24;
    let repeats = ((1 << 22) / footprint).max(1);
    let (a, b) = (vec![1u64; words], vec![2u64; words]);
    let mut sum = kernels::lines(words);
    rate((24 * words * repeats) as f64, || {
        for _ in 0..repeats {
            kernels::sum_past_the_caches(&mut sum, black_box(&a), black_box(&b));
        }
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn streamed_rate(_: usize) -> f64 {
    0.0
}

#[cfg(target_arch = "x86_64")]
fn multiply_rate() -> Option<f64> {
    is_x86_feature_detected!("avx512f").then(|| {
        // SAFETY: the processor has the feature, as just detected.
        rate((CHAINS as u64 * STEPS) as f64, || unsafe {
            kernels::multiply()
        })
    })
}

#[cfg(target_arch = "x86_64")]
fn multiply_add_rate() -> Option<f64> {
    (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma")).then(|| {
        // SAFETY: the processor has both features, as just detected.
        rate((CHAINS as u64 * STEPS) as f64, || unsafe {
            kernels::multiply_add()
        })
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn multiply_rate() -> Option<f64> {
    None
}

#[cfg(not(target_arch = "x86_64"))]
fn multiply_add_rate() -> Option<f64> {
    None
}

#[cfg(target_arch = "x86_64")]
mod kernels {
    use std::arch::x86_64::*;
    use std::hint::black_box;

    use super::{CHAINS, STEPS};

    /// Two words, aligned as streaming stores want it.
    pub fn lines(words: usize) -> Vec<__m128i> {
        // SAFETY: SSE2 is part of every x86-64.
        vec![unsafe { _mm_setzero_si128() }; words / 2]
    }

    /// The sum of two arrays, as far as all three reach.
    pub fn sum_past_the_caches(sum: &mut [__m128i], a: &[u64], b: &[u64]) {
        let words = a.as_chunks::<2>().0.iter().zip(b.as_chunks::<2>().0);
        for (sum, (a, b)) in sum.iter_mut().zip(words) {
            // SAFETY: a and b are two words each, read unaligned; `sum` is one aligned vector; SSE2 is always there.
            unsafe {
                let (a, b) = (
                    _mm_loadu_si128(a.as_ptr().cast()),
                    _mm_loadu_si128(b.as_ptr().cast()),
                );
                _mm_stream_si128(sum, _mm_add_epi64(a, b));
            }
        }
        // SAFETY: as above; orders the streaming stores.
        unsafe { _mm_sfence() };
    }

    /// STEPS rounds of CHAINS independent 32 x 32 bit multiplications of eight lanes.
    #[target_feature(enable = "avx512f")]
    pub fn multiply() {
        let factor = black_box(_mm512_set1_epi64(0x9e37_79b9));
        let mut chains = [_mm512_set1_epi64(3); CHAINS];
        for _ in 0..STEPS {
            for x in &mut chains {
                *x = _mm512_mul_epu32(*x, factor);
            }
        }
        black_box(chains);
    }

    /// STEPS rounds of CHAINS independent 52 x 52 bit multiply-adds of eight lanes.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn multiply_add() {
        let (a, b) = (
            black_box(_mm512_set1_epi64(0x9e37_79b9)),
            black_box(_mm512_set1_epi64(5)),
        );
        let mut chains = [_mm512_set1_epi64(3); CHAINS];
        for _ in 0..STEPS {
            for x in &mut chains {
                *x = _mm512_madd52lo_epu64(*x, a, b);
            }
        }
        black_box(chains);
    }
}
