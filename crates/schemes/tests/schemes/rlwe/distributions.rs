// SPDX-License-Identifier: Apache-2.0
//! Tests the distributions of secrets.

use ringmill_math::Prng;
use ringmill_schemes::rlwe::SecretDistribution;

#[test]
fn secrets_have_their_values_and_their_mean_square() {
    let mut prng = Prng::from_seed_for_reproducible_tests_only([3; 32]);
    let n = 1 << 14;
    for (distribution, values) in [
        (SecretDistribution::Ternary, &[-1, 0, 1][..]),
        (
            SecretDistribution::SparseTernary { weight: 192 },
            &[-1, 0, 1],
        ),
        (SecretDistribution::Binary, &[0, 1]),
    ] {
        let secret = distribution.sample(&mut prng, n).unwrap();
        assert_eq!(secret.len(), n);
        assert!(
            secret.iter().all(|x| values.contains(x)),
            "{distribution:?}"
        );
        assert!(
            values.iter().all(|x| secret.contains(x)),
            "{distribution:?}"
        );
        let square: f64 = secret.iter().map(|&x| f64::from(x).powi(2)).sum();
        let mean = distribution.mean_square(n as f64);
        assert!(
            (square - mean).abs() < 6.0 * mean.sqrt(),
            "{distribution:?}: {square}"
        );
    }
    // A length that is no multiple of a byte's bits.
    assert_eq!(
        SecretDistribution::Binary
            .sample(&mut prng, 13)
            .unwrap()
            .len(),
        13
    );
}
