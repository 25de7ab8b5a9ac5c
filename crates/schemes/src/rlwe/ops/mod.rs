// SPDX-License-Identifier: Apache-2.0
//! Homomorphic operations of ring schemes as mid-level procedures. An operation is a [`Row`] of its scheme's table. Its
//! name, operands, constants, keys, levels and emitter are columns of the row, so no two places can disagree about
//! them.
//!
//! Of an operation's operands, the ciphertexts come first, then the plaintexts, then the key-switching keys. With
//! [`Variant::seeded`], the keys' part-1 limbs are no parameters: `PRNG` instructions expand them from seed
//! parameters. Most operations have one result. A hoisted rotation has one for each Galois element, and an operation
//! that computes several sums has one for each.
//!
//! A polynomial that an operation does not change ([`Through`]) is neither a parameter nor a result of its procedure.

pub(crate) mod arithmetic;
pub(crate) mod carry;
mod emit;
pub(crate) mod keyswitch;
pub(crate) mod matrix;
pub(crate) mod scaling;
pub(crate) mod sums;
mod table;
mod variant;

use std::fmt::Debug;
use std::hash::Hash;

use ringmill_isa::macros::MacroOp;
use ringmill_isa::mid::Procedure;
use ringmill_isa::{Level, Poly};

use super::cipher::MAX_SIZE;
use super::error::RlweError;
use super::params::{Params, RingParams};
use crate::scheme::Operation;
pub(crate) use emit::{Emit, Limb};
pub use variant::{Immediate, Left, Shape, Variant};

/// The operations of a scheme. The match in [`Table::row`] is the table of their properties.
pub trait Table: Copy + Eq + Hash + Debug + Send + Sync + 'static {
    type Params: RingParams;
    type Error: From<RlweError>;

    fn row(self) -> &'static Row<Self::Params>;

    /// Returns the macro instructions whose work the operation does, as [`Operation::stands_for`] does.
    fn stands_for(self) -> &'static [MacroOp];
}

/// The properties of an operation of a scheme with parameters `P`: a row of the scheme's table of operations.
#[derive(Debug)]
pub struct Row<P> {
    /// The name of the operation. It begins with the scheme's name, so that no two schemes have procedures of one name.
    pub name: &'static str,
    /// For each ciphertext operand, the number of polynomials that it may have.
    pub ciphers: &'static [Polys],
    pub plains: Plains,
    /// The kind of constants that the operation takes, such as residues or Galois elements.
    pub immediate: ImmediateKind,
    pub keys: Keys,
    pub level: LevelRule,
    /// The rule for the number of polynomials of the operation's results.
    pub size: ResultSize,
    pub through: Through,
    pub(crate) emit: fn(&mut Emit<'_, P>, &Variant) -> Result<(), RlweError>,
}

impl<P> Row<P> {
    /// Returns the name of the operation without the scheme's name.
    pub fn short_name(&self) -> &'static str {
        self.name
            .split_once('.')
            .map_or(self.name, |(_, short)| short)
    }
}

/// The most ciphertexts that one operation may have as operands.
const MAX_CIPHERTEXTS: usize = 1 << 12;

/// The number of plaintext operands of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plains {
    None,
    One,
    /// There is one for each ciphertext operand.
    PerCiphertext,
    /// There is one for each pair of a sum and a factor of a product of a matrix and a vector. A factor is the vector or
    /// a baby step of it.
    PerStep,
}

/// Writes a row of a scheme's table of operations in one line. The columns are in the order of [`Row`]'s fields,
/// and variants of enums are named without the enum.
macro_rules! row {
    ($scheme:literal $name:literal, $ciphers:expr, $plains:ident, $immediate:ident, $keys:ident, $level:ident, $size:ident $(($n:literal))?,
     $through:ident, $emit:path) => {
        const {
            use $crate::rlwe::ops as o;
            &o::Row {
                name: concat!($scheme, $name),
                ciphers: $ciphers,
                plains: o::Plains::$plains,
                immediate: o::ImmediateKind::$immediate,
                keys: o::Keys::$keys,
                level: o::LevelRule::$level,
                size: o::ResultSize::$size $(($n))?,
                through: o::Through::$through,
                emit: $emit,
            }
        }
    };
}
pub(crate) use row;
pub(crate) use table::operations;

/// The number of polynomials that a ciphertext operand may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Polys {
    /// The operand has two polynomials, or three before relinearisation. The procedure's name says how many.
    TwoOrThree,
    Exactly(u32),
    /// Every ciphertext operand has this number of polynomials, and a call may have any number of ciphertext
    /// operands. It is the only entry of [`Row::ciphers`].
    Each(u32),
}

