// SPDX-License-Identifier: Apache-2.0
//! Tests which parameters and operands are refused, and with which error.

use ringmill_circuits::tfhe::{
    CiphertextModulus, Decomposition, FailureRate, Gate, LookupTable, LweCiphertext, LweDimension,
    LweKey, Messages, Params, ParamsBuilder, TfheError, Transforms, Unrolling, sets,
};

use ringmill_circuits::tfhe::params::Sizes;

use super::setup::{Setup, toy, toy_integers};

#[test]
fn named_sets_are_as_secure_and_fail_as_rarely_as_they_say() {
    let known: Vec<_> = sets::names().collect();
    assert_eq!(known.len(), 8);
    for name in known {
        let params = Params::named(name).unwrap();
        assert_eq!(params.name(), Some(name));
        assert!(params.security().insecure.is_none());
        // The summary of a set states its failure rate, its security, and why products are exact.
        let (summary, failure) = (params.summary(), params.failure_log2());
        for said in [
            format!("fails with probability 2^{failure:.1}\n"),
            params.security().summary(),
            params.exactness().summary(),
        ] {
            assert!(summary.contains(&said), "{summary}");
        }
        assert!(
            params.failure_log2() < -40.0,
            "{name}: {}",
            params.failure_log2()
        );
        // A set with fewer than 128 bits of security says so in its name, and is refused if 128 bits are demanded.
        let at_128 = ParamsBuilder::named(name).unwrap().secure(128).build();
        assert_eq!(at_128.is_err(), name.contains("below"), "{name}");
    }
    assert!(Params::named("boolean_p64").unwrap().failure_log2() < -64.0);
    assert!(Params::named("boolean_p165").unwrap().failure_log2() < -128.0);
    let gates = Params::named("gates").unwrap();
    assert!(gates.failure_log2() < -100.0, "{}", gates.failure_log2());
    // Full adders need sums of three bits.
    assert!(gates.noise().largest_sign_norm(1, -64.0) >= Some(3));
    assert!(Params::named("message_2_carry_2").unwrap().failure_log2() < -64.0);
    // docs/tfhe.md has the figures.
    let circuits = Params::named("circuits").unwrap();
    assert!(circuits.failure_log2() < -128.0);
    let norm = circuits.noise().largest_norm(4, -64.0).unwrap();
    assert!((2000..2300).contains(&norm), "{norm}");
    let bits = Params::named("circuit_bits").unwrap();
    assert!(bits.failure_log2() < -128.0);
    let norm = bits.noise().largest_sign_norm(1, -64.0).unwrap();
    assert!((35..45).contains(&norm), "{norm}");
    assert!(matches!(
        Params::named("boolean"),
        Err(TfheError::UnknownSet { .. })
    ));
}

#[test]
fn parameters_that_do_not_hold_what_is_asked_are_refused() {
    let named = |name| ParamsBuilder::named(name).unwrap();
    let insecure = |b: ParamsBuilder| {
        let refused = b.build();
        assert!(
            matches!(refused, Err(TfheError::Insecure { .. })),
            "{refused:?}"
        );
    };
    insecure(named("boolean_p64").sizes(|s| s.lwe_std /= 2.0));
    insecure(named("boolean_p64").sizes(|s| s.n = LweDimension(700)));
    insecure(named("boolean_p64").secure(140));
    // No estimate covers noise of about one unit of the modulus.
    insecure(named("boolean_p64").modulus(CiphertextModulus::Prime { bits: 30 }));
    insecure(toy().secure(80));
    assert!(
        named("boolean_p64")
            .modulus(CiphertextModulus::Prime { bits: 32 })
            .build()
            .is_ok()
    );
    let unrolled = named("tfhe_library_2020_below_128_bits").unrolling(Unrolling::Three);
    let rate = unrolled.failing(FailureRate::Below2Minus128);
    assert!(matches!(
        rate.build(),
        Err(TfheError::FailureRate { allowed: -128, .. })
    ));
    let noisy = toy().sizes(|s| s.lwe_std = 0.01);
    assert!(matches!(
        noisy.clone().build(),
        Err(TfheError::FailureRate { allowed: -40, .. })
    ));
    assert!(
        noisy
            .allow_any_failure_rate_for_tests_only()
            .build()
            .is_ok()
    );
    let overflow = toy()
        .modulus(CiphertextModulus::Torus64)
        .transforms(Transforms::Solinas);
    assert!(matches!(overflow.build(), Err(TfheError::Overflow { .. })));
    for builder in [
        toy().sizes(|s| s.n = LweDimension(0)),
        toy().sizes(|s| s.log_degree = 12),
        toy().sizes(|s| s.log_degree = 3),
        toy().sizes(|s| s.k.0 = 0),
        toy().sizes(|s| s.bootstrap.levels = 0),
        toy().sizes(|s| s.key_switch.log_base = 0),
        toy().sizes(|s| s.glwe_std = f64::NAN),
        toy().modulus(CiphertextModulus::Prime { bits: 53 }),
        toy().messages(Messages::Integers {
            message_bits: 5,
            carry_bits: 5,
        }),
    ] {
        assert!(matches!(builder.build(), Err(TfheError::OutOfRange { .. })));
    }
    let deep = toy().sizes(|s| s.bootstrap.levels = 5);
    assert!(matches!(deep.build(), Err(TfheError::Math(_))));
}

