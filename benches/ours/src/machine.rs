// SPDX-License-Identifier: Apache-2.0
//! What this processor does in a second, measured: the rates that the floors are counted with.

#![allow(unsafe_code)] // the loops of `instructions` are

use std::hint::black_box;
use std::time::Instant;

use ringmill_math::Backend;
use serde_json::{Value, json};

/// Many, as another program may slow the core for a while: the best one counts.
const ROUNDS: usize = 300;
/// Bytes that a memory rate is measured with, read and written: from inside the second-level cache to far outside it.
const FOOTPRINTS: [usize; 5] = [1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26];

/// Vector instructions ([`instructions`]) and bytes a second. Bytes count read and written: of a copy, of a sum of two
/// arrays that is written past the caches, or of reading alone, whichever is fastest: what a loop writes is at most as
/// quick as what it reads.
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

/// By width of vectors and kind: how many a second, each independent of the others, and how many additions one
/// displaces among additions (its slots). Nothing for a width or a kind that this processor lacks.
#[cfg(target_arch = "x86_64")]
fn instructions() -> Value {
    use crate::instructions::{ADDITIONS, ALONE, MIXED, available};
    let mut widths = serde_json::Map::new();
    for (width, kinds) in available() {
        // SAFETY: of the loops, here and below: the processor has their instructions.
        let rates = kinds.iter().map(|kind| {
            let alone = rate(ALONE as f64, || unsafe { (kind.alone)() });
            let mixed = rate(MIXED as f64, || unsafe { (kind.among_additions)() });
            (kind.name, alone, mixed)
        });
        let rates: Vec<_> = rates.collect();
        let add = rates.first().map_or(0.0, |&(_, alone, _)| alone);
        let rates = rates.into_iter().map(|(name, alone, mixed)| {
            // What one of the kind and its additions take, in additions, less these: whole turns of a port.
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

/// Of `footprint` bytes, each read once.
fn read_rate(footprint: usize) -> f64 {
    /// Words at a time: as many sums, none of which waits for another.
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

/// Of a sum, by the widest vectors that there are: narrower ones wait for more lines at a time than a core can ask for.
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

    /// So many words.
    pub fn lines(words: usize) -> Vec<Line> {
        vec![Line([0; 8]); words / 8]
    }

    /// The sum of two arrays, as far as all three reach.
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

    /// The same on every x86-64.
    pub fn sum_past_the_caches(sum: &mut [Line], a: &[u64], b: &[u64]) {
        let words = a.as_chunks::<2>().0.iter().zip(b.as_chunks::<2>().0);
        let pairs = sum
            .iter_mut()
            .flat_map(|line| line.0.as_chunks_mut::<2>().0);
        for (sum, (a, b)) in pairs.zip(words) {
            // SAFETY: a and b are two words each, read unaligned; `sum` is two words of an aligned line, at an even place;
            // SSE2 is always there.
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
