// SPDX-License-Identifier: Apache-2.0
//! Compiles a procedure to fused steps, for any device that computes step by step.
//!
//! Instructions become steps ([`lower`]). Steps that one pass over memory can do together are fused ([`fuse`]). Steps
//! are ordered so that a value is read soon after it is computed ([`order`]). None of this changes a bit of the
//! results. A step names no kernel, table or buffer; a device finds these from the step's [`Job`].

mod fuse;
mod lower;
mod matrix;
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

/// The most result limbs of one step of a base extension from fewer than `MANY` (six) source moduli. Each step
/// multiplies its operands by their constants again, a cost that its results share. More results in a step would save
/// more products, but more limbs would wait in memory.
const EXTENDED_OF_FEW: usize = 4;
/// The most result limbs of one step of a base extension from `MANY` (six) source moduli or more. Each step repeats the
/// products of its operands and their constants. With so many source moduli, these repeated products cost more than the
/// memory for more results that wait.
pub const EXTENDED: usize = 16;
/// The least number of source moduli, a redundant one included, from which a base extension has steps of up to
/// [`EXTENDED`] result limbs. With fewer source moduli its steps have up to [`EXTENDED_OF_FEW`].
const MANY: usize = 6;

/// Returns the most result limbs of one step of a base extension from `from` to `to` moduli. From [`MANY`] source
/// moduli on the number makes the steps as equal as possible; below it is [`EXTENDED_OF_FEW`].
fn extended(from: usize, to: usize) -> usize {
    match from < MANY {
        true => EXTENDED_OF_FEW,
        false => to.div_ceil(to.div_ceil(EXTENDED).max(1)).max(1),
    }
}

