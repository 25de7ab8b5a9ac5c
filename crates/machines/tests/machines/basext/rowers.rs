// SPDX-License-Identifier: Apache-2.0
//! Units of rowers: the range that they lose, and their cycles.

use ringmill_machines::basext::rowers::{Algorithm, cycles, delta, rowers};
use ringmill_machines::basext::{BasextError, Shape, Word};
use ringmill_math::primes::ntt_primes;
use ringmill_math::{MathError, Modulus, RnsBasis};

fn basis(bits: u32, l: usize) -> RnsBasis {
    let primes = ntt_primes(bits, 12, l).unwrap();
    let moduli = primes.into_iter().map(|q| Modulus::new(q).unwrap());
    RnsBasis::new(moduli.collect()).unwrap()
}

/// Checks that moduli near 2^w lose little of the range, and that moduli far below it have none left.
#[test]
fn delta_of_near_and_far_moduli() {
    let shape = Shape::new(Word::Bits32, 1, 12..=12, 64, 64).unwrap();
    for l in [1, 17, 64] {
        let found = delta(shape, &basis(32, l)).unwrap();
        assert!((l as u64..1 << 14).contains(&found), "{l}: {found}");
    }
    let far = delta(shape, &basis(30, 4));
    assert!(
        matches!(far, Err(BasextError::Math(MathError::CoxRowerRange { .. }))),
        "{far:?}"
    );
}

/// Checks counts by hand for N = 256, TP = 4, l = 3 and k = 2.
#[test]
fn cycles_of_small_jobs() {
    let shape = Shape::new(Word::Bits32, 4, 8..=9, 5, 3).unwrap();
    let of = |algorithm, polynomials| cycles(algorithm, shape, 3, 2, 8, polynomials);
    assert_eq!(of(Algorithm::CoxRower, 1), 5 * 64 + 4 * 256 + 26 + 3);
    assert_eq!(of(Algorithm::MixedRadix, 1), 5 * 64 + 5 * 256 + 26 + 3);
    assert_eq!(of(Algorithm::CoxRower, 2), 8 * 64 + 8 * 256 + 52 + 3);
    assert_eq!(rowers(shape), 5);
}
