//! A procedure made ready to run: kernels with their tables looked up, use counts, consumers. Made once, then cached.
//!
//! Instructions become steps ([`lower`]), steps that one pass over memory can do together become one ([`fuse`]), and the
//! steps are put in an order in which values are used soon after they are made ([`order`]). None of it changes a bit.

mod fuse;
mod lower;
mod order;
mod pass;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use ringmill_isa::mid::{Op, Procedure};
use ringmill_math::basext::BaseExtension;
use ringmill_math::torus::{Coefficients, Gadget, Monomials};
use ringmill_math::{AnyModulus, AutoEvalPlan, Modulus, NttPlan, Ring, Shoup, WordModulus};

use super::estimate;
use crate::DeviceError;
use crate::pool::{holds_short, limb_modulus};
pub(super) use pass::{Operand, Pass};

/// Most results of one step of a base extension from few moduli. Each step multiplies its operands by their constants anew, which four
/// results share well enough: eight would save 10 to 20 %, and keep twice as many limbs waiting.
const EXTENDED_OF_FEW: usize = 4;
/// The same from many moduli, where what is done anew is more than what each result takes.
pub(super) const EXTENDED: usize = 16;
/// So many are many.
const MANY: usize = 6;

/// Results of each step of a base extension to `to` moduli: as even as can be.
fn extended(from: usize, to: usize) -> usize {
    match from < MANY {
        true => EXTENDED_OF_FEW,
        false => to.div_ceil(to.div_ceil(EXTENDED).max(1)).max(1),
    }
}

/// What one step computes, with every table it needs.
pub(super) enum Kernel {
    Add(Modulus),
    Sub(Modulus),
    Neg(Modulus),
    Mul(Modulus),
    Mac(Modulus),
    Muli(Modulus, u64),
    Addi(Modulus, u64),
    /// The transform of an operand of residues of `from`, taken to the plan's modulus, plus a constant; plain with the
    /// plan's own modulus and 0.
    Ntt {
        plan: Arc<NttPlan>,
        from: Modulus,
        w: u64,
    },
    Intt(Arc<NttPlan>),
    AutoCoeff(Modulus, u64),
    AutoEval(Arc<AutoEvalPlan>),
    AutoHalves(Arc<AutoEvalPlan>),
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
    SubScale(Modulus, Shoup),
    /// The same of the transform b of another operand, which comes first, taken to the plan's modulus, plus a constant w: then
    /// a, then c if there is one.
    Difference {
        plan: Arc<NttPlan>,
        from: Modulus,
        w: u64,
        scale: Shoup,
    },
    /// Up to [`EXTENDED`] output limbs of a base extension, fast or exact, a block of coefficients at a time.
    Bext(Box<dyn BaseExtension>),
    /// On residues of a power of two above 2^60.
    Word(WordModulus, WordKernel),
    /// The operand's words, of whatever modulus they are residues, taken to a modulus; one of both is such a power.
    Reduce(AnyModulus),
    /// (X^e - 1) a in coefficient form, the exponents e first.
    RotateDifference(Coefficients),
    /// The same in evaluation form.
    RotateDifferenceEval(Arc<Monomials>),
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
#[derive(Clone, Copy)]
pub(super) enum WordKernel {
    Add,
    Sub,
    Neg,
    Muli(u64),
    Addi(u64),
    Auto(u64),
}

impl Kernel {
    /// The operands whose buffer may become the result's, in order of preference.
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
            // A conversion reads what others still want, mostly; where not, it is too short to matter.
            _ => &[],
        }
    }

    /// How many operands, from the first on, are updated in place: result i is operand i. The fusion sees to it that
    /// nothing else refers to them.
    pub fn updates(&self) -> usize {
        match self {
            Kernel::DotPair { carry: true, .. } => 2,
            _ => 0,
        }
    }

    /// Whether it takes operand number i in words of 32 bits as in words of 64; `lasting` says that its result is in such words.
    pub fn reads_short(&self, i: usize, lasting: bool) -> bool {
        match self {
            Kernel::Pass(_) | Kernel::Intt(_) | Kernel::AutoEval(_) | Kernel::Tensor(_) => true,
            Kernel::DotPair { .. } => i >= self.updates(),
            Kernel::SubScale(..) => lasting && i != 1,
            Kernel::Difference { .. } => lasting && i != 0,
            _ => false,
        }
    }

    /// Whether it writes words of 32 bits by itself.
    pub fn writes_short(&self) -> bool {
        matches!(
            self,
            Kernel::Pass(_) | Kernel::SubScale(..) | Kernel::Difference { .. }
        )
    }

    /// Whether it makes something of words of 64 bits between what it reads and words of 32 bits that it writes.
    fn between(&self) -> bool {
        matches!(self, Kernel::Difference { .. })
    }

    /// Whether it can write its results past the cache.
    pub fn streams(&self) -> bool {
        match self {
            Kernel::Add(_) | Kernel::Mul(_) | Kernel::SubScale(..) | Kernel::Tensor(_) => true,
            Kernel::Pass(pass) => pass.streams(),
            _ => false,
        }
    }

    /// Rough time in units of one elementwise pass over the limb, for estimates of progress only.
    fn weight(&self, operands: usize) -> u64 {
        match self {
            Kernel::Ntt { .. } | Kernel::Intt(_) => 12,
            Kernel::Difference { .. } => 13,
            Kernel::Dot(_) | Kernel::DotPair { .. } => operands as u64,
            Kernel::Bext(to) => (operands * (1 + to.target().len() + to.words().len())) as u64,
            Kernel::Pass(pass) => pass.weight(),
            Kernel::Decompose(gadget, _) => gadget.levels() as u64,
            // A pass for each digit of each coefficient, mostly over a shorter vector.
            Kernel::LweSwitch(gadget) => SWITCH_PASSES * gadget.levels() as u64,
            _ => 1,
        }
    }
}

