// SPDX-License-Identifier: Apache-2.0
//! Tests the models of modular multiplication against big integers: on all inputs at small widths, at the edges of
//! their ranges, and at random.

use crate::common;

use num_bigint::BigUint;
use proptest::prelude::*;
use ringmill_math::modmul::{
    Barrett, Montgomery, MontgomeryFriendly32, PARAMETER_SETS, Reduction, ShoupMultiplier,
    Solinas52, SparsePseudoMersenne, SparseTerm, WordMontgomery,
};
use ringmill_math::{Modulus, primes};

fn modulus(q: u64) -> Modulus {
    Modulus::new(q).unwrap()
}

/// Checks that x reduces to x * factor mod q. [`check_factor`] checks the factor itself.
fn check(reduction: &impl Reduction, x: u128) {
    let q = reduction.modulus().value();
    let expected = BigUint::from(x) * reduction.factor() % q;
    assert_eq!(
        BigUint::from(reduction.reduce(x)),
        expected,
        "x = {x}, q = {q}"
    );
}

/// Checks that factor * 2^`shift` is 1 mod q, and that the limit is above (q - 1)^2.
fn check_factor(reduction: &impl Reduction, shift: u32) {
    let q = reduction.modulus().value();
    let one = (BigUint::from(reduction.factor()) << shift) % q;
    assert_eq!(one, BigUint::from(1u32), "q = {q}");
    assert!(reduction.limit() > u128::from(q - 1) * u128::from(q - 1));
}

/// Checks products of residues at the edges. Then it reduces numbers at the ends of the range, next to multiples of q
/// and powers of two, and random ones.
fn check_range(reduction: &impl Reduction, seed: u64) {
    let q = reduction.modulus().value();
    let limit = reduction.limit();
    let edges = [0, 1, 2, q / 2, q / 2 + 1, q - 2, q - 1].map(|x| x.min(q - 1));
    for a in edges {
        for b in edges {
            let product = BigUint::from(a) * b * reduction.factor() % q;
            assert_eq!(BigUint::from(reduction.mul(a, b)), product);
        }
    }
    let mut numbers = common::numbers(seed);
    let mut wide =
        || u128::from(numbers.next().unwrap()) << 64 | u128::from(numbers.next().unwrap());
    let mut centres = vec![0, limit - 1];
    centres.extend((0..128).map(|e| 1u128 << e));
    centres.extend((0..200).map(|_| wide() % limit / u128::from(q) * u128::from(q)));
    centres.extend((0..1000).map(|i| (wide() >> (i % 120)) % limit));
    for centre in centres {
        for x in [centre.saturating_sub(1), centre, centre.saturating_add(1)] {
            if x < limit {
                check(reduction, x);
            }
        }
    }
}

/// Checks the reduction of every x below the limit.
fn check_all(reduction: &impl Reduction) {
    (0..reduction.limit()).for_each(|x| check(reduction, x));
}

fn sparse(top: u32, terms: &[i32]) -> Result<SparsePseudoMersenne, ringmill_math::MathError> {
    let terms: Vec<SparseTerm> = terms
        .iter()
        .map(|t| SparseTerm {
            exponent: t.unsigned_abs(),
            negative: *t < 0,
        })
        .collect();
    SparsePseudoMersenne::new(top, &terms)
}

#[test]
fn barrett() {
    for q in 2..=130 {
        check_all(&Barrett::new(modulus(q)));
    }
    for (i, q) in common::any_moduli().into_iter().enumerate() {
        check_range(&Barrett::new(q), i as u64);
    }
}

#[test]
fn shoup() {
    for q in 2..=40u64 {
        let bits = modulus(q).bits();
        for w in 0..q {
            for width in bits..=bits + 2 {
                let multiplier = ShoupMultiplier::new(modulus(q), w, width).unwrap();
                for x in 0..1u64 << width {
                    assert_eq!(multiplier.mul(x), x * w % q);
                }
            }
        }
    }
    assert!(ShoupMultiplier::new(modulus(17), 17, 8).is_err());
    assert!(ShoupMultiplier::new(modulus(17), 16, 4).is_err());
    assert!(ShoupMultiplier::new(modulus(17), 16, 65).is_err());
    for q in common::any_moduli() {
        let q64 = q.value();
        for w in [0, 1 % q64, q64 / 2, q64 - 1] {
            for width in [q.bits(), q.bits().midpoint(64), 64] {
                let multiplier = ShoupMultiplier::new(q, w, width).unwrap();
                let largest = u64::MAX >> (64 - width);
                for x in common::numbers(w).take(300).map(|x| x & largest).chain([
                    0,
                    1,
                    q64 - 1,
                    largest,
                ]) {
                    let stages = multiplier.stages(x);
                    let exact = u128::from(x) * u128::from(w);
                    let estimate = u128::from(stages.quotient);
                    assert!(
                        estimate <= exact / u128::from(q64)
                            && exact / u128::from(q64) <= estimate + 1
                    );
                    assert_eq!(
                        u128::from(stages.remainder),
                        exact - estimate * u128::from(q64)
                    );
                    assert_eq!(u128::from(stages.result), exact % u128::from(q64));
                    // The CPU's constant is the 64-bit case.
                    if width == 64 {
                        assert_eq!(multiplier.quotient(), q.shoup(w).quotient);
                    }
                }
            }
        }
    }
}

