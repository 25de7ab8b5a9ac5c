// SPDX-License-Identifier: Apache-2.0
//! Chooses key-switching digits and special primes by the time of a program's key switches and the bytes of its keys.
//!
//! Fewer digits take fewer transforms and smaller keys. But they need more special primes, which take bits of the
//! security table. The time is a count of word operations, so a program gets the same digits on every machine.

mod cost;

use std::ops::Range;

use ringmill_math::primes::ntt_primes_excluding;
use ringmill_schemes::rlwe::{self, digit_ranges, product_bits};

pub(crate) use cost::{Products, Work};

use crate::scheme::options::{KeyWishes, Prefer};

/// The least bits by which the product of the special primes exceeds that of the largest digit's primes, if there is
/// room. Then key switching adds little more error than a division by one prime, even in the slot that gets most of it.
pub(crate) const SPECIAL_BITS: u32 = 8;
/// The most choices of key-switching digits that the search for a program of integers tries, the best first. If none of
/// them serves, the digits stay as they are.
pub(crate) const TRIES: usize = 6;

impl KeyWishes {
    /// Returns those choices of key-switching digits whose keys the user allows, the best first.
    pub(crate) fn ranked(&self, choices: &[Digits]) -> Vec<Digits> {
        let allowed = choices.iter().filter(|choice| self.allow(choice.bytes));
        let mut ranked: Vec<Digits> = allowed.cloned().collect();
        ranked.sort_by_key(|choice| self.rank(choice));
        ranked
    }

    /// Returns those choices of key-switching digits whose keys the user allows and that are better than the present
    /// digits `there`, the best first. If the user does not allow the keys of `there`, every allowed choice is better.
    pub(crate) fn better(&self, choices: &[Digits], there: &Digits) -> Vec<Digits> {
        let mut ranked = self.ranked(choices);
        if self.allow(there.bytes) {
            ranked.retain(|choice| self.rank(choice) < self.rank(there));
        }
        ranked
    }

    /// Returns whether the user allows the keys of digits at a larger ring degree, and these digits are better by a
    /// tenth in time or in key bytes, as the user prefers. That pays for ciphertexts of twice the size.
    pub(crate) fn prefer_larger(&self, larger: &Digits, smaller: &Digits) -> bool {
        let (less, more) = match self.prefer {
            Prefer::Speed => (larger.time, smaller.time),
            Prefer::Keys => (larger.bytes, smaller.bytes),
        };
        self.allow(larger.bytes) && less.saturating_mul(10) <= more.saturating_mul(9)
    }

    /// Returns the numbers by which choices of key-switching digits are ordered, the best choice first: time, bytes of
    /// keys and number of special primes, in the order of the user's preference.
    fn rank(&self, choice: &Digits) -> (u64, u64, u32) {
        let Digits { time, bytes, .. } = *choice;
        match self.prefer {
            Prefer::Speed => (time, bytes, choice.special),
            Prefer::Keys => (bytes, time, choice.special),
        }
    }
}

/// A choice of key-switching digits: their number, the special primes, and the costs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Digits {
    pub dnum: usize,
    /// The number of special primes.
    pub special: u32,
    /// The size of each special prime in bits.
    pub bits: u32,
    /// The bits of the product of the primes of the largest key-switching digit.
    digit_bits: u32,
    /// The word operations of the whole program, in units of half a product of words.
    pub time: u64,
    /// The bytes of all evaluation keys of the program.
    pub bytes: u64,
}

impl Digits {
    /// Returns the special primes: the largest primes of [`Digits::bits`] bits that are 1 modulo `2^(step + 1)` and not
    /// `taken`. Returns `None` if there are not as many, or if their product P has fewer bits than the product of the
    /// largest digit's primes.
    pub(crate) fn special_primes(&self, step: u32, taken: &[u64]) -> Option<Vec<u64>> {
        let primes = ntt_primes_excluding(self.bits, step, self.special as usize, taken).ok()?;
        Some(primes).filter(|primes| product_bits(primes) >= self.digit_bits)
    }
}

/// A ring degree, its ciphertext primes and the work of a program, for which key-switching digits
/// are chosen.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub log_n: u32,
    pub cipher: &'a [u64],
    /// The bits that all primes together may have by the security table.
    pub allowed: u32,
    /// The most bits of a special prime.
    pub max_bits: u32,
    /// The most primes of the parameters, special primes included.
    pub max_primes: usize,
    pub work: &'a Work,
    /// Whether the uniform half of each evaluation key comes from a seed.
    pub seeded: bool,
}

impl Setting<'_> {
    /// Returns every number of key-switching digits for which the security table and the limit on primes leave room,
    /// with costs. P, the product of the special primes, has at least the bits of the product of the largest digit's
    /// primes. If one further prime gives it [`SPECIAL_BITS`] more, the numbers with and without this prime are both
    /// choices.
    pub fn choices(&self) -> Vec<Digits> {
        let count = self.cipher.len();
        let all = (1..=count).rev().flat_map(|dnum| {
            let digits = digit_ranges(count, dnum);
            let needed = self.largest(&digits);
            // The fast extension of a digit of k primes may be k times as large as the digit.
            let wished = needed + SPECIAL_BITS + count.div_ceil(dnum).ilog2();
            let fewest = needed.div_ceil(self.max_bits).max(1);
            let roomy = wished.div_ceil(self.max_bits).max(1);
            let numbers = fewest..=roomy;
            let made = numbers.map(move |special| {
                let bits = wished.div_ceil(special).min(self.max_bits);
                self.priced(&digits, special, bits)
            });
            made.collect::<Vec<_>>()
        });
        all.filter(|choice| self.has_room(choice)).collect()
    }

    /// Returns the key-switching digits of a parameter set, with their costs.
    pub fn of_params(&self, params: &rlwe::Params) -> Digits {
        let digits = (0..params.dnum()).map(|j| params.digit(j, params.max_level()));
        let special = params.special_moduli();
        let bits = product_bits(special).div_ceil(special.len().max(1) as u32);
        self.priced(&digits.collect::<Vec<_>>(), special.len() as u32, bits)
    }

    /// Returns key-switching digits with `special` special primes of `bits` bits, and their costs.
    fn priced(&self, digits: &[Range<usize>], special: u32, bits: u32) -> Digits {
        let primes = self.cipher.len() + special as usize;
        let short = bits <= u32::BITS && self.cipher.iter().all(|&q| q >> u32::BITS == 0);
        let word = if short { 4 } else { 8 };
        let half = (word * digits.len() * primes) as u64;
        let half = half << self.log_n;
        let key = match self.seeded {
            true => half + 32,
            false => 2 * half,
        };
        Digits {
            dnum: digits.len(),
            special,
            bits,
            digit_bits: self.largest(digits),
            time: self
                .work
                .time(self.log_n, digits, (special, primes), self.seeded),
            bytes: self.work.keys().saturating_mul(key),
        }
    }

    /// Returns the bits of the product of the primes of the largest key-switching digit.
    fn largest(&self, digits: &[Range<usize>]) -> u32 {
        let bits = digits.iter().map(|digit| self.bits(digit.clone()));
        bits.max().unwrap_or(0)
    }

    fn bits(&self, primes: Range<usize>) -> u32 {
        product_bits(self.cipher.get(primes).unwrap_or_default())
    }

    fn has_room(&self, choice: &Digits) -> bool {
        let all = self.bits(0..self.cipher.len());
        let primes = self.cipher.len() + choice.special as usize;
        all + choice.special * choice.bits <= self.allowed && primes <= self.max_primes
    }
}
