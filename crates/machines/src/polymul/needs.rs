// SPDX-License-Identifier: Apache-2.0
//! Counts the FPGA resources of a polynomial multiplier: the memories and multipliers of `rtl/polymul`.

use super::shape::{SETS, SLOTS, WIDTH};
use super::{Description, Shape};
use crate::MachineError;
use crate::fpga::{Fit, MemoryKind, Multipliers, Need, Needs, Part, Reduction, Unit};

/// The number of beats that the multiplier's unload unit, which sends results out, reads ahead of its output stream
/// (`Ahead` of `rm_polymul_unload`).
const AHEAD: u64 = 8;

impl Description {
    /// Returns the resources that the polynomial multiplier needs, compared with those that its FPGA has.
    ///
    /// # Errors
    /// [`MachineError::Field`] for a field out of range. [`MachineError::UnknownPart`] for an unknown FPGA.
    /// [`MachineError::ExceedsPart`] if the machine needs more than the FPGA has and `allow_more_than_the_part_has`
    /// gives no reason. [`MachineError::FitsAfterAll`] if it gives a reason and the machine fits.
    pub fn fit(&self) -> Result<Fit, MachineError> {
        let needs = self.shape()?.needs(&self.name, Part::named(&self.part)?);
        needs.accepted(self.allow_more_than_the_part_has.as_deref())
    }
}

impl Shape {
    /// Returns the memories and multipliers of a polynomial multiplier of this shape on the FPGA `part`.
    pub fn needs(self, machine: &str, part: &'static Part) -> Needs {
        let units = self.units() as u64;
        // The rows of 2P coefficients of the largest degree.
        let rows = (1u64 << self.max_log_n()) / (2 * units);
        let word = u64::from(WIDTH);
        // Stages with fewer blocks than rows share `rows` words, and each of the log2 P + 1 others has as many. A slot
        // is a power of two.
        let slot = ((u64::from(units.ilog2()) + 2) * rows).next_power_of_two();
        let sets = SETS as u64;
        Needs {
            machine: machine.to_owned(),
            part,
            unit: Unit {
                name: "processing unit",
                count: units,
                needs: vec![
                    // Two banks a set, a word of each of its two limbs for each row.
                    Need::memory("banks", MemoryKind::Bram, 2 * sets, 2 * rows, word),
                    Need::memory("twiddles", MemoryKind::Bram, 1, SLOTS as u64 * slot, word),
                    Need::Multipliers(Multipliers {
                        name: "modular multiplier".to_owned(),
                        count: 1,
                        width: WIDTH,
                        reduction: Reduction::NttFriendly,
                    }),
                ],
            },
            // An entry is a beat, with a bit that marks the last one.
            shared: vec![Need::memory(
                "unload queue",
                MemoryKind::Lutram,
                1,
                AHEAD,
                self.beat() as u64 * word + 1,
            )],
        }
    }
}
