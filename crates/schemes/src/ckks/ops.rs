// SPDX-License-Identifier: Apache-2.0
//! The table of CKKS operations: each row has an operation's operands, keys, results and emitter.

use ringmill_isa::macros::MacroOp;

use super::error::CkksError;
use super::params::Params;
use crate::rlwe::ops::{Immediate, Polys, Row, Shape, Table, Variant, row};
use crate::rlwe::ops::{PER_CIPHERTEXT, arithmetic, keyswitch, scaling, sums};
use crate::rlwe::{self, Galois, Level};

/// A CKKS operation, with everything that determines its instructions. It is the cache key of its procedure.
pub type OpKey = rlwe::OpKey<Op>;

/// A cache of the procedures of one CKKS parameter set.
pub type ProcCache = crate::ProcCache<super::Ckks>;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    Add,
    Sub,
    Neg,
    AddPlain,
    SubPlain,
    MulPlain,
    /// Adds an integer constant to the constant coefficient of the message, and so to every slot.
    AddScalar,
    /// Multiplies a ciphertext by an integer constant.
    MulScalar,
    /// Multiplies two ciphertexts of two polynomials (Medha paper, Algorithm 2). The product has three polynomials.
    Mul,
    Square,
    /// Relinearises a ciphertext of three polynomials (Medha paper, Algorithm 5).
    Relin,
    MulRelin,
    SquareRelin,
    /// Divides a ciphertext by the last prime of its level, with rounding (Medha paper, Algorithm 4). The result is one
    /// level lower.
    Rescale,
    /// Divides polynomials by the product of the special primes, with rounding. Their moduli are q_0 ..= q_level
    /// and the special primes before, and q_0 ..= q_level after (Medha paper, Algorithm 3).
    ModDown,
    /// Computes the automorphism x -> x^g of a ciphertext. The result is under the secret s(x^g) in place of s.
    Morph,
    /// Switches a ciphertext from the secret s(x^g) back to s, with the Galois key of the element g.
    KeySwitch,
    /// Computes an automorphism x -> x^g and the key switch back to s, [`Op::Morph`] and [`Op::KeySwitch`] together.
    /// It rotates the slots; g = 2N - 1 conjugates them.
    Rotate,
    /// Adds a ciphertext and its conjugate: [`Op::Rotate`] and [`Op::Add`] together.
    TwoReal,
    /// Computes several rotations of one ciphertext that share its decomposition. The bits differ from those of
    /// [`Op::Rotate`]: the digits are permuted after their extension instead of before, so the key-switching errors
    /// differ.
    HoistedRotate,
    /// Adds automorphisms of several ciphertexts. Their key switches share one division by the special primes.
    TurnSum,
    /// Adds several ciphertexts, each times a plaintext.
    SumPlain,
    /// Adds several ciphertexts, each times an integer, and one more integer. The sum is divided by the level's last
    /// primes, as many as the operation says.
    Combine,
    /// Adds several products of two ciphertexts, relinearises the sum and divides it as [`Op::Combine`] does, by one
    /// division together with the special primes. It may add ciphertexts times integers to the sum before.
    SumProducts,
    /// Switches a ciphertext at a low level to the sparse secret of bootstrapping.
    Encapsulate,
    /// Raises a ciphertext under the sparse secret, modulo one prime, to the highest level under the main secret.
    Raise,
}

const ANY: Polys = Polys::TwoOrThree;
const TWO: Polys = Polys::Exactly(2);
const THREE: Polys = Polys::Exactly(3);
const PAIRS: Polys = Polys::Each(2);

impl Table for Op {
    type Params = Params;
    type Error = CkksError;

