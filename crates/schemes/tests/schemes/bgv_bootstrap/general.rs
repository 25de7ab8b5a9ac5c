// SPDX-License-Identifier: Apache-2.0
//! Tests general bootstrapping of BGV, for polynomials of any coefficients.

use std::sync::Arc;

use ringmill_schemes::bgv::bootstrap::{
    BootstrapError, BootstrapKeys, Bootstrapper, Bootstrapping, Maps, Value,
};
use ringmill_schemes::bgv::{
    Decryptor, Encryptor, ExactParams, KeyForm, KeyGenerator, Level, NoiseModel, Params, Plaintext,
    PrimePower, friendly_primes,
};

use super::thin::slots;

fn params(p: u64, (r, e): (u32, u32)) -> Arc<Params> {
    let t = PrimePower::new(p, r).unwrap().modulus().unwrap();
    let primes = friendly_primes(40).unwrap();
    let (cipher, special) = primes.split_at(30);
    let builder = Params::builder(9, t).primes(cipher, special);
    let builder = builder.further_plain_moduli((e - r) as u8);
    let builder = builder.allow_insecure_parameters_for_tests_only();
    builder.build().unwrap()
}

/// Slots hold elements of the slot ring, of which the bootstrap refreshes all coefficients.
#[test]
fn all_coefficients_are_bootstrapped() {
    bootstrapped(&[(127, (1, 2), 16), (127, (2, 3), 16)]);
}

/// A prime that is 1 modulo 4, with two digits below the message and 64 parts of the polynomial.
#[test]
#[ignore = "a minute of processor time; `make full` runs it"]
fn many_parts_are_bootstrapped() {
    bootstrapped(&[(17, (1, 3), 16)]);
}

fn bootstrapped(shapes: &[(u64, (u32, u32), u32)]) {
    for &(p, power, weight) in shapes {
        let params = params(p, power);
        let setup = Bootstrapping::general(params.clone(), weight).unwrap();
        assert!(setup.is_general() && setup.log2_chance() <= -40.0);
        let maps = Maps::general(&setup, setup.shape()).unwrap();
        let seed = [p as u8; 32];
        let keygen =
            KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), seed).unwrap();
        let keys = BootstrapKeys::generate(&setup, &maps, &keygen, KeyForm::Stored).unwrap();
        let secret = keygen.secret_key().clone();
        let encryptor = Encryptor::with_secret_key(params.clone(), secret.clone()).unwrap();
        let decryptor = Decryptor::new(params.clone(), secret).unwrap();
        let inner = setup.inner();
        let bootstrapper = Bootstrapper::new(setup, maps).unwrap();
        let model = NoiseModel::new(&params);
        let whole = slots(params.degree(), params.plain_modulus().value());
        let plain = Plaintext::new(&*params, whole.clone()).unwrap();
        let value = Value {
            cipher: encryptor.encrypt_at(&plain, Level(inner.0 + 1)).unwrap(),
            noise: model.fresh_symmetric(),
        };
        let fresh = bootstrapper.bootstrap_general(&value, &keys).unwrap();
        assert_eq!(
            decryptor.decrypt(&fresh.cipher).unwrap().residues(),
            whole,
            "{p}"
        );
        let (left, promised) = (
            decryptor.noise_budget(&fresh.cipher).unwrap(),
            model.budget(fresh.noise, fresh.level()),
        );
        println!(
            "{p}: level {}, {left} bits, {promised} promised",
            fresh.level()
        );
        assert!(0 < promised && promised <= left);
        // The result can be bootstrapped again.
        let again = bootstrapper.bootstrap_general(&fresh, &keys).unwrap();
        assert_eq!(decryptor.decrypt(&again.cipher).unwrap().residues(), whole);
    }
}

#[test]
fn thin_parameters_and_maps_are_refused() {
    let params = params(127, (1, 2));
    let keygen = KeyGenerator::new(params.clone()).unwrap();
    let general = Bootstrapping::general(params.clone(), 16).unwrap();
    let thin = Bootstrapping::new(params.clone(), 16).unwrap();
    let shape = general.shape();
    let maps = Maps::new(&thin, shape).unwrap();
    let keys = BootstrapKeys::generate(&thin, &maps, &keygen, KeyForm::Seeded).unwrap();
    let secret = keygen.secret_key().clone();
    let encryptor = Encryptor::with_secret_key(params.clone(), secret).unwrap();
    let plain = Plaintext::new(&*params, slots(params.degree(), 127)).unwrap();
    let at = |level: Level| Value {
        cipher: encryptor.encrypt_at(&plain, level).unwrap(),
        noise: NoiseModel::new(&params).fresh_symmetric(),
    };
    let (inner, all) = (general.inner(), Maps::general(&general, shape).unwrap());
    for (setup, maps) in [(general.clone(), maps), (thin, all.clone())] {
        let bootstrapper = Bootstrapper::new(setup, maps).unwrap();
        let refused = bootstrapper.bootstrap_general(&at(inner), &keys);
        assert!(matches!(refused, Err(BootstrapError::Parameters { .. })));
    }
    let bootstrapper = Bootstrapper::new(general, all).unwrap();
    // Keys that were made for other maps lack Galois keys of these maps.
    let thin = Bootstrapping::new(params.clone(), 16).unwrap();
    let deep = thin.clone().with_map_depth(2);
    let [one, two] = [&thin, &deep].map(|setup| Maps::new(setup, setup.shape()).unwrap());
    let missing = [(&thin, &one, &two), (&deep, &two, &one)].map(|(setup, maps, others)| {
        let keys = BootstrapKeys::generate(setup, others, &keygen, KeyForm::Seeded).unwrap();
        let bootstrapper = Bootstrapper::new(setup.clone(), maps.clone()).unwrap();
        bootstrapper.bootstrap(&at(Level(bootstrapper.start().0)), &keys)
    });
    let is_missing = |r: &Result<Value, _>| matches!(r, Err(BootstrapError::MissingKey(_)));
    assert!(missing.iter().any(is_missing));
    if let Some(below) = inner.below() {
        let refused = bootstrapper.bootstrap_general(&at(below), &keys);
        assert!(matches!(refused, Err(BootstrapError::NoLevel { .. })));
    }
}

#[test]
fn maps_of_other_parameters_are_refused() {
    let [ours, others] = [(1, 2), (2, 3)].map(|power| params(127, power));
    let setup = Bootstrapping::general(others, 16).unwrap();
    let maps = Maps::general(&setup, setup.shape()).unwrap();
    let refused = Bootstrapper::new(Bootstrapping::general(ours, 16).unwrap(), maps);
    let refused = refused.err().unwrap().to_string();
    assert!(refused.contains("linear maps"), "{refused}");
}
