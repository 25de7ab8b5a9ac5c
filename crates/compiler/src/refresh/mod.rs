// SPDX-License-Identifier: Apache-2.0
//! Places bootstraps (refreshes) in a program for any scheme. The scheme says what values consume on the way through a
//! program, and what a refresh costs.

mod place;

use std::rc::Rc;

use ringmill_isa::macros::{MacroProgram, MacroValue};

pub use place::{Placement, best, tried};

/// A pass of a scheme through a program, instruction by instruction, that bootstraps (refreshes) values as a placement
/// says.
pub trait Course: Clone {
    /// The scheme's description of what a value whose message is lost lacks, such as bits of room for its noise.
    type Lost: Clone;
    type Error;

    /// Sets the placement by which values are refreshed from here on.
    fn refresh_by(&mut self, placement: Rc<Placement>);

    /// Processes the instruction with this number. Operands that the placement refreshes here are refreshed first.
    ///
    /// # Errors
    /// Fails for an instruction that the scheme refuses, or if the work is stopped.
    fn go_on(&mut self, program: &MacroProgram, number: usize) -> Result<(), Self::Error>;

    /// Returns the cost of all instructions so far, refreshes included.
    fn cost(&self) -> f64;

    /// Returns the cost of one refresh.
    fn of_refresh(&self) -> f64;

    /// Returns a description of what the first value with a lost message lacks, or `None` if all messages are safe.
    fn lost(&self) -> Option<&Self::Lost>;

    /// Returns the values that were refreshed, each with the cut that demanded it. A cut is the number of the
    /// instruction before which live values are refreshed.
    fn refreshed(&self) -> &[(MacroValue, usize)];

    /// Returns the number of values at this point of the program that would gain capacity from a refresh.
    fn stale(&self) -> usize;

    /// Returns whether every value that would gain capacity from a refresh could be refreshed here without losing its
    /// message.
    ///
    /// # Errors
    /// Returns the errors of the scheme.
    fn survives(&self) -> Result<bool, Self::Error>;

    /// Forgets a value of the program that no later instruction reads.
    fn forget(&mut self, old: MacroValue);

    /// Returns a copy of the pass that holds only what later instructions of the program need.
    fn lean(&self) -> Self;
}
