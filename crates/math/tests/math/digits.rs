// SPDX-License-Identifier: Apache-2.0
//! Tests polynomials and plans for functions of digits against their definitions on integers.

use crate::common::numbers;
use ringmill_math::digits::*;
use ringmill_math::{Modulus, primes};

/// Returns the lowest balanced digit of x modulo p.
fn digit(p: u64, x: u64) -> i64 {
    let d = (x % p) as i64;
    if d > p as i64 / 2 { d - p as i64 } else { d }
}

/// Returns the value of a polynomial at x modulo q, by Horner's rule.
fn horner(q: Modulus, polynomial: &[i64], x: u64) -> u64 {
    let step = |sum, &c: &i64| q.add(q.mul(sum, x), q.from_i64(c));
    polynomial.iter().rev().fold(0, step)
}

/// Returns all x modulo p^e whose lowest digit is within the bound, or 2,000 random ones if p^e is
/// 30,000 or more.
fn inputs(low: &LowDigit, p: u64) -> Vec<u64> {
    let q = low.modulus().value();
    let fits = |x: &u64| digit(p, *x).unsigned_abs() <= low.bound();
    if q < 30_000 {
        (0..q).filter(fits).collect()
    } else {
        numbers(q).map(|x| x % q).filter(fits).take(2_000).collect()
    }
}

const SHAPES: [(u64, u32); 16] = [
    (3, 1),
    (3, 2),
    (3, 4),
    (3, 7),
    (5, 2),
    (5, 3),
    (5, 6),
    (7, 2),
    (7, 3),
    (11, 4),
    (17, 2),
    (17, 3),
    (31, 2),
    (127, 2),
    (127, 4),
    (257, 2),
];

#[test]
fn the_lowest_digit_is_kept_and_removed() {
    for (p, exponent) in SHAPES {
        let half = (p - 1) / 2;
        for bound in [0, 1, 2, 3, half / 2, half - half.min(1), half] {
            let bound = bound.min(half);
            let low = LowDigit::new(p, exponent, bound).unwrap();
            let q = low.modulus();
            let (retain, remove) = (low.retain().unwrap(), low.remove().unwrap());
            let plan = low.plan(PlanCosts::default()).unwrap();
            for x in inputs(&low, p) {
                let d = q.from_i64(digit(p, x));
                assert_eq!(horner(q, &retain, x), d, "{p}^{exponent}, {bound}: {x}");
                assert_eq!(horner(q, &remove, x), q.sub(x, d));
                assert_eq!(plan.evaluate(q, &[x]).unwrap(), q.sub(x, d));
            }
            let degree = retain.len() as u64 - 1;
            assert!(degree < (u64::from(exponent) * (2 * bound + 1)).max(2));
            if bound == half {
                // The bound of Chen and Han.
                assert!(
                    degree <= (u64::from(exponent) - 1) * (p - 1) + 1,
                    "{p}^{exponent} {degree}"
                );
            }
            assert!(retain.iter().step_by(2).all(|&c| c == 0), "not odd");
        }
    }
}

#[test]
fn any_function_of_the_digit_has_values_modulo_all_of_p_e() {
    for (p, exponent) in SHAPES {
        for bound in [0, 1, (p - 1) / 4, (p - 1) / 2] {
            let low = LowDigit::new(p, exponent, bound).unwrap();
            let q = low.modulus();
            let count = 2 * bound as usize + 1;
            let random: Vec<u64> = numbers(p ^ bound)
                .take(count)
                .map(|x| x % q.value())
                .collect();
            let even: Vec<u64> = (0..count).map(|i| random[i.min(count - 1 - i)]).collect();
            for (values, parity) in [(random, None), (even, Some(0))] {
                let polynomial = low.function(&values).unwrap();
                assert!(polynomial.len() as u64 <= u64::from(exponent) * count as u64);
                if let Some(parity) = parity {
                    assert!(
                        polynomial
                            .iter()
                            .enumerate()
                            .all(|(k, &c)| k % 2 == parity || c == 0)
                    );
                }
                let plan = low.function_plan(&values, PlanCosts::default()).unwrap();
                for x in inputs(&low, p).into_iter().take(3_000) {
                    let expected = values[(digit(p, x) + bound as i64) as usize];
                    assert_eq!(
                        horner(q, &polynomial, x),
                        expected,
                        "{p}^{exponent} {bound} {x}"
                    );
                    assert_eq!(plan.evaluate(q, &[x]).unwrap(), expected);
                }
            }
            assert!(low.function(&vec![0; count + 1]).is_err());
            assert!(low.function(&vec![q.value(); count]).is_err());
        }
    }
}

