//! What a base-extension unit needs of its part: the memories and multipliers of `rtl/basext`.

use super::{Description, Shape, Word};
use crate::MachineError;
use crate::fpga::{Fit, MemoryKind, Multipliers, Need, Needs, Part, Reduction, Unit};

impl Description {
    /// What it needs beside what its part has.
    ///
    /// # Errors
    /// [`MachineError::Field`] for a field out of range, [`MachineError::UnknownPart`], [`MachineError::ExceedsPart`] unless
    /// `allow_more_than_the_part_has` gives a reason, [`MachineError::FitsAfterAll`] where there is nothing to allow.
    pub fn fit(&self) -> Result<Fit, MachineError> {
        let needs = self.shape()?.needs(&self.name, Part::named(&self.part)?);
        needs.accepted(self.allow_more_than_the_part_has.as_deref())
    }
}

impl Shape {
    /// What a folded unit of this shape needs.
    pub fn needs(self, machine: &str, part: &'static Part) -> Needs {
        let bits = self.word().modulus_bits();
        let (width, lanes) = (u64::from(bits), self.lanes() as u64);
        let (l, k) = (self.max_l() as u64, self.max_k() as u64);
        let table =
            |name, count, depth| Need::memory(name, MemoryKind::Lutram, count, depth, width);
        let matrix = l.next_power_of_two() * k.next_power_of_two();
        let queue = (super::sum_delay(self) + 5).next_power_of_two();
        Needs {
            machine: machine.to_owned(),
            part,
            unit: Unit {
                name: "lane",
                count: lanes,
                needs: vec![
                    // Target sums, redundant sums, redundant residues.
                    Need::memory(
                        "sums and residues",
                        MemoryKind::Bram,
                        3,
                        self.beats(self.max_log_n()),
                        width,
                    ),
                    Need::Multipliers(Multipliers {
                        name: "modular multipliers".to_owned(),
                        count: 3,
                        width: bits,
                        reduction: Reduction::WideWords,
                    }),
                ],
            },
            shared: vec![
                // q_i, |Qhat_i^-1| and |Qhat_i| modulo m; p_j and |Q| modulo p_j.
                table("constants of sources", 3, l),
                table("constants of targets", 2, k),
                Need::memory("constants of pairs", MemoryKind::Bram, 1, matrix, width),
                // A beat and its mark of the last.
                Need::memory(
                    "output queue",
                    MemoryKind::Lutram,
                    1,
                    queue,
                    lanes * width + 1,
                ),
            ],
        }
    }
}

/// Bytes of a word of the streams.
pub(super) fn word_bytes(word: Word) -> u64 {
    u64::from(word.bits()) / 8
}
