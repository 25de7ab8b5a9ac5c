// SPDX-License-Identifier: Apache-2.0
//! What is wanted of parameters that the compiler chooses.

use ringmill_schemes::bgv::{SecurityLevel, SecurityTable};

/// What chosen parameters must provide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    pub table: SecurityTable,
    pub level: SecurityLevel,
}
