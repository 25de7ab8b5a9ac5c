// SPDX-License-Identifier: Apache-2.0
//! Runs one step of a plan on its operands: the only place in which the CPU device computes.

mod short;

use std::sync::Arc;

use ringmill_math::kernels::{self, Store, words};
use ringmill_math::torus;
use ringmill_math::{Difference, MathError, Modulus, Residues, ResiduesMut};

use super::plan::{Kernel, Operand, Step};
use ringmill_device::DeviceError;
use ringmill_device::bindings::SeedExpansion;
use ringmill_device::expanded::Usage;
use ringmill_device::plan::{EXTENDED, WordJob};
use ringmill_device::pool::Buf;
use ringmill_device::value::Value;

/// A step about to run, with its operands and the buffers for its results. One task is reused from step to step.
#[derive(Default)]
pub(super) struct Task<'a> {
    pub call: u64,
    pub step: u32,
    pub src: Vec<Value<'a>>,
    /// A buffer for each result. If `in_place` names an operand, the first result's buffer holds that operand's
    /// residues. For a kernel that updates operands ([`Kernel::updates`]), these buffers hold the operands, unless a
    /// result is in words of 32 bits. A `PRNG` step has no buffer, and puts the expanded limb here.
    pub dst: Vec<Value<'a>>,
    pub in_place: Option<usize>,
    /// Whether the kernel writes its results past the processor's caches to memory ([`Kernel::streams`]).
    pub streamed: bool,
    /// The working memory of a kernel, kept from step to step.
    pub scratch: Vec<u64>,
    /// Buffers of 64-bit words for operands and results in words of 32 bits ([`Step::room`]).
    pub room: Vec<Arc<Buf>>,
    /// The seed from which a `PRNG` step expands its result. Other steps do not read it, and may find that of an
    /// earlier step.
    pub seed: Option<Arc<SeedExpansion>>,
}

impl Task<'_> {
    fn store(&self) -> Store {
        match self.streamed {
            true => Store::Streamed,
            false => Store::Cached,
        }
    }
}

/// The reason for which a kernel did not run.
pub(super) enum Fault {
    Math(MathError),
    /// A key limb or a constant could not be expanded.
    Expanded(DeviceError),
    /// A result buffer has another reference, or an operand or a buffer is missing or has another length or word width
    /// than planned. This is an error in this crate.
    Shape,
}

impl From<MathError> for Fault {
    fn from(e: MathError) -> Self {
        Fault::Math(e)
    }
}

impl From<DeviceError> for Fault {
    fn from(error: DeviceError) -> Self {
        Fault::Expanded(error)
    }
}

fn result<'v>(value: Option<&'v mut Value<'_>>) -> Result<ResiduesMut<'v>, Fault> {
    match value {
        Some(Value::Pooled(buf)) => {
            let buf = Arc::get_mut(buf).map(Buf::residues_mut);
            buf.ok_or(Fault::Shape)
        }
        _ => Err(Fault::Shape),
    }
}

fn writable<'v>(value: Option<&'v mut Value<'_>>) -> Result<&'v mut [u64], Fault> {
    match result(value)? {
        ResiduesMut::Wide(words) => Ok(words),
        ResiduesMut::Short(_) => Err(Fault::Shape),
    }
}

/// Runs a step with its kernel: computes the step's results into `task.dst`.
pub(super) fn execute(step: &Step, task: &mut Task<'_>, usage: &Usage) -> Result<(), Fault> {
    if let Kernel::Prng {
        stream,
        modulus,
        ring,
        ..
    } = &step.kernel
    {
        let seed = task.seed.as_ref().ok_or(Fault::Shape)?;
        let limb = seed.limb(*stream, *modulus, *ring, usage)?;
        *task.dst.first_mut().ok_or(Fault::Shape)? = Value::Expanded(limb, 0);
        return Ok(());
    }
    for value in &mut task.src {
        value.read(usage)?;
        if !step.kernel.reads_blocks() {
            value.write_values_out();
        }
    }
    let mut values = task.src.iter().chain(&task.dst);
    match values.any(Value::is_short) {
        true => short::execute(step, task),
        false => compute(step, task),
    }
}

