// SPDX-License-Identifier: Apache-2.0
//! Prints the microseconds per transform for each backend of this processor and for each kernel; at 30 bits also
//! on 32-bit words.
//!
//! `cargo run --release -p ringmill-math --example ntt_speed`

use std::time::Instant;

use ringmill_math::{Modulus, Ntt32, NttPlan, Ring, kernels, primes};

/// Returns the microseconds per call of the fastest of 15 rounds.
fn measure(mut f: impl FnMut()) -> f64 {
    f();
    let calls = 20;
    let rounds = 15;
    (0..rounds)
        .map(|_| {
            let start = Instant::now();
            (0..calls).for_each(|_| f());
            start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
        })
        .fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "{:>10} {:>6} {:>5} {:>9} {:>9} {:>9} {:>9}",
        "backend", "N", "bits", "ntt us", "intt us", "mul us", "mac us"
    );
    for log_n in [10u8, 12, 13, 14, 15, 16, 17] {
        let q = Modulus::new(primes::ntt_primes(30, u32::from(log_n), 1)?[0])?;
        let narrow = Ntt32::shared(q, Ring::full(log_n))?;
        let mut x: Vec<u32> = (0..1u32 << log_n).collect();
        for backend in kernels::available_backends() {
            let [ntt, intt] = kernels::with_backend(backend, || {
                [
                    measure(|| narrow.forward(&mut x).unwrap_or_default()),
                    measure(|| narrow.inverse(&mut x).unwrap_or_default()),
                ]
            })?;
            let (name, n) = (format!("{backend:?}"), 1u32 << log_n);
            println!(
                "{name:>10} {n:>6} {:>5} {ntt:>9.2} {intt:>9.2}   (32-bit words)",
                30
            );
        }
        for bits in [30u32, 50, 54, 60, 61] {
            let q = Modulus::new(primes::ntt_primes(bits, u32::from(log_n), 1)?[0])?;
            let plan = NttPlan::shared(q, Ring::full(log_n))?;
            let a: Vec<u64> = (0..1u64 << log_n)
                .map(|i| q.reduce(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
                .collect();
            for backend in kernels::available_backends() {
                let mut x = a.clone();
                let times = kernels::with_backend(backend, || {
                    [
                        measure(|| plan.forward(&mut x).unwrap_or_default()),
                        measure(|| plan.inverse(&mut x).unwrap_or_default()),
                        measure(|| kernels::mul_assign(q, &mut x, &a).unwrap_or_default()),
                        measure(|| kernels::mac_assign(q, &mut x, &a, &a).unwrap_or_default()),
                    ]
                })?;
                let name = format!("{backend:?}");
                let [ntt, intt, mul, mac] = times;
                println!(
                    "{name:>10} {:>6} {bits:>5} {ntt:>9.2} {intt:>9.2} {mul:>9.2} {mac:>9.2}",
                    1u32 << log_n
                );
            }
        }
    }
    Ok(())
}
