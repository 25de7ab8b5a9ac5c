// SPDX-License-Identifier: Apache-2.0
//! Makes the steps of a block from steps whose limbs all have different numbers. It finds the last
//! read of each limb, after which a later limb gets its number.

use super::program::{Action, HeadInput, HeadOutput, LocalId, Operand, Program, Step};
use super::unrolled::Unrolled;
use super::walk::Held;
use crate::source::SourceLoc;

/// A step of a block that is being made: no two limbs of the block have the same number yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loose {
    pub action: Action,
    pub args: Vec<Held>,
    pub seeds: Vec<u32>,
    pub immediates: Vec<u64>,
    /// The numbers of the step's results. No earlier limb of the block has one of them.
    pub results: Vec<u32>,
    pub loc: Option<SourceLoc>,
}

/// Returns the steps and results of a block in which a later limb may have the number of a dead one. In `steps` all
/// limbs have different numbers below `numbers`, and the first `params` are the block's parameters; `kept` are its
/// results. The number of a limb that nothing reads is not given to another limb. A limb that no step defines, or with
/// a number that is too large, gives a block that does not verify.
pub fn pack(
    params: u32,
    numbers: usize,
    steps: Vec<Loose>,
    kept: &[Held],
) -> (Vec<Step>, Vec<Operand>) {
    let count = numbers.max(params as usize);
    let mut last_use = vec![None; count];
    for (at, step) in steps.iter().enumerate() {
        for held in &step.args {
            note(&mut last_use, held, Some(at));
        }
    }
    for held in kept {
        note(&mut last_use, held, None);
    }
    let mut frame = Frame {
        locals: (0..count as u32)
            .map(|n| (n < params).then_some(LocalId(n)))
            .collect(),
        free: Vec::new(),
        next: params,
    };
    let packed = steps.into_iter().enumerate().map(|(at, step)| {
        let args: Vec<_> = step.args.iter().map(|held| frame.operand(held)).collect();
        let mut dies = Vec::new();
        for held in &step.args {
            if let Held::Made(n) = *held
                && last_use.get(n as usize).copied().flatten() == Some(at)
                && let Some(local) = frame.end(n)
            {
                dies.push(local);
            }
        }
        let results = step.results.iter().map(|&n| frame.define(n)).collect();
        Step {
            action: step.action,
            args,
            seeds: step.seeds,
            immediates: step.immediates,
            dies,
            results,
            loc: step.loc,
        }
    });
    let packed = packed.collect();
    let kept = kept.iter().map(|held| frame.operand(held)).collect();
    (packed, kept)
}

fn note(last_use: &mut [Option<usize>], held: &Held, at: Option<usize>) {
    if let Held::Made(n) = *held
        && let Some(slot) = last_use.get_mut(n as usize)
    {
        *slot = at;
    }
}

struct Frame {
    locals: Vec<Option<LocalId>>,
    free: Vec<LocalId>,
    next: u32,
}

impl Frame {
    fn operand(&self, held: &Held) -> Operand {
        match *held {
            Held::Input(n) => Operand::Input(n),
            Held::Made(n) => {
                let local = self.locals.get(n as usize).copied().flatten();
                Operand::Local(local.unwrap_or(LocalId(u32::MAX)))
            }
        }
    }

    fn end(&mut self, number: u32) -> Option<LocalId> {
        let local = self.locals.get_mut(number as usize)?.take()?;
        self.free.push(local);
        Some(local)
    }

    fn define(&mut self, number: u32) -> LocalId {
        let local = self.free.pop().unwrap_or_else(|| {
            let fresh = LocalId(self.next);
            self.next = self.next.saturating_add(1);
            fresh
        });
        if let Some(slot) = self.locals.get_mut(number as usize) {
            *slot = Some(local);
        }
        local
    }
}

impl From<Unrolled> for Program {
    /// Converts an unrolled program, a list of calls, to a program of the same calls without blocks.
    fn from(unrolled: Unrolled) -> Self {
        let mut held: Vec<Held> = (0..).take(unrolled.limbs.len()).map(Held::Made).collect();
        let mut inputs = Vec::with_capacity(unrolled.inputs.len());
        for (number, input) in (0..).zip(unrolled.inputs) {
            let index = input.limb.0 as usize;
            if let (Some(slot), Some(&ty)) = (held.get_mut(index), unrolled.limbs.get(index)) {
                *slot = Held::Input(number);
                let (name, role) = (input.name, input.role);
                inputs.push(HeadInput { ty, name, role });
            }
        }
        let of = |limb: &super::unrolled::LimbId| {
            let known = held.get(limb.0 as usize).copied();
            known.unwrap_or(Held::Made(u32::MAX))
        };
        // Numbers beyond what a program may have do not verify.
        let number = |limb: &super::unrolled::LimbId| u32::try_from(limb.0).unwrap_or(u32::MAX);
        let loose = unrolled.calls.into_iter().map(|call| Loose {
            action: Action::Call { proc: call.proc },
            args: call.args.iter().map(of).collect(),
            seeds: call.seeds,
            immediates: Vec::new(),
            results: call.results.iter().map(number).collect(),
            loc: call.loc,
        });
        let kept: Vec<_> = unrolled.outputs.iter().map(|o| of(&o.limb)).collect();
        let (steps, kept) = pack(0, unrolled.limbs.len(), loose.collect(), &kept);
        let outputs = unrolled.outputs.into_iter().zip(kept);
        Self {
            log_n: unrolled.log_n,
            moduli: unrolled.moduli,
            procs: unrolled.procs,
            blocks: Vec::new(),
            inputs,
            seeds: unrolled.seeds,
            steps,
            outputs: outputs
                .map(|(o, from)| HeadOutput {
                    from,
                    name: o.name,
                    output: o.output,
                    poly: o.poly,
                })
                .collect(),
        }
    }
}
