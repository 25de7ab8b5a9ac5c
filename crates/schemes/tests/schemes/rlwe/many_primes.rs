// SPDX-License-Identifier: Apache-2.0
//! Tests parameter sets with the largest number of primes, and with one more.

use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_schemes::ckks::{self, CkksError, Params, file};
use ringmill_schemes::file::{InsecureParams, write_params};
use ringmill_schemes::rlwe;

use crate::common::{Setup, close};

const MOST: usize = rlwe::Params::MAX_PRIMES;

fn params(cipher: usize, special: usize) -> Result<Arc<Params>, CkksError> {
    ckks::Params::builder(5)
        .prime_bits(&vec![45; cipher], &vec![50; special])
        .allow_insecure_parameters_for_tests_only()
        .build()
}

#[test]
fn one_prime_more_than_the_most_is_refused_by_the_limit() {
    for (cipher, special) in [(MOST - 1, 1), (MOST / 2, MOST / 2)] {
        let most = params(cipher, special).unwrap();
        assert_eq!(most.moduli().len(), MOST);
        let error = params(cipher + 1, special).unwrap_err().to_string();
        let said = format!("at most {MOST} in all");
        assert!(error.contains(&said), "{error}");
        assert!(error.contains(&format!("{} and {special}", cipher + 1)));
    }
    assert_eq!(MOST, 128);
}

#[test]
fn files_hold_the_most_primes() {
    for (cipher, special) in [(MOST - 1, 1), (MOST / 2, MOST / 2)] {
        let params = params(cipher, special).unwrap();
        let bytes = write_params(&*params);
        let read = file::read_params(&bytes, InsecureParams::AllowForTestsOnly);
        assert_eq!(read.unwrap(), params);
    }
}

#[test]
fn the_most_primes_compute_what_fewer_do() {
    for (cipher, special) in [(MOST - 1, 1), (MOST - 3, 3), (MOST / 2, MOST / 2)] {
        let mut s = Setup::of(params(cipher, special).unwrap());
        let (x, y) = (s.values(1), s.values(2));
        let (a, b) = (s.encrypt(&x), s.encrypt(&y));
        let product: Vec<_> = x.iter().zip(&y).map(|(x, y)| x * y).collect();
        let top = s.params.max_level();
        for level in [top, top.below().unwrap(), Level(64).min(top), Level(2)] {
            let a = s.evaluator.mod_switch(&a, level).unwrap();
            let b = s.evaluator.mod_switch(&b, level).unwrap();
            let made = s.evaluator.mul_relin(&a, &b, &s.relin).unwrap();
            let rescaled = s.evaluator.rescale(&made).unwrap();
            close(&s.decrypt(&rescaled), &product, 1e-6);
            let turned = s.evaluator.rotate(&a, 1, &s.galois).unwrap();
            let mut moved = x.clone();
            moved.rotate_left(1);
            close(&s.decrypt(&turned), &moved, 1e-6);
        }
    }
}