    #[rustfmt::skip] // keeps the columns of the table
    fn row(self) -> &'static Row<Params> {
        match self {
            //                          name                   ciphertexts    plaintexts
            //                                                                   immediate keys        level     size        through        emitter
            Self::Add           => row!("ckks.add",            &[ANY, ANY],   0, None,     None,       Same,     Largest,    LargerAddend,  arithmetic::add),
            Self::Sub           => row!("ckks.sub",            &[ANY, ANY],   0, None,     None,       Same,     Largest,    LargerMinuend, arithmetic::sub),
            Self::Neg           => row!("ckks.neg",            &[ANY],        0, None,     None,       Same,     Largest,    None,          arithmetic::neg),
            Self::AddPlain      => row!("ckks.add_plain",      &[ANY],        1, None,     None,       Same,     Largest,    AllButFirst,   arithmetic::add_plain),
            Self::SubPlain      => row!("ckks.sub_plain",      &[ANY],        1, None,     None,       Same,     Largest,    AllButFirst,   arithmetic::sub_plain),
            Self::MulPlain      => row!("ckks.mul_plain",      &[ANY],        1, None,     None,       Same,     Largest,    None,          arithmetic::mul_plain),
            Self::AddScalar     => row!("ckks.add_scalar",     &[ANY],        0, Residues, None,       Same,     Largest,    AllButFirst,   arithmetic::add_scalar),
            Self::MulScalar     => row!("ckks.mul_scalar",     &[ANY],        0, Residues, None,       Same,     Largest,    None,          arithmetic::mul_scalar),
            Self::Mul           => row!("ckks.mul",            &[TWO, TWO],   0, None,     None,       Same,     Exactly(3), None,          arithmetic::mul),
            Self::Square        => row!("ckks.square",         &[TWO],        0, None,     None,       Same,     Exactly(3), None,          arithmetic::square),
            Self::Relin         => row!("ckks.relin",          &[THREE],      0, None,     One,        Same,     Exactly(2), None,          keyswitch::relin),
            Self::MulRelin      => row!("ckks.mul_relin",      &[TWO, TWO],   0, None,     One,        Same,     Exactly(2), None,          keyswitch::mul_relin),
            Self::SquareRelin   => row!("ckks.square_relin",   &[TWO],        0, None,     One,        Same,     Exactly(2), None,          keyswitch::square_relin),
            Self::Rescale       => row!("ckks.rescale",        &[ANY],        0, None,     None,       OneLower, Largest,    None,          scaling::rescale),
            Self::ModDown       => row!("ckks.mod_down",       &[ANY],        0, None,     None,       Same,     Largest,    None,          scaling::mod_down_all),
            Self::Morph         => row!("ckks.morph",          &[TWO],        0, Element,  None,     Same,     Exactly(2), None,          keyswitch::morph),
            Self::KeySwitch     => row!("ckks.key_switch",     &[TWO],        0, None,     One,        Same,     Exactly(2), None,          keyswitch::key_switch),
            Self::Rotate        => row!("ckks.rotate",         &[TWO],        0, Element,  One,        Same,     Exactly(2), None,          keyswitch::rotate),
            Self::TwoReal       => row!("ckks.two_real",       &[TWO],        0, Element,  One,        Same,     Exactly(2), None,          keyswitch::rotate_add),
            Self::HoistedRotate => row!("ckks.hoisted_rotate", &[TWO],        0, Elements, PerElement, Same,     Exactly(2), None,          keyswitch::hoisted_rotate),
            Self::TurnSum       => row!("ckks.turn_sum",       &[PAIRS],      0, Elements, PerElement, Lower,    Exactly(2), None,          sums::turn_sum),
            Self::SumPlain      => row!("ckks.sum_plain",      &[PAIRS],      PER_CIPHERTEXT, None, None, Same,  Exactly(2), None,          sums::sum_plain),
            Self::Combine       => row!("ckks.combine",        &[PAIRS],      0, Residues, None,       Lower,    Exactly(2), None,          sums::combine),
            Self::SumProducts   => row!("ckks.sum_products",   &[PAIRS],      0, Residues, One,        Lower,    Exactly(2), None,          sums::sum_products),
            Self::Encapsulate   => row!("ckks.encapsulate",    &[TWO],        0, None,     One,        Same,     Exactly(2), None,          keyswitch::encapsulate),
            Self::Raise         => row!("ckks.raise",          &[TWO],        0, None,     One,        Highest,  Exactly(2), None,          keyswitch::raise),
        }
    }

    fn stands_for(self) -> &'static [MacroOp] {
        match self {
            Self::Add | Self::AddPlain => &[MacroOp::Add],
            Self::Sub | Self::SubPlain => &[MacroOp::Sub],
            Self::Neg => &[MacroOp::Neg],
            Self::AddScalar => &[MacroOp::Addc],
            Self::Mul | Self::MulPlain => &[MacroOp::Mul],
            Self::MulScalar => &[MacroOp::Mulc],
            Self::Square => &[MacroOp::Square],
            Self::Relin | Self::KeySwitch => &[MacroOp::Ksw],
            Self::MulRelin => &[MacroOp::Mul, MacroOp::Ksw],
            Self::SquareRelin => &[MacroOp::Square, MacroOp::Ksw],
            Self::Rescale | Self::ModDown => &[MacroOp::Rescale],
            Self::Morph => &[MacroOp::Morph],
            Self::Rotate => &[MacroOp::Morph, MacroOp::Ksw],
            Self::TwoReal => &[MacroOp::Morph, MacroOp::Ksw, MacroOp::Add],
            Self::HoistedRotate => &[MacroOp::Hrotate],
            Self::TurnSum => &[MacroOp::Morph, MacroOp::Ksw, MacroOp::Add],
            Self::SumPlain => &[MacroOp::Mul, MacroOp::Add],
            Self::Combine => &[MacroOp::Mulc, MacroOp::Add],
            Self::SumProducts => &[MacroOp::Mul, MacroOp::Add, MacroOp::Ksw],
            Self::Encapsulate => &[MacroOp::Ksw],
            Self::Raise => &[MacroOp::Modswitch, MacroOp::Ksw],
        }
    }
}

