// SPDX-License-Identifier: Apache-2.0
//! Decides which instructions of a procedure a base-extension unit runs, and which limbs and moduli each of them needs.

use std::sync::Arc;

use ringmill_isa::mid::{Instr, ModulusId, Op, Procedure, ValueId};
use ringmill_math::RingKind;

use super::{Extension, Shape};
use crate::coprocessor::{Bases, Claim};

/// One base extension that the unit runs, from the limbs of the source base to those of the targets. An exact extension
/// also takes the limb modulo the redundant modulus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    pub extension: Extension,
    pub bases: Arc<Bases>,
    pub sources: Vec<ValueId>,
    /// The limb of residues modulo the redundant modulus of an exact extension, or `None` for a fast extension.
    pub redundant: Option<ValueId>,
    pub targets: Vec<ValueId>,
}

impl Job {
    /// Returns the base extension that a claim computes. A claim is the instructions that the unit runs as one job.
    /// Returns `None` if the claim's last instruction is no `BEXTR` or `BEXT`, or has a limb that is not of the full
    /// ring.
    pub fn of(procedure: &Procedure, claim: &Claim) -> Option<Self> {
        let instr = procedure.instrs.get(*claim.instrs.last()?)?;
        Self::asked(procedure, instr)
    }

    fn asked(procedure: &Procedure, instr: &Instr) -> Option<Self> {
        let (extension, sources, redundant) = match (instr.op, &instr.src[..]) {
            (Op::Bextr, [sources @ .., redundant]) => (Extension::Exact, sources, Some(*redundant)),
            (Op::Bext, sources) => (Extension::Fast, sources, None),
            _ => return None,
        };
        let modulus = |value: &ValueId| {
            let limb = procedure.limb(*value)?;
            (limb.ring.kind == RingKind::Full).then_some(limb.modulus)
        };
        let moduli = |values: &[ValueId]| values.iter().map(modulus).collect::<Option<Vec<_>>>();
        let bases = Bases {
            sources: moduli(sources)?,
            redundant: match redundant {
                Some(value) => Some(modulus(&value)?),
                None => None,
            },
            targets: moduli(&instr.dst)?,
        };
        Some(Self {
            extension,
            bases: Arc::new(bases),
            sources: sources.to_vec(),
            redundant,
            targets: instr.dst.clone(),
        })
    }

    /// Returns the extension's operands in the order in which they are sent to the unit: the source limbs, then, of an
    /// exact extension, the limb modulo the redundant modulus.
    pub fn takes(&self) -> impl Iterator<Item = ValueId> {
        self.sources.iter().copied().chain(self.redundant)
    }
}

/// Claims every `BEXTR` and `BEXT` that works on the full ring and stays within the maxima of `shape`. `free` tells for
/// each instruction whether the unit may claim it. `accepts` tells whether the unit can compute modulo a modulus. It
/// must be true of all moduli of the instruction, the redundant one included. `BEXTX` is declined, since it names no
/// redundant modulus.
pub fn claims(
    procedure: &Procedure,
    free: &[bool],
    shape: Shape,
    accepts: impl Fn(ModulusId) -> bool,
) -> Vec<Claim> {
    let mine = |(at, instr): (usize, &Instr)| {
        if free.get(at) != Some(&true) {
            return None;
        }
        let job = Job::asked(procedure, instr)?;
        let Bases {
            sources,
            redundant,
            targets,
        } = &*job.bases;
        let fits = (1..=shape.max_l()).contains(&sources.len())
            && (1..=shape.max_k()).contains(&targets.len());
        let mut moduli = sources.iter().chain(redundant).chain(targets);
        (fits && moduli.all(|&modulus| accepts(modulus))).then(|| Claim::new(procedure, vec![at]))
    };
    procedure
        .instrs
        .iter()
        .enumerate()
        .filter_map(mine)
        .collect()
}
