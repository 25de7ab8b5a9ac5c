// SPDX-License-Identifier: Apache-2.0
//! Follows the level of each value through a CKKS program: the pass that decides where bootstraps stand.

use std::collections::BTreeMap;
use std::rc::Rc;

use ringmill_isa::Level;
use ringmill_isa::macros::op::{MacroKeys, MacroSize};
use ringmill_isa::macros::{MacroProgram, MacroValue};
use ringmill_isa::source::SourceLoc;
use ringmill_limits::Watch;

use crate::ckks::depth::forward;
use crate::ckks::plan::Plan;
use crate::error::CompileError;
use crate::refresh::{self, Placement};
use crate::rewrite::is_cipher;

/// The levels between which the values of a program lie, and the watch that can stop the work.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The level at which values are bootstrapped.
    pub start: Level,
    /// The level of inputs and of bootstrapped values.
    pub end: Level,
    /// The lowest level at which outputs may end.
    pub output: Level,
    pub watch: &'a Watch,
}

/// The reason why a placement of bootstraps fails: the line of the first value for which no level
/// is left, and the number of levels that the value needs.
#[derive(Clone, Debug)]
pub struct Lost {
    pub loc: Option<SourceLoc>,
    pub needed: u32,
}

/// The depth of a value of the program, in rescales, and the instruction that made or bootstrapped
/// it last, as the pass that places bootstraps follows them.
#[derive(Clone, Copy)]
struct Known {
    /// The number of rescales from the level of bootstrapped values to this value, its own included.
    depth: u32,
    product: bool,
    /// The number of the instruction before which the value was bootstrapped last, or of the one after that which made
    /// it.
    since: usize,
}

/// The state of the pass that places bootstraps in a CKKS program, before one instruction of the
/// program.
#[derive(Clone)]
pub struct Course<'a> {
    setting: &'a Setting<'a>,
    plan: Rc<Plan>,
    placement: Rc<Placement>,
    known: BTreeMap<MacroValue, Known>,
    cost: f64,
    refreshed: Vec<(MacroValue, usize)>,
    lost: Option<Lost>,
}

/// The cost of a bootstrap for each ciphertext prime of its result. The unit is a key switch of a
/// ciphertext with one prime. So a bootstrap costs as much as about 250 key switches of its result.
const BOOTSTRAP: f64 = 250.0;

impl<'a> Course<'a> {
    pub fn new(setting: &'a Setting<'a>) -> Self {
        Self {
            setting,
            plan: Rc::new(Plan::products()),
            placement: Rc::new(Placement::default()),
            known: BTreeMap::new(),
            cost: 0.0,
            refreshed: Vec::new(),
            lost: None,
        }
    }

    /// Returns whether a bootstrap gives a value more levels.
    fn gains(known: &Known) -> bool {
        known.depth > 0
    }

    /// Returns whether a value is at a level at which it can be bootstrapped.
    fn can_be_refreshed(&self, known: &Known) -> bool {
        self.setting.start.above(known.depth) <= self.setting.end
    }

    /// Processes an instruction. Returns the operands that are bootstrapped before it.
    ///
    /// # Errors
    /// Fails for an operation that is not of CKKS, and for a stop of the work.
    pub fn next(
        &mut self,
        program: &MacroProgram,
        number: usize,
    ) -> Result<Vec<MacroValue>, CompileError> {
        self.setting.watch.check()?;
        let mut refreshed = Vec::new();
        let Some(instr) = program.instrs.get(number) else {
            return Ok(refreshed);
        };
        for &v in &instr.src {
            let Some(&known) = self.known.get(&v) else {
                continue;
            };
            let cut = self.placement.cut_before(number);
            let cut = cut.filter(|&cut| cut >= known.since && Self::gains(&known));
            let Some(cut) = cut.filter(|&cut| !self.placement.is_kept(v, cut)) else {
                continue;
            };
            if !self.can_be_refreshed(&known) {
                self.lose(instr.loc.clone(), known.depth + self.setting.start.0);
                return Ok(refreshed);
            }
            self.cost += refresh::Course::of_refresh(self);
            self.refreshed.push((v, cut));
            refreshed.push(v);
            let fresh = Known {
                depth: 0,
                product: false,
                since: number,
            };
            self.known.insert(v, fresh);
        }
        let at = |v: MacroValue| {
            self.known
                .get(&v)
                .map_or((0, false), |k| (k.depth, k.product))
        };
        let (depth, product) = forward(number, instr, program, &self.plan, at)?;
        let needed = depth + self.setting.output.0;
        if needed > self.setting.end.0 {
            self.lose(instr.loc.clone(), needed);
        }
        // A rescale comes with a product, and its result has a prime less than it was computed with.
        let level = Level(self.setting.end.0.saturating_sub(depth));
        let primes = level.primes() as f64 + 1.0;
        let cipher = |v: &MacroValue| is_cipher(&program.types, *v);
        let relinearises =
            instr.op.columns().size == MacroSize::Product && instr.src.iter().all(cipher);
        self.cost += primes
            * match instr.op.columns().keys {
                MacroKeys::None if relinearises => 1.0,
                MacroKeys::None => 0.05,
                MacroKeys::Relin | MacroKeys::Switch => 1.0,
                MacroKeys::Galois => instr.dst.len() as f64,
                MacroKeys::Refresh | MacroKeys::Linked | MacroKeys::Unknown => 0.0,
            };
        for &d in &instr.dst {
            if is_cipher(&program.types, d) {
                let known = Known {
                    depth,
                    product,
                    since: number + 1,
                };
                self.known.insert(d, known);
            }
        }
        Ok(refreshed)
    }

    fn lose(&mut self, loc: Option<SourceLoc>, needed: u32) {
        self.lost.get_or_insert(Lost { loc, needed });
    }
}

impl refresh::Course for Course<'_> {
    type Lost = Lost;
    type Error = CompileError;

    fn refresh_by(&mut self, placement: Rc<Placement>) {
        self.placement = placement;
    }

    fn go_on(&mut self, program: &MacroProgram, number: usize) -> Result<(), CompileError> {
        self.next(program, number).map(drop)
    }

    fn cost(&self) -> f64 {
        self.cost
    }

    fn of_refresh(&self) -> f64 {
        BOOTSTRAP * self.setting.end.primes() as f64
    }

    fn lost(&self) -> Option<&Lost> {
        self.lost.as_ref()
    }

    fn refreshed(&self) -> &[(MacroValue, usize)] {
        &self.refreshed
    }

    fn stale(&self) -> usize {
        self.known
            .values()
            .filter(|known| Self::gains(known))
            .count()
    }

    fn survives(&self) -> Result<bool, CompileError> {
        let mut gaining = self.known.values().filter(|known| Self::gains(known));
        Ok(gaining.all(|known| self.can_be_refreshed(known)))
    }

    fn forget(&mut self, old: MacroValue) {
        self.known.remove(&old);
    }

    fn lean(&self) -> Self {
        Self {
            refreshed: Vec::new(),
            ..self.clone()
        }
    }
}
