// SPDX-License-Identifier: Apache-2.0
//! Counts the FPGA resources of a ring machine from the fields of its description (docs/machines/ring.md, "What it
//! needs").

use super::description::{Description, MAX_KEY_SLOTS, TwiddleSource};
use super::passes::Passes;
use crate::MachineError;
use crate::fpga::{Fit, MemoryKind, Multipliers, Need, Needs, Part, Reduction, Unit};

impl Description {
    /// Returns the number of rings with different twiddles. The first is the full ring of the native degree. With one
    /// split come both half rings of twice that degree, with two splits the four quarters of four times that degree,
    /// too.
    fn rings(&self) -> u64 {
        (2 << self.splits) - 1
    }

    /// Returns the resources that the ring machine needs, compared with those that its FPGA has. The fields of the
    /// description must be in range.
    ///
    /// # Errors
    /// [`MachineError::UnknownPart`] for an unknown FPGA. [`MachineError::Ports`] for SRAM on an FPGA.
    /// [`MachineError::ExceedsPart`] if the machine needs more than the FPGA has and `allow_more_than_the_part_has`
    /// gives no reason. [`MachineError::FitsAfterAll`] if it gives a reason and the machine fits.
    /// [`MachineError::Field`] for a reason that is empty, too long or not on one line.
    pub(super) fn fit(&self) -> Result<Fit, MachineError> {
        self.needs()?
            .accepted(self.allow_more_than_the_part_has.as_deref())
    }

    fn needs(&self) -> Result<Needs, MachineError> {
        self.needs_at(self.word_bits)
    }

    /// Returns the resources that the machine would need if every RPAU were built for primes of `word_bits` bits.
    ///
    /// # Errors
    /// [`MachineError::UnknownPart`] if the description names an unknown FPGA.
    pub fn needs_at(&self, word_bits: u32) -> Result<Needs, MachineError> {
        let (row, word) = (self.row as u64, u64::from(word_bits));
        let n = 1u64 << self.log_n;
        let rows = n.div_ceil(row);
        let mut needs = Vec::new();
        let mut first = 0;
        for group in &self.memory {
            let last = first + group.slots.saturating_sub(1);
            let name = match group.slots {
                1 => format!("RPM {first}"),
                _ => format!("RPM {first}-{last}"),
            };
            first += group.slots;
            let slots = group.slots as u64;
            needs.push(match group.residues.map(|r| (r as u64).min(row)) {
                Some(narrow) if narrow < row => {
                    let depth = slots * n.div_ceil(narrow);
                    Need::memory(name, group.kind, 1, depth, narrow * word)
                }
                // In a transform the coefficients of a row lie at different addresses, so each column has a memory.
                _ => Need::memory(name, group.kind, row, slots * rows, word),
            });
        }
        if self.keys.slots > 0 {
            let (group, stripes) = (self.keys.group as u64, self.keys.stripes as u64);
            let depth = (self.keys.slots as u64 * n.div_ceil(group)).div_ceil(stripes);
            let width = group * word;
            let kind = MemoryKind::Uram;
            needs.push(Need::memory("key memory", kind, stripes, depth, width));
        }
        for (name, kind, count, depth) in self.twiddle_tables(Passes::of(self)) {
            needs.push(Need::memory(name, kind, count, depth, word));
        }
        if self.twiddles.source == TwiddleSource::Generated {
            let (kind, count) = (MemoryKind::Lutram, self.cores.generator as u64);
            let aside = Need::memory("twiddles put aside", kind, count, self.first_values(), word);
            needs.push(aside);
        }
        let t = &self.tables;
        for (name, depth, width) in [
            ("constants", t.constants as u64, word),
            ("key table", MAX_KEY_SLOTS as u64, 7),
            ("generator streams", t.streams as u64, 64 + 12),
            ("seeds", t.seeds as u64, 256),
            ("Galois elements", t.galois as u64, 17),
        ] {
            needs.push(Need::memory(name, MemoryKind::Lutram, 1, depth, width));
        }
        for (name, count) in [
            ("butterfly multipliers", self.cores.butterfly),
            ("twiddle multipliers", self.cores.generator),
            ("dyadic multipliers", self.cores.dyadic),
        ] {
            needs.push(Need::Multipliers(Multipliers {
                name: name.to_owned(),
                count: count as u64,
                width: word_bits,
                reduction: Reduction::Lazy,
            }));
        }
        // A STORE leaves over the ring. One limb waits here for the link, as wide as the widest residue.
        let width = row * u64::from(self.word_bits);
        let link = Need::memory("link buffer", MemoryKind::Bram, 1, rows, width);
        let streams = 2 * self.controllers as u64;
        let depth = self.tables.words as u64;
        let programs = Need::memory("program memories", MemoryKind::Bram, streams, depth, 64);
        Ok(Needs {
            machine: self.name.clone(),
            part: Part::named(&self.part)?,
            unit: Unit {
                name: "RPAU",
                count: self.rpaus as u64,
                needs,
            },
            shared: vec![programs, link],
        })
    }

    /// Returns the most first twiddles of each pass that a twiddle generator stores. The generator multiplies them to
    /// get later twiddles. The number is a power of two. It is at least the cycles from the use of a twiddle to that of
    /// its multiple: those of multiplier and adder, and three to store and fetch the product.
    pub fn first_values(&self) -> u64 {
        (self.pipeline.multiplier + self.pipeline.adder + 3).next_power_of_two()
    }

    /// Returns the bytes that cross the link to load one RPAU's twiddles for limbs of 2^`log_n` coefficients.
    pub(super) fn twiddle_bytes(&self, log_n: u8) -> u64 {
        let passes = Passes {
            log_n: u32::from(log_n),
            ..Passes::of(self)
        };
        let words = self.twiddle_tables(passes).into_iter();
        8 * words.map(|(_, _, count, depth)| count * depth).sum::<u64>()
    }

    /// Returns the twiddle memories of one RPAU for one of its primes. Each entry is the name, the kind, the number of
    /// memories and the words of each.
    fn twiddle_tables(&self, passes: Passes) -> Vec<(&'static str, MemoryKind, u64, u64)> {
        let rings = self.rings();
        let repeats = || (0..passes.count()).map(|pass| passes.log_repeat(pass));
        match self.twiddles.source {
            // A pass's first values, and the factor from each value to its next, which all butterflies share.
            TwiddleSource::Generated => {
                let first = self.first_values();
                let depth = rings * repeats().map(|r| first.min(1 << r)).sum::<u64>();
                let factors = rings * repeats().filter(|&r| 1 << r > first).count() as u64;
                let count = self.cores.generator as u64;
                vec![
                    ("twiddle starting values", MemoryKind::Bram, count, depth),
                    ("twiddle factors", MemoryKind::Lutram, 1, factors),
                ]
            }
            // Of two chained stages the second has half as many tables as the first: two of its butterflies share one.
            TwiddleSource::Stored => {
                let count = (0..self.main.stages).map(|i| (self.row >> (i + 1)) as u64);
                let count = count.sum();
                let long = repeats().filter(|&r| r > 0).map(|r| 1u64 << r);
                let short = repeats().filter(|&r| r == 0).count() as u64;
                let depth = rings * long.sum::<u64>();
                vec![
                    ("twiddle tables", MemoryKind::Bram, count, depth),
                    (
                        "short twiddle tables",
                        MemoryKind::Lutram,
                        count,
                        rings * short,
                    ),
                ]
            }
        }
    }
}
