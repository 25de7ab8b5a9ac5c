// SPDX-License-Identifier: Apache-2.0
//! Chooses the kernel that computes a transform on this processor. It times the candidate kernels once for each shape of transform.
//!
//! A *shape* is the task, the width of the words, the size of the modulus and the length. At the
//! first transform of a shape, its candidates are timed for about a millisecond (16 ms at 2^16
//! coefficients) on data of that length. The fastest is used for the rest of the process. Every
//! candidate gives the same bits: a wrong choice costs time and nothing else.
//!
//! | environment variable | what it does |
//! | --- | --- |
//! | `RINGMILL_PLANS` | a level (`scalar`, `avx2`, `avx512`, `avx512ifma`): as on a processor that has no more; and how to choose: `timed`, `first` (the first candidate, nothing is timed) or `random:SEED`; both with a comma between |
//! | `RINGMILL_PLANS_FILE` | a file in which choices are kept from one process to the next; one of another processor, instruction set, version or format is ignored, and written anew |
//!
//! A thread that needs a shape which another thread is timing uses the first candidate and does not wait.

mod choose;
pub(crate) mod file;
pub(crate) mod policy;
pub(crate) mod processor;
pub(crate) mod timing;

use std::fmt;

pub(crate) use choose::{Arithmetic, Cell, Cells, Order, Planned, choice, names, run, run_on};
pub use choose::{made, patience};
// Only fused transforms, which have SIMD kernels alone, use these.
#[cfg(target_arch = "x86_64")]
pub(crate) use choose::{Chosen, ORDERS, Scratch, Settling, chosen, order_name, orders};
pub(crate) use policy::Policy;
pub use processor::processor;

use crate::MathError;

/// The name of the environment variable that fixes the choice of kernels.
pub const VARIABLE: &str = "RINGMILL_PLANS";
/// The name of the environment variable with the path of the file in which choices of kernels are kept.
pub const FILE_VARIABLE: &str = "RINGMILL_PLANS_FILE";

/// The kind of transform that a kernel computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Task {
    /// Transforms coefficients to evaluations.
    Forward,
    /// Transforms evaluations to coefficients.
    Inverse,
    /// Changes a limb's modulus, adds a constant, and transforms the coefficients to evaluations
    /// ([`crate::NttPlan::forward_from`]).
    ForwardFrom,
}

impl Task {
    /// Returns the name that tables and files give to the task.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Inverse => "inverse",
            Self::ForwardFrom => "forward-from",
        }
    }
}

/// The shape of a transform: its task, word width, size of modulus and length. Transforms of one shape share one choice
/// of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    pub task: Task,
    /// The bits of a word of the limb: 64 or 32.
    pub word_bits: u32,
    /// The most bits of a modulus for which the same kernels serve. 52 stands for the one prime 2^52 - 2^12 + 1.
    pub bits: u32,
    pub log_n: u8,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            task,
            word_bits,
            bits,
            log_n,
        } = self;
        write!(f, "{} {word_bits} {bits} {log_n}", task.name())
    }
}

/// The origin of the choice of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The kernel was the fastest of its candidates, which were timed in this process.
    Timed,
    /// The file of choices (`RINGMILL_PLANS_FILE`) named the kernel.
    File,
    /// The environment variable `RINGMILL_PLANS` fixes the choice: the first candidate, or a random
    /// one.
    Fixed,
    /// The kernel is the only one that can compute transforms of the shape.
    Only,
}

impl Source {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::File => "file",
            Self::Fixed => "fixed",
            Self::Only => "only",
        }
    }
}

/// A kernel that could compute the transforms of a shape. If the candidates were timed, `seconds`
/// is the time of one call at the lower quartile of the kernel's samples. Candidates that fell far
/// behind were timed less often. On a busy computer the chosen kernel ([`Choice::kernel`]) need not
/// have the shortest time.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    pub kernel: String,
    pub seconds: Option<f64>,
}

/// The kernel that was chosen for a shape of transform, with all candidates.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    pub shape: Shape,
    pub kernel: String,
    pub source: Source,
    pub candidates: Vec<Candidate>,
}

/// Checks the value of the environment variable [`VARIABLE`].
///
/// # Errors
/// Fails if the value cannot be read, or asks for an instruction set that this processor lacks.
pub fn check_environment() -> Result<(), MathError> {
    policy::policy().map(|_| ())
}

/// Returns the choice of kernels that the environment asks for. It is the default if the
/// environment's value cannot be used; [`check_environment`] reports such a value.
pub(crate) fn policy() -> &'static Policy {
    policy::policy_or_default()
}
