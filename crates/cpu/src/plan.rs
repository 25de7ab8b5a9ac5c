// SPDX-License-Identifier: Apache-2.0
//! Prepares a procedure to run on the CPU: a kernel with its tables for each step, the number of uses of each value,
//! and the steps that use it.
//!
//! The steps are those of [`ringmill_device::plan`]; each gets a [`Kernel`] here. The plan of a procedure is made once,
//! then cached.

mod pass;

use std::sync::Arc;

use ringmill_device::DeviceError;
use ringmill_device::plan::{self, Extension, Fusion, How, Job, Steps, WordJob};
use ringmill_device::pool::{buffer_bytes, holds_short, limb_modulus};
use ringmill_isa::mid::{Op, Procedure};
use ringmill_math::basext::{BaseExtension, FixedPoint, ShenoyKumaresan, Targets};
use ringmill_math::torus::{Coefficients, Gadget, Monomials};
use ringmill_math::{
    AnyModulus, AutoEvalPlan, BaseConverter, MathError, Modulus, NttPlan, Ring, RnsBasis, Shoup,
    WordModulus,
};

use super::CACHE_BYTES;
pub(super) use pass::{Operand, Pass};

/// The CPU's computation of one step, with every table that it needs.
pub(super) enum Kernel {
    Add(Modulus),
    Sub(Modulus),
    Neg(Modulus),
    Mul(Modulus),
    Mac(Modulus),
    Muli(Modulus, u64),
    Addi(Modulus, u64),
    /// The transform of the sum of an operand and a constant w. The operand has residues modulo `from`, which are first
    /// reduced to the modulus of the transform's tables `plan`. A plain transform has this modulus as `from`, and w =
    /// 0.
    Ntt {
        plan: Arc<NttPlan>,
        from: Modulus,
        w: u64,
    },
    Intt(Arc<NttPlan>),
    AutoCoeff(Modulus, u64),
    AutoEval(Arc<AutoEvalPlan>),
    AutoHalves(Arc<AutoEvalPlan>),
    /// A conversion between moduli: source, target, and the constant that is added afterwards.
    Conv(Modulus, Modulus, u64),
    Dot(Modulus),
    /// Two sums of products, the sums of d_k a_k and d_k b_k, which share their first factors. The operands are d_k,
    /// a_k, b_k for each k in turn. With `carry` the sums start from the two operands before these, and the results
    /// take their buffers. With `turn` the d_k are the results of this automorphism on the given limbs.
    DotPair {
        q: Modulus,
        carry: bool,
        turn: Option<Arc<AutoEvalPlan>>,
    },
    /// The product of a matrix and a vector of pairs of limbs: for each row r, two sums over k of d_rk a_k and d_rk b_k.
    /// The operands are a_k, b_k for each of the `factors` numbers k in turn, then the d_rk, row by row.
    MatVec {
        q: Modulus,
        factors: usize,
    },
    /// A tensor product modulo a prime: from operands a_0, a_1, b_0, b_1 it computes a_0 b_0, a_0 b_1 + a_1 b_0 and a_1
    /// b_1.
    Tensor(Modulus),
    /// The scaled difference (a - b) w of operands a and b and a constant w, or (a - b) w + c with a third operand c.
    SubScale(Modulus, Shoup),
    /// A scaled difference (a - b) s, plus c if there is a c, where s is `scale`. Its operands are x, then a, then c.
    /// Its b is the transform of the sum (x mod q) + w, for x of residues modulo `from`. q is the modulus of the
    /// transform's tables `plan`.
    Difference {
        plan: Arc<NttPlan>,
        from: Modulus,
        w: u64,
        scale: Shoup,
    },
    /// A base extension, fast or exact, with at most [`plan::EXTENDED`] result limbs, a block of coefficients at a
    /// time.
    Bext(Box<dyn BaseExtension>),
    /// A computation on residues modulo a power of two above 2^60.
    Word(WordModulus, WordJob),
    /// A reduction of the operand's residues to another modulus. One of the two moduli is a power of two above 2^60.
    Reduce(AnyModulus),
    /// The product (X^e - 1) a in coefficient form. The last operand is a; e is the sum of the exponents before it.
    RotateDifference(Coefficients),
    /// The product (X^e - 1) a in evaluation form. The last operand is a; e is the sum of the exponents before it.
    RotateDifferenceEval(Arc<Monomials>),
    /// A gadget decomposition of the operand. Each result is one digit, as residues modulo this modulus.
    Decompose(Gadget, Modulus),
    /// A sample extract of an LWE vector from a GLWE ciphertext: the operands are the mask limbs, then the body limb.
    Extract(Coefficients),
    /// An LWE key switch. The first operand is the LWE vector, its body last. The second has all rows of the switching
    /// key, one behind the other.
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

impl Kernel {
    /// Makes the kernel of a step's computation `job`, with the tables that it needs.
    fn of(job: Job) -> Result<Self, MathError> {
        Ok(match job {
            Job::Add(q) => Self::Add(q),
            Job::Sub(q) => Self::Sub(q),
            Job::Neg(q) => Self::Neg(q),
            Job::Mul(q) => Self::Mul(q),
            Job::Mac(q) => Self::Mac(q),
            Job::Muli(q, w) => Self::Muli(q, w),
            Job::Addi(q, w) => Self::Addi(q, w),
            Job::Ntt { q, ring, from, w } => Self::Ntt {
                plan: NttPlan::shared(q, ring)?,
                from,
                w,
            },
            Job::Intt(q, ring) => Self::Intt(NttPlan::shared(q, ring)?),
            Job::AutoCoeff(q, g) => Self::AutoCoeff(q, g),
            Job::AutoEval(log_n, g) => Self::AutoEval(AutoEvalPlan::shared(log_n, g)?),
            Job::AutoHalves(log_n, g) => Self::AutoHalves(AutoEvalPlan::shared(log_n, g)?),
            Job::Conv(from, to, w) => Self::Conv(from, to, w),
            Job::Dot(q) => Self::Dot(q),
            Job::DotPair { q, carry, turn } => {
                let shared = |(log_n, g)| AutoEvalPlan::shared(log_n, g);
                let turn = turn.map(shared).transpose()?;
                Self::DotPair { q, carry, turn }
            }
            Job::MatVec { q, factors } => Self::MatVec { q, factors },
            Job::Tensor(q) => Self::Tensor(q),
            Job::SubScale(q, w) => Self::SubScale(q, q.shoup(w)),
            Job::Difference {
                q,
                ring,
                from,
                w,
                scale,
            } => Self::Difference {
                plan: NttPlan::shared(q, ring)?,
                from,
                w,
                scale: q.shoup(scale),
            },
            Job::Bext(extension) => Self::Bext(converter(extension)?),
            Job::Word(q, job) => Self::Word(q, job),
            Job::Reduce(to) => Self::Reduce(to),
            Job::RotateDifference(q) => Self::RotateDifference(q),
            Job::RotateDifferenceEval(q, ring) => {
                let plan = NttPlan::shared(q, ring)?;
                Self::RotateDifferenceEval(Arc::new(Monomials::new(&plan)))
            }
            Job::Decompose(gadget, q) => Self::Decompose(gadget, q),
            Job::Extract(q) => Self::Extract(q),
            Job::LweSwitch(gadget) => Self::LweSwitch(gadget),
            Job::Pass(pass) => Self::Pass(pass.into()),
            Job::Split(q, ring) => Self::Split(q, ring),
            Job::Join(q, ring) => Self::Join(q, ring),
            Job::Prng {
                seed,
                stream,
                modulus,
                ring,
            } => Self::Prng {
                seed,
                stream,
                modulus,
                ring,
            },
        })
    }

