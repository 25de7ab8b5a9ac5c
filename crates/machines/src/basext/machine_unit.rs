// SPDX-License-Identifier: Apache-2.0
//! The two architectures of base-extension units that a machine can have: folded (one target modulus at a time) and
//! shared (several). Only for these two does a model count the cycles behind the memory's port.

use super::replay::extend_cycles;
use super::{Extension, Rate, Shape, Shared, Unit};
use crate::fpga::{Needs, Part};

/// A base-extension unit of a machine. It runs one extension for each command.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MachineUnit {
    /// The folded unit of Kırbıyık's thesis, RTL module `rm_basext_folded`, which computes one target modulus at a
    /// time.
    Folded(Shape),
    /// Our shared unit, RTL module `rm_basext_shared`, which computes several target moduli at a time.
    Shared(Shared),
}

impl MachineUnit {
    pub fn shape(self) -> Shape {
        Unit::from(self).shape()
    }

    /// Returns the number of words that the unit loads for an extension from `l` sources to `k` targets: the
    /// constants, all moduli and the redundant modulus.
    pub fn words(self, l: usize, k: usize) -> usize {
        Unit::from(self).stored(l, k) + 1 + l + k
    }

    /// Returns the cycles of an extension from l sources to k targets with streams through a memory port of the rate
    /// `rate`. They count from the command until the last beat is in memory. The count is 0 if l or k is 0, since no
    /// such command exists.
    pub fn extend_cycles(
        self,
        rate: Rate,
        extension: Extension,
        (l, k): (usize, usize),
        log_n: u32,
    ) -> u64 {
        if l == 0 || k == 0 {
            return 0;
        }
        match self {
            Self::Folded(shape) => extend_cycles(shape, rate, extension, (l, k), log_n),
            Self::Shared(unit) => unit.cycles_through(rate, extension, (l, k), log_n, ONE),
        }
    }

    /// Returns the memories and multipliers that the unit takes of the FPGA `part`.
    pub fn needs(self, machine: &str, part: &'static Part) -> Needs {
        match self {
            Self::Folded(shape) => shape.needs(machine, part),
            Self::Shared(unit) => unit.needs(machine, part),
        }
    }
}

const ONE: std::num::NonZeroU64 = std::num::NonZeroU64::MIN;

impl From<MachineUnit> for Unit {
    fn from(unit: MachineUnit) -> Self {
        match unit {
            MachineUnit::Folded(shape) => Self::Folded(shape),
            MachineUnit::Shared(unit) => Self::Shared(unit),
        }
    }
}

impl From<Shape> for MachineUnit {
    fn from(shape: Shape) -> Self {
        Self::Folded(shape)
    }
}

impl From<Shared> for MachineUnit {
    fn from(unit: Shared) -> Self {
        Self::Shared(unit)
    }
}
