// SPDX-License-Identifier: Apache-2.0
//! Checks parameters and programs against the limits of a target machine.

use ringmill_isa::mid::{Action, Procedure, Program, TableModulus};
pub use ringmill_isa::target::{Limit, Target};
use ringmill_schemes::ParameterSet;
use thiserror::Error;

use crate::line::At;

/// The error for parameters or programs that exceed a limit of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "{at}machine {machine} takes no such program: {what} {needed}, and its field {field} allows {allowed}; {cure}"
)]
pub struct TargetError {
    /// The line of the user's program that exceeds the limit, if it is one line.
    pub at: At,
    pub machine: String,
    pub field: &'static str,
    pub what: &'static str,
    pub needed: String,
    pub allowed: String,
    pub cure: &'static str,
}

/// Refuses BGV parameters whose divisions compute modulo the plaintext modulus, if the machine computes modulo
/// primes alone. `alone` says that the divisions use primes alone.
///
/// # Errors
/// Fails if the machine computes modulo primes alone and the divisions do not.
pub fn check_divisions(target: &Target, alone: bool) -> Result<(), Box<TargetError>> {
    if alone || !target.primes_alone.is {
        return Ok(());
    }
    Err(Box::new(TargetError {
        at: At(None),
        machine: target.machine.clone(),
        field: target.primes_alone.field,
        what: "divisions that keep messages are",
        needed: "computed modulo the plaintext modulus".to_owned(),
        allowed: "divisions modulo primes alone".to_owned(),
        cure: "let the compiler choose the parameters, or make them with divide_modulo_primes_alone",
    }))
}

/// Refuses a program that the machine would have to leave to a host.
///
/// # Errors
/// Fails at the first call of a procedure that computes modulo anything but primes, if the machine has no host
/// beside it.
pub(crate) fn check_procedures(target: &Target, program: &Program) -> Result<(), Box<TargetError>> {
    if !target.runs_whole.is {
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
                machine: target.machine.clone(),
                field: target.runs_whole.field,
                what: "what this line becomes computes modulo",
                needed: format!("`{modulus}`"),
                allowed: "NTT-friendly primes alone".to_owned(),
                cure: "take a machine that has a host beside it, or none",
            }));
        }
    }
    Ok(())
}

/// Checks parameters against the limits of a target machine.
///
/// # Errors
/// Fails at the first limit that the parameters do not keep, on the ring degree, the number of primes, the bits of a
/// prime, or the power of two modulo which primes are 1.
pub fn check(target: &Target, params: &impl ParameterSet) -> Result<(), Box<TargetError>> {
    let refuse = |field, what, needed: String, allowed: String, cure| {
        Err(Box::new(TargetError {
            at: At(None),
            machine: target.machine.clone(),
            field,
            what,
            needed,
            allowed,
            cure,
        }))
    };
    let log_n = params.log_n();
    if !target.log_n.is.contains(&log_n) {
        let cure = match log_n < *target.log_n.is.start() {
            true => "give parameters of a larger ring degree, or take another machine",
            false => {
                "make the program shallower or its values narrower (of real numbers: ask for less precision), or take another machine"
            }
        };
        return refuse(
            target.log_n.field,
            "log2 of the ring degree is",
            log_n.to_string(),
            format!("{} to {}", target.log_n.is.start(), target.log_n.is.end()),
            cure,
        );
    }
    if params.moduli().len() > target.moduli.is {
        return refuse(
            target.moduli.field,
            "the number of primes is",
            params.moduli().len().to_string(),
            format!("at most {}", target.moduli.is),
            "make the program shallower, or take another machine",
        );
    }
    let bits = |q: &u64| u64::BITS - q.leading_zeros();
    let widest = params.moduli().iter().map(bits).max().unwrap_or(0);
    if widest > target.modulus_bits.is {
        return refuse(
            target.modulus_bits.field,
            "the bits of the largest prime are",
            widest.to_string(),
            format!("at most {}", target.modulus_bits.is),
            "ask for less precision or declare narrower ranges, or take another machine",
        );
    }
    let mask = 1u64
        .checked_shl(target.friendly_bits.is)
        .map_or(u64::MAX, |x| x - 1);
    let unfriendly = |q: &&u64| **q & mask != 1 & mask;
    if let Some(q) = params.moduli().iter().find(unfriendly) {
        return refuse(
            target.friendly_bits.field,
            "a prime is",
            q.to_string(),
            format!("primes that are 1 mod 2^{}", target.friendly_bits.is),
            "let the compiler choose the parameters, or take another machine",
        );
    }
    Ok(())
}

/// Returns a modulus of a procedure's values that is no NTT-friendly prime, or `None` if there is none.
fn no_prime(procedure: &Procedure) -> Option<TableModulus> {
    let used = procedure.types.iter().filter_map(|ty| ty.modulus());
    let mut used = used.filter_map(|id| procedure.moduli.get(usize::from(id.0)).copied());
    used.find(|modulus| modulus.prime().is_none())
}
