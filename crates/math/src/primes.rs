// SPDX-License-Identifier: Apache-2.0
//! Tests numbers for primality, and searches for the primes that the schemes and machines need.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::sync::{LazyLock, PoisonError, RwLock};

use crate::{MathError, Modulus, Ring};

/// The large primes that this process has found. Programs are verified at every run, and have few
/// moduli, which are mostly the same.
static KNOWN: LazyLock<RwLock<HashSet<u64>>> = LazyLock::new(Default::default);

/// The most primes that [`KNOWN`], the cache of found primes, holds; beyond this number it is
/// emptied.
const MAX_KNOWN: usize = 1 << 12;

/// Returns whether n is prime, by Miller-Rabin with the first twelve primes as bases. The test is exact below 3.1 *
/// 10^23, so for every `n`.
pub fn is_prime(n: u64) -> bool {
    if n >> 24 == 0 {
        return miller_rabin(n); // sooner done than looked up under a lock
    }
    if (KNOWN.read().unwrap_or_else(PoisonError::into_inner)).contains(&n) {
        return true;
    }
    let prime = miller_rabin(n);
    if prime {
        let mut set = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        if set.len() >= MAX_KNOWN {
            set.clear();
        }
        set.insert(n);
    }
    prime
}

fn miller_rabin(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 {
        return false;
    }
    for p in BASES {
        if n.is_multiple_of(p) {
            return n == p;
        }
    }
    let mul = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) % u128::from(n)) as u64;
    let pow = |mut b: u64, mut e: u64| {
        let mut r = 1;
        while e > 0 {
            if e & 1 == 1 {
                r = mul(r, b);
            }
            b = mul(b, b);
            e >>= 1;
        }
        r
    };
    let s = (n - 1).trailing_zeros();
    let d = (n - 1) >> s;
    BASES.iter().all(|&a| {
        let mut x = pow(a, d);
        if x == 1 || x == n - 1 {
            return true;
        }
        for _ in 1..s {
            x = mul(x, x);
            if x == n - 1 {
                return true;
            }
        }
        false
    })
}

/// Returns `count` primes q = 1 mod `step` with exactly `bits` bits, largest first, leaving out those in `used`.
///
/// # Errors
/// [`MathError::OutOfRange`] unless `bits` is from 2 to 61. [`MathError::NotEnoughPrimes`] if fewer such primes than
/// `count` exist outside `used`, or if `step` is 0 or at least 2^`bits` - 1.
pub fn primes_one_mod(
    bits: u32,
    step: u64,
    count: usize,
    used: &[u64],
) -> Result<Vec<u64>, MathError> {
    if !(2..=Modulus::MAX_BITS).contains(&bits) {
        return Err(MathError::OutOfRange {
            what: "prime size in bits",
            expected: "2..=61",
            got: bits.to_string(),
        });
    }
    let not_enough = |found: usize| MathError::NotEnoughPrimes {
        bits,
        wanted: count,
        found,
    };
    let top = (1u64 << bits) - 1;
    if step == 0 || step >= top {
        return Err(not_enough(0));
    }
    let mut found = Vec::new();
    let mut candidate = (top - 1) / step * step + 1;
    while found.len() < count && candidate >= 1 << (bits - 1) {
        if is_prime(candidate) && !used.contains(&candidate) {
            found.push(candidate);
        }
        if candidate <= step {
            break;
        }
        candidate -= step;
    }
    if found.len() < count {
        return Err(not_enough(found.len()));
    }
    Ok(found)
}

/// Returns `count` primes of exactly `bits` bits that are 1 mod 2N (N = 2^log_n), largest first: the order in which
/// SEAL searches. [`seal_coeff_modulus`] returns primes in the order of SEAL's `CoeffModulus::Create`.
///
/// # Errors
/// The errors of [`primes_one_mod`], and [`MathError::RingDegree`] for a `log_n` above 17.
///
/// ```
/// let q = ringmill_math::primes::ntt_primes(60, 14, 1).unwrap();
/// assert_eq!(q, [1152921504606748673]);
/// ```
pub fn ntt_primes(bits: u32, log_n: u32, count: usize) -> Result<Vec<u64>, MathError> {
    ntt_primes_excluding(bits, log_n, count, &[])
}

/// Returns `count` primes of exactly `bits` bits that are 1 mod 2N (N = 2^log_n), largest first, without those in
/// `used`.
///
/// # Errors
/// The errors of [`ntt_primes`].
pub fn ntt_primes_excluding(
    bits: u32,
    log_n: u32,
    count: usize,
    used: &[u64],
) -> Result<Vec<u64>, MathError> {
    primes_one_mod(bits, 2 << check_log_n(log_n)?, count, used)
}

