//! Partition of a procedure: what goes to the multiplier as one job, and what stays on the host.

use std::collections::BTreeMap;

use ringmill_isa::mid::{Instr, ModulusId, Op, Procedure, ValueId};
use ringmill_math::RingKind;

use super::ArrayOp;

/// One array command with the limbs it takes over the link and the one it gives back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    pub op: ArrayOp,
    pub modulus: ModulusId,
    pub a: ValueId,
    pub b: Option<ValueId>,
    pub out: ValueId,
}

/// Jobs in the procedure's order, and how many instructions of each kind remain on the host.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Partition {
    pub jobs: Vec<Job>,
    pub host: BTreeMap<Op, u64>,
}

/// Every `NTT`, `INTT` and `MUL` of the full ring becomes a job; an inverse transform of a product that nobody else
/// reads becomes one job with it, and so do the forward transforms that only that product reads.
pub fn partition(procedure: &Procedure) -> Partition {
    let values = Values::new(procedure);
    let mut partition = Partition::default();
    let mut absorbed = vec![false; procedure.instrs.len()];
    let mut jobs: Vec<(usize, Job)> = Vec::new();
    // From the end, so that a transform sees its product before the product is a job of its own.
    for (at, instr) in procedure.instrs.iter().enumerate().rev() {
        if absorbed[at] {
            continue;
        }
        match values.job(procedure, instr, &mut absorbed) {
            Some(job) => jobs.push((at, job)),
            None => *partition.host.entry(instr.op).or_default() += 1,
        }
    }
    partition.jobs = jobs.into_iter().rev().map(|(_, job)| job).collect();
    partition
}

/// Where each value is made, and by how many instructions (or results) it is read.
struct Values {
    made_by: Vec<Option<usize>>,
    readers: Vec<usize>,
}

impl Values {
    fn new(procedure: &Procedure) -> Self {
        let count = procedure.types.len();
        let mut values = Self {
            made_by: vec![None; count],
            readers: vec![0; count],
        };
        for (at, instr) in procedure.instrs.iter().enumerate() {
            for dst in &instr.dst {
                if let Some(maker) = values.made_by.get_mut(dst.0 as usize) {
                    *maker = Some(at);
                }
            }
            let mut read: Vec<ValueId> = instr.src.clone();
            read.sort_unstable();
            read.dedup();
            for src in read {
                if let Some(readers) = values.readers.get_mut(src.0 as usize) {
                    *readers += 1;
                }
            }
        }
        for result in &procedure.results {
            if let Some(readers) = values.readers.get_mut(result.value.0 as usize) {
                *readers += 1;
            }
        }
        values
    }

    /// The instruction of kind `op` that made a value which has one reader.
    fn sole<'p>(
        &self,
        procedure: &'p Procedure,
        value: ValueId,
        op: Op,
    ) -> Option<(usize, &'p Instr)> {
        let at = (*self.made_by.get(value.0 as usize)?)?;
        let instr = procedure.instrs.get(at)?;
        let alone = self.readers.get(value.0 as usize) == Some(&1);
        (alone && instr.op == op).then_some((at, instr))
    }

    fn job(&self, procedure: &Procedure, instr: &Instr, absorbed: &mut [bool]) -> Option<Job> {
        let &out = instr.dst.first()?;
        let limb = procedure.types.get(out.0 as usize)?;
        if limb.ring.kind != RingKind::Full {
            return None;
        }
        let job = |op, a, b| {
            Some(Job {
                op,
                modulus: limb.modulus,
                a,
                b,
                out,
            })
        };
        match (instr.op, &instr.src[..]) {
            (Op::Ntt, &[a]) => job(ArrayOp::Ntt, a, None),
            (Op::Mul, &[a, b]) => job(ArrayOp::Mul, a, Some(b)),
            (Op::Intt, &[product]) => {
                let Some((at, [a, b])) = self
                    .sole(procedure, product, Op::Mul)
                    .and_then(|(at, mul)| Some((at, <[ValueId; 2]>::try_from(&mul.src[..]).ok()?)))
                else {
                    return job(ArrayOp::Intt, product, None);
                };
                let forward = |value| {
                    let (at, ntt) = self.sole(procedure, value, Op::Ntt)?;
                    Some((at, *ntt.src.first()?))
                };
                match (forward(a), forward(b)) {
                    (None, None) => job(ArrayOp::Intt, product, None),
                    (Some((first, x)), Some((second, y))) => {
                        for at in [at, first, second] {
                            absorbed[at] = true;
                        }
                        job(ArrayOp::Fpm, x, Some(y))
                    }
                    (Some((first, x)), None) => {
                        absorbed[at] = true;
                        absorbed[first] = true;
                        job(ArrayOp::Hpm, x, Some(b))
                    }
                    (None, Some((second, y))) => {
                        absorbed[at] = true;
                        absorbed[second] = true;
                        job(ArrayOp::Hpm, y, Some(a))
                    }
                }
            }
            _ => None,
        }
    }
}
