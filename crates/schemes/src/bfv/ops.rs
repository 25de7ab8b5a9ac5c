// SPDX-License-Identifier: Apache-2.0
//! The table of BFV operations: each row has an operation's operands, keys, results and emitter.

use ringmill_isa::macros::MacroOp;

use super::error::BfvError;
use super::params::Params;
use super::{multiply, plain};
use crate::exact;
use crate::rlwe::ops::{Immediate, Polys, Row, Shape, Table, Variant, row};
use crate::rlwe::ops::{arithmetic, keyswitch, scaling};
use crate::rlwe::{self, Galois, Level};

/// A BFV operation, with everything that determines its instructions. It is the cache key of its procedure.
pub type OpKey = rlwe::OpKey<Op>;

/// A cache of the procedures of one BFV parameter set.
pub type ProcCache = crate::ProcCache<super::Bfv>;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    Add,
    Sub,
    Neg,
    /// Adds a plaintext times Q / t to a ciphertext, where t is the plaintext modulus.
    AddPlain,
    SubPlain,
    /// Multiplies a ciphertext by a plaintext. The plaintext's coefficients, residues modulo the plaintext modulus t,
    /// stand for integers from -t / 2 to t / 2.
    MulPlain,
    /// Multiplies a ciphertext by a plaintext whose coefficients stand for integers from 0 to t - 1 for the plaintext
    /// modulus t, as SEAL does with some plaintexts of one coefficient. The noise is up to t times that of
    /// [`Self::MulPlain`].
    MulPlainUnsigned,
    /// Adds an integer to every slot: the constant term of the polynomial c_0 gets it times Q / t, where t is the
    /// plaintext modulus.
    AddScalar,
    MulScalar,
    /// Multiplies two ciphertexts of two polynomials, by the parameters' method. The product has three polynomials.
    Mul,
    Square,
    /// Relinearises a ciphertext of three polynomials (Medha paper, Algorithm 5).
    Relin,
    MulRelin,
    SquareRelin,
    /// Divides a ciphertext by the last prime of its level, with rounding. The result is one level lower.
    ModSwitch,
    /// Computes the automorphism x -> x^g of a ciphertext. The result is under the secret s(x^g) in place of s.
    Morph,
    /// Switches a ciphertext from the secret s(x^g) back to s, with the Galois key of the element g.
    KeySwitch,
    /// Rotates: computes an automorphism x -> x^g and the key switch back to s ([`Op::Morph`], [`Op::KeySwitch`]). For g =
    /// 3^k it rotates both rows of slots, for g = 2N - 1 it exchanges them.
    Rotate,
    /// Computes several rotations of one ciphertext that share its decomposition. The bits differ from those of
    /// [`Op::Rotate`].
    HoistedRotate,
}

const ANY: Polys = Polys::TwoOrThree;
const TWO: Polys = Polys::Exactly(2);
const THREE: Polys = Polys::Exactly(3);

impl Table for Op {
    type Params = Params;
    type Error = BfvError;

