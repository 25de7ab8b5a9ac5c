// SPDX-License-Identifier: Apache-2.0
//! What a machine asks of parameters: numbers of its description, each with the field that it comes from.

use std::ops::RangeInclusive;

use crate::engine::Engine;

/// A number of a machine's description, and the field that it comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit<T> {
    pub field: &'static str,
    pub is: T,
}

/// The limits of a machine that parameters must keep, whatever their scheme.
///
/// A struct, and no trait of machines: what takes part in a choice of parameters is these numbers alone, they are compared
/// and printed with the field each comes from, and a machine that asks for more adds a field, which every scheme's choice of
/// parameters then runs into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The machine's name.
    pub machine: String,
    /// log2 of the ring degrees that it runs.
    pub log_n: Limit<RangeInclusive<u8>>,
    /// Bits of a prime at most.
    pub modulus_bits: Limit<u32>,
    /// Primes are 1 modulo 2 to this, whatever the ring degree.
    pub friendly_bits: Limit<u32>,
    /// Primes at most, special ones included.
    pub moduli: Limit<usize>,
    /// Whether it extends bases modulo primes alone: parameters that are chosen for it need no other modulus then.
    pub extends_modulo_primes: bool,
    /// Whether it computes modulo primes alone: BGV's divisions and BFV's products are chosen so, and given parameters that
    /// divide otherwise are refused.
    pub primes_alone: Limit<bool>,
    /// Whether it runs each procedure of a program by itself, with no host beside it, and modulo primes: programs that compute
    /// modulo anything else are refused.
    pub runs_whole: Limit<bool>,
    /// Whether it makes the uniform halves of keys from their seeds; where it does not, programs made for it have keys that are
    /// stored whole.
    pub expands_seeds: bool,
    /// Whether its instruction set says what moves and when it ends: programs made for it are written with LOAD, MORPH and KSW, and
    /// end with HCF.
    pub explicit: bool,
    /// What it asks of TFHE's parameters, where it runs their bootstraps.
    pub engine: Option<Engine>,
}

impl Target {
    /// What both machines ask: the narrower of each limit, with the field that it comes from. The name stays this one's. Keys are
    /// made from seeds where both make them, and programs say what moves where both machines' do. `None` where no ring degree
    /// is left.
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
