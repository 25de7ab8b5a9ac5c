// SPDX-License-Identifier: Apache-2.0
//! Manages levels of programs of any depth. Values are bootstrapped at the cuts of a placement, which are places in the
//! program. Arguments and results of a procedure are at one level, so that a procedure whose values have levels serves
//! all calls at this level.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue};
use ringmill_schemes::bgv::bootstrap::Procedure;
use ringmill_schemes::bgv::{ExactParams, Factor, Noise, NoiseModel, Params};

use super::super::CompileError;
use super::super::cost::Costs;
use super::descend::Descent;
use super::{Known, Manager, Misfit, Placed, misshapen};
use crate::refresh::{Course, Placement};

/// The level and noise of the ciphertexts that a procedure takes and returns, all under the correction factor 1.
#[derive(Clone, Copy, Debug)]
pub struct Convention {
    pub level: Level,
    noise: Noise,
}

impl Convention {
    /// Makes the convention for a procedure with arguments and results at `level`: their level and noise. The noise is
    /// that of a value that was just divided and brought under the correction factor 1, plus that of a fresh
    /// encryption.
    pub fn new(params: &Params, model: &NoiseModel, level: Level) -> Self {
        let t = params.plain_modulus().value();
        let noise = model.mul_integer(model.floor(), t);
        let noise = model.add(noise, model.fresh());
        Self { level, noise }
    }

    pub(super) fn given(self, value: MacroValue) -> Placed {
        Placed {
            value,
            size: 2,
            level: self.level,
            factor: Factor::ONE,
            noise: self.noise,
        }
    }
}

/// A procedure whose values have levels already: the level and noise of its arguments and results
/// (`convention`), and the cost of a call.
#[derive(Clone, Copy, Debug)]
pub struct Callee {
    pub convention: Convention,
    /// The cost of one call, in transforms of a limb.
    pub cost: f64,
}

/// The way in which the values of a body, the program's or a procedure's, are bootstrapped.
#[derive(Clone, Copy)]
pub struct Deep<'a> {
    pub procedure: &'a Procedure,
    pub costs: &'a Costs,
    /// The level and noise of the body's own arguments and results, if it is a procedure's.
    pub convention: Option<Convention>,
    /// For each procedure that comes before the body in the program, the level and noise of its arguments and results,
    /// and the cost of a call.
    pub callees: &'a [Callee],
}

/// The least room that a bootstrap must give a value to be worth its cost. Room is counted in bits between the value's
/// noise and the bound of the value's level.
const WORTH: f64 = 1.0;

impl<'a> Manager<'a> {
    /// Returns the lowest level to which a value may go for a product or a rotation: the level at which bootstraps take
    /// their operands, or the lowest of all without bootstraps.
    pub(super) fn floor(&self) -> Level {
        match self.frame.deep {
            Some(deep) => deep.procedure.start(),
            None => Level::LOWEST,
        }
    }

    /// Returns a ciphertext operand, after a bootstrap if the placement of bootstraps demands it at this instruction.
    /// Returns `None` for a plaintext and for a missing operand.
    pub(super) fn operand(
        &mut self,
        instr: &MacroInstr,
        number: usize,
    ) -> Result<Option<Placed>, CompileError> {
        let Some(&old) = instr.src.get(number) else {
            return Ok(None);
        };
        let Some(&known) = self.known.get(&old) else {
            return Ok(None);
        };
        let wanted = self.frame.deep.and_then(|deep| {
            let cut = self.wanted(deep, old, known)?;
            Some((deep, cut))
        });
        let Some((deep, cut)) = wanted else {
            return Ok(Some(known.placed));
        };
        let fresh = self.bootstrapped(deep, known.placed, instr)?;
        self.know(old, fresh);
        self.refreshed.push((old, cut));
        Ok(Some(fresh))
    }

    /// Returns the cut (place in the program where live values are bootstrapped) that demands a bootstrap of a value
    /// that is read now. Returns `None` if no cut does.
    fn wanted(&self, deep: Deep<'_>, old: MacroValue, known: Known) -> Option<usize> {
        let cut = self.placement.cut_before(self.at)?;
        let stale = known.since < cut && !self.placement.is_kept(old, cut);
        (stale && self.gains(deep, known.placed)).then_some(cut)
    }

    /// Returns whether a bootstrap gives a value enough room to be worth its cost. Room is counted in bits between the
    /// noise and the bound of the level.
    fn gains(&self, deep: Deep<'_>, placed: Placed) -> bool {
        let (level, noise) = deep.procedure.end();
        let fresh = self.model.room(noise, level);
        self.model.room(placed.noise, placed.level) < fresh - WORTH
    }