/// Returns exactly the primes of SEAL's `CoeffModulus::Create(N, bit_sizes)`, for N = 2^`log_n`. There is one prime for
/// each entry of `bit_sizes`, in its order. Those of one size are the largest suitable ones, in ascending order.
///
/// # Errors
/// The errors of [`ntt_primes`].
pub fn seal_coeff_modulus(log_n: u32, bit_sizes: &[u32]) -> Result<Vec<u64>, MathError> {
    let mut pools = BTreeMap::new();
    for &bits in bit_sizes {
        if let Entry::Vacant(pool) = pools.entry(bits) {
            let count = bit_sizes.iter().filter(|&&b| b == bits).count();
            pool.insert(ntt_primes(bits, log_n, count)?);
        }
    }
    Ok(bit_sizes
        .iter()
        .filter_map(|bits| pools.get_mut(bits).and_then(Vec::pop))
        .collect())
}

/// Returns `count` primes of exactly `bits` bits for word-level Montgomery reduction, largest first, without those
/// in `used`. They are 1 mod 2^`word_bits` and 1 mod 2N, for N = 2^`log_n`. So q = q_H 2^w + 1, and -q^-1 mod 2^w
/// is -1, with w = `word_bits`.
///
/// # Errors
/// [`MathError::OutOfRange`] for a `word_bits` of 61 or more, and the errors of [`ntt_primes`].
pub fn montgomery_friendly_primes(
    bits: u32,
    word_bits: u32,
    log_n: u32,
    count: usize,
    used: &[u64],
) -> Result<Vec<u64>, MathError> {
    if word_bits >= Modulus::MAX_BITS {
        return Err(MathError::OutOfRange {
            what: "Montgomery word size in bits",
            expected: "below 61",
            got: word_bits.to_string(),
        });
    }
    primes_one_mod(
        bits,
        1 << word_bits.max(check_log_n(log_n)? + 1),
        count,
        used,
    )
}

/// A prime 2^a + 2^b ± 2^c ± 2^d + 1 with a > b > c > d, whose reduction needs shifts and additions only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SparsePrime {
    pub value: u64,
    /// The exponents a > b > c > d of the prime 2^a + 2^b ± 2^c ± 2^d + 1.
    pub exponents: [u32; 4],
    /// Whether 2^c, and whether 2^d, is added (true) or subtracted (false) in the prime 2^a + 2^b ±
    /// 2^c ± 2^d + 1.
    pub signs: [bool; 2],
}

/// Returns `count` sparse primes of exactly `bits` bits that are 1 mod 2N, for N = 2^`log_n`, smallest first,
/// without those in `used`. All their exponents are above `log_n`.
///
/// # Errors
/// The errors of [`ntt_primes`].
pub fn sparse_primes(
    bits: u32,
    log_n: u32,
    count: usize,
    used: &[u64],
) -> Result<Vec<SparsePrime>, MathError> {
    let low = check_log_n(log_n)? + 1;
    if !(2..=Modulus::MAX_BITS).contains(&bits) {
        return Err(MathError::OutOfRange {
            what: "prime size in bits",
            expected: "2..=61",
            got: bits.to_string(),
        });
    }
    let a = bits - 1;
    let mut candidates = Vec::new();
    for b in low..a {
        for c in low..b {
            for d in low..c {
                for signs in [[true, true], [true, false], [false, true], [false, false]] {
                    let term = |plus: bool, e: u32| if plus { 1i64 << e } else { -(1i64 << e) };
                    let value =
                        (1i64 << a) + (1i64 << b) + term(signs[0], c) + term(signs[1], d) + 1;
                    candidates.push(SparsePrime {
                        value: value as u64,
                        exponents: [a, b, c, d],
                        signs,
                    });
                }
            }
        }
    }
    candidates.sort_by_key(|p| p.value);
    // One number may have two such forms, for example because 2^b - 2^c = 2^c for b = c + 1; the first is kept.
    candidates.dedup_by_key(|p| p.value);
    let fits =
        |p: &SparsePrime| p.value >> bits == 0 && !used.contains(&p.value) && is_prime(p.value);
    let found: Vec<_> = candidates.into_iter().filter(fits).take(count).collect();
    if found.len() < count {
        return Err(MathError::NotEnoughPrimes {
            bits,
            wanted: count,
            found: found.len(),
        });
    }
    Ok(found)
}

fn check_log_n(log_n: u32) -> Result<u32, MathError> {
    let max = u32::from(Ring::MAX_LOG_N);
    if log_n > max {
        Err(MathError::RingDegree {
            got: log_n,
            min: 0,
            max,
        })
    } else {
        Ok(log_n)
    }
}
