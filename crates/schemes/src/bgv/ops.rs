// SPDX-License-Identifier: Apache-2.0
//! The table of BGV operations: each row has an operation's operands, keys, results and emitter.

use ringmill_isa::macros::MacroOp;

use super::bootstrap::raise;
use super::error::BgvError;
use super::params::Params;
use super::{Factor, plain};
use crate::exact;
use crate::rlwe::ops::{Immediate, Polys, Row, Shape, Table, Variant, row};
use crate::rlwe::ops::{PER_CIPHERTEXT, arithmetic, keyswitch, scaling, sums};
use crate::rlwe::{self, Galois, Level};

/// A BGV operation, with everything that determines its instructions. It is the cache key of its procedure.
pub type OpKey = rlwe::OpKey<Op>;

/// A cache of the procedures of one BGV parameter set.
pub type ProcCache = crate::ProcCache<super::Bgv>;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    Add,
    Sub,
    Neg,
    /// Adds a plaintext, times the ciphertext's correction factor, to a ciphertext.
    AddPlain,
    SubPlain,
    /// Adds an integer constant, times the ciphertext's correction factor, to every slot.
    AddScalar,
    /// Multiplies a ciphertext by a plaintext. The plaintext's coefficients, residues modulo the plaintext modulus t,
    /// stand for integers from -t / 2 to t / 2.
    MulPlain,
    /// Multiplies a ciphertext by an integer constant, for example to make two correction factors equal.
    MulScalar,
    /// Multiplies two ciphertexts of two polynomials (BASALISC paper, section 2.2.1). The product has three
    /// polynomials.
    Mul,
    Square,
    /// Relinearises a ciphertext of three polynomials (BASALISC paper, appendix A.3).
    Relin,
    MulRelin,
    SquareRelin,
    /// Divides a ciphertext by the last prime of its level and keeps the message modulo the plaintext modulus. The
    /// result is one level lower.
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
    /// Adds a ciphertext and several of its automorphisms. They share one decomposition into key-switching digits
    /// and one division by the special primes.
    SumRotations,
    /// Adds several ciphertexts, each after an automorphism. The key switches share one division by the special primes.
    TurnSum,
    /// Adds several ciphertexts, each times a plaintext that has residues modulo each prime, in evaluation form.
    SumPlain,
    /// Adds several ciphertexts, each multiplied by an integer.
    Combine,
    /// Adds products of ciphertexts, with one relinearisation. A first factor may be a sum of ciphertexts times
    /// integers, as [`Op::Combine`] computes it.
    SumProducts,
    /// Divides a ciphertext by several primes at once and keeps the message modulo the plaintext modulus. With one
    /// prime it is [`Op::ModSwitch`].
    DropPrimes,
    /// Multiplies a ciphertext by a plaintext that has residues modulo each prime, in evaluation form.
    MulLifted,
    /// Switches a ciphertext at a low level to the sparse secret of bootstrapping.
    Encapsulate,
    /// Raises a ciphertext under the sparse secret to the highest level under the main secret (BASALISC paper,
    /// Algorithm 3).
    Raise,
}

const ANY: Polys = Polys::TwoOrThree;
const TWO: Polys = Polys::Exactly(2);
const THREE: Polys = Polys::Exactly(3);
const PAIRS: Polys = Polys::Each(2);

impl Table for Op {
    type Params = Params;
    type Error = BgvError;

