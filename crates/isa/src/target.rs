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
