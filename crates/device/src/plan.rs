// SPDX-License-Identifier: Apache-2.0
//! A procedure as fused steps: what a device that computes step by step may start from. Nothing here names a kernel, a
//! table or a buffer; a device makes these for each [`Job`].
//!
//! Instructions become steps ([`lower`]), steps that one pass over memory can do together become one ([`fuse`]), and the
//! steps are put in an order in which values are used soon after they are made ([`order`]). None of it changes a bit.

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

/// Most results of one step of a base extension from few moduli. Each step multiplies its operands by their constants anew, which four
/// results share well enough: eight would save 10 to 20 %, and keep twice as many limbs waiting.
const EXTENDED_OF_FEW: usize = 4;
/// The same from many moduli, where what is done anew is more than what each result takes.
pub const EXTENDED: usize = 16;
/// So many are many.
const MANY: usize = 6;

/// Results of each step of a base extension to `to` moduli: as even as can be.
fn extended(from: usize, to: usize) -> usize {
    match from < MANY {
        true => EXTENDED_OF_FEW,
        false => to.div_ceil(to.div_ceil(EXTENDED).max(1)).max(1),
    }
}

/// What one step computes.
#[derive(Clone, Debug)]
pub enum Job {
    Add(Modulus),
    Sub(Modulus),
    Neg(Modulus),
    Mul(Modulus),
    Mac(Modulus),
    Muli(Modulus, u64),
    Addi(Modulus, u64),
    /// The transform modulo `q` of an operand of residues of `from`, taken to `q`, plus a constant; plain with `from` = `q` and 0.
    Ntt {
        q: Modulus,
        ring: Ring,
        from: Modulus,
        w: u64,
    },
    Intt(Modulus, Ring),
    AutoCoeff(Modulus, u64),
    /// In evaluation form: log2 of the ring degree and the Galois element.
    AutoEval(u32, u64),
    /// The same of a ring's two halves; log2 of the whole ring's degree.
    AutoHalves(u32, u64),
    /// From, to, and the constant that is added afterwards.
    Conv(Modulus, Modulus, u64),
    Dot(Modulus),
    /// Two sums of products that share their first factors: operands are d_k, a_k, b_k by turns. With `carry` the two
    /// operands before them are what the sums start from; the results take their buffers.
    DotPair {
        q: Modulus,
        carry: bool,
    },
    /// Operands a_0, a_1, b_0, b_1; results a_0 b_0, a_0 b_1 + a_1 b_0, a_1 b_1.
    Tensor(Modulus),
    /// (a - b) w, with a third operand c: (a - b) w + c.
    SubScale(Modulus, u64),
    /// The same of the transform b of another operand, which comes first, taken to `q`, plus a constant w: then a, then c if there
    /// is one.
    Difference {
        q: Modulus,
        ring: Ring,
        from: Modulus,
        w: u64,
        scale: u64,
    },
    /// Up to [`EXTENDED`] output limbs of a base extension.
    Bext(Extension),
    /// On residues of a power of two above 2^60.
    Word(WordModulus, WordJob),
    /// The operand's words, of whatever modulus they are residues, taken to a modulus; one of both is such a power.
    Reduce(AnyModulus),
    /// (X^e - 1) a in coefficient form, the exponents e first.
    RotateDifference(Coefficients),
    /// The same in evaluation form.
    RotateDifferenceEval(Modulus, Ring),
    /// Digits as residues modulo the modulus, result by result.
    Decompose(Gadget, Modulus),
    /// The masks, then the body.
    Extract(Coefficients),
    /// The vector, then the key's rows.
    LweSwitch(Gadget),
    /// Elementwise steps on parameters, a block of coefficients at a time.
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

/// What is computed with machine words.
#[derive(Clone, Copy, Debug)]
pub enum WordJob {
    Add,
    Sub,
    Neg,
    Muli(u64),
    Addi(u64),
    Auto(u64),
}

/// A base extension: from limbs modulo `sources` to limbs modulo `moduli`, then modulo `words`.
#[derive(Clone, Debug)]
pub struct Extension {
    pub sources: Vec<Modulus>,
    pub how: How,
    pub moduli: Vec<Modulus>,
    pub words: Vec<WordModulus>,
}

/// Which of the integers with these residues is extended.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// x + u Q for some small u.
    Fast,
    /// The one of that representative.
    Exact(Representative),
    /// The one that a redundant limb modulo this, the last operand, tells.
    Redundant(Modulus),
}

/// One step inside a procedure; values are indices into a frame.
#[derive(Clone, Debug)]
pub struct Step {
    pub job: Job,
    pub op: Op,
    /// Index of the instruction this step belongs to.
    pub instr: usize,
    pub src: Box<[u32]>,
    pub dst: Box<[Made]>,
}

/// A value a step makes, and its length in words.
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
    /// Values are numbered below this.
    pub values: usize,
}

/// How steps are made of instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fusion {
    /// Every instruction is a step of its own, in its written place.
    None,
    /// Steps that one pass over memory can do are one; `cache_bytes` is what lies near a core, by which long sums are cut.
    For { cache_bytes: usize },
}

impl Steps {
    /// Of a verified procedure.
    ///
    /// # Errors
    /// [`DeviceError::Malformed`] for what the verifier excludes; [`DeviceError::Math`] for moduli without arithmetic.
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
