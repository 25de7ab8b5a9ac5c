// SPDX-License-Identifier: Apache-2.0
//! The user's demands on BGV parameters that the compiler chooses.

use ringmill_schemes::bgv::{SecurityLevel, SecurityTable};

/// The demands on BGV parameters that the compiler chooses: the security table and level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    pub table: SecurityTable,
    pub level: SecurityLevel,
}
