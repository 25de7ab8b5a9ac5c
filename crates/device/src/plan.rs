// SPDX-License-Identifier: Apache-2.0
//! Compiles a procedure to fused steps, from which a device that computes step by step may start.
//!
//! Instructions become steps ([`lower`]). Steps that one pass over memory can do together are fused ([`fuse`]). Steps
//! are ordered so that a value is read soon after it is made ([`order`]). None of this changes a bit of the results.
//! The steps name no kernel, table or buffer; a device makes these for each [`Job`].

mod fuse;
mod lower;
mod memory;
mod order;
mod pass;

use ringmill_isa::mid::{Op, Procedure};
use ringmill_math::basext::Representative;
use ringmill_math::torus::{Coefficients, Gadget};
use ringmill_math::{AnyModulus, Modulus, Ring, WordModulus};

use crate::DeviceError;
pub use memory::{Held, peak};
pub use pass::{Act, At, Deed, Pass};

/// The most results of one step of a base extension from few moduli. Each step multiplies its operands by their
/// constants again, a cost that four results share well enough. Eight would save 10 to 20 %, and keep twice as many
/// limbs waiting.
const EXTENDED_OF_FEW: usize = 4;
/// The most results of one step of a base extension from many moduli, where the repeated products cost more than the
/// results.
pub const EXTENDED: usize = 16;
/// The least number of moduli that counts as many.
const MANY: usize = 6;

/// Returns the results of each step of a base extension to `to` moduli, as even as possible.
fn extended(from: usize, to: usize) -> usize {
    match from < MANY {
        true => EXTENDED_OF_FEW,
        false => to.div_ceil(to.div_ceil(EXTENDED).max(1)).max(1),
    }
}

/// The computation of one step.
#[derive(Clone, Debug)]
pub enum Job {
    Add(Modulus),
    Sub(Modulus),
    Neg(Modulus),
    Mul(Modulus),
    Mac(Modulus),
    Muli(Modulus, u64),
    Addi(Modulus, u64),
    /// The transform modulo `q` of an operand of residues modulo `from`, converted to `q`, plus a constant. A plain
    /// transform has `from` = `q` and constant 0.
    Ntt {
        q: Modulus,
        ring: Ring,
        from: Modulus,
        w: u64,
    },
    Intt(Modulus, Ring),
    AutoCoeff(Modulus, u64),
    /// The automorphism in evaluation form: log2 of the ring degree, and the Galois element.
    AutoEval(u32, u64),
    /// The same automorphism on the two halves of a ring; log2 of the whole ring's degree.
    AutoHalves(u32, u64),
    /// A conversion between moduli: source, target, and the constant that is added afterwards.
    Conv(Modulus, Modulus, u64),
    Dot(Modulus),
    /// Two sums of products that share their first factors. The operands are d_k, a_k, b_k by turns. With `carry` the
    /// sums start from the two operands before these, and the results take their buffers.
    DotPair {
        q: Modulus,
        carry: bool,
    },
    /// A tensor product: operands a_0, a_1, b_0, b_1, results a_0 b_0, a_0 b_1 + a_1 b_0, a_1 b_1.
    Tensor(Modulus),
    /// The scaled difference (a - b) w, or with a third operand c: (a - b) w + c.
    SubScale(Modulus, u64),
    /// A scaled difference whose b is the transform of another operand, converted to `q`, plus a constant. Operands are
    /// that operand, then a, then c if there is one.
    Difference {
        q: Modulus,
        ring: Ring,
        from: Modulus,
        w: u64,
        scale: u64,
    },
    /// A base extension with at most [`EXTENDED`] result limbs.
    Bext(Extension),
    /// A computation on residues modulo a power of two above 2^60.
    Word(WordModulus, WordJob),
    /// Reduces the operand's words, residues of any modulus, to a modulus. One of the two moduli is a power of two
    /// above 2^60.
    Reduce(AnyModulus),
    /// (X^e - 1) a in coefficient form; the exponents e are the first operand.
    RotateDifference(Coefficients),
    /// The same in evaluation form.
    RotateDifferenceEval(Modulus, Ring),
    /// Gadget digits as residues modulo the modulus, result by result.
    Decompose(Gadget, Modulus),
    /// Sample extract: the operands are the masks, then the body.
    Extract(Coefficients),
    /// An LWE key switch: the operands are the vector, then the key's rows.
    LweSwitch(Gadget),
    /// A pass: elementwise steps on parameters, a block of coefficients at a time.
    Pass(Pass),
    Split(Modulus, Ring),
    Join(Modulus, Ring),
    Prng {
        seed: usize,
        stream: u64,
        modulus: Modulus,
        ring: Ring,
    },
}

/// A computation with machine words.
#[derive(Clone, Copy, Debug)]
pub enum WordJob {
    Add,
    Sub,
    Neg,
    Muli(u64),
    Addi(u64),
    Auto(u64),
}

/// A base extension from limbs modulo `sources` to limbs modulo `moduli`, then modulo `words`.
#[derive(Clone, Debug)]
pub struct Extension {
    pub sources: Vec<Modulus>,
    pub how: How,
    pub moduli: Vec<Modulus>,
    pub words: Vec<WordModulus>,
}

/// Which of the integers with the given residues is extended.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// x + u Q for a small u.
    Fast,
    /// The integer in the range of this representative.
    Exact(Representative),
    /// The integer that a redundant limb modulo this modulus determines; that limb is the last operand.
    Redundant(Modulus),
}

/// One step of a procedure. Values are indices into a frame.
#[derive(Clone, Debug)]
pub struct Step {
    pub job: Job,
    pub op: Op,
    /// The index of the instruction to which this step belongs.
    pub instr: usize,
    pub src: Box<[u32]>,
    pub dst: Box<[Made]>,
}

/// A value that a step makes, and its length in words.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub value: u32,
    pub words: usize,
}

/// A procedure as steps, in an order that respects their dependences.
pub struct Steps {
    pub steps: Vec<Step>,
    /// The value of each parameter.
    pub params: Vec<u32>,
    /// The value of each result.
    pub results: Vec<u32>,
    /// A number above the numbers of all values.
    pub values: usize,
}

/// How instructions become steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fusion {
    /// Every instruction is a step of its own, in its written place.
    None,
    /// Steps that one pass over memory can do are fused. `cache_bytes` is the size of the cache near a core, by which
    /// long sums are cut.
    For { cache_bytes: usize },
}

impl Steps {
    /// Compiles a verified procedure.
    ///
    /// # Errors
    /// [`DeviceError::Malformed`] for a procedure that the verifier would refuse; [`DeviceError::Math`] for moduli
    /// without arithmetic.
    pub fn of(proc: &Procedure, fusion: Fusion) -> Result<Self, DeviceError> {
        let mut made = lower::lower(proc)?;
        if let Fusion::For { cache_bytes } = fusion {
            made.steps = fuse::fuse(made.steps, &made.results, &mut made.values, cache_bytes);
            let results = &made.results;
            let modulus = |r: usize| proc.types.get(*results.get(r)? as usize)?.modulus();
            let cipher = |r: usize| proc.results.get(r).map(|result| result.index);
            made.steps = order::order(made.steps, results, made.values, modulus, cipher);
        }
        Ok(made)
    }
}
