// SPDX-License-Identifier: Apache-2.0
//! Drives the RTL of the base-extension units in simulation.
//!
//! [`Extender`] sends commands and streams to a unit, with stalls on request. It returns the unit's result codes,
//! polynomials and cycles. [`Executor`] runs a machine's sequence of commands on a unit.

mod code;
mod execute;
mod extender;

pub use code::{Code, Command, Operation};
pub use execute::{Executed, Executor};
pub use extender::{Beat, ExtendError, Extender, Outcome};

use ringmill_machines::basext::rowers::Algorithm;
use ringmill_machines::basext::{Shape, Unit};

use crate::Top;

/// Returns the RTL module of the folded base-extension unit, with the parameters of the shape
/// `shape`.
pub fn top(shape: Shape) -> Top {
    top_of(shape.into())
}

/// Returns the RTL module of a base-extension unit with its parameters. The lanes of the folded
/// unit are equal, so synthesis maps one of them and uses the result for all.
pub fn top_of(unit: Unit) -> Top {
    let shape = unit.shape();
    let top = match unit {
        Unit::Folded(_) => Top::new("rm_basext_folded").once("rm_basext_lane"),
        Unit::Pipelined(_) => Top::new("rm_basext_pipelined"),
        Unit::Rowers(algorithm, _) => {
            let digits = algorithm == Algorithm::MixedRadix;
            Top::new("rm_basext_rowers").int("Digits", u64::from(digits))
        }
        Unit::Radix(_) => Top::new("rm_basext_radix"),
        Unit::Shared(unit) => Top::new("rm_basext_shared").int("Batch", unit.batch() as u64),
    };
    top.int("Width", u64::from(shape.word().modulus_bits()))
        .int("Lanes", shape.lanes() as u64)
        .int("MinLogN", u64::from(shape.min_log_n()))
        .int("MaxLogN", u64::from(shape.max_log_n()))
        .int("MaxL", shape.max_l() as u64)
        .int("MaxK", shape.max_k() as u64)
}
