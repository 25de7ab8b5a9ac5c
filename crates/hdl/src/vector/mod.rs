// SPDX-License-Identifier: Apache-2.0
//! The vector machine's RTL behind a safe handle: [`Machine`] runs micro programs, and [`lockstep`] holds what was seen of one to the
//! performance simulator, cycle for cycle. [`comparisons`] are what the machine's arithmetic is compared with.

mod areas;
mod host;
mod lockstep;
mod machine;
mod tables;

pub use areas::{
    Comparison, Element, ElementArea, Piece, comparisons, elements, network, saved_percent,
    transform_unit, whole_multipliers,
};
pub use host::Host;
pub use lockstep::{Divergence, lockstep};
pub use machine::{Ended, Fault, Machine, Trace, VectorError, Writer, moved, top};
pub use tables::table_words;
