// SPDX-License-Identifier: Apache-2.0
//! TFHE from front to back: programs on encrypted bits and integers, what the scheme runs of them, and who runs it.
//!
//! | question | module |
//! | --- | --- |
//! | the scheme: parameters, keys, encryption, bootstraps on this computer's kernels | [`tfhe`] |
//! | from a program or a netlist to lookups and gates, one bootstrap each | [`circuit`] |
//! | a bootstrap as a program of the mid level, on any device | [`Bootstrap`] |
//! | who runs a circuit, where its run is kept, what a machine would take | [`run`] |

mod bootstrap;
pub mod circuit;
pub mod run;
pub mod tfhe;

pub use bootstrap::{Bootstrap, BootstrapError};

/// Items that the crate's own tests reach; no part of the interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::tfhe::plan::Plan;
}
