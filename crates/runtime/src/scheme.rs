// SPDX-License-Identifier: Apache-2.0
//! What the run time needs of a scheme beside compiling for it: which messages and keys its programs take, and its report. What
//! people are served with ([`Served`](crate::Served)) has all of it.

use ringmill_compiler::{Compiled, CompiledInput, Compiles, Values};
use ringmill_schemes::roles::KeyHolder;
use ringmill_schemes::{ParameterSet, Scheme};

use super::error::RuntimeError;
use crate::report::KeyReport;
use ringmill_device::Outcome;

/// A scheme whose compiled programs clients and servers run.
pub trait Runs: Compiles {
    /// What a run says of itself.
    type Report;

    /// The evaluation keys that a program takes.
    ///
    /// # Errors
    /// No memory or randomness.
    fn evaluation_keys(
        compiled: &Compiled<Self>,
        holder: &Self::Holder,
    ) -> Result<Self::Keys, Self::Error> {
        holder.evaluation_keys(&compiled.keys, compiled.seeded)
    }

    /// Refuses a message that is not one the input was compiled for; `slots` is the program's number of them.
    ///
    /// # Errors
    /// [`RuntimeError::VectorLength`], [`RuntimeError::OutOfRange`].
    fn check(
        input: &CompiledInput<Self>,
        slots: usize,
        message: &Self::Message,
    ) -> Result<(), RuntimeError<Self::Error>>;

    fn report(
        compiled: &Compiled<Self>,
        device: &str,
        outcome: &Outcome,
        keys: Option<KeyReport>,
    ) -> Self::Report;
}

/// A constant vector of a program as a message; `None` for one that is none.
pub(super) fn constant<S: Compiles>(slots: &[(f64, f64)]) -> Option<S::Message> {
    S::message(Values::of_constant(slots, S::NUMBERS)?)
}

/// What running a scheme's programs refuses.
pub type ErrorOf<S> = RuntimeError<<S as Scheme>::Error>;
pub type SecretKeyOf<S> = <<S as Scheme>::Holder as KeyHolder>::SecretKey;

/// Slots of a program's messages.
pub(super) fn slots<S: Compiles>(compiled: &Compiled<S>) -> usize {
    compiled.source.slots as usize
}

/// Bytes of a limb of a program's full ring.
pub(super) fn limb_bytes<S: Compiles>(compiled: &Compiled<S>) -> u64 {
    8 << compiled.params.log_n()
}
