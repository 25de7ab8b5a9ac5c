// SPDX-License-Identifier: Apache-2.0
//! Table II of the paper of Kong and Li: numbers of a special form, and which of them are prime.

use num_bigint::BigUint;

use crate::error::PaperError;
use crate::scope::{Record, Scope, record};
use crate::value::counted;

/// The exponent of the thirteenth Mersenne prime, the last that Table II of Kong and Li needs.
const LAST_EXPONENT: u32 = 521;

/// The bases with which Miller and Rabin's test is exact below 3.3 10^24 (Sorenson and Webster, 2015). A number that
/// the test calls composite is so in any case.
const BASES: [u32; 13] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41];
const DECIDED_BITS: u64 = 81;

/// Returns whether x is prime, or `None` if the test cannot decide.
pub fn is_prime(x: &BigUint) -> Option<bool> {
    let one = BigUint::from(1u32);
    if *x <= one {
        return Some(false);
    }
    if let Some(base) = BASES
        .map(BigUint::from)
        .iter()
        .find(|&b| (x % b) == BigUint::ZERO)
    {
        return Some(x == base);
    }
    let before = x - &one;
    let twos = before.trailing_zeros().unwrap_or(0);
    let odd = &before >> twos;
    let passes = |base: u32| {
        let mut power = BigUint::from(base).modpow(&odd, x);
        if power == one || power == before {
            return true;
        }
        for _ in 1..twos {
            power = &power * &power % x;
            if power == before {
                return true;
            }
        }
        false
    };
    if !BASES.into_iter().all(passes) {
        return Some(false);
    }
    (x.bits() <= DECIDED_BITS).then_some(true)
}

fn power(exponent: u32) -> BigUint {
    BigUint::from(1u32) << exponent
}

/// Returns whether 2^p - 1 is prime for a prime p, by the test of Lucas and Lehmer.
fn mersenne(p: u32) -> bool {
    let m = power(p) - 1u32;
    let mut s = BigUint::from(4u32);
    for _ in 2..p {
        s = (&s * &s + &m - 2u32) % &m;
    }
    p == 2 || s == BigUint::ZERO
}

/// Returns the Mersenne primes in order, up to the thirteenth.
pub fn mersenne_primes() -> Vec<BigUint> {
    let exponents = 2..=LAST_EXPONENT;
    let prime = |p: &u32| is_prime(&BigUint::from(*p)) == Some(true) && mersenne(*p);
    exponents.filter(prime).map(|p| power(p) - 1u32).collect()
}

/// Returns the numbers that a row of Table II of Kong and Li names, and whether each is prime. Returns `None` if a
/// number cannot be decided, or if the class is unknown or a name has no number.
fn members(class: &str, names: &str) -> Option<Vec<(BigUint, bool)>> {
    let names: Vec<&str> = names.split('-').collect();
    let number = |name: &str| name.get(1..)?.parse::<u32>().ok();
    let range = |names: &[&str]| Some(number(names.first()?)?..=number(names.last()?)?);
    let tested = |x: BigUint| Some((x.clone(), is_prime(&x)?));
    match class {
        "mersenne" => {
            let primes = mersenne_primes();
            let at = |i: u32| Some((primes.get(i as usize - 1)?.clone(), true));
            range(&names)?.map(at).collect()
        }
        "fermat" => range(&names)?
            .map(|i| tested(power(1 << i) + 1u32))
            .collect(),
        "goldilocks" => (range(&names)?)
            .map(|n| tested(power(2 * n) - power(n) - 1u32))
            .collect(),
        "goldilocks_plus" => (range(&names)?)
            .map(|n| tested(power(2 * n) - power(n) + 1u32))
            .collect(),
        "solinas" => Some(vec![tested(power(52) - power(12) + 1u32)?]),
        _ => None,
    }
}

/// Returns the figures of a row of Table II of Kong and Li: the bits of its widest number, how many numbers it has, how
/// many are prime, and the number in the text of the printed width.
///
/// # Errors
/// Fails if the row lacks a name, or if nothing decides which of its numbers are prime.
pub fn figures(at: &Scope<'_>) -> Result<Record, PaperError> {
    let (class, names, width) = (at.text("class")?, at.text("members")?, at.text("width")?);
    let members = members(&class, &names).ok_or_else(|| {
        PaperError::Internal(format!(
            "Table II has {class} {names}, which nothing decides"
        ))
    })?;
    let digits: String = width.chars().filter(char::is_ascii_digit).collect();
    let bits = members.iter().map(|(x, _)| x.bits()).max().unwrap_or(0);
    let primes = members.iter().filter(|(_, prime)| *prime).count();
    Ok(record([
        ("digits", digits.parse().ok().into()),
        ("count", (members.len() as f64).into()),
        ("bits", counted(bits)),
        ("primes", counted(primes)),
    ]))
}
