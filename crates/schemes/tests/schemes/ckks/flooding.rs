// SPDX-License-Identifier: Apache-2.0
//! Tests which noise for shared decryptions the sampler makes exactly enough.

use ringmill_schemes::ckks::{Flooding, Params};

/// At N = 2^16, 5 statistical bits for 2^30 decryptions allow noise of at most four sums. A coefficient of s sums is at
/// distance 2^(s - 57) from a Gaussian, and 2^(16 + 5 - 57 + 30) is above 7/16 of 2^-5. Five sums begin at a standard
/// deviation of 2^39.7.
#[test]
fn the_samplers_distance_counts_for_every_decryption() {
    let builder = Params::builder(16).prime_bits(&[60, 60], &[60]);
    let params = builder
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let flooding = Flooding::new(5, 1 << 30).unwrap();
    // The standard deviation is sqrt(2^30) 2^5 times the scale, for an error of 1.
    let at = |log2: f64| flooding.check(&params, 1.0, (log2 - 20.0).exp2());
    at(39.0).unwrap();
    let refused = at(42.0).unwrap_err().to_string();
    assert!(
        refused.contains("distance of the noise from a Gaussian"),
        "{refused}"
    );
    // Half the decryptions leave room for one sum more.
    let fewer = Flooding::new(5, 1 << 29).unwrap();
    fewer.check(&params, 1.0, 22f64.exp2()).unwrap();
}
