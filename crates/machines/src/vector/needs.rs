// SPDX-License-Identifier: Apache-2.0
//! Counts the resources of a vector machine, memories and multipliers, from the fields of its description.

use super::description::{Description, Factory, WORD_BITS};
use crate::MachineError;
use crate::fpga::{
    Family, Memory, MemoryKind, Multipliers, Need, Needs, Part, Ports, Reduction, Unit,
};

/// Returns the numbers of multipliers in one transform unit of radix R = 2^`log_radix`: those in butterflies, those
/// before the transform and those behind it (BASALISC paper, section 6.1: 769, 255 and 255). The transform is a cyclic
/// one in decimation in frequency, without products by one. It has R - 1 multipliers before it and R - 1 behind.
pub fn unit_multipliers(log_radix: u8) -> [u64; 3] {
    let radix = 1u64 << log_radix;
    // Of log R ranks with R / 2 butterflies, the rank of blocks of size 2^s has R / 2^s products by one.
    let all = radix / 2 * u64::from(log_radix);
    let ones = radix - 1;
    [all - ones, radix - 1, radix - 1]
}

/// The number of primes in the largest parameters of the BASALISC paper (section 3.1): 42 primes of
/// the ciphertext modulus and 14 special ones.
const PRIMES: u64 = 56;

/// Returns the need of `count` modular multipliers for the machine's words.
fn multipliers(name: &str, count: u64) -> Need {
    Need::Multipliers(Multipliers {
        name: name.to_owned(),
        count,
        width: WORD_BITS as u32,
        reduction: Reduction::MontgomeryFriendly,
    })
}

/// The ports of a memory that reads two words and writes one in a cycle.
const TWO_READS: Ports = Ports {
    reads: 2,
    writes: 1,
    either: 0,
};

impl Description {
    /// Returns the memories and multipliers of the vector machine, on the FPGA or die that its
    /// description names.
    ///
    /// # Errors
    /// [`MachineError::UnknownPart`] if the description names an unknown FPGA or die.
    pub fn needs(&self) -> Result<Needs, MachineError> {
        let part = Part::named(&self.part)?;
        let [butterflies, before, behind] = unit_multipliers(self.log_radix);
        let mut unit = vec![
            multipliers("butterflies", butterflies),
            multipliers("before the transform", before),
            multipliers("behind the transform", behind),
        ];
        let lanes = 1u64 << self.log_lanes;
        let mut shared = vec![multipliers("multiply-accumulate", lanes)];
        let factory = multipliers("twiddle factory", (1 << self.log_radix) - 2);
        match self.factory {
            Factory::Unit => unit.push(factory),
            Factory::Shared => shared.push(factory),
        }
        match part.family {
            Family::Asic => shared.extend(self.macros()),
            Family::SevenSeries | Family::UltraScalePlus => {
                unit.push(multipliers("seeds", 1));
                unit.extend(self.seed_tables());
                shared.extend(self.memories());
            }
        }
        Ok(Needs {
            machine: self.name.clone(),
            part,
            unit: Unit {
                name: "transform unit",
                count: self.units(),
                needs: unit,
            },
            shared,
        })
    }

    /// Returns the memories of the vector machine on the die of an ASIC. Each table counts once, for all units that
    /// read it.
    fn macros(&self) -> Vec<Need> {
        let (radix, lanes) = (1u64 << self.log_radix, 1u64 << self.log_lanes);
        let memory = |name: &str, count, depth, ports| {
            Need::Memory(Memory {
                name: name.to_owned(),
                kind: MemoryKind::Sram,
                count,
                depth,
                width: WORD_BITS,
                ports,
            })
        };
        vec![
            memory(
                "ciphertext buffer",
                lanes,
                self.buffer_words / lanes,
                Ports::SINGLE,
            ),
            memory("registers", lanes, self.registers.into(), TWO_READS),
            // Powers of a 512th root of unity and of psi, the 2N-th root, for the forward and the inverse transform.
            memory("twiddles before", 1, 2 * 2 * radix * PRIMES, Ports::READ),
            // A seed of twiddles for each column, for the forward and the inverse transform.
            memory("twiddle seeds", 1, 2 * (radix - 1) * PRIMES, Ports::READ),
        ]
    }

    /// Returns the seed tables of one transform unit in the RTL. A line (a row or column of a
    /// transform) has a seed, a power of a root of unity whose exponent follows from the line's
    /// number. One table has the powers for the lower bits of the number, the other those for the
    /// upper bits, for each of the four instructions of a transform's passes.
    fn seed_tables(&self) -> [Need; 2] {
        let low = self.log_radix / 2;
        let table = |name: &str, log: u8| {
            let depth = (4 * PRIMES) << log;
            Need::memory(name, MemoryKind::Lutram, 1, depth, WORD_BITS)
        };
        [
            table("twiddle seeds, low", low),
            table("twiddle seeds, high", self.log_radix - low),
        ]
    }

    /// Returns the memories outside of the RTL's transform units on an FPGA. Each factor by which transforms multiply
    /// has its own memory, since all factors are read at once.
    fn memories(&self) -> Vec<Need> {
        let (radix, lanes) = (1u64 << self.log_radix, 1u64 << self.log_lanes);
        let [_, before, _] = unit_multipliers(self.log_radix);
        // Rank s has 2^(log_radix - s - 1) - 1 factors, each for all of its blocks.
        let within = radix - 1 - u64::from(self.log_radix);
        let lut = |name: &str, count, depth, width| {
            Need::memory(name, MemoryKind::Lutram, count, depth, width)
        };
        vec![
            Need::Memory(Memory {
                name: "ciphertext buffer".to_owned(),
                kind: MemoryKind::Uram,
                count: lanes,
                depth: self.buffer_words / lanes,
                width: WORD_BITS,
                ports: Ports::SINGLE,
            }),
            Need::Memory(Memory {
                name: "registers".to_owned(),
                kind: MemoryKind::Lutram,
                count: lanes,
                depth: self.registers.into(),
                width: WORD_BITS,
                ports: TWO_READS,
            }),
            lut("twiddles before", before, 2 * PRIMES, WORD_BITS),
            lut("twiddles within", within, 2 * PRIMES, WORD_BITS),
            lut("moduli", 2, PRIMES, WORD_BITS),
            lut(
                "instruction queue",
                1,
                self.queue as u64,
                8 * self.instruction_bytes,
            ),
            lut(
                "chunks on their way in",
                lanes,
                self.load_chunks as u64,
                WORD_BITS,
            ),
            lut(
                "chunks on their way out",
                lanes,
                self.store_chunks as u64,
                WORD_BITS,
            ),
        ]
    }
}
