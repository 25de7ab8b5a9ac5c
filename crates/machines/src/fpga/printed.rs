// SPDX-License-Identifier: Apache-2.0
//! The resources that the paper of a machine (docs/papers.md) prints. Reports show them beside the resources that
//! Ringmill computes from the machine's description.

use serde::Serialize;

use ringmill_device::report::Resource;

/// The resources of an FPGA or a die that the paper of a machine (docs/papers.md) prints.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Printed {
    pub uses: Vec<PrintedUse>,
    /// The number of the machine's units that one die holds, if the machine's paper prints it.
    pub units_in_a_region: Option<u64>,
}

/// The amount of one resource that the paper of a machine (docs/papers.md) prints.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PrintedUse {
    pub resource: Resource,
    /// The amount of the resource that one unit of the machine takes, if the machine's paper prints it.
    pub each: Option<f64>,
    /// The amount of the resource that the whole machine takes, as its paper prints it.
    pub used: f64,
}

impl PrintedUse {
    /// Makes an entry for which the machine's paper prints only the amount of the whole machine.
    pub fn of_the_machine(resource: Resource, used: f64) -> Self {
        Self {
            resource,
            each: None,
            used,
        }
    }
}
