//! What a description needs: memories and multipliers, computed from its fields.

use super::description::{Description, Factory, WORD_BITS};
use crate::MachineError;
use crate::fpga::{Memory, MemoryKind, Multipliers, Need, Needs, Part, Ports, Reduction, Unit};

/// Multipliers of one transform unit of radix R: a cyclic transform in decimation in frequency without products by one,
/// R - 1 before it and R - 1 behind (section 6.1: 769, 255 and 255).
pub fn unit_multipliers(log_radix: u8) -> [u64; 3] {
    let radix = 1u64 << log_radix;
    // Of log R ranks with R / 2 butterflies, the rank of blocks of size 2^s has R / 2^s products by one.
    let all = radix / 2 * u64::from(log_radix);
    let ones = radix - 1;
    [all - ones, radix - 1, radix - 1]
}

/// Primes at full size: 42 and 14 special ones (section 3.1).
const PRIMES: u64 = 56;

impl Description {
    /// What it needs of its part.
    ///
    /// # Errors
    /// [`MachineError::UnknownPart`].
    pub fn needs(&self) -> Result<Needs, MachineError> {
        let (radix, lanes) = (1u64 << self.log_radix, 1u64 << self.log_lanes);
        let [butterflies, before, behind] = unit_multipliers(self.log_radix);
        let multipliers = |name: &str, count| {
            Need::Multipliers(Multipliers {
                name: name.to_owned(),
                count,
                width: WORD_BITS as u32,
                reduction: Reduction::MontgomeryFriendly,
            })
        };
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
        let factory = multipliers("twiddle factory", radix - 2);
        let mut unit = vec![
            multipliers("butterflies", butterflies),
            multipliers("before the transform", before),
            multipliers("behind the transform", behind),
        ];
        let mut shared = vec![
            multipliers("multiply-accumulate", lanes),
            memory(
                "ciphertext buffer",
                lanes,
                self.buffer_words / lanes,
                Ports::SINGLE,
            ),
            memory("registers", lanes, self.registers.into(), Ports::ONE_EACH),
            // Powers of a 512th root and of psi, forward and inverse.
            memory("twiddles before", 1, 2 * 2 * radix * PRIMES, Ports::READ),
            // A seed a column, forward and inverse.
            memory("twiddle seeds", 1, 2 * (radix - 1) * PRIMES, Ports::READ),
        ];
        match self.factory {
            Factory::Unit => unit.push(factory),
            Factory::Shared => shared.push(factory),
        }
        Ok(Needs {
            machine: self.name.clone(),
            part: Part::named(&self.part)?,
            unit: Unit {
                name: "transform unit",
                count: self.units(),
                needs: unit,
            },
            shared,
        })
    }
}
