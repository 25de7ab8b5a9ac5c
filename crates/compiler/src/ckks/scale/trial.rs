// SPDX-License-Identifier: Apache-2.0
//! Finds by trial which products with constants of a program are computed, and which only change
//! scales. Each trial gives the program levels and scales, and adds the decisions that were
//! missing.

use std::collections::{HashMap, HashSet};

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroInstr, MacroProgram, MacroValue};

use super::manage;
use crate::ckks::canonical::CanonicalScales;
use crate::ckks::depth::{Depths, Kind, kind};
use crate::ckks::label::{Label, Labels};
use crate::ckks::plan::{Conflict, MOST_LOG2, Plan};
use crate::error::CompileError;

/// The most trials in the search for a plan. In a program that needs more, every product with a
/// constant is computed.
const MOST_TRIALS: usize = 64;

/// The results of one pass of level management about labels, the factors between values and the numbers that their
/// ciphertexts encode.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The ratio of each level, if it is chosen. A rescale at the level multiplies the label of a product, the factor
    /// by which its scale is divided, by this ratio.
    ratios: Vec<Option<Label>>,
    /// Whether the ratio of every level is one, so that rescales leave labels, the factors by which
    /// scales are divided, as they are.
    flat: bool,
    conflicts: Vec<Conflict>,
    /// For each value, the number of the instruction that last multiplied the value's label (factor by which its scale
    /// is divided) by a constant.
    causes: HashMap<MacroValue, usize>,
    /// The values that may have any label (factor by which the scale is divided), since a constant or plaintext in them
    /// is encoded at whatever scale gives that label.
    free: HashSet<MacroValue>,
    /// Whether a label, the factor by which a scale is divided, is out of range, and no product
    /// with a constant is its cause.
    stuck: bool,
}

impl Findings {
    /// Returns the empty findings of a pass that chooses the ratios of levels up to `levels`, by which rescales
    /// multiply labels, the factors by which scales are divided.
    fn choosing(levels: u32, flat: bool) -> Self {
        Self {
            ratios: vec![None; levels as usize + 1],
            flat,
            ..Self::default()
        }
    }

    /// Returns the empty findings of a pass in which the ratios of levels, by which rescales multiply labels (factors
    /// by which scales are divided), are known.
    fn with(ratios: &[Label]) -> Self {
        Self {
            ratios: ratios.iter().copied().map(Some).collect(),
            ..Self::default()
        }
    }

    fn chosen(&self) -> Vec<Label> {
        let chosen = self.ratios.iter();
        chosen.map(|ratio| ratio.unwrap_or(Label::ONE)).collect()
    }

    /// Returns the ratio of a level, by which a rescale multiplies a label (factor by which the scale is divided), or
    /// `None` if it is not chosen yet.
    pub fn ratio(&self, level: Level) -> Option<Label> {
        self.ratios.get(level.index()).copied().flatten()
    }

    /// Chooses the ratio of a level, by which a rescale multiplies a label (factor by which the
    /// scale is divided). A product with the label `product` then has the label one after its
    /// rescale, unless all ratios are fixed to one or the ratio would be too far from one.
    pub fn choose_ratio(&mut self, level: Level, product: Label, labels: &mut Labels) -> Label {
        let inverse = labels.times(Label::ONE, product, -1);
        let inverse = inverse.filter(|&label| labels.log2(label).abs() <= MOST_LOG2);
        let ratio = match self.flat {
            true => Label::ONE,
            false => inverse.unwrap_or(Label::ONE),
        };
        if let Some(slot) = self.ratios.get_mut(level.index()) {
            *slot = Some(ratio);
        }
        ratio
    }

    /// Returns whether a value may have any label (factor by which the scale is divided), since a constant or plaintext
    /// in it is encoded at whatever scale gives that label.
    pub fn may_take_any_label(&self, value: MacroValue) -> bool {
        self.free.contains(&value)
    }

    /// Records that an instruction's results may have any label (factor by which the scale is divided), since a
    /// constant or plaintext in them is encoded at whatever scale gives that label.
    pub fn takes_any_label(&mut self, instr: &MacroInstr) {
        self.free.extend(&instr.dst);
    }

    /// Records that the last constant in the label (factor by which the scale is divided) of the
    /// operand `from` is also the last one in the labels of an instruction's results. The labels
    /// may still differ.
    pub fn from(&mut self, instr: &MacroInstr, from: MacroValue) {
        if let Some(&cause) = self.causes.get(&from) {
            self.causes.extend(instr.dst.iter().map(|&d| (d, cause)));
        }
    }