/// Tests a gadget with one digit as long as the modulus. Modulo a power of two it works. Modulo a prime the digit may
/// be no residue, so the parameters are refused; a digit with one bit less works.
#[test]
fn a_digit_of_all_bits_is_refused_modulo_a_prime() {
    let of = |modulus, log_base| {
        let noise = |s: &mut Sizes| {
            (s.n, s.log_degree) = (LweDimension(1), 5);
            s.glwe_std = 2f64.powi(-18);
        };
        toy()
            .modulus(modulus)
            .sizes(noise)
            .bootstrap(Decomposition {
                log_base,
                levels: 1,
            })
            .allow_any_failure_rate_for_tests_only()
            .build()
    };
    for bits in [20, 23, 31] {
        let prime = CiphertextModulus::Prime { bits };
        let refused = of(prime, bits);
        assert!(
            matches!(&refused, Err(TfheError::OutOfRange { got, .. }) if *got == bits.to_string()),
            "{refused:?}"
        );
        let setup = Setup::new(of(prime, bits - 1).unwrap(), 15);
        let x = setup.client.encrypt_bit(true).unwrap();
        let mut work = setup.evaluator.workspace();
        let gate = setup.evaluator.gate(&mut work, Gate::Nand, &x, &x);
        assert!(gate.is_ok(), "{gate:?}");
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let setup = Setup::new(toy().build().unwrap(), 11);
    let other = Setup::new(toy().build().unwrap(), 12);
    let unrolled = Setup::new(toy().unrolling(Unrolling::Two).build().unwrap(), 11);
    let (e, mut work) = (&setup.evaluator, setup.evaluator.workspace());
    let x = setup.client.encrypt_bit(true).unwrap();
    let mut nand = |y: &LweCiphertext| e.gate(&mut work, Gate::Nand, &x, y);
    assert!(nand(&x).is_ok());
    let foreign = other.client.encrypt_bit(true).unwrap();
    assert!(matches!(nand(&foreign), Err(TfheError::OtherKeys(_))));
    let elsewhere = unrolled.client.encrypt_bit(true).unwrap();
    assert!(matches!(
        nand(&elsewhere),
        Err(TfheError::OtherParams { .. })
    ));
    let params = setup.params();
    let large = vec![0; params.sizes().large_dimension() + 1];
    let large = LweCiphertext::new(params, LweKey::Large, large).unwrap();
    assert!(matches!(nand(&large), Err(TfheError::WrongKey { .. })));
    for length in [0, 16, 18] {
        assert!(matches!(
            LweCiphertext::new(params, LweKey::Small, vec![0; length]),
            Err(TfheError::Dimension { .. })
        ));
    }
    assert!(matches!(
        LweCiphertext::new(params, LweKey::Small, vec![1 << 32; 17]),
        Err(TfheError::Residue { .. })
    ));
    assert!(matches!(
        ringmill_circuits::tfhe::Evaluator::new(params.clone(), &setup.bootstrap, &other.switch),
        Err(TfheError::OtherKeys(_))
    ));
    assert!(setup.client.decrypt_bit(&foreign).is_err());
    assert!(e.lookup(&mut e.workspace(), &table(), &x).is_err());
    assert!(setup.client.encrypt(1).is_err());
}

fn table() -> LookupTable {
    LookupTable::of(&toy_integers().build().unwrap(), |m| m).unwrap()
}

#[test]
fn tables_and_messages_of_the_wrong_size_are_refused() {
    let setup = Setup::new(toy_integers().build().unwrap(), 13);
    let (client, e) = (&setup.client, &setup.evaluator);
    let params = setup.params();
    for count in [0, 15, 17] {
        assert!(matches!(
            LookupTable::new(params, &vec![0; count]),
            Err(TfheError::TableSize { expected: 16, .. })
        ));
    }
    assert!(matches!(
        LookupTable::new(params, &[16; 16]),
        Err(TfheError::Message { got: 16, bound: 16 })
    ));
    assert!(client.encrypt(16).is_err() && client.encrypt_bit(true).is_err());
    let x = client.encrypt(3).unwrap();
    assert!(client.decrypt_bit(&x).is_err());
    assert!(e.mul_plain(&x, 16).is_err() && e.add_plain(&x, 16).is_err());
    assert!(matches!(
        e.gate(&mut e.workspace(), Gate::And, &x, &x),
        Err(TfheError::OtherMessages { .. })
    ));
    let narrow = toy_integers().messages(Messages::Integers {
        message_bits: 2,
        carry_bits: 1,
    });
    let narrow = Setup::new(narrow.build().unwrap(), 14);
    let y = narrow.client.encrypt(3).unwrap();
    assert!(narrow.evaluator.pack(&y, &y).is_err());
}
