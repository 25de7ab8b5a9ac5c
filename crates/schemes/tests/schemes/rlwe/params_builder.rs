// SPDX-License-Identifier: Apache-2.0
//! Digits and special primes that fit each other.

use ringmill_schemes::internals::digits;
use ringmill_schemes::rlwe::RlweError;

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
fn a_number_of_digits_that_is_given_has_its_special_primes() {
    let said = |dnum, cipher, special| {
        let made = digits(Some(dnum), cipher, special);
        made.map_err(|error| error.to_string())
    };
    assert_eq!(said(4, 34, 9), Ok(4));
    let error = said(4, 34, 11).unwrap_err();
    let expected = "number of special primes is 11, expected 9, as many as the largest of 4 digits of 34 ciphertext primes";
    assert_eq!(error, expected);
    for (dnum, cipher) in [(0, 5), (6, 5), (7, 10)] {
        let error = said(dnum, cipher, 2).unwrap_err();
        assert!(
            error.starts_with(&format!("dnum is {dnum}, expected 1 to {cipher}")),
            "{error}"
        );
    }
}
