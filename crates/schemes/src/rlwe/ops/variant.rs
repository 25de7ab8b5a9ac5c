// SPDX-License-Identifier: Apache-2.0
//! The values on which an operation's instructions depend in addition to its row of the table: sizes, constants, and
//! the form of a sum.

pub use ringmill_isa::macros::linked::Left;
use ringmill_isa::macros::linked::Products;
use ringmill_isa::{Galois, Level};
use sha2::{Digest, Sha256};

use super::ImmediateKind;
use crate::rlwe::error::RlweError;

/// The values on which an operation's instructions depend, in addition to its row in the table.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Variant {
    /// The level of the operation's operands.
    pub level: Level,
    /// The number of polynomials of each ciphertext operand.
    pub sizes: Vec<u32>,
    pub immediate: Immediate,
    /// The index of the plaintext modulus in the parameters' list of plaintext moduli, for schemes whose messages
    /// are in the low bits (BGV). It is 0 if the plaintext modulus does not change the instructions.
    pub plain: u8,
    /// Whether key-switching keys come with the seed from which their uniform halves (part 1) are expanded.
    pub seeded: bool,
    pub shape: Shape,
}

/// The form of a sum of ciphertexts or products, and the number of primes by which its result is divided.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Shape {
    /// The number of the level's last primes by which the result is divided.
    pub dropped: u16,
    /// The number of ciphertext operands, from the first on, that each combination adds. A combination is a sum of
    /// these ciphertexts, each times an integer, plus an integer.
    pub combined: u16,
    /// The two factors of each product in a sum of products. The first is a ciphertext operand or a combination,
    /// the second the index of a ciphertext operand.
    pub products: Vec<(Left, u16)>,
    /// Whether a combination is added to the sum of products. A combination is a sum of ciphertexts, each times an
    /// integer, plus an integer.
    pub tail: bool,
    /// The number of giant steps of a product of a matrix and a vector.
    pub giants: u16,
}

impl Shape {
    /// Returns the shape of a division by the level's last `dropped` primes, without a sum.
    pub fn dropping(dropped: u16) -> Self {
        Self {
            dropped,
            ..Self::default()
        }
    }

    /// Returns the shape of a division from level `from` down to level `to`, without a sum.
    pub fn down(from: Level, to: Level) -> Self {
        Self::dropping(from.0.saturating_sub(to.0) as u16)
    }

    /// Returns the shape of the sum of products that an instruction `SUMPROD` at level `from` computes.
    pub fn of_products(products: &Products, from: Level) -> Self {
        Self {
            combined: products.combined,
            products: products.factors.clone(),
            tail: products.tail,
            ..Self::down(from, products.to)
        }
    }

    /// Returns the number of combinations in a sum of products: first factors of products, and one that is added. A
    /// combination is a sum of ciphertexts, each times an integer, plus an integer.
    pub fn combinations(&self) -> usize {
        let of_products = self.products.iter().map(|(left, _)| left);
        let of_products = of_products.filter(|&&left| left == Left::Combination);
        of_products.count() + usize::from(self.tail)
    }

    /// Returns the number of integers that a call of the procedure sets: the multipliers and the constants of its
    /// combinations, or the one constant of an operation without combinations and products.
    pub(super) fn integers(&self) -> usize {
        match self.combinations() {
            0 if self.products.is_empty() => 1,
            count => count * (usize::from(self.combined) + 1),
        }
    }

    /// Refuses a sum that names ciphertext operands beyond the `ciphers` that the operation has, and combinations
    /// of no ciphertext.
    pub(super) fn check(&self, ciphers: usize) -> Result<(), RlweError> {
        let operands = self.products.iter().map(|&(left, right)| match left {
            Left::Operand(i) => i.max(right),
            Left::Combination => right,
        });
        let most = operands.map(|i| usize::from(i) + 1).max().unwrap_or(0);
        let most = most.max(self.combined.into());
        let empty = self.combinations() > 0 && self.combined == 0;
        if most <= ciphers && !empty {
            return Ok(());
        }
        Err(RlweError::Parameter {
            what: "operands of a sum",
            expected: format!("some of {ciphers}, and one at least in each combination"),
            got: format!("{most}"),
        })
    }