#[test]
fn montgomery() {
    for q in (3..200).step_by(2) {
        let reduction = Montgomery::new(modulus(q)).unwrap();
        check_factor(&reduction, 64);
        check_range(&reduction, q);
        for a in 0..q {
            assert_eq!(reduction.from_form(reduction.to_form(a)), a);
            for b in 0..q {
                let product = reduction.mul(reduction.to_form(a), reduction.to_form(b));
                assert_eq!(reduction.from_form(product), a * b % q);
            }
        }
    }
    assert!(Montgomery::new(modulus(4)).is_err());
    for (i, q) in common::moduli().into_iter().enumerate() {
        let reduction = Montgomery::new(q).unwrap();
        assert_eq!(reduction.minus_inverse().wrapping_mul(q.value()), u64::MAX);
        check_factor(&reduction, 64);
        check_range(&reduction, i as u64);
    }
}

#[test]
fn word_montgomery_exhaustive() {
    // All moduli of up to 8 bits, with all word sizes that they allow, also with one iteration more than needed.
    for w in 1..=6 {
        for q in ((1 << w) + 1..256u64).step_by(1 << w) {
            let least = modulus(q).bits().div_ceil(w);
            for iterations in least..=least + 1 {
                let reduction = WordMontgomery::with_iterations(modulus(q), w, iterations).unwrap();
                check_factor(&reduction, w * iterations);
                if reduction.limit() < 1 << 15 {
                    check_all(&reduction);
                } else {
                    (0..q).for_each(|a| (0..q).for_each(|b| check(&reduction, u128::from(a * b))));
                    check(&reduction, reduction.limit() - 1);
                }
            }
        }
    }
}

#[test]
fn word_montgomery_table_1() {
    // Ring degree n, then the least K less one and the largest K, as the paper prints them.
    let printed = [
        (256, 9, 18),
        (512, 10, 20),
        (1024, 11, 22),
        (1024, 22, 33),
        (2048, 24, 36),
        (4096, 26, 39),
    ];
    for ((n, above, up_to), set) in printed.into_iter().zip(&PARAMETER_SETS) {
        assert_eq!((1 << set.log_n, 1u32 << set.word_bits), (n, 2 * n));
        assert_eq!(set.modulus_bits, above + 1..=up_to);
        for bits in set.modulus_bits.clone() {
            // The smallest sizes have no prime that is 1 mod 2n, but the reduction takes any such number.
            let step = 1u64 << set.word_bits;
            let largest = ((1u64 << bits) - 2) / step * step + 1;
            let mut moduli = vec![largest];
            moduli.extend(primes::ntt_primes(bits, set.log_n, 1).unwrap_or_default());
            for q in moduli.into_iter().filter(|q| modulus(*q).bits() == bits) {
                let reduction = WordMontgomery::new(modulus(q), set.word_bits).unwrap();
                assert_eq!(reduction.iterations(), set.iterations);
                check_factor(&reduction, set.word_bits * set.iterations);
                check_range(&reduction, q);
                for a in [0, 1, q - 1] {
                    assert_eq!(reduction.from_form(reduction.to_form(a)), a);
                }
            }
        }
    }
}

#[test]
fn word_montgomery_steps_and_refusals() {
    let q = primes::ntt_primes(39, 12, 1).unwrap()[0];
    let reduction = WordMontgomery::new(modulus(q), 13).unwrap();
    assert_eq!(u64::from(reduction.iterations()), 3);
    let c = u128::from(q - 1) * u128::from(q - 1);
    // The last number has low words of 0, for which the carry must be 0.
    for c in [
        c,
        1,
        0,
        1 << 13,
        u128::from(q) << 39,
        (u128::from(q) << 39) - 1,
    ] {
        let mut t1 = c;
        for step in reduction.steps(c) {
            assert_eq!(step.carry, t1 % (1 << 13) != 0);
            assert_eq!(u128::from(step.t1_low) + (step.t1_high << 13), t1);
            assert_eq!(step.t1 << 13, t1 + u128::from(step.t2) * u128::from(q));
            t1 = step.t1;
        }
        assert!(t1 <= 2 * u128::from(q));
    }
    assert!(WordMontgomery::new(modulus(q), 0).is_err());
    assert!(WordMontgomery::new(modulus(q), (q - 1).trailing_zeros() + 1).is_err());
    assert!(WordMontgomery::new(modulus(16), 1).is_err());
    assert!(WordMontgomery::with_iterations(modulus(q), 13, 2).is_err());
    assert!(WordMontgomery::with_iterations(modulus(q), 13, 5).is_err());
    assert!(WordMontgomery::with_iterations(modulus(q), 13, u32::MAX).is_err());
}

