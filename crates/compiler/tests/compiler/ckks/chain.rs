// SPDX-License-Identifier: Apache-2.0
//! Primes to rescale by keep the canonical scales near the default scale.

use ringmill_compiler::internals::CanonicalScales;
use ringmill_isa::Level;
use ringmill_schemes::ckks::chain::rescaling_primes;

#[test]
fn canonical_scales_stay_near_the_scale_at_any_depth() {
    for (bits, log_n, levels) in [(40, 15, 30), (30, 16, 20), (50, 12, 40u32)] {
        let ratios = vec![1.0; levels as usize];
        let mut primes = vec![(1 << 60) - 93];
        primes.extend(rescaling_primes(bits, log_n, &ratios).unwrap());
        let wanted = f64::from(bits).exp2();
        let scales = CanonicalScales::new(&primes, wanted).unwrap();
        for level in 0..=levels {
            let drift = (scales.normal(Level(level)) / wanted).log2().abs();
            assert!(drift < 0.05, "2^{bits}, level {level}: {drift}");
        }
    }
}

#[test]
fn primes_run_out_with_an_error() {
    assert!(rescaling_primes(20, 17, &[1.0; 40]).is_err());
}
