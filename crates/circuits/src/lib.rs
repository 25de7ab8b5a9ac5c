// SPDX-License-Identifier: Apache-2.0
//! TFHE as a whole: programs on encrypted bits and integers, their circuits, the scheme itself, and the runs of
//! circuits.
//!
//! | question | module |
//! | --- | --- |
//! | the scheme: parameters, keys, encryption, bootstraps on this computer's kernels | [`tfhe`] |
//! | from a program or a netlist to lookups and gates, one bootstrap each or one for several | [`circuit`] |
//! | a bootstrap as limb programs, on any device | [`Bootstrap`] |
//! | runs of a circuit, their checkpoints, the time on a machine | [`run`] |

mod bootstrap;
pub mod circuit;
pub mod run;
pub mod tfhe;

pub use bootstrap::{Bootstrap, BootstrapError};

/// Items of the crate that its own tests use. They are no part of the public interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::tfhe::plan::Plan;

    pub mod checkpoint {
        pub use crate::run::checkpoint::{Reached, Whose, bytes, kept, put, read};
    }
}
