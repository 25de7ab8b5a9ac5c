// SPDX-License-Identifier: Apache-2.0
//! The limits that a machine sets to the parameters of schemes. Each has the name of the field of
//! the machine's description from which it comes.

use std::ops::RangeInclusive;

use crate::engine::Engine;

/// A limit from a machine's description, with the name of the description's field from which it
/// comes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit<T> {
    pub field: &'static str,
    pub is: T,
}

/// The limits that a machine sets to the parameters of every scheme.
///
/// Target is a struct, and no trait of machines: a choice of parameters depends on nothing but
/// these numbers. They are compared and printed with the fields of the description. A machine with
/// a new limit adds a field, which every scheme's choice of parameters must then handle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The name of the machine whose limits these are, for messages.
    pub machine: String,
    /// The ring degrees N that the machine runs, as base-2 logarithms.
    pub log_n: Limit<RangeInclusive<u8>>,
    /// The most bits of a prime that the machine computes with.
    pub modulus_bits: Limit<u32>,
    /// The number b of low bits of a prime that the machine fixes: it needs primes that are 1
    /// modulo 2^b, whatever the ring degree is. With 0 it has no such need.
    pub friendly_bits: Limit<u32>,
    /// The most primes of a parameter set that the machine can hold, special primes included.
    pub moduli: Limit<usize>,
    /// Whether the machine's base extensions have only primes as source and target moduli.
    /// Parameters that are chosen for the machine then need no other modulus.
    pub extends_modulo_primes: bool,
    /// Whether the machine computes modulo primes only. The compiler then chooses divisions of BGV
    /// and products of BFV that need no other modulus. It refuses parameters from the user that
    /// divide in another way.
    pub primes_alone: Limit<bool>,
    /// Whether the machine runs each procedure as a whole, without a host that computes other parts
    /// of it, and modulo primes. A program that computes modulo another number is then refused.
    pub runs_whole: Limit<bool>,
    /// Whether the machine expands the masks of keys from their seeds. If it does not, whole keys
    /// are inputs of programs.
    pub expands_seeds: bool,
    /// Whether the machine's instruction set moves data and ends programs by instructions. Programs
    /// for it then have `LOAD` (from distant memory), `MORPH` (an automorphism) and `KSW` (a key
    /// switch), and end with the halt instruction `HCF`.
    pub explicit: bool,
    /// The TFHE parameters that the machine supports, or `None` if it does not run TFHE bootstraps.
    pub engine: Option<Engine>,
}

impl Target {
    /// Returns limits that fit two machines: the narrower of each limit, with its field. The ring degrees have the
    /// field of the machine with the lower maximum. The name is that of `self`. The TFHE parameters are those of
    /// `self`, or those of `other` if `self` has none. The result expands keys from seeds, and moves data by
    /// instructions, only if both machines do. Returns `None` if no ring degree fits both.
    #[must_use]
    pub fn and(mut self, other: Self) -> Option<Self> {
        let (least, most) = (self.log_n.is.start(), self.log_n.is.end());
        let least = *least.max(other.log_n.is.start());
        let most = *most.min(other.log_n.is.end());
        if least > most {
            return None;
        }
        if other.log_n.is.end() < self.log_n.is.end() {
            self.log_n.field = other.log_n.field;
        }
        self.log_n.is = least..=most;
        if other.modulus_bits.is < self.modulus_bits.is {
            self.modulus_bits = other.modulus_bits;
        }
        if other.friendly_bits.is > self.friendly_bits.is {
            self.friendly_bits = other.friendly_bits;
        }
        if other.moduli.is < self.moduli.is {
            self.moduli = other.moduli;
        }
        self.extends_modulo_primes |= other.extends_modulo_primes;
        if other.primes_alone.is {
            self.primes_alone = other.primes_alone;
        }
        if other.runs_whole.is {
            self.runs_whole = other.runs_whole;
        }
        self.expands_seeds &= other.expands_seeds;
        self.explicit &= other.explicit;
        self.engine = self.engine.or(other.engine);
        Some(self)
    }
}