/// Passes over a limb that the rows of one digit of a key switch are about as long as.
const SWITCH_PASSES: u64 = 512;

/// One kernel application inside a procedure; values are indices into a frame.
pub(super) struct Step {
    pub kernel: Kernel,
    pub op: Op,
    /// Index of the instruction this step belongs to.
    pub instr: usize,
    pub src: Box<[u32]>,
    pub dst: Box<[Made]>,
    /// Words of 64 bits that it works in, buffer by buffer: of what it reads or writes in words of 32 bits and its kernel does not
    /// take so. Known when the plan is whole.
    pub room: Box<[usize]>,
}

/// A value a step makes, and its length.
#[derive(Clone, Copy)]
pub(super) struct Made {
    pub value: u32,
    pub words: usize,
    /// In words of 32 bits. Known when the plan is whole.
    pub short: bool,
}

/// Which values are in words of 32 bits: what a procedure is given and gives modulo primes below 2^32. Between its steps words are
/// of 64 bits.
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

/// Lists of u32, one for each index, in two flat vectors.
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

/// A procedure ready to run. Steps are in an order that respects their dependences.
pub(super) struct Plan {
    pub name: String,
    pub steps: Vec<Step>,
    /// For each value, how often steps and results use it.
    pub uses: Vec<u32>,
    /// For each step, how many operands it waits for.
    pub pending: Vec<u32>,
    /// For each value, the steps that use it (twice when they use it twice).
    pub consumers: Lists,
    /// For each value, the results it is.
    pub exports: Lists,
    /// For each parameter, its value.
    pub params: Vec<u32>,
    pub results: usize,
    pub weight: u64,
    /// Most bytes of the procedure's own limbs in use at one time, its steps taken in order.
    pub peak_bytes: u64,
}

impl Plan {
    /// Plans a verified procedure. What the verifier excludes still gives [`DeviceError::Malformed`], never a panic.
    /// Without `fused` every instruction stays a step of its own, in its written place.
    pub fn new(proc: &Procedure, fused: bool) -> Result<Self, DeviceError> {
        let lower::Lowered {
            mut steps,
            params,
            results,
            mut values,
        } = lower::lower(proc)?;
        if fused {
            steps = fuse::fuse(steps, &results, &mut values);
            let modulus = |r: usize| proc.types.get(*results.get(r)? as usize)?.modulus();
            let cipher = |r: usize| proc.results.get(r).map(|result| result.index);
            steps = order::order(steps, &results, values, modulus, cipher);
        }
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
            peak_bytes: estimate::inside(steps.iter(), &uses),
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
