// SPDX-License-Identifier: Apache-2.0
//! The architectures of base-extension units, with the multipliers, constants, results and cycles of each.

use ringmill_math::{Modulus, RnsBasis};

use super::rowers::{self, Algorithm};
use super::{BasextError, Constants, Extension, Radix, Shape, Shared, cycles, golden, pipelined};

/// A base-extension unit. All architectures have the same ports, commands and result codes. They
/// differ in the order of their streams, in their constants and in their cycles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// The unit `rm_basext_folded`, which computes one target after another. The source residues are sent again for
    /// each target.
    Folded(Shape),
    /// The unit `rm_basext_shared`, which computes a batch of targets at once. The source residues are sent once.
    Shared(Shared),
    /// The unit `rm_basext_pipelined`, which works like the folded unit, but with separate multipliers for the Post-Sum
    /// Process, which computes residues from sums.
    Pipelined(Shape),
    /// The unit `rm_basext_rowers`, which computes Cox-Rower or mixed radix behind a transposition memory. It takes no
    /// redundant residue.
    Rowers(Algorithm, Shape),
    /// The unit `rm_basext_radix`, which computes mixed radix with all divisions of a coefficient at once, behind a
    /// transposition memory. It takes no redundant residue.
    Radix(Radix),
}

/// The number of multipliers and adders in a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arithmetic {
    /// The number of modular multipliers in the unit. Their modulus is set at run time.
    pub multipliers: u64,
    /// The number of modular adders and subtractors in the unit. Their modulus is set at run time.
    pub modular_adders: u64,
    /// The number of adders without a modulus on the path of a result. Only a unit for Cox-Rower has them, to sum up
    /// the correction.
    pub adders: u64,
}

impl Unit {
    /// Returns the multipliers and adders that the unit's RTL has with these parameters.
    pub fn arithmetic(self) -> Arithmetic {
        let lanes = self.shape().lanes() as u64;
        let (multipliers, modular_adders, adders) = match self {
            Self::Folded(_) => (3 * lanes, 4 * lanes, 0),
            Self::Pipelined(_) => (pipelined::MULTIPLIERS * lanes, pipelined::ADDERS * lanes, 0),
            Self::Shared(unit) => (unit.multipliers(), unit.multipliers() - lanes, 0),
            Self::Rowers(algorithm, shape) => {
                let rowers = rowers::rowers(shape);
                let cox = algorithm == Algorithm::CoxRower;
                (rowers, 2 * rowers, u64::from(cox))
            }
            Self::Radix(unit) => (unit.cells(), unit.cells(), 0),
        };
        Arithmetic {
            multipliers,
            modular_adders,
            adders,
        }
    }

    /// Returns the number of constants, moduli not included, that the unit loads for an extension from `l` sources to
    /// `k` targets.
    pub fn stored(self, l: usize, k: usize) -> usize {
        match self {
            Self::Folded(_) | Self::Pipelined(_) => 1 + 2 * l + k * (1 + l),
            Self::Shared(_) => 2 + 2 * l + k * (1 + l),
            Self::Rowers(Algorithm::CoxRower, _) => 1 + l + k * (1 + l),
            Self::Rowers(Algorithm::MixedRadix, _) | Self::Radix(_) => l * (l - 1) / 2 + k * l,
        }
    }

    pub fn shape(self) -> Shape {
        match self {
            Self::Folded(shape) | Self::Pipelined(shape) | Self::Rowers(_, shape) => shape,
            Self::Shared(unit) => unit.shape(),
            Self::Radix(unit) => unit.shape(),
        }
    }

    /// Returns whether the unit can do this kind of extension. Mixed radix has no fast extension,
    /// since its result has no error of a multiple of Q, the product of the sources.
    pub fn extends(self, extension: Extension) -> bool {
        match self {
            Self::Folded(_) | Self::Pipelined(_) | Self::Shared(_) => true,
            Self::Rowers(Algorithm::CoxRower, _) => true,
            Self::Rowers(Algorithm::MixedRadix, _) | Self::Radix(_) => {
                extension == Extension::Exact
            }
        }
    }

    /// Returns whether the unit takes a redundant residue for this kind of extension.
    pub fn takes_redundant(self, extension: Extension) -> bool {
        match self {
            Self::Folded(_) | Self::Pipelined(_) | Self::Shared(_) => extension == Extension::Exact,
            Self::Rowers(..) | Self::Radix(_) => false,
        }
    }

    /// Returns the most polynomials that one command of the base-extension unit takes.
    pub fn polynomials(self) -> usize {
        match self {
            Self::Folded(_) | Self::Pipelined(_) => 1,
            Self::Shared(_) | Self::Rowers(..) | Self::Radix(_) => 256,
        }
    }

    /// Computes the residues that the unit must return, as [`golden()`] does. The limbs end with the redundant residues
    /// if the unit takes them.
    ///
    /// # Errors
    /// The errors of [`golden()`] and [`rowers::golden`].
    pub fn golden(
        self,
        sources: &RnsBasis,
        redundant: Option<Modulus>,
        targets: &[Modulus],
        extension: Extension,
        limbs: &[&[u64]],
    ) -> Result<Vec<Vec<u64>>, BasextError> {
        match self {
            Self::Folded(_) | Self::Pipelined(_) | Self::Shared(_) => {
                golden(sources, redundant, targets, extension, limbs)
            }
            Self::Rowers(algorithm, shape) => {
                rowers::golden(algorithm, shape, sources, targets, extension, limbs)
            }
            Self::Radix(unit) => {
                let (radix, shape) = (Algorithm::MixedRadix, unit.shape());
                rowers::golden(radix, shape, sources, targets, extension, limbs)
            }
        }
    }

    /// Computes the moduli and constants in the order in which this unit loads them.
    ///
    /// # Errors
    /// The errors of [`Constants::new`]; for a unit of rowers or mixed radix those of [`Constants::rowers`].
    pub fn constants(
        self,
        sources: &RnsBasis,
        redundant: Option<Modulus>,
        targets: &[Modulus],
    ) -> Result<Constants, BasextError> {
        match self {
            Self::Folded(shape) | Self::Pipelined(shape) => {
                Constants::new(shape, sources, redundant, targets)
            }
            Self::Rowers(algorithm, shape) => Constants::rowers(algorithm, shape, sources, targets),
            Self::Radix(unit) => {
                Constants::rowers(Algorithm::MixedRadix, unit.shape(), sources, targets)
            }
            Self::Shared(unit) => Constants::shared(unit, sources, redundant, targets),
        }
    }

    /// Returns the cycles of the extensions of several polynomials of one degree, with as few commands as the unit
    /// allows. A unit that takes several polynomials is counted as if one command took all of them, even if they are
    /// more than [`Self::polynomials`].
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
            Self::Pipelined(shape) => {
                polynomials * pipelined::cycles(shape, extension, l, k, log_n)
            }
            Self::Rowers(algorithm, shape) => {
                rowers::cycles(algorithm, shape, l, k, log_n, polynomials)
            }
            Self::Radix(unit) => unit.cycles(l, k, log_n, polynomials),
            Self::Shared(unit) => unit.cycles(extension, l, k, log_n, polynomials),
        }
    }
}

impl From<Shape> for Unit {
    fn from(shape: Shape) -> Self {
        Self::Folded(shape)
    }
}

impl From<Radix> for Unit {
    fn from(unit: Radix) -> Self {
        Self::Radix(unit)
    }
}

impl From<Shared> for Unit {
    fn from(unit: Shared) -> Self {
        Self::Shared(unit)
    }
}
