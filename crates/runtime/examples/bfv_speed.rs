// SPDX-License-Identifier: Apache-2.0
//! Measures the time of BFV's operations on the cpu device, at N = 2^14 with 7 ciphertext primes.
//!
//! `cargo run --release -p ringmill-runtime --example bfv_speed [-- THREADS]`

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use ringmill_cpu::Cpu;
use ringmill_device::progress::Silent;
use ringmill_device::{Bindings, Limb};
use ringmill_isa::mid::{Program, Verified};
use ringmill_math::Modulus;
use ringmill_math::Prng;
use ringmill_math::sample::uniform;
use ringmill_schemes::bfv::{
    Multiplication, OpKey, Params, PlainModulus, ProcCache, SecurityLevel, SecurityTable,
};

/// The number of timed runs of each operation.
const RUNS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let threads = std::env::args().nth(1).and_then(|a| a.parse().ok());
    let cpu = Cpu::new(threads.unwrap_or(1))?;
    let mut prng = Prng::from_seed_for_reproducible_tests_only([1; 32]);
    println!("fastest and median of {RUNS} runs, random residues as operands and keys");
    for multiplication in Multiplication::ALL {
        let params = Params::builder(14, PlainModulus::batching(14, 20)?)
            .prime_bits(&[54; 7], &[60])
            .multiplication(multiplication)
            .security(SecurityTable::Standard2018Ternary, SecurityLevel::Bits128)
            .build()?;
        let (level, element) = (params.max_level(), params.galois_element(1)?);
        let cache = ProcCache::new(params.clone());
        for (name, op) in [
            ("add", OpKey::add(level, 2, 2)),
            ("add plain", OpKey::add_plain(level, 2)),
            ("multiply plain", OpKey::mul_plain(level, 2)),
            ("multiply", OpKey::mul(level)),
            ("multiply + relinearise", OpKey::mul_relin(level, false)),
            ("square + relinearise", OpKey::square_relin(level, false)),
            ("rotate", OpKey::rotate(level, element, false)),
            ("mod-switch", OpKey::mod_switch(level, 2)),
        ] {
            let program = Program::calling(Arc::clone(&cache.get(&op)?), Vec::new());
            let program = Verified::new(program)?;
            let mut inputs = Vec::new();
            for input in &program.inputs {
                let ty = input.ty.limb().ok_or("an input that is no limb")?;
                let q = program.moduli[usize::from(ty.modulus.0)];
                let q = Modulus::new(u64::try_from(q.value())?)?;
                let mut limb = vec![0; params.degree()];
                uniform(&mut prng, q, &mut limb);
                inputs.push((limb, ty.modulus));
            }
            let limbs = inputs.iter().map(|(limb, modulus)| {
                Limb::borrowed(limb, program.moduli[usize::from(modulus.0)])
            });
            let bindings = Bindings {
                limbs: limbs.collect::<Result<_, _>>()?,
                seeds: Vec::new(),
            };
            let mut times = Vec::with_capacity(RUNS);
            for run in 0..=RUNS {
                let begin = Instant::now();
                cpu.execute(&program, &bindings, &Silent, None)?;
                // The first run plans and fills the pool.
                if run > 0 {
                    times.push(begin.elapsed().as_secs_f64() * 1e6);
                }
            }
            times.sort_by(f64::total_cmp);
            let (fastest, median) = (times[0], times[RUNS / 2]);
            let by = multiplication.name();
            println!("{by}  {name:<24}{fastest:>10.0} us{median:>10.0} us");
        }
    }
    Ok(())
}
