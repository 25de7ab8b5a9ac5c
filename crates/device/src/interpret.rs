// SPDX-License-Identifier: Apache-2.0
//! The reference interpreter: runs one mid-level procedure, one instruction after the other.
//!
//! Its results define the results of every device. It is for callers that do not need speed, because devices are
//! faster.

mod torus;

use std::collections::HashMap;

use ringmill_isa::mid::{Form, Imm, Instr, LimbType, Op, Procedure, ValueId, ValueType};
use ringmill_limits::{Halt, zeroed};
use ringmill_math::basext::{BaseExtension, MixedRadix, ShenoyKumaresan, Targets};
use ringmill_math::kernels::{self, words};
use ringmill_math::{
    AnyModulus, BaseConverter, MathError, Modulus, NttPlan, Ring, RnsBasis, WordModulus,
    expand_uniform,
};
use thiserror::Error;

/// The reason for which the interpreter did not run a procedure.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum InterpretError {
    #[error(transparent)]
    Math(#[from] MathError),
    #[error("{0}")]
    Halt(#[from] Halt),
    #[error("{procedure} takes {expected} {what}, got {got}")]
    Count {
        procedure: String,
        what: &'static str,
        expected: usize,
        got: usize,
    },
    #[error("{procedure}: {what} {number} has {got} residues, expected {expected}")]
    Length {
        procedure: String,
        what: &'static str,
        number: usize,
        expected: usize,
        got: usize,
    },
    #[error("{procedure}, instruction {number}: {fault}; run the verifier first")]
    Malformed {
        procedure: String,
        number: usize,
        fault: &'static str,
    },
}

/// Runs `procedure` on one limb for each parameter and one 32-byte seed for each seed parameter, in order. Returns one
/// limb for each result, in order. Residues of the arguments must be below their moduli.
///
/// # Errors
/// [`InterpretError::Count`] or [`InterpretError::Length`] for arguments that do not fit; [`InterpretError::Malformed`]
/// for a procedure that the verifier would refuse; [`InterpretError::Halt`] if memory ends; [`InterpretError::Math`].
pub fn run(
    procedure: &Procedure,
    args: &[&[u64]],
    seeds: &[[u8; 32]],
) -> Result<Vec<Vec<u64>>, InterpretError> {
    let count = |what, expected, got| {
        let procedure = procedure.name.clone();
        if expected == got {
            Ok(())
        } else {
            Err(InterpretError::Count {
                procedure,
                what,
                expected,
                got,
            })
        }
    };
    count("limbs", procedure.params.len(), args.len())?;
    count("seeds", procedure.seeds.len(), seeds.len())?;
    let mut machine = Machine::new(procedure, seeds)?;
    for (number, (param, &arg)) in procedure.params.iter().zip(args).enumerate() {
        machine.bind(number, param.value, arg)?;
    }
    for (number, instr) in procedure.instrs.iter().enumerate() {
        machine
            .step(instr)
            .map_err(|stop| stop.at(procedure, number))?;
        machine.release(instr, number);
    }
    let result = |v: ValueId| machine.limb(v).map(<[u64]>::to_vec);
    let all: Result<Vec<_>, Stop> = procedure.results.iter().map(|r| result(r.value)).collect();
    all.map_err(|stop| stop.at(procedure, procedure.instrs.len()))
}

enum Stop {
    Math(MathError),
    Halt(Halt),
    Malformed(&'static str),
}

const MISFIT: Stop = Stop::Malformed("operands or immediate do not fit the opcode");

impl From<MathError> for Stop {
    fn from(e: MathError) -> Self {
        Self::Math(e)
    }
}

impl Stop {
    fn at(self, procedure: &Procedure, number: usize) -> InterpretError {
        match self {
            Self::Math(e) => InterpretError::Math(e),
            Self::Halt(halt) => InterpretError::Halt(halt),
            Self::Malformed(fault) => InterpretError::Malformed {
                procedure: procedure.name.clone(),
                number,
                fault,
            },
        }
    }
}

/// A value of a procedure: a limb that the caller passed, or one that the interpreter computed.
enum Limb<'a> {
    Borrowed(&'a [u64]),
    Owned(Vec<u64>),
}

struct Machine<'a> {
    procedure: &'a Procedure,
    seeds: &'a [[u8; 32]],
    moduli: Vec<AnyModulus>,
    values: Vec<Option<Limb<'a>>>,
    slots: HashMap<u32, Vec<u64>>,
    /// For each value of the procedure, the number of the last instruction that reads it. It is `usize::MAX` for a
    /// result, and 0 for a value that nothing reads.
    last_use: Vec<usize>,
    /// The buffers of values that no later instruction reads, for reuse.
    pool: Vec<Vec<u64>>,
}

impl<'a> Machine<'a> {
    fn new(procedure: &'a Procedure, seeds: &'a [[u8; 32]]) -> Result<Self, MathError> {
        let moduli = procedure
            .moduli
            .iter()
            .map(|q| q.arithmetic())
            .collect::<Result<_, _>>()?;
        let values = procedure.types.iter().map(|_| None).collect();
        let mut last_use = vec![0; procedure.types.len()];
        let reads = procedure.instrs.iter().enumerate();
        let reads = reads.flat_map(|(number, i)| i.src.iter().map(move |&v| (v, number)));
        let results = procedure.results.iter().map(|r| (r.value, usize::MAX));
        for (v, number) in reads.chain(results) {
            if let Some(last) = last_use.get_mut(v.0 as usize) {
                *last = number;
            }
        }
        Ok(Self {
            procedure,
            seeds,
            moduli,
            values,
            slots: HashMap::new(),
            last_use,
            pool: Vec::new(),
        })
    }

    /// Puts the buffers of those operands of the instruction, number `number`, into the pool that were computed and
    /// that no later instruction or result reads.
    fn release(&mut self, instr: &Instr, number: usize) {
        for v in &instr.src {
            let i = v.0 as usize;
            if self.last_use.get(i) == Some(&number)
                && let Some(Some(Limb::Owned(limb))) = self.values.get_mut(i).map(Option::take)
            {
                self.pool.push(limb);
            }
        }
    }

    /// Returns a buffer of `len` words with unspecified content for an instruction's result. The
    /// instruction must write all of them.
    fn fresh(&mut self, len: usize) -> Result<Vec<u64>, Stop> {
        match self.pool.pop() {
            Some(mut limb) if limb.capacity() >= len => {
                limb.resize(len, 0);
                Ok(limb)
            }
            _ => zeroed("a limb", len).map_err(Stop::Halt),
        }
    }

    fn bind(
        &mut self,
        number: usize,
        value: ValueId,
        arg: &'a [u64],
    ) -> Result<(), InterpretError> {
        let stop = |stop: Stop| stop.at(self.procedure, 0);
        let expected = self.value_type(value).map_err(stop)?.words();
        if arg.len() != expected {
            let procedure = self.procedure.name.clone();
            return Err(InterpretError::Length {
                procedure,
                what: "limb",
                number,
                expected,
                got: arg.len(),
            });
        }
        if let Some(place) = self.values.get_mut(value.0 as usize) {
            *place = Some(Limb::Borrowed(arg));
        }
        Ok(())
    }

    fn value_type(&self, v: ValueId) -> Result<ValueType, Stop> {
        let ty = self.procedure.types.get(v.0 as usize).copied();
        ty.ok_or(Stop::Malformed("a value has no type"))
    }

    fn ty(&self, v: ValueId) -> Result<LimbType, Stop> {
        self.procedure.limb(v).ok_or(MISFIT)
    }

    fn modulus(&self, v: ValueId) -> Result<AnyModulus, Stop> {
        let id = self.value_type(v)?.modulus().ok_or(MISFIT)?.0;
        self.moduli
            .get(usize::from(id))
            .copied()
            .ok_or(Stop::Malformed("a modulus is not in the table"))
    }

    fn limb(&self, v: ValueId) -> Result<&[u64], Stop> {
        match self.values.get(v.0 as usize) {
            Some(Some(Limb::Borrowed(limb))) => Ok(limb),
            Some(Some(Limb::Owned(limb))) => Ok(limb),
            _ => Err(Stop::Malformed("a value is used before it is defined")),
        }
    }

    fn limbs(&self, values: &[ValueId]) -> Result<Vec<&[u64]>, Stop> {
        values.iter().map(|&v| self.limb(v)).collect()
    }

    fn step(&mut self, instr: &Instr) -> Result<(), Stop> {
        if let (Op::Store, &[a], Imm::Slot(slot)) = (instr.op, instr.src.as_slice(), instr.imm) {
            let limb = self.limb(a)?.to_vec();
            self.slots.insert(slot, limb);
            return Ok(());
        }
        let mut out = Vec::with_capacity(instr.dst.len());
        for &d in &instr.dst {
            let len = self.value_type(d)?.words();
            out.push(self.fresh(len)?);
        }
        self.compute(instr, &mut out)?;
        for (&d, limb) in instr.dst.iter().zip(out) {
            if let Some(place) = self.values.get_mut(d.0 as usize) {
                *place = Some(Limb::Owned(limb));
            }
        }
        Ok(())
    }

    fn compute(&self, instr: &Instr, out: &mut [Vec<u64>]) -> Result<(), Stop> {
        let src = self.limbs(&instr.src)?;
        let first = instr
            .dst
            .first()
            .copied()
            .ok_or(Stop::Malformed("no result"))?;
        if let (Op::Bext | Op::Bextx | Op::Bextr, Some(_)) = (instr.op, src.first()) {
            return self.base_extension(instr, &src, out);
        }
        if let (Op::Rotdiff | Op::Decomp | Op::Extract | Op::Lweks, [d, ..]) = (instr.op, &mut *out)
        {
            return match instr.op {
                Op::Decomp => self.decompose(instr, &src, out),
                _ => self.torus(instr, &src, d),
            };
        }
        let q = match self.modulus(first)? {
            AnyModulus::Below61(q) => q,
            AnyModulus::Word(q) => return self.compute_words(q, instr, &src, out),
        };
        match (instr.op, src.as_slice(), instr.imm, out) {
            (Op::Add, [a, b], Imm::None, [d]) => kernels::add(q, d, a, b)?,
            (Op::Sub, [a, b], Imm::None, [d]) => kernels::sub(q, d, a, b)?,
            (Op::Neg, [a], Imm::None, [d]) => kernels::neg(q, d, a)?,
            (Op::Mul, [a, b], Imm::None, [d]) => kernels::mul(q, d, a, b)?,
            (Op::Mac, [c, a, b], Imm::None, [d]) => kernels::mac(q, d, c, a, b)?,
            (Op::Muli, [a], Imm::Scalar(w), [d]) => kernels::mul_scalar(q, d, a, w)?,
            (Op::Addi, [a], Imm::Scalar(w), [d]) => kernels::add_scalar(q, d, a, w)?,
            (Op::Ntt, [a], Imm::None, [d]) => {
                d.copy_from_slice(a);
                NttPlan::shared(q, self.ty(first)?.ring)?.forward(d)?;
            }
            (Op::Intt, [a], Imm::None, [d]) => {
                d.copy_from_slice(a);
                NttPlan::shared(q, self.ty(first)?.ring)?.inverse(d)?;
            }
            (Op::Auto, [a], Imm::Galois(g), [d]) => match self.ty(first)?.form {
                Form::Eval => kernels::auto_eval(u64::from(g), d, a)?,
                Form::Coeff => kernels::auto_coeff(q, u64::from(g), d, a)?,
            },
            (Op::Autoh, [p, m], Imm::Galois(g), [dp, dm]) => {
                kernels::auto_eval_halves(u64::from(g), dp, dm, p, m)?
            }
            (Op::Conv, [a], Imm::None, [d]) => match self.source_modulus(instr)? {
                AnyModulus::Below61(from) => kernels::conv(from, q, d, a)?,
                AnyModulus::Word(_) => words::reduce(q.into(), d, a)?,
            },
            (Op::Dot, pairs, Imm::None, [d]) => {
                let terms: Vec<_> = pairs
                    .as_chunks::<2>()
                    .0
                    .iter()
                    .map(|&[a, b]| (a, b))
                    .collect();
                kernels::dot(q, d, &terms)?;
            }
            (Op::Split, [a], Imm::None, [p, m]) => {
                kernels::split(q, Ring::full(self.procedure.log_n), p, m, a)?
            }
            (Op::Join, [p, m], Imm::None, [d]) => kernels::join(q, self.ty(first)?.ring, d, p, m)?,
            (Op::Prng, [], Imm::Stream { seed, stream }, [d]) => {
                self.prng(self.ty(first)?.ring, q, seed, stream, d)?
            }
            (Op::Load, [], Imm::Slot(slot), [d]) => self.load(slot, d)?,
            _ => return Err(MISFIT),
        }
        Ok(())
    }

    /// Runs an instruction whose result is modulo a power of two above 2^60. Such a result has coefficient form only.
    fn compute_words(
        &self,
        q: WordModulus,
        instr: &Instr,
        src: &[&[u64]],
        out: &mut [Vec<u64>],
    ) -> Result<(), Stop> {
        match (instr.op, src, instr.imm, out) {
            (Op::Add, [a, b], Imm::None, [d]) => words::add(q, d, a, b)?,
            (Op::Sub, [a, b], Imm::None, [d]) => words::sub(q, d, a, b)?,
            (Op::Neg, [a], Imm::None, [d]) => words::neg(q, d, a)?,
            (Op::Muli, [a], Imm::Scalar(w), [d]) => words::mul_scalar(q, d, a, w)?,
            (Op::Addi, [a], Imm::Scalar(w), [d]) => words::add_scalar(q, d, a, w)?,
            (Op::Auto, [a], Imm::Galois(g), [d]) => words::auto_coeff(q, u64::from(g), d, a)?,
            (Op::Conv, [a], Imm::None, [d]) => words::reduce(q.into(), d, a)?,
            (Op::Load, [], Imm::Slot(slot), [d]) => self.load(slot, d)?,
            _ => return Err(MISFIT),
        }
        Ok(())
    }

    fn load(&self, slot: u32, out: &mut [u64]) -> Result<(), Stop> {
        let stored = self.slots.get(&slot).filter(|s| s.len() == out.len());
        let stored = stored.ok_or(Stop::Malformed("a slot is loaded before it is stored"))?;
        out.copy_from_slice(stored);
        Ok(())
    }

    fn source_modulus(&self, instr: &Instr) -> Result<AnyModulus, Stop> {
        let first = instr
            .src
            .first()
            .copied()
            .ok_or(Stop::Malformed("no operand"))?;
        self.modulus(first)
    }

    fn base_extension(
        &self,
        instr: &Instr,
        src: &[&[u64]],
        out: &mut [Vec<u64>],
    ) -> Result<(), Stop> {
        let from = instr.src.iter().map(|&v| Ok(self.modulus(v)?.below_61()?));
        let mut from: Vec<Modulus> = from.collect::<Result<_, Stop>>()?;
        // Limbs modulo powers of two above 2^60 come after those modulo primes.
        let (mut moduli, mut words) = (Vec::new(), Vec::new());
        let (mut limbs, mut last) = (Vec::new(), Vec::new());
        for (&v, limb) in instr.dst.iter().zip(out) {
            match self.modulus(v)? {
                AnyModulus::Below61(p) => {
                    moduli.push(p);
                    limbs.push(limb.as_mut_slice());
                }
                AnyModulus::Word(p) => {
                    words.push(p);
                    last.push(limb.as_mut_slice());
                }
            }
        }
        limbs.append(&mut last);
        let to = Targets {
            moduli: &moduli,
            words: &words,
        };
        let extension: Box<dyn BaseExtension> = match (instr.op, instr.imm) {
            (Op::Bext, Imm::None) => Box::new(BaseConverter::new(&RnsBasis::new(from)?, to)),
            (Op::Bextx, Imm::Representative(which)) => {
                Box::new(MixedRadix::new(&RnsBasis::new(from)?, to, which)?)
            }
            (Op::Bextr, Imm::None) => {
                let redundant = from.pop().ok_or(MISFIT)?;
                Box::new(ShenoyKumaresan::new(&RnsBasis::new(from)?, redundant, to)?)
            }
            _ => return Err(MISFIT),
        };
        let mut scratch = zeroed("scratch", extension.scratch_len()).map_err(Stop::Halt)?;
        Ok(extension.convert(src, &mut limbs, &mut scratch)?)
    }

    fn prng(
        &self,
        ring: Ring,
        q: Modulus,
        seed: u16,
        stream: u64,
        out: &mut [u64],
    ) -> Result<(), Stop> {
        let seed = self
            .seeds
            .get(usize::from(seed))
            .ok_or(Stop::Malformed("a seed parameter is missing"))?;
        if ring.parent() == ring {
            expand_uniform(seed, stream, q, out);
            return Ok(());
        }
        // In bit-reversed order the first half of the evaluations belongs to x^n - zeta, the second to x^n + zeta.
        let mut whole = vec![0; ring.parent().len()];
        expand_uniform(seed, stream, q, &mut whole);
        let half = whole
            .get(ring.first()..ring.first() + out.len())
            .ok_or(Stop::Malformed("a half limb has a wrong length"))?;
        out.copy_from_slice(half);
        Ok(())
    }
}
