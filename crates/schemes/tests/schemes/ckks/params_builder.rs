// SPDX-License-Identifier: Apache-2.0
//! Tests the construction of CKKS parameters.

use ringmill_schemes::ckks::{Galois, Level, Params, ParamsBuilder, SecretDistribution};

#[test]
fn named_sets_have_the_papers_shape() {
    let set1 = Params::named("set1").unwrap();
    assert_eq!(
        (
            set1.degree(),
            set1.cipher_count(),
            set1.special_count(),
            set1.dnum()
        ),
        (1 << 14, 7, 1, 7)
    );
    assert_eq!(
        set1.moduli()[0],
        (1 << 59) + (1 << 25) + (1 << 22) - (1 << 20) + 1
    );
    assert!(set1.moduli()[1..].windows(2).all(|w| w[0] > w[1]));
    assert!(set1.security().insecure.is_none());
    assert_eq!(set1.default_scale(), 2f64.powi(54));
    let guidelines = ParamsBuilder::named("set1")
        .unwrap()
        .security(Default::default(), Default::default());
    let error = guidelines.clone().build().unwrap_err().to_string();
    assert!(
        error.contains("430")
            && error.contains("guidelines_2024.ternary")
            && error.contains("2^15"),
        "{error}"
    );
    let record = guidelines
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    assert!(record.summary().contains("INSECURE"));
    assert_ne!(record.id(), set1.id());
    assert!(Params::named("set3").is_err());
}

#[test]
fn primes_are_seals() {
    let params = Params::builder(14)
        .prime_bits(&[60, 40, 40], &[60])
        .build()
        .unwrap();
    assert_eq!(
        params.moduli(),
        [
            1152921504606683137,
            1099508121601,
            1099510054913,
            1152921504606748673
        ]
    );
}

#[test]
fn bad_choices_are_refused() {
    let small = |cipher: &[u32], special: &[u32]| {
        Params::builder(8)
            .prime_bits(cipher, special)
            .allow_insecure_parameters_for_tests_only()
    };
    assert!(small(&[40, 30, 30], &[40]).build().is_ok());
    assert!(
        small(&[40, 30, 30], &[40, 40])
            .build()
            .is_ok_and(|p| p.dnum() == 2)
    );
    assert!(small(&[40, 30, 30], &[40]).dnum(2).build().is_err());
    assert!(small(&[40, 30, 30], &[40]).dnum(0).build().is_err());
    assert!(small(&[40], &[]).build().is_err());
    assert!(small(&[], &[40]).build().is_err());
    assert!(small(&[40; 70], &[40; 70]).build().is_err());
    assert!(small(&[62], &[40]).build().is_err());
    assert!(small(&[40], &[40]).default_scale(f64::NAN).build().is_err());
    assert!(
        small(&[40], &[40])
            .default_scale(2f64.powi(50))
            .build()
            .is_err()
    );
    assert!(
        small(&[40], &[40])
            .secret(SecretDistribution::SparseTernary { weight: 0 })
            .build()
            .is_err()
    );
    assert!(Params::builder(8).prime_bits(&[40], &[40]).build().is_err());
    assert!(
        Params::builder(30)
            .prime_bits(&[40], &[40])
            .build()
            .is_err()
    );
    assert!(Params::builder(8).build().is_err());
    for values in [[97, 193], [7681, 7681], [12289, 1 << 62], [12289, 12291]] {
        let builder = Params::builder(8).primes(&values[..1], &values[1..]);
        assert!(
            builder
                .allow_insecure_parameters_for_tests_only()
                .build()
                .is_err(),
            "{values:?}"
        );
    }
}

#[test]
fn digits_follow_the_level() {
    let bits = [40, 30, 30, 30, 30];
    let params = Params::builder(8)
        .prime_bits(&bits, &[40, 40])
        .allow_insecure_parameters_for_tests_only();
    let params = params.build().unwrap();
    assert_eq!(params.dnum(), 3);
    assert_eq!(
        (
            params.digit(0, Level(4)),
            params.digit(2, Level(4)),
            params.digit(1, Level(2)),
            params.digit(2, Level(2))
        ),
        (0..2, 4..5, 2..3, 3..3)
    );
    assert_eq!(
        (
            params.digits_at(Level(4)),
            params.digits_at(Level(3)),
            params.digits_at(Level(0))
        ),
        (3, 2, 1)
    );
    assert_eq!(params.galois_element(1).unwrap(), Galois(3));
    assert_eq!(params.galois_element(-1).unwrap().0 * 3 % 512, 1);
    assert!(params.galois_element(0).is_err() && params.galois_element(128).is_err());
}
