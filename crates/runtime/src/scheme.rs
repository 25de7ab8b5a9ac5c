// SPDX-License-Identifier: Apache-2.0
//! The interface that a scheme implements so that clients and servers can run its programs.
//!
//! To the interface that the compiler needs, it adds evaluation keys, checks of messages and a report.
//! [`Served`](crate::Served) adds the parts that front ends need.

use ringmill_compiler::{Compiled, CompiledInput, Compiles, Values};
use ringmill_schemes::roles::{KeyHolder, Sender};
use ringmill_schemes::{ParameterSet, Scheme};

use super::error::RuntimeError;
use crate::report::KeyReport;
use ringmill_device::Outcome;

/// A scheme whose compiled programs clients and servers run.
pub trait Runs: Compiles {
    /// The type of the report that a run of the scheme's program gives.
    type Report;

    /// Makes the evaluation keys that a compiled program needs, from the secret key.
    ///
    /// # Errors
    /// The scheme's error if memory or randomness is missing.
    fn evaluation_keys(
        compiled: &Compiled<Self>,
        holder: &Self::Holder,
    ) -> Result<Self::Keys, Self::Error> {
        holder.evaluation_keys(&compiled.keys, compiled.seeded)
    }

    /// Checks that a message suits an input with the range for which the program was compiled. `slots` is the length of
    /// the program's messages.
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

/// Converts a constant vector of a program to a message of the scheme. Returns `None` if the scheme has no such
/// message, for instance for fractions in a scheme of integers.
pub(super) fn constant<S: Compiles>(slots: &[(f64, f64)]) -> Option<S::Message> {
    S::message(Values::of_constant(slots, S::NUMBERS)?)
}

/// The error type of clients and servers of a scheme's programs.
pub type ErrorOf<S> = RuntimeError<<S as Scheme>::Error>;
pub type SecretKeyOf<S> = <<S as Scheme>::Holder as KeyHolder>::SecretKey;
pub type SenderOf<S> = <<S as Scheme>::Holder as KeyHolder>::Sender;
pub type PublicKeyOf<S> = <SenderOf<S> as Sender>::PublicKey;

/// Returns the number of slots of a program's messages.
pub(super) fn slots<S: Compiles>(compiled: &Compiled<S>) -> usize {
    compiled.source.slots as usize
}

/// Returns the number of bytes of one limb at the ring degree of a program's parameters, at 8 bytes a coefficient.
pub(super) fn limb_bytes<S: Compiles>(compiled: &Compiled<S>) -> u64 {
    8 << compiled.params.log_n()
}