#[test]
fn halevi_and_shoup_remove_the_same_digit() {
    for (p, exponent) in SHAPES {
        let low = LowDigit::any(p, exponent).unwrap();
        let q = low.modulus();
        let plan = low.halevi_shoup_plan(PlanCosts::default()).unwrap();
        for x in inputs(&low, p) {
            let expected = q.sub(x, q.from_i64(digit(p, x)));
            assert_eq!(
                plan.evaluate(q, &[x]).unwrap(),
                expected,
                "{p}^{exponent} {x}"
            );
        }
    }
}

#[test]
fn numbers_are_rounded_to_what_the_message_is() {
    for (p, exponent, digits) in [
        (3u64, 4u32, 1u32),
        (3, 4, 2),
        (3, 6, 4),
        (5, 4, 2),
        (7, 3, 2),
        (7, 4, 1),
        (11, 3, 1),
        (17, 3, 2),
        (127, 4, 1),
        (127, 4, 3),
        (257, 3, 1),
    ] {
        let q = p.pow(exponent);
        let max = (p.pow(digits) - 1) / 2;
        for noise in [0, 1, 2, max / 3, max] {
            let noise = noise.min(max);
            let removal =
                DigitRemoval::new(p, exponent, digits, noise, PlanCosts::default()).unwrap();
            assert_eq!(removal.rounds().len() as u32, digits);
            let left = p.pow(exponent - digits);
            let pairs = numbers(noise).zip(numbers(!noise)).take(500);
            for (m, r) in pairs {
                let (m, r) = (m % left, (r % (2 * noise + 1)) as i64 - noise as i64);
                let x = (i128::from(m * p.pow(digits)) + i128::from(r)).rem_euclid(i128::from(q))
                    as u64;
                assert_eq!(
                    removal.evaluate(x).unwrap(),
                    m,
                    "{p}^{exponent} {digits} {noise} {r}"
                );
            }
        }
    }
}

#[test]
fn any_table_is_a_polynomial() {
    for p in [3u64, 5, 7, 13, 31, 127, 257] {
        let q = Modulus::new(p).unwrap();
        let random: Vec<u64> = numbers(p).take(p as usize).map(|x| x % p).collect();
        let square: Vec<u64> = (0..p).map(|x| x * x % p).collect();
        for table in [
            random,
            square,
            sign_table(p),
            vec![0; p as usize],
            vec![p - 1; p as usize],
        ] {
            let polynomial = table_polynomial(p, &table).unwrap();
            assert!(polynomial.len() as u64 <= p);
            let plan = table_plan(p, &table, PlanCosts::default()).unwrap();
            for x in 0..p {
                assert_eq!(horner(q, &polynomial, x), table[x as usize]);
                assert_eq!(
                    plan.evaluate(q, &[x]).unwrap(),
                    table[x as usize],
                    "{p} {x}"
                );
            }
        }
        let sign = table_polynomial(p, &sign_table(p)).unwrap();
        assert!((sign.len() as u64) < p && sign.iter().step_by(2).all(|&c| c == 0));
    }
}

#[test]
fn signs_of_digits_make_the_sign_of_a_number() {
    let (p, count) = (5u64, 4u32);
    let q = Modulus::new(p).unwrap();
    let plan = combine_signs_plan(count);
    for x in -312i64..=312 {
        let mut rest = x;
        let signs: Vec<u64> = (0..count)
            .map(|_| {
                let d = digit(p, rest.rem_euclid(p as i64) as u64);
                rest = (rest - d) / p as i64;
                q.from_i64(d.signum())
            })
            .collect();
        assert_eq!(
            plan.evaluate(q, &signs).unwrap(),
            q.from_i64(x.signum()),
            "{x}"
        );
    }
    assert_eq!(combine_signs_plan(1).evaluate(q, &[3]).unwrap(), 3);
}

/// Returns the degree of the polynomial that removes the lowest digit. With it come the key
/// switches, the products and the depth of its plan.
fn plan_of(p: u64, exponent: u32, bound: u64) -> (usize, (usize, usize, usize)) {
    let low = LowDigit::new(p, exponent, bound).unwrap();
    let count = low.plan(PlanCosts::default()).unwrap().count();
    let counts = (count.key_switches, count.products, count.depth);
    (low.remove().unwrap().len() - 1, counts)
}

#[test]
#[ignore = "degree 8191 takes seconds; `make full` runs it"]
fn a_digit_of_8191_is_as_short_as_the_page_says() {
    assert_eq!(plan_of(8191, 2, 4095), (8191, (72, 167, 15)));
}

