// SPDX-License-Identifier: Apache-2.0
//! Writes out tests for zero, which are 1 where a value is 0 and 0 elsewhere, as polynomials modulo the plaintext
//! modulus t.
//!
//! By Fermat the test of x is 1 - x^(t - 1), whatever x is. Its depth in products is about the number of bits of t. A
//! value in a short range needs fewer. Its polynomial is 1 at 0 and has all other values of the range as roots. If they
//! lie on both sides of 0, it is a polynomial in x^2. The choice depends on t and the range alone.

use std::borrow::Cow;

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue};
use ringmill_isa::source::SourceLoc;
use ringmill_limits::Watch;
use ringmill_math::Modulus;
use ringmill_schemes::exact::PlainModulus;

use super::IntegerRange;
use super::held::Held;
use crate::error::{At, CompileError};
use crate::pipeline::A_VALUE;
use crate::poly::{self, Arithmetic, Powers};
use crate::rewrite::{CIPHER, Rewriter};

/// The most roots of a test's polynomial. Beyond this number its constants alone take longer than Fermat's powers.
const MOST_ROOTS: u64 = 1024;

/// The number of products of a ciphertext with a constant that take about as long as one product of ciphertexts.
const CONSTANTS: f64 = 32.0;

/// Returns `program` with every test for zero written out and relinearised. `t` must be prime.
///
/// # Errors
/// Fails if there is too little memory, or for a test whose range `held` lacks.
pub(crate) fn written_out<'a, E>(
    program: &'a MacroProgram,
    t: PlainModulus,
    held: &Held,
    watch: &Watch,
) -> Result<Cow<'a, MacroProgram>, CompileError<E>> {
    if held.tested.is_empty() {
        return Ok(Cow::Borrowed(program));
    }
    let q = t.reducer();
    let ways = held.tested.values().map(|&range| Way::cheapest(range, q));
    watch.admit(
        "the tests for zero, written out",
        ways.map(|way| A_VALUE * way.values()).sum(),
    )?;
    let mut out = Rewriter::beside(program);
    for instr in &program.instrs {
        match (instr.op, &*instr.src, &*instr.dst) {
            (MacroOp::Iszero, &[x], &[d]) => {
                let range = held.tested.get(&d).ok_or_else(|| misshapen(instr))?;
                let x = Term::Cipher(out.get(x));
                let mut emit = Emit {
                    out: &mut out,
                    q,
                    loc: &instr.loc,
                };
                let result = emit.test(x, Way::cheapest(*range, q));
                let Term::Cipher(result) = result else {
                    return Err(misshapen(instr));
                };
                out.set(d, result);
            }
            _ => out.copy(instr, &program.types),
        }
    }
    Ok(Cow::Owned(out.finish()))
}

/// Returns the error for an instruction that an earlier pass should have refused.
fn misshapen<E>(instr: &MacroInstr) -> CompileError<E> {
    CompileError::Misshapen {
        at: At(instr.loc.clone()),
        op: instr.op.mnemonic(),
    }
}

/// The polynomial as which a test for zero is written out, in the tested value x.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// The test of a value x is 1 - x^(t - 1) modulo the plaintext modulus t, by Fermat.
    Power,
    /// The test of a value x is a polynomial in x with these coefficients, that of the lowest
    /// degree first. It is 1 at 0 and has the other values of x as roots.
    Roots(Vec<u64>),
    /// The test of a value x is a polynomial in x^2 with these coefficients, that of the lowest
    /// degree first. It is 1 at 0 and has the squares of the other values of x as roots.
    SquaredRoots(Vec<u64>),
}

impl Way {
    /// Chooses the cheapest polynomial that tests values in `range` for zero modulo `q`. The cost
    /// of a product grows with the ring degree times the square of the number of primes. The ring
    /// degree and the number of primes grow about as the depth does.
    pub fn cheapest(range: IntegerRange, q: Modulus) -> Self {
        let power = u64::BITS - (q.value() - 2).leading_zeros();
        let products = u64::from(q.value().ilog2() + (q.value() - 1).count_ones() - 1);
        let cost = |products: f64, depth: u32| products * f64::from(depth).powi(3);
        let by_power = cost(products as f64, power);
        match Self::by_roots(range, q) {
            Some((way, products, depth)) if cost(products, depth) < by_power => way,
            _ => Self::Power,
        }
    }

    /// Returns the test by a polynomial whose roots include the values of `range` other than 0, with its number of
    /// products and its depth. A product with a constant counts as a fraction of a product. Returns `None` for too many
    /// roots, or if the range has a number of absolute value `q` or more.
    pub fn by_roots(range: IntegerRange, q: Modulus) -> Option<(Self, f64, u32)> {
        let (low, high) = (range.low().unsigned_abs(), range.high().unsigned_abs());
        let both = range.low() < 0 && range.high() > 0;
        let count = u64::try_from(low.max(high)).ok()?;
        if count > MOST_ROOTS || count >= q.value() {
            return None;
        }
        let root = |j: u64| match (both, range.low() < 0) {
            (true, _) => q.mul(j, j),
            (false, true) => q.neg(j),
            (false, false) => j,
        };
        // The product of 1 - x / root, lowest coefficient first.
        let mut coefficients = vec![1];
        for j in 1..=count.max(1) {
            let by = q.neg(q.inv(root(j)).ok()?);
            coefficients.push(0);
            for i in (1..coefficients.len()).rev() {
                coefficients[i] = q.add(coefficients[i], q.mul(by, coefficients[i - 1]));
            }
        }
        let squared = u32::from(both);
        let depth = poly::depth(&coefficients) + squared;
        let products =
            poly::products::<Emit<'_>>(&Powers, &coefficients) as f64 + f64::from(squared);
        let products = products + coefficients.len() as f64 / CONSTANTS;
        let way = if both {
            Self::SquaredRoots(coefficients)
        } else {
            Self::Roots(coefficients)
        };
        Some((way, products, depth))
    }

