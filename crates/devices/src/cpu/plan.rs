//! A procedure made ready to run: kernels with their tables looked up, use counts, consumers. Made once, then cached.

use std::sync::Arc;

use ringmill_isa::mid::{Form, Imm, Instr, Op, Procedure};
use ringmill_math::{AutoEvalPlan, BaseConverter, Modulus, NttPlan, Ring, RnsBasis, Shoup};

use crate::DeviceError;

/// What one step computes, with every table it needs.
pub(super) enum Kernel {
    Add(Modulus),
    Sub(Modulus),
    Neg(Modulus),
    Mul(Modulus),
    Mac(Modulus),
    Muli(Modulus, u64),
    Addi(Modulus, u64),
    Ntt(Arc<NttPlan>),
    Intt(Arc<NttPlan>),
    AutoCoeff(Modulus, u64),
    AutoEval(Arc<AutoEvalPlan>),
    AutoHalves(Arc<AutoEvalPlan>),
    Conv(Modulus, Modulus),
    Dot(Modulus),
    /// One output limb of a base extension, from limbs already multiplied by (Q/q_i)^-1.
    WeightedSum(Modulus, Box<[Shoup]>),
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
    /// The operands whose buffer may become the result's, in order of preference.
    pub fn overwritable(&self) -> &'static [usize] {
        match self {
            Kernel::Add(_) | Kernel::Mul(_) => &[0, 1],
            Kernel::Sub(_)
            | Kernel::Neg(_)
            | Kernel::Mac(_)
            | Kernel::Muli(..)
            | Kernel::Addi(..)
            | Kernel::Ntt(_)
            | Kernel::Intt(_)
            | Kernel::Conv(..) => &[0],
            _ => &[],
        }
    }

    /// Rough time in units of one elementwise pass over the limb, for estimates of progress only.
    fn weight(&self, operands: usize) -> u64 {
        match self {
            Kernel::Ntt(_) | Kernel::Intt(_) => 12,
            Kernel::Dot(_) | Kernel::WeightedSum(..) => operands as u64,
            _ => 1,
        }
    }
}

/// One kernel application inside a procedure; values are indices into a frame.
pub(super) struct Step {
    pub kernel: Kernel,
    pub op: Op,
    /// Index of the instruction this step belongs to.
    pub instr: usize,
    pub src: Box<[u32]>,
    pub dst: Box<[Made]>,
}

/// A value a step makes, and log2 of its length.
#[derive(Clone, Copy)]
pub(super) struct Made {
    pub value: u32,
    pub log_n: u8,
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
}

impl Plan {
    /// Plans a verified procedure. What the verifier excludes still gives [`DeviceError::Malformed`], never a panic.
    pub fn new(proc: &Procedure) -> Result<Self, DeviceError> {
        let mut builder = Builder {
            proc,
            steps: Vec::with_capacity(proc.instrs.len()),
            alias: (0..proc.types.len() as u32).collect(),
            slots: Vec::new(),
        };
        for (i, instr) in proc.instrs.iter().enumerate() {
            builder.instr(i, instr)?;
        }
        let params = proc
            .params
            .iter()
            .map(|p| builder.value(p.value.0))
            .collect::<Result<Vec<_>, _>>()?;
        let results = proc
            .results
            .iter()
            .map(|r| builder.value(r.value.0))
            .collect::<Result<Vec<_>, _>>()?;
        let Builder { steps, alias, .. } = builder;

        let values = alias.len();
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
            (Op::Ntt, _, &[_], &[d]) => {
                Kernel::Ntt(NttPlan::shared(self.modulus(d)?, self.ring(d)?)?)
            }
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
            (Op::Conv, _, &[a], &[d]) => Kernel::Conv(self.modulus(a)?, self.modulus(d)?),
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

    /// `BEXT` as its two halves: operands times (Q/q_i)^-1, then one weighted sum for each result. The results are
    /// steps of their own, so that threads share them.
    fn base_extension(
        &mut self,
        at: (usize, Op),
        src: &[u32],
        dst: &[u32],
    ) -> Result<(), DeviceError> {
        let from = src
            .iter()
            .map(|&v| self.modulus(v))
            .collect::<Result<Vec<_>, _>>()?;
        let to = dst
            .iter()
            .map(|&v| self.modulus(v))
            .collect::<Result<Vec<_>, _>>()?;
        let converter = BaseConverter::new(&RnsBasis::new(from.clone())?, &to);
        let mut scaled = Vec::with_capacity(src.len());
        for (i, (&v, q)) in src.iter().zip(from).enumerate() {
            let w = converter
                .inverse_punctured(i)
                .ok_or_else(|| self.malformed("a BEXT without constants"))?;
            if w == 1 {
                scaled.push(self.value(v)?);
                continue;
            }
            let temporary = self.alias.len() as u32;
            self.alias.push(temporary);
            let dst = Box::new([Made {
                value: temporary,
                log_n: self.ring(v)?.log_n,
            }]);
            let src = Box::new([self.value(v)?]);
            self.steps.push(Step {
                kernel: Kernel::Muli(q, w),
                op: at.1,
                instr: at.0,
                src,
                dst,
            });
            scaled.push(temporary);
        }
        for (j, (&d, p)) in dst.iter().zip(to).enumerate() {
            let row = converter
                .row(j)
                .ok_or_else(|| self.malformed("a BEXT without constants"))?;
            let made = Made {
                value: self.value(d)?,
                log_n: self.ring(d)?.log_n,
            };
            let kernel = Kernel::WeightedSum(p, row.into());
            let src = scaled.clone().into_boxed_slice();
            self.steps.push(Step {
                kernel,
                op: at.1,
                instr: at.0,
                src,
                dst: Box::new([made]),
            });
        }
        Ok(())
    }
}
