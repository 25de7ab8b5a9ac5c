// SPDX-License-Identifier: Apache-2.0
//! The resources that a paper prints for its machine. Reports show them beside the resources that
//! we compute.

use serde::Serialize;

use ringmill_device::report::Resource;

/// The resources of an FPGA or a die that a paper prints for its machine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Printed {
    pub uses: Vec<PrintedUse>,
    /// The number of units that one die holds, if the paper prints it.
    pub units_in_a_region: Option<u64>,
}

/// The amount of one resource in a paper's machine.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PrintedUse {
    pub resource: Resource,
    /// The amount of the resource that one unit of the paper's machine takes, if the paper prints
    /// it.
    pub each: Option<f64>,
    /// The amount of the resource that the paper's whole machine takes.
    pub used: f64,
}

impl PrintedUse {
    /// Makes an entry for which the paper prints the amount of the whole machine only.
    pub fn of_the_machine(resource: Resource, used: f64) -> Self {
        Self {
            resource,
            each: None,
            used,
        }
    }
}