    #[rustfmt::skip] // keeps the columns of the table
    fn row(self) -> &'static Row<Params> {
        match self {
            //                          name                  ciphertexts    plaintexts
            //                                                                  immediate      keys        level     size        through        emitter
            Self::Add           => row!("bgv.add",            &[ANY, ANY],   0, None,          None,       Same,     Largest,    LargerAddend,  arithmetic::add),
            Self::Sub           => row!("bgv.sub",            &[ANY, ANY],   0, None,          None,       Same,     Largest,    LargerMinuend, arithmetic::sub),
            Self::Neg           => row!("bgv.neg",            &[ANY],        0, None,          None,       Same,     Largest,    None,          arithmetic::neg),
            Self::AddPlain      => row!("bgv.add_plain",      &[ANY],        1, PlainResidue,  None,       Same,     Largest,    AllButFirst,   plain::add_plain),
            Self::SubPlain      => row!("bgv.sub_plain",      &[ANY],        1, PlainResidue,  None,       Same,     Largest,    AllButFirst,   plain::sub_plain),
            Self::AddScalar     => row!("bgv.add_scalar",     &[ANY],        0, Residues,      None,       Same,     Largest,    AllButFirst,   arithmetic::add_scalar),
            Self::MulPlain      => row!("bgv.mul_plain",      &[ANY],        1, None,          None,       Same,     Largest,    None,          exact::mul_plain),
            Self::MulScalar     => row!("bgv.mul_scalar",     &[ANY],        0, Residues,      None,       Same,     Largest,    None,          arithmetic::mul_scalar),
            Self::Mul           => row!("bgv.mul",            &[TWO, TWO],   0, None,          None,       Same,     Exactly(3), None,          arithmetic::mul),
            Self::Square        => row!("bgv.square",         &[TWO],        0, None,          None,       Same,     Exactly(3), None,          arithmetic::square),
            Self::Relin         => row!("bgv.relin",          &[THREE],      0, None,          One,        Same,     Exactly(2), None,          keyswitch::relin),
            Self::MulRelin      => row!("bgv.mul_relin",      &[TWO, TWO],   0, None,          One,        Same,     Exactly(2), None,          keyswitch::mul_relin),
            Self::SquareRelin   => row!("bgv.square_relin",   &[TWO],        0, None,          One,        Same,     Exactly(2), None,          keyswitch::square_relin),
            Self::ModSwitch     => row!("bgv.mod_switch",     &[ANY],        0, None,          None,       OneLower, Largest,    None,          scaling::rescale),
            Self::Morph         => row!("bgv.morph",          &[TWO],        0, Element,       None,       Same,     Exactly(2), None,          keyswitch::morph),
            Self::KeySwitch     => row!("bgv.key_switch",     &[TWO],        0, None,          One,        Same,     Exactly(2), None,          keyswitch::key_switch),
            Self::Rotate        => row!("bgv.rotate",         &[TWO],        0, Element,       One,        Same,     Exactly(2), None,          keyswitch::rotate),
            Self::HoistedRotate => row!("bgv.hoisted_rotate", &[TWO],        0, Elements,      PerElement, Same,     Exactly(2), None,          keyswitch::hoisted_rotate),
            Self::SumRotations  => row!("bgv.sum_rotations",  &[TWO],        0, Elements,      PerElement, Lower,    Exactly(2), None,          sums::sum_rotations),
            Self::TurnSum       => row!("bgv.turn_sum",       &[PAIRS],      0, Elements,      PerElement, Lower,    Exactly(2), None,          sums::turn_sum),
            Self::SumPlain      => row!("bgv.sum_plain",      &[PAIRS],      PER_CIPHERTEXT, None, None,   Same,     Exactly(2), None,          sums::sum_plain),
            Self::Combine       => row!("bgv.combine",        &[PAIRS],      0, Residues,      None,       Lower,    Exactly(2), None,          sums::combine),
            Self::SumProducts   => row!("bgv.sum_products",   &[PAIRS],      0, Residues,      One,        Lower,    Exactly(2), None,          sums::sum_products),
            Self::DropPrimes    => row!("bgv.drop_primes",    &[ANY],        0, None,          None,       Lower,    Largest,    None,          sums::drop_primes),
            Self::MulLifted     => row!("bgv.mul_lifted",     &[ANY],        1, None,          None,       Same,     Largest,    None,          arithmetic::mul_plain),
            Self::Encapsulate   => row!("bgv.encapsulate",    &[TWO],        0, None,          One,        Same,     Exactly(2), None,          keyswitch::encapsulate),
            Self::Raise         => row!("bgv.raise",          &[TWO, TWO],   0, None,          None,       Highest,  Exactly(2), None,          raise::raise),
        }
    }

    fn stands_for(self) -> &'static [MacroOp] {
        match self {
            Self::Add | Self::AddPlain => &[MacroOp::Add],
            Self::Sub | Self::SubPlain => &[MacroOp::Sub],
            Self::Neg => &[MacroOp::Neg],
            Self::AddScalar => &[MacroOp::Addc],
            Self::Mul | Self::MulPlain | Self::MulLifted => &[MacroOp::Mul],
            Self::MulScalar => &[MacroOp::Mulc],
            Self::Square => &[MacroOp::Square],
            Self::Relin | Self::KeySwitch | Self::Encapsulate => &[MacroOp::Ksw],
            Self::MulRelin => &[MacroOp::Mul, MacroOp::Ksw],
            Self::SquareRelin => &[MacroOp::Square, MacroOp::Ksw],
            Self::ModSwitch | Self::DropPrimes => &[MacroOp::Rescale],
            Self::Morph => &[MacroOp::Morph],
            Self::Rotate | Self::SumRotations | Self::TurnSum => &[MacroOp::Morph, MacroOp::Ksw],
            Self::HoistedRotate => &[MacroOp::Hrotate],
            Self::SumPlain => &[MacroOp::Mul, MacroOp::Add],
            Self::Combine => &[MacroOp::Mulc, MacroOp::Add],
            Self::SumProducts => &[MacroOp::Mul, MacroOp::Add, MacroOp::Ksw],
            Self::Raise => &[MacroOp::Modswitch],
        }
    }
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

    /// Returns the addition of ciphertexts of `a` and `b` polynomials with one correction factor at `level`, as the
    /// cache key of its procedure.
    pub fn add(level: Level, a: u32, b: u32) -> Self {
        Self::of(Op::Add, level, &[a, b])
    }

    /// Returns the subtraction of ciphertexts of `a` and `b` polynomials with one correction factor at `level`, as the
    /// cache key of its procedure.
    pub fn sub(level: Level, a: u32, b: u32) -> Self {
        Self::of(Op::Sub, level, &[a, b])
    }

    pub fn neg(level: Level, size: u32) -> Self {
        Self::of(Op::Neg, level, &[size])
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

    /// Returns the addition of a constant to a ciphertext of `size` polynomials, as the cache key of its procedure.
    /// `residues` are those of the constant times the ciphertext's correction factor, modulo q_0 ..= q_level.
    pub fn add_scalar(level: Level, size: u32, residues: Vec<u64>) -> Self {
        let residues = Immediate::Residues(residues);
        Self::with(Op::AddScalar, level, &[size], residues, false)
    }

    pub fn mul_plain(level: Level, size: u32) -> Self {
        Self::of(Op::MulPlain, level, &[size])
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
    /// are multiplied. `residues` are those of the integers by which the sum multiplies ciphertexts, modulo q_0 ..=
    /// q_level.
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
