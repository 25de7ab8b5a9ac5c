//! Which unit: its architecture with what it is made for.

use ringmill_math::{Modulus, RnsBasis};

use super::{BasextError, Constants, Extension, Shape, Shared, cycles};

/// A base-extension unit. All architectures have the same ports, commands and codes; they differ in the order of their
/// streams, in the constants, and in cycles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// `rm_basext_folded`: one target after another, the residues sent for each.
    Folded(Shape),
    /// `rm_basext_shared`: a batch of targets at once, the residues sent once.
    Shared(Shared),
}

impl Unit {
    pub fn shape(self) -> Shape {
        match self {
            Self::Folded(shape) => shape,
            Self::Shared(unit) => unit.shape(),
        }
    }

    /// The constants as this unit takes them.
    ///
    /// # Errors
    /// Those of [`Constants::new`].
    pub fn constants(
        self,
        sources: &RnsBasis,
        redundant: Option<Modulus>,
        targets: &[Modulus],
    ) -> Result<Constants, BasextError> {
        match self {
            Self::Folded(shape) => Constants::new(shape, sources, redundant, targets),
            Self::Shared(unit) => Constants::shared(unit, sources, redundant, targets),
        }
    }

    /// Cycles for so many polynomials of one order, as few commands as the unit has for them.
    pub fn cycles(
        self,
        extension: Extension,
        l: usize,
        k: usize,
        log_n: u32,
        polynomials: u64,
    ) -> u64 {
        match self {
            Self::Folded(shape) => polynomials * cycles(shape, extension, l, k, log_n),
            Self::Shared(unit) => unit.cycles(extension, l, k, log_n, polynomials),
        }
    }
}

impl From<Shape> for Unit {
    fn from(shape: Shape) -> Self {
        Self::Folded(shape)
    }
}

impl From<Shared> for Unit {
    fn from(unit: Shared) -> Self {
        Self::Shared(unit)
    }
}
