// SPDX-License-Identifier: Apache-2.0
//! Tests each base extension against big integers, on each backend, with random and with adversarial coefficients.

mod middle;

use crate::common;

use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;
use ringmill_math::basext::{
    BaseExtension, FixedPoint, Kawamura, MixedRadix, Representative, ShenoyKumaresan, Targets,
    best_exact,
};
use ringmill_math::{AnyModulus, BaseConverter, MathError, Modulus, RnsBasis, WordModulus, primes};

/// Returns `count` distinct primes whose sizes are drawn from `low` to `high` bits.
fn moduli(low: u32, high: u32, count: usize, seed: u64) -> Vec<Modulus> {
    let mut used = Vec::new();
    for size in common::numbers(seed).take(count) {
        let bits = low + (size % u64::from(high - low + 1)) as u32;
        // Some primes are at the top of their size. Others are somewhat below it, by a random step.
        let step = if size >> 32 & 1 == 0 {
            2048
        } else {
            2 * (3 + (size >> 40) % 50_000)
        };
        let prime = primes::primes_one_mod(bits, step, 1, &used)
            .or_else(|_| primes::primes_one_mod(bits, 2, 1, &used));
        used.push(prime.unwrap()[0]);
    }
    used.into_iter().map(|q| Modulus::new(q).unwrap()).collect()
}

fn residue(x: &BigInt, p: impl Into<AnyModulus>) -> u64 {
    let p = match p.into() {
        AnyModulus::Below61(p) => BigInt::from(p.value()),
        AnyModulus::Word(p) => BigInt::from(1) << p.bits(),
    };
    u64::try_from(((x % &p) + &p) % &p).unwrap()
}

/// Returns integers below Q that are hard for base extensions. They are the neighbours of 0 and Q - 1, and of
/// multiples of each q_i and of Q / q_i. Others are those of Q / 2, of m Q / 2^k, and of the integers at the ends of the
/// sums.
fn adversarial(basis: &RnsBasis) -> Vec<BigUint> {
    let q = basis.product();
    let mut centres = vec![BigUint::ZERO, q / 2u32, q - 1u32];
    for modulus in basis.moduli() {
        centres.push(modulus.value().into());
        centres.push(q - modulus.value());
        centres.push(q / modulus.value() / 3u32 * modulus.value());
        // All residues but one are zero.
        centres.push(q / modulus.value());
    }
    // All scaled residues y_i are 1, or all are q_i - 1: the ends of every sum.
    let ones: BigUint = basis.punctured_products().iter().sum();
    centres.push(&ones % q);
    centres.push(q - &ones % q);
    for k in (1..=16).chain([44, 47, 48, 49, 50, 51, 52, 53, 60, 70]) {
        for m in [1u32, 3] {
            centres.push((q * m) >> k);
            centres.push(q - ((q * m) >> k) % q);
        }
    }
    let mut list = Vec::new();
    for centre in centres {
        for step in 0..3u32 {
            list.push((&centre + step) % q);
            list.push((&centre + q - step) % q);
        }
    }
    list
}

fn random(basis: &RnsBasis, count: usize, seed: u64) -> Vec<BigUint> {
    let words = basis.moduli().len() * 2 + 2;
    let mut source = common::numbers(seed);
    (0..count)
        .map(|_| {
            BigUint::new(source.by_ref().take(words).map(|x| x as u32).collect()) % basis.product()
        })
        .collect()
}

/// Returns the moduli of the output limbs.
fn targets(extension: &dyn BaseExtension) -> Vec<AnyModulus> {
    let moduli = extension.target().iter().map(|&p| AnyModulus::from(p));
    moduli
        .chain(extension.words().iter().map(|&p| AnyModulus::from(p)))
        .collect()
}

