// SPDX-License-Identifier: Apache-2.0
//! Where a program's values are refreshed, for whatever scheme refreshes them: a scheme says what is consumed on the way through a
//! program and what a refresh costs.

mod place;

use std::rc::Rc;

use ringmill_isa::macros::{MacroProgram, MacroValue};

pub use place::{Placement, best, tried};

/// A way through a program, instruction by instruction, on which values are refreshed where a placement says.
pub trait Course: Clone {
    /// What is lacking at a value whose message is lost.
    type Lost: Clone;
    type Error;

    /// Refreshes values as the placement says, from here on.
    fn refresh_by(&mut self, placement: Rc<Placement>);

    /// Goes through the instruction of that number, and refreshes first what the placement wants refreshed of what it reads.
    ///
    /// # Errors
    /// An instruction that the scheme refuses; that the work was stopped.
    fn go_on(&mut self, program: &MacroProgram, number: usize) -> Result<(), Self::Error>;

    /// What the way so far costs, refreshes among it.
    fn cost(&self) -> f64;

    /// What a refresh costs.
    fn of_refresh(&self) -> f64;

    /// Of the values whose messages are lost the first.
    fn lost(&self) -> Option<&Self::Lost>;

    /// What was refreshed, and by which cut.
    fn refreshed(&self) -> &[(MacroValue, usize)];

    /// How many of the values that are known gain capacity when they are refreshed.
    fn stale(&self) -> usize;

    /// Whether each of these can be refreshed here.
    ///
    /// # Errors
    /// What the scheme refuses.
    fn survives(&self) -> Result<bool, Self::Error>;

    /// Forgets a value that is read no more.
    fn forget(&mut self, old: MacroValue);

    /// The same without what is no longer needed to go on.
    fn lean(&self) -> Self;
}
