// SPDX-License-Identifier: Apache-2.0
//! Tests products of a matrix and a vector of limbs on each backend against sums of wide integers.

use crate::common;

use ringmill_math::{MathError, Modulus, kernels};

/// Returns the value of a diagonal at coefficient i of `len`.
fn value(values: &[u64], i: usize, len: usize) -> u128 {
    values[i / (len / values.len())].into()
}

/// Checks the products of a matrix of `rows` and `count` columns, with diagonals of `values(k)` values in column k.
fn check(q: Modulus, len: usize, rows: usize, count: usize, values: impl Fn(usize) -> usize) {
    let limb = |n, seed: usize| {
        let mut all = common::limbs(q, n, seed as u64);
        all.swap_remove([3, 0, 6, 5, 1, 2, 4][seed % 7])
    };
    let factors: Vec<[Vec<u64>; 2]> = (0..count)
        .map(|k| [limb(len, 2 * k), limb(len, 2 * k + 1)])
        .collect();
    let diagonals: Vec<Vec<u64>> = (0..rows * count)
        .map(|at| limb(values(at % count), at + 3))
        .collect();
    let mut sums: Vec<[Vec<u64>; 2]> = vec![[vec![7; len], vec![9; len]]; rows];
    {
        let factors: Vec<[&[u64]; 2]> =
            factors.iter().map(|f| f.each_ref().map(|l| &**l)).collect();
        let diagonals: Vec<&[u64]> = diagonals.iter().map(|d| &**d).collect();
        let mut sums: Vec<[&mut [u64]; 2]> = sums
            .iter_mut()
            .map(|sum| sum.each_mut().map(|limb| &mut **limb))
            .collect();
        kernels::mat_vec(q, &mut sums, &factors, &diagonals).unwrap();
    }
    for (r, sum) in sums.iter().enumerate() {
        for (p, sum) in sum.iter().enumerate() {
            for (i, &found) in sum.iter().enumerate() {
                let term = |k: usize| {
                    let d = value(&diagonals[r * count + k], i, len);
                    d * u128::from(factors[k][p][i]) % u128::from(q.value())
                };
                let expected = (0..count).map(term).sum::<u128>() % u128::from(q.value());
                let backend = kernels::Backend::current();
                assert_eq!(
                    u128::from(found),
                    expected,
                    "{backend:?} {q:?} {len} {rows} {count} {i}"
                );
            }
        }
    }
}

#[test]
fn each_row_is_a_sum_of_products() {
    common::on_every_backend(|_| {
        for q in common::any_moduli() {
            for rows in 1..=6 {
                check(q, 64, rows, 5, |_| 64);
                check(q, 512, rows, 3, |k| 512 >> (2 * k));
            }
            // Runs of equal residues of each length up to the limb's, and more products than one reduction takes.
            for run in 0..=6 {
                check(q, 64, 4, 2, |_| 64 >> run);
            }
            check(q, 32, 5, 33, |k| 32 >> (k % 6));
            check(q, 8, 2, 65, |_| 8);
            // Lengths that are no powers of two, or shorter than a vector.
            check(q, 300, 3, 4, |k| [300, 150, 60, 1][k]);
            check(q, 4, 5, 3, |_| 2);
        }
    });
}

#[test]
fn lengths_must_fit() {
    let q = Modulus::new(97).unwrap();
    let (mut a, mut b) = ([1; 8], [1; 8]);
    let mut sums = [[&mut a[..], &mut b[..]]];
    let (x, y, d) = ([2; 8], [3; 8], [4; 8]);
    let mut run = |x: &[u64], y: &[u64], diagonals: &[&[u64]]| {
        kernels::mat_vec(q, &mut sums, &[[x, y]], diagonals).map_err(|e| match e {
            MathError::Length { what, .. } => what,
            _ => "another error",
        })
    };
    assert_eq!(run(&x, &y, &[&d]), Ok(()));
    assert_eq!(run(&x[1..], &y, &[&d]), Err("factor"));
    assert_eq!(run(&x, &y[1..], &[&d]), Err("factor"));
    assert_eq!(run(&x, &y, &[&d, &d]), Err("diagonals"));
    assert_eq!(run(&x, &y, &[]), Err("diagonals"));
    for len in [0, 3, 5, 7] {
        assert_eq!(run(&x, &y, &[&d[..len]]), Err("diagonal"), "{len}");
    }
    let (mut long, mut short) = ([1; 8], [1; 7]);
    let mut sums = [[&mut long[..], &mut short[..]]];
    let refused = kernels::mat_vec(q, &mut sums, &[[&x, &y]], &[&d]);
    assert!(matches!(
        refused,
        Err(MathError::Length { what: "sum", .. })
    ));
    assert!(kernels::mat_vec(q, &mut [], &[], &[]).is_ok());
}
