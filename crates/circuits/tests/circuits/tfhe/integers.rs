// SPDX-License-Identifier: Apache-2.0
//! Tests integers of 2 + 2 bits: arithmetic, and tables of one and of two messages.

use ringmill_circuits::tfhe::client::Encryptor;
use ringmill_circuits::tfhe::{
    CiphertextModulus, Decomposition, LookupTable, LweKey, Order, ParamsBuilder, Unrolling,
};

use super::setup::{Setup, toy_integers};

fn variants() -> Vec<ParamsBuilder> {
    let wide = Decomposition {
        log_base: 15,
        levels: 2,
    };
    let wide = || {
        toy_integers()
            .modulus(CiphertextModulus::Torus64)
            .bootstrap(wide)
            .sizes(|s| s.glwe_std = 2f64.powi(-45))
    };
    vec![
        toy_integers(),
        wide(),
        wide().order(Order::KeySwitchFirst),
        wide().unrolling(Unrolling::Two),
        wide().modulus(CiphertextModulus::Prime { bits: 52 }),
        toy_integers().modulus(CiphertextModulus::Prime { bits: 30 }),
    ]
}

#[test]
fn any_table_of_any_message() {
    for builder in variants() {
        let setup = Setup::new(builder.build().unwrap(), 4);
        let (client, e) = (&setup.client, &setup.evaluator);
        let mut work = e.workspace();
        let params = setup.params();
        let values: Vec<u64> = (0..16).map(|m| (7 * m * m + 3) % 16).collect();
        let table = LookupTable::new(params, &values).unwrap();
        for m in 0..16 {
            let x = client.encrypt(m).unwrap();
            assert_eq!(client.decrypt(&x).unwrap(), m);
            let y = e.lookup(&mut work, &table, &x).unwrap();
            assert_eq!(
                client.decrypt(&y).unwrap(),
                values[m as usize],
                "{params:?}"
            );
        }
    }
}

/// Tests several tables at one message by one rotation, in both orders and with both kinds of modulus. Without tables
/// there is no result.
#[test]
fn several_tables_of_any_message() {
    for builder in variants() {
        // The differences between entries multiply the noise, so these parameters have less of it.
        let builder = builder.sizes(|s| s.glwe_std /= 8.0);
        let setup = Setup::new(builder.build().unwrap(), 14);
        let (client, e) = (&setup.client, &setup.evaluator);
        let mut work = e.workspace();
        let params = setup.params();
        let functions: [fn(u64) -> u64; 4] = [|m| m, |m| m % 4, |m| m / 4, |_| 5];
        let tables = functions.map(|f| LookupTable::of(params, f).unwrap());
        for m in 0..16 {
            let x = client.encrypt(m).unwrap();
            let found = e.lookup_all(&mut work, &tables.each_ref(), &x).unwrap();
            for (y, f) in found.iter().zip(functions) {
                assert_eq!(client.decrypt(y).unwrap(), f(m), "{params:?}");
            }
        }
        let x = client.encrypt(3).unwrap();
        assert!(e.lookup_all(&mut work, &[], &x).unwrap().is_empty());
        let other = toy_integers().sizes(|s| s.n.0 += 1).build().unwrap();
        let foreign = LookupTable::of(&other, |m| m).unwrap();
        assert!(
            e.lookup_all(&mut work, &[&tables[0], &foreign], &x)
                .is_err()
        );
    }
}

#[test]
fn sums_products_and_tables_of_two() {
    let setup = Setup::new(toy_integers().build().unwrap(), 5);
    let (client, e) = (&setup.client, &setup.evaluator);
    let mut work = e.workspace();
    let params = setup.params();
    let product = LookupTable::of_two(params, |a, b| a * b).unwrap();
    let low = LookupTable::of(params, |m| m & 3).unwrap();
    for a in 0..4 {
        for b in 0..4 {
            let (x, y) = (client.encrypt(a).unwrap(), client.encrypt(b).unwrap());
            let sum = e.add(&x, &y).unwrap();
            assert_eq!(client.decrypt(&sum).unwrap(), a + b);
            let more = e.add_plain(&e.mul_plain(&sum, 2).unwrap(), 3).unwrap();
            assert_eq!(client.decrypt(&more).unwrap(), 2 * (a + b) + 3);
            let packed = e.pack(&x, &y).unwrap();
            assert_eq!(client.decrypt(&packed).unwrap(), 4 * a + b);
            let times = e.lookup(&mut work, &product, &packed).unwrap();
            assert_eq!(client.decrypt(&times).unwrap(), a * b);
            let low = e.lookup(&mut work, &low, &times).unwrap();
            assert_eq!(client.decrypt(&low).unwrap(), a * b % 4);
        }
    }
}

/// Tests sums with factors of either sign, and tables whose entries are halves of messages. A phase that lies 2^bits
/// messages below that of an entry reads the negative of the entry.
#[test]
fn signed_sums_and_tables_of_halves() {
    for builder in variants() {
        let setup = Setup::new(builder.build().unwrap(), 9);
        let (client, e) = (&setup.client, &setup.evaluator);
        let mut work = e.workspace();
        let params = setup.params();
        // The table gives 1/2 for messages from 0 on, and -1/2 below.
        let sign = LookupTable::of_halves(params, &[1; 16]).unwrap();
        let x = |m| client.encrypt(m).unwrap();
        for (a, b) in [(0, 0), (3, 0), (0, 3), (2, 3), (15, 0), (0, 15), (1, 1)] {
            let difference = e.linear().sum(&[(1, &x(a)), (-1, &x(b))], 0).unwrap();
            let sign = e.lookup(&mut work, &sign, &difference).unwrap();
            let bit = e.linear().sum(&[(1, &sign)], 1).unwrap();
            assert_eq!(client.decrypt(&bit).unwrap(), u64::from(a >= b));
            let rest = e
                .linear()
                .sum(&[(4, &bit), (-2, &bit), (1, &x(1))], -2)
                .unwrap();
            assert_eq!(client.decrypt(&rest).unwrap(), 2 * u64::from(a >= b));
        }
        assert!(e.linear().sum(&[], 1).is_err());
        let turned = e.linear().sum(&[(64, &x(0)), (1, &x(5))], -64).unwrap();
        assert_eq!(client.decrypt(&turned).unwrap(), 5);
        assert!(LookupTable::of_halves(params, &[33; 16]).is_err());
        assert!(LookupTable::of_halves(params, &[0; 15]).is_err());
    }
}

#[test]
fn a_public_key_encrypts_what_the_secret_key_decrypts() {
    for builder in variants() {
        let setup = Setup::new(builder.build().unwrap(), 6);
        let public = setup.client.public_key().unwrap();
        let encryptor = Encryptor::new(setup.params().clone(), &public).unwrap();
        for m in 0..16 {
            let x = encryptor.encrypt(m).unwrap();
            assert_eq!(x.key(), LweKey::Large);
            assert_eq!(setup.client.decrypt(&x).unwrap(), m);
            let rested = setup.evaluator.bring_to_rest(&x).unwrap();
            assert_eq!(rested.key(), LweKey::resting(setup.params()));
            assert_eq!(setup.client.decrypt(&rested).unwrap(), m);
            // Each encryption has a fresh mask.
            assert_ne!(encryptor.encrypt(m).unwrap().words(), x.words());
        }
    }
}