    /// Returns the indices of the operands whose buffer may become the result's, in order of preference.
    pub fn overwritable(&self) -> &'static [usize] {
        match self {
            Kernel::Add(_) | Kernel::Mul(_) => &[0, 1],
            Kernel::Sub(_)
            | Kernel::Neg(_)
            | Kernel::Mac(_)
            | Kernel::Muli(..)
            | Kernel::Addi(..)
            | Kernel::Intt(_) => &[0],
            Kernel::Ntt { plan, from, w: 0 } if *from == plan.modulus() => &[0],
            Kernel::SubScale(..) => &[1],
            // Other steps mostly still read the operand of a conversion. If not, the conversion is too short to matter.
            _ => &[],
        }
    }

    /// Returns how many operands, from the first on, the kernel updates in place: result i is operand i. The fusion of
    /// steps ensures that nothing else refers to these operands.
    pub fn updates(&self) -> usize {
        match self {
            Kernel::DotPair { carry: true, .. } => 2,
            _ => 0,
        }
    }

    /// Returns whether the kernel reads operand `i` in words of 32 bits as well as of 64. `lasting` says that the
    /// result is in words of 32 bits.
    pub fn reads_short(&self, i: usize, lasting: bool) -> bool {
        match self {
            Kernel::Pass(_) | Kernel::Intt(_) | Kernel::AutoEval(_) | Kernel::Tensor(_) => true,
            Kernel::DotPair { .. } => i >= self.updates(),
            Kernel::SubScale(..) => lasting && i != 1,
            Kernel::Difference { .. } => lasting && i != 0,
            _ => false,
        }
    }

    /// Returns whether the kernel reads limbs that hold each of their blocks of equal residues once.
    pub fn reads_blocks(&self) -> bool {
        matches!(self, Kernel::Pass(_) | Kernel::MatVec { .. })
    }

