// SPDX-License-Identifier: Apache-2.0
//! Chooses the kernel that computes a transform on this processor. It times the candidates once for each shape.
//!
//! A *shape* is the task, the width of the words, the size of the modulus and the length. At the first call with a
//! shape, its candidates are timed for about a millisecond (16 ms at 2^16) on data of that length, and the fastest
//! serves for the rest of the process. Every candidate gives the same bits: a wrong choice costs time and nothing else.
//!
//! | environment variable | what it does |
//! | --- | --- |
//! | `RINGMILL_PLANS` | a level (`scalar`, `avx2`, `avx512`, `avx512ifma`): as on a processor that has no more; and how to choose: `timed`, `first` (the first candidate, nothing is timed) or `random:SEED`; both with a comma between |
//! | `RINGMILL_PLANS_FILE` | a file in which choices are kept from one process to the next; one of another processor, version or format is ignored, and written anew |
//!
//! A thread that meets a shape which another is timing goes on with the first candidate and does not wait.

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

/// The environment variable that fixes choices.
pub const VARIABLE: &str = "RINGMILL_PLANS";
/// The environment variable that names the file in which choices are kept.
pub const FILE_VARIABLE: &str = "RINGMILL_PLANS_FILE";

/// The direction of a transform.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Task {
    /// Coefficients to evaluations.
    Forward,
    /// Evaluations to coefficients.
    Inverse,
    /// A change of modulus, a product with a constant, then [`Task::Forward`] ([`crate::NttPlan::forward_from`]).
    ForwardFrom,
}

impl Task {
    /// Returns the name of the task in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Inverse => "inverse",
            Self::ForwardFrom => "forward-from",
        }
    }
}

/// The transforms that share one choice of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    pub task: Task,
    /// Width of a word of the limb: 64 or 32.
    pub word_bits: u32,
    /// The largest modulus, in bits, that the same kernels serve; 52 stands for the one prime 2^52 - 2^12 + 1.
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

/// The origin of a choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The candidates were timed.
    Timed,
    /// The file of choices had it.
    File,
    /// `RINGMILL_PLANS` fixes it.
    Fixed,
    /// There was one candidate only.
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

/// A kernel that could serve a shape, with the seconds that a call took in the better samples if it was timed.
/// Candidates that fell far behind were timed less often. On a busy computer the chosen kernel need not have the
/// shortest time ([`Choice::kernel`]).
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    pub kernel: String,
    pub seconds: Option<f64>,
}

/// The kernel that serves a shape, with all candidates.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    pub shape: Shape,
    pub kernel: String,
    pub source: Source,
    pub candidates: Vec<Candidate>,
}

/// Checks the value of [`VARIABLE`].
///
/// # Errors
/// A value that cannot be read, or that asks for a level that this processor lacks.
pub fn check_environment() -> Result<(), MathError> {
    policy::policy().map(|_| ())
}

/// Returns the policy of the environment, or the default if the environment's value cannot be used.
/// [`check_environment`] reports such a value.
pub(crate) fn policy() -> &'static Policy {
    policy::policy_or_default()
}