impl OpKey {
    fn of(op: Op, level: Level, sizes: &[u32]) -> Self {
        Self::with(op, level, sizes, Immediate::None, false)
    }

    fn with(op: Op, level: Level, sizes: &[u32], immediate: Immediate, seeded: bool) -> Self {
        let sizes = sizes.to_vec();
        let variant = Variant {
            level,
            sizes,
            immediate,
            plain: 0,
            seeded,
            shape: Shape::default(),
        };
        Self::new(op, variant)
    }

    /// Returns the addition of ciphertexts of `a` and `b` polynomials at `level`, as the cache key of its procedure.
    pub fn add(level: Level, a: u32, b: u32) -> Self {
        Self::of(Op::Add, level, &[a, b])
    }

    /// Returns the subtraction of ciphertexts of `a` and `b` polynomials at `level`, as the cache key of its
    /// procedure.
    pub fn sub(level: Level, a: u32, b: u32) -> Self {
        Self::of(Op::Sub, level, &[a, b])
    }

    pub fn neg(level: Level, size: u32) -> Self {
        Self::of(Op::Neg, level, &[size])
    }

    pub fn add_plain(level: Level, size: u32) -> Self {
        Self::of(Op::AddPlain, level, &[size])
    }

    pub fn sub_plain(level: Level, size: u32) -> Self {
        Self::of(Op::SubPlain, level, &[size])
    }

    pub fn mul_plain(level: Level, size: u32) -> Self {
        Self::of(Op::MulPlain, level, &[size])
    }

    /// Returns the addition of a constant to a ciphertext of `size` polynomials, as the cache key of its procedure.
    /// `residues` are those of the constant modulo q_0 ..= q_level.
    pub fn add_scalar(level: Level, size: u32, residues: Vec<u64>) -> Self {
        let residues = Immediate::Residues(residues);
        Self::with(Op::AddScalar, level, &[size], residues, false)
    }

    /// Returns the product of a ciphertext of `size` polynomials and a constant, as the cache key of its procedure.
    /// `residues` are those of the constant modulo q_0 ..= q_level.
    pub fn mul_scalar(level: Level, size: u32, residues: Vec<u64>) -> Self {
        let residues = Immediate::Residues(residues);
        Self::with(Op::MulScalar, level, &[size], residues, false)
    }

    pub fn mul(level: Level) -> Self {
        Self::of(Op::Mul, level, &[2, 2])
    }

    pub fn square(level: Level) -> Self {
        Self::of(Op::Square, level, &[2])
    }

    pub fn relin(level: Level, seeded: bool) -> Self {
        Self::with(Op::Relin, level, &[3], Immediate::None, seeded)
    }

    pub fn mul_relin(level: Level, seeded: bool) -> Self {
        Self::with(Op::MulRelin, level, &[2, 2], Immediate::None, seeded)
    }

    pub fn square_relin(level: Level, seeded: bool) -> Self {
        Self::with(Op::SquareRelin, level, &[2], Immediate::None, seeded)
    }

    pub fn rescale(level: Level, size: u32) -> Self {
        Self::of(Op::Rescale, level, &[size])
    }

    pub fn mod_down(level: Level, size: u32) -> Self {
        Self::of(Op::ModDown, level, &[size])
    }

    pub fn morph(level: Level, element: Galois) -> Self {
        let element = Immediate::Element(element);
        Self::with(Op::Morph, level, &[2], element, false)
    }

    pub fn key_switch(level: Level, seeded: bool) -> Self {
        Self::with(Op::KeySwitch, level, &[2], Immediate::None, seeded)
    }

    pub fn rotate(level: Level, element: Galois, seeded: bool) -> Self {
        let element = Immediate::Element(element);
        Self::with(Op::Rotate, level, &[2], element, seeded)
    }

    /// Returns the sum of a ciphertext and its conjugate at `level`, as the cache key of its procedure. `element` must
    /// be 2N - 1, the Galois element of the conjugation.
    pub fn two_real(level: Level, element: Galois, seeded: bool) -> Self {
        let element = Immediate::Element(element);
        Self::with(Op::TwoReal, level, &[2], element, seeded)
    }

    pub fn hoisted_rotate(
        level: Level,
        elements: impl IntoIterator<Item = Galois>,
        seeded: bool,
    ) -> Self {
        let elements = Immediate::Elements(elements.into_iter().collect());
        Self::with(Op::HoistedRotate, level, &[2], elements, seeded)
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
    /// key of its procedure. `residues` are those of the integers modulo q_0 ..= q_level, one integer after another. The
    /// sum is divided by the level's last `dropped` primes.
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
    /// are multiplied. `residues` are those of the integers in its combinations (sums of ciphertexts times integers)
    /// modulo q_0 ..= q_level.
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