    /// Returns the part of a procedure's name that tells the form of its sum and its division.
    pub(super) fn name(&self) -> String {
        let mut name = String::new();
        if self.dropped > 0 {
            name.push_str(&format!(".d{}", self.dropped));
        }
        if self.giants > 0 {
            name.push_str(&format!(".g{}", self.giants));
        }
        if self.combined > 0 || !self.products.is_empty() {
            let left = |left: Left| match left {
                Left::Operand(i) => u64::from(i),
                Left::Combination => u64::MAX,
            };
            let products = self.products.iter();
            let words = products.flat_map(|&(l, right)| [left(l), right.into()]);
            let words = words.chain([self.combined.into(), self.tail.into()]);
            name.push_str(&format!(".s{}.{}", self.products.len(), digest(words)));
        }
        name
    }
}

impl Variant {
    /// Returns the number of polynomials of the ciphertext operand of index `operand`.
    pub(crate) fn size(&self, operand: usize) -> u32 {
        self.sizes.get(operand).copied().unwrap_or(0)
    }

    /// Returns the number of baby steps of a product of a matrix and a vector. The Galois elements are those of the baby
    /// steps, then those of the giant steps.
    pub(super) fn babies(&self) -> usize {
        let giants = usize::from(self.shape.giants);
        self.immediate.count().saturating_sub(giants)
    }

    /// Returns the number of sums of a product of a matrix and a vector: one for each giant step, and one that no giant
    /// step turns.
    pub(super) fn sums(&self) -> usize {
        usize::from(self.shape.giants) + 1
    }

    /// Returns the number of factors in each sum of a product of a matrix and a vector: the vector and its baby steps.
    pub(super) fn factors(&self) -> usize {
        self.babies() + 1
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Immediate {
    None,
    Residues(Vec<u64>),
    PlainResidue(u64),
    Element(Galois),
    Elements(Vec<Galois>),
    /// The constants are set by each call of the procedure. The variant has their kind and their number.
    Open(ImmediateKind, usize),
}

impl Immediate {
    pub(super) fn kind(&self) -> ImmediateKind {
        match self {
            Self::None => ImmediateKind::None,
            Self::Residues(_) => ImmediateKind::Residues,
            Self::PlainResidue(_) => ImmediateKind::PlainResidue,
            Self::Element(_) => ImmediateKind::Element,
            Self::Elements(_) => ImmediateKind::Elements,
            Self::Open(kind, _) => *kind,
        }
    }

    /// Returns the constants in the order of the procedure's immediate parameters. The list is empty if each call
    /// of the procedure sets them.
    pub(super) fn values(&self) -> Vec<u64> {
        match self {
            Self::None | Self::Open(..) => Vec::new(),
            Self::Residues(residues) => residues.clone(),
            Self::PlainResidue(residue) => vec![*residue],
            Self::Element(g) => vec![(*g).into()],
            Self::Elements(elements) => elements.iter().map(|&g| g.into()).collect(),
        }
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Residues(residues) => residues.len(),
            Self::PlainResidue(_) | Self::Element(_) => 1,
            Self::Elements(elements) => elements.len(),
            Self::Open(_, count) => *count,
        }
    }

    /// Returns the part of a procedure's name that tells its constants.
    pub(super) fn name(&self) -> String {
        match self {
            Self::None
            | Self::Open(
                ImmediateKind::None
                | ImmediateKind::Residues
                | ImmediateKind::PlainResidue
                | ImmediateKind::Element,
                _,
            ) => String::new(),
            Self::Open(ImmediateKind::Elements, count) => format!(".{count}"),
            Self::Residues(residues) => format!(".{}", digest(residues.iter().copied())),
            Self::PlainResidue(residue) => format!(".t{residue}"),
            Self::Element(g) => format!(".g{g}"),
            Self::Elements(elements) => {
                let words = elements.iter().map(|&g| g.into());
                format!(".{}.{}", elements.len(), digest(words))
            }
        }
    }
}

/// Returns the first 8 bytes of a hash of `words`, in hexadecimal.
fn digest(words: impl Iterator<Item = u64>) -> String {
    let mut hash = Sha256::new();
    for w in words {
        hash.update(w.to_le_bytes());
    }
    hash.finalize()
        .iter()
        .take(8)
        .map(|b| format!("{b:02x}"))
        .collect()
}