/// Computes a step whose operands and results are in words of a width that the kernel supports.
fn compute(step: &Step, task: &mut Task<'_>) -> Result<(), Fault> {
    let store = task.store();
    let src = &task.src;
    let arg = |i: usize| src.get(i).map(Value::wide).ok_or(Fault::Shape);
    let held = |i: usize| src.get(i).map(Value::held).ok_or(Fault::Shape);
    if let Some(k) = task.in_place {
        return in_place(&step.kernel, k, writable(task.dst.first_mut())?, arg);
    }
    if let Kernel::MatVec { q, factors } = step.kernel {
        return mat_vec(q, factors, src, &mut task.dst);
    }
    let (first, rest) = task.dst.split_first_mut().ok_or(Fault::Shape)?;
    if let Kernel::Pass(pass) = &step.kernel {
        let operands: Vec<Operand<'_>> = src
            .iter()
            .map(|value| match value.blocks() {
                Some((values, _)) => Operand::Spread(values),
                None => Operand::Limb(value.held()),
            })
            .collect();
        let mut outs = Vec::with_capacity(1 + rest.len());
        outs.push(result(Some(first))?);
        for value in rest {
            outs.push(result(Some(value))?);
        }
        let scratch = &mut task.scratch;
        scratch.resize(pass.scratch_len(operands.len(), outs.len()), 0);
        return Ok(pass.run(&operands, &mut outs, scratch, store)?);
    }
    let out = writable(Some(first))?;
    match &step.kernel {
        Kernel::Add(q) => kernels::add_stored(*q, out, arg(0)?, arg(1)?, store)?,
        Kernel::Sub(q) => kernels::sub(*q, out, arg(0)?, arg(1)?)?,
        Kernel::Neg(q) => kernels::neg(*q, out, arg(0)?)?,
        Kernel::Mul(q) => kernels::mul_stored(*q, out, arg(0)?, arg(1)?, store)?,
        Kernel::Mac(q) => kernels::mac(*q, out, arg(0)?, arg(1)?, arg(2)?)?,
        Kernel::Muli(q, w) => kernels::mul_scalar(*q, out, arg(0)?, *w)?,
        Kernel::Addi(q, w) => kernels::add_scalar(*q, out, arg(0)?, *w)?,
        Kernel::Ntt { plan, from, w } => plan.forward_from(out, arg(0)?, *from, *w)?,
        Kernel::Intt(plan) => {
            match held(0)? {
                Residues::Wide(words) => copy(out, words)?,
                Residues::Short(words) => kernels::widen(out, words)?,
            }
            plan.inverse(out)?;
        }
        Kernel::AutoCoeff(q, g) => kernels::auto_coeff(*q, *g, out, arg(0)?)?,
        Kernel::AutoEval(plan) => plan.apply(out, held(0)?)?,
        Kernel::AutoHalves(plan) => {
            plan.apply_halves(out, writable(rest.first_mut())?, arg(0)?, arg(1)?)?
        }
        Kernel::Conv(from, to, w) => kernels::conv_add(*from, *to, out, arg(0)?, *w)?,
        Kernel::SubScale(q, w) => {
            let addend = src.get(2).map(Value::wide);
            kernels::sub_scale(*q, out, arg(0)?, arg(1)?, *w, addend, store)?
        }
        Kernel::Difference {
            plan,
            from,
            w,
            scale,
        } => {
            let end = Difference {
                minuend: arg(1)?,
                scale: *scale,
                addend: src.get(2).map(Value::wide),
            };
            plan.difference_from(out, arg(0)?, *from, *w, end)?
        }
        Kernel::Tensor(q) => {
            let [second, third] = rest else {
                return Err(Fault::Shape);
            };
            let out = [out, writable(Some(second))?, writable(Some(third))?];
            let (a, b) = ([held(0)?, held(1)?], [held(2)?, held(3)?]);
            kernels::tensor(*q, out, a, b, store)?
        }
        Kernel::DotPair { q, carry, turn } => {
            let out = [out, writable(rest.first_mut())?];
            let terms = src.get(step.kernel.updates()..).ok_or(Fault::Shape)?;
            with_triples(terms, |terms| {
                kernels::dot_pair(*q, out, terms, *carry, turn.as_deref())
            })?
        }
        Kernel::Dot(q) => with_pairs(src, |terms| kernels::dot(*q, out, terms))?,
        Kernel::Word(q, kernel) => match *kernel {
            WordJob::Add => words::add(*q, out, arg(0)?, arg(1)?)?,
            WordJob::Sub => words::sub(*q, out, arg(0)?, arg(1)?)?,
            WordJob::Neg => words::neg(*q, out, arg(0)?)?,
            WordJob::Muli(w) => words::mul_scalar(*q, out, arg(0)?, w)?,
            WordJob::Addi(w) => words::add_scalar(*q, out, arg(0)?, w)?,
            WordJob::Auto(g) => words::auto_coeff(*q, g, out, arg(0)?)?,
        },
        Kernel::Reduce(to) => words::reduce(*to, out, arg(0)?)?,
        Kernel::Bext(extension) => {
            let count = 1 + rest.len();
            let mut outs: [&mut [u64]; EXTENDED] = Default::default();
            for (slot, value) in outs.iter_mut().skip(1).zip(rest) {
                *slot = writable(Some(value))?;
            }
            let outs = outs.get_mut(..count).ok_or(Fault::Shape)?;
            *outs.first_mut().ok_or(Fault::Shape)? = out;
            let scratch = &mut task.scratch;
            scratch.resize(extension.scratch_len(), 0);
            with_limbs(src, |limbs| extension.convert(limbs, outs, scratch))?
        }
        Kernel::RotateDifference(q) => {
            let (exponent, a) = exponents(src)?;
            torus::rotate_sub(*q, out, a, exponent)?
        }
        Kernel::RotateDifferenceEval(monomials) => {
            let (exponent, a) = exponents(src)?;
            monomials.times_difference(exponent, out, a)?
        }
        Kernel::Decompose(gadget, p) => {
            let a = arg(0)?;
            let digits = &mut task.scratch;
            digits.resize(gadget.levels() * a.len(), 0);
            gadget.decompose(*p, digits, a)?;
            let mut digits = digits.chunks_exact(a.len().max(1));
            copy(out, digits.next().ok_or(Fault::Shape)?)?;
            for (value, digit) in rest.iter_mut().zip(digits) {
                copy(writable(Some(value))?, digit)?;
            }
        }
        Kernel::Extract(q) => {
            let (b, masks) = src.split_last().ok_or(Fault::Shape)?;
            let b = b.wide();
            let mask = b.len() * masks.len();
            let (mask, body) = out.split_at_mut_checked(mask).ok_or(Fault::Shape)?;
            for (out, p) in mask.chunks_mut(b.len().max(1)).zip(masks) {
                torus::extract_mask(*q, out, p.wide())?;
            }
            copy(body, b.get(..1).ok_or(Fault::Shape)?)?;
        }
        Kernel::LweSwitch(gadget) => {
            let (&body, mask) = arg(0)?.split_last().ok_or(Fault::Shape)?;
            torus::switch_words(arg(1)?, gadget, mask, body, out)?
        }
        Kernel::Split(q, ring) => {
            kernels::split(*q, *ring, out, writable(rest.first_mut())?, arg(0)?)?
        }
        Kernel::Join(q, ring) => kernels::join(*q, *ring, out, arg(0)?, arg(1)?)?,
        Kernel::Pass(_) | Kernel::MatVec { .. } | Kernel::Prng { .. } => {
            return Err(Fault::Shape);
        }
    }
    Ok(())
}

