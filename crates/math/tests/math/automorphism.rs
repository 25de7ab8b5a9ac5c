// SPDX-License-Identifier: Apache-2.0
//! Tests automorphisms in both forms, on the full ring and on its halves, against their definition.

use crate::common;

use ringmill_math::{AutoEvalPlan, Modulus, NttPlan, Ring, kernels, primes};

/// Returns a(x^g) mod x^N + 1, computed term by term, for the Galois element g = `galois`.
fn definition(q: Modulus, galois: u64, a: &[u64]) -> Vec<u64> {
    let n = a.len();
    let mut out = vec![0; n];
    for (i, &c) in a.iter().enumerate() {
        let e = (i as u64 * galois) as usize;
        let negative = (e / n) % 2 == 1;
        out[e % n] = if negative {
            (q.value() - c) % q.value()
        } else {
            c
        };
    }
    out
}

#[test]
fn both_forms_agree_with_the_definition_for_every_element() {
    for log_n in [2u8, 3, 6] {
        let ring = Ring::full(log_n);
        let (ring_p, ring_m) = ring.halves();
        let q = Modulus::new(primes::ntt_primes(54, u32::from(log_n), 1).unwrap()[0]).unwrap();
        let plan = NttPlan::shared(q, ring).unwrap();
        let n = ring.len();
        let mut a = common::random_limb(q, n, 5);
        a[1] = 0;
        for galois in (1..2 * n as u64).step_by(2) {
            let expected = definition(q, galois, &a);
            let mut out = vec![7; n];
            kernels::auto_coeff(q, galois, &mut out, &a).unwrap();
            assert_eq!(out, expected);

            let (mut a_eval, mut expected_eval) = (a.clone(), expected);
            plan.forward(&mut a_eval).unwrap();
            plan.forward(&mut expected_eval).unwrap();
            common::on_every_backend(|_| {
                let mut out = vec![7; n];
                kernels::auto_eval(galois, &mut out, &a_eval).unwrap();
                assert_eq!(out, expected_eval);

                let (p, m) = a_eval.split_at(n / 2);
                let (mut out_p, mut out_m) = (vec![0; ring_p.len()], vec![0; ring_m.len()]);
                kernels::auto_eval_halves(galois, &mut out_p, &mut out_m, p, m).unwrap();
                assert_eq!([out_p, out_m].concat(), expected_eval);
            });
        }
    }
}

#[test]
fn bad_elements_and_shapes_are_refused() {
    let q = Modulus::new(97).unwrap();
    for galois in [0, 2, 16, 17, u64::MAX] {
        assert!(kernels::auto_coeff(q, galois, &mut [0; 8], &[0; 8]).is_err());
        assert!(kernels::auto_eval(galois, &mut [0; 8], &[0; 8]).is_err());
        assert!(
            kernels::auto_eval_halves(galois, &mut [0; 4], &mut [0; 4], &[0; 4], &[0; 4]).is_err()
        );
    }
    assert!(kernels::auto_coeff(q, 3, &mut [0; 8], &[0; 4]).is_err());
    assert!(kernels::auto_coeff(q, 3, &mut [0; 12], &[0; 12]).is_err());
    assert!(kernels::auto_coeff(q, 1, &mut [], &[]).is_err());
    assert!(kernels::auto_eval(3, &mut [0; 8], &[0; 12]).is_err());
    assert!(kernels::auto_eval(3, &mut [0; 4], &[0; 8]).is_err());
    assert!(kernels::auto_eval_halves(3, &mut [0; 4], &mut [0; 4], &[0; 4], &[0; 8]).is_err());
    assert!(AutoEvalPlan::shared(40, 3).is_err());
}