/// Converts the residues of the integers `values`. The result is indexed by target modulus, then by coefficient.
fn convert(extension: &dyn BaseExtension, values: &[BigInt]) -> Vec<Vec<u64>> {
    let limbs: Vec<Vec<u64>> = extension
        .source()
        .iter()
        .map(|q| values.iter().map(|x| residue(x, *q)).collect())
        .collect();
    let input: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
    let mut output = vec![vec![!0; values.len()]; targets(extension).len()];
    let mut slices: Vec<&mut [u64]> = output.iter_mut().map(Vec::as_mut_slice).collect();
    let mut scratch = vec![!0; extension.scratch_len()];
    extension
        .convert(&input, &mut slices, &mut scratch)
        .unwrap();
    output
}

fn check(
    name: &str,
    extension: &dyn BaseExtension,
    values: &[BigUint],
    stands_for: impl Fn(&BigUint) -> BigInt,
) {
    let targets = targets(extension);
    let values: Vec<BigInt> = values.iter().map(stands_for).collect();
    common::on_every_backend(|backend| {
        let output = convert(extension, &values);
        for (c, x) in values.iter().enumerate() {
            for (p, out) in targets.iter().zip(&output) {
                let (l, k) = (extension.source().len(), targets.len());
                assert_eq!(
                    out[c],
                    residue(x, *p),
                    "{name}, {backend:?}, l = {l}, k = {k}, p = {p}, coefficient {c} = {x}",
                );
            }
        }
    });
}

