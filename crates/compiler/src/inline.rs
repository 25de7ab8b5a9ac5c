// SPDX-License-Identifier: Apache-2.0
//! Calls and repeats written out: a program whose procedures stand where they are called, as often as they are. All passes
//! after this one, the evaluator in the clear and lowering work on such programs.
//!
//! How long the result would be is known before anything is made of it, so a short text cannot ask for much memory.

use std::borrow::Cow;

use ringmill_isa::limits::MAX_MACRO_VALUES;
use ringmill_isa::macros::{MacroInstr, MacroProc, MacroProgram, MacroType, MacroValue};
use ringmill_isa::source::SourceLoc;
use thiserror::Error;

use crate::line::At;

/// Most values of a program written out: results of its instructions and arguments of its calls. Managing levels adds up
/// to four times as many.
pub const MAX_WRITTEN_OUT: u64 = MAX_MACRO_VALUES as u64 / 4;

/// Why a program could not be written out.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum InlineError {
    #[error(
        "{at}the program is too long: written out, without calls and repeats, it has {values} values (results of \
         instructions and arguments of calls), and at most {limit} are allowed; repeat less often, or split it"
    )]
    TooLong { at: At, values: u64, limit: u64 },
    #[error("{at}a call or repeat here is ill-formed; verify the program first")]
    IllFormed { at: At },
}

impl InlineError {
    /// The line of the call or repeat.
    pub fn loc(&self) -> Option<&SourceLoc> {
        match self {
            Self::TooLong { at, .. } | Self::IllFormed { at } => at.0.as_ref(),
        }
    }
}

/// The program written out; itself if it has no procedures.
///
/// # Errors
/// [`InlineError::TooLong`] with the line of the call or repeat that makes it so. [`InlineError::IllFormed`] for programs
/// that the verifier refuses, as far as their calls are at fault.
pub fn written_out(program: &MacroProgram) -> Result<Cow<'_, MacroProgram>, InlineError> {
    length(program)?;
    if program.procs.is_empty() {
        return Ok(Cow::Borrowed(program));
    }
    let empty = MacroProgram {
        name: program.name.clone(),
        scheme: program.scheme.clone(),
        slots: program.slots,
        inputs: program.inputs.clone(),
        data: program.data.clone(),
        procs: Vec::new(),
        instrs: Vec::new(),
        types: Vec::new(),
        outputs: program.outputs.clone(),
    };
    let mut writer = Writer {
        procs: &program.procs,
        out: empty,
        frames: vec![Frame {
            instrs: &program.instrs,
            types: &program.types,
            map: vec![UNKNOWN; program.types.len()],
            at: 0,
            call: None,
        }],
    };
    writer.run()?;
    Ok(Cow::Owned(writer.out))
}

/// Values of the program written out (results of its instructions and arguments of its calls), at most [`MAX_WRITTEN_OUT`].
///
/// # Errors
/// As [`written_out`].
pub fn length(program: &MacroProgram) -> Result<u64, InlineError> {
    let mut lengths: Vec<u64> = Vec::with_capacity(program.procs.len());
    for proc in &program.procs {
        let length = proc
            .instrs
            .iter()
            .try_fold(proc.params.len() as u64, |sum, instr| {
                Ok(cost(instr, &lengths)?.saturating_add(sum))
            })?;
        lengths.push(length);
    }
    let total = |instrs: &[MacroInstr]| {
        instrs.iter().try_fold(0u64, |sum, instr| {
            Ok(cost(instr, &lengths)?.saturating_add(sum))
        })
    };
    let values = total(&program.instrs)?;
    if values <= MAX_WRITTEN_OUT {
        return Ok(values);
    }
    // The call or repeat that makes it so: the one within which no other does.
    let mut instrs = &program.instrs;
    loop {
        let mut sum = 0u64;
        let mut passes = |instr: &&MacroInstr| {
            sum = sum.saturating_add(cost(instr, &lengths).unwrap_or(u64::MAX));
            sum > MAX_WRITTEN_OUT
        };
        let culprit = instrs.iter().find(|instr| passes(instr));
        let callee = culprit
            .and_then(|instr| instr.imm.called())
            .and_then(|(n, _)| {
                let long = lengths.get(n as usize)? > &MAX_WRITTEN_OUT;
                program.procs.get(n as usize).filter(|_| long)
            });
        // A procedure calls those before it only, so this comes to an end.
        match callee {
            Some(proc) => instrs = &proc.instrs,
            None => {
                return Err(InlineError::TooLong {
                    at: At(culprit.and_then(|instr| instr.loc.clone())),
                    values,
                    limit: MAX_WRITTEN_OUT,
                });
            }
        }
    }
}

