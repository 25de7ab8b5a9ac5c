// SPDX-License-Identifier: Apache-2.0
//! Computes the time that a machine takes for all bootstraps of a circuit, from the cycles of one bootstrap.

use ringmill_device::Device;
use ringmill_limits::Watch;

use crate::bootstrap::{Bootstrap, BootstrapError};
use crate::circuit::Graph;

/// The cycles of a circuit's bootstraps on a device's machine. Timing does not depend on data, so one bootstrap stands
/// for all.
#[derive(Clone, PartialEq, Debug)]
pub struct MachineTime {
    pub machine: String,
    /// The source of the cycles: "model" for the cycle model, or "RTL" for a simulation of the machine's RTL.
    pub how: &'static str,
    pub clock_mhz: f64,
    pub bootstraps: usize,
    /// The cycles of one bootstrap alone, from the load of its ciphertext to its last output word. They include a key
    /// switch that follows the blind rotation, but none that precedes it ([`crate::tfhe::Order::KeySwitchFirst`]).
    pub each: u64,
    /// The number of ciphertexts that the machine's engine interleaves.
    pub places: usize,
    /// The cycles of all bootstraps: an upper bound if the machine runs `places` blind rotations of one level of the
    /// circuit at once, and `bootstraps` times `each` if `places` is 1. Like `each` they leave out key switches before
    /// blind rotations, and they count tables that share a rotation as one.
    pub interleaved: u64,
}

impl MachineTime {
    /// Times one bootstrap on the device. Returns `None` for a device that is no machine.
    ///
    /// # Errors
    /// [`BootstrapError::Device`].
    pub fn of(
        bootstrap: &Bootstrap,
        device: &dyn Device,
        graph: &Graph,
        watch: &Watch,
    ) -> Result<Option<Self>, BootstrapError> {
        let Some(report) = bootstrap.any(device, watch)?.machine else {
            return Ok(None);
        };
        let levels = levels(graph);
        let bootstraps = levels.iter().sum();
        let each = report.cycles;
        let (places, interleaved) = match report.interleaved() {
            Some(together) => {
                let groups = levels.iter().map(|n| n.div_ceil(together.places));
                let shares = groups.sum::<usize>() * together.places;
                (together.places, shares as u64 * together.cycles)
            }
            None => (1, bootstraps as u64 * each),
        };
        Ok(Some(Self {
            machine: report.machine,
            how: report.how,
            clock_mhz: report.clock_mhz,
            bootstraps,
            each,
            places,
            interleaved,
        }))
    }
}

/// Returns the number of blind rotations on each level of the circuit. The operands of a level's rotations come from
/// lower levels only.
fn levels(graph: &Graph) -> Vec<usize> {
    let rotations = graph.rotations();
    // The level of each lookup's rotation.
    let mut level = vec![0; graph.lookups.len()];
    let mut found = Vec::new();
    for rotation in &rotations {
        let operands = rotation
            .iter()
            .flat_map(|&at| graph.lookups[at].operand.terms());
        let sources = operands.filter_map(|&(wire, _)| graph.source(wire));
        let own = sources.map(|at| level[at] + 1).max().unwrap_or(0);
        rotation.iter().for_each(|&at| level[at] = own);
        if found.len() <= own {
            found.resize(own + 1, 0);
        }
        found[own] += 1;
    }
    found
}