#[test]
fn solinas() {
    let reduction = Solinas52::new(modulus(Solinas52::P)).unwrap();
    assert!(primes::is_prime(Solinas52::P));
    assert!(Solinas52::new(modulus(97)).is_err());
    check_range(&reduction, 5);
    let p = u128::from(Solinas52::P);
    // All combinations of extreme bit fields a, b and c, and numbers next to those for which v' passes 0, p, 2p and
    // 3p.
    let ends = |bits: u32| {
        [
            0,
            1,
            2,
            3,
            (1 << (bits - 1)) - 1,
            1 << (bits - 1),
            (1 << bits) - 3,
            (1 << bits) - 2,
            (1u128 << bits) - 1,
        ]
    };
    let mut sums = (u64::MAX, 0);
    for a in ends(12) {
        for b in ends(40) {
            for c in ends(52).into_iter().chain([p - 1, p, p + 1]) {
                let x = a << 92 | b << 52 | c;
                let stages = reduction.stages(x);
                assert_eq!(u128::from(stages.result), x % p);
                assert_eq!(u128::from(stages.sum) % p, x % p);
                sums = (sums.0.min(stages.sum), sums.1.max(stages.sum));
            }
        }
    }
    // The sum v' goes from near 0 to near 3p, so that one subtraction does not suffice.
    assert!(sums.0 > 0 && sums.0 < 1 << 41);
    assert!(sums.1 > 2 * Solinas52::P && sums.1 < 3 * Solinas52::P);
    // For v' = p, the comparison v' > p that the paper prints gives p instead of 0.
    assert_eq!(reduction.stages(0).sum, Solinas52::P);
    assert_eq!(reduction.reduce(0), 0);
}

#[test]
fn sparse_exhaustive() {
    let mut seen = 0;
    for top in 3..=7 {
        for b in 1..top {
            for c in 0..b {
                for signs in 0..4 {
                    let sign = |bit: i32, e: i32| if signs >> bit & 1 == 1 { -e } else { e };
                    let terms = [sign(0, b), sign(1, c)];
                    let terms = if c == 0 { &terms[..1] } else { &terms[..] };
                    if let Ok(reduction) = sparse(top as u32, terms) {
                        let rest: i64 =
                            terms.iter().map(|t| i64::from(t.signum()) << t.abs()).sum();
                        assert_eq!(reduction.modulus().value() as i64, (1 << top) + rest + 1);
                        check_all(&reduction);
                        seen += 1;
                    }
                }
            }
        }
        check_all(&sparse(top as u32, &[]).unwrap());
    }
    assert!(seen > 60, "only {seen} moduli fold");
}

#[test]
fn sparse_of_the_ring_paper() {
    let reduction = sparse(59, &[25, 22, -20]).unwrap();
    assert_eq!(
        reduction.modulus().value(),
        (1 << 59) + (1 << 25) + (1 << 22) - (1 << 20) + 1
    );
    assert_eq!(reduction.folds(), 2);
    check_range(&reduction, 1);
    let q = i128::from(reduction.modulus().value());
    for x in [
        0,
        reduction.limit() - 1,
        (q as u128 - 1) * (q as u128 - 1),
        1 << 59,
        (1 << 118) - 1,
    ] {
        for stage in reduction.stages(x) {
            assert_eq!((stage - x as i128).rem_euclid(q), 0);
        }
        let last = reduction.stages(x).last().unwrap();
        assert!((-q..2 * q).contains(&last));
    }
    // The primes that the ring machine draws on.
    for (bits, log_n, count) in [
        (60, 15, 6),
        (54, 15, 12),
        (54, 14, 12),
        (30, 10, 3),
        (61, 10, 3),
    ] {
        for prime in primes::sparse_primes(bits, log_n, count, &[]).unwrap() {
            let reduction = SparsePseudoMersenne::try_from(prime).unwrap();
            assert_eq!(reduction.modulus().value(), prime.value);
            check_range(&reduction, prime.value);
        }
    }
}

#[test]
fn sparse_refusals() {
    for (top, terms) in [
        (59, &[25, 25][..]),
        (59, &[25, 26]),
        (59, &[59]),
        (59, &[25, 0]),
        (61, &[25]),
        (0, &[]),
        (u32::MAX, &[1 << 30]),
        (5, &[-4, -3, -2, -1]),
        (40, &[39, 38]),
    ] {
        assert!(sparse(top, terms).is_err(), "{top} {terms:?}");
    }
}

