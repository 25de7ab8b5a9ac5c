// SPDX-License-Identifier: Apache-2.0
//! Tests the least work of a bootstrap and the bytes of its keys, and the page that lists them.

use ringmill_circuits::tfhe::{
    CiphertextModulus, Client, Evaluator, FailureRate, Params, ParamsBuilder, Unrolling, keys,
};

/// Tests the counts for one bootstrap in the table of docs/tfhe.md, such as 5040 transforms of
/// 1024 points.
#[test]
fn transforms_of_the_librarys_set() {
    let set = || ParamsBuilder::named("tfhe_library_2020_below_128_bits").unwrap();
    for (unrolling, transforms, megabytes) in [
        (Unrolling::One, 5040, 61.9),
        (Unrolling::Two, 2520, 92.9),
        (Unrolling::Three, 1680, 144.5),
    ] {
        let set = set().unrolling(unrolling).failing(FailureRate::default());
        let floor = set.build().unwrap().floor();
        assert_eq!(floor.butterflies, transforms * 512 * 10);
        let bytes = 8e-6 * floor.products as f64;
        assert!((bytes - megabytes).abs() < 0.1, "{bytes}");
        assert_eq!(floor.switched, 1024 * 8 * 631);
    }
}

/// Tests that the counted bytes of the two evaluation keys equal the bytes of keys that are
/// made.
#[test]
fn bytes_of_keys() {
    let prime = CiphertextModulus::Prime { bits: 32 };
    for builder in [
        ParamsBuilder::toy_for_tests_only(),
        ParamsBuilder::toy_for_tests_only().modulus(prime),
        ParamsBuilder::toy_circuits_for_tests_only().modulus(CiphertextModulus::Torus64),
    ] {
        let params = builder.build().unwrap();
        let client = Client::new(params.clone()).unwrap();
        let made = (
            client.bootstrap_key().unwrap(),
            client.key_switch_key().unwrap(),
        );
        let evaluator = Evaluator::new(params.clone(), &made.0, &made.1).unwrap();
        let floor = params.floor();
        let bytes = (
            (floor.bytes.0 * floor.products) as usize,
            (floor.bytes.1 * floor.switched) as usize,
        );
        assert_eq!(evaluator.key_bytes(), bytes);
        assert_eq!(floor.key_bytes(), (bytes.0 + bytes.1) as u64);
        let words = made.0.bodies().len() + made.1.bodies().len();
        assert_eq!(keys::bytes(&params), 8 * words as u64);
    }
}

/// Tests the ratio of two sizes of a bootstrapping key, which docs/tfhe.md gives: that in
/// transform form to that with each coefficient packed into its bits.
#[test]
fn keys_in_transform_form_beside_packed_ones() {
    let prime = |bits| CiphertextModulus::Prime { bits };
    let library = ParamsBuilder::named("tfhe_library_2020_below_128_bits").unwrap();
    let library = library.modulus(prime(32)).build().unwrap();
    let named = |name| Params::named(name).unwrap();
    for (params, ratio) in [
        (named("gates"), 1.07),
        (named("circuit_bits"), 1.0),
        (named("circuits"), 1.23),
        (library, 1.0),
    ] {
        let floor = params.floor();
        let packed = floor.products * u64::from(params.coefficients().bits());
        let found = (8 * floor.bytes.0 * floor.products) as f64 / packed as f64;
        assert!((found - ratio).abs() < 0.005 && found <= 1.65, "{found}");
    }
}

/// Tests that docs/tfhe.md lists the least work of each set for circuits.
#[test]
fn the_page_has_every_floor() {
    let page = include_str!("../../../../../docs/tfhe.md");
    let (_, block) = page.split_once("<!-- floors: ").unwrap();
    let (block, _) = block.split_once("<!-- end of floors -->").unwrap();
    let (_, shown) = block.split_once(" --- |\n").unwrap();
    let row = |name| {
        let floor = Params::named(name).unwrap().floor();
        let millions = |count: u64| format!("{:.1} M", count as f64 / 1e6);
        let bytes = match floor.bytes {
            (transform, switch) if transform == switch => transform.to_string(),
            (transform, switch) => format!("{transform}; {switch} in the key switch"),
        };
        format!(
            "| `{name}` | {} | {} | {} | {bytes} | {:.0} MB |\n",
            millions(floor.butterflies),
            millions(floor.products),
            millions(floor.switched),
            floor.work() as f64 / 1e6
        )
    };
    let rows: String = ["circuits", "circuit_bits", "boolean_p64"]
        .map(row)
        .concat();
    assert_eq!(shown.trim_end(), rows.trim_end(), "the rows are\n{rows}");
}

/// Tests that products modulo two primes take twice the work.
#[test]
fn two_primes() {
    let floor = |name| Params::named(name).unwrap().floor();
    let (two, one) = (floor("message_2_carry_2"), floor("circuits"));
    assert_eq!(two.butterflies, 2 * one.butterflies);
    assert_eq!(two.products, 2 * one.products);
    assert_eq!(two.switched, one.switched);
}
