// SPDX-License-Identifier: Apache-2.0
//! Tests that the noise of BGV ciphertexts stays within the predicted bound.

use ringmill_schemes::bgv::SecretDistribution;
use ringmill_schemes::bgv::{Params, PlainModulus};

use super::setup::{Circuit, Setup, params};

/// Runs random circuits, and returns the largest number of bits by which a predicted budget was below the measured one.
fn widest(circuit: &mut Circuit, circuits: usize) -> u32 {
    let mut widest = 0;
    for _ in 0..circuits {
        circuit.run(8, |setup, value| {
            let level = value.cipher.level();
            let predicted = setup.model.budget(value.noise, level);
            let measured = setup.decryptor.noise_budget(&value.cipher).unwrap();
            assert!(predicted <= measured, "{predicted} {measured} {level}");
            widest = widest.max(measured - predicted);
        });
    }
    widest
}

#[test]
fn measured_noise_is_within_the_prediction() {
    for (tag, special) in (1..).zip([&[60][..], &[60, 60], &[60, 60, 60]]) {
        let setup = Setup::new(params(6, 7681, &[60, 50, 60, 55, 60], special));
        let widest = widest(&mut Circuit::new(setup, tag), 40);
        // The bound of a product assumes the largest coefficients everywhere. That costs log2(N) / 2 bits and a few
        // more for each product.
        assert!(widest < 60, "{widest}");
    }
}

#[test]
#[ignore = "half a minute; `make full` runs it"]
fn measured_noise_is_within_the_prediction_in_thousands_of_circuits() {
    for (tag, log_n) in (10..).zip([5u8, 7, 9]) {
        for secret in [
            SecretDistribution::Ternary,
            SecretDistribution::Gaussian,
            SecretDistribution::SparseTernary { weight: 16 },
        ] {
            for special in [&[60][..], &[60, 60], &[60, 60, 60]] {
                let t = PlainModulus::batching(log_n, 20).unwrap();
                let builder = Params::builder(log_n, t)
                    .prime_bits(&[60; 6], special)
                    .secret(secret)
                    .allow_insecure_parameters_for_tests_only();
                let setup = Setup::new(builder.build().unwrap());
                widest(&mut Circuit::new(setup, tag), 120);
            }
        }
    }
}

#[test]
fn a_fresh_ciphertext_is_near_its_bound_and_the_lowest_budget_is_none() {
    let setup = Setup::new(params(10, 65537, &[60, 60], &[60]));
    let a = setup.encrypt(&[1; 1024]);
    let predicted = setup.model.budget(setup.model.fresh(), a.level());
    let measured = setup.decryptor.noise_budget(&a).unwrap();
    assert!(
        (predicted..predicted + 5).contains(&measured),
        "{predicted} {measured}"
    );
    let large = (0..4).fold(setup.model.fresh(), |x, _| setup.model.mul(x, x));
    assert_eq!(setup.model.budget(large, a.level()), 0);
}
