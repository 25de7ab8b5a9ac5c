// SPDX-License-Identifier: Apache-2.0
//! A small BGV bootstrap for tests.

use ringmill_math::slots::linear::Shape;
use ringmill_schemes::bgv::bootstrap::{Bootstrapping, Maps, Procedure};
use ringmill_schemes::bgv::{Params, PrimePower};

/// Returns a BGV bootstrap for integers modulo 7^2 at ring degree 512, which is insecure.
pub fn procedure() -> Procedure {
    let t = PrimePower::new(7, 2).unwrap().modulus().unwrap();
    let params = Params::builder(9, t)
        .friendly_primes(27, 9)
        .unwrap()
        .further_plain_moduli(2)
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let setup = Bootstrapping::new(params, 8).unwrap();
    let maps = Maps::new(&setup, Shape::default()).unwrap();
    Procedure::new(setup, maps, true).unwrap()
}
