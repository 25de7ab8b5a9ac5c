// SPDX-License-Identifier: Apache-2.0
//! Drives the RTL of the polynomial multiplier in simulation.
//!
//! [`Multiplier`] is the machine as a host uses it: it loads tables and limbs, runs commands and unloads, each with
//! its cycles. It refuses a command that the machine would refuse, with a typed error, before the machine sees it.
//! [`Driver`] is the pins, for callers that want the hardware's own result code. [`lockstep`] compares one operation
//! with the models, residue by residue and cycle by cycle. [`execute`] sends scheduled commands in their cycles.
//!
//! ```no_run
//! use std::sync::Arc;
//! use ringmill_hdl::polymul::{Multiplier, Place};
//! use ringmill_hdl::{BuildOptions, Hdl, Optimise};
//! use ringmill_machines::polymul::{ArrayOp, Shape, Tables};
//!
//! let hdl = Hdl::find(std::path::Path::new("."))?;
//! let shape = Shape::new(4, 12, 4).unwrap();
//! let options = BuildOptions { optimise: Optimise::Run, ..Default::default() };
//! let mut machine = Multiplier::new(&hdl, shape, options)?;
//! machine.load_tables(&Arc::new(Tables::new(shape, 256, 7681)?))?;
//! let place = |eval| Place { set: 0, buf: 0, eval };
//! machine.load(place(false), &[1; 256])?;
//! let cycles = machine.run(ArrayOp::Ntt, 0, 0)?;
//! let (_, transformed) = machine.unload(place(true))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod code;
mod dice;
mod driver;
mod error;
mod execute;
mod lockstep;
mod multiplier;
mod ports;

pub use code::{Code, Op, Place, Request, Unit};
pub use dice::Dice;
pub use driver::Driver;
pub use error::{Difference, DriveError, Mismatch};
pub use execute::{Executed, execute};
pub use lockstep::{Lockstep, lockstep};
pub use multiplier::Multiplier;

use ringmill_machines::polymul::Shape;

use crate::Top;

/// Returns the multiplier's RTL module with the parameters of a shape.
pub fn top(shape: Shape) -> Top {
    Top::new("rm_polymul")
        .int("Units", shape.units() as u64)
        .int("MaxLogN", u64::from(shape.max_log_n()))
        .int("Beat", shape.beat() as u64)
}
