// SPDX-License-Identifier: Apache-2.0
//! Tests which numbers of key-switching digits and which special primes fit together.

use ringmill_schemes::ckks;
use ringmill_schemes::internals::digits;
use ringmill_schemes::rlwe::{RlweError, digit_ranges};

fn numbers(text: &str) -> Vec<usize> {
    let words = text.split(|c: char| !c.is_ascii_digit());
    words.filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn digits_that_do_not_fit_are_refused_with_numbers_of_primes_that_do() {
    let mut refused = 0;
    for (cipher, special) in (1..40).flat_map(|cipher| (1..44).map(move |k| (cipher, k))) {
        match digits(None, cipher, special) {
            Ok(dnum) => assert_eq!(cipher.div_ceil(dnum), special),
            Err(error) => {
                let RlweError::Parameter { expected, .. } = error else {
                    panic!("{error}");
                };
                let [alpha, .., whole, beside] = numbers(&expected)[..] else {
                    panic!("{expected}");
                };
                assert!(digits(None, cipher, alpha).is_ok(), "{expected}");
                assert_eq!(beside, special);
                assert!(digits(None, whole, special).is_ok(), "{expected}");
                refused += 1;
            }
        }
    }
    assert!(refused > 100);
}

#[test]
fn a_number_of_digits_that_is_given_is_from_one_to_that_of_primes() {
    for dnum in 1..=34 {
        assert!(digits(Some(dnum), 34, 1).is_ok_and(|made| made == dnum));
    }
    for (dnum, cipher) in [(0, 5), (6, 5), (35, 34)] {
        let error = digits(Some(dnum), cipher, 2).unwrap_err().to_string();
        let said = format!("dnum is {dnum}, expected 1 to {cipher}, the number");
        assert!(error.starts_with(&said), "{error}");
    }
}

#[test]
fn digits_share_all_primes_and_are_as_short_as_they_can_be() {
    for (cipher, dnum) in (1..=128).flat_map(|cipher| (1..=cipher).map(move |d| (cipher, d))) {
        let ranges = digit_ranges(cipher, dnum);
        let longest = cipher.div_ceil(dnum);
        assert_eq!(ranges.len(), dnum);
        assert_eq!((ranges[0].start, ranges[dnum - 1].end), (0, cipher));
        assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        let lengths = ranges.iter().map(ExactSizeIterator::len);
        assert!(lengths.clone().all(|len| (1..=longest).contains(&len)));
        // Files of earlier versions, which had only such digits, give no more than their number.
        if cipher.div_ceil(longest) == dnum {
            assert!(lengths.take(dnum - 1).all(|len| len == longest));
        }
    }
}

#[test]
fn special_primes_have_the_bits_of_a_digit_or_as_many_primes() {
    let made = |special: &[u32], dnum| {
        let builder = ckks::Params::builder(6).prime_bits(&[60, 40, 40, 40, 40], special);
        let builder = builder.dnum(dnum);
        builder.allow_insecure_parameters_for_tests_only().build()
    };
    // The largest of two digits has 140 bits, and the largest of three has 100.
    assert!(made(&[60, 60, 60], 2).is_ok());
    assert!(made(&[50, 50, 50], 2).is_ok());
    assert!(made(&[40, 40, 40], 2).is_ok());
    assert!(made(&[55, 55], 3).is_ok());
    assert!(made(&[60, 60, 60], 4).is_ok());
    assert!(made(&[54], 5).is_ok());
    let error = made(&[60, 60], 2).unwrap_err().to_string();
    let said = "product of the special primes is 120 bits, expected at least 140 bits, those of the largest of 2 digits of 5";
    assert!(error.starts_with(said), "{error}");
    assert!(made(&[60], 3).is_err());
}
