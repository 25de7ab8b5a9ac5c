// SPDX-License-Identifier: Apache-2.0
//! The interface to the RTL of a co-processor, which executes the co-processor's commands in the
//! run of a card.

use ringmill_device::DeviceError;
use ringmill_isa::mid::ValueId;

use super::{Schedule, Turn};

/// The result of one turn, the jobs of one co-processor in one stage, in the RTL: the commands with
/// the RTL's cycles, and the residues of the results.
pub struct Executed {
    pub schedule: Schedule,
    pub limbs: Vec<(ValueId, Vec<u64>)>,
}

/// A function that returns the residues of a value of the procedure, or `None` if they are unknown.
pub type Residues<'a> = dyn Fn(ValueId) -> Option<&'a [u64]> + 'a;

/// The simulated RTL of one co-processor.
pub trait Engine {
    /// Executes the model's commands of a turn, the jobs of one co-processor in one stage, in the
    /// RTL. `limb` returns the residues of the operands.
    ///
    /// # Errors
    /// The errors of the RTL's driver, for instance if the RTL takes more cycles than the model.
    fn turn<'a>(&mut self, turn: &Turn<'_>, limb: &Residues<'a>) -> Result<Executed, DeviceError>;
}