    /// Returns the known values to which a bootstrap gives enough room to be worth its cost.
    fn gaining(&self) -> impl Iterator<Item = (Deep<'a>, Placed)> {
        let deep = self.frame.deep.into_iter();
        deep.flat_map(move |deep| {
            let known = self.known.values().map(|known| known.placed);
            let gaining = known.filter(move |&placed| self.gains(deep, placed));
            gaining.map(move |placed| (deep, placed))
        })
    }

    /// Returns whether a value's message survives its bootstrap.
    fn is_kept_by(&self, deep: Deep<'_>, placed: Placed) -> Result<bool, CompileError> {
        let placed = self.of_two(placed);
        let start = deep.procedure.start();
        let mut descent = Descent::new(self, placed);
        let divisions = self.divisions(deep, &mut descent)?;
        let noise = descent.at(self, divisions).0;
        let kept = self.model.room(placed.noise, placed.level) >= 0.0;
        let fits = noise.log2() <= deep.procedure.noise().log2();
        Ok(kept && placed.level >= start && fits)
    }

    /// Returns the number of divisions by primes after which a value's noise is below the bound for
    /// a bootstrap's operand. If no number suffices, it returns all divisions down to the level at
    /// which a bootstrap takes its operand.
    fn divisions(&self, deep: Deep<'_>, descent: &mut Descent) -> Result<usize, CompileError> {
        let start = deep.procedure.start();
        let (most, bound) = (descent.steps(start), deep.procedure.noise().log2());
        let mut divisions = descent.divisions(start);
        while divisions < most && descent.at(self, divisions).0.log2() > bound {
            divisions += 1;
        }
        Ok(divisions)
    }

    /// Returns the value as it is after relinearisation, if it has three polynomials. A value of
    /// two polynomials stays as it is.
    fn of_two(&self, placed: Placed) -> Placed {
        match placed.size {
            2 => placed,
            _ => Placed {
                size: 2,
                noise: self.model.switch_key(placed.noise, placed.level),
                ..placed
            },
        }
    }

    fn relinearised(&mut self, placed: Placed, instr: &MacroInstr) -> Result<Placed, CompileError> {
        let like = self.of_two(placed);
        if placed.size == 2 {
            return Ok(placed);
        }
        self.charge(MacroOp::Relin, like, 1, false)?;
        let (src, types) = (vec![placed.value], [like.ty()]);
        let made = self.emit(MacroOp::Relin, src, MacroImm::None, &types, instr);
        self.check(like, instr);
        let value = made.first().copied().unwrap_or(placed.value);
        Ok(Placed { value, ..like })
    }

    fn bootstrapped(
        &mut self,
        deep: Deep<'_>,
        placed: Placed,
        instr: &MacroInstr,
    ) -> Result<Placed, CompileError> {
        let (procedure, start) = (deep.procedure, deep.procedure.start());
        let placed = self.relinearised(placed, instr)?;
        let mut descent = Descent::new(self, placed);
        let divisions = self.divisions(deep, &mut descent)?;
        let bound = procedure.noise().log2();
        let below = self.bring(placed, start.min(placed.level), divisions, instr)?;
        if below.level < start {
            self.lacks(1.0 + f64::from(start.0 - below.level.0), instr);
        }
        if below.noise.log2() > bound {
            self.lacks(below.noise.log2() - bound, instr);
        }
        let (level, noise) = procedure.end();
        let fresh = Placed {
            level,
            noise,
            factor: procedure.factor(below.factor),
            ..below
        };
        self.cost += deep.costs.bootstrap();
        let imm = MacroImm::Level(level);
        let types = [fresh.ty()];
        let made = self.emit(MacroOp::Bootstrap, vec![below.value], imm, &types, instr);
        let value = made.first().copied().unwrap_or(below.value);
        Ok(Placed { value, ..fresh })
    }

