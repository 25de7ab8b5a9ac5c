// SPDX-License-Identifier: Apache-2.0
//! Tests parameter sets at their full size.

use std::sync::Arc;

use ringmill_circuits::tfhe::reference::{self, ExpandedKey};
use ringmill_circuits::tfhe::{
    CiphertextModulus, Gate, LookupTable, LweCiphertext, Params, ParamsBuilder, Unrolling,
};

use super::setup::Setup;

fn nands(params: Arc<Params>) {
    let setup = Setup::new(params, 17);
    let (client, e) = (&setup.client, &setup.evaluator);
    let mut work = e.workspace();
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        let (x, y) = (
            client.encrypt_bit(a).unwrap(),
            client.encrypt_bit(b).unwrap(),
        );
        for gate in Gate::ALL {
            let z = e.gate(&mut work, gate, &x, &y).unwrap();
            assert_eq!(client.decrypt_bit(&z).unwrap(), gate.of(a, b), "{gate:?}");
        }
    }
}

#[test]
fn a_gate_of_the_librarys_set() {
    nands(Params::named("tfhe_library_2020_below_128_bits").unwrap());
}

#[test]
#[ignore = "full sizes; make full"]
fn gates_of_every_boolean_set_modulus_and_unrolling() {
    for name in [
        "boolean_p64",
        "boolean_p165",
        "tfhe_library_2020_below_128_bits",
        "paper_110_bits_below_94_bits",
    ] {
        for unrolling in Unrolling::ALL {
            for modulus in [
                CiphertextModulus::Torus32,
                CiphertextModulus::Prime { bits: 32 },
            ] {
                let builder = ParamsBuilder::named(name).unwrap().unrolling(unrolling);
                let builder = builder.modulus(modulus).failing(Default::default());
                if let Ok(params) = builder.build() {
                    nands(params);
                }
            }
        }
    }
}

#[test]
#[ignore = "full sizes; make full"]
fn tables_of_two_bits_and_a_carry() {
    for modulus in [
        CiphertextModulus::Torus64,
        CiphertextModulus::Prime { bits: 52 },
    ] {
        let params = ParamsBuilder::named("message_2_carry_2")
            .unwrap()
            .modulus(modulus)
            .build()
            .unwrap();
        let setup = Setup::new(params, 18);
        let (client, e) = (&setup.client, &setup.evaluator);
        let mut work = e.workspace();
        let table = LookupTable::of_two(setup.params(), |a, b| a * b).unwrap();
        for a in 0..4 {
            for b in 0..4 {
                let (x, y) = (client.encrypt(a).unwrap(), client.encrypt(b).unwrap());
                let packed = e.pack(&x, &y).unwrap();
                let product = e.lookup(&mut work, &table, &packed).unwrap();
                assert_eq!(client.decrypt(&product).unwrap(), a * b);
            }
        }
    }
}

/// Tests every word of one NAND of the set of Kong and Li's paper against the reference bootstrap.
#[test]
#[ignore = "schoolbook products at full size; make full"]
fn a_nand_of_the_librarys_set_is_that_of_the_definition() {
    let params = Params::named("tfhe_library_2020_below_128_bits").unwrap();
    let setup = Setup::new(params.clone(), 19);
    let expanded = ExpandedKey::new(&params, &setup.bootstrap).unwrap();
    let q = params.coefficients();
    let (x, y) = (
        setup.client.encrypt_bit(true).unwrap(),
        setup.client.encrypt_bit(false).unwrap(),
    );
    let eighth = q.fraction(1, 3);
    let mut words: Vec<u64> = (x.words().iter().zip(y.words()))
        .map(|(&x, &y)| q.neg(q.add(x, y)))
        .collect();
    let body = words.len() - 1;
    words[body] = q.add(words[body], eighth);
    let sum = LweCiphertext::new(&params, x.key(), words).unwrap();
    let table = vec![eighth; params.sizes().degree()];
    let large = reference::bootstrap(&params, &expanded, &table, &sum).unwrap();
    let (&body, mask) = large.split_last().unwrap();
    let mut expected = vec![0; params.sizes().n.0 + 1];
    let rows = setup.switch.rows(&params).unwrap();
    rows.switch(params.key_switch_gadget(), mask, body, &mut expected)
        .unwrap();
    let mut work = setup.evaluator.workspace();
    let fast = setup.evaluator.gate(&mut work, Gate::Nand, &x, &y).unwrap();
    assert_eq!(fast.words(), expected);
}
