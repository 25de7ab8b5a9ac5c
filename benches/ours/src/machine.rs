// SPDX-License-Identifier: Apache-2.0
//! Measures the rates of this processor's instructions and memories, by which floors are counted.

#![allow(unsafe_code)] // the loops of `instructions` are

use std::hint::black_box;
use std::time::Instant;

use ringmill_math::Backend;
use serde_json::{Value, json};

/// The number of rounds of a measurement, of which the best counts. There are many, since another program may slow the
/// core for a while.
const ROUNDS: usize = 300;
/// The bytes that the measurement of a memory rate reads and writes: from sizes within the second-level cache to far
/// above it.
const FOOTPRINTS: [usize; 5] = [1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26];

/// Measures vector instructions ([`instructions`]) and bytes a second. Bytes count if they are read or written. Their
/// rate is the highest of three: of a copy, of a sum of two arrays that is written past the caches, and of reading
/// alone.
pub fn measure() -> Value {
    json!({
        "backend": format!("{:?}", Backend::current()),
        "clock_hz": clock(),
        "instructions": instructions(),
        "copies": FOOTPRINTS.map(|bytes| json!({
            "footprint_bytes": bytes,
            "bytes_per_second": copy_rate(bytes).max(streamed_rate(bytes)).max(read_rate(bytes)),
        })),
    })
}

/// Measures each kind of vector instruction, by width of vectors: how many independent ones the processor does in a
/// second, and how many additions one displaces among additions (its slots). Widths and kinds that this processor lacks
/// are left out.
#[cfg(target_arch = "x86_64")]
fn instructions() -> Value {
    use crate::instructions::{ADDITIONS, ALONE, MIXED, available};
    let mut widths = serde_json::Map::new();
    for (width, kinds) in available() {
        // SAFETY: the processor has the instructions of the loops, here and below.
        let rates = kinds.iter().map(|kind| {
            let alone = rate(ALONE as f64, || unsafe { (kind.alone)() });
            let mixed = rate(MIXED as f64, || unsafe { (kind.among_additions)() });
            (kind.name, alone, mixed)
        });
        let rates: Vec<_> = rates.collect();
        let add = rates.first().map_or(0.0, |&(_, alone, _)| alone);
        let rates = rates.into_iter().map(|(name, alone, mixed)| {
            // The time of one such instruction with its additions, counted in additions, less these additions. It is a
            // whole number of turns of a port.
            let slots = (add / mixed - ADDITIONS as f64).round().max(1.0);
            (
                name.to_owned(),
                json!({ "per_second": alone, "slots": slots }),
            )
        });
        widths.insert(
            width.to_string(),
            rates.collect::<serde_json::Map<_, _>>().into(),
        );
    }
    widths.into()
}

#[cfg(not(target_arch = "x86_64"))]
fn instructions() -> Value {
    json!({})
}

/// Returns `work` divided by the seconds that `f` takes, at best over all rounds.
fn rate(work: f64, mut f: impl FnMut()) -> f64 {
    (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            f();
            work / begin.elapsed().as_secs_f64()
        })
        .fold(0.0, f64::max)
}

/// Returns the clock frequency in Hz, from a chain of multiplications (three cycles each) and exclusive ors (one
/// cycle).
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

/// Returns the bytes a second, read and written, of a copy from one half of `footprint` bytes to the other.
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

/// Returns the bytes a second of a loop that reads `footprint` bytes.
fn read_rate(footprint: usize) -> f64 {
    /// The words that one turn reads, into as many independent sums.
    const STEP: usize = 16;
    let repeats = ((1 << 22) / footprint).max(1);
    let from = vec![1u64; footprint / 8];
    rate((footprint * repeats) as f64, || {
        for _ in 0..repeats {
            let mut sums = [0u64; STEP];
            for words in black_box(&from).as_chunks::<STEP>().0 {
                for (sum, word) in sums.iter_mut().zip(words) {
                    *sum ^= word;
                }
            }
            black_box(sums);
        }
    })
}

/// Returns the bytes a second, read and written, of a sum of two arrays that is written past the caches. It uses the
/// widest vectors of the processor, since narrower ones wait for more cache lines at a time than a core can request.
#[cfg(target_arch = "x86_64")]
fn streamed_rate(footprint: usize) -> f64 {
    let words = footprint / 24;
    let repeats = ((1 << 22) / footprint).max(1);
    let (a, b) = (vec![1u64; words], vec![2u64; words]);
    let mut sum = kernels::lines(words);
    let wide = std::arch::is_x86_feature_detected!("avx512f");
    rate((24 * words * repeats) as f64, || {
        for _ in 0..repeats {
            let (a, b) = (black_box(&a), black_box(&b));
            if wide {
                // SAFETY: the processor has AVX-512F.
                unsafe { kernels::sum_of_wide_vectors(&mut sum, a, b) };
            } else {
                kernels::sum_past_the_caches(&mut sum, a, b);
            }
        }
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn streamed_rate(_: usize) -> f64 {
    0.0
}

#[cfg(target_arch = "x86_64")]
mod kernels {
    use std::arch::x86_64::*;

    /// A cache line, aligned as streaming stores want it.
    #[derive(Clone)]
    #[repr(C, align(64))]
    pub struct Line(pub [u64; 8]);

    /// Returns cache lines with `words` words in all, rounded down to whole lines.
    pub fn lines(words: usize) -> Vec<Line> {
        vec![Line([0; 8]); words / 8]
    }

    /// Writes the sums of two arrays' words by streaming stores of 512 bits, as far as all three arrays reach.
    #[target_feature(enable = "avx512f")]
    pub fn sum_of_wide_vectors(sum: &mut [Line], a: &[u64], b: &[u64]) {
        let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
        for (sum, (a, b)) in sum.iter_mut().zip(words) {
            // SAFETY: a and b are eight words each, read unaligned; `sum` is an aligned line.
            unsafe {
                let (a, b) = (
                    _mm512_loadu_si512(a.as_ptr().cast()),
                    _mm512_loadu_si512(b.as_ptr().cast()),
                );
                _mm512_stream_si512(sum.0.as_mut_ptr().cast(), _mm512_add_epi64(a, b));
            }
        }
        _mm_sfence();
    }

    /// Writes the sums of two arrays' words by streaming stores of 128 bits, which every x86-64 has.
    pub fn sum_past_the_caches(sum: &mut [Line], a: &[u64], b: &[u64]) {
        let words = a.as_chunks::<2>().0.iter().zip(b.as_chunks::<2>().0);
        let pairs = sum
            .iter_mut()
            .flat_map(|line| line.0.as_chunks_mut::<2>().0);
        for (sum, (a, b)) in pairs.zip(words) {
            // SAFETY: a and b are two words each, read unaligned; `sum` is two words of an aligned line, at an even
            // place; SSE2 is always there.
            unsafe {
                let (a, b) = (
                    _mm_loadu_si128(a.as_ptr().cast()),
                    _mm_loadu_si128(b.as_ptr().cast()),
                );
                _mm_stream_si128(sum.as_mut_ptr().cast(), _mm_add_epi64(a, b));
            }
        }
        // SAFETY: as above; orders the streaming stores.
        unsafe { _mm_sfence() };
    }
}
