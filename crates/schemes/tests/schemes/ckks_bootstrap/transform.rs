// SPDX-License-Identifier: Apache-2.0
//! Tests of the maps of a CKKS bootstrap between slots and coefficients, against their definition.

use std::f64::consts::PI;

use num_complex::Complex64;
use ringmill_schemes::ckks::bootstrap::transform::{Diagonals, Direction, factors};

fn applied(matrix: &Diagonals, x: &[Complex64]) -> Vec<Complex64> {
    let n = x.len();
    let row = |j: usize| matrix.iter().map(|(o, d)| d[j] * x[(j + o) % n]).sum();
    (0..n).map(row).collect()
}

fn reversed(n: usize, k: usize) -> usize {
    (0..n.trailing_zeros()).fold(0, |r, bit| 2 * r + (k >> bit & 1))
}

#[test]
fn maps_are_the_definition_up_to_bit_reversal() {
    for n in [2usize, 4, 16, 64] {
        let x: Vec<Complex64> = (0..n)
            .map(|k| Complex64::new(k as f64 + 0.5, 1.0 / (k + 1) as f64))
            .collect();
        for stages in 1..=3 {
            let up = factors(n, stages, Direction::ToCoefficients);
            let slots = up.iter().fold(x.clone(), |x, m| applied(m, &x));
            let order = 4 * n as u64;
            let mut exponent = 1u64;
            for &slot in &slots {
                let value: Complex64 = (0..n)
                    .map(|k| {
                        let turn = exponent * reversed(n, k) as u64 % order;
                        x[k] * Complex64::from_polar(1.0, 2.0 * PI * turn as f64 / order as f64)
                    })
                    .sum();
                assert!((value - slot).norm() < 1e-9, "{n} {stages}: {value} {slot}");
                exponent = exponent * (order - 3) % order;
            }
            let down = factors(n, stages, Direction::ToSlots);
            let back = down.iter().fold(slots, |x, m| applied(m, &x));
            for (a, b) in x.iter().zip(back) {
                assert!((a - b).norm() < 1e-9);
            }
        }
    }
}
