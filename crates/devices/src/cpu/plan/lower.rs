//! Instructions to steps, one for one but for `BEXT` (groups of results) and the memory instructions (none).

use ringmill_isa::mid::{Form, Imm, Instr, Op, Procedure};
use ringmill_math::{AutoEvalPlan, BaseConverter, Modulus, NttPlan, Ring, RnsBasis};

use super::{EXTENDED, Kernel, Made, Step};
use crate::DeviceError;

/// A procedure as steps.
pub(super) struct Lowered {
    pub steps: Vec<Step>,
    /// The value of each parameter.
    pub params: Vec<u32>,
    /// The value of each result.
    pub results: Vec<u32>,
    /// Values are numbered below this.
    pub values: usize,
}

/// Lowers a verified procedure; what the verifier excludes gives [`DeviceError::Malformed`].
pub(super) fn lower(proc: &Procedure) -> Result<Lowered, DeviceError> {
    let mut builder = Builder {
        proc,
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
    Ok(Lowered {
        params,
        results,
        values: builder.alias.len(),
        steps: builder.steps,
    })
}

struct Builder<'p> {
    proc: &'p Procedure,
    steps: Vec<Step>,
    /// The value that holds each value: itself, or for a `LOAD` what was stored.
    alias: Vec<u32>,
    /// Spill slots written so far and the value each holds.
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

    fn ring(&self, v: u32) -> Result<Ring, DeviceError> {
        let ty = self
            .proc
            .types
            .get(v as usize)
            .ok_or_else(|| self.malformed("a value without a type"))?;
        ty.ring.check()?;
        Ok(ty.ring)
    }

    fn modulus(&self, v: u32) -> Result<Modulus, DeviceError> {
        let ty = self.proc.types.get(v as usize);
        let q = ty.and_then(|t| self.proc.moduli.get(usize::from(t.modulus.0)));
        Ok(Modulus::new(*q.ok_or_else(|| {
            self.malformed("a value without a modulus")
        })?)?)
    }

    fn form(&self, v: u32) -> Option<Form> {
        self.proc.types.get(v as usize).map(|t| t.form)
    }

    fn push(
        &mut self,
        kernel: Kernel,
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
                log_n: self.ring(v)?.log_n,
            })
        };
        let dst = dst.iter().map(made).collect::<Result<_, DeviceError>>()?;
        self.steps.push(Step {
            kernel,
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
        let kernel = match (instr.op, instr.imm, src.as_slice(), dst.as_slice()) {
            (Op::Add, _, &[_, _], &[d]) => Kernel::Add(self.modulus(d)?),
            (Op::Sub, _, &[_, _], &[d]) => Kernel::Sub(self.modulus(d)?),
            (Op::Neg, _, &[_], &[d]) => Kernel::Neg(self.modulus(d)?),
            (Op::Mul, _, &[_, _], &[d]) => Kernel::Mul(self.modulus(d)?),
            (Op::Mac, _, &[_, _, _], &[d]) => Kernel::Mac(self.modulus(d)?),
            (Op::Muli, Imm::Scalar(w), &[_], &[d]) => Kernel::Muli(self.modulus(d)?, w),
            (Op::Addi, Imm::Scalar(w), &[_], &[d]) => Kernel::Addi(self.modulus(d)?, w),
            (Op::Ntt, _, &[_], &[d]) => Kernel::Ntt {
                plan: NttPlan::shared(self.modulus(d)?, self.ring(d)?)?,
                from: self.modulus(d)?,
                w: 0,
            },
            (Op::Intt, _, &[_], &[d]) => {
                Kernel::Intt(NttPlan::shared(self.modulus(d)?, self.ring(d)?)?)
            }
            (Op::Auto, Imm::Galois(g), &[_], &[d]) => match self.form(d) {
                Some(Form::Coeff) => Kernel::AutoCoeff(self.modulus(d)?, u64::from(g)),
                _ => Kernel::AutoEval(AutoEvalPlan::shared(
                    u32::from(self.ring(d)?.log_n),
                    u64::from(g),
                )?),
            },
            (Op::Autoh, Imm::Galois(g), &[_, _], &[d, _]) => Kernel::AutoHalves(
                AutoEvalPlan::shared(self.ring(d)?.full_log_n(), u64::from(g))?,
            ),
            (Op::Conv, _, &[a], &[d]) => Kernel::Conv(self.modulus(a)?, self.modulus(d)?, 0),
            (Op::Bext, _, [_, ..], [_, ..]) => return self.base_extension(at, &src, &dst),
            (Op::Dot, _, [_, _, rest @ ..], &[d]) if rest.len() % 2 == 0 => {
                Kernel::Dot(self.modulus(d)?)
            }
            (Op::Split, _, &[a], &[_, _]) => Kernel::Split(self.modulus(a)?, self.ring(a)?),
            (Op::Join, _, &[_, _], &[d]) => Kernel::Join(self.modulus(d)?, self.ring(d)?),
            (Op::Prng, Imm::Stream { seed, stream }, &[], &[d]) => Kernel::Prng {
                seed: usize::from(seed),
                stream,
                modulus: self.modulus(d)?,
                ring: self.ring(d)?,
            },
            // Memory outside a machine is no different from memory inside for a CPU: a load is the value stored.
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
        self.push(kernel, at, &src, &dst)
    }

    /// `BEXT` in groups of results: threads share them, and few are waiting for what they are used in.
    fn base_extension(
        &mut self,
        at: (usize, Op),
        src: &[u32],
        dst: &[u32],
    ) -> Result<(), DeviceError> {
        let from = src.iter().map(|&v| self.modulus(v));
        let basis = RnsBasis::new(from.collect::<Result<_, _>>()?)?;
        for group in dst.chunks(EXTENDED) {
            let to = group.iter().map(|&v| self.modulus(v));
            let to = to.collect::<Result<Vec<_>, _>>()?;
            let kernel = Kernel::Bext(Box::new(BaseConverter::new(&basis, &to)));
            self.push(kernel, at, src, group)?;
        }
        Ok(())
    }
}