#[test]
fn montgomery_friendly() {
    // All 2^15 - 1 moduli; the smallest, largest and a sample of the others over their ranges.
    for h in 1..1u64 << 15 {
        let reduction = MontgomeryFriendly32::new(modulus((h << 17) + 1)).unwrap();
        check_factor(&reduction, 32);
        check(&reduction, reduction.limit() - 1);
        check(&reduction, u128::from(h << 17) * u128::from(h << 17));
        if h < 5 || h % 1111 == 0 || h > (1 << 15) - 5 {
            check_range(&reduction, h);
            for x in common::numbers(h)
                .take(200)
                .map(|x| x % reduction.limit() as u64)
            {
                let (stages, q) = (reduction.stages(x), reduction.modulus().value());
                let wide = u128::from(x) + u128::from(stages.multiplier) * u128::from(q);
                assert_eq!(wide, u128::from(stages.sum) << 32);
                assert!(stages.sum < 2 * q);
            }
            assert_eq!(reduction.from_form(reduction.to_form(h)), h);
        }
    }
    // Numbers with low words from all of their range.
    let reduction = MontgomeryFriendly32::new(modulus(0xfffe_0001)).unwrap();
    for x in (0..1u64 << 32).step_by(4099) {
        check(&reduction, x.into());
    }
    for q in [65537, (1 << 33) + (1 << 17) + 1, (1 << 17) + 3, 1 << 17] {
        assert!(MontgomeryFriendly32::new(modulus(q)).is_err());
    }
    for q in primes::montgomery_friendly_primes(32, 17, 16, 10, &[]).unwrap() {
        check_range(&MontgomeryFriendly32::new(modulus(q)).unwrap(), q);
    }
}

#[test]
fn numbers_beyond_the_limit_do_no_harm() {
    fn run(reduction: &impl Reduction) {
        for x in [
            reduction.limit(),
            reduction.limit() + 1,
            u128::MAX,
            u128::MAX / 3,
            1 << 127,
        ] {
            let _ = reduction.reduce(x);
        }
        let _ = reduction.mul(u64::MAX, u64::MAX);
    }
    for q in [3, 131_073, (1 << 61) - 1, (1 << 60) + 1] {
        run(&Barrett::new(modulus(q)));
        run(&Montgomery::new(modulus(q)).unwrap());
        run(&WordMontgomery::new(modulus(q), 1).unwrap());
        let shoup = ShoupMultiplier::new(modulus(q), q - 1, modulus(q).bits()).unwrap();
        let _ = shoup.mul(u64::MAX);
    }
    run(&Solinas52::new(modulus(Solinas52::P)).unwrap());
    run(&sparse(59, &[25, 22, -20]).unwrap());
    run(&MontgomeryFriendly32::new(modulus(131_073)).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn all_flavours_agree(h in 1u64..1 << 15, a in any::<u64>(), b in any::<u64>()) {
        // A modulus that four of the models take.
        let q = modulus((h << 17) + 1);
        let (a, b) = (q.reduce(a), q.reduce(b));
        let product = u64::try_from(BigUint::from(a) * b % q.value()).unwrap();
        prop_assert_eq!(q.mul(a, b), product);
        prop_assert_eq!(Barrett::new(q).mul(a, b), product);
        prop_assert_eq!(ShoupMultiplier::new(q, b, 64).unwrap().mul(a), product);
        let montgomery = Montgomery::new(q).unwrap();
        prop_assert_eq!(montgomery.mul(montgomery.to_form(a), b), product);
        let word = WordMontgomery::new(q, 17).unwrap();
        prop_assert_eq!(word.mul(word.to_form(a), b), product);
        let friendly = MontgomeryFriendly32::new(q).unwrap();
        prop_assert_eq!(friendly.mul(friendly.to_form(a), b), product);
    }

    #[test]
    fn any_modulus_any_input(q in 2u64..1 << 61, high in any::<u64>(), low in any::<u64>()) {
        let q = modulus(q);
        let wide = u128::from(high) << 64 | u128::from(low);
        let barrett = Barrett::new(q);
        let x = wide % barrett.limit();
        let stages = barrett.stages(x);
        prop_assert!(stages.remainder < 3 * u128::from(q.value()));
        prop_assert!(stages.once < 2 * u128::from(q.value()));
        prop_assert_eq!(u128::from(stages.result), x % u128::from(q.value()));
        if let Ok(montgomery) = Montgomery::new(q) {
            check(&montgomery, wide % montgomery.limit());
        }
        if let Ok(word) = WordMontgomery::new(q, (q.value() - 1).trailing_zeros().clamp(1, 20)) {
            check(&word, wide % word.limit());
        }
    }
}
