// SPDX-License-Identifier: Apache-2.0
//! Tests of finding the primes of Table II.

use num_bigint::BigUint;
use ringmill_papers::internals::{is_prime, mersenne_primes};

#[test]
fn primes_are_found() {
    let small: Vec<u32> = (0..60u32)
        .filter(|&x| is_prime(&BigUint::from(x)) == Some(true))
        .collect();
    assert_eq!(
        small,
        [
            2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59
        ]
    );
    // A strong pseudoprime to the first nine bases.
    let x = BigUint::from(3_825_123_056_546_413_051u64);
    assert_eq!(is_prime(&x), Some(false));
    let exponents: Vec<u64> = mersenne_primes().iter().map(BigUint::bits).collect();
    assert_eq!(
        exponents,
        [2, 3, 5, 7, 13, 17, 19, 31, 61, 89, 107, 127, 521]
    );
    assert_eq!(is_prime(&((BigUint::from(1u32) << 127) - 1u32)), None);
}
