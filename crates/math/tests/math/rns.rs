// SPDX-License-Identifier: Apache-2.0
//! Tests RNS composition and fast base extension against big integers.

use crate::common;

use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;
use ringmill_math::{BaseConverter, Modulus, RnsBasis, primes};

fn basis(bits: u32, count: usize) -> RnsBasis {
    let moduli = primes::ntt_primes(bits, 10, count).unwrap();
    RnsBasis::new(
        moduli
            .into_iter()
            .map(|q| Modulus::new(q).unwrap())
            .collect(),
    )
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn compose_undoes_decompose(bits in 20u32..=60, count in 1usize..8, words in prop::collection::vec(any::<u32>(), 20)) {
        let basis = basis(bits, count);
        let x = BigUint::new(words) % basis.product();
        let residues = basis.decompose(&x);
        for (r, q) in residues.iter().zip(basis.moduli()) {
            prop_assert_eq!(BigUint::from(*r), &x % q.value());
        }
        prop_assert_eq!(&basis.compose(&residues).unwrap(), &x);
        let centred = basis.compose_centred(&residues).unwrap();
        let product = BigInt::from(basis.product().clone());
        prop_assert!(&centred * 2 <= product && &centred * 2 > -product.clone());
        prop_assert_eq!((centred - BigInt::from(x)) % product, BigInt::from(0));
    }
}

#[test]
fn punctured_products_invert() {
    let basis = basis(54, 5);
    for ((q, p), inverse) in basis
        .moduli()
        .iter()
        .zip(basis.punctured_products())
        .zip(basis.inverse_punctured_products())
    {
        assert_eq!(p * q.value(), *basis.product());
        assert_eq!((p * inverse) % q.value(), BigUint::from(1u32));
    }
}

#[test]
fn base_extension_is_exact_up_to_a_small_multiple_of_q() {
    common::on_every_backend(|backend| {
        for (bits_from, bits_to, k) in [
            (54u32, 60u32, 7usize),
            (60, 54, 3),
            (30, 49, 5),
            (45, 30, 9),
            (61, 61, 40),
        ] {
            let moduli = |bits, skip: usize, n| -> Vec<Modulus> {
                let list = primes::ntt_primes(bits, 10, n + skip).unwrap();
                list[skip..]
                    .iter()
                    .map(|&q| Modulus::new(q).unwrap())
                    .collect()
            };
            let from = RnsBasis::new(moduli(bits_from, 0, k)).unwrap();
            let to = moduli(bits_to, k, 4);
            let n = 37; // a SIMD body and a tail
            let limbs: Vec<Vec<u64>> = from
                .moduli()
                .iter()
                .enumerate()
                .map(|(i, q)| {
                    let mut limb = common::random_limb(*q, n, i as u64);
                    limb[0] = 0;
                    limb[1] = q.value() - 1;
                    limb
                })
                .collect();
            let input: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
            let mut output = vec![vec![0; n]; to.len()];
            let converter = BaseConverter::new(&from, &to);
            converter
                .convert(
                    &input,
                    &mut output.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>(),
                )
                .unwrap();
            for c in 0..n {
                let residues: Vec<u64> = limbs.iter().map(|l| l[c]).collect();
                let x = from.compose(&residues).unwrap();
                // One multiple of Q must fit the results modulo all targets.
                let value = |u: usize, p: &Modulus| {
                    ((&x + from.product() * u) % p.value())
                        .to_u64_digits()
                        .first()
                        .copied()
                        .unwrap_or(0)
                };
                let multiple =
                    (0..k).find(|&u| to.iter().zip(&output).all(|(p, out)| value(u, p) == out[c]));
                assert!(
                    multiple.is_some(),
                    "{backend:?} coefficient {c}: no multiple of Q in [0, {k}) fits"
                );
            }
            assert_eq!(
                converter.product_mod(0),
                Some(value_mod(from.product(), to[0]))
            );
        }
    });
}

fn value_mod(x: &BigUint, p: Modulus) -> u64 {
    (x % p.value())
        .to_u64_digits()
        .first()
        .copied()
        .unwrap_or(0)
}

#[test]
fn bad_shapes_are_refused() {
    let q = |x| Modulus::new(x).unwrap();
    assert!(RnsBasis::new(vec![]).is_err());
    assert!(RnsBasis::new(vec![q(17), q(17)]).is_err());
    assert!(RnsBasis::new(vec![q(15), q(97), q(21)]).is_err());
    let basis = RnsBasis::new(vec![q(17), q(97)]).unwrap();
    assert!(basis.compose(&[1]).is_err());
    let converter = BaseConverter::new(&basis, &[q(257)]);
    assert!(converter.convert(&[&[1]], &mut [&mut [0]]).is_err());
    assert!(
        converter
            .convert(&[&[1], &[1, 2]], &mut [&mut [0]])
            .is_err()
    );
    assert!(converter.accumulate(&[&[1], &[1]], 1, &mut [0]).is_err());
}
