// SPDX-License-Identifier: Apache-2.0
//! Tests a program that consists of one bootstrap.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_compiler::bgv::one_bootstrap;
use ringmill_device::Limbed;
use ringmill_device::Request;
use ringmill_device::progress::Silent;
use ringmill_math::slots::linear::Shape;
use ringmill_runtime::{Client, Server};
use ringmill_schemes::bgv::bootstrap::{BootstrapKeys, Bootstrapper, Maps, Value};
use ringmill_schemes::bgv::{Bgv, KeyForm, KeyGenerator};
use ringmill_schemes::rlwe::KeyRequest;
use ringmill_schemes::roles::Operator as _;
use ringmill_sim::open;

use crate::deep::setting::{CUBE, SEVEN};

#[test]
fn its_bits_are_the_evaluators() {
    for (toy, seeded) in [(CUBE, true), (SEVEN, false)] {
        let procedure = toy.procedure(seeded);
        let compiled = Arc::new(one_bootstrap(&procedure).unwrap());
        let params = procedure.params();
        let keygen =
            KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), [3; 32]).unwrap();
        let form = match seeded {
            true => KeyForm::Seeded,
            false => KeyForm::Stored,
        };
        let setup = procedure.setup();
        let maps = Maps::new(setup, Shape::default()).unwrap();
        let keys = BootstrapKeys::generate(setup, &maps, &keygen, form).unwrap();
        let secret = keygen.secret_key().clone();
        let client = Client::<Bgv>::with_secret_key(compiled.clone(), secret).unwrap();
        let slots = compiled.source.slots as i64;
        let message: Vec<i64> = (0..slots).map(|i| i * i - 3).collect();
        let inputs = BTreeMap::from([("x".to_owned(), message.clone())]);
        let ciphers = client.encrypt(&inputs).unwrap();
        let bootstrapper = Bootstrapper::new(setup.clone(), maps).unwrap();
        let value = Value {
            cipher: ciphers["x"].clone(),
            noise: procedure.noise(),
        };
        let expected = bootstrapper.bootstrap(&value, &keys).unwrap();
        assert_eq!((expected.level(), expected.noise), procedure.end());
        let named = keys.named(setup);
        // The encryption of the sparse secret is one of the evaluation keys.
        let operator = ringmill_schemes::bgv::Operator::new(params.clone());
        let key = operator.key(&named, &KeyRequest::SparseSecret, seeded);
        assert_eq!(key.unwrap().unwrap().polys(), 2);
        let server = Server::new(compiled.clone(), named.clone()).unwrap();
        for device in ["cpu:1", "cpu:2"] {
            let device = open(device).unwrap();
            let plains = BTreeMap::new();
            let answer = server.run(
                &*device,
                &ciphers,
                &plains,
                Request::function_only(),
                &Silent,
            );
            let outputs = answer.unwrap().outputs.unwrap();
            assert_eq!(outputs["y"], expected.cipher);
        }
        let outputs = BTreeMap::from([("y".to_owned(), expected.cipher)]);
        assert_eq!(client.decrypt(&outputs).unwrap()["y"], message);
        for name in [KeyRequest::Encapsulation, KeyRequest::SparseSecret] {
            let mut lacking = named.clone();
            lacking.further.remove(&name);
            let error = Server::<Bgv>::new(compiled.clone(), lacking).err().unwrap();
            assert!(error.to_string().contains("bootstrapping"), "{error}");
        }
    }
}
