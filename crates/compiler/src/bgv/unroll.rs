// SPDX-License-Identifier: Apache-2.0
//! Unrolls repeats, as far as a bootstrap reaches. A procedure takes and gives its values at one level, so each
//! iteration (turn) of a repeat bootstraps the carried values that lose levels in it. A procedure of several iterations
//! bootstraps once if the levels suffice for all of them.

use std::collections::HashMap;

use ringmill_isa::macros::{
    MacroImm, MacroInstr, MacroOp, MacroProc, MacroProgram, MacroType, MacroValue,
};

use super::CompileError;
use super::deep::Setting;
use crate::{bodies, inline};

/// The most instructions that a repeated procedure may have to be unrolled.
const MOST_INSTRS: usize = 64;
/// The most instructions of a new procedure that runs several iterations.
const MOST_UNROLLED: u64 = 512;
/// A number of iterations in one call is chosen only if the repeat then costs less than this fraction of its cost with
/// the best number so far.
const GAIN: f64 = 0.98;
/// The search for a number of iterations in one call ends when an iteration costs more than this many times its least
/// cost so far.
const MUCH_DEARER: f64 = 1.5;

/// Returns the program with cheaper repeats. If the repeated procedure is small and calls no other procedure, one call
/// runs the number of iterations that makes the repeat cheapest.
///
/// # Errors
/// Fails if the work is stopped, and for an instruction of a small repeated procedure that BGV's level management does
/// not take.
pub(super) fn run(
    program: &MacroProgram,
    setting: &Setting<'_>,
) -> Result<MacroProgram, CompileError> {
    let mut unroller = Unroller {
        program,
        setting,
        procs: Vec::new(),
        numbers: Vec::new(),
        costs: HashMap::new(),
        unrolled: HashMap::new(),
    };
    for proc in &program.procs {
        let mut types = proc.types.clone();
        let instrs = unroller.instrs(&proc.instrs, &mut types)?;
        unroller.numbers.push(unroller.procs.len() as u32);
        unroller.procs.push(MacroProc {
            instrs,
            types,
            ..proc.clone()
        });
    }
    let mut types = program.types.clone();
    let instrs = unroller.instrs(&program.instrs, &mut types)?;
    Ok(MacroProgram {
        procs: unroller.procs,
        instrs,
        types,
        ..program.clone()
    })
}

struct Unroller<'a> {
    program: &'a MacroProgram,
    setting: &'a Setting<'a>,
    /// The procedures of the program with unrolled repeats.
    procs: Vec<MacroProc>,
    /// For each old procedure, its number in `procs`.
    numbers: Vec<u32>,
    /// For each old procedure, the numbers of iterations in one call that were tried, each with the cost of the call.
    costs: HashMap<u32, Vec<(u64, f64)>>,
    /// The new number of the procedure that runs several iterations of an old one, by the old procedure's number and
    /// the number of iterations.
    unrolled: HashMap<(u32, u64), u32>,
}