    /// Returns the most values that a test adds to the program when it is written out.
    fn values(&self) -> u64 {
        match self {
            Self::Power => 4 * 64,
            Self::Roots(c) | Self::SquaredRoots(c) => 4 * c.len() as u64,
        }
    }
}

/// A term of a written-out test: a value of the program or a constant.
#[derive(Clone, Copy)]
enum Term {
    Cipher(MacroValue),
    Constant(u64),
}

/// A writer of instructions for one line of the source program. Its constants are modulo the
/// plaintext modulus `q`.
struct Emit<'a> {
    out: &'a mut Rewriter,
    q: Modulus,
    loc: &'a Option<SourceLoc>,
}

impl Emit<'_> {
    fn test(&mut self, x: Term, way: Way) -> Term {
        match way {
            Way::Power => {
                let power = self.power(x, self.q.value() - 1);
                let minus = self.scaled(power, self.q.neg(1));
                self.sum(minus, Term::Constant(1))
            }
            Way::Roots(coefficients) => self.polynomial(x, &coefficients),
            Way::SquaredRoots(coefficients) => {
                let square = self.square(x);
                self.polynomial(square, &coefficients)
            }
        }
    }

    fn polynomial(&mut self, x: Term, coefficients: &[u64]) -> Term {
        let Ok(result) = poly::evaluate(self, &Powers, x, coefficients);
        result.unwrap_or(Term::Constant(0))
    }

    /// Returns x^e at depth ceil(log2 e). It multiplies those repeated squares of x that the bits of e select, from the
    /// lowest on.
    fn power(&mut self, x: Term, mut e: u64) -> Term {
        let (mut square, mut product) = (x, Term::Constant(1));
        while e > 0 {
            if e & 1 == 1 {
                product = self.product(product, square);
            }
            e >>= 1;
            if e > 0 {
                square = self.square(square);
            }
        }
        product
    }

    fn sum(&mut self, x: Term, y: Term) -> Term {
        match (x, y) {
            (Term::Cipher(x), Term::Cipher(y)) => {
                self.push(MacroOp::Add, vec![x, y], MacroImm::None)
            }
            (Term::Cipher(x), Term::Constant(c)) | (Term::Constant(c), Term::Cipher(x)) => {
                self.push(MacroOp::Addc, vec![x], MacroImm::Integer(c.into()))
            }
            (Term::Constant(a), Term::Constant(b)) => Term::Constant(self.q.add(a, b)),
        }
    }

    fn product(&mut self, x: Term, y: Term) -> Term {
        match (x, y) {
            (Term::Cipher(x), Term::Cipher(y)) => self.relinearised(MacroOp::Mul, vec![x, y]),
            (x, Term::Constant(c)) | (Term::Constant(c), x) => self.scaled(x, c),
        }
    }

    fn scaled(&mut self, x: Term, c: u64) -> Term {
        match x {
            x if c == 1 => x,
            Term::Cipher(x) if c == self.q.neg(1) => {
                self.push(MacroOp::Neg, vec![x], MacroImm::None)
            }
            Term::Cipher(x) => self.push(MacroOp::Mulc, vec![x], MacroImm::Integer(c.into())),
            Term::Constant(a) => Term::Constant(self.q.mul(a, c)),
        }
    }

    fn square(&mut self, x: Term) -> Term {
        match x {
            Term::Cipher(x) => self.relinearised(MacroOp::Square, vec![x]),
            Term::Constant(c) => Term::Constant(self.q.mul(c, c)),
        }
    }

    fn relinearised(&mut self, op: MacroOp, src: Vec<MacroValue>) -> Term {
        let three = MacroType::Cipher { size: 3, at: None };
        let product = self.out.push(op, src, MacroImm::None, three, self.loc);
        self.push(MacroOp::Relin, vec![product], MacroImm::None)
    }

    fn push(&mut self, op: MacroOp, src: Vec<MacroValue>, imm: MacroImm) -> Term {
        Term::Cipher(self.out.push(op, src, imm, CIPHER, self.loc))
    }
}

impl Arithmetic for Emit<'_> {
    type Value = Term;
    type Coefficient = u64;
    type Error = std::convert::Infallible;

    fn constant(&mut self, c: u64) -> Result<Term, Self::Error> {
        Ok(Term::Constant(c))
    }

    fn scaled(&mut self, x: Term, c: u64) -> Result<Term, Self::Error> {
        Ok(Emit::scaled(self, x, c))
    }

    fn square(&mut self, x: Term) -> Result<Term, Self::Error> {
        Ok(Emit::square(self, x))
    }

    fn product(&mut self, x: Term, y: Term) -> Result<Term, Self::Error> {
        Ok(Emit::product(self, x, y))
    }

    fn sum(&mut self, x: Term, y: Term) -> Result<Term, Self::Error> {
        Ok(Emit::sum(self, x, y))
    }
}