    /// Returns whether the kernel can write its result in words of 32 bits.
    pub fn writes_short(&self) -> bool {
        matches!(
            self,
            Kernel::Pass(_) | Kernel::SubScale(..) | Kernel::Difference { .. }
        )
    }

    /// Returns whether the kernel needs a buffer of 64-bit words for an intermediate value if its result has 32-bit
    /// words.
    fn between(&self) -> bool {
        matches!(self, Kernel::Difference { .. })
    }

    /// Returns whether the kernel can write its results past the cache to memory.
    pub fn streams(&self) -> bool {
        match self {
            Kernel::Add(_) | Kernel::Mul(_) | Kernel::SubScale(..) | Kernel::Tensor(_) => true,
            Kernel::Pass(pass) => pass.streams(),
            _ => false,
        }
    }

    /// Returns the kernel's rough time, for a step with `operands` operands. The unit is the time of one elementwise
    /// operation on a limb. Only estimates of progress use it.
    fn weight(&self, operands: usize) -> u64 {
        match self {
            Kernel::Ntt { .. } | Kernel::Intt(_) => 12,
            Kernel::Difference { .. } => 13,
            Kernel::Dot(_) | Kernel::DotPair { .. } => operands as u64,
            // Each of the diagonals is a factor of two products.
            Kernel::MatVec { factors, .. } => 2 * operands.saturating_sub(2 * factors) as u64,
            Kernel::Bext(to) => (operands * (1 + to.target().len() + to.words().len())) as u64,
            Kernel::Pass(pass) => pass.weight(),
            Kernel::Decompose(gadget, _) => gadget.levels() as u64,
            // One pass over a row for each digit of each coefficient; the rows are mostly shorter than a limb.
            Kernel::LweSwitch(gadget) => SWITCH_PASSES * gadget.levels() as u64,
            _ => 1,
        }
    }
}

/// Returns the converter that computes a base extension.
fn converter(extension: Extension) -> Result<Box<dyn BaseExtension>, MathError> {
    let Extension {
        sources,
        how,
        moduli,
        words,
    } = extension;
    let basis = RnsBasis::new(sources)?;
    let to = Targets {
        moduli: &moduli,
        words: &words,
    };
    Ok(match how {
        How::Fast => Box::new(BaseConverter::new(&basis, to)),
        How::Exact(which) => Box::new(FixedPoint::new(&basis, to, which)?),
        How::Redundant(m) => Box::new(ShenoyKumaresan::new(&basis, m, to)?),
    })
}

/// The rough time in which an LWE key switch handles the key rows of one digit. The unit is that of [`Kernel`]'s
/// weights: one elementwise operation on a limb.
const SWITCH_PASSES: u64 = 512;

/// A step of a procedure with its kernel. Its operands and results are indices into the call's frame of values.
pub(super) struct Step {
    pub kernel: Kernel,
    pub op: Op,
    /// The index in the procedure of the instruction to which this step belongs.
    pub instr: usize,
    pub src: Box<[u32]>,
    pub dst: Box<[Made]>,
    /// The lengths, in words, of scratch buffers of 64-bit words. They stand in for operands and results in words of 32
    /// bits that the kernel does not support, or hold the intermediate value of a scaled difference. They are known
    /// when the plan is complete.
    pub room: Box<[usize]>,
}

impl Step {
    fn of(step: plan::Step) -> Result<Self, MathError> {
        let made = |made: &plan::Made| Made {
            value: made.value,
            words: made.words,
            short: false,
        };
        Ok(Self {
            kernel: Kernel::of(step.job)?,
            op: step.op,
            instr: step.instr,
            src: step.src,
            dst: step.dst.iter().map(made).collect(),
            room: Box::default(),
        })
    }
}

/// A value that a step computes, and its length in words.
#[derive(Clone, Copy)]
pub(super) struct Made {
    pub value: u32,
    pub words: usize,
    /// Whether the value is in words of 32 bits; this is known when the plan is complete.
    pub short: bool,
}

/// Decides which values of a procedure are in words of 32 bits: its inputs and results whose modulus is below 2^32.
/// Values between its steps, and limbs that expand from seeds, have words of 64 bits.
fn shorten(proc: &Procedure, steps: &mut [Step], held: impl Iterator<Item = u32>, values: usize) {
    let mut short = vec![None; values];
    for v in held {
        let ty = proc.types.get(v as usize).copied();
        let ty = ty.filter(|&ty| holds_short(limb_modulus(ty, &proc.moduli)));
        if let Some(place) = short.get_mut(v as usize) {
            *place = ty.map(|ty| ty.words());
        }
    }
    let words = |v: u32| short.get(v as usize).copied().flatten();
    for step in steps {
        if let Kernel::Prng { .. } = step.kernel {
            continue;
        }
        for made in &mut step.dst {
            made.short = words(made.value).is_some();
        }
        let lasting = step.dst.iter().any(|made| made.short);
        let read = step.src.iter().enumerate();
        let read = read.filter(|&(i, _)| !step.kernel.reads_short(i, lasting));
        let read = read.filter_map(|(_, &v)| words(v));
        let made = step.dst.iter().skip(step.kernel.updates());
        let made = made.filter(|made| made.short && !step.kernel.writes_short());
        let between = (step.dst.iter().take(1)).filter(|made| made.short && step.kernel.between());
        let written = made.chain(between).map(|made| made.words);
        step.room = read.chain(written).collect();
    }
}

