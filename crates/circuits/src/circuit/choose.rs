// SPDX-License-Identifier: Apache-2.0
//! Compiles a program on encrypted integers, or a netlist, to a TFHE circuit, and chooses the cheapest parameter set. A
//! circuit consists of lookups under sets for messages of 2 bits with carries of 2 bits, and of gates under sets for
//! booleans.

use std::sync::Arc;

use ringmill_limits::Watch;

use super::error::CircuitError;
use super::gates::{self, Limits};
use super::graph::BITS;
use super::lower::{self, Circuit};
use super::netlist::{self, Netlist};
use super::program::Program;
use super::simplify::simplify;
use crate::tfhe::params::FailureRate;
use crate::tfhe::{Messages, Params};

/// The names of the parameter sets that front ends pass to [`choose`] by default: one for messages of 2 bits with
/// carries of 2 bits, one for booleans.
pub const CANDIDATES: [&str; 2] = ["circuits", "circuit_bits"];

/// The source of a circuit: a program on integers, or a netlist of gates.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    Program(&'a Program),
    Netlist(&'a Netlist),
}

impl Source<'_> {
    /// Compiles the source for a parameter set. Each bootstrap of the circuit fails with a probability of at most
    /// 2^`failure`. The circuit has gates if the parameters are for booleans, and lookups if they are for messages of 2
    /// bits with carries of 2 bits.
    ///
    /// # Errors
    /// [`CircuitError::Unreliable`] for a probability above 2^-40 or a NaN; [`CircuitError::Fails`],
    /// [`CircuitError::Noise`] for parameters that fail more often; [`CircuitError::Messages`] for parameters of other
    /// messages; [`CircuitError::Halt`].
    pub fn compile(
        self,
        params: &Params,
        failure: f64,
        watch: &Watch,
    ) -> Result<Circuit, CircuitError> {
        // A comparison with NaN is false, so NaN needs its own check.
        let most = FailureRate::default().log2();
        if failure.is_nan() || failure > f64::from(most) {
            let asked = failure;
            return Err(CircuitError::Unreliable { asked, most });
        }
        let noise = params.noise();
        match params.sizes().messages {
            Messages::Booleans => {
                let limits = Limits::of(&noise, failure)?;
                match self {
                    Self::Program(program) => {
                        gates::lower(&simplify(program, watch)?, limits, watch)
                    }
                    Self::Netlist(netlist) => netlist::lower_to_gates(netlist, limits, watch),
                }
            }
            Messages::CIRCUITS => {
                let limit = noise.largest_norm(BITS, failure);
                let limit = limit.ok_or_else(|| CircuitError::Fails {
                    asked: failure,
                    got: noise.sum_failure(BITS, 1),
                })?;
                match self {
                    Self::Program(program) => {
                        lower::lower(&simplify(program, watch)?, limit, watch)
                    }
                    Self::Netlist(netlist) => netlist::lower(netlist, limit, watch),
                }
            }
            Messages::Integers {
                message_bits,
                carry_bits,
            } => Err(CircuitError::Messages {
                got: format!("integers of {message_bits} + {carry_bits} bits"),
            }),
        }
    }
}

/// The estimated cost of one circuit under one parameter set: its number of bootstraps, its work and its failure
/// probability.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The name of the parameter set, or `None` for parameters without a name.
    pub set: Option<&'static str>,
    pub bootstraps: usize,
    /// The number of bootstraps on the circuit's longest path from an input to an output.
    pub depth: usize,
    /// The bytes that the operations of all bootstraps touch ([`crate::tfhe::Floor::work`]). The choice minimises this
    /// number, which is counted from sizes, so every computer chooses the same set.
    pub work: u64,
    /// log2 of an upper bound on the probability that some bootstrap of a run of the circuit fails: the sum over all
    /// bootstraps.
    pub failure: f64,
}

impl Estimate {
    pub fn of(circuit: &Circuit, params: &Params) -> Self {
        let cost = circuit.graph.cost();
        Self {
            set: params.name(),
            bootstraps: cost.bootstraps,
            depth: cost.depth,
            work: params.floor().work() * cost.bootstraps as u64,
            failure: circuit.graph.failure(&params.noise()),
        }
    }
}

/// The parameter set with the least work, the circuit compiled for that set, and the estimates of all sets.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub params: Arc<Params>,
    pub circuit: Circuit,
    /// The estimates of all parameter sets whose failure probability is low enough, in the order of the `sets`
    /// argument.
    pub estimates: Vec<Estimate>,
}

/// Chooses the parameter set under which the circuit takes the least work, and the first of equal ones. A set under
/// which a bootstrap fails with a probability above 2^`failure` is left out.
///
/// # Errors
/// [`CircuitError::Refused`] if `sets` is empty; the error of the last set if none is reliable enough; other errors of
/// [`Source::compile`].
pub fn choose(
    source: Source<'_>,
    sets: &[Arc<Params>],
    failure: f64,
    watch: &Watch,
) -> Result<Chosen, CircuitError> {
    let mut estimates = Vec::with_capacity(sets.len());
    let mut best: Option<(u64, Arc<Params>, Circuit)> = None;
    let mut refused = CircuitError::Refused("there are no sets to choose from".to_owned());
    for params in sets {
        let circuit = match source.compile(params, failure, watch) {
            Ok(circuit) => circuit,
            Err(error @ (CircuitError::Fails { .. } | CircuitError::Noise { .. })) => {
                refused = error;
                continue;
            }
            Err(error) => return Err(error),
        };
        let estimate = Estimate::of(&circuit, params);
        estimates.push(estimate);
        if best.as_ref().is_none_or(|(work, ..)| estimate.work < *work) {
            best = Some((estimate.work, Arc::clone(params), circuit));
        }
    }
    let (_, params, circuit) = best.ok_or(refused)?;
    Ok(Chosen {
        params,
        circuit,
        estimates,
    })
}
