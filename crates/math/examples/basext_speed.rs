// SPDX-License-Identifier: Apache-2.0
//! Prints the milliseconds per base extension on one thread, for each method and backend, beside the floor. It
//! also compares them with figures for OpenFHE's Shenoy-Kumaresan step (66.7 ms at N = 2^16, l = 17; 4.3 ms at N
//! = 2^14, l = 7).
//!
//! `cargo run --release -p ringmill-math --example basext_speed`

use std::hint::black_box;
use std::time::Instant;

use ringmill_math::basext::{
    BaseExtension, FixedPoint, Kawamura, MixedRadix, Representative, ShenoyKumaresan, best_exact,
};
use ringmill_math::{BaseConverter, Modulus, Prng, RnsBasis, kernels, primes, sample};

/// The lanes of a vector, and below the 52-bit multiply-adds of a cycle.
const LANES: f64 = 8.0;
const RATE: f64 = 2.0;

/// Measures the processor's clock in GHz by a chain of multiplications (three cycles each) and exclusive ors
/// (one cycle each).
fn clock() -> f64 {
    let steps = 20_000u64;
    (0..5000)
        .map(|_| {
            let start = Instant::now();
            let factor = black_box(0x9e37_79b9_7f4a_7c15u64);
            let mut x = black_box(3u64);
            for step in 0..steps {
                x = x.wrapping_mul(factor) ^ step;
            }
            black_box(x);
            4.0 * steps as f64 / start.elapsed().as_nanos() as f64
        })
        .fold(0.0, f64::max)
}

/// Returns the milliseconds of the fastest of several conversions.
fn measure(extension: &dyn BaseExtension, limbs: &[Vec<u64>]) -> f64 {
    let n = limbs[0].len();
    let input: Vec<&[u64]> = limbs[..extension.source().len()]
        .iter()
        .map(Vec::as_slice)
        .collect();
    let mut output = vec![vec![0; n]; extension.target().len()];
    let mut slices: Vec<&mut [u64]> = output.iter_mut().map(Vec::as_mut_slice).collect();
    let mut scratch = vec![0; extension.scratch_len()];
    let budget = Instant::now();
    let mut best = f64::INFINITY;
    for round in 0.. {
        let start = Instant::now();
        let result = extension.convert(&input, &mut slices, &mut scratch);
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
        if result.is_err() || (round > 3 && budget.elapsed().as_millis() > 500) {
            break;
        }
    }
    best
}

/// Returns the milliseconds of the fastest of 100 conversions on two threads, which are started for each and
/// take half of the coefficients each.
fn measure_two_threads(extension: &dyn BaseExtension, limbs: &[Vec<u64>]) -> f64 {
    let half = limbs[0].len() / 2;
    let sources = extension.source().len();
    let low: Vec<&[u64]> = limbs[..sources].iter().map(|limb| &limb[..half]).collect();
    let high: Vec<&[u64]> = limbs[..sources].iter().map(|limb| &limb[half..]).collect();
    let mut output = vec![vec![0; 2 * half]; extension.target().len()];
    let (mut low_out, mut high_out): (Vec<_>, Vec<_>) = output
        .iter_mut()
        .map(|limb| limb.split_at_mut(half))
        .unzip();
    let mut scratch = [(); 2].map(|_| vec![0; extension.scratch_len()]);
    let [low_scratch, high_scratch] = &mut scratch;
    let mut best = f64::INFINITY;
    for _ in 0..100 {
        let start = Instant::now();
        let done = std::thread::scope(|scope| {
            let other = scope.spawn(|| extension.convert(&low, &mut low_out, low_scratch));
            let this = extension.convert(&high, &mut high_out, high_scratch);
            this.is_ok() && other.join().is_ok_and(|result| result.is_ok())
        });
        if done {
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    best
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut prng = Prng::from_os()?;
    let clock = clock();
    println!("clock {clock:.2} GHz (from a chain of multiplications)");
    for (log_n, l, bits, peer) in [
        (16, 17, 60, Some(66.7)),
        (14, 7, 60, Some(4.3)),
        (14, 7, 50, None),
        (15, 64, 60, None),
    ] {
        let n = 1usize << log_n;
        let list = primes::ntt_primes(bits, log_n, 2 * l + 1)?
            .into_iter()
            .map(Modulus::new)
            .collect::<Result<Vec<_>, _>>()?;
        let (from, to, redundant) = (
            RnsBasis::new(list[..l].to_vec())?,
            &list[l..2 * l],
            list[2 * l],
        );
        let random: Vec<Vec<u64>> = from
            .moduli()
            .iter()
            .map(|q| {
                let mut limb = vec![0; n];
                sample::uniform(&mut prng, *q, &mut limb);
                limb
            })
            .collect();
        // Adds the limb of the same integers modulo the redundant modulus.
        let widen = |limbs: &[Vec<u64>]| -> Result<Vec<Vec<u64>>, Box<dyn std::error::Error>> {
            let extension = best_exact(&from, &[redundant])?;
            let mut limb = vec![0; n];
            let input: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
            let mut scratch = vec![0; extension.scratch_len()];
            extension.convert(&input, &mut [&mut limb], &mut scratch)?;
            Ok(limbs.iter().cloned().chain([limb]).collect())
        };
        let random = widen(&random)?;
        // The integer 1, and integers close to Q. The extension on [0, Q) must decide all of them exactly.
        let ones = vec![vec![1; n]; l];
        let far: Vec<Vec<u64>> = (from.decompose(&(from.product() - (from.product() >> 60u32))))
            .into_iter()
            .map(|x| vec![x; n])
            .collect();

        let best = best_exact(&from, to)?;
        let centred = FixedPoint::new(&from, to, Representative::Centred)?;
        let fast = BaseConverter::new(&from, to);
        let kumaresan = ShenoyKumaresan::new(&from, redundant, to)?;
        let radix = MixedRadix::new(&from, to, Representative::NonNegative)?;
        let rower = Kawamura::new(&from, to, bits)?;
        let methods: [(&str, &dyn BaseExtension, &[Vec<u64>]); 8] = [
            ("fast (approximate)", &fast, &random),
            ("best_exact", &best, &random),
            ("fixed point, centred", &centred, &random),
            ("Kawamura", &rower, &random),
            ("Shenoy-Kumaresan", &kumaresan, &random),
            ("mixed radix", &radix, &random),
            ("best_exact, all A = 1", &best, &ones),
            ("best_exact, all A = Q - Q/2^60", &best, &far),
        ];
        let products = (l * l * n) as f64;
        // Multiply-adds of one product in the AVX-512 IFMA kernel: more when factors exceed 52 bits.
        let each = if bits > 52 { 5.0 } else { 3.0 };
        let floor = products * each / LANES / RATE / clock / 1e6;
        println!(
            "N = 2^{log_n}, l = k = {l}, {bits} bits: {products:.3e} products, floor {floor:.2} ms \
             ({each} multiply-adds each, {LANES} lanes, {RATE} a cycle)"
        );
        let two = measure_two_threads(&best, &random);
        println!("  best_exact on two threads: {two:.3} ms");
        for backend in kernels::available_backends() {
            for (name, extension, limbs) in methods {
                let time = kernels::with_backend(backend, || measure(extension, limbs))?;
                let ratio = peer.map_or(String::new(), |peer: f64| {
                    format!("{:>8.1} x OpenFHE", peer / time)
                });
                println!(
                    "  {:<12}{name:<32}{time:>9.3} ms {:>6.2} x floor{ratio}",
                    format!("{backend:?}"),
                    time / floor
                );
            }
        }
    }
    Ok(())
}