/// Checks each exact method on the same coefficients, with the targets `to` and powers of two.
fn check_all(basis: &RnsBasis, redundant: Modulus, to: &[Modulus], values: &[BigUint]) {
    let q = basis.product();
    let words = [64, 61, 1].map(|bits| WordModulus::new(bits).unwrap());
    let to = Targets {
        moduli: to,
        words: &words,
    };
    let whole = |x: &BigUint| BigInt::from(x.clone());
    let centred = |x: &BigUint| {
        let x = BigInt::from(x.clone());
        let q = BigInt::from(q.clone());
        if &x * 2 > q { x - q } else { x }
    };
    check("best", &best_exact(basis, to).unwrap(), values, whole);
    let fixed = FixedPoint::new(basis, to, Representative::Centred).unwrap();
    check("centred fixed point", &fixed, values, centred);
    let radix = |to, representative| MixedRadix::new(basis, to, representative).unwrap();
    let plain = radix(to, Representative::NonNegative);
    check("mixed radix", &plain, values, whole);
    let radix = radix(to, Representative::Centred);
    check("centred mixed radix", &radix, values, centred);
    let redundant = ShenoyKumaresan::new(basis, redundant, to).unwrap();
    check("Shenoy-Kumaresan", &redundant, values, whole);
    check("centred Shenoy-Kumaresan", &redundant, values, centred);
    let sizes = basis.moduli().iter().map(|q| q.bits());
    let r = sizes.max().unwrap();
    for precision in [r, r.min(20)] {
        match Kawamura::new(basis, to, precision) {
            Ok(rower) => {
                let inside: Vec<BigUint> = values
                    .iter()
                    .filter(|x| *x < rower.input_bound())
                    .cloned()
                    .collect();
                check("Kawamura", &rower, &inside, whole);
            }
            Err(e) => assert!(matches!(e, MathError::CoxRowerRange { .. })),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn exact_methods_equal_big_integers(
        l in 1usize..=64, k in 1usize..=64, low in 30u32..=61, high in 30u32..=61, seed in any::<u64>(),
    ) {
        let (low, high) = (low.min(high), low.max(high));
        let list = moduli(low, high, l + 1, seed);
        let (redundant, from) = list.split_last().unwrap();
        let basis = RnsBasis::new(from.to_vec()).unwrap();
        // Targets have sizes of their own and may repeat source moduli.
        let to = moduli(30, 61, k, seed ^ 1);
        let mut values = random(&basis, 20, seed);
        let hard = adversarial(&basis);
        values.extend(common::numbers(seed).take(41).map(|i| hard[i as usize % hard.len()].clone()));
        check_all(&basis, *redundant, &to, &values);
    }
}

#[test]
fn adversarial_coefficients_in_full() {
    for (l, k, bits) in [
        (1, 3, 61),
        (2, 6, 30),
        (5, 2, 52),
        (7, 7, 60),
        (17, 4, 60),
        (64, 1, 61),
        (64, 5, 30),
    ] {
        let list = moduli(bits, bits, l + k, 7);
        let basis = RnsBasis::new(list[..l].to_vec()).unwrap();
        // More than one block of coefficients, and a tail.
        let values = adversarial(&basis);
        check_all(&basis, Modulus::new(67).unwrap(), &list[l..], &values);
    }
}

#[test]
fn moduli_of_every_shape() {
    // Powers of two, tiny moduli and composite ones are sources and targets, in no order.
    let q = |x| Modulus::new(x).unwrap();
    let from = [1 << 60, 3, (1 << 61) - 1, 25, 7, 1_000_003, (1 << 51) - 129].map(q);
    let basis = RnsBasis::new(from.to_vec()).unwrap();
    let to = [
        2,
        3,
        4,
        5,
        1 << 52,
        1 << 60,
        (1 << 61) - 1,
        (1 << 52) - 1,
        65537,
    ]
    .map(q);
    let mut values = adversarial(&basis);
    values.extend(random(&basis, 100, 3));
    check_all(&basis, q(11), &to, &values);
    // Constants next to their modulus: the constant Q / q_0 = q_1 is -1 modulo the target q_1 + 1.
    let pair = [(1 << 61) - 1, (1 << 61) - 3].map(q);
    let basis = RnsBasis::new(pair.to_vec()).unwrap();
    let to = [(1 << 61) - 2, (1 << 61) - 4, (1 << 61) - 6].map(q);
    check_all(&basis, q(67), &to, &adversarial(&basis));
    // All of [0, Q) for a small Q.
    let basis = RnsBasis::new([16, 3, 25, 7].map(q).to_vec()).unwrap();
    let values: Vec<BigUint> = (0..8400u32).map(BigUint::from).collect();
    check_all(&basis, q(11), &to, &values);
}

/// Moduli of at most 32 bits have loops of their own. They are just above 2^31, just below 2^32 or smaller. Some
/// targets are moduli that these loops do not take.
#[test]
fn moduli_of_one_half_word() {
    let q = |x| Modulus::new(x).unwrap();
    let [above, below, small] = [1u64 << 31, (1 << 32) - 1000, 1 << 16].map(|from| {
        let odd = (from | 1..).step_by(2).filter(|&x| is_prime(x));
        odd.take(20).map(q).collect::<Vec<_>>()
    });
    let others = [
        1 << 16,
        3,
        1 << 32,
        (1 << 32) + 15,
        2_048_383,
        5,
        (1 << 32) - 1,
    ]
    .map(q);
    for (from, l) in [
        (&above, 14),
        (&above, 15),
        (&below, 14),
        (&small, 16),
        (&above, 1),
    ] {
        let basis = RnsBasis::new(from[..l].to_vec()).unwrap();
        let to: Vec<Modulus> = (above[16..].iter())
            .chain(&others)
            .chain(&below[15..])
            .chain(&small[16..])
            .copied()
            .collect();
        let mut values = adversarial(&basis);
        values.extend(random(&basis, 300, 5));
        check_all(&basis, q(67), &to, &values);
    }
}

fn is_prime(x: u64) -> bool {
    (3..)
        .step_by(2)
        .take_while(|d| d * d <= x)
        .all(|d| !x.is_multiple_of(d))
}

#[test]
fn lengths_around_vectors_and_blocks() {
    let list = moduli(54, 60, 8, 5);
    let basis = RnsBasis::new(list[..3].to_vec()).unwrap();
    for n in [0, 1, 7, 8, 9, 63, 64, 65, 255, 256, 257, 300, 520] {
        check_all(&basis, list[7], &list[3..7], &random(&basis, n, n as u64));
    }
}

#[test]
fn approximate_is_off_by_alpha_everywhere() {
    let list = moduli(60, 60, 9, 5);
    let basis = RnsBasis::new(list[..5].to_vec()).unwrap();
    let values = adversarial(&basis);
    // Returns alpha by its definition, equation 2.14.
    let alpha = |x: &BigUint| {
        let sum: BigUint = basis
            .moduli()
            .iter()
            .zip(basis.punctured_products())
            .zip(basis.inverse_punctured_products())
            .map(|((q, p), w)| p * (x * w % q.value()))
            .sum();
        sum / basis.product()
    };
    check(
        "fast",
        &BaseConverter::new(&basis, &list[5..]),
        &values,
        |x| (x + alpha(x) * basis.product()).into(),
    );
}

#[test]
fn cox_rower_keeps_to_its_range() {
    let list = moduli(60, 60, 20, 4);
    let near_top = primes::ntt_primes(60, 10, 17).unwrap();
    let near_top: Vec<Modulus> = near_top
        .into_iter()
        .map(|q| Modulus::new(q).unwrap())
        .collect();
    let basis = RnsBasis::new(near_top).unwrap();
    for precision in [60, 30, 12, 6] {
        let rower = Kawamura::new(&basis, &list[..2], precision).unwrap();
        let (bound, q) = (rower.input_bound(), basis.product());
        assert!(bound < q && bound * 4u32 > *q);
        // Below the bound the result is exact. Above it the result is A or A - Q, and for A = Q - 1 it is A - Q.
        let inside = [BigUint::ZERO, bound / 2u32, bound - 1u32];
        check("Kawamura", &rower, &inside, |x| x.clone().into());
        check("Kawamura", &rower, &[q - 1u32], |_| BigInt::from(-1));
    }
    // With 4 bits, truncation alone costs nearly 17 / 2^4 > 1, which leaves no range.
    assert!(matches!(
        Kawamura::new(&basis, &list[..2], 4),
        Err(MathError::CoxRowerRange {
            precision: 4,
            terms: 17,
            ..
        })
    ));
    for precision in [0, 61] {
        assert!(matches!(
            Kawamura::new(&basis, &list[..2], precision),
            Err(MathError::OutOfRange { .. })
        ));
    }
    // One modulus is much smaller than the others.
    let mixed = RnsBasis::new(vec![
        basis.moduli()[0],
        moduli(59, 59, 1, 2)[0],
        moduli(40, 40, 1, 2)[0],
    ])
    .unwrap();
    assert!(Kawamura::new(&mixed, &list[..2], 60).is_err());
}

#[test]
fn bad_shapes_are_refused() {
    let list = moduli(50, 50, 66, 9);
    let basis = RnsBasis::new(list[..3].to_vec()).unwrap();
    let to = &list[4..6];
    // The redundant modulus is too small, a factor of Q, or shares a factor with Q. The last one is right.
    let q = |x| Modulus::new(x).unwrap();
    assert!(ShenoyKumaresan::new(&basis, q(3), to).is_err());
    assert!(ShenoyKumaresan::new(&basis, list[1], to).is_err());
    assert!(ShenoyKumaresan::new(&RnsBasis::new(vec![q(15)]).unwrap(), q(21), to).is_err());
    assert!(ShenoyKumaresan::new(&basis, q(4), to).is_ok());
    let many = RnsBasis::new(list[..65].to_vec()).unwrap();
    assert!(best_exact(&many, to).is_err());
    assert!(MixedRadix::new(&many, to, Representative::NonNegative).is_err());
    assert!(Kawamura::new(&many, to, 50).is_err());
    assert!(ShenoyKumaresan::new(&many, list[65], to).is_err());

    let extension = best_exact(&basis, to).unwrap();
    let mut scratch = vec![0; extension.scratch_len()];
    let (a, mut b, mut c) = ([1u64; 4], [0u64; 4], [0u64; 4]);
    let mut run = |input: &[&[u64]], output: &mut [&mut [u64]], words: usize| {
        extension.convert(input, output, &mut scratch[..words])
    };
    let words = extension.scratch_len();
    assert!(run(&[&a, &a, &a], &mut [&mut b, &mut c], words).is_ok());
    assert!(run(&[&a, &a], &mut [&mut b, &mut c], words).is_err());
    assert!(run(&[&a, &a, &a], &mut [&mut b], words).is_err());
    assert!(run(&[&a, &a, &a[..3]], &mut [&mut b, &mut c], words).is_err());
    assert!(run(&[&a, &a, &a], &mut [&mut b, &mut c[..3]], words).is_err());
    assert!(run(&[&a, &a, &a], &mut [&mut b, &mut c], words - 1).is_err());
}

#[test]
fn inputs_that_are_no_residues_do_no_harm() {
    let list = moduli(30, 61, 12, 8);
    let basis = RnsBasis::new(list[..6].to_vec()).unwrap();
    let methods: [Box<dyn BaseExtension>; 5] = [
        Box::new(best_exact(&basis, &list[7..]).unwrap()),
        Box::new(FixedPoint::new(&basis, &list[7..], Representative::Centred).unwrap()),
        Box::new(MixedRadix::new(&basis, &list[7..], Representative::Centred).unwrap()),
        Box::new(ShenoyKumaresan::new(&basis, list[6], &list[7..]).unwrap()),
        Box::new(BaseConverter::new(&basis, &list[7..])),
    ];
    common::on_every_backend(|_| {
        for method in &methods {
            for word in [!0u64, 1 << 63, (1 << 63) + 1, 1 << 52, 1 << 61] {
                let limb = [word; 21];
                let input = vec![limb.as_slice(); method.source().len()];
                let mut output = vec![[0; 21]; method.target().len()];
                let mut slices: Vec<&mut [u64]> =
                    output.iter_mut().map(|o| o.as_mut_slice()).collect();
                let mut scratch = vec![!0; method.scratch_len()];
                method.convert(&input, &mut slices, &mut scratch).unwrap();
            }
        }
    });
}

/// An inconsistent redundant residue has a defined result too: the integer S - alpha Q with all these residues, for an
/// alpha in [0, m).
#[test]
fn any_redundant_residue_has_its_integer() {
    let list = moduli(40, 60, 8, 11);
    let basis = RnsBasis::new(list[..5].to_vec()).unwrap();
    let to = Targets {
        moduli: &list[5..7],
        words: &[WordModulus::new(64).unwrap()],
    };
    for redundant in [7, 64, (1 << 61) - 1].map(|m| Modulus::new(m).unwrap()) {
        let extension = ShenoyKumaresan::new(&basis, redundant, to).unwrap();
        let values = adversarial(&basis);
        let m = BigUint::from(redundant.value());
        for (shift, at) in [(0u64, 0usize), (1, 1), (redundant.value() / 2, 2), (3, 3)] {
            // Returns S - alpha Q, where alpha is `shift` + `at` more than for the integer in [0, Q), modulo m.
            let stands_for = |x: &BigUint| {
                let products = basis.punctured_products().iter();
                let weights = basis
                    .moduli()
                    .iter()
                    .zip(basis.inverse_punctured_products());
                let sum: BigUint = weights
                    .zip(products)
                    .map(|((q, w), p)| p * (x * w % q.value()))
                    .sum();
                let alpha = (sum.clone() / basis.product() + shift + at) % &m;
                BigInt::from(sum) - BigInt::from(alpha * basis.product())
            };
            check("Shenoy-Kumaresan", &extension, &values, stands_for);
        }
    }
}