    /// Records that an instruction's results have the label (factor by which the scale is divided)
    /// of the operand `of`.
    pub fn keeps(&mut self, instr: &MacroInstr, of: MacroValue) {
        self.from(instr, of);
        if self.free.contains(&of) {
            self.takes_any_label(instr);
        }
    }

    /// Records that both operands of a sum and its result have one label, the factor by which the
    /// scale is divided.
    pub fn keeps_both(&mut self, instr: &MacroInstr) {
        for &operand in &instr.src {
            self.from(instr, operand);
        }
        if instr.src.iter().all(|v| self.free.contains(v)) {
            self.takes_any_label(instr);
        }
    }

    /// Records that instruction number `number` multiplies the label (factor by which the scale is
    /// divided) of its result by a constant.
    pub fn multiplied(&mut self, instr: &MacroInstr, number: usize) {
        self.causes.extend(instr.dst.iter().map(|&d| (d, number)));
    }

    /// Records that a label, the factor by which a scale is divided, is too large or too small: that of one of these
    /// values, or that of a result with these operands.
    pub fn out_of_range(&mut self, values: &[MacroValue]) {
        match values.iter().find_map(|v| self.causes.get(v)) {
            Some(&cause) => self.found(Conflict::Constant(cause)),
            None => self.stuck = true,
        }
    }

    pub fn found(&mut self, conflict: Conflict) {
        self.conflicts.push(conflict);
    }
}

/// A plan for the constants of a program, with the depths of its values and the ratios of its levels, by which rescales
/// multiply labels (factors by which scales are divided).
#[derive(Debug)]
pub(crate) struct Planned {
    plan: Plan,
    depths: Depths,
    labels: Labels,
    /// For each value, the label that it gets where any label is possible. The list is empty if this is the label 1 for
    /// all values.
    wanted: Vec<Label>,
    /// The ratio of each level, up to the highest, by which a rescale multiplies a label (factor by
    /// which the scale is divided).
    ratios: Vec<Label>,
}

impl Planned {
    /// Returns the plan in which every product with a constant is computed, and none only changes
    /// its result's scale.
    ///
    /// # Errors
    /// Fails for an operation that is not of CKKS.
    pub fn products(program: &MacroProgram, output_level: Level) -> Result<Self, CompileError> {
        let plan = Plan::products();
        Ok(Self {
            depths: Depths::new(program, output_level, &plan)?,
            plan,
            labels: Labels::new(),
            wanted: Vec::new(),
            ratios: Vec::new(),
        })
    }

    /// Returns the plan in which every product with a constant is computed, and none only changes
    /// its result's scale, for a program with `BOOTSTRAP`s of values at the level `start`.
    ///
    /// # Errors
    /// Fails for an operation that is not of CKKS.
    pub fn bootstrapping(
        program: &MacroProgram,
        output_level: Level,
        start: Level,
    ) -> Result<Self, CompileError> {
        let plan = Plan::products().bootstrapping_at(start);
        Ok(Self {
            depths: Depths::new(program, output_level, &plan)?,
            plan,
            labels: Labels::new(),
            wanted: Vec::new(),
            ratios: Vec::new(),
        })
    }

    /// Returns the plan with ciphertexts that hold `2^-exponent` times their values, with one exponent for each value.
    /// Such a power of two is the value's label, the factor by which its scale is divided.
    pub fn balanced(mut self, exponents: &[i64]) -> Self {
        let two = self.labels.constant(2.0);
        let labels = &mut self.labels;
        let label = |&exponent: &i64| {
            labels
                .times(Label::ONE, two, exponent)
                .unwrap_or(Label::ONE)
        };
        self.wanted = exponents.iter().map(label).collect();
        self
    }

    /// Returns a plan for a program's products with constants, for primes that can be chosen. It is the plan that the
    /// trials find, which changes scales alone for constants, if that takes fewer levels than to compute all products.
    ///
    /// # Errors
    /// Fails for an operation that is not of CKKS.
    pub fn free(program: &MacroProgram, output_level: Level) -> Result<Self, CompileError> {
        Self::fewest(program, output_level, None)
    }

    /// Returns a plan for a program's products with constants as [`Self::free`] does, for given ciphertext primes.
    ///
    /// # Errors
    /// Fails for an operation that is not of CKKS.
    pub fn given(
        program: &MacroProgram,
        output_level: Level,
        primes: &[u64],
        default_scale: f64,
    ) -> Result<Self, CompileError> {
        Self::fewest(program, output_level, Some((primes, default_scale)))
    }