impl Polys {
    fn check(self, got: u32) -> Result<(), RlweError> {
        let (right, expected) = match self {
            Self::TwoOrThree => ((2..=MAX_SIZE as u32).contains(&got), "2 or 3".to_owned()),
            Self::Exactly(size) | Self::Each(size) => (got == size, size.to_string()),
        };
        if right {
            return Ok(());
        }
        Err(RlweError::Size {
            what: "ciphertext operand",
            expected,
            got: got as usize,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImmediateKind {
    None,
    /// The constants are integers, as residues modulo q_0 ..= q_level. There is one integer, or there are those of each
    /// combination of a sum ([`Shape::combined`]): its multipliers, then the integer that it adds.
    Residues,
    /// The constant is a residue modulo the plaintext modulus.
    PlainResidue,
    Element,
    Elements,
}

/// The key-switching keys that an operation needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keys {
    None,
    One,
    /// The operation needs one key for each Galois element, in the order of the elements.
    PerElement,
}

/// The rule for the level of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LevelRule {
    Same,
    OneLower,
    /// The result's level is lower than the operands' by [`Shape::dropped`].
    Lower,
    /// The result has the highest level, whatever the operands' level is.
    Highest,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultSize {
    /// A result has as many polynomials as the largest operand.
    Largest,
    Exactly(u32),
}

/// The rule for the polynomials of a result that are copies of an operand's polynomials.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Through {
    None,
    /// The result has copies of all polynomials of the operation's only ciphertext operand, except c_0.
    AllButFirst,
    /// The result of a sum has copies of the polynomials that only one addend has.
    LargerAddend,
    /// The result of a difference has copies of the polynomials that only the minuend has.
    LargerMinuend,
}

/// A homomorphic operation with everything that determines its instructions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OpKey<T> {
    op: T,
    variant: Variant,
}

impl<T: Table> OpKey<T> {
    /// Makes an operation from a row of the table and a variant. [`Operation::emit`] checks that the row allows the
    /// variant.
    pub fn new(op: T, variant: Variant) -> Self {
        Self { op, variant }
    }

    /// Returns an operation on ciphertexts of these numbers of polynomials, without constants and keys.
    pub(crate) fn of(op: T, level: Level, sizes: &[u32]) -> Self {
        Self::with(op, level, sizes, Immediate::None, false)
    }

    /// Returns an operation on ciphertexts of these numbers of polynomials.
    pub(crate) fn with(
        op: T,
        level: Level,
        sizes: &[u32],
        immediate: Immediate,
        seeded: bool,
    ) -> Self {
        let variant = Variant {
            level,
            sizes: sizes.to_vec(),
            immediate,
            plain: 0,
            seeded,
            shape: Shape::default(),
        };
        Self::new(op, variant)
    }

    /// Returns this operation with another form of its sum, and with the divisions that the form says.
    pub(crate) fn shaped(mut self, shape: Shape) -> Self {
        self.variant.shape = shape;
        self
    }

    /// Returns the kind of operation, which is its row in the scheme's table.
    pub fn op(&self) -> T {
        self.op
    }

    pub fn variant(&self) -> &Variant {
        &self.variant
    }

    /// Returns the level of the operation's operands.
    pub fn level(&self) -> Level {
        self.variant.level
    }

    /// Returns the operation of a procedure that takes its constants as immediate parameters, and the constants
    /// that this call sets. One procedure then serves all constants and all Galois elements.
    pub fn opened(&self) -> (Self, Vec<u64>) {
        let immediate = &self.variant.immediate;
        let open = match immediate {
            Immediate::None => Immediate::None,
            given => Immediate::Open(given.kind(), given.count()),
        };
        let variant = Variant {
            immediate: open,
            ..self.variant.clone()
        };
        (
            Self {
                op: self.op,
                variant,
            },
            immediate.values(),
        )
    }

    /// Returns the number of all operands together: ciphertexts, plaintexts and keys.
    pub fn operands(&self) -> usize {
        let row = self.op.row();
        let keys = match row.keys {
            Keys::None => 0,
            Keys::One => 1,
            Keys::PerElement => self.variant.immediate.count(),
        };
        let ciphers = self.variant.sizes.len();
        let plains = match row.plains {
            Plains::None => 0,
            Plains::One => 1,
            Plains::PerCiphertext => ciphers,
            Plains::PerStep => self.variant.sums() * self.variant.factors(),
        };
        ciphers + plains + keys
    }

    /// Returns the level of the operation's results.
    ///
    /// # Errors
    /// [`RlweError::TooDeep`] if the operation lowers the level by more levels than there are below it.
    pub fn result_level(&self, params: &Params) -> Result<Level, RlweError> {
        let row = self.op.row();
        match row.level {
            LevelRule::Highest => Ok(params.max_level()),
            LevelRule::Same => Ok(self.level()),
            LevelRule::OneLower => self.level().below().ok_or(RlweError::TooDeep {
                operation: row.short_name(),
                needed: 1,
                got: 0,
            }),
            LevelRule::Lower => {
                let (needed, level) = (u32::from(self.variant.shape.dropped), self.level());
                let below = level.0.checked_sub(needed);
                below.map(Level).ok_or(RlweError::TooDeep {
                    operation: row.short_name(),
                    needed,
                    got: level.0,
                })
            }
        }
    }

