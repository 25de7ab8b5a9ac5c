// SPDX-License-Identifier: Apache-2.0
//! Computes how x^N + 1 splits modulo p, and the group of automorphisms that permutes its factors.

use super::SlotError;
use crate::primes::is_prime;

/// The form of the factors of x^N + 1 modulo p, which depends on p modulo 4.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Split {
    /// The factors are x^d - c, for p = 1 mod 4, where d is the degree of a slot; all c are
    /// integers modulo p^e.
    Binomials,
    /// The factors are x^d - a x^(d/2) + b with b = 1 or -1, for p = 3 mod 4, where d is the degree
    /// of a slot. They split once more over a ring that has an i with i^2 = -1.
    Trinomials,
}

/// One dimension of the slots: a cyclic factor of the group of odd Galois elements modulo 2N and
/// modulo the powers of p.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dimension {
    /// The Galois element that moves every slot by one place along this dimension.
    pub generator: u64,
    /// The number of slots along the dimension.
    pub order: usize,
    /// Whether `generator` has order `order` modulo 2N too, and not only modulo the powers of p. If
    /// not, a slot that leaves the last place enters the first one with a power of Frobenius. That
    /// changes no integer, but rotations of elements of the slot ring then need masks.
    pub good: bool,
}

/// The coset, modulo the powers of p, in which a Galois element lies, and its place there. The
/// element is the representative of `slot` times p^`frobenius`, modulo 2N.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    pub slot: usize,
    pub frobenius: usize,
}

/// The slots of Z_{p^e}\[x\]/(x^N + 1) for an odd prime p and N = 2^`log_n`, which are the same for every e.
///
/// There are N / d slots, where d is the order of p modulo 2N; each is a ring of degree d over Z_{p^e}. Slots are the
/// cosets of p's powers in (Z/2N)*. Each has a representative, in the order of a matrix:
///
/// | p | representatives | slots | dimensions |
/// | --- | --- | --- | --- |
/// | 1 mod 4, 2^v the power of 2 in p - 1 | 3^col (-1)^row | min(2^(v-1), N) | columns (generator 3), rows (generator -1) |
/// | 3 mod 4, 2^v the power of 2 in p + 1 | 5^col | min(2^(v-1), N / 2) | columns (generator 5) |
///
/// With d = 1 these are SEAL's slots (`BatchEncoder`).
///
/// ```
/// use ringmill_math::slots::SlotStructure;
/// let vector_paper = SlotStructure::new(16, 127).unwrap();
/// assert_eq!((vector_paper.slots(), vector_paper.degree()), (64, 1024));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SlotStructure {
    p: u64,
    log_n: u32,
    log_slots: u32,
    split: Split,
}

impl SlotStructure {
    pub const MIN_LOG_N: u32 = 3;
    pub const MAX_LOG_N: u32 = 16;

    /// Computes how x^N + 1 splits modulo p, and the slots and dimensions that result, for N = 2^`log_n`.
    ///
    /// # Errors
    /// Fails if p is no odd prime below 2^60, or the ring degree lies outside 2^3 to 2^16.
    pub fn new(log_n: u32, p: u64) -> Result<Self, SlotError> {
        let (min, max) = (Self::MIN_LOG_N, Self::MAX_LOG_N);
        if !(min..=max).contains(&log_n) {
            return Err(SlotError::RingDegree {
                got: log_n,
                min,
                max,
            });
        }
        if p == 2 || p >> 60 != 0 || !is_prime(p) {
            return Err(SlotError::NotAnOddPrime { got: p });
        }
        let (split, log_slots) = if p % 4 == 1 {
            let v = (p - 1).trailing_zeros();
            (Split::Binomials, (v - 1).min(log_n))
        } else {
            let v = (p + 1).trailing_zeros();
            (Split::Trinomials, (v - 1).min(log_n - 1))
        };
        Ok(Self {
            p,
            log_n,
            log_slots,
            split,
        })
    }

    pub fn p(&self) -> u64 {
        self.p
    }

    /// Returns log2 of the ring degree N.
    pub fn log_n(&self) -> u32 {
        self.log_n
    }

    /// Returns the ring degree N.
    pub fn ring_degree(&self) -> usize {
        1 << self.log_n
    }

    /// Returns the number of slots, N / d, where d is the degree of a slot.
    pub fn slots(&self) -> usize {
        1 << self.log_slots
    }

    /// Returns d, the degree of a slot over the integers, which is the order of p modulo 2N.
    pub fn degree(&self) -> usize {
        1 << (self.log_n - self.log_slots)
    }

    pub fn split(&self) -> Split {
        self.split
    }

    /// Returns the base-2 logarithm of the degree c of the *core*, the ring Z_{p^e}\[y\]/(y^c + 1)
    /// with y = x^(N/c). The core is the smallest such subring over which x^N + 1 splits into
    /// factors of the least degree. It holds all masks and all constants of the linear maps of thin
    /// bootstrapping.
    pub fn log_core(&self) -> u32 {
        match self.split {
            Split::Binomials => self.log_slots,
            Split::Trinomials => self.log_slots + 1,
        }
    }

