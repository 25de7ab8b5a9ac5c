// SPDX-License-Identifier: Apache-2.0
//! Tests the rounding of reals and the residues of signed integers, on each backend.

use ringmill_math::Modulus;
use ringmill_math::kernels::{available_backends, with_backend};
use ringmill_math::sample::{largest, round, to_limb, to_limb_i64};

#[test]
fn reals_round_to_nearest_on_every_backend() {
    let mut reals = vec![
        0.0,
        -0.0,
        0.5,
        -0.5,
        0.49999999999999994,
        f64::MIN_POSITIVE,
        1e-320,
    ];
    for k in -60..62 {
        let x = 2f64.powi(k);
        let near = [
            x,
            1.5 * x,
            x * (1.0 + f64::EPSILON),
            x * (1.0 - f64::EPSILON / 2.0),
        ];
        reals.extend(near.iter().flat_map(|&x| [x, -x]));
    }
    reals.extend((0..1000).map(|i| f64::from(i - 500) * 0.25));
    for backend in available_backends() {
        let mut out = vec![0; reals.len()];
        with_backend(backend, || round(&reals, &mut out))
            .unwrap()
            .unwrap();
        for (x, y) in reals.iter().zip(&out) {
            assert_eq!(x.round() as i64, *y, "{backend:?} {x:e}");
        }
        let most = with_backend(backend, || largest(&reals)).unwrap();
        assert_eq!(most, 1.5 * 2f64.powi(61));
        for bad in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let most = with_backend(backend, || largest(&[1.0, bad, 2.0])).unwrap();
            assert_eq!(most, f64::INFINITY);
        }
    }
    assert!(round(&reals, &mut [0]).is_err());
}

#[test]
fn residues_of_signed_integers_on_every_backend() {
    let mut samples = vec![0, 1, -1, i64::MIN, i64::MIN + 1, i64::MAX];
    for k in 1..63 {
        let x = 1i64 << k;
        samples.extend([x, x - 1, x + 1].iter().flat_map(|&x| [x, -x]));
    }
    let moduli = [
        2,
        3,
        97,
        127,
        128,
        129,
        1 << 31,
        (1 << 60) - 93,
        1 << 60,
        (1 << 61) - 1,
    ];
    for q in moduli {
        samples.extend(
            [q as i64 - 1, q as i64, 3 * q as i64]
                .iter()
                .flat_map(|&x| [x, -x]),
        );
    }
    let bytes: Vec<i8> = (i8::MIN..=i8::MAX).collect();
    for backend in available_backends() {
        for q in moduli {
            let modulus = Modulus::new(q).unwrap();
            let exact = |x: i64| i128::from(x).rem_euclid(i128::from(q)) as u64;
            let mut out = vec![0; samples.len()];
            with_backend(backend, || {
                to_limb_i64(modulus, 1 << 63, &samples, &mut out)
            })
            .unwrap()
            .unwrap();
            for (&x, &y) in samples.iter().zip(&out) {
                assert_eq!(y, exact(x), "{backend:?} {x} mod {q}");
            }
            // With a bound below q, a residue is the integer or the integer plus q. With the bound q,
            // integers are divided by q.
            for bound in [q - 1, q] {
                let below: Vec<i64> = samples
                    .iter()
                    .copied()
                    .filter(|x| x.unsigned_abs() <= bound)
                    .collect();
                let mut out = vec![0; below.len()];
                with_backend(backend, || to_limb_i64(modulus, bound, &below, &mut out))
                    .unwrap()
                    .unwrap();
                for (&x, &y) in below.iter().zip(&out) {
                    assert_eq!(y, exact(x), "{backend:?} {x} mod {q} up to {bound}");
                }
            }
            let mut out = vec![0; bytes.len()];
            with_backend(backend, || to_limb(modulus, &bytes, &mut out))
                .unwrap()
                .unwrap();
            for (&x, &y) in bytes.iter().zip(&out) {
                assert_eq!(y, exact(i64::from(x)), "{backend:?} {x} mod {q}");
            }
        }
    }
}