/// Returns what a step holds in memory: the values that it computes and reads, and its working memory, in bytes of
/// buffers.
fn holds(step: &Step) -> plan::Held<'_, impl Iterator<Item = (u32, u64)> + Clone> {
    // An expanded limb belongs to its seed.
    let made = match step.kernel {
        Kernel::Prng { .. } => &[][..],
        _ => &step.dst,
    };
    let room = step.room.iter().map(|&words| buffer_bytes(words, false));
    plan::Held {
        made: made
            .iter()
            .map(|made| (made.value, buffer_bytes(made.words, made.short))),
        src: &step.src,
        room: room.sum(),
    }
}

/// One list of numbers for each value of a procedure, all stored in two flat vectors.
#[derive(Default)]
pub(super) struct Lists {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn new(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut ends = vec![0u32; count];
        for (list, _) in pairs.clone() {
            ends[list as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            let length = *end;
            *end = sum; // start for now; filling moves it to the end
            sum += length;
        }
        let mut items = vec![0; sum as usize];
        for (list, item) in pairs {
            let end = &mut ends[list as usize];
            items[*end as usize] = item;
            *end += 1;
        }
        Self { ends, items }
    }

    pub fn get(&self, list: u32) -> &[u32] {
        let i = list as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.items[start as usize..self.ends[i] as usize]
    }
}

/// A procedure that is ready to run on the CPU. Its steps are in an order that respects their dependences.
pub(super) struct Plan {
    pub name: String,
    pub steps: Vec<Step>,
    /// For each value, the number of its uses: as an operand of a step, or as a result of the procedure. A step that
    /// uses it twice counts twice.
    pub uses: Vec<u32>,
    /// For each step, the number of its operands. A call counts it down as operands come, and runs
    /// the step at 0.
    pub pending: Vec<u32>,
    /// For each value of the procedure, the steps that use it; a step that uses it twice is listed
    /// twice.
    pub consumers: Lists,
    /// For each value, the indices of the procedure's results that are this value.
    pub exports: Lists,
    /// For each parameter of the procedure, the index of its value.
    pub params: Vec<u32>,
    pub results: usize,
    pub weight: u64,
    /// The most bytes that computed limbs and scratch buffers take at one time, if the procedure's steps run in order.
    /// Limbs that expand from seeds are not counted.
    pub peak_bytes: u64,
}

impl Plan {
    /// Makes the plan of a verified procedure. Without `fused` every instruction becomes one step, in its place in the
    /// procedure. A procedure that the verifier would refuse gives an error, never a panic.
    pub fn new(proc: &Procedure, fused: bool) -> Result<Self, DeviceError> {
        let fusion = match fused {
            true => Fusion::For {
                cache_bytes: CACHE_BYTES,
            },
            false => Fusion::None,
        };
        let Steps {
            steps,
            params,
            results,
            values,
        } = Steps::of(proc, fusion)?;
        let steps = steps.into_iter().map(Step::of);
        let mut steps: Vec<Step> = steps.collect::<Result<_, _>>()?;
        let held = params.iter().chain(&results).copied();
        shorten(proc, &mut steps, held, values);
        let reads = steps
            .iter()
            .enumerate()
            .flat_map(|(i, s)| s.src.iter().map(move |&v| (v, i as u32)));
        let consumers = Lists::new(values, reads.clone());
        let exported = results.iter().enumerate().map(|(r, &v)| (v, r as u32));
        let exports = Lists::new(values, exported.clone());
        let mut uses = vec![0; values];
        for (v, _) in reads.chain(exported) {
            uses[v as usize] += 1;
        }
        Ok(Self {
            name: proc.name.clone(),
            peak_bytes: plan::peak(steps.iter().map(holds), &uses),
            uses,
            pending: steps.iter().map(|s| s.src.len() as u32).collect(),
            consumers,
            exports,
            params,
            results: results.len(),
            weight: steps
                .iter()
                .map(|s| s.kernel.weight(s.src.len()))
                .sum::<u64>()
                << proc.log_n.min(Ring::MAX_LOG_N),
            steps,
        })
    }
}
