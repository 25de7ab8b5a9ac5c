// SPDX-License-Identifier: Apache-2.0
//! What carries out the turns of a co-processor: its RTL, as a card's run drives it.

use ringmill_device::DeviceError;
use ringmill_isa::mid::ValueId;

use super::{Schedule, Turn};

/// A turn as the RTL ran it: the commands with its cycles, and the limbs that it gave.
pub struct Executed {
    pub schedule: Schedule,
    pub limbs: Vec<(ValueId, Vec<u64>)>,
}

/// The residues of a value of the procedure, where they are known.
pub type Residues<'a> = dyn Fn(ValueId) -> Option<&'a [u64]> + 'a;

/// Simulated RTL of one co-processor.
pub trait Engine {
    /// Carries out the commands that the model has for a turn, on these limbs.
    ///
    /// # Errors
    /// Those of the RTL's driver, as where it is slower than the model.
    fn turn<'a>(&mut self, turn: &Turn<'_>, limb: &Residues<'a>) -> Result<Executed, DeviceError>;
}