    #[rustfmt::skip] // keeps the columns of the table
    fn row(self) -> &'static Row<Params> {
        match self {
            //                          name                  ciphertexts    plaintexts
            //                                                                  immediate keys        level     size        through        emitter
            Self::Add           => row!("bfv.add",            &[ANY, ANY],   0, None,     None,       Same,     Largest,    LargerAddend,  arithmetic::add),
            Self::Sub           => row!("bfv.sub",            &[ANY, ANY],   0, None,     None,       Same,     Largest,    LargerMinuend, arithmetic::sub),
            Self::Neg           => row!("bfv.neg",            &[ANY],        0, None,     None,       Same,     Largest,    None,          arithmetic::neg),
            Self::AddPlain      => row!("bfv.add_plain",      &[ANY],        1, None,     None,       Same,     Largest,    AllButFirst,   plain::add_plain),
            Self::SubPlain      => row!("bfv.sub_plain",      &[ANY],        1, None,     None,       Same,     Largest,    AllButFirst,   plain::sub_plain),
            Self::MulPlain      => row!("bfv.mul_plain",      &[ANY],        1, None,     None,       Same,     Largest,    None,          exact::mul_plain),
            Self::MulPlainUnsigned
                                => row!("bfv.mul_plain_unsigned", &[ANY],    1, None,     None,       Same,     Largest,    None,          exact::mul_plain_unsigned),
            Self::AddScalar     => row!("bfv.add_scalar",     &[ANY],        0, Residues, None,       Same,     Largest,    AllButFirst,   arithmetic::add_scalar),
            Self::MulScalar     => row!("bfv.mul_scalar",     &[ANY],        0, Residues, None,       Same,     Largest,    None,          arithmetic::mul_scalar),
            Self::Mul           => row!("bfv.mul",            &[TWO, TWO],   0, None,     None,       Same,     Exactly(3), None,          multiply::mul),
            Self::Square        => row!("bfv.square",         &[TWO],        0, None,     None,       Same,     Exactly(3), None,          multiply::square),
            Self::Relin         => row!("bfv.relin",          &[THREE],      0, None,     One,        Same,     Exactly(2), None,          keyswitch::relin),
            Self::MulRelin      => row!("bfv.mul_relin",      &[TWO, TWO],   0, None,     One,        Same,     Exactly(2), None,          multiply::mul_relin),
            Self::SquareRelin   => row!("bfv.square_relin",   &[TWO],        0, None,     One,        Same,     Exactly(2), None,          multiply::square_relin),
            Self::ModSwitch     => row!("bfv.mod_switch",     &[ANY],        0, None,     None,       OneLower, Largest,    None,          scaling::rescale),
            Self::Morph         => row!("bfv.morph",          &[TWO],        0, Element,  None,     Same,     Exactly(2), None,          keyswitch::morph),
            Self::KeySwitch     => row!("bfv.key_switch",     &[TWO],        0, None,     One,        Same,     Exactly(2), None,          keyswitch::key_switch),
            Self::Rotate        => row!("bfv.rotate",         &[TWO],        0, Element,  One,        Same,     Exactly(2), None,          keyswitch::rotate),
            Self::HoistedRotate => row!("bfv.hoisted_rotate", &[TWO],        0, Elements, PerElement, Same,     Exactly(2), None,          keyswitch::hoisted_rotate),
        }
    }

    fn stands_for(self) -> &'static [MacroOp] {
        match self {
            Self::Add | Self::AddPlain => &[MacroOp::Add],
            Self::Sub | Self::SubPlain => &[MacroOp::Sub],
            Self::Neg => &[MacroOp::Neg],
            Self::AddScalar => &[MacroOp::Addc],
            Self::Mul | Self::MulPlain | Self::MulPlainUnsigned => &[MacroOp::Mul],
            Self::MulScalar => &[MacroOp::Mulc],
            Self::Square => &[MacroOp::Square],
            Self::Relin | Self::KeySwitch => &[MacroOp::Ksw],
            Self::MulRelin => &[MacroOp::Mul, MacroOp::Ksw],
            Self::SquareRelin => &[MacroOp::Square, MacroOp::Ksw],
            Self::ModSwitch => &[MacroOp::Rescale],
            Self::Morph => &[MacroOp::Morph],
            Self::Rotate => &[MacroOp::Morph, MacroOp::Ksw],
            Self::HoistedRotate => &[MacroOp::Hrotate],
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

    pub fn mul_plain_unsigned(level: Level, size: u32) -> Self {
        Self::of(Op::MulPlainUnsigned, level, &[size])
    }

    /// Returns the addition of an integer to a ciphertext of `size` polynomials, as the cache key of its procedure.
    /// `residues` are those of the integer times Q / t for the plaintext modulus t ([`term`](super::scalar::term)).
    pub fn add_scalar(level: Level, size: u32, residues: Vec<u64>) -> Self {
        let residues = Immediate::Residues(residues);
        Self::with(Op::AddScalar, level, &[size], residues, false)
    }

    /// Returns the product of a ciphertext of `size` polynomials and an integer, as the cache key of its procedure.
    /// `residues` are those of the integer ([`residues`](crate::exact::scalar::residues)).
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

    pub fn mod_switch(level: Level, size: u32) -> Self {
        Self::of(Op::ModSwitch, level, &[size])
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

    pub fn hoisted_rotate(
        level: Level,
        elements: impl IntoIterator<Item = Galois>,
        seeded: bool,
    ) -> Self {
        let elements = Immediate::Elements(elements.into_iter().collect());
        Self::with(Op::HoistedRotate, level, &[2], elements, seeded)
    }
}
