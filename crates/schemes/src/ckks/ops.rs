// SPDX-License-Identifier: Apache-2.0
//! The table of CKKS operations: each row has an operation's operands, keys, results and emitter.

use super::error::CkksError;
use super::params::Params;
use crate::rlwe::ops::{Immediate, Polys, Shape, operations};
use crate::rlwe::ops::{matrix, scaling, sums};
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
    Rescale     => (".rescale",      &[ANY],   None,           None,     None,       OneLower, Largest,    None, scaling::rescale) [Rescale],
    /// Divides polynomials by the product of the special primes, with rounding. Their moduli are q_0 ..= q_level
    /// and the special primes before, and q_0 ..= q_level after (Medha paper, Algorithm 3).
    ModDown     => (".mod_down",     &[ANY],   None,           None,     None,       Same,     Largest,    None, scaling::mod_down_all) [Rescale],
    /// Adds a ciphertext and its conjugate: [`Op::Rotate`] and [`Op::Add`] together.
    TwoReal     => (".two_real",     &[TWO],   None,           Element,  One,        Same,     Exactly(2), None, keyswitch::rotate_add) [Morph, Ksw, Add],
    /// Adds several ciphertexts, each times a plaintext.
    SumPlain    => (".sum_plain",    &[PAIRS], PerCiphertext,  None,     None,       Same,     Exactly(2), None, sums::sum_plain) [Mul, Add],
    /// Multiplies a matrix, given by its diagonals as plaintexts, by the slots of a ciphertext, by baby steps and giant
    /// steps. The sum is divided as [`Op::SumProducts`] divides its sum.
    MatVec      => (".mat_vec",      &[TWO],   PerStep,        Elements, PerElement, Lower,    Exactly(2), None, matrix::mat_vec) [Mul, Morph, Ksw, Add],
    /// Adds several ciphertexts, each times an integer, and one more integer. The sum is divided by the level's last
    /// primes, as many as the operation says.
    Combine     => (".combine",      &[PAIRS], None,           Residues, None,       Lower,    Exactly(2), None, sums::combine) [Mulc, Add],
    /// Adds several products of two ciphertexts, relinearises the sum and divides it as [`Op::Combine`] does, by one
    /// division together with the special primes. It may add ciphertexts times integers to the sum before.
    SumProducts => (".sum_products", &[PAIRS], None,           Residues, One,        Lower,    Exactly(2), None, sums::sum_products) [Mul, Add, Ksw],
    /// Switches a ciphertext at a low level to the sparse secret of bootstrapping.
    Encapsulate => (".encapsulate",  &[TWO],   None,           None,     One,        Same,     Exactly(2), None, keyswitch::encapsulate) [Ksw],
    /// Raises a ciphertext under the sparse secret, modulo one prime, to the highest level under the main secret.
    Raise       => (".raise",        &[TWO],   None,           None,     One,        Highest,  Exactly(2), None, keyswitch::raise) [Modswitch, Ksw],
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

    /// Returns the sum of `count` ciphertexts at `level`, each times a plaintext of its own, as the cache key of its
    /// procedure.
    pub fn sum_plain(level: Level, count: usize) -> Self {
        Self::of(Op::SumPlain, level, &vec![2; count])
    }

    /// Returns the product of a matrix and a ciphertext at `level`, as the cache key of its procedure. `babies` and
    /// `giants` are the Galois elements of its steps. There is a plaintext for each pair of a sum (one a giant step, then
    /// one more) and a factor (the ciphertext, then one a baby step). One division removes the special primes and the
    /// level's last `dropped` primes from the sum of the giant steps.
    pub fn mat_vec(
        level: Level,
        babies: impl IntoIterator<Item = Galois>,
        giants: impl IntoIterator<Item = Galois>,
        dropped: u16,
        seeded: bool,
    ) -> Self {
        let mut elements: Vec<Galois> = babies.into_iter().collect();
        let babies = elements.len();
        elements.extend(giants);
        let giants = (elements.len() - babies) as u16;
        let elements = Immediate::Elements(elements);
        Self::with(Op::MatVec, level, &[2], elements, seeded).shaped(Shape {
            giants,
            ..Shape::dropping(dropped)
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
