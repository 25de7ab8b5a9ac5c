// SPDX-License-Identifier: Apache-2.0
//! Measures the time of the basic homomorphic operations on the cpu device, at the Medha paper's parameter sets.
//!
//! `cargo run --release -p ringmill-runtime --example relin_speed [-- THREADS] [--json]`

mod chain;

use std::error::Error;
use std::time::Instant;

use ringmill_cpu::Cpu;
use ringmill_device::progress::Silent;
use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::ckks::{Encoder, Encryptor, KeyGenerator, OpKey, Params, ProcCache};

/// The number of timed runs of each operation.
const RUNS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let json = args.iter().any(|a| a == "--json");
    let threads = args.iter().find_map(|a| a.parse().ok()).unwrap_or(1);
    let cpu = Cpu::new(threads)?;
    if !json {
        println!("fastest and median of {RUNS} runs on {threads} thread(s); pool peak of the run");
    }
    for set in ["set1", "set2"] {
        let params = Params::named(set)?;
        let cache = ProcCache::new(params.clone());
        let keys = KeyGenerator::new(params.clone())?;
        let relin = keys.relin_key(KeyForm::Stored)?;
        let seeded = keys.relin_key(KeyForm::Seeded)?;
        let galois = params.galois_element(1)?;
        let rotation = keys.galois_keys(&[galois], KeyForm::Stored)?;
        let encoder = Encoder::new(params.clone());
        let plain = encoder.encode_real(&[0.5; 64], params.max_level(), params.default_scale())?;
        let encryptor = Encryptor::with_secret_key(params.clone(), keys.secret_key().clone())?;
        let (a, b) = (encryptor.encrypt(&plain)?, encryptor.encrypt(&plain)?);

        let level = params.max_level();
        let rescale = OpKey::rescale(level, 2);
        let mul_relin = |seeded| OpKey::mul_relin(level, seeded);
        let rotate = OpKey::rotate(level, galois, false);
        let key = Some(&relin.0);
        let rows = [
            ("add", vec![OpKey::add(level, 2, 2)], vec![None]),
            ("multiply", vec![OpKey::mul(level)], vec![None]),
            ("multiply + relinearise", vec![mul_relin(false)], vec![key]),
            (
                "the same, key half from seed",
                vec![mul_relin(true)],
                vec![Some(&seeded.0)],
            ),
            ("rescale", vec![rescale.clone()], vec![None]),
            (
                "multiply + relinearise + rescale",
                vec![mul_relin(false), rescale],
                vec![key, None],
            ),
            ("rotate", vec![rotate], vec![Some(rotation.get(galois)?)]),
        ];
        for (name, ops, keys) in rows {
            let program = chain::program(&cache, &ops)?;
            let bindings = chain::bind(&program, &[&a, &b], &keys)?;
            let mut times = Vec::with_capacity(RUNS);
            let mut peak = 0;
            for run in 0..=RUNS {
                let begin = Instant::now();
                let (_, stats) = cpu.execute(&program, &bindings, &Silent, None)?;
                // The first run plans, expands seeds and fills the pool.
                if run > 0 {
                    times.push(begin.elapsed().as_secs_f64() * 1e6);
                }
                peak = stats.pool_peak_bytes;
            }
            times.sort_by(f64::total_cmp);
            let median = times[RUNS / 2];
            if json {
                let row = serde_json::json!({
                    "set": set, "operation": name, "threads": threads, "microseconds": times[0], "median_microseconds": median, "pool_peak_bytes": peak
                });
                println!("{row}");
            } else {
                println!(
                    "{set}  {name:<34}{:>10.0} us{median:>10.0} us{:>8.1} MiB",
                    times[0],
                    peak as f64 / f64::from(1 << 20)
                );
            }
        }
    }
    Ok(())
}