/// Computes the sums of a product of a matrix and a vector of `count` pairs of limbs ([`Kernel::MatVec`]).
fn mat_vec(
    q: Modulus,
    count: usize,
    src: &[Value<'_>],
    dst: &mut [Value<'_>],
) -> Result<(), Fault> {
    let (factors, diagonals) = src.split_at_checked(2 * count).ok_or(Fault::Shape)?;
    let factors = factors.as_chunks::<2>().0.iter();
    let factors: Vec<[&[u64]; 2]> = factors.map(|[a, b]| [a.wide(), b.wide()]).collect();
    let diagonals = diagonals.iter().map(|value| match value.blocks() {
        Some((values, _)) => values,
        None => value.wide(),
    });
    let diagonals: Vec<&[u64]> = diagonals.collect();
    let mut sums = Vec::with_capacity(dst.len() / 2);
    for [a, b] in dst.as_chunks_mut::<2>().0 {
        sums.push([writable(Some(a))?, writable(Some(b))?]);
    }
    Ok(kernels::mat_vec(q, &mut sums, &factors, &diagonals)?)
}

/// Runs a kernel whose result overwrites operand `k`; [`Kernel::overwritable`] lists such operands.
fn in_place<'v>(
    kernel: &Kernel,
    k: usize,
    out: &mut [u64],
    arg: impl Fn(usize) -> Result<&'v [u64], Fault>,
) -> Result<(), Fault> {
    match kernel {
        Kernel::Add(q) => kernels::add_assign(*q, out, arg(1 - k.min(1))?)?,
        Kernel::Mul(q) => kernels::mul_assign(*q, out, arg(1 - k.min(1))?)?,
        Kernel::Sub(q) => kernels::sub_assign(*q, out, arg(1)?)?,
        Kernel::Neg(q) => kernels::neg_assign(*q, out),
        Kernel::Mac(q) => kernels::mac_assign(*q, out, arg(1)?, arg(2)?)?,
        Kernel::Muli(q, w) => kernels::mul_scalar_assign(*q, out, *w),
        Kernel::Addi(q, w) => kernels::add_scalar_assign(*q, out, *w),
        Kernel::Ntt { plan, .. } => plan.forward(out)?,
        Kernel::Intt(plan) => plan.inverse(out)?,
        Kernel::SubScale(q, w) => {
            kernels::sub_scale_assign(*q, out, arg(0)?, *w, arg(2).ok())?;
        }
        _ => return Err(Fault::Shape),
    }
    Ok(())
}

/// Returns the sum of the exponents and the limb that they rotate. The limb is the last operand, the exponents are all
/// others.
fn exponents<'v>(src: &'v [Value<'_>]) -> Result<(usize, &'v [u64]), Fault> {
    let (a, exponents) = src.split_last().ok_or(Fault::Shape)?;
    let mut sum = 0usize;
    for e in exponents {
        let e = *e.wide().first().ok_or(Fault::Shape)?;
        sum = sum.wrapping_add(e as usize);
    }
    Ok((sum, a.wide()))
}

fn copy(out: &mut [u64], from: &[u64]) -> Result<(), Fault> {
    if out.len() != from.len() {
        return Err(Fault::Shape);
    }
    out.copy_from_slice(from);
    Ok(())
}

/// The longest list of operands, or of pairs or triples of operands, that is collected in an array on the stack. A
/// longer list is collected on the heap.
const FEW: usize = 32;

fn with_limbs<T>(src: &[Value<'_>], f: impl FnOnce(&[&[u64]]) -> T) -> T {
    if src.len() > FEW {
        return f(&src.iter().map(Value::wide).collect::<Vec<_>>());
    }
    let mut limbs: [&[u64]; FEW] = [&[]; FEW];
    for (limb, value) in limbs.iter_mut().zip(src) {
        *limb = value.wide();
    }
    f(&limbs[..src.len()])
}

fn with_pairs<T>(src: &[Value<'_>], f: impl FnOnce(&[(&[u64], &[u64])]) -> T) -> T {
    let pairs = src.as_chunks::<2>().0;
    if pairs.len() > FEW {
        return f(&pairs
            .iter()
            .map(|[a, b]| (a.wide(), b.wide()))
            .collect::<Vec<_>>());
    }
    let mut terms: [(&[u64], &[u64]); FEW] = [(&[], &[]); FEW];
    for (term, [a, b]) in terms.iter_mut().zip(pairs) {
        *term = (a.wide(), b.wide());
    }
    f(&terms[..pairs.len()])
}

fn with_triples<T>(src: &[Value<'_>], f: impl FnOnce(&[kernels::PairTerm<'_>]) -> T) -> T {
    fn term<'v>([d, a, b]: &'v [Value<'_>; 3]) -> kernels::PairTerm<'v> {
        (d.held(), a.held(), b.held())
    }
    let triples = src.as_chunks::<3>().0;
    if triples.len() > FEW {
        return f(&triples.iter().map(term).collect::<Vec<_>>());
    }
    const NONE: Residues<'static> = Residues::Wide(&[]);
    let mut terms: [kernels::PairTerm<'_>; FEW] = [(NONE, NONE, NONE); FEW];
    for (slot, triple) in terms.iter_mut().zip(triples) {
        *slot = term(triple);
    }
    f(&terms[..triples.len()])
}
