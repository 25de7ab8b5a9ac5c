// SPDX-License-Identifier: Apache-2.0
//! Toy parameters that bootstrap, and runs of programs under them.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_compiler::bgv::{Compiled, Options};
use ringmill_device::Request;
use ringmill_device::progress::Silent;
use ringmill_math::slots::linear::Shape;
use ringmill_runtime::{Client, Server};
use ringmill_schemes::bgv::bootstrap::{Bootstrapping, Maps, Procedure};
use ringmill_schemes::bgv::{Bgv, Ciphertext, Params, PrimePower};
use ringmill_sim::open;

/// Toy parameters of ring degree 2^9. The first fields are p and r of the plaintext modulus p^r, and the exponent e of
/// the modulus p^e during a bootstrap. Then come the numbers of ciphertext primes and of special primes, and the weight
/// of the sparse secret.
pub struct Toy(pub u64, pub u32, pub u32, pub usize, pub usize, pub u32);

/// Toy parameters for the plaintext modulus 17^3 and e = 4, with 8 slots in two rows.
pub const CUBE: Toy = Toy(17, 3, 4, 39, 13, 8);
/// Toy parameters for the plaintext modulus 7^2 and e = 4, with 4 slots in one row, because 7 is 3 modulo 4.
pub const SEVEN: Toy = Toy(7, 2, 4, 30, 10, 8);

impl Toy {
    pub fn procedure(&self, seeded: bool) -> Arc<Procedure> {
        let &Self(p, r, e, cipher, special, weight) = self;
        let t = PrimePower::new(p, r).unwrap().modulus().unwrap();
        let params = Params::builder(9, t)
            .friendly_primes(cipher, special)
            .unwrap()
            .further_plain_moduli((e - r) as u8)
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap();
        let setup = Bootstrapping::new(params, weight).unwrap();
        let maps = Maps::new(&setup, Shape::default()).unwrap();
        Arc::new(Procedure::new(setup, maps, seeded).unwrap())
    }
}

pub fn options(procedure: &Arc<Procedure>) -> Options {
    Options {
        bootstrapping: Some(Arc::clone(procedure)),
        seeded_keys: procedure.seeded(),
        ..Options::given(Arc::clone(procedure.params()))
    }
}

pub type Messages = BTreeMap<String, Vec<i64>>;

/// Encrypts inputs, runs a program on one thread and on two, and decrypts. Checks that both give the same ciphertexts.
/// Returns the outputs and their measured noise budgets.
pub fn run(compiled: &Arc<Compiled>, inputs: &Messages) -> (Messages, Vec<u32>) {
    let seed = [9; 32];
    let client =
        Client::<Bgv>::from_seed_for_reproducible_tests_only(compiled.clone(), seed).unwrap();
    let keys = client.evaluation_keys().unwrap();
    let ciphers = client.encrypt(inputs).unwrap();
    let server = Server::new(compiled.clone(), keys).unwrap();
    let on = |device: &str| -> BTreeMap<String, Ciphertext> {
        let device = open(device).unwrap();
        let request = Request::function_only();
        let answer = server.run(&*device, &ciphers, &BTreeMap::new(), request, &Silent);
        answer.unwrap().outputs.unwrap()
    };
    let (one, two) = (on("cpu:1"), on("cpu:2"));
    assert_eq!(one, two);
    let budgets = compiled.outputs.iter().zip(&compiled.predicted);
    let budgets = budgets.map(|(output, predicted)| {
        let left = client.noise_budget(&one[&output.name]).unwrap();
        assert!(predicted.budget <= f64::from(left), "{}", output.name);
        left
    });
    let budgets = budgets.collect();
    (client.decrypt(&one).unwrap(), budgets)
}
