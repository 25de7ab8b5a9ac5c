// SPDX-License-Identifier: Apache-2.0
//! The resources that a paper prints for its machine, shown beside the computed needs.

use serde::Serialize;

use ringmill_device::report::Resource;

/// The resources that a paper prints for its machine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Printed {
    pub uses: Vec<PrintedUse>,
    /// The units that a die region holds, if the paper prints this number.
    pub units_in_a_region: Option<u64>,
}

/// One resource.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PrintedUse {
    pub resource: Resource,
    /// The amount for one unit, if the paper prints it.
    pub each: Option<f64>,
    /// The amount for the machine.
    pub used: f64,
}

impl PrintedUse {
    /// Makes an entry for the whole machine alone.
    pub fn of_the_machine(resource: Resource, used: f64) -> Self {
        Self {
            resource,
            each: None,
            used,
        }
    }
}
