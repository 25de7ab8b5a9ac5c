// SPDX-License-Identifier: Apache-2.0
//! Writes out calls and repeats: each procedure's instructions replace its calls, as often as it is called. The
//! evaluator in the clear takes a program without calls, and so do the later passes, unless a scheme keeps procedures
//! because the program bootstraps.
//!
//! The length of the result is known before any of it is built, so a short text cannot ask for much memory.

use std::borrow::Cow;

use ringmill_isa::limits::MAX_MACRO_VALUES;
use ringmill_isa::macros::{MacroInstr, MacroProc, MacroProgram, MacroType, MacroValue};
use ringmill_isa::source::SourceLoc;
use thiserror::Error;

use crate::line::At;

/// The most values of a program whose calls and repeats are written out. Arguments and results of each call count too,
/// and so does each instruction without results. The rest of [`MAX_MACRO_VALUES`] is room for the values that level
/// management adds.
pub const MAX_WRITTEN_OUT: u64 = MAX_MACRO_VALUES as u64 / 4;

/// The reason why a program's calls and repeats could not be written out.
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
    /// Returns the line of the instruction that the error is about, or `None` if the instruction has no line.
    pub fn loc(&self) -> Option<&SourceLoc> {
        match self {
            Self::TooLong { at, .. } | Self::IllFormed { at } => at.0.as_ref(),
        }
    }
}

/// Returns the program without calls and repeats, or the program itself if it has no procedures.
///
/// # Errors
/// [`InlineError::TooLong`] with the line of the instruction at which the program becomes too long, in most cases a
/// call or a repeat. [`InlineError::IllFormed`] for a program whose calls the verifier refuses.
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

/// Returns a bound on the number of values that the program has once calls and repeats are written out. Arguments and
/// results of each call count too, and so does each instruction without results. It is at most [`MAX_WRITTEN_OUT`].
///
/// # Errors
/// Fails like [`written_out`].
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
    // Find the innermost call or repeat that makes the program too long.
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
        // A procedure calls only procedures before it, so the loop ends.
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

/// Returns the number of values that an instruction adds. `lengths` has, for each procedure before the one that the
/// instruction is in, the number of values that a call of it adds.
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

/// The state of writing out one body: the program's own instructions, or those of a procedure that is being called.
struct Frame<'a> {
    instrs: &'a [MacroInstr],
    types: &'a [MacroType],
    /// For each value of the body, the value that stands for it in the program without calls.
    map: Vec<MacroValue>,
    /// The index of the next instruction of the body to write out.
    at: usize,
    call: Option<Call<'a>>,
}

/// The call or repeat that a frame writes out.
struct Call<'a> {
    proc: &'a MacroProc,
    by: &'a MacroInstr,
    /// The number of further iterations of the repeat after this one.
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
    /// The bodies that are being written out, the outermost first. Calls may nest as deeply as there are procedures, so
    /// this is no recursion.
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

    /// Ends the innermost body: begins the next iteration of its repeat, or passes its results to the caller.
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
