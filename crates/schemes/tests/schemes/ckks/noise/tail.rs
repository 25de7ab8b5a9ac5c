// SPDX-License-Identifier: Apache-2.0
//! Tests bounds on errors that fail with a stated probability.

use ringmill_schemes::internals::tail::{bound, exponent};

#[test]
fn the_exponent_keeps_its_promise() {
    for slots in [1, 2, 4096, 1 << 16] {
        let l = exponent(slots);
        let failure = ((l + 1.0) * (-l).exp() * slots as f64).log2();
        assert!((failure + 40.0).abs() < 0.01, "{slots} slots: 2^{failure}");
    }
}

#[test]
fn no_x_exceeds_the_bound() {
    let l = exponent(4096);
    for v in [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [5.0, 1.0, 0.01],
        [0.1, 3.0, 2.0],
        [0.0, 0.0, 0.0],
        [1e-30, 1e-28, 1e-40],
        [100.0, 0.5, 0.0],
    ] {
        let squared = bound(v, l).powi(2);
        let steps = 10_000;
        let largest = (0..=steps)
            .map(|i| {
                let x = l * f64::from(i) / f64::from(steps);
                (l - x) * (v[0] + v[1] * x + v[2] * x * x)
            })
            .fold(0.0, f64::max);
        assert!(squared >= largest * (1.0 - 1e-12), "{v:?}");
        assert!(squared <= largest * (1.0 + 1e-6) + 1e-300, "{v:?}");
    }
}