    /// Returns the value at the level of a procedure's arguments and results, under the correction
    /// factor 1 that they have.
    pub(super) fn arrived(
        &mut self,
        Convention { level, noise }: Convention,
        a: Placed,
        instr: &MacroInstr,
    ) -> Result<Placed, CompileError> {
        let fits = |a: Placed| a.noise.log2() <= noise.log2();
        let mut here = a;
        if a.level < level {
            self.lacks(1.0 + f64::from(level.0 - a.level.0), instr);
        } else if a.level == level || a.factor == Factor::ONE && fits(a) {
            here = self.under_one(a, Factor::ONE, instr)?;
            here = self.bring(here, level, 0, instr)?;
        } else {
            // The last division makes up for what the factor costs.
            let above = level.above(1);
            let mut descent = Descent::new(self, a);
            let mut divisions = descent.divisions(above);
            while divisions < descent.steps(above)
                && descent.at(self, divisions).0.log2() > noise.log2()
            {
                divisions += 1;
            }
            here = self.bring(a, above, divisions, instr)?;
            let prime = self.frame.params.moduli().get(above.index()).copied();
            let prime = self.t.reduce(prime.unwrap_or(1));
            let wanted = Factor::unchecked(prime);
            here = self.under_one(here, wanted, instr)?;
            here = self.bring(here, level, 1, instr)?;
        }
        if !fits(here) {
            self.lacks(here.noise.log2() - noise.log2(), instr);
        }
        Ok(Placed {
            level,
            noise,
            factor: Factor::ONE,
            ..here
        })
    }

    /// Returns the value multiplied by the integer that brings it under the correction factor
    /// `factor`.
    fn under_one(
        &mut self,
        a: Placed,
        factor: Factor,
        instr: &MacroInstr,
    ) -> Result<Placed, CompileError> {
        let by = self.t.mul(factor.value(), a.factor.inverse(self.t)?);
        let by = self.frame.params.plain_modulus().centred(by);
        self.refactored(a, by, factor, instr)
    }

    /// Writes a call: brings the arguments to the level and noise that the procedure takes, and
    /// records the results with the level and noise that it returns.
    pub(super) fn call(&mut self, instr: &MacroInstr) -> Result<(), CompileError> {
        let deep = self.frame.deep.ok_or_else(|| misshapen(instr))?;
        let (proc, times) = match instr.imm {
            MacroImm::Proc(proc) => (proc, 1),
            MacroImm::Repeat { proc, count } => (proc, count),
            _ => return Err(misshapen(instr)),
        };
        let callee = deep.callees.get(proc as usize).copied();
        let Callee { convention, cost } = callee.ok_or_else(|| misshapen(instr))?;
        let mut src = Vec::with_capacity(instr.src.len());
        for number in 0..instr.src.len() {
            let a = self.operand(instr, number)?;
            let a = self.arrived(convention, a.ok_or_else(|| misshapen(instr))?, instr)?;
            src.push(a.value);
        }
        self.cost += cost * times as f64;
        let like = convention.given(MacroValue(0));
        self.result(instr, src, instr.imm.clone(), like)
    }
}

impl Course for Manager<'_> {
    type Lost = Misfit;
    type Error = CompileError;

    fn refresh_by(&mut self, placement: Rc<Placement>) {
        self.placement = placement;
    }

    fn go_on(&mut self, program: &MacroProgram, number: usize) -> Result<(), CompileError> {
        self.next(program, number)
    }

    fn cost(&self) -> f64 {
        self.cost
    }

    fn of_refresh(&self) -> f64 {
        self.frame.deep.map_or(0.0, |deep| deep.costs.bootstrap())
    }

    fn lost(&self) -> Option<&Misfit> {
        self.misfit.as_ref()
    }

    fn refreshed(&self) -> &[(MacroValue, usize)] {
        &self.refreshed
    }

    fn stale(&self) -> usize {
        self.gaining().count()
    }

    fn survives(&self) -> Result<bool, CompileError> {
        for (deep, placed) in self.gaining() {
            if !self.is_kept_by(deep, placed)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn forget(&mut self, old: MacroValue) {
        self.known.remove(&old);
    }

    /// Returns a copy of the manager for a trial. The copy writes no instructions and lacks the
    /// values that were derived from values that no later instruction reads.
    fn lean(&self) -> Self {
        let known = self.known.values().map(|known| known.placed.value);
        let mut left: BTreeSet<MacroValue> = known.collect();
        let mut derived = BTreeMap::new();
        // A value that is derived from another has a higher number.
        for (&(from, how), &placed) in &self.derived {
            if left.contains(&from) {
                left.insert(placed.value);
                derived.insert((from, how), placed);
            }
        }
        Self {
            out: None,
            made: self.made,
            cost: self.cost,
            at: self.at,
            refreshed: Vec::new(),
            placement: Rc::clone(&self.placement),
            frame: self.frame,
            model: self.model.clone(),
            t: self.t,
            divisions: Rc::clone(&self.divisions),
            known: self.known.clone(),
            derived,
            plains: HashMap::new(),
            plain_source: HashMap::new(),
            outputs: Vec::new(),
            misfit: None,
        }
    }
}
