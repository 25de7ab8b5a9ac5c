// SPDX-License-Identifier: Apache-2.0
//! Prints the microseconds per call of kernels on limbs of 2^14 coefficients, for each backend of this processor.
//!
//! `cargo run --release -p ringmill-math --example kernel_speed`

use std::time::Instant;

use ringmill_math::{AutoEvalPlan, Modulus, Prng, Ring, expand_uniform, kernels, primes, sample};

const N: usize = 1 << 14;

/// Returns the microseconds per call of the fastest of 15 rounds.
fn measure(mut f: impl FnMut()) -> f64 {
    f();
    let calls = 20;
    (0..15)
        .map(|_| {
            let start = Instant::now();
            (0..calls).for_each(|_| f());
            start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
        })
        .fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut prng = Prng::from_os()?;
    let gaussian = sample::GaussianTable::new(3.2)?;
    for bits in [50u32, 54, 60] {
        let list = primes::ntt_primes(bits, 14, 2)?;
        let (q, small) = (Modulus::new(list[0])?, Modulus::new(list[1])?);
        let mut random = || {
            let mut limb = vec![0; N];
            sample::uniform(&mut prng, q, &mut limb);
            limb
        };
        let limbs: Vec<Vec<u64>> = (0..8).map(|_| random()).collect();
        let (a, b) = (&limbs[0], &limbs[1]);
        let terms: Vec<(&[u64], &[u64])> =
            limbs.iter().map(|l| (l.as_slice(), a.as_slice())).collect();
        let slices: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
        let constants: Vec<_> = limbs.iter().map(|l| q.shoup(l[0])).collect();
        let auto = AutoEvalPlan::shared(14, 3)?;
        let (mut p, mut m) = (vec![0; N / 2], vec![0; N / 2]);
        let mut out = vec![0; N];
        for backend in kernels::available_backends() {
            let times = kernels::with_backend(backend, || {
                [
                    (
                        "add",
                        measure(|| kernels::add(q, &mut out, a, b).unwrap_or_default()),
                    ),
                    (
                        "mul",
                        measure(|| kernels::mul(q, &mut out, a, b).unwrap_or_default()),
                    ),
                    (
                        "mac",
                        measure(|| kernels::mac(q, &mut out, a, a, b).unwrap_or_default()),
                    ),
                    (
                        "mul_scalar",
                        measure(|| kernels::mul_scalar(q, &mut out, a, b[0]).unwrap_or_default()),
                    ),
                    (
                        "conv",
                        measure(|| kernels::conv(q, small, &mut out, a).unwrap_or_default()),
                    ),
                    (
                        "dot of 8",
                        measure(|| kernels::dot(q, &mut out, &terms).unwrap_or_default()),
                    ),
                    (
                        "dot_scalars of 8",
                        measure(|| {
                            kernels::dot_scalars(q, &mut out, &slices, &constants)
                                .unwrap_or_default()
                        }),
                    ),
                    (
                        "auto_coeff",
                        measure(|| kernels::auto_coeff(q, 3, &mut out, a).unwrap_or_default()),
                    ),
                    (
                        "auto_eval",
                        measure(|| auto.apply(&mut out, a).unwrap_or_default()),
                    ),
                    (
                        "split",
                        measure(|| {
                            kernels::split(q, Ring::full(14), &mut p, &mut m, a).unwrap_or_default()
                        }),
                    ),
                    (
                        "join",
                        measure(|| {
                            kernels::join(q, Ring::full(14), &mut out, &p, &m).unwrap_or_default()
                        }),
                    ),
                    (
                        "expand_uniform",
                        measure(|| expand_uniform(&[7; 32], 1, q, &mut out)),
                    ),
                ]
            })?;
            println!("{backend:?}, {bits} bits:");
            for (name, time) in times {
                println!("  {name:<18} {time:>8.2} us");
            }
        }
    }
    println!(
        "gaussian           {:>8.2} us",
        measure(|| drop(gaussian.draw(&mut prng, N)))
    );
    println!(
        "ternary            {:>8.2} us",
        measure(|| drop(sample::ternary(&mut prng, N)))
    );
    println!(
        "centred binomial   {:>8.2} us",
        measure(|| drop(sample::centred_binomial(&mut prng, N, 21)))
    );
    Ok(())
}
