// SPDX-License-Identifier: Apache-2.0
//! The limits that a machine sets to scheme parameters, each with the field of the description from which it comes.

use std::ops::RangeInclusive;

use crate::engine::Engine;

/// A number of a machine's description, and the field from which it comes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit<T> {
    pub field: &'static str,
    pub is: T,
}

/// The limits of a machine that the parameters of every scheme must keep.
///
/// Target is a struct, and no trait of machines: only these numbers take part in a choice of parameters. They are
/// compared and printed with their fields. A machine with a new limit adds a field, which the choice of parameters in
/// every scheme must then handle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The machine's name.
    pub machine: String,
    /// log2 of the ring degrees that the machine runs.
    pub log_n: Limit<RangeInclusive<u8>>,
    /// The most bits of a prime.
    pub modulus_bits: Limit<u32>,
    /// Primes are 1 modulo 2 to this power, for every ring degree.
    pub friendly_bits: Limit<u32>,
    /// The most primes, special ones included.
    pub moduli: Limit<usize>,
    /// Whether the machine extends bases modulo primes only. Parameters chosen for it then need no other modulus.
    pub extends_modulo_primes: bool,
    /// Whether the machine computes modulo primes only. BGV's divisions and BFV's products are chosen to suit; given
    /// parameters that divide in another way are refused.
    pub primes_alone: Limit<bool>,
    /// Whether the machine runs each procedure by itself, without a host beside it, and modulo primes. Programs that
    /// compute modulo anything else are refused.
    pub runs_whole: Limit<bool>,
    /// Whether the machine expands the uniform halves of keys from their seeds. Programs for other machines have keys
    /// stored whole.
    pub expands_seeds: bool,
    /// Whether the instruction set moves data and ends programs explicitly. Programs for such a machine are written
    /// with LOAD, MORPH and KSW, and end with HCF.
    pub explicit: bool,
    /// The limits for TFHE parameters, if the machine runs TFHE bootstraps.
    pub engine: Option<Engine>,
}

impl Target {
    /// Returns the limits of both machines together: the narrower of each limit, with the field from which it comes.
    /// The name stays this one's. Keys are made from seeds, and data moved explicitly, only if both machines do so.
    /// Returns `None` if no ring degree is left.
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