impl Unroller<'_> {
    fn instrs(
        &mut self,
        instrs: &[MacroInstr],
        types: &mut Vec<MacroType>,
    ) -> Result<Vec<MacroInstr>, CompileError> {
        let mut out = Vec::with_capacity(instrs.len());
        for instr in instrs {
            match (instr.op, instr.imm.called()) {
                (MacroOp::Repeat, Some((proc, count))) => {
                    self.repeat(instr, proc, count, types, &mut out)?;
                }
                (_, Some((proc, _))) => out.push(MacroInstr {
                    imm: MacroImm::Proc(self.number(proc)),
                    ..instr.clone()
                }),
                (_, None) => out.push(instr.clone()),
            }
        }
        Ok(out)
    }

    fn number(&self, proc: u32) -> u32 {
        self.numbers.get(proc as usize).copied().unwrap_or(proc)
    }

    /// Emits a repeat as one of calls that run several iterations each, and one of the iterations that are left, if any
    /// are.
    fn repeat(
        &mut self,
        instr: &MacroInstr,
        proc: u32,
        count: u64,
        types: &mut Vec<MacroType>,
        out: &mut Vec<MacroInstr>,
    ) -> Result<(), CompileError> {
        let turns = self.turns(proc, count)?;
        let left = count % turns;
        // The iterations that are left are one call too, if a call of that number was tried.
        let tried = |&(tried, _): &(u64, f64)| tried == left;
        let at_once = self
            .costs
            .get(&proc)
            .is_some_and(|costs| costs.iter().any(tried));
        let (last, calls) = match at_once {
            true => (left, 1),
            false => (1, left),
        };
        let parts = [(turns, count / turns), (last, calls)];
        let parts = parts.into_iter().filter(|&(_, calls)| calls > 0);
        let parts = parts.map(|(turns, calls)| Ok((self.several(proc, turns)?, calls)));
        let parts: Vec<(u32, u64)> = parts.collect::<Result<_, CompileError>>()?;
        let mut src = instr.src.clone();
        for (number, &(proc, count)) in parts.iter().enumerate() {
            let dst = match number + 1 == parts.len() {
                true => instr.dst.clone(),
                false => {
                    let first = types.len() as u32;
                    let carried = instr.dst.iter().map(|v| types.get(v.0 as usize).copied());
                    let carried: Vec<_> = carried.flatten().collect();
                    let made = carried.len() as u32;
                    types.extend(carried);
                    (first..first + made).map(MacroValue).collect()
                }
            };
            out.push(MacroInstr {
                op: MacroOp::Repeat,
                dst: dst.clone(),
                src: src.clone(),
                imm: MacroImm::Repeat { proc, count },
                loc: instr.loc.clone(),
            });
            for (slot, value) in src.iter_mut().zip(dst) {
                *slot = value;
            }
        }
        Ok(())
    }

    /// Returns the number of iterations of a repeated procedure, run by one call, that makes the
    /// repeat cheapest.
    fn turns(&mut self, proc: u32, count: u64) -> Result<u64, CompileError> {
        let costs = match self.costs.get(&proc) {
            Some(costs) => costs,
            None => {
                let costs = self.found(proc, count)?;
                self.costs.entry(proc).or_insert(costs)
            }
        };
        let Some(&(_, alone)) = costs.first() else {
            return Ok(1);
        };
        let mut best = (1, alone * count as f64);
        for &(turns, cost) in costs {
            let left = count % turns;
            let last = costs.iter().find(|&&(tried, _)| tried == left);
            let last = last.map_or(left as f64 * alone, |&(_, cost)| cost);
            let total = (count / turns) as f64 * cost + last;
            if turns <= count && total < GAIN * best.1 {
                best = (turns, total);
            }
        }
        Ok(best.0)
    }

    /// Returns the numbers of iterations that were tried, each with the cost of a call that runs them: 1 to 8, 10, 12,
    /// 14, 16, 20 and so on. The list ends when an iteration becomes much dearer, the new procedure is too long or fits
    /// at no level, or the number is larger than `count`. It is empty for a procedure that is too long, calls others or
    /// has no results.
    fn found(&self, proc: u32, count: u64) -> Result<Vec<(u64, f64)>, CompileError> {
        let mut costs = Vec::new();
        let Some(of) = self.program.procs.get(proc as usize) else {
            return Ok(costs);
        };
        let calls = of.instrs.iter().any(|instr| instr.imm.called().is_some());
        if calls || of.instrs.len() > MOST_INSTRS || of.results.is_empty() {
            return Ok(costs);
        }
        let numbers = (1..16).flat_map(|log2| (5..=8).map(move |quarters| quarters << log2));
        let fits = |turns: &u64| *turns <= count && of.instrs.len() as u64 * turns <= MOST_UNROLLED;
        for turns in (1..=8).chain(numbers).take_while(fits) {
            let body = written_out(of, turns, self.program)?;
            let Ok(table) = self.setting.procedure(&body, &[])? else {
                break;
            };
            let least = table.iter().map(|variant| variant.callee.cost);
            let least = least.fold(f64::INFINITY, f64::min);
            let a_turn = |&(turns, cost): &(u64, f64)| cost / turns as f64;
            let best = costs.iter().map(a_turn).fold(f64::INFINITY, f64::min);
            if a_turn(&(turns, least)) > MUCH_DEARER * best {
                break;
            }
            costs.push((turns, least));
        }
        Ok(costs)
    }

    /// Returns the number, in the program with unrolled repeats, of the procedure that runs
    /// `turns` iterations of the old procedure `proc`.
    fn several(&mut self, proc: u32, turns: u64) -> Result<u32, CompileError> {
        if turns <= 1 {
            return Ok(self.number(proc));
        }
        if let Some(&known) = self.unrolled.get(&(proc, turns)) {
            return Ok(known);
        }
        let number = self.procs.len() as u32;
        if let Some(of) = self.program.procs.get(proc as usize) {
            let name = format!("{}, {turns} turns", of.name);
            let body = written_out(of, turns, self.program)?;
            self.procs.push(MacroProc {
                name,
                ..bodies::closed(body, of)
            });
            self.unrolled.insert((proc, turns), number);
        }
        Ok(number)
    }
}

/// Returns `turns` iterations of a procedure that calls no other, written out as a program whose inputs are the
/// procedure's parameters.
fn written_out(
    proc: &MacroProc,
    turns: u64,
    of: &MacroProgram,
) -> Result<MacroProgram, CompileError> {
    let first = proc.types.len() as u32;
    let results: Vec<MacroValue> = (first..).map(MacroValue).take(proc.results.len()).collect();
    let made = proc.results.iter();
    let made = made.filter_map(|v| proc.types.get(v.0 as usize).copied());
    let caller = MacroProc {
        types: proc.types.iter().copied().chain(made).collect(),
        instrs: vec![MacroInstr {
            op: MacroOp::Repeat,
            dst: results.clone(),
            src: proc.params.clone(),
            imm: MacroImm::Repeat {
                proc: 0,
                count: turns,
            },
            loc: proc.loc.clone(),
        }],
        results,
        ..proc.clone()
    };
    let mut program = bodies::opened(&caller, &of.scheme, of.slots);
    program.procs.push(proc.clone());
    Ok(inline::written_out(&program)?.into_owned())
}
