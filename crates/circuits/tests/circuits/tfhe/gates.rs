// SPDX-License-Identifier: Apache-2.0
//! Tests every gate on every pair of bits under every kind of parameters, and gates on the results of gates.

use ringmill_circuits::tfhe::{
    CiphertextModulus, Gate, GlweRank, ModulusSwitch, Order, ParamsBuilder, Transforms, Unrolling,
};

use super::setup::{Setup, toy};

const BITS: [bool; 2] = [false, true];

fn variants() -> Vec<(&'static str, ParamsBuilder)> {
    let mut all = vec![
        ("2^32", toy()),
        ("Solinas", toy().transforms(Transforms::Solinas)),
        ("two primes", toy().transforms(Transforms::TwoPrimes)),
        ("2^64", toy().modulus(CiphertextModulus::Torus64)),
        ("rank 2", toy().sizes(|s| s.k = GlweRank(2))),
        ("key switch first", toy().order(Order::KeySwitchFirst)),
        (
            "centred mean",
            toy().modulus_switch(ModulusSwitch::CentredMean),
        ),
    ];
    for bits in [30, 32, 50, 52] {
        all.push(("prime", toy().modulus(CiphertextModulus::Prime { bits })));
    }
    for unrolling in [Unrolling::Two, Unrolling::Three] {
        let prime = CiphertextModulus::Prime { bits: 30 };
        all.push(("unrolled", toy().unrolling(unrolling)));
        all.push(("unrolled prime", toy().unrolling(unrolling).modulus(prime)));
    }
    all
}

#[test]
fn every_gate_on_every_pair_of_bits_under_every_choice() {
    for (name, builder) in variants() {
        let setup = Setup::new(builder.build().unwrap(), 1);
        let (client, evaluator) = (&setup.client, &setup.evaluator);
        let mut work = evaluator.workspace();
        for a in BITS {
            for b in BITS {
                let (x, y) = (
                    client.encrypt_bit(a).unwrap(),
                    client.encrypt_bit(b).unwrap(),
                );
                for gate in Gate::ALL {
                    let z = evaluator.gate(&mut work, gate, &x, &y).unwrap();
                    let said = format!("{name}: {} {a} {b}", gate.name());
                    assert_eq!(client.decrypt_bit(&z).unwrap(), gate.of(a, b), "{said}");
                }
                for c in BITS {
                    let z = client.encrypt_bit(c).unwrap();
                    let chosen = evaluator.mux(&mut work, &x, &y, &z).unwrap();
                    let expected = if a { b } else { c };
                    assert_eq!(
                        client.decrypt_bit(&chosen).unwrap(),
                        expected,
                        "{name}: MUX"
                    );
                }
            }
            let not = evaluator.not(&client.encrypt_bit(a).unwrap()).unwrap();
            assert_eq!(client.decrypt_bit(&not).unwrap(), !a);
        }
    }
}

/// Tests a 4-bit adder with its carries, made of gates on the results of gates.
#[test]
fn an_adder_of_gates_adds() {
    let setup = Setup::new(toy().build().unwrap(), 2);
    let (client, e) = (&setup.client, &setup.evaluator);
    let mut work = e.workspace();
    for (a, b) in [(5u32, 11u32), (15, 15), (0, 9)] {
        let encrypt = |x: u32| -> Vec<_> {
            (0..4)
                .map(|i| client.encrypt_bit(x >> i & 1 == 1).unwrap())
                .collect()
        };
        let (x, y) = (encrypt(a), encrypt(b));
        let mut carry = client.encrypt_bit(false).unwrap();
        let mut sum = 0;
        for (i, (x, y)) in x.iter().zip(&y).enumerate() {
            let half = e.gate(&mut work, Gate::Xor, x, y).unwrap();
            let bit = e.gate(&mut work, Gate::Xor, &half, &carry).unwrap();
            carry = e.mux(&mut work, &half, &carry, x).unwrap();
            sum |= u32::from(client.decrypt_bit(&bit).unwrap()) << i;
        }
        sum |= u32::from(client.decrypt_bit(&carry).unwrap()) << 4;
        assert_eq!(sum, a + b);
    }
}
