// SPDX-License-Identifier: Apache-2.0
//! The limits that a machine sets to scheme parameters. Each names the field of the machine's description from which
//! it comes.

use std::ops::RangeInclusive;

use crate::engine::Engine;

/// A limit from a machine's description, with the name of the field from which it comes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit<T> {
    pub field: &'static str,
    pub is: T,
}

/// The limits that a machine sets to the parameters of every scheme.
///
/// Target is a struct, and no trait of machines: only these numbers take part in a choice of parameters. They are
/// compared and printed with their fields. A machine with a new limit adds a field, which the choice of parameters in
/// every scheme must then handle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The name of the machine whose limits these are, for messages.
    pub machine: String,
    /// The ring degrees N that the machine runs, as base-2 logarithms.
    pub log_n: Limit<RangeInclusive<u8>>,
    /// The most bits of a prime that the machine computes with.
    pub modulus_bits: Limit<u32>,
    /// A number of bits b. The machine needs primes that are 1 modulo 2^b, whatever the ring degree is.
    pub friendly_bits: Limit<u32>,
    /// The most primes of a parameter set that the machine can hold, special primes included.
    pub moduli: Limit<usize>,
    /// Whether the machine computes base extensions between primes only. Parameters that are chosen for it then need
    /// no other modulus.
    pub extends_modulo_primes: bool,
    /// Whether the machine computes modulo primes only. BGV's divisions and BFV's products are chosen to suit it.
    /// Parameters from the user that divide in another way are refused.
    pub primes_alone: Limit<bool>,
    /// Whether the machine runs each procedure as a whole, without a host beside it, and modulo primes. Programs that
    /// compute modulo anything else are refused.
    pub runs_whole: Limit<bool>,
    /// Whether the machine expands the uniform halves of keys from their seeds. For a machine that does not, programs
    /// have whole keys as inputs.
    pub expands_seeds: bool,
    /// Whether the machine's instruction set moves data and ends programs explicitly. Programs for it have `LOAD`
    /// (from distant memory), `MORPH` (an automorphism) and `KSW` (a key switch), and end with the halt instruction
    /// `HCF`.
    pub explicit: bool,
    /// The TFHE parameters that the machine supports, or `None` if it does not run TFHE bootstraps.
    pub engine: Option<Engine>,
}

impl Target {
    /// Returns the limits of two machines together: the narrower of each limit, with the field from which it comes.
    /// The name is that of `self`. The result expands keys from seeds, and moves data explicitly, only if both
    /// machines do. Returns `None` if no ring degree is left.
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