    /// Refuses an operation whose level, sizes, constants or sum the row of the table does not allow.
    fn check(&self, params: &Params) -> Result<(), RlweError> {
        let (row, variant) = (self.op.row(), &self.variant);
        params.check_level(variant.level)?;
        self.result_level(params)?;
        let each = match row.ciphers {
            &[Polys::Each(size)] => Some(size),
            _ => None,
        };
        let given = variant.sizes.len();
        let expected = match each {
            Some(_) => given.clamp(1, MAX_CIPHERTEXTS),
            None => row.ciphers.len(),
        };
        if given != expected {
            return Err(RlweError::Length {
                what: "ciphertext operands",
                expected,
                got: given,
            });
        }
        match each {
            Some(size) => {
                let mut sizes = variant.sizes.iter();
                sizes.try_for_each(|&got| Polys::Each(size).check(got))?
            }
            None => {
                let mut sizes = row.ciphers.iter().zip(&variant.sizes);
                sizes.try_for_each(|(polys, &got)| polys.check(got))?
            }
        }
        variant.shape.check(given)?;
        if variant.immediate.kind() != row.immediate {
            return Err(RlweError::Parameter {
                what: "an operation's immediate",
                expected: format!("{:?} of {}", row.immediate, row.name),
                got: format!("{:?}", variant.immediate.kind()),
            });
        }
        if row.immediate == ImmediateKind::Residues {
            let integers = variant.shape.integers();
            let (expected, got) = (integers * variant.level.primes(), variant.immediate.count());
            if expected != got {
                return Err(RlweError::Length {
                    what: "scalar operand (residues)",
                    expected,
                    got,
                });
            }
        }
        Ok(())
    }
}

impl<T: Table> Operation for OpKey<T> {
    type Params = T::Params;
    type Error = T::Error;

    fn name(&self) -> String {
        let (row, variant) = (self.op.row(), &self.variant);
        let sizes = row.ciphers.iter().zip(&variant.sizes);
        let sizes: Vec<String> = sizes
            .filter(|(polys, _)| **polys == Polys::TwoOrThree)
            .map(|(_, size)| size.to_string())
            .collect();
        let sizes = match (row.ciphers, sizes.as_slice()) {
            ([Polys::Each(_)], _) => format!(".{}", variant.sizes.len()),
            (_, []) => String::new(),
            (_, sizes) => format!(".{}", sizes.join("-")),
        };
        let seeded = match row.keys {
            Keys::One | Keys::PerElement if variant.seeded => ".seeded",
            Keys::None | Keys::One | Keys::PerElement => "",
        };
        let immediate = variant.immediate.name();
        let plain = match variant.plain {
            0 => String::new(),
            plain => format!(".p{plain}"),
        };
        let (name, level) = (row.name, variant.level);
        let shape = variant.shape.name();
        format!("{name}.L{level}{sizes}{shape}{plain}{immediate}{seeded}")
    }

    fn emit(&self, params: &T::Params) -> Result<Procedure, T::Error> {
        self.check(params.ring_params())?;
        let (open, immediates) = self.opened();
        let mut e = Emit::new(params, open.name(), open.variant.level)?;
        e.plain = open.variant.plain;
        (open.op.row().emit)(&mut e, &open.variant)?;
        let procedure = e.finish()?;
        if matches!(
            self.variant.immediate,
            Immediate::None | Immediate::Open(..)
        ) {
            return Ok(procedure);
        }
        let mut bound = procedure.bind(&immediates).map_err(RlweError::from)?;
        bound.name = self.name();
        Ok(bound)
    }

    fn stands_for(&self) -> &'static [MacroOp] {
        self.op.stands_for()
    }

    fn result_size(&self) -> u32 {
        match self.op.row().size {
            ResultSize::Largest => self.variant.sizes.iter().copied().max().unwrap_or(0),
            ResultSize::Exactly(size) => size,
        }
    }

    fn passes_through(&self, poly: Poly) -> Option<u16> {
        let (a, b) = (self.variant.size(0), self.variant.size(1));
        let poly = u32::from(poly.0);
        match self.op.row().through {
            Through::None => None,
            Through::AllButFirst => (1..a).contains(&poly).then_some(0),
            Through::LargerMinuend => (b..a).contains(&poly).then_some(0),
            Through::LargerAddend if (b..a).contains(&poly) => Some(0),
            Through::LargerAddend => (a..b).contains(&poly).then_some(1),
        }
    }
}
