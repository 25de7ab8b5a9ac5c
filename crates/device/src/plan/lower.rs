// SPDX-License-Identifier: Apache-2.0
//! Lowers the instructions of a procedure to steps.
//!
//! Each instruction becomes one step, with two exceptions. A base extension becomes several steps,
//! each of which computes some of its result limbs. `LOAD` and `STORE` become none.

mod torus;

use ringmill_isa::mid::{Form, Imm, Instr, LimbType, Op, Procedure, ValueId, ValueType};
use ringmill_math::{AnyModulus, Modulus, Ring, WordModulus};

use super::{Extension, How, Job, Made, Step, Steps, WordJob, extended};
use crate::DeviceError;

/// Lowers a verified procedure to steps. A procedure that the verifier would refuse gives [`DeviceError::Malformed`] or
/// [`DeviceError::Math`].
pub(super) fn lower(proc: &Procedure) -> Result<Steps, DeviceError> {
    let moduli = proc.moduli.iter().map(|q| q.arithmetic());
    let mut builder = Builder {
        proc,
        moduli: moduli.collect::<Result<_, _>>()?,
        steps: Vec::with_capacity(proc.instrs.len()),
        alias: (0..proc.types.len() as u32).collect(),
        slots: Vec::new(),
    };
    for (i, instr) in proc.instrs.iter().enumerate() {
        builder.instr(i, instr)?;
    }
    let params = proc.params.iter().map(|p| builder.value(p.value.0));
    let params = params.collect::<Result<_, _>>()?;
    let results = proc.results.iter().map(|r| builder.value(r.value.0));
    let results = results.collect::<Result<_, _>>()?;
    Ok(Steps {
        params,
        results,
        values: builder.alias.len(),
        steps: builder.steps,
    })
}

struct Builder<'p> {
    proc: &'p Procedure,
    /// The moduli of the procedure, each with its arithmetic.
    moduli: Vec<AnyModulus>,
    steps: Vec<Step>,
    /// For each value, the number of the value that holds its residues. It is its own number, or
    /// the stored value's for the result of a `LOAD`.
    alias: Vec<u32>,
    /// The spill slots written so far, each with the value that it holds.
    slots: Vec<(u32, u32)>,
}