/// Checks the figures of the table in docs/bgv.md. A row has p, e, the bound of the digit, the
/// degree, then the key switches, products and depth.
#[test]
fn plans_are_as_short_as_the_page_says() {
    for (p, exponent, bound, degree, wanted) in [
        (127, 4, 63, 379, (22, 39, 9)),
        (127, 4, 31, 187, (17, 34, 8)),
        (127, 4, 20, 127, (17, 24, 7)),
        (127, 4, 16, 127, (17, 24, 7)),
        (127, 4, 15, 123, (16, 38, 7)),
        (127, 2, 63, 127, (17, 24, 7)),
        (127, 2, 15, 61, (12, 15, 6)),
        (8191, 2, 20, 81, (13, 28, 7)),
        (65537, 2, 20, 81, (13, 28, 7)),
    ] {
        assert_eq!(plan_of(p, exponent, bound), (degree, wanted));
    }
    let all = LowDigit::any(127, 4).unwrap();
    let paper = all.halevi_shoup_plan(PlanCosts::default()).unwrap().count();
    assert_eq!(
        (paper.key_switches, paper.products, paper.depth),
        (51, 72, 21)
    );
    let few = PlanCosts {
        key_switch: 1,
        depth: 0,
    };
    let fewest = all.plan(few).unwrap().count();
    assert_eq!(
        (fewest.key_switches, fewest.products, fewest.depth),
        (20, 43, 11)
    );
    let any: Vec<u64> = numbers(1).take(127).map(|x| x % 127).collect();
    for (table, degree, wanted) in [(any, 126, (18, 25, 7)), (sign_table(127), 125, (17, 24, 7))] {
        assert_eq!(table_polynomial(127, &table).unwrap().len() - 1, degree);
        let count = table_plan(127, &table, PlanCosts::default()).unwrap();
        let count = count.count();
        assert_eq!((count.key_switches, count.products, count.depth), wanted);
    }
}

#[test]
fn plans_are_well_formed_and_the_same_each_time() {
    for (p, exponent) in [(7, 3), (127, 4)] {
        let low = LowDigit::any(p, exponent).unwrap();
        let plan = low.plan(PlanCosts::default()).unwrap();
        assert_eq!(plan, low.plan(PlanCosts::default()).unwrap());
        for (i, step) in plan.steps().iter().enumerate() {
            let used = step
                .products
                .iter()
                .flatten()
                .chain(step.linear.iter().map(|(_, v)| v));
            assert!(used.into_iter().all(|v| v.index() < plan.inputs() + i));
            assert!(
                step.linear
                    .iter()
                    .all(|&(c, _)| c != 0 && c.unsigned_abs() <= low.modulus().value() / 2)
            );
        }
        assert_eq!(
            plan.output().index(),
            plan.inputs() + plan.steps().len() - 1
        );
    }
}

/// Evaluates the plan at x so that its output comes out times `factor`. It scales values as
/// [`Plan::scalable`] allows.
fn scaled(q: Modulus, plan: &Plan, factor: u64, x: u64) -> u64 {
    let scalable = plan.scalable();
    let mut factors = vec![1; plan.inputs() + plan.steps().len()];
    factors[plan.output().index()] = factor;
    let mut uses = vec![0; factors.len()];
    for (i, step) in plan.steps().iter().enumerate().rev() {
        let own = factors[plan.inputs() + i];
        for pair in &step.products {
            if let Some(v) = pair.iter().find(|v| scalable[v.index()]) {
                factors[v.index()] = own;
                uses[v.index()] += 1;
            } else {
                assert_eq!(own, 1, "a power is asked to be scaled");
            }
        }
    }
    assert!(uses.iter().all(|&n| n <= 1));
    let mut values = vec![x];
    for (step, &f) in plan.steps().iter().zip(&factors[1..]) {
        let products = step
            .products
            .iter()
            .map(|[a, b]| q.mul(values[a.index()], values[b.index()]));
        let linear = step
            .linear
            .iter()
            .map(|&(c, v)| q.mul(q.mul(q.from_i64(c), f), values[v.index()]));
        let constant = q.mul(q.from_i64(step.constant), f);
        let sum = products.chain(linear).fold(constant, |a, b| q.add(a, b));
        values.push(sum);
    }
    values[plan.output().index()]
}

#[test]
fn plans_give_their_output_times_any_factor() {
    for (p, exponent, bound) in [
        (5, 2, 2),
        (7, 3, 1),
        (31, 2, 15),
        (127, 4, 63),
        (127, 4, 16),
        (8191, 2, 20),
    ] {
        let low = LowDigit::new(p, exponent, bound).unwrap();
        let q = low.modulus();
        let plan = low.plan(PlanCosts::default()).unwrap();
        assert!(plan.scalable()[plan.output().index()]);
        for (x, factor) in inputs(&low, p).into_iter().zip(numbers(3)).take(100) {
            let expected = q.mul(q.reduce(factor), plan.evaluate(q, &[x]).unwrap());
            assert_eq!(scaled(q, &plan, q.reduce(factor), x), expected);
        }
    }
    let table: Vec<u64> = (0..127).map(|x| x * x % 127).collect();
    let plan = table_plan(127, &table, PlanCosts::default()).unwrap();
    assert_eq!(
        scaled(Modulus::new(127).unwrap(), &plan, 5, 7),
        5 * 49 % 127
    );
}

