// SPDX-License-Identifier: Apache-2.0
//! The table of BGV operations: each row has an operation's operands, keys, results and emitter.

use super::bootstrap::raise;
use super::error::BgvError;
use super::params::Params;
use super::{Factor, plain};
use crate::exact;
use crate::rlwe::ops::{Immediate, Polys, Shape, Variant, operations};
use crate::rlwe::ops::{scaling, sums};
use crate::rlwe::{self, Galois, Level};

/// A BGV operation, with everything that determines its instructions. It is the cache key of its procedure.
pub type OpKey = rlwe::OpKey<Op>;

/// A cache of the procedures of one BGV parameter set.
pub type ProcCache = crate::ProcCache<super::Bgv>;

const PAIRS: Polys = Polys::Each(2);

operations! {
    scheme "bgv", Params, BgvError;
    plain operand: PlainResidue, plain::add_plain, plain::sub_plain, exact::mul_plain;
    products: arithmetic::mul, arithmetic::square, keyswitch::mul_relin, keyswitch::square_relin;
    /// Divides a ciphertext by the last prime of its level and keeps the message modulo the plaintext modulus. The
    /// result is one level lower.
    ModSwitch    => (".mod_switch",    &[ANY],      None,           None,     None,       OneLower, Largest,    None, scaling::rescale) [Rescale],
    /// Adds a ciphertext and several of its automorphisms. They share one decomposition into key-switching digits and
    /// one division, by the special primes and those of `OpKey::dropping`.
    SumRotations => (".sum_rotations", &[TWO],      None,           Elements, PerElement, Lower,    Exactly(2), None, sums::sum_rotations) [Morph, Ksw],
    /// Adds several ciphertexts: the first ones each after an automorphism, further ones as they are. The key switches
    /// share one division, by the special primes and those of `OpKey::dropping`.
    TurnSum      => (".turn_sum",      &[PAIRS],    None,           Elements, PerElement, Lower,    Exactly(2), None, sums::turn_sum) [Morph, Ksw],
    /// Adds several ciphertexts, each times a plaintext that has residues modulo each prime, in evaluation form.
    SumPlain     => (".sum_plain",     &[PAIRS],    PerCiphertext,  None,     None,       Same,     Exactly(2), None, sums::sum_plain) [Mul, Add],
    /// Adds several ciphertexts, each multiplied by an integer, and one more integer. It may divide the sum by the
    /// level's last primes.
    Combine      => (".combine",       &[PAIRS],    None,           Residues, None,       Lower,    Exactly(2), None, sums::combine) [Mulc, Add],
    /// Adds products of ciphertexts, with one relinearisation. A first factor may be a sum of ciphertexts times
    /// integers, as [`Op::Combine`] computes it.
    SumProducts  => (".sum_products",  &[PAIRS],    None,           Residues, One,        Lower,    Exactly(2), None, sums::sum_products) [Mul, Add, Ksw],
    /// Divides a ciphertext by several primes at once and keeps the message modulo the plaintext modulus. With one
    /// prime it is [`Op::ModSwitch`].
    DropPrimes   => (".drop_primes",   &[ANY],      None,           None,     None,       Lower,    Largest,    None, sums::drop_primes) [Rescale],
    /// Multiplies a ciphertext by a plaintext that has residues modulo each prime, in evaluation form.
    MulLifted    => (".mul_lifted",    &[ANY],      One,            None,     None,       Same,     Largest,    None, arithmetic::mul_plain) [Mul],
    /// Switches a ciphertext at a low level to the sparse secret of bootstrapping.
    Encapsulate  => (".encapsulate",   &[TWO],      None,           None,     One,        Same,     Exactly(2), None, keyswitch::encapsulate) [Ksw],
    /// Raises a ciphertext under the sparse secret to the highest level under the main secret (BASALISC paper,
    /// Algorithm 3).
    Raise        => (".raise",         &[TWO, TWO], None,           None,     None,       Highest,  Exactly(2), None, raise::raise) [Modswitch],
}

impl OpKey {
    /// Returns this operation for messages modulo the parameters' plaintext modulus of index `plain`. An operation
    /// whose instructions do not depend on the plaintext modulus stays as it is.
    pub fn modulo(self, plain: u8) -> Self {
        match self.op() {
            Op::AddPlain
            | Op::SubPlain
            | Op::MulPlain
            | Op::Relin
            | Op::MulRelin
            | Op::SquareRelin
            | Op::ModSwitch
            | Op::KeySwitch
            | Op::Rotate
            | Op::HoistedRotate
            | Op::SumRotations
            | Op::TurnSum
            | Op::Combine
            | Op::SumProducts
            | Op::DropPrimes
            | Op::Encapsulate => {
                let variant = self.variant().clone();
                Self::new(self.op(), Variant { plain, ..variant })
            }
            Op::Add
            | Op::Sub
            | Op::Neg
            | Op::AddScalar
            | Op::MulScalar
            | Op::Mul
            | Op::Square
            | Op::SumPlain
            | Op::Morph
            | Op::MulLifted
            | Op::Raise => self,
        }
    }

