//! Partition of a procedure: what goes to the multiplier as one job, what stays on the host, and in which stages.

use std::collections::BTreeMap;

use ringmill_isa::mid::{Imm, Instr, ModulusId, Op, Procedure, ValueId};
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

/// What the host does, then what the multiplier does with it. No job of a stage needs another of the same stage.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stage {
    /// Numbers of the host's instructions, in order.
    pub host: Vec<usize>,
    pub jobs: Vec<Job>,
    /// Numbers of the instructions that the jobs do, in order.
    pub offloaded: Vec<usize>,
}

/// A procedure in stages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Partition {
    pub stages: Vec<Stage>,
}

impl Partition {
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.stages.iter().flat_map(|stage| &stage.jobs)
    }

    /// How many instructions of each kind remain on the host.
    pub fn host(&self, procedure: &Procedure) -> BTreeMap<Op, u64> {
        let mut counts = BTreeMap::new();
        for &at in self.stages.iter().flat_map(|stage| &stage.host) {
            if let Some(instr) = procedure.instrs.get(at) {
                *counts.entry(instr.op).or_default() += 1;
            }
        }
        counts
    }
}

/// Every `NTT`, `INTT` and `MUL` of the full ring modulo an accepted modulus becomes a job; an inverse transform of a
/// product that nobody else reads becomes one job with it, and so do the forward transforms that only that product
/// reads. Everything is done in the earliest stage that its operands allow.
pub fn partition(procedure: &Procedure, accepts: impl Fn(ModulusId) -> bool) -> Partition {
    let values = Values::new(procedure);
    let count = procedure.instrs.len();
    // The job that each instruction is part of, by the number of the job's last instruction.
    let mut job_of: Vec<Option<usize>> = vec![None; count];
    let mut jobs: BTreeMap<usize, Job> = BTreeMap::new();
    // From the end, so that a transform sees its product before the product is a job of its own.
    for (at, instr) in procedure.instrs.iter().enumerate().rev() {
        if job_of[at].is_some() {
            continue;
        }
        let found = values
            .job(procedure, instr)
            .filter(|(job, _)| accepts(job.modulus));
        if let Some((job, absorbed)) = found {
            jobs.insert(at, job);
            for part in absorbed.into_iter().flatten().chain([at]) {
                job_of[part] = Some(at);
            }
        }
    }
    in_stages(procedure, &job_of, &jobs)
}

/// Stages by the operands: what a job of stage s makes is there from stage s + 1 on.
fn in_stages(
    procedure: &Procedure,
    job_of: &[Option<usize>],
    jobs: &BTreeMap<usize, Job>,
) -> Partition {
    let mut known: Vec<usize> = vec![0; procedure.types.len()];
    let mut stages: Vec<Stage> = Vec::new();
    let mut stage_of_job: BTreeMap<usize, usize> = BTreeMap::new();
    // What waits in outside memory, which is the host's.
    let mut slots: BTreeMap<u32, ValueId> = BTreeMap::new();
    let at_value = |known: &[usize], value: ValueId| known.get(value.0 as usize).copied();
    for (at, (instr, job)) in procedure.instrs.iter().zip(job_of).enumerate() {
        // What a job absorbs makes nothing that others read.
        let job = match job {
            Some(last) if *last != at => continue,
            Some(last) => jobs.get(last),
            None => None,
        };
        let loaded = match (instr.op, instr.imm) {
            (Op::Store, Imm::Slot(slot)) => {
                slots.extend(instr.src.first().map(|&value| (slot, value)));
                None
            }
            (Op::Load, Imm::Slot(slot)) => slots.get(&slot).copied(),
            _ => None,
        };
        let latest = |values: &mut dyn Iterator<Item = ValueId>| {
            values.filter_map(|v| at_value(&known, v)).max()
        };
        let stage = match job {
            Some(job) => latest(&mut [Some(job.a), job.b].into_iter().flatten()),
            None => latest(&mut instr.src.iter().copied().chain(loaded)),
        };
        let stage = stage.unwrap_or(0);
        if stages.len() <= stage {
            stages.resize_with(stage + 1, Stage::default);
        }
        match job {
            Some(job) => {
                stages[stage].jobs.push(*job);
                stage_of_job.insert(at, stage);
            }
            None => stages[stage].host.push(at),
        }
        for dst in &instr.dst {
            if let Some(known) = known.get_mut(dst.0 as usize) {
                *known = stage + usize::from(job.is_some());
            }
        }
    }
    for (at, job) in job_of.iter().enumerate() {
        if let Some(&stage) = job.and_then(|last| stage_of_job.get(&last)) {
            stages[stage].offloaded.push(at);
        }
    }
    Partition { stages }
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

    /// The job that ends with an instruction, and the numbers of the instructions before that it does too.
    fn job(&self, procedure: &Procedure, instr: &Instr) -> Option<(Job, [Option<usize>; 3])> {
        let &out = instr.dst.first()?;
        let limb = procedure.types.get(out.0 as usize)?;
        if limb.ring.kind != RingKind::Full {
            return None;
        }
        let job = |op, a, b, absorbed| {
            let modulus = limb.modulus;
            Some((
                Job {
                    op,
                    modulus,
                    a,
                    b,
                    out,
                },
                absorbed,
            ))
        };
        match (instr.op, &instr.src[..]) {
            (Op::Ntt, &[a]) => job(ArrayOp::Ntt, a, None, [None; 3]),
            (Op::Mul, &[a, b]) => job(ArrayOp::Mul, a, Some(b), [None; 3]),
            (Op::Intt, &[product]) => {
                let Some((at, [a, b])) = self
                    .sole(procedure, product, Op::Mul)
                    .and_then(|(at, mul)| Some((at, <[ValueId; 2]>::try_from(&mul.src[..]).ok()?)))
                else {
                    return job(ArrayOp::Intt, product, None, [None; 3]);
                };
                let forward = |value| {
                    let (at, ntt) = self.sole(procedure, value, Op::Ntt)?;
                    Some((at, *ntt.src.first()?))
                };
                match (forward(a), forward(b)) {
                    (None, None) => job(ArrayOp::Intt, product, None, [None; 3]),
                    (Some((first, x)), Some((second, y))) => job(
                        ArrayOp::Fpm,
                        x,
                        Some(y),
                        [Some(at), Some(first), Some(second)],
                    ),
                    (Some((first, x)), None) => {
                        job(ArrayOp::Hpm, x, Some(b), [Some(at), Some(first), None])
                    }
                    (None, Some((second, y))) => {
                        job(ArrayOp::Hpm, y, Some(a), [Some(at), Some(second), None])
                    }
                }
            }
            _ => None,
        }
    }
}
