// SPDX-License-Identifier: Apache-2.0
//! Measures the milliseconds of one bootstrap on one thread, for every parameter set and unrolling, with the set's own
//! ciphertext modulus and with two primes: `cargo run --release --example tfhe_speed [NAME]`. It prints the best and
//! the median time of the bootstraps of one second. NAME selects the sets whose names contain it.

use std::time::Instant;

use ringmill_circuits::tfhe::{
    CiphertextModulus, Client, Evaluator, Gate, LookupTable, Messages, ParamsBuilder, TfheError,
    Transforms, Unrolling, sets,
};
use ringmill_math::LineAllocator;

#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    for name in sets::names().filter(|name| name.contains(&wanted)) {
        let base = || ParamsBuilder::named(name);
        let integers = matches!(base()?.build()?.sizes().messages, Messages::Integers { .. });
        let primes: &[u32] = if integers { &[50, 52] } else { &[30, 32] };
        for unrolling in Unrolling::ALL {
            let mut cases = vec![base()?, base()?.transforms(Transforms::Solinas)];
            cases.extend(
                primes.iter().filter_map(|&bits| {
                    Some(base().ok()?.modulus(CiphertextModulus::Prime { bits }))
                }),
            );
            for builder in cases {
                match builder
                    .unrolling(unrolling)
                    .failing(Default::default())
                    .build()
                {
                    Ok(params) => measure(name, params)?,
                    Err(e) => println!("{name} m = {}: {e}", unrolling.m()),
                }
            }
        }
    }
    Ok(())
}

fn measure(
    name: &str,
    params: std::sync::Arc<ringmill_circuits::tfhe::Params>,
) -> Result<(), TfheError> {
    let client = Client::new(params.clone())?;
    let evaluator = Evaluator::new(
        params.clone(),
        &client.bootstrap_key()?,
        &client.key_switch_key()?,
    )?;
    let (evaluator, work) = (&evaluator, &mut evaluator.workspace());
    let mut run: Box<dyn FnMut() -> Result<(), TfheError>> = match params.sizes().messages {
        Messages::Booleans => {
            let (x, y) = (client.encrypt_bit(true)?, client.encrypt_bit(false)?);
            Box::new(move || evaluator.gate(work, Gate::Nand, &x, &y).map(drop))
        }
        Messages::Integers { .. } => {
            let (x, table) = (client.encrypt(3)?, LookupTable::of(&params, |m| m + 1)?);
            Box::new(move || evaluator.lookup(work, &table, &x).map(drop))
        }
    };
    run()?;
    let start = Instant::now();
    let mut times = Vec::new();
    while start.elapsed().as_secs_f64() < 1.0 {
        let one = Instant::now();
        run()?;
        times.push(one.elapsed().as_secs_f64() * 1e3);
    }
    drop(run);
    times.sort_by(f64::total_cmp);
    println!(
        "{name} m = {} {:?} {:?}: best {:.2} ms, median {:.2} ms; fails 2^{:.0}; {}",
        params.sizes().unrolling.m(),
        params.sizes().modulus,
        params.ring().lift(),
        times[0],
        times[times.len() / 2],
        params.failure_log2(),
        params.exactness().summary(),
    );
    Ok(())
}
