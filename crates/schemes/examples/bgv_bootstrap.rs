//! Seconds of each step of a bootstrap: `cargo run --release -p ringmill-schemes --example bgv_bootstrap -- SET [RUNS]`. One thread,
//! by the reference interpreter.

use std::time::Instant;

use ringmill_math::LineAllocator;
use ringmill_math::slots::SlotEncoder;
use ringmill_schemes::bgv::bootstrap::{BootstrapKeys, Bootstrapper, Maps, Set, Step, Value};
use ringmill_schemes::bgv::{
    Decryptor, Encryptor, ExactParams, KeyForm, KeyGenerator, NoiseModel, Plaintext,
};
use ringmill_schemes::exact::Decrypts;

#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "small".into());
    let runs: usize = arguments.next().map_or(Ok(2), |runs| runs.parse())?;
    let names: Vec<&str> = Set::ALL.iter().map(|set| set.name).collect();
    let set =
        Set::named(&name).ok_or_else(|| format!("no set {name}; expected one of {names:?}"))?;
    let setup = set.bootstrapping()?;
    let params = setup.params().clone();
    println!("{name}: {}", params.summary());
    println!("{setup}");
    let begun = Instant::now();
    let maps = Maps::new(&setup, Default::default())?;
    let keygen = KeyGenerator::new(params.clone())?;
    let keys = BootstrapKeys::generate(&setup, &maps, &keygen, KeyForm::Stored)?;
    println!(
        "set-up: {:.1} s, keys of {} MiB",
        begun.elapsed().as_secs_f64(),
        keys.bytes() >> 20
    );
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
    let bootstrapper = Bootstrapper::new(setup, maps)?;
    let mut value = Value {
        cipher: encryptor.encrypt_at(&plain, bootstrapper.start())?,
        noise: NoiseModel::new(&params).fresh_symmetric(),
    };
    for run in 1..=runs {
        let begun = Instant::now();
        let mut last = begun;
        let mut shown = |step: Step, value: &Value| {
            let now = Instant::now();
            let seconds = now.duration_since(last).as_secs_f64();
            println!("  {step}: {seconds:.3} s, to level {}", value.level());
            last = now;
        };
        let fresh = bootstrapper.observed(&value, &keys, &mut shown)?;
        let seconds = begun.elapsed().as_secs_f64();
        let budget = decryptor.noise_budget(&fresh.cipher)?;
        let opened = decryptor.decrypt(&fresh.cipher)?;
        let right = encoder.decode(opened.residues())? == slots;
        let promised = NoiseModel::new(&params).budget(fresh.noise, fresh.level());
        println!(
            "run {run}: {seconds:.3} s, level {}, budget {budget} bits (promised {promised}), {}",
            fresh.level(),
            if right { "right" } else { "WRONG" }
        );
        value = fresh;
    }
    Ok(())
}