    /// Returns c, the degree of the core: the number of slots for p = 1 mod 4, or twice this number
    /// for p = 3 mod 4.
    pub fn core_degree(&self) -> usize {
        1 << self.log_core()
    }

    /// Returns N / c, where c is the degree of the core: the exponent s for which the core's
    /// variable y is x^s.
    pub fn core_spacing(&self) -> usize {
        1 << (self.log_n - self.log_core())
    }

    /// Returns the dimensions of the matrix of slots that have more than one place: first the dimension of its columns,
    /// then that of its rows.
    pub fn dimensions(&self) -> Vec<Dimension> {
        let (two_n, columns) = (2u64 << self.log_n, self.columns());
        let mut dimensions = Vec::with_capacity(2);
        if columns > 1 {
            dimensions.push(Dimension {
                generator: self.column_generator(),
                order: columns,
                good: columns == self.ring_degree() / 2,
            });
        }
        if self.rows() > 1 {
            dimensions.push(Dimension {
                generator: two_n - 1,
                order: 2,
                good: true,
            });
        }
        dimensions
    }

    /// Returns the number of slots in a row of the matrix of slots.
    pub fn columns(&self) -> usize {
        self.slots() / self.rows()
    }

    pub(crate) fn rows(&self) -> usize {
        match self.split {
            Split::Binomials => 2,
            Split::Trinomials => 1,
        }
    }

    /// Returns the Galois element that rotates each row of the matrix of slots by one place.
    pub fn column_generator(&self) -> u64 {
        match self.split {
            Split::Binomials => 3,
            Split::Trinomials => 5,
        }
    }

    /// Returns the representative of a slot's coset, an odd number below 2N. `slot` is taken modulo the number of
    /// slots.
    pub fn representative(&self, slot: usize) -> u64 {
        let two_n = 2u64 << self.log_n;
        let (row, col) = (slot / self.columns() % self.rows(), slot % self.columns());
        let power = pow_mod(self.column_generator(), col as u64, two_n);
        if row == 1 { two_n - power } else { power }
    }

    /// Returns the slot whose coset modulo the powers of p contains a Galois element, and the
    /// element's place in the coset. The element is odd and taken modulo 2N.
    pub fn locate(&self, galois: u64) -> Place {
        let slot = self.slot_of(galois);
        let (two_n, log_d) = (2u64 << self.log_n, self.log_n - self.log_slots);
        let inverse = inverse_mod(self.representative(slot), two_n);
        let in_p = galois.wrapping_mul(inverse) % two_n;
        Place {
            slot,
            frobenius: log_in_cyclic(in_p, self.p % two_n, log_d, two_n) as usize,
        }
    }

    /// Returns the slot whose coset modulo the powers of p contains the odd Galois element
    /// `galois`.
    pub fn slot_of(&self, galois: u64) -> usize {
        let modulus = 2u64 << self.log_core();
        let g = galois % modulus;
        let log_columns = self.columns().trailing_zeros();
        match self.split {
            Split::Binomials => {
                // Powers of 3 are 1 and 3 modulo 8.
                let negative = if modulus >= 8 { g % 8 > 4 } else { g == 3 };
                let power = if negative { modulus - g } else { g };
                let col = log_in_cyclic(power, 3 % modulus, log_columns, modulus) as usize;
                usize::from(negative) * self.columns() + col
            }
            Split::Trinomials => {
                // Powers of 5 are 1 modulo 4, and p is not.
                let power = if g % 4 == 1 {
                    g
                } else {
                    g.wrapping_mul(self.p % modulus) % modulus
                };
                log_in_cyclic(power, 5 % modulus, log_columns, modulus) as usize
            }
        }
    }

    /// Returns the permutation of the slots' integers under the automorphism x -> x^`galois`. If r is the result, slot
    /// i holds afterwards what slot `r[i]` held before.
    pub fn permutation(&self, galois: u64) -> Vec<usize> {
        let source = |slot| self.slot_of(self.representative(slot).wrapping_mul(galois));
        (0..self.slots()).map(source).collect()
    }
}

/// Returns b^e modulo a power of two.
pub(crate) fn pow_mod(b: u64, mut e: u64, two_power: u64) -> u64 {
    let (mut base, mut result) = (b, 1u64);
    while e > 0 {
        if e & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        e >>= 1;
    }
    result % two_power
}

/// Returns the inverse of an odd number modulo a power of two, by Newton's method.
pub(crate) fn inverse_mod(odd: u64, two_power: u64) -> u64 {
    let mut x = odd; // right modulo 2^3
    for _ in 0..5 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
    }
    x % two_power
}

/// Returns the k below 2^`log_order` with base^k = h, for a base of order 2^`log_order` modulo a
/// power of two. It finds one bit of k at a time.
fn log_in_cyclic(h: u64, base: u64, log_order: u32, two_power: u64) -> u64 {
    let inverse = inverse_mod(base, two_power);
    let mut k = 0;
    for bit in 0..log_order {
        let rest = h.wrapping_mul(pow_mod(inverse, k, two_power));
        if pow_mod(rest, 1 << (log_order - 1 - bit), two_power) != 1 % two_power {
            k |= 1 << bit;
        }
    }
    k
}