    fn fewest(
        program: &MacroProgram,
        output_level: Level,
        given: Option<(&[u64], f64)>,
    ) -> Result<Self, CompileError> {
        let products = Self::products(program, output_level)?;
        let fewer_than = products.depths.levels(output_level);
        let labels = with_labels(program, output_level, given, fewer_than)?;
        Ok(labels.unwrap_or(products))
    }

    pub fn has_labels(&self) -> bool {
        self.plan.has_labels()
    }

    pub fn depths(&self) -> &Depths {
        &self.depths
    }

    /// Returns the ratios of levels 1 to `levels`, by which the primes of the levels are larger than the scale.
    pub fn ratios(&self, levels: u32) -> Vec<f64> {
        let ratio = |level: u32| {
            let label = self.ratios.get(level as usize);
            self.labels.value(label.copied().unwrap_or(Label::ONE))
        };
        (1..=levels).map(ratio).collect()
    }

    /// Gives every value of a program the level and the scale that follow from the plan.
    ///
    /// # Errors
    /// [`CompileError::TooDeep`] with the line of the first value for which no level is left, and an error for an
    /// operation that is not of CKKS.
    pub fn manage(
        &mut self,
        program: MacroProgram,
        scales: &CanonicalScales,
        output_level: Level,
    ) -> Result<MacroProgram, CompileError> {
        self.depths.check(&program, output_level, scales.top())?;
        let mut ratios = self.ratios.clone();
        ratios.resize(scales.top().index() + 1, Label::ONE);
        let mut findings = Findings::with(&ratios);
        let depths = self.depths.clone();
        let labels = (&mut self.labels, self.wanted.as_slice());
        manage(program, scales, depths, &self.plan, labels, &mut findings)
    }
}

/// Gives every value of a relinearised program a level and a scale. Every product with a constant is computed.
///
/// # Errors
/// [`CompileError::TooDeep`] with the line of the first value for which no level is left, and an error for an operation
/// that is not of CKKS.
pub fn run(
    source: MacroProgram,
    scales: &CanonicalScales,
    output_level: Level,
) -> Result<MacroProgram, CompileError> {
    let mut planned = Planned::products(&source, output_level)?;
    planned.manage(source, scales, output_level)
}

/// Returns a plan in which constants only change scales where they can. Returns `None` if no constant can, if no plan
/// is found, or if it does not take fewer levels than `fewer_than`.
fn with_labels(
    program: &MacroProgram,
    output_level: Level,
    given: Option<(&[u64], f64)>,
    fewer_than: u32,
) -> Result<Option<Planned>, CompileError> {
    let mut constants = program.instrs.iter().map(|instr| kind(instr, program));
    if !constants.any(|kind| matches!(kind, Ok(Kind::Constant))) {
        return Ok(None);
    }
    let (mut plan, mut labels, mut flat) = (Plan::labels(), Labels::new(), false);
    for _ in 0..MOST_TRIALS {
        let depths = Depths::new(program, output_level, &plan)?;
        let mut levels = depths.levels(output_level);
        // Each decision that is added takes levels, so later plans have no fewer.
        if levels >= fewer_than {
            return Ok(None);
        }
        if let Some((primes, scale)) = given {
            let top = CanonicalScales::top_of(primes, scale);
            if levels > top.0 {
                return Ok(None);
            }
            levels = top.0;
        }
        let flat_scales = CanonicalScales::flat(levels);
        let tried = |labels: &mut Labels, scales: &CanonicalScales, mut findings: Findings| {
            let (source, of) = (program.clone(), depths.clone());
            let managed = manage(source, scales, of, &plan, (labels, &[]), &mut findings);
            managed.map(|_| findings)
        };
        let ratios = tried(&mut labels, &flat_scales, Findings::choosing(levels, flat))?.chosen();
        let scales = match given {
            None => flat_scales,
            Some((primes, scale)) => {
                let ratios = ratios.iter().map(|&label| labels.value(label));
                let ratios: Vec<f64> = ratios.skip(1).collect();
                match CanonicalScales::with_ratios(primes, scale, &ratios) {
                    Ok(scales) => scales,
                    Err(_) if !flat => {
                        flat = true;
                        continue;
                    }
                    Err(_) => return Ok(None),
                }
            }
        };
        let findings = tried(&mut labels, &scales, Findings::with(&ratios))?;
        if findings.stuck {
            if flat {
                return Ok(None);
            }
            flat = true;
            continue;
        }
        if findings.conflicts.is_empty() {
            return Ok(Some(Planned {
                plan,
                depths,
                labels,
                wanted: Vec::new(),
                ratios,
            }));
        }
        let mut new = 0;
        for conflict in findings.conflicts {
            new += usize::from(plan.add(conflict));
        }
        if new == 0 {
            return Ok(None);
        }
    }
    Ok(None)
}