impl Builder<'_> {
    fn value(&self, v: u32) -> Result<u32, DeviceError> {
        self.alias
            .get(v as usize)
            .copied()
            .ok_or_else(|| self.malformed("a value without a type"))
    }

    fn malformed(&self, what: &str) -> DeviceError {
        DeviceError::Malformed(format!("procedure `{}` has {what}", self.proc.name))
    }

    fn ty(&self, v: u32) -> Result<ValueType, DeviceError> {
        let ty = self.proc.types.get(v as usize).copied();
        ty.ok_or_else(|| self.malformed("a value without a type"))
    }

    fn limb(&self, v: u32) -> Result<LimbType, DeviceError> {
        let limb = self.proc.limb(ValueId(v));
        limb.ok_or_else(|| self.malformed("another value in the place of a limb"))
    }

    fn ring(&self, v: u32) -> Result<Ring, DeviceError> {
        let ring = self.limb(v)?.ring;
        ring.check()?;
        Ok(ring)
    }

    fn any_modulus(&self, v: u32) -> Result<AnyModulus, DeviceError> {
        let id = self.ty(v)?.modulus();
        let q = id.and_then(|id| self.moduli.get(usize::from(id.0)));
        q.copied()
            .ok_or_else(|| self.malformed("a value without a modulus"))
    }

    fn modulus(&self, v: u32) -> Result<Modulus, DeviceError> {
        Ok(self.any_modulus(v)?.below_61()?)
    }

    /// Returns the modulus of value number `v` if it is a power of two above 2^60.
    fn word(&self, v: u32) -> Option<WordModulus> {
        match self.any_modulus(v) {
            Ok(AnyModulus::Word(q)) => Some(q),
            Ok(AnyModulus::Below61(_)) | Err(_) => None,
        }
    }

    /// Returns the computation of an instruction, with opcode `op` and immediate `imm`, modulo a power of two above
    /// 2^60. It is `None` for an instruction that is not defined for such moduli.
    fn word_job(op: Op, imm: Imm) -> Option<WordJob> {
        match (op, imm) {
            (Op::Add, _) => Some(WordJob::Add),
            (Op::Sub, _) => Some(WordJob::Sub),
            (Op::Neg, _) => Some(WordJob::Neg),
            (Op::Muli, Imm::Scalar(w)) => Some(WordJob::Muli(w)),
            (Op::Addi, Imm::Scalar(w)) => Some(WordJob::Addi(w)),
            (Op::Auto, Imm::Galois(g)) => Some(WordJob::Auto(u64::from(g))),
            _ => None,
        }
    }

    fn form(&self, v: u32) -> Option<Form> {
        self.limb(v).ok().map(|ty| ty.form)
    }

    fn push(
        &mut self,
        job: Job,
        at: (usize, Op),
        src: &[u32],
        dst: &[u32],
    ) -> Result<(), DeviceError> {
        let src = src
            .iter()
            .map(|&v| self.value(v))
            .collect::<Result<_, _>>()?;
        let made = |&v: &u32| {
            Ok(Made {
                value: self.value(v)?,
                words: self.ty(v)?.words(),
            })
        };
        let dst = dst.iter().map(made).collect::<Result<_, DeviceError>>()?;
        self.steps.push(Step {
            job,
            op: at.1,
            instr: at.0,
            src,
            dst,
        });
        Ok(())
    }

    fn instr(&mut self, index: usize, instr: &Instr) -> Result<(), DeviceError> {
        let at = (index, instr.op);
        let src: Vec<u32> = instr.src.iter().map(|v| v.0).collect();
        let dst: Vec<u32> = instr.dst.iter().map(|v| v.0).collect();
        let shape = || {
            self.malformed(&format!(
                "a {:?} (instruction {index}) of the wrong shape",
                instr.op
            ))
        };
        if let (Some(job), &[d]) = (Self::word_job(instr.op, instr.imm), dst.as_slice())
            && let Some(q) = self.word(d)
        {
            let operands = match job {
                WordJob::Add | WordJob::Sub => 2,
                WordJob::Neg | WordJob::Muli(_) | WordJob::Addi(_) | WordJob::Auto(_) => 1,
            };
            if src.len() != operands {
                return Err(shape());
            }
            return self.push(Job::Word(q, job), at, &src, &dst);
        }
        let job = match (instr.op, instr.imm, src.as_slice(), dst.as_slice()) {
            (Op::Add, _, &[_, _], &[d]) => Job::Add(self.modulus(d)?),
            (Op::Sub, _, &[_, _], &[d]) => Job::Sub(self.modulus(d)?),
            (Op::Neg, _, &[_], &[d]) => Job::Neg(self.modulus(d)?),
            (Op::Mul, _, &[_, _], &[d]) => Job::Mul(self.modulus(d)?),
            (Op::Mac, _, &[_, _, _], &[d]) => Job::Mac(self.modulus(d)?),
            (Op::Muli, Imm::Scalar(w), &[_], &[d]) => Job::Muli(self.modulus(d)?, w),
            (Op::Addi, Imm::Scalar(w), &[_], &[d]) => Job::Addi(self.modulus(d)?, w),
            (Op::Ntt, _, &[_], &[d]) => Job::Ntt {
                q: self.modulus(d)?,
                ring: self.ring(d)?,
                from: self.modulus(d)?,
                w: 0,
            },
            (Op::Intt, _, &[_], &[d]) => Job::Intt(self.modulus(d)?, self.ring(d)?),
            (Op::Auto, Imm::Galois(g), &[_], &[d]) => match self.form(d) {
                Some(Form::Coeff) => Job::AutoCoeff(self.modulus(d)?, u64::from(g)),
                _ => Job::AutoEval(u32::from(self.ring(d)?.log_n), u64::from(g)),
            },
            (Op::Autoh, Imm::Galois(g), &[_, _], &[d, _]) => {
                Job::AutoHalves(self.ring(d)?.full_log_n(), u64::from(g))
            }
            (Op::Conv, _, &[a], &[d]) => match (self.any_modulus(a)?, self.any_modulus(d)?) {
                (AnyModulus::Below61(from), AnyModulus::Below61(to)) => Job::Conv(from, to, 0),
                (_, to) => Job::Reduce(to),
            },
            (Op::Bext, _, sources @ [_, ..], [_, ..]) => {
                return self.base_extension(at, &src, &dst, sources, How::Fast);
            }
            (Op::Bextx, Imm::Representative(which), sources @ [_, ..], [_, ..]) => {
                return self.base_extension(at, &src, &dst, sources, How::Exact(which));
            }
            (Op::Bextr, _, [sources @ .., r], [_, ..]) => {
                let how = How::Redundant(self.modulus(*r)?);
                return self.base_extension(at, &src, &dst, sources, how);
            }
            (Op::Dot, _, [_, _, rest @ ..], &[d]) if rest.len() % 2 == 0 => {
                Job::Dot(self.modulus(d)?)
            }
            (Op::Split, _, &[a], &[_, _]) => Job::Split(self.modulus(a)?, self.ring(a)?),
            (Op::Join, _, &[_, _], &[d]) => Job::Join(self.modulus(d)?, self.ring(d)?),
            (Op::Prng, Imm::Stream { seed, stream }, &[], &[d]) => Job::Prng {
                seed: usize::from(seed),
                stream,
                modulus: self.modulus(d)?,
                ring: self.ring(d)?,
            },
            (Op::Rotdiff, _, [_, .., a], &[_]) => self.rotate_difference(*a)?,
            (Op::Decomp, Imm::Base(log_base), &[a], [d, ..]) => {
                Job::Decompose(self.gadget(a, log_base, dst.len())?, self.modulus(*d)?)
            }
            (Op::Extract, _, [.., b], &[_]) => Job::Extract(self.any_modulus(*b)?.into()),
            (Op::Lweks, Imm::Base(log_base), &[x, k], &[_]) => {
                Job::LweSwitch(self.gadget(x, log_base, self.levels(x, k)?)?)
            }
            // A CPU makes no difference between memory inside and outside of a machine: a load is the value that was
            // stored.
            (Op::Store, Imm::Slot(slot), &[a], &[]) => {
                let stored = self.value(a)?;
                self.slots.retain(|(s, _)| *s != slot);
                self.slots.push((slot, stored));
                return Ok(());
            }
            (Op::Load, Imm::Slot(slot), &[], &[d]) => {
                let stored = self.slots.iter().find(|(s, _)| *s == slot).map(|(_, v)| *v);
                let stored = stored.ok_or_else(|| {
                    self.malformed(&format!("a LOAD of slot {slot} before its STORE"))
                })?;
                let alias = self.alias.get_mut(d as usize);
                *alias.ok_or_else(|| {
                    DeviceError::Malformed("a LOAD without a result type".into())
                })? = stored;
                return Ok(());
            }
            _ => return Err(shape()),
        };
        self.push(job, at, &src, &dst)
    }

    /// Lowers a base extension to several steps, each of which computes some of the result limbs.
    /// Threads can then share the work, and fewer result limbs wait in memory for their use.
    fn base_extension(
        &mut self,
        at: (usize, Op),
        src: &[u32],
        dst: &[u32],
        sources: &[u32],
        how: How,
    ) -> Result<(), DeviceError> {
        let sources = sources.iter().map(|&v| self.modulus(v));
        let sources: Vec<Modulus> = sources.collect::<Result<_, _>>()?;
        for group in dst.chunks(extended(src.len(), dst.len())) {
            let (mut moduli, mut words) = (Vec::new(), Vec::new());
            // The limbs modulo powers of two come last.
            let (mut limbs, mut last) = (Vec::new(), Vec::new());
            for &v in group {
                match self.any_modulus(v)? {
                    AnyModulus::Below61(p) => {
                        moduli.push(p);
                        limbs.push(v);
                    }
                    AnyModulus::Word(p) => {
                        words.push(p);
                        last.push(v);
                    }
                }
            }
            limbs.append(&mut last);
            let extension = Extension {
                sources: sources.clone(),
                how,
                moduli,
                words,
            };
            self.push(Job::Bext(extension), at, src, &limbs)?;
        }
        Ok(())
    }
}