/// The computation of one step of a plan, without its operands and results.
#[derive(Clone, Debug)]
pub enum Job {
    Add(Modulus),
    Sub(Modulus),
    Neg(Modulus),
    Mul(Modulus),
    Mac(Modulus),
    Muli(Modulus, u64),
    Addi(Modulus, u64),
    /// The transform modulo `q` of (x mod `q`) + `w`, for an operand x of residues modulo `from` and a constant `w`. A
    /// plain transform has `from` = `q` and `w` = 0.
    Ntt {
        q: Modulus,
        ring: Ring,
        from: Modulus,
        w: u64,
    },
    Intt(Modulus, Ring),
    AutoCoeff(Modulus, u64),
    /// The automorphism in evaluation form: log2 of the ring degree N, and the Galois element.
    AutoEval(u32, u64),
    /// The automorphism in evaluation form on a ring whose limbs a machine holds as two halves: log2 of the whole
    /// ring's degree, and the Galois element.
    AutoHalves(u32, u64),
    /// A conversion between moduli: source, target, and a constant that is added after it.
    Conv(Modulus, Modulus, u64),
    Dot(Modulus),
    /// Two sums of products, the sums of d_k a_k and d_k b_k, which share their first factors. The operands are d_k,
    /// a_k, b_k for each k in turn. With `carry` the sums start from the two operands before these, and the results
    /// take their buffers. With `turn` the d_k are the results of an automorphism on the given limbs: log2 of the ring
    /// degree N, and the Galois element.
    DotPair {
        q: Modulus,
        carry: bool,
        turn: Option<(u32, u64)>,
    },
    /// The product of a matrix and a vector of pairs of limbs: for each row r, two sums over k of d_rk a_k and d_rk b_k.
    /// The operands are a_k, b_k for each of the `factors` numbers k in turn, then the d_rk, row by row. The results are
    /// the two sums of each row in turn. The d_rk may hold each of their blocks of equal residues once.
    MatVec {
        q: Modulus,
        factors: usize,
    },
    /// A tensor product modulo a prime: from operands a_0, a_1, b_0, b_1 it computes a_0 b_0, a_0 b_1 + a_1 b_0 and a_1
    /// b_1.
    Tensor(Modulus),
    /// The scaled difference (a - b) w of operands a and b and a constant w, or (a - b) w + c with a third operand c.
    SubScale(Modulus, u64),
    /// A scaled difference (a - b) s, plus c if there is a c, where s is `scale`. Its b is the transform of (x mod
    /// `q`) + w, for an operand x of residues modulo `from`. The operands are x, then a, then c.
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
    /// A reduction of the operand's residues to this modulus. The operand's modulus or this one is a power of two above
    /// 2^60.
    Reduce(AnyModulus),
    /// The product (X^e - 1) a in coefficient form. The last operand is a; e is the sum of the exponents before it.
    RotateDifference(Coefficients),
    /// The product (X^e - 1) a in evaluation form. The last operand is a; e is the sum of the exponents before it.
    RotateDifferenceEval(Modulus, Ring),
    /// A gadget decomposition of the operand. Each result is one digit, as residues modulo this modulus.
    Decompose(Gadget, Modulus),
    /// A sample extract of an LWE vector from a GLWE ciphertext: the operands are the mask limbs, then the body limb.
    Extract(Coefficients),
    /// An LWE key switch: the operands are the LWE vector, then the rows of the switching key.
    LweSwitch(Gadget),
    /// A pass over memory: several elementwise steps, which are all computed on a block of coefficients before the next
    /// block.
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

/// A computation on residues modulo a power of two above 2^60, in machine words that wrap around.
#[derive(Clone, Copy, Debug)]
pub enum WordJob {
    Add,
    Sub,
    Neg,
    Muli(u64),
    Addi(u64),
    Auto(u64),
}

/// A base extension from limbs modulo `sources`. Its results are limbs modulo the primes `moduli`,
/// then limbs modulo the powers of two `words`.
#[derive(Clone, Debug)]
pub struct Extension {
    pub sources: Vec<Modulus>,
    pub how: How,
    pub moduli: Vec<Modulus>,
    pub words: Vec<WordModulus>,
}

/// The choice among the integers that have the given residues, for a base extension.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// The extension takes x + u Q for the integer x in \[0, Q) with the given residues and a small
    /// integer u. Q is the product of the source moduli.
    Fast,
    /// The extension takes the one integer in a range as wide as the product Q of the source moduli: \[0, Q), or
    /// centred around 0.
    Exact(Representative),
    /// The extension takes the integer that a redundant limb modulo this modulus determines. That limb is the last
    /// operand.
    Redundant(Modulus),
}

/// One step of a procedure's plan. Its operands and results are indices into the call's frame of values.
#[derive(Clone, Debug)]
pub struct Step {
    pub job: Job,
    pub op: Op,
    /// The index in the procedure of the instruction to which this step belongs.
    pub instr: usize,
    pub src: Box<[u32]>,
    pub dst: Box<[Made]>,
}

/// A value that a step of a procedure's plan computes, and its length in words.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub value: u32,
    pub words: usize,
}

/// A procedure as a list of steps, in an order that respects their dependences.
pub struct Steps {
    pub steps: Vec<Step>,
    /// For each parameter of the procedure, the index of its value.
    pub params: Vec<u32>,
    /// For each result of the procedure, the index of its value.
    pub results: Vec<u32>,
    /// The number of values of the plan: all their indices are below it.
    pub values: usize,
}

/// The choice whether instructions are fused when they become steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fusion {
    /// The steps are those of the instructions, in their order. Every instruction is one step, except that a base
    /// extension may be several and that `LOAD` and `STORE` are none.
    None,
    /// Steps that can be done together while memory is read once are fused. `cache_bytes` is the size of the cache near
    /// a core; long sums are cut so that their operands fit into it.
    For { cache_bytes: usize },
}

impl Steps {
    /// Compiles a verified procedure to steps, which `fusion` may join.
    ///
    /// # Errors
    /// [`DeviceError::Malformed`] or [`DeviceError::Math`] for a procedure that the verifier would refuse.
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