#[test]
fn what_is_no_digit_is_refused() {
    for (p, exponent) in [
        (0, 1),
        (1, 1),
        (2, 3),
        (9, 2),
        (127, 0),
        (127, 9),
        (u64::MAX, 1),
    ] {
        assert!(
            matches!(LowDigit::any(p, exponent), Err(DigitError::Power { .. })),
            "{p} {exponent}"
        );
        assert!(DigitRemoval::new(p, exponent, 1, 0, PlanCosts::default()).is_err());
    }
    assert!(matches!(
        LowDigit::new(127, 2, 64),
        Err(DigitError::Bound { max: 63, .. })
    ));
    let large = (1 << 59) - 55;
    assert!(matches!(
        LowDigit::any(large, 1),
        Err(DigitError::TooLong { .. })
    ));
    assert!(matches!(
        LowDigit::new(large, 1, 1 << 40),
        Err(DigitError::Bound { .. })
    ));
    assert!(matches!(
        table_polynomial(large, &[]),
        Err(DigitError::TooLong { .. })
    ));
    assert_eq!(
        LowDigit::new(large, 1, 3).unwrap().retain().unwrap().len(),
        2
    );
    let removal = |digits, noise| DigitRemoval::new(127, 4, digits, noise, PlanCosts::default());
    assert!(matches!(
        removal(4, 0),
        Err(DigitError::TooManyDigits { .. })
    ));
    assert!(matches!(
        removal(u32::MAX, 0),
        Err(DigitError::TooManyDigits { .. })
    ));
    assert!(matches!(
        removal(1, 64),
        Err(DigitError::Noise { max: 63, .. })
    ));
    assert!(matches!(
        table_polynomial(7, &[0; 6]),
        Err(DigitError::Table { .. })
    ));
    assert!(matches!(
        table_polynomial(7, &[7; 7]),
        Err(DigitError::Residue { .. })
    ));
    assert!(matches!(
        table_polynomial(8, &[0; 8]),
        Err(DigitError::Power { .. })
    ));
    let plan = LowDigit::any(7, 2)
        .unwrap()
        .plan(PlanCosts::default())
        .unwrap();
    assert!(matches!(
        plan.evaluate(Modulus::new(49).unwrap(), &[]),
        Err(DigitError::Inputs { .. })
    ));
    assert!(primes::is_prime(127));
}

/// The polynomial on all digits modulo 8191 removes digits, and its plan has the counts that the
/// page states.
#[test]
#[ignore = "15 s: polynomials on all digits modulo 8191"]
fn all_digits_of_a_large_prime_are_removed() {
    let low = LowDigit::any(8191, 2).unwrap();
    let q = low.modulus();
    let plan = low.plan(PlanCosts::default()).unwrap();
    let count = plan.count();
    assert_eq!(
        (count.key_switches, count.products, count.depth),
        (72, 167, 15)
    );
    for x in numbers(1).map(|x| x % q.value()).take(1000) {
        let expected = q.sub(x, q.from_i64(digit(8191, x)));
        assert_eq!(plan.evaluate(q, &[x]).unwrap(), expected);
    }
}

/// All methods round numbers p^v m + r, with r within the planned noise, to the same m.
#[test]
fn every_method_leaves_the_same() {
    for (p, exponent, digits, noise) in [
        (3u64, 4, 2, 3),
        (5, 3, 1, 2),
        (5, 4, 2, 7),
        (7, 3, 2, 20),
        (17, 3, 1, 5),
        (127, 2, 1, 18),
    ] {
        let by = |method| {
            DigitRemoval::by(method, p, exponent, digits, noise, PlanCosts::default()).unwrap()
        };
        let methods = [Method::OfNoise, Method::AllDigits, Method::HaleviShoup].map(by);
        let (q, step) = (p.pow(exponent), p.pow(digits));
        for m in 0..q / step {
            for r in -(noise as i64)..=noise as i64 {
                let x = (step * m + q).wrapping_add_signed(r) % q;
                for method in &methods {
                    assert_eq!(method.evaluate(x).unwrap(), m, "{p}^{exponent} {m} {r}");
                }
            }
        }
        let [ours, all, again] = methods.map(|method| method.count().depth);
        assert!(
            ours <= all && all <= again,
            "{p}^{exponent}: {ours}, {all}, {again}"
        );
    }
}
