//! What a ring machine needs of its part, from the fields of its description (docs/machines/ring.md, "What it needs").

use super::description::{Description, TwiddleSource};
use crate::MachineError;
use crate::fpga::{Fit, MemoryKind, Multipliers, Need, Needs, Part, Reduction, Unit};

/// The full ring and both half rings: each has twiddles of its own.
const RINGS: u64 = 3;

impl Description {
    /// What it needs beside what its part has; the fields are in range.
    ///
    /// # Errors
    /// [`MachineError::UnknownPart`], [`MachineError::ExceedsPart`] unless `allow_more_than_the_part_has` gives a reason,
    /// [`MachineError::FitsAfterAll`] where there is nothing to allow.
    pub(super) fn fit(&self) -> Result<Fit, MachineError> {
        self.needs()?
            .accepted(self.allow_more_than_the_part_has.as_deref())
    }

    fn needs(&self) -> Result<Needs, MachineError> {
        let (row, word) = (self.row() as u64, u64::from(self.word_bits));
        let rows = (1u64 << self.log_n).div_ceil(row);
        let mut needs = Vec::new();
        let mut first = 0;
        for group in &self.memory {
            let last = first + group.slots.saturating_sub(1);
            let name = match group.slots {
                1 => format!("RPM {first}"),
                _ => format!("RPM {first}-{last}"),
            };
            first += group.slots;
            // In a transform the coefficients of a row lie at different addresses: a memory for each column.
            let depth = group.slots as u64 * rows;
            needs.push(Need::memory(name, group.kind, row, depth, word));
        }
        if self.keys.slots > 0 {
            // Keys only meet coefficient-wise work: a row has one address and is one word.
            let depth = self.keys.slots as u64 * rows;
            let width = row * word;
            needs.push(Need::memory(
                "key memory",
                MemoryKind::Uram,
                1,
                depth,
                width,
            ));
        }
        let (name, count, depth) = self.twiddle_tables();
        needs.push(Need::memory(name, MemoryKind::Bram, count, depth, word));
        for (name, count) in [
            ("butterfly multipliers", self.cores.butterfly),
            ("twiddle multipliers", self.cores.generator),
            ("dyadic multipliers", self.cores.dyadic),
        ] {
            needs.push(Need::Multipliers(Multipliers {
                name: name.to_owned(),
                count: count as u64,
                width: self.word_bits,
                reduction: Reduction::Sparse,
            }));
        }
        // A STORE frees its slot after a pass over the rows: one limb waits here for the link.
        let link = Need::memory("link buffer", MemoryKind::Bram, 1, rows, row * word);
        Ok(Needs {
            machine: self.name.clone(),
            part: Part::named(&self.part)?,
            unit: Unit {
                name: "RPAU",
                count: self.rpaus as u64,
                needs,
            },
            shared: vec![link],
        })
    }

    /// The twiddle memories of an RPAU: name, number and words of each, for the moduli of one layer.
    fn twiddle_tables(&self) -> (&'static str, u64, u64) {
        let stages = u64::from(self.log_n);
        match self.twiddles.source {
            // A stage's first values, as many as the multiplier has stages, and the factor from each to its next.
            TwiddleSource::Generated => (
                "twiddle starting values",
                self.cores.generator as u64,
                RINGS * stages * (self.pipeline.multiplier + 1),
            ),
            // A stage of 2^k blocks has as many twiddles; where these are fewer than the butterflies each still needs one.
            TwiddleSource::Stored => {
                let butterflies = self.cores.butterfly as u64;
                let words = (0..stages).map(|k| (1u64 << k).div_ceil(butterflies));
                ("twiddle tables", butterflies, RINGS * words.sum::<u64>())
            }
        }
    }
}
