// SPDX-License-Identifier: Apache-2.0
//! The user's demands on BFV parameters that the compiler chooses.

use ringmill_schemes::bfv::{Multiplication, SecurityLevel, SecurityTable};

/// The demands on BFV parameters that the compiler chooses: the way of multiplication, the security table and level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    pub multiplication: Multiplication,
    pub table: SecurityTable,
    pub level: SecurityLevel,
}
