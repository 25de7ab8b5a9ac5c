// SPDX-License-Identifier: Apache-2.0
//! The table of CKKS operations: each row has an operation's operands, keys, results and emitter.

use super::error::CkksError;
use super::params::Params;
use crate::rlwe::ops::{Immediate, Polys, Shape, operations};
use crate::rlwe::ops::{PER_CIPHERTEXT, scaling, sums};
use crate::rlwe::{self, Galois, Level};

/// A CKKS operation, with everything that determines its instructions. It is the cache key of its procedure.
pub type OpKey = rlwe::OpKey<Op>;

/// A cache of the procedures of one CKKS parameter set.
pub type ProcCache = crate::ProcCache<super::Ckks>;

const PAIRS: Polys = Polys::Each(2);

operations! {
    scheme "ckks", Params, CkksError;
    plain operand: None, arithmetic::add_plain, arithmetic::sub_plain, arithmetic::mul_plain;
    products: arithmetic::mul, arithmetic::square, keyswitch::mul_relin, keyswitch::square_relin;
    /// Divides a ciphertext by the last prime of its level, with rounding (Medha paper, Algorithm 4). The result is one
    /// level lower.
    Rescale     => (".rescale",      &[ANY],   0,              None,     None,       OneLower, Largest,    None, scaling::rescale) [Rescale],
    /// Divides polynomials by the product of the special primes, with rounding. Their moduli are q_0 ..= q_level
    /// and the special primes before, and q_0 ..= q_level after (Medha paper, Algorithm 3).
    ModDown     => (".mod_down",     &[ANY],   0,              None,     None,       Same,     Largest,    None, scaling::mod_down_all) [Rescale],
    /// Adds a ciphertext and its conjugate: [`Op::Rotate`] and [`Op::Add`] together.
    TwoReal     => (".two_real",     &[TWO],   0,              Element,  One,        Same,     Exactly(2), None, keyswitch::rotate_add) [Morph, Ksw, Add],
    /// Adds automorphisms of several ciphertexts. Their key switches share one division, by the special primes and as
    /// many of the level's last primes as the operation says.
    TurnSum     => (".turn_sum",     &[PAIRS], 0,              Elements, PerElement, Lower,    Exactly(2), None, sums::turn_sum) [Morph, Ksw, Add],
    /// Adds several ciphertexts, each times a plaintext. It may compute several such sums of the same ciphertexts.
    SumPlain    => (".sum_plain",    &[PAIRS], PER_CIPHERTEXT, None,     None,       Same,     Exactly(2), None, sums::sum_plain) [Mul, Add],
    /// Adds several ciphertexts, each times an integer, and one more integer. The sum is divided by the level's last
    /// primes, as many as the operation says.
    Combine     => (".combine",      &[PAIRS], 0,              Residues, None,       Lower,    Exactly(2), None, sums::combine) [Mulc, Add],
    /// Adds several products of two ciphertexts, relinearises the sum and divides it as [`Op::Combine`] does, by one
    /// division together with the special primes. It may add ciphertexts times integers to the sum before.
    SumProducts => (".sum_products", &[PAIRS], 0,              Residues, One,        Lower,    Exactly(2), None, sums::sum_products) [Mul, Add, Ksw],
    /// Switches a ciphertext at a low level to the sparse secret of bootstrapping.
    Encapsulate => (".encapsulate",  &[TWO],   0,              None,     One,        Same,     Exactly(2), None, keyswitch::encapsulate) [Ksw],
    /// Raises a ciphertext under the sparse secret, modulo one prime, to the highest level under the main secret.
    Raise       => (".raise",        &[TWO],   0,              None,     One,        Highest,  Exactly(2), None, keyswitch::raise) [Modswitch, Ksw],
}

impl OpKey {
    pub fn add_plain(level: Level, size: u32) -> Self {
        Self::of(Op::AddPlain, level, &[size])
    }

    pub fn sub_plain(level: Level, size: u32) -> Self {
        Self::of(Op::SubPlain, level, &[size])
    }

    pub fn rescale(level: Level, size: u32) -> Self {
        Self::of(Op::Rescale, level, &[size])
    }

    pub fn mod_down(level: Level, size: u32) -> Self {
        Self::of(Op::ModDown, level, &[size])
    }

    /// Returns the sum of a ciphertext and its conjugate at `level`, as the cache key of its procedure. `element` must
    /// be 2N - 1, the Galois element of the conjugation.
    pub fn two_real(level: Level, element: Galois, seeded: bool) -> Self {
        let element = Immediate::Element(element);
        Self::with(Op::TwoReal, level, &[2], element, seeded)
    }

    /// Returns the sum of `count` ciphertexts at `level`, each under the automorphism of its own Galois element, as
    /// the cache key of its procedure. If there are more ciphertexts than elements, the last ones are added as they
    /// are. One division removes the special primes and the level's last `dropped` primes.
    pub fn turn_sum(
        level: Level,
        count: usize,
        elements: impl IntoIterator<Item = Galois>,
        dropped: u16,
        seeded: bool,
    ) -> Self {
        let elements = Immediate::Elements(elements.into_iter().collect());
        let sum = Self::with(Op::TurnSum, level, &vec![2; count], elements, seeded);
        sum.shaped(Shape::dropping(dropped))
    }

    /// Returns `sums` sums of `count` ciphertexts, each times a plaintext of its own for each sum, as the cache key of
    /// their procedure.
    pub fn sum_plain(level: Level, count: usize, sums: usize) -> Self {
        Self::of(Op::SumPlain, level, &vec![2; count]).shaped(Shape {
            further: sums.saturating_sub(1) as u16,
            ..Shape::default()
        })
    }

    /// Returns the sum of `count` ciphertexts at `level`, each times an integer, and of one more integer, as the cache
    /// key of its procedure. `residues` are those of the integers modulo q_0 ..= q_level, one integer after another.
    /// The sum is divided by the level's last `dropped` primes.
    pub fn combine(level: Level, count: usize, residues: Vec<u64>, dropped: u16) -> Self {
        let residues = Immediate::Residues(residues);
        let sum = Self::with(Op::Combine, level, &vec![2; count], residues, false);
        sum.shaped(Shape {
            combined: count as u16,
            tail: true,
            ..Shape::dropping(dropped)
        })
    }

    /// Returns a sum of products of `count` ciphertexts, as the cache key of its procedure. `shape` says which of them
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

    pub fn encapsulate(level: Level, seeded: bool) -> Self {
        Self::with(Op::Encapsulate, level, &[2], Immediate::None, seeded)
    }

    /// Returns the raising of a ciphertext at `level`, which must be 0, to the highest level, as the cache key of its
    /// procedure.
    pub fn raise(level: Level, seeded: bool) -> Self {
        Self::with(Op::Raise, level, &[2], Immediate::None, seeded)
    }
}
