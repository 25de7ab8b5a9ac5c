//! What the run time needs of a scheme beside compiling for it: its two parties, its messages and its report.

use ringmill_compiler::{Compiled, CompiledInput, Compiles};
use ringmill_schemes::roles::{KeyHolder, Operator};
use ringmill_schemes::{ParameterSet, Scheme};

use super::error::RuntimeError;
use crate::device::Outcome;
use crate::report::KeyReport;

/// A scheme whose compiled programs clients and servers run.
pub trait Runs: Compiles {
    type Holder: KeyHolder<Scheme = Self>;
    type Operator: Operator<Scheme = Self> + Sync;
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

    /// A constant vector of a program as a message; `None` for one that is none.
    fn constant(slots: &[(f64, f64)]) -> Option<Self::Message>;

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

/// What running a scheme's programs refuses.
pub type ErrorOf<S> = RuntimeError<<S as Scheme>::Error>;
pub type SecretKeyOf<S> = <<S as Runs>::Holder as KeyHolder>::SecretKey;

/// Slots of a program's messages.
pub(super) fn slots<S: Compiles>(compiled: &Compiled<S>) -> usize {
    compiled.source.slots as usize
}

/// Bytes of a limb of a program's full ring.
pub(super) fn limb_bytes<S: Compiles>(compiled: &Compiled<S>) -> u64 {
    8 << compiled.params.log_n()
}
