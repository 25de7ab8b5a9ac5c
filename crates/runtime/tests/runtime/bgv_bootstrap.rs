// SPDX-License-Identifier: Apache-2.0
//! Tests that a BGV bootstrap on the CPU gives the interpreter's bits, with and without fusion and on one thread or
//! two.

use std::sync::Arc;

use ringmill_cpu::Cpu;
use ringmill_device::call::{Interpreted, Runs};
use ringmill_math::slots::SlotEncoder;
use ringmill_schemes::bgv::bootstrap::{
    BootstrapKeys, Bootstrapper, Bootstrapping, Maps, Step, Value,
};
use ringmill_schemes::bgv::{
    Decryptor, Encryptor, ExactParams, KeyForm, KeyGenerator, NoiseModel, Params, Plaintext,
    PrimePower,
};

/// Bootstraps a ciphertext twice on each of `runs`. Checks that all give the same ciphertext after each step, and that
/// the slots keep their values.
fn bootstrapped(power: (u64, u32, u32), weight: u32, form: KeyForm, runs: Vec<Arc<dyn Runs>>) {
    let (p, r, e) = power;
    let t = PrimePower::new(p, r).unwrap().modulus().unwrap();
    let params = Params::builder(9, t)
        .friendly_primes(24, 8)
        .unwrap()
        .further_plain_moduli((e - r) as u8)
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let setup = Bootstrapping::new(params.clone(), weight).unwrap();
    let maps = Maps::new(&setup, Default::default()).unwrap();
    let keygen =
        KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), [3; 32]).unwrap();
    let keys = BootstrapKeys::generate(&setup, &maps, &keygen, form).unwrap();
    let secret = keygen.secret_key().clone();
    let encryptor = Encryptor::with_secret_key(params.clone(), secret.clone()).unwrap();
    let decryptor = Decryptor::new(params.clone(), secret).unwrap();
    let encoder = SlotEncoder::new(setup.structure().clone(), r).unwrap();
    let slots: Vec<u64> = (0..setup.structure().slots() as u64)
        .map(|i| (i * 7919 + 5) % params.plain_modulus().value())
        .collect();
    let plain = Plaintext::new(&*params, encoder.encode(&slots).unwrap()).unwrap();
    let start = setup.start().unwrap();
    let value = Value {
        cipher: encryptor.encrypt_at(&plain, start).unwrap(),
        noise: NoiseModel::new(&params).fresh_symmetric(),
    };
    let mut expected: Option<Vec<(Step, Value)>> = None;
    for runs in runs {
        let bootstrapper = Bootstrapper::on(setup.clone(), maps.clone(), runs).unwrap();
        for _ in 0..2 {
            let mut steps = Vec::new();
            let mut observe = |step: Step, value: &Value| steps.push((step, value.clone()));
            let fresh = bootstrapper.observed(&value, &keys, &mut observe).unwrap();
            let opened = decryptor.decrypt(&fresh.cipher).unwrap();
            assert_eq!(encoder.decode(opened.residues()).unwrap(), slots);
            match &expected {
                Some(expected) => assert!(steps == *expected),
                None => expected = Some(steps),
            }
        }
    }
}

fn all() -> Vec<Arc<dyn Runs>> {
    vec![
        Arc::new(Interpreted),
        Arc::new(Cpu::new(1).unwrap()),
        Arc::new(Cpu::new(2).unwrap()),
        Arc::new(Cpu::new(1).unwrap().without_fusion()),
    ]
}

#[test]
fn devices_bootstrap_with_the_interpreters_bits() {
    bootstrapped((17, 1, 2), 8, KeyForm::Stored, all());
    bootstrapped((127, 1, 2), 16, KeyForm::Seeded, all());
    bootstrapped((7, 1, 3), 16, KeyForm::Stored, all());
}
