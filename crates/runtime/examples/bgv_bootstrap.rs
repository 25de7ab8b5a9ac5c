// SPDX-License-Identifier: Apache-2.0
//! Measures the seconds of each step of a BGV bootstrap: `cargo run --release -p ringmill-runtime --example
//! bgv_bootstrap -- SET [RUNS [THREADS [K]]]`. With K it also measures a bootstrap that divides by p^K, and one that
//! gives signs.

use std::sync::Arc;
use std::time::Instant;

use ringmill_cpu::Cpu;

use ringmill_math::LineAllocator;
use ringmill_math::slots::SlotEncoder;
use ringmill_schemes::bgv::bootstrap::{BootstrapKeys, Bootstrapper, Maps, Set, Step, Value};
use ringmill_schemes::bgv::{
    Decryptor, Encryptor, ExactParams, KeyForm, KeyGenerator, NoiseModel, Plaintext,
};

#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "small".into());
    let runs: usize = arguments.next().map_or(Ok(2), |runs| runs.parse())?;
    let threads: usize = arguments.next().map_or(Ok(1), |threads| threads.parse())?;
    let scaling: Option<u32> = arguments.next().map(|k| k.parse()).transpose()?;
    let names: Vec<&str> = Set::ALL.iter().map(|set| set.name).collect();
    let set =
        Set::named(&name).ok_or_else(|| format!("no set {name}; expected one of {names:?}"))?;
    let setup = set.bootstrapping()?;
    let params = setup.params().clone();
    println!("{name}: {}", params.summary());
    println!("{setup}");
    let begun = Instant::now();
    let maps = Maps::new(&setup, setup.shape())?;
    let bytes = BootstrapKeys::bytes_of(&setup, &maps, KeyForm::Stored)?;
    println!("the keys will take {} MiB", bytes >> 20);
    let keygen = KeyGenerator::new(params.clone())?;
    let keys = BootstrapKeys::generate(&setup, &maps, &keygen, KeyForm::Stored)?;
    println!(
        "set-up: {:.1} s, keys of {} MiB",
        begun.elapsed().as_secs_f64(),
        keys.bytes() >> 20
    );
    if let Some(peak) = peak() {
        println!("peak of memory while they are made: {} MiB", peak >> 10);
    }
    let [low, high] = maps.elements();
    println!(
        "Galois keys: {} at level {}, {} at the highest",
        low.len(),
        setup.start()?,
        high.len()
    );
    let encoder = SlotEncoder::new(setup.structure().clone(), params.prime_power()?.exponent())?;
    let t = params.plain_modulus().value();
    let slots: Vec<u64> = (0..setup.structure().slots() as u64)
        .map(|i| i * 7919 % t)
        .collect();
    let plain = Plaintext::new(&*params, encoder.encode(&slots)?)?;
    let encryptor = Encryptor::with_secret_key(params.clone(), keygen.secret_key().clone())?;
    let decryptor = Decryptor::new(params.clone(), keygen.secret_key().clone())?;
    let cpu = Arc::new(Cpu::new(threads)?);
    let bootstrapper = Bootstrapper::on(setup, maps, cpu.clone())?;
    let mut value = Value {
        cipher: encryptor.encrypt_at(&plain, bootstrapper.start())?,
        noise: NoiseModel::new(&params).fresh_symmetric(),
    };
    // The server has no secret.
    drop((keygen, encryptor));
    for run in 1..=runs {
        let begun = (Instant::now(), processor());
        let mut last = begun;
        let mut shown = |step: Step, value: &Value| {
            let now = (Instant::now(), processor());
            let [seconds, of_processor] = between(last, now);
            println!(
                "  {step}: {seconds:.3} s, {of_processor:.2} s of processor, to level {}; {} MiB resident, {} of them the device's",
                value.level(),
                resident("VmRSS:").unwrap_or(0) >> 10,
                cpu.pool_usage().held >> 20
            );
            last = now;
        };
        let fresh = bootstrapper.observed(&value, &keys, &mut shown)?;
        let [seconds, of_processor] = between(begun, (Instant::now(), processor()));
        let budget = decryptor.noise_budget(&fresh.cipher)?;
        let opened = decryptor.decrypt(&fresh.cipher)?;
        let right = encoder.decode(opened.residues())? == slots;
        let promised = NoiseModel::new(&params).budget(fresh.noise, fresh.level());
        println!(
            "run {run}: {seconds:.3} s, {of_processor:.2} s of processor, level {}, budget {budget} bits (promised {promised}), {}",
            fresh.level(),
            if right { "right" } else { "WRONG" }
        );
        value = fresh;
    }
    if let Some(k) = scaling {
        let power = params.prime_power()?;
        let about_zero = |x: u64, t: u64| match x > t / 2 {
            true => x as i64 - t as i64,
            false => x as i64,
        };
        let (by, known) = (
            power.prime().pow(k) as i64,
            power.prime().pow(power.exponent() - k) as i64,
        );
        let nearest = |x: i64| (x + by / 2).div_euclid(by);
        let scaled = |x: i64, found: i64| (found - nearest(x)).rem_euclid(known) == 0;
        let sign = |x: i64, found: i64| found == x.signum();
        type Checked<'a> = (&'a str, &'a dyn Fn(i64, i64) -> bool);
        let variants: [Checked<'_>; 2] = [("scaled", &scaled), ("sign", &sign)];
        for (what, right) in variants {
            let begun = (Instant::now(), processor());
            let fresh = match what {
                "scaled" => bootstrapper.bootstrap_scaled(&value, k, &keys)?,
                _ => bootstrapper.bootstrap_sign(&value, &keys)?,
            };
            let [seconds, of_processor] = between(begun, (Instant::now(), processor()));
            let opened = decryptor.decrypt(&fresh.cipher)?;
            // The result is known only modulo p^known.
            let known = power.exponent() - if what == "scaled" { k } else { 0 };
            let modulus = power.prime().pow(known);
            let plain: Vec<u64> = opened.residues().iter().map(|c| c % modulus).collect();
            let encoder = SlotEncoder::new(bootstrapper.setup().structure().clone(), known)?;
            let found = encoder.decode(&plain)?;
            let mut pairs = slots.iter().zip(&found);
            let all = pairs.all(|(&x, &y)| right(about_zero(x, t), about_zero(y, modulus)));
            println!(
                "{what}: {seconds:.3} s, {of_processor:.2} s of processor, level {}, budget {} bits, {}",
                fresh.level(),
                decryptor.noise_budget(&fresh.cipher)?,
                if all { "right" } else { "WRONG" }
            );
        }
    }
    if let Some(peak) = peak() {
        println!("peak of memory: {} MiB, keys among them", peak >> 10);
    }
    Ok(())
}

/// Returns the process's peak of resident memory in KiB, if the system tells it.
fn peak() -> Option<u64> {
    resident("VmHWM:")
}

fn resident(what: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(what))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the seconds between two moments: by the clock, and of the processor.
fn between(from: (Instant, u64), to: (Instant, u64)) -> [f64; 2] {
    let ticks = to.1.saturating_sub(from.1);
    [
        to.0.duration_since(from.0).as_secs_f64(),
        ticks as f64 / 100.0,
    ]
}

/// Returns the hundredths of a second that the process's threads took, in its own code and in the system's, or 0 if the
/// system does not tell.
fn processor() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let fields = fields.split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<u64>().ok()).sum()
}
