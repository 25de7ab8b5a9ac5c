//! What a machine asks of parameters, so that a program made for it fits it.

use std::ops::RangeInclusive;

use ringmill_isa::mid::{Action, Procedure, Program, TableModulus};
use ringmill_schemes::ParameterSet;
use thiserror::Error;

use crate::line::At;

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
}

/// Parameters that a machine does not take.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "{at}machine {machine} takes no such program: {what} {needed}, and its field {field} allows {allowed}; {cure}"
)]
pub struct TargetError {
    /// The line that asks for it, where it is one line.
    pub at: At,
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
            at: At(None),
            machine: self.machine.clone(),
            field: self.primes_alone.field,
            what: "divisions that keep messages are",
            needed: "computed modulo the plaintext modulus".to_owned(),
            allowed: "divisions modulo primes alone".to_owned(),
            cure: "let the compiler choose the parameters, or make them with divide_modulo_primes_alone",
        }))
    }

    /// Refuses a program that the machine would have to leave to a host.
    ///
    /// # Errors
    /// The first call of a procedure that computes modulo anything but primes, where the machine has no host beside it.
    pub(crate) fn check_procedures(&self, program: &Program) -> Result<(), Box<TargetError>> {
        if !self.runs_whole.is {
            return Ok(());
        }
        let blocks = program.blocks.iter().map(|block| &block.steps);
        for step in blocks.chain([&program.steps]).flatten() {
            let Action::Call { proc } = step.action else {
                continue;
            };
            let procedure = program.procs.get(proc as usize);
            if let Some(modulus) = procedure.and_then(|procedure| no_prime(procedure)) {
                return Err(Box::new(TargetError {
                    at: At(step.loc.clone()),
                    machine: self.machine.clone(),
                    field: self.runs_whole.field,
                    what: "what this line becomes computes modulo",
                    needed: format!("`{modulus}`"),
                    allowed: "NTT-friendly primes alone".to_owned(),
                    cure: "take a machine that has a host beside it, or none",
                }));
            }
        }
        Ok(())
    }

    /// # Errors
    /// The first limit that the parameters do not keep.
    pub fn check(&self, params: &impl ParameterSet) -> Result<(), Box<TargetError>> {
        let refuse = |field, what, needed: String, allowed: String, cure| {
            Err(Box::new(TargetError {
                at: At(None),
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
            let cure = match log_n < *self.log_n.is.start() {
                true => "give parameters of a larger ring degree, or take another machine",
                false => {
                    "make the program shallower or its values narrower (of real numbers: ask for less precision), or take another machine"
                }
            };
            return refuse(
                self.log_n.field,
                "log2 of the ring degree is",
                log_n.to_string(),
                format!("{} to {}", self.log_n.is.start(), self.log_n.is.end()),
                cure,
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

/// A modulus of a procedure's values that is no NTT-friendly prime.
fn no_prime(procedure: &Procedure) -> Option<TableModulus> {
    let used = procedure.types.iter().filter_map(|ty| ty.modulus());
    let mut used = used.filter_map(|id| procedure.moduli.get(usize::from(id.0)).copied());
    used.find(|modulus| modulus.prime().is_none())
}
