// SPDX-License-Identifier: Apache-2.0
//! Tests primality and the searches for primes.

use ringmill_math::primes::{
    is_prime, montgomery_friendly_primes, ntt_primes, ntt_primes_excluding, primes_one_mod,
    seal_coeff_modulus, sparse_primes,
};

#[test]
fn primality_agrees_with_a_sieve_and_known_numbers() {
    let n = 100_000;
    let mut sieve = vec![true; n];
    sieve[0] = false;
    sieve[1] = false;
    for i in 2..n {
        if sieve[i] {
            for j in (i * i..n).step_by(i) {
                sieve[j] = false;
            }
        }
    }
    for (i, &prime) in sieve.iter().enumerate() {
        assert_eq!(is_prime(i as u64), prime, "{i}");
    }
    // Strong pseudoprimes to many bases, Carmichael numbers, and the largest primes below 2^63 and 2^64.
    for composite in [
        3_215_031_751,
        3_474_749_660_383,
        341_550_071_728_321,
        3_825_123_056_546_413_051,
        1_729,
        561,
    ] {
        assert!(!is_prime(composite));
    }
    for prime in [
        9_223_372_036_854_775_783,
        18_446_744_073_709_551_557,
        (1 << 61) - 1,
        (1 << 52) - (1 << 12) + 1,
    ] {
        assert!(is_prime(prime));
    }
}

#[test]
fn ntt_primes_are_all_of_them_largest_first() {
    for (bits, log_n) in [(20u32, 8u32), (24, 12), (30, 14)] {
        let step = 2u64 << log_n;
        let all: Vec<u64> = (1 << (bits - 1)..1u64 << bits)
            .rev()
            .filter(|q| q % step == 1 && is_prime(*q))
            .take(5)
            .collect();
        assert_eq!(ntt_primes(bits, log_n, 5).unwrap(), all);
        assert_eq!(
            ntt_primes_excluding(bits, log_n, 3, &all[..2]).unwrap(),
            all[2..5]
        );
    }
    assert!(ntt_primes(16, 15, 50).is_err());
    assert!(ntt_primes(62, 10, 1).is_err());
    assert!(ntt_primes(30, 99, 1).is_err());
    assert!(primes_one_mod(30, 0, 1, &[]).is_err());
    assert!(primes_one_mod(30, u64::MAX, 1, &[]).is_err());
}

#[test]
fn seal_hands_out_the_smallest_of_a_size_first() {
    // CoeffModulus::Create(8192, {60, 40, 40, 60}) of SEAL.
    let pool60 = ntt_primes(60, 13, 2).unwrap();
    let pool40 = ntt_primes(40, 13, 2).unwrap();
    let created = seal_coeff_modulus(13, &[60, 40, 40, 60]).unwrap();
    assert_eq!(created, [pool60[1], pool40[1], pool40[0], pool60[0]]);
    // The moduli that SEAL serialises for this call.
    assert_eq!(
        created,
        [
            0xfff_ffff_fffe_8001,
            0xff_fff4_c001,
            0xff_fffd_c001,
            0xfff_ffff_ffff_c001
        ]
    );
}

#[test]
fn sparse_primes_have_their_form() {
    let found = sparse_primes(60, 14, 400, &[]).unwrap();
    assert!(
        found.iter().any(|p| p.value == 576_460_752_340_123_649),
        "2^59 + 2^25 + 2^22 - 2^20 + 1"
    );
    let small = sparse_primes(54, 14, 7, &[]).unwrap();
    for p in found.iter().chain(&small) {
        let [a, b, c, d] = p.exponents;
        assert!(a > b && b > c && c > d && d >= 15);
        let signed = |plus, e: u32| if plus { 1i128 << e } else { -(1i128 << e) };
        let value = (1i128 << a) + (1i128 << b) + signed(p.signs[0], c) + signed(p.signs[1], d) + 1;
        assert_eq!(i128::from(p.value), value);
        assert!(is_prime(p.value) && p.value % (1 << 15) == 1 && p.value >> a == 1);
    }
    assert!(found.windows(2).all(|w| w[0].value < w[1].value));
    let rest = sparse_primes(54, 14, 6, &[small[0].value]).unwrap();
    assert_eq!(rest, small[1..]);
}

#[test]
fn montgomery_friendly_primes_are_one_mod_both() {
    for (bits, word, log_n) in [(32, 17, 15), (54, 17, 14), (60, 18, 12), (60, 12, 16)] {
        for q in montgomery_friendly_primes(bits, word, log_n, 4, &[]).unwrap() {
            assert!(is_prime(q) && q >> (bits - 1) == 1);
            assert_eq!((q % (1 << word), q % (2 << log_n)), (1, 1));
        }
    }
    assert!(montgomery_friendly_primes(60, 61, 10, 1, &[]).is_err());
}

/// The sparse primes of 12 bits are all primes of this size of the form 2^11 + 2^b, plus or minus 2^c and 2^d, plus 1,
/// for 11 > b > c > d > log2 N.
#[test]
fn sparse_primes_are_all_of_them_smallest_first() {
    let of_the_form = |q: i64| {
        let signs = |e: u32| [1i64 << e, -(1i64 << e)];
        (3..11).any(|b| {
            let rest = q - (1 << 11) - (1 << b) - 1;
            (3..b).any(|c| {
                let third = signs(c).map(|x| rest - x);
                (3..c).any(|d| signs(d).iter().any(|x| third.contains(x)))
            })
        })
    };
    let all: Vec<u64> = (1 << 11..1 << 12)
        .filter(|&q| is_prime(q) && of_the_form(q as i64))
        .collect();
    assert!(all.iter().any(|&q| q > 3 << 10), "2^11 + 2^10 and more");
    let found = sparse_primes(12, 2, all.len(), &[]).unwrap();
    let found: Vec<u64> = found.iter().map(|p| p.value).collect();
    assert_eq!(found, all);
    assert!(sparse_primes(12, 2, all.len() + 1, &[]).is_err());
    let others = sparse_primes(12, 2, all.len() - 1, &all[..1]).unwrap();
    assert_eq!(others[0].value, all[1]);
}
