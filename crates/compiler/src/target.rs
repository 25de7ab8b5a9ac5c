//! What a machine asks of parameters, so that a program made for it fits it.

use std::ops::RangeInclusive;

use ringmill_schemes::ParameterSet;
use thiserror::Error;

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
    /// Whether it makes the uniform halves of keys from their seeds; where it does not, programs made for it have keys that are
    /// stored whole.
    pub expands_seeds: bool,
    /// Whether its instruction set says what moves and when it ends: programs made for it are written with LOAD, MORPH and KSW, and
    /// end with HCF.
    pub explicit: bool,
}

/// Parameters that a machine does not take.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "machine {machine} takes no such program: {what} {needed}, and its field {field} allows {allowed}; {cure}"
)]
pub struct TargetError {
    pub machine: String,
    pub field: &'static str,
    pub what: &'static str,
    pub needed: String,
    pub allowed: String,
    pub cure: &'static str,
}

impl Target {
    /// Refuses BGV parameters whose divisions compute modulo the plaintext modulus (`alone` where they do not).
    ///
    /// # Errors
    /// Such, where the machine computes modulo primes alone.
    pub fn check_divisions(&self, alone: bool) -> Result<(), Box<TargetError>> {
        if alone || !self.primes_alone.is {
            return Ok(());
        }
        Err(Box::new(TargetError {
            machine: self.machine.clone(),
            field: self.primes_alone.field,
            what: "divisions that keep messages are",
            needed: "computed modulo the plaintext modulus".to_owned(),
            allowed: "divisions modulo primes alone".to_owned(),
            cure: "let the compiler choose the parameters, or make them with divide_modulo_primes_alone",
        }))
    }

    /// # Errors
    /// The first limit that the parameters do not keep.
    pub fn check(&self, params: &impl ParameterSet) -> Result<(), Box<TargetError>> {
        let refuse = |field, what, needed: String, allowed: String, cure| {
            Err(Box::new(TargetError {
                machine: self.machine.clone(),
                field,
                what,
                needed,
                allowed,
                cure,
            }))
        };
        let log_n = params.log_n();
        if !self.log_n.is.contains(&log_n) {
            return refuse(
                self.log_n.field,
                "log2 of the ring degree is",
                log_n.to_string(),
                format!("{} to {}", self.log_n.is.start(), self.log_n.is.end()),
                "ask for less precision or make the program shallower, or take another machine",
            );
        }
        if params.moduli().len() > self.moduli.is {
            return refuse(
                self.moduli.field,
                "the number of primes is",
                params.moduli().len().to_string(),
                format!("at most {}", self.moduli.is),
                "make the program shallower, or take another machine",
            );
        }
        let bits = |q: &u64| u64::BITS - q.leading_zeros();
        let widest = params.moduli().iter().map(bits).max().unwrap_or(0);
        if widest > self.modulus_bits.is {
            return refuse(
                self.modulus_bits.field,
                "the bits of the largest prime are",
                widest.to_string(),
                format!("at most {}", self.modulus_bits.is),
                "ask for less precision or declare narrower ranges, or take another machine",
            );
        }
        let mask = 1u64
            .checked_shl(self.friendly_bits.is)
            .map_or(u64::MAX, |x| x - 1);
        let unfriendly = |q: &&u64| **q & mask != 1 & mask;
        if let Some(q) = params.moduli().iter().find(unfriendly) {
            return refuse(
                self.friendly_bits.field,
                "a prime is",
                q.to_string(),
                format!("primes that are 1 mod 2^{}", self.friendly_bits.is),
                "let the compiler choose the parameters, or take another machine",
            );
        }
        Ok(())
    }
}
