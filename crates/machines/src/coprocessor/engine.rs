// SPDX-License-Identifier: Apache-2.0
//! The interface to the RTL of a co-processor, which executes its turns in a card's run.

use ringmill_device::DeviceError;
use ringmill_isa::mid::ValueId;

use super::{Schedule, Turn};

/// A turn as the RTL ran it: the commands with its cycles, and the limbs of the results.
pub struct Executed {
    pub schedule: Schedule,
    pub limbs: Vec<(ValueId, Vec<u64>)>,
}

/// Returns the residues of a value of the procedure, if they are known.
pub type Residues<'a> = dyn Fn(ValueId) -> Option<&'a [u64]> + 'a;

/// Simulated RTL of one co-processor.
pub trait Engine {
    /// Executes the model's commands of a turn on these limbs.
    ///
    /// # Errors
    /// The errors of the RTL's driver, for instance if the RTL is slower than the model.
    fn turn<'a>(&mut self, turn: &Turn<'_>, limb: &Residues<'a>) -> Result<Executed, DeviceError>;
}