/// Values that an instruction comes to, given the lengths of the procedures before its own.
fn cost(instr: &MacroInstr, lengths: &[u64]) -> Result<u64, InlineError> {
    let own = instr.dst.len().max(1) as u64;
    match instr.imm.called() {
        None => Ok(own),
        Some((n, count)) => match lengths.get(n as usize) {
            Some(&length) => Ok(length.max(1).saturating_mul(count).saturating_add(own)),
            None => Err(ill_formed(instr)),
        },
    }
}

fn ill_formed(instr: &MacroInstr) -> InlineError {
    InlineError::IllFormed {
        at: At(instr.loc.clone()),
    }
}

const UNKNOWN: MacroValue = MacroValue(u32::MAX);

/// Instructions on the way: the program's own, or those of a procedure that is being called.
struct Frame<'a> {
    instrs: &'a [MacroInstr],
    types: &'a [MacroType],
    /// For each value here, the value written out.
    map: Vec<MacroValue>,
    /// The next instruction.
    at: usize,
    call: Option<Call<'a>>,
}

/// The call that a frame is of.
struct Call<'a> {
    proc: &'a MacroProc,
    by: &'a MacroInstr,
    /// Further times after this one.
    left: u64,
}

impl Frame<'_> {
    fn get(&self, value: MacroValue) -> Option<MacroValue> {
        self.map
            .get(value.0 as usize)
            .copied()
            .filter(|&v| v != UNKNOWN)
    }

    fn set(&mut self, value: MacroValue, new: MacroValue) -> Option<()> {
        *self.map.get_mut(value.0 as usize)? = new;
        Some(())
    }

    fn get_all(&self, values: &[MacroValue]) -> Option<Vec<MacroValue>> {
        values.iter().map(|&v| self.get(v)).collect()
    }

    fn set_all(&mut self, values: &[MacroValue], new: &[MacroValue]) -> Option<()> {
        values
            .iter()
            .zip(new)
            .try_for_each(|(&v, &new)| self.set(v, new))
    }
}

struct Writer<'a> {
    procs: &'a [MacroProc],
    out: MacroProgram,
    /// Outermost first; calls may nest as deeply as there are procedures, so the stack is not the machine's.
    frames: Vec<Frame<'a>>,
}

impl<'a> Writer<'a> {
    fn run(&mut self) -> Result<(), InlineError> {
        while let Some(frame) = self.frames.last_mut() {
            match frame.instrs.get(frame.at) {
                Some(instr) => {
                    frame.at += 1;
                    let done = match instr.imm.called() {
                        None => self.copy(instr),
                        Some((n, count)) => self.enter(instr, n, count),
                    };
                    done.ok_or_else(|| ill_formed(instr))?;
                }
                None => self.leave()?,
            }
        }
        Ok(())
    }

    fn copy(&mut self, instr: &MacroInstr) -> Option<()> {
        let frame = self.frames.last_mut()?;
        let src = frame.get_all(&instr.src)?;
        let mut dst = Vec::with_capacity(instr.dst.len());
        for &v in &instr.dst {
            let new = MacroValue(self.out.types.len() as u32);
            self.out.types.push(*frame.types.get(v.0 as usize)?);
            frame.set(v, new)?;
            dst.push(new);
        }
        self.out.instrs.push(MacroInstr {
            op: instr.op,
            dst,
            src,
            imm: instr.imm.clone(),
            loc: instr.loc.clone(),
        });
        Some(())
    }

    fn enter(&mut self, by: &'a MacroInstr, n: u32, count: u64) -> Option<()> {
        let proc = self.procs.get(n as usize)?;
        let arguments = self.frames.last()?.get_all(&by.src)?;
        let fits = arguments.len() == proc.params.len() && by.dst.len() == proc.results.len();
        let mut frame = Frame {
            instrs: &proc.instrs,
            types: &proc.types,
            map: vec![UNKNOWN; proc.types.len()],
            at: 0,
            call: Some(Call {
                proc,
                by,
                left: count.checked_sub(1)?,
            }),
        };
        frame.set_all(&proc.params, &arguments)?;
        self.frames.push(frame);
        fits.then_some(())
    }

    /// The end of the innermost frame: once more, or back with the results.
    fn leave(&mut self) -> Result<(), InlineError> {
        let Some(mut frame) = self.frames.pop() else {
            return Ok(());
        };
        let Some(call) = &mut frame.call else {
            return Ok(());
        };
        let (proc, by, left) = (call.proc, call.by, call.left);
        call.left = left.saturating_sub(1);
        let results = frame.get_all(&proc.results);
        let done = results.and_then(|results| {
            if left > 0 {
                frame.at = 0;
                frame.set_all(&proc.params, &results)?;
                self.frames.push(frame);
                Some(())
            } else {
                self.frames.last_mut()?.set_all(&by.dst, &results)
            }
        });
        done.ok_or_else(|| ill_formed(by))
    }
}
