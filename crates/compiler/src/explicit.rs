// SPDX-License-Identifier: Apache-2.0
//! Rewrites a program with levels into the explicit macro instructions of Table 2 of the BASALISC paper, for machines
//! that have them. Inputs and encoded plaintexts lie in distant memory until a `LOAD` reads them. A rotation or a
//! conjugation becomes a `MORPH` and a key switch `KSW`, and a relinearisation becomes a `KSW`. The results stay the
//! same. The mid-level program that is made of it differs only by the `HCF` (halt) at its end.
//!
//! `HROTATE` stays one instruction: its rotations share a decomposition, which one `KSW` for each rotation would
//! compute anew. `TWOREAL` stays one instruction too.

use ringmill_isa::Galois;
use ringmill_isa::macros::{
    MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue, ManagedOp, Refused,
    Visibility,
};
use ringmill_isa::source::SourceLoc;

/// Returns the program with `LOAD`, `MORPH` and `KSW`, in its procedures too. `elements` returns the Galois elements of
/// an instruction's automorphisms, one for each result.
///
/// # Errors
/// Returns the errors of `elements`. Fails for an instruction that only this pass inserts, and for one of linked
/// procedures.
pub fn run<E: From<Refused>>(
    mut program: MacroProgram,
    elements: impl Fn(&MacroInstr) -> Result<Vec<Galois>, E>,
) -> Result<MacroProgram, E> {
    let own = (&mut program.instrs, &mut program.types);
    let procs = program.procs.iter_mut();
    let bodies = procs.map(|proc| (&mut proc.instrs, &mut proc.types));
    for (instrs, types) in bodies.chain([own]) {
        // Values keep their numbers. Those between two instructions that were one get numbers after all others.
        let mut body = Body {
            instrs: Vec::with_capacity(instrs.len()),
            types: std::mem::take(types),
        };
        for instr in std::mem::take(instrs) {
            body.push(instr, &elements)?;
        }
        (*instrs, *types) = (body.instrs, body.types);
    }
    Ok(program)
}

struct Body {
    instrs: Vec<MacroInstr>,
    types: Vec<MacroType>,
}

impl Body {
    fn push<E: From<Refused>>(
        &mut self,
        instr: MacroInstr,
        elements: impl Fn(&MacroInstr) -> Result<Vec<Galois>, E>,
    ) -> Result<(), E> {
        let of = |v: Option<&MacroValue>| {
            let ty = self.types.get(v?.0 as usize).copied();
            ty.map(|ty| (ty, ty.at()))
        };
        let op = ManagedOp::try_from(instr.op)
            .map_err(|_| Refused::unknown("the pass that writes LOAD, MORPH and KSW", &instr))?;
        match (op, of(instr.dst.first())) {
            (ManagedOp::Input | ManagedOp::Encode, Some((ty, at))) => {
                let of = match ty.polys() {
                    Some(_) => Visibility::Encrypted,
                    None => Visibility::Plain,
                };
                self.split(instr, MacroType::Distant { of, at }, MacroOp::Load);
            }
            (ManagedOp::Relin, _) => self.instrs.push(MacroInstr {
                op: MacroOp::Ksw,
                ..instr
            }),
            (ManagedOp::Rotate | ManagedOp::Conj, Some((_, at))) => match *elements(&instr)? {
                [by] => {
                    let morph = MacroInstr {
                        op: MacroOp::Morph,
                        imm: MacroImm::Galois(by),
                        ..instr
                    };
                    self.split(morph, MacroType::Morphed { by, at }, MacroOp::Ksw);
                }
                // A conjugation that leaves values as they are.
                _ => self.instrs.push(instr),
            },
            // An operation of managed programs is one of explicit programs, too.
            (op, _) => self.instrs.push(MacroInstr {
                op: op.into(),
                ..instr
            }),
        }
        Ok(())
    }

    /// Emits `first` with a new result of type `between`, then an instruction with the operation
    /// `then`. It computes the old result of `first` from the new one.
    fn split(&mut self, first: MacroInstr, between: MacroType, then: MacroOp) {
        let made = MacroValue(self.types.len() as u32);
        self.types.push(between);
        let loc: Option<SourceLoc> = first.loc.clone();
        let dst = first.dst.clone();
        self.instrs.push(MacroInstr {
            dst: vec![made],
            ..first
        });
        self.instrs.push(MacroInstr {
            op: then,
            dst,
            src: vec![made],
            imm: MacroImm::None,
            loc,
        });
    }
}
