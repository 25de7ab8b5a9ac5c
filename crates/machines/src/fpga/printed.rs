// SPDX-License-Identifier: Apache-2.0
//! What a paper says that its machine took of its part: it stands beside the needs that are computed.

use serde::Serialize;

use ringmill_device::report::Resource;

/// What a paper prints of its machine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Printed {
    pub uses: Vec<PrintedUse>,
    /// Units that a die region holds, where it says so.
    pub units_in_a_region: Option<u64>,
}

/// One resource.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PrintedUse {
    pub resource: Resource,
    /// Of one unit, where it says so.
    pub each: Option<f64>,
    /// Of the machine.
    pub used: f64,
}

impl PrintedUse {
    /// Of the whole machine alone.
    pub fn of_the_machine(resource: Resource, used: f64) -> Self {
        Self {
            resource,
            each: None,
            used,
        }
    }
}
