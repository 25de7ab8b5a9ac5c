// SPDX-License-Identifier: Apache-2.0
//! The rows that the tables of operations of CKKS, BFV and BGV share, and the constructors of their cache keys.

/// Defines a scheme's operations `Op`, their table, and constructors of `OpKey`. The operations that every ring scheme
/// has are written here. A scheme names its own emitters of some of them, and lists its further operations: for each,
/// the columns of [`Row`](super::Row), then the macro instructions whose work the operation does.
macro_rules! operations {
    (
        scheme $scheme:literal, $params:ty, $error:ty;
        plain operand: $plain:ident, $add_plain:path, $sub_plain:path, $mul_plain:path;
        products: $mul:path, $square:path, $mul_relin:path, $square_relin:path;
        $($(#[$doc:meta])* $further:ident => ($($column:tt)*) [$($stands:ident),+],)*
    ) => {
        /// An operation of the scheme, without its operands and constants.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Op {
            Add,
            Sub,
            Neg,
            /// Adds a plaintext to a ciphertext. BFV adds the plaintext times Q / t for the plaintext modulus t, and
            /// BGV adds it times the ciphertext's correction factor.
            AddPlain,
            SubPlain,
            /// Multiplies a ciphertext by a plaintext. In BFV and BGV the plaintext's coefficients, residues modulo the
            /// plaintext modulus t, stand for integers from -t / 2 to t / 2.
            MulPlain,
            /// Adds a constant to every slot. The residues that it adds to c_0 are those of the constant times a
            /// factor: in CKKS the scale, in BFV Q / t, and in BGV the ciphertext's correction factor.
            AddScalar,
            /// Multiplies a ciphertext by an integer constant. In CKKS the integer is a number times a scale, rounded.
            MulScalar,
            /// Multiplies two ciphertexts of two polynomials (Medha paper, Algorithm 2; BASALISC paper, section 2.2.1;
            /// in BFV by the parameters' method). The product has three polynomials.
            Mul,
            Square,
            /// Relinearises a ciphertext of three polynomials (Medha paper, Algorithm 5; BASALISC paper, appendix A.3).
            Relin,
            MulRelin,
            SquareRelin,
            /// Computes the automorphism x -> x^g of a ciphertext. The result is under the secret s(x^g) in place of s.
            Morph,
            /// Switches a ciphertext from the secret s(x^g) back to s, with the Galois key of the element g.
            KeySwitch,
            /// Computes an automorphism x -> x^g and the key switch back to s ([`Op::Morph`], [`Op::KeySwitch`]). For
            /// g = 3^k it rotates the slots. For g = 2N - 1 it conjugates them in CKKS, and exchanges their two rows in
            /// BFV and BGV.
            Rotate,
            /// Computes several rotations of one ciphertext that share its decomposition. The bits differ from those of
            /// [`Op::Rotate`]: the digits are permuted after their extension instead of before, so the key-switching
            /// errors differ.
            HoistedRotate,
            $($(#[$doc])* $further,)*
        }

        const ANY: $crate::rlwe::ops::Polys = $crate::rlwe::ops::Polys::TwoOrThree;
        const TWO: $crate::rlwe::ops::Polys = $crate::rlwe::ops::Polys::Exactly(2);
        const THREE: $crate::rlwe::ops::Polys = $crate::rlwe::ops::Polys::Exactly(3);

        impl $crate::rlwe::ops::Table for Op {
            type Params = $params;
            type Error = $error;

            fn row(self) -> &'static $crate::rlwe::ops::Row<$params> {
                use $crate::rlwe::ops::{arithmetic, keyswitch, row};
                match self {
                    //                                  name              ciphertexts    plaintexts
                    //                                                                         immediate keys        level size        through        emitter
                    Self::Add           => row!($scheme ".add",            &[ANY, ANY],  None, None,     None,       Same, Largest,    LargerAddend,  arithmetic::add),
                    Self::Sub           => row!($scheme ".sub",            &[ANY, ANY],  None, None,     None,       Same, Largest,    LargerMinuend, arithmetic::sub),
                    Self::Neg           => row!($scheme ".neg",            &[ANY],       None, None,     None,       Same, Largest,    None,          arithmetic::neg),
                    Self::AddPlain      => row!($scheme ".add_plain",      &[ANY],       One,  $plain,   None,       Same, Largest,    AllButFirst,   $add_plain),
                    Self::SubPlain      => row!($scheme ".sub_plain",      &[ANY],       One,  $plain,   None,       Same, Largest,    AllButFirst,   $sub_plain),
                    Self::MulPlain      => row!($scheme ".mul_plain",      &[ANY],       One,  None,     None,       Same, Largest,    None,          $mul_plain),
                    Self::AddScalar     => row!($scheme ".add_scalar",     &[ANY],       None, Residues, None,       Same, Largest,    AllButFirst,   arithmetic::add_scalar),
                    Self::MulScalar     => row!($scheme ".mul_scalar",     &[ANY],       None, Residues, None,       Same, Largest,    None,          arithmetic::mul_scalar),
                    Self::Mul           => row!($scheme ".mul",            &[TWO, TWO],  None, None,     None,       Same, Exactly(3), None,          $mul),
                    Self::Square        => row!($scheme ".square",         &[TWO],       None, None,     None,       Same, Exactly(3), None,          $square),
                    Self::Relin         => row!($scheme ".relin",          &[THREE],     None, None,     One,        Same, Exactly(2), None,          keyswitch::relin),
                    Self::MulRelin      => row!($scheme ".mul_relin",      &[TWO, TWO],  None, None,     One,        Same, Exactly(2), None,          $mul_relin),
                    Self::SquareRelin   => row!($scheme ".square_relin",   &[TWO],       None, None,     One,        Same, Exactly(2), None,          $square_relin),
                    Self::Morph         => row!($scheme ".morph",          &[TWO],       None, Element,  None,       Same, Exactly(2), None,          keyswitch::morph),
                    Self::KeySwitch     => row!($scheme ".key_switch",     &[TWO],       None, None,     One,        Same, Exactly(2), None,          keyswitch::key_switch),
                    Self::Rotate        => row!($scheme ".rotate",         &[TWO],       None, Element,  One,        Same, Exactly(2), None,          keyswitch::rotate),
                    Self::HoistedRotate => row!($scheme ".hoisted_rotate", &[TWO],       None, Elements, PerElement, Same, Exactly(2), None,          keyswitch::hoisted_rotate),
                    $(Self::$further    => row!($scheme $($column)*),)*
                }
            }

            fn stands_for(self) -> &'static [ringmill_isa::macros::MacroOp] {
                use ringmill_isa::macros::MacroOp as M;
                match self {
                    Self::Add | Self::AddPlain => &[M::Add],
                    Self::Sub | Self::SubPlain => &[M::Sub],
                    Self::Neg => &[M::Neg],
                    Self::AddScalar => &[M::Addc],
                    Self::Mul | Self::MulPlain => &[M::Mul],
                    Self::MulScalar => &[M::Mulc],
                    Self::Square => &[M::Square],
                    Self::Relin | Self::KeySwitch => &[M::Ksw],
                    Self::MulRelin => &[M::Mul, M::Ksw],
                    Self::SquareRelin => &[M::Square, M::Ksw],
                    Self::Morph => &[M::Morph],
                    Self::Rotate => &[M::Morph, M::Ksw],
                    Self::HoistedRotate => &[M::Hrotate],
                    $(Self::$further => &[$(M::$stands),+],)*
                }
            }
        }

        /// Each constructor returns the cache key of the procedure of one operation.
        impl OpKey {
            /// Returns the addition of ciphertexts of `a` and `b` polynomials at `level`, in BGV with one correction
            /// factor.
            pub fn add(level: Level, a: u32, b: u32) -> Self {
                Self::of(Op::Add, level, &[a, b])
            }

            /// Returns the subtraction of ciphertexts of `a` and `b` polynomials at `level`, in BGV with one correction
            /// factor.
            pub fn sub(level: Level, a: u32, b: u32) -> Self {
                Self::of(Op::Sub, level, &[a, b])
            }

            pub fn neg(level: Level, size: u32) -> Self {
                Self::of(Op::Neg, level, &[size])
            }

            pub fn mul_plain(level: Level, size: u32) -> Self {
                Self::of(Op::MulPlain, level, &[size])
            }

            /// Returns the addition of a constant to a ciphertext of `size` polynomials. `residues` are those of the
            /// constant times a factor, modulo q_0 ..= q_level. The factor is the scale in CKKS, Q / t for the
            /// plaintext modulus t in BFV, and the ciphertext's correction factor in BGV.
            pub fn add_scalar(level: Level, size: u32, residues: Vec<u64>) -> Self {
                let residues = Immediate::Residues(residues);
                Self::with(Op::AddScalar, level, &[size], residues, false)
            }

            /// Returns the product of a ciphertext of `size` polynomials and a constant. `residues` are those of the
            /// constant modulo q_0 ..= q_level, in CKKS of the constant times a scale.
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
    };
}
pub(crate) use operations;
