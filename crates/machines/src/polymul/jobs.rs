// SPDX-License-Identifier: Apache-2.0
//! Decides which instructions of a procedure the polynomial multiplier runs. A claim is a group of
//! instructions that one command to the multiplier's butterflies (array command) runs together.

use ringmill_isa::mid::{Instr, ModulusId, Op, Procedure, ValueId};
use ringmill_math::RingKind;

use super::ArrayOp;
use crate::coprocessor::Claim;

/// One command to the multiplier's array of butterflies, with its operands and its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    pub op: ArrayOp,
    pub modulus: ModulusId,
    pub a: ValueId,
    pub b: Option<ValueId>,
    pub out: ValueId,
}

impl Job {
    /// Returns the command to the multiplier's butterflies that runs a claim, a group of a
    /// procedure's instructions. The claim must be one that [`claims`] made for this procedure.
    /// Returns `None` if its last instruction is no `NTT`, `INTT` or `MUL` with a limb as result.
    pub fn of(procedure: &Procedure, claim: &Claim) -> Option<Self> {
        let instr = |at: &usize| procedure.instrs.get(*at);
        let last = instr(claim.instrs.last()?)?;
        let out = *last.dst.first()?;
        let job = |op, a, b| {
            let modulus = procedure.limb(out)?.modulus;
            Some(Self {
                op,
                modulus,
                a,
                b,
                out,
            })
        };
        // Returns the instruction of the job that makes a value.
        let maker = |value: ValueId| {
            let mut inside = claim.instrs.iter().filter_map(instr);
            inside.find(|instr| instr.dst.contains(&value))
        };
        let forward = |value: ValueId| maker(value).and_then(|ntt| ntt.src.first()).copied();
        match (last.op, &last.src[..]) {
            (Op::Ntt, &[a]) => job(ArrayOp::Ntt, a, None),
            (Op::Mul, &[a, b]) => job(ArrayOp::Mul, a, Some(b)),
            (Op::Intt, &[product]) => {
                let Some(mul) = maker(product) else {
                    return job(ArrayOp::Intt, product, None);
                };
                let &[a, b] = &mul.src[..] else { return None };
                match (forward(a), forward(b)) {
                    (None, None) => job(ArrayOp::Intt, product, None),
                    (Some(x), Some(y)) => job(ArrayOp::Fpm, x, Some(y)),
                    (Some(x), None) => job(ArrayOp::Hpm, x, Some(b)),
                    (None, Some(y)) => job(ArrayOp::Hpm, y, Some(a)),
                }
            }
            _ => None,
        }
    }
}

/// Claims every `NTT`, `INTT` and `MUL` on the full ring modulo a modulus that `accepts` takes. `free` tells for each
/// instruction whether a job may contain it. An inverse transform and the product that only it reads are one job if
/// an operand of the product is a forward transform that only the product reads. The job then contains such forward
/// transforms, too, and all its instructions must be free. The claims come in the reverse order of their last
/// instructions.
pub fn claims(
    procedure: &Procedure,
    free: &[bool],
    accepts: impl Fn(ModulusId) -> bool,
) -> Vec<Claim> {
    let values = Values::new(procedure);
    let mut free = free.to_vec();
    let mut claims = Vec::new();
    // Goes from the end, so that a transform sees its product before the product becomes a job of its own.
    for (at, instr) in procedure.instrs.iter().enumerate().rev() {
        let full = |instr: &Instr| {
            let out = instr.dst.first()?;
            let limb = procedure.limb(*out)?;
            Some(limb.ring.kind == RingKind::Full && accepts(limb.modulus))
        };
        if free.get(at) != Some(&true) || full(instr) != Some(true) {
            continue;
        }
        let Some(absorbed) = values.absorbed(procedure, instr, &free) else {
            continue;
        };
        let claim = Claim::new(procedure, absorbed.into_iter().chain([at]).collect());
        for &part in &claim.instrs {
            free[part] = false;
        }
        claims.push(claim);
    }
    claims
}

/// The instruction that makes each value of a procedure, and the number of the value's readers (instructions or
/// results).
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

    /// Returns the instruction that makes `value` if a job may contain it, it has the operation `op`, and `value` has
    /// one reader.
    fn sole<'p>(
        &self,
        procedure: &'p Procedure,
        value: ValueId,
        op: Op,
        free: &[bool],
    ) -> Option<(usize, &'p Instr)> {
        let at = (*self.made_by.get(value.0 as usize)?)?;
        let instr = procedure.instrs.get(at)?;
        let alone = self.readers.get(value.0 as usize) == Some(&1);
        (alone && instr.op == op && free.get(at) == Some(&true)).then_some((at, instr))
    }

    /// Returns the indices of the earlier instructions that run in one job with `instr`. Returns
    /// `None` if `instr` is not the last instruction of any job.
    fn absorbed(&self, procedure: &Procedure, instr: &Instr, free: &[bool]) -> Option<Vec<usize>> {
        match (instr.op, &instr.src[..]) {
            (Op::Ntt, &[_]) | (Op::Mul, &[_, _]) => Some(Vec::new()),
            (Op::Intt, &[product]) => {
                let Some((at, mul)) = self.sole(procedure, product, Op::Mul, free) else {
                    return Some(Vec::new());
                };
                let forward = mul
                    .src
                    .iter()
                    .filter_map(|&value| self.sole(procedure, value, Op::Ntt, free));
                let forward: Vec<usize> = forward.map(|(at, _)| at).collect();
                // If no forward transform of an operand joins the job, the product is a command of its own.
                match forward.is_empty() {
                    true => Some(Vec::new()),
                    false => Some(forward.into_iter().chain([at]).collect()),
                }
            }
            _ => None,
        }
    }
}