    /// Returns the addition of a plaintext to a ciphertext of `size` polynomials with the correction factor `factor`,
    /// as the cache key of its procedure.
    pub fn add_plain(level: Level, size: u32, factor: Factor) -> Self {
        let value = Immediate::PlainResidue(factor.value());
        Self::with(Op::AddPlain, level, &[size], value, false).modulo(factor.plain())
    }

    /// Returns the subtraction of a plaintext from a ciphertext of `size` polynomials with the correction factor
    /// `factor`, as the cache key of its procedure.
    pub fn sub_plain(level: Level, size: u32, factor: Factor) -> Self {
        let value = Immediate::PlainResidue(factor.value());
        Self::with(Op::SubPlain, level, &[size], value, false).modulo(factor.plain())
    }

    pub fn mod_switch(level: Level, size: u32) -> Self {
        Self::of(Op::ModSwitch, level, &[size])
    }

    /// Returns the sum of a ciphertext and its automorphisms by these Galois elements, as the cache key of its
    /// procedure.
    pub fn sum_rotations(
        level: Level,
        elements: impl IntoIterator<Item = Galois>,
        seeded: bool,
    ) -> Self {
        let elements = Immediate::Elements(elements.into_iter().collect());
        Self::with(Op::SumRotations, level, &[2], elements, seeded)
    }

    /// Returns, as the cache key of its procedure, the sum of `count` ciphertexts, each under the automorphism of its
    /// Galois element. If there are more ciphertexts than Galois elements, the last ones are added as they are.
    pub fn turn_sum(
        level: Level,
        count: usize,
        elements: impl IntoIterator<Item = Galois>,
        seeded: bool,
    ) -> Self {
        let elements = Immediate::Elements(elements.into_iter().collect());
        Self::with(Op::TurnSum, level, &vec![2; count], elements, seeded)
    }

    /// Returns the sum of `count` products of a ciphertext and a plaintext in evaluation form, as the cache key of its
    /// procedure.
    pub fn sum_plain(level: Level, count: usize) -> Self {
        Self::of(Op::SumPlain, level, &vec![2; count])
    }

    /// Returns, as the cache key of its procedure, the sum of `count` ciphertexts, each times an integer, and of one
    /// more integer. `residues` are those of the integers modulo q_0 ..= q_level.
    pub fn combine(level: Level, count: usize, residues: Vec<u64>) -> Self {
        let shape = Shape {
            combined: count as u16,
            tail: true,
            ..Shape::default()
        };
        let residues = Immediate::Residues(residues);
        Self::with(Op::Combine, level, &vec![2; count], residues, false).shaped(shape)
    }

    /// Returns, as the cache key of its procedure, a sum of products of `count` ciphertexts. `shape` says which of them
    /// are multiplied. `residues` are those of the integers of each combination, its multipliers and then the integer
    /// that it adds, modulo q_0 ..= q_level.
    pub fn sum_products(
        level: Level,
        count: usize,
        shape: Shape,
        residues: Vec<u64>,
        seeded: bool,
    ) -> Self {
        let residues = Immediate::Residues(residues);
        Self::with(Op::SumProducts, level, &vec![2; count], residues, seeded).shaped(shape)
    }

    /// Returns the division of a ciphertext of `size` polynomials by the last `count` primes of `level`, as the cache
    /// key of its procedure.
    pub fn drop_primes(level: Level, size: u32, count: u16) -> Self {
        Self::of(Op::DropPrimes, level, &[size]).dropping(count)
    }

    /// Returns this operation with the division by the level's last `count` primes as a further step at its end.
    pub fn dropping(self, count: u16) -> Self {
        let shape = Shape {
            dropped: count,
            ..self.variant().shape.clone()
        };
        self.shaped(shape)
    }

    /// Returns the product of a ciphertext of `size` polynomials and a plaintext in evaluation form, as the cache key
    /// of its procedure.
    pub fn mul_lifted(level: Level, size: u32) -> Self {
        Self::of(Op::MulLifted, level, &[size])
    }

    /// Returns the switch of a ciphertext to the sparse secret of bootstrapping, as the cache key of its procedure.
    /// The primes of `level` are the inner modulus of bootstrapping.
    pub fn encapsulate(level: Level, seeded: bool) -> Self {
        Self::with(Op::Encapsulate, level, &[2], Immediate::None, seeded)
    }

    /// Returns the raising of a bootstrap's modulus for a ciphertext at `level`, as the cache key of its procedure.
    /// The second operand, the encrypted sparse secret, is at the highest level.
    pub fn raise(level: Level) -> Self {
        Self::of(Op::Raise, level, &[2, 2])
    }
}
