// SPDX-License-Identifier: Apache-2.0
//! Counts the FPGA resources of a base-extension unit: the memories and multipliers of `rtl/basext`.

use super::{Description, Shape, Shared, Word, latency};
use crate::MachineError;
use crate::fpga::{Fit, MemoryKind, Multipliers, Need, Needs, Part, Reduction, Unit};

impl Description {
    /// Returns the resources that the base-extension machine needs, compared with those that its FPGA has.
    ///
    /// # Errors
    /// [`MachineError::Field`] for a field out of range. [`MachineError::UnknownPart`] for an unknown FPGA.
    /// [`MachineError::ExceedsPart`] if the machine needs more than the FPGA has and `allow_more_than_the_part_has`
    /// gives no reason. [`MachineError::FitsAfterAll`] if it gives a reason and the machine fits.
    pub fn fit(&self) -> Result<Fit, MachineError> {
        let needs = self.unit()?.needs(&self.name, Part::named(&self.part)?);
        needs.accepted(self.allow_more_than_the_part_has.as_deref())
    }
}

impl Shape {
    /// Returns the memories and multipliers of a folded unit (one target modulus at a time) of this
    /// shape on the FPGA `part`.
    pub fn needs(self, machine: &str, part: &'static Part) -> Needs {
        let bits = self.word().modulus_bits();
        let (width, lanes) = (u64::from(bits), self.lanes() as u64);
        let (l, k) = (self.max_l() as u64, self.max_k() as u64);
        let table =
            |name, count, depth| Need::memory(name, MemoryKind::Lutram, count, depth, width);
        let matrix = l.next_power_of_two() * k.next_power_of_two();
        let queue = (super::folded_delay(self) + 5).next_power_of_two();
        Needs {
            machine: machine.to_owned(),
            part,
            unit: Unit {
                name: "lane",
                count: lanes,
                needs: vec![
                    // The sums for a target, the sums for the redundant modulus, and the redundant residues.
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
                // An entry is a beat, with a bit that marks the last one.
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

impl Shared {
    /// Returns the memories and multipliers of a shared unit of this shape, which computes a batch of target moduli at
    /// a time, on the FPGA `part`.
    pub fn needs(self, machine: &str, part: &'static Part) -> Needs {
        let shape = self.shape();
        let bits = shape.word().modulus_bits();
        let (width, lanes) = (u64::from(bits), shape.lanes() as u64);
        let batch = self.batch() as u64;
        let beats = shape.beats(shape.max_log_n());
        let bram = |name, count, width| Need::memory(name, MemoryKind::Bram, count, beats, width);
        let table =
            |name, count, depth| Need::memory(name, MemoryKind::Lutram, count, depth, width);
        let queue = (latency(shape) + 2).next_power_of_two();
        let mut each = vec![
            bram("redundant sums", 1, width),
            bram("target sums", 1, batch * width),
        ];
        if self.rows_kept() > 0 {
            // The RTL has one memory with the rows one behind the other, so no tool must fill the last blocks of one
            // row with the next.
            each.push(bram("kept rows", self.rows_kept(), width));
        }
        each.push(Need::Multipliers(Multipliers {
            name: "modular multipliers".to_owned(),
            count: batch + 2,
            width: bits,
            reduction: Reduction::WideWords,
        }));
        Needs {
            machine: machine.to_owned(),
            part,
            unit: Unit {
                name: "lane",
                count: lanes,
                needs: each,
            },
            shared: vec![
                // q_i and m, |Qhat_i^-1| and |-Q^-1|, |q_i^-1| and 1 modulo m.
                table("constants of sources", 3, shape.max_l() as u64 + 1),
                table("moduli of targets", batch, self.rounds_at_most()),
                // |Qhat_i| and |-Q| modulo p_j, of each target of a channel.
                table("constants of channels", batch, self.places_at_most()),
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

/// Returns the bytes of one word in the unit's input and output streams.
pub(super) fn word_bytes(word: Word) -> u64 {
    u64::from(word.bits()) / 8
}
