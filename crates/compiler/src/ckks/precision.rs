// SPDX-License-Identifier: Apache-2.0
//! Predicts the precision of the outputs of a program with levels and scales. It applies the scheme
//! layer's noise model to each value, with the interval analysis of the values that multiply
//! errors. It also says whether every value fits its level.

use std::collections::HashSet;

use ringmill_isa::Level;
use ringmill_isa::macros::op::MacroMessage;
use ringmill_isa::macros::{
    Constant, Interval, LevelNote, LevelScale, Linear, MacroImm, MacroInstr, MacroOp, MacroProgram,
    MacroValue, Refused, Terms, Visitor,
};
use ringmill_isa::source::SourceLoc;
use ringmill_limits::Watch;
use ringmill_schemes::ckks::encoder::capacity;
use ringmill_schemes::ckks::{Ball, Domain, Factor, Noise, NoiseModel, Origin, Params, Slots};

use crate::ckks::alike;
use crate::ckks::depth::whole_factor;
use crate::ckks::growth::{Errors, Growth};
use crate::ckks::like::{Like, largest_outputs, sizes};
use crate::ckks::prediction::{Precision, Prediction};
use crate::ckks::range::{InputRange, Spans};
use crate::ckks::tightest::{SMALLEST, Tightest};
use crate::error::CompileError;
use crate::rewrite::is_cipher;
use crate::transparent::Sums;

/// A bound on the relative error of a scale after its division by a label, the factor between a value and the number
/// that its ciphertext encodes.
const LABEL: f64 = 1.0 / (1u64 << 46) as f64;

/// The limit on slots times instructions up to which the prediction follows each slot by itself. Above this limit, the
/// worst slot of a value stands for all its slots.
const BY_SLOT: u64 = 1 << 31;

/// The bound on the error of a bootstrap whose operand has too large an error. It is so large that no output with it is
/// accepted, and finite, so that products with it are numbers.
pub const UNBOUNDED: f64 = 1e60;

/// Bounds on the errors of a program's bootstraps.
#[derive(Clone, Copy, Debug)]
pub struct OfBootstrap {
    /// A bound on the error that a bootstrap adds.
    pub error: f64,
    /// The largest error of an operand of a bootstrap for which the bound `error` holds.
    pub most: f64,
}

/// Predicts the precision of each output of a program with levels and scales. Its inputs are
/// encrypted under the public or the secret key and lie anywhere in their `ranges`. With `like` it
/// also predicts for inputs like that sample. `of_bootstrap` is given for a program that bootstraps.
///
/// # Errors
/// Fails for an operation whose error is not known, for a sample that does not fit the program, or if `watch` stops the
/// work.
pub fn predict(
    managed: &MacroProgram,
    params: &Params,
    ranges: &[InputRange],
    like: Option<Like<'_>>,
    of_bootstrap: Option<OfBootstrap>,
    watch: &Watch,
) -> Result<Prediction, CompileError> {
    let origins = alike::origins(managed, params)?;
    let typical = vec![f64::INFINITY; managed.types.len()];
    let mut prediction = walk(
        managed,
        params,
        ranges,
        &origins,
        typical,
        (of_bootstrap, watch),
    )?;
    if let Some(like) = like {
        let typical = sizes(managed, like)?;
        let largest = largest_outputs(managed, &typical, like.margin);
        let of_like = walk(
            managed,
            params,
            ranges,
            &origins,
            typical,
            (of_bootstrap, watch),
        )?;
        // The demanded precision is for inputs like the sample, so the growths are those of errors for such inputs.
        prediction.growths = of_like.growths;
        let of_like = of_like.outputs.into_iter().zip(largest);
        for (output, (like, largest)) in prediction.outputs.iter_mut().zip(of_like) {
            output.error_like_sample = Some(like.error);
            output.largest_on_sample = largest;
        }
    }
    Ok(prediction)
}

/// Predicts the outputs' precision for inputs with which no slot of a value exceeds the value's bound in `typical`, or
/// its range. `origins` has the origins of each instruction's errors, as [`alike::origins`] returns them.
/// `of_bootstrap` is given for a program that bootstraps.
pub fn walk(
    managed: &MacroProgram,
    params: &Params,
    ranges: &[InputRange],
    origins: &[Vec<Option<Origin>>],
    typical: Vec<f64>,
    (of_bootstrap, watch): (Option<OfBootstrap>, &Watch),
) -> Result<Prediction, CompileError> {
    let by_slot = (managed.instrs.len() as u64).saturating_mul(params.slots() as u64) <= BY_SLOT;
    let model = NoiseModel::new(params, managed.slots as usize);
    let mut walk = Walk {
        model: if by_slot { model } else { model.flattened() },
        program: managed,
        params,
        spans: Spans::new(managed, ranges, by_slot),
        sums: Sums::new(managed),
        typical,
        noise: vec![None; managed.types.len()],
        lines: vec![None; managed.types.len()],
        errors: Errors::new(managed.types.len()),
        rests: HashSet::new(),
        of_bootstrap,
        tightest: Tightest::NONE,
    };
    let unknown = Precision {
        magnitude: f64::INFINITY,
        error: f64::INFINITY,
        capacity: 0.0,
        error_like_sample: None,
        largest_on_sample: None,
        conditional: false,
    };
    let mut outputs = vec![unknown; managed.outputs.len()];
    let mut growths = vec![None; managed.outputs.len()];
    let mut last_use = vec![usize::MAX; managed.types.len()];
    for (number, instr) in managed.instrs.iter().enumerate() {
        for v in &instr.src {
            if let Some(last) = last_use.get_mut(v.0 as usize) {
                *last = number;
            }
        }
    }
    walk.fit_unused();
    for (number, instr) in managed.instrs.iter().enumerate() {
        watch.check()?;
        if let (MacroOp::Output, &MacroImm::Output(o), &[a]) =
            (instr.op, &instr.imm, instr.src.as_slice())
            && let Some((output, growth)) =
                outputs.get_mut(o as usize).zip(growths.get_mut(o as usize))
        {
            *output = walk.output(a);
            *growth = walk.growth(a);
        }
        walk.step(instr, origins.get(number).map_or(&[], Vec::as_slice))?;
        for &v in &instr.src {
            if last_use.get(v.0 as usize) == Some(&number) {
                walk.forget(v);
            }
        }
    }
    Ok(Prediction {
        outputs,
        tightest: walk.tightest,
        growths,
    })
}

struct Walk<'a> {
    model: NoiseModel,
    program: &'a MacroProgram,
    params: &'a Params,
    spans: Spans<'a>,
    sums: Sums<'a>,
    /// For each value, a bound on its slots that holds in addition to its range.
    typical: Vec<f64>,
    noise: Vec<Option<Noise>>,
    /// For each value, the line that computes it. The result of an instruction that keeps its operand's message, such
    /// as a rescale, has the operand's line.
    lines: Vec<Option<SourceLoc>>,
    errors: Errors,
    /// The values that depend on a bound which the program's author declares (`BOUNDED`).
    rests: HashSet<MacroValue>,
    /// Bounds on the errors of bootstraps, or `None` for a program that does not bootstrap.
    of_bootstrap: Option<OfBootstrap>,
    tightest: Tightest,
}

impl Walk<'_> {
    /// Returns the number of polynomials of a value (0 for a plaintext), its level and its scale. All values of a
    /// program with levels have these.
    fn at(&self, value: MacroValue) -> (usize, LevelScale) {
        let unmanaged = LevelScale {
            level: Level(0),
            scale: 1.0,
        };
        let Some(&ty) = self.program.types.get(value.0 as usize) else {
            return (0, unmanaged);
        };
        let at = ty.at().and_then(LevelNote::scaled);
        (ty.polys().unwrap_or(0) as usize, at.unwrap_or(unmanaged))
    }

    fn forget(&mut self, value: MacroValue) {
        self.spans.forget(value);
        if let Some(slot) = self.noise.get_mut(value.0 as usize) {
            *slot = None;
        }
    }

    fn noise(&self, value: Option<&MacroValue>) -> Noise {
        let known = value.and_then(|v| self.noise.get(v.0 as usize));
        known
            .and_then(Option::as_ref)
            .cloned()
            .unwrap_or_else(Noise::none)
    }

    /// Returns the ball in which a value's slots may lie.
    fn value(&self, value: Option<&MacroValue>) -> Ball {
        let Some(&value) = value else {
            return Ball::ZERO;
        };
        let typical = self.typical.get(value.0 as usize).copied();
        let span = self.spans.get(value);
        span.within(typical.unwrap_or(f64::INFINITY))
    }

    fn size(&self, value: Option<&MacroValue>) -> Slots {
        self.value(value).magnitude()
    }

    /// Returns the factor by which a value multiplies another operand's error.
    fn factor(&self, value: Option<&MacroValue>) -> Factor {
        match value {
            Some(&v) => self.spans.factor(v, self.value(value)),
            None => Factor::ZERO,
        }
    }

    fn output(&mut self, value: MacroValue) -> Precision {
        let (_, at) = self.at(value);
        let size = self.size(Some(&value));
        let noise = self.noise(Some(&value));
        Precision {
            magnitude: self.spans.get(value).magnitude().largest(usize::MAX),
            error: self.model.bound(&noise, &size),
            capacity: capacity(self.params, at.level, at.scale),
            error_like_sample: None,
            largest_on_sample: None,
            conditional: self.rests.contains(&value),
        }
    }

    fn growth(&self, value: MacroValue) -> Option<Growth> {
        let steepest = self.errors.steepest(value)?;
        let after = self.errors.bound(steepest);
        Some(Growth {
            before: after / self.errors.factor(steepest),
            after,
            by_plain: self.errors.by_plain.contains(&steepest),
            loc: self.lines.get(steepest.0 as usize).cloned().flatten(),
        })
    }

    fn step(&mut self, instr: &MacroInstr, origins: &[Option<Origin>]) -> Result<(), Refused> {
        self.spans.step(instr)?;
        let rests = instr.src.iter().any(|v| self.rests.contains(v));
        for &d in &instr.dst {
            if rests || self.spans.is_said(d) {
                self.rests.insert(d);
            }
        }
        for &d in &instr.dst {
            if let Some(real) = self.spans.term(d) {
                let ball = self.value(Some(&d));
                self.model.know(d.0, Domain { ball, real });
            }
        }
        self.sums.step(instr);
        let operand = instr.src.first().and_then(|v| self.lines.get(v.0 as usize));
        let line = match instr.op.columns().message {
            MacroMessage::Kept => operand.cloned().flatten(),
            MacroMessage::Given
            | MacroMessage::Made
            | MacroMessage::Linear
            | MacroMessage::Read
            | MacroMessage::Called
            | MacroMessage::Unknown => instr.loc.clone(),
        };
        for (k, &d) in instr.dst.iter().enumerate() {
            let noise = self.result(instr, k, d, origins)?;
            let (_, at) = self.at(d);
            let error = self.model.bound_anywhere(&noise);
            self.errors.made(d, error, &instr.src);
            let plain = |&v: &MacroValue| !is_cipher(&self.program.types, v);
            if instr.op == MacroOp::Mulc || instr.op == MacroOp::Mul && instr.src.iter().any(plain)
            {
                self.errors.by_plain.insert(d);
            }
            self.fit(d, error, at, line.as_ref());
            // An added constant is encoded by itself, and may be larger than all values.
            if let (MacroOp::Addc, &MacroImm::Constant { value, .. }) = (instr.op, &instr.imm) {
                let capacity = capacity(self.params, at.level, at.scale);
                self.tightest
                    .compare(value.abs(), 0.0, capacity, line.as_ref());
            }
            if let Some(slot) = self.lines.get_mut(d.0 as usize) {
                slot.clone_from(&line);
            }
            if let Some(slot) = self.noise.get_mut(d.0 as usize) {
                *slot = Some(noise);
            }
        }
        Ok(())
    }

    /// Compares the largest slot of a value, error included, with the capacity of its level. Keeps
    /// the value in `tightest` if it comes closest.
    fn fit(&mut self, value: MacroValue, error: f64, at: LevelScale, line: Option<&SourceLoc>) {
        let magnitude = self.spans.get(value).magnitude().largest(usize::MAX);
        let capacity = capacity(self.params, at.level, at.scale);
        // No ciphertext has a scale as large as its modulus, however small its values are.
        self.tightest
            .compare(magnitude.max(SMALLEST), error, capacity, line);
    }

    /// Checks the ranges of inputs that no instruction reads. They are encrypted all the same, at the highest level if
    /// their range needs it.
    fn fit_unused(&mut self) {
        let read = self.program.instrs.iter().filter_map(|instr| {
            let MacroImm::Input(input) = instr.imm else {
                return None;
            };
            Some(input)
        });
        let read: HashSet<u32> = read.collect();
        let ranges = (0u32..).zip(self.spans.inputs());
        let unread: Vec<f64> = ranges
            .filter(|(i, _)| !read.contains(i))
            .map(|(_, range)| range.magnitude())
            .collect();
        let (top, scale) = (self.params.max_level(), self.params.default_scale());
        let capacity = capacity(self.params, top, scale);
        for magnitude in unread {
            self.tightest.compare(magnitude, 0.0, capacity, None);
        }
    }

    /// Returns the noise of an instruction's result number `k`, the value `d`.
    fn result(
        &mut self,
        instr: &MacroInstr,
        k: usize,
        d: MacroValue,
        origins: &[Option<Origin>],
    ) -> Result<Noise, Refused> {
        let sizes = |v: &MacroValue| self.sums.polynomials(*v);
        let size = instr.src.first().map_or(1, sizes);
        let (polys, at) = self.at(d);
        let mut result = OfResult {
            walk: self,
            k,
            d,
            polys,
            at,
            size,
            origins,
        };
        result.visit(instr)
    }
}

/// The noise of result number `k` of an instruction: the value `d` of `polys` polynomials. The first operand has `size`
/// polynomials that may be nonzero.
struct OfResult<'a, 'b> {
    walk: &'a mut Walk<'b>,
    k: usize,
    d: MacroValue,
    polys: usize,
    at: LevelScale,
    size: u8,
    origins: &'a [Option<Origin>],
}

impl OfResult<'_, '_> {
    fn origin(&self, number: usize) -> Option<Origin> {
        self.origins.get(number).copied().flatten()
    }

    fn noise(&self, instr: &MacroInstr, number: usize) -> Noise {
        self.walk.noise(instr.src.get(number))
    }

    /// Returns the noise of a conjugate. If the second polynomial is zero for sure, the conjugation needs no key
    /// switch.
    fn conjugate(&mut self, a: &Noise) -> Noise {
        if self.size < 2 {
            return self.walk.model.conjugate_open(a);
        }
        let (of, LevelScale { level, scale }) = (self.origin(self.k), self.at);
        self.walk.model.conjugate(a, level, scale, of)
    }

    fn step(&self, steps: &[i32]) -> i64 {
        steps.get(self.k).map_or(0, |&s| i64::from(s))
    }

    fn encoded(&mut self) -> Noise {
        let size = self.walk.size(Some(&self.d));
        let of = self.origin(self.k);
        self.walk.model.encoded(&size, self.at.scale, of)
    }
}

impl Visitor for OfResult<'_, '_> {
    const PASS: &'static str = "the prediction of precision";
    type Out = Noise;
    type Error = Refused;

    fn input(&mut self, _: &MacroInstr, _: u32) -> Result<Noise, Refused> {
        if self.polys == 0 {
            return Ok(self.encoded());
        }
        let size = self.walk.size(Some(&self.d));
        Ok(self.walk.model.fresh_input(&size, self.at.scale))
    }

    fn encode(&mut self, _: &MacroInstr, _: u32) -> Result<Noise, Refused> {
        Ok(self.encoded())
    }

    fn add(&mut self, instr: &MacroInstr) -> Result<Noise, Refused> {
        let (a, b) = (self.noise(instr, 0), self.noise(instr, 1));
        Ok(self.walk.model.add(&a, &b))
    }

    fn sub(&mut self, instr: &MacroInstr) -> Result<Noise, Refused> {
        let (a, b) = (self.noise(instr, 0), self.noise(instr, 1));
        Ok(self.walk.model.sub(&a, &b))
    }

    fn mul(&mut self, instr: &MacroInstr) -> Result<Noise, Refused> {
        let (a, b) = (instr.src.first(), instr.src.get(1));
        if a == b {
            return self.square(instr);
        }
        let (value_a, value_b) = (self.walk.factor(a), self.walk.factor(b));
        let (a, b) = (self.noise(instr, 0), self.noise(instr, 1));
        Ok(self.walk.model.mul(&a, &value_a, &b, &value_b))
    }

    fn square(&mut self, instr: &MacroInstr) -> Result<Noise, Refused> {
        let value = self.walk.factor(instr.src.first());
        let a = self.noise(instr, 0);
        Ok(self.walk.model.square(&a, &value))
    }

    fn addc(&mut self, instr: &MacroInstr, constant: Constant) -> Result<Noise, Refused> {
        let Constant::Real { value, .. } = constant else {
            return Err(Refused::shape(Self::PASS, instr));
        };
        let a = self.noise(instr, 0);
        Ok(self.walk.model.add_scalar(&a, value, self.at.scale))
    }

    fn mulc(&mut self, instr: &MacroInstr, constant: Constant) -> Result<Noise, Refused> {
        let Constant::Real { value, scale } = constant else {
            return Err(Refused::shape(Self::PASS, instr));
        };
        let scale = scale.unwrap_or(1.0);
        let a = self.noise(instr, 0);
        if scale == 1.0 && value.fract() == 0.0 {
            return Ok(self.walk.model.mul_integer(&a, value));
        }
        let size = self.walk.size(instr.src.first());
        if let Some(whole) = whole_factor(value, scale) {
            let rounding = (whole / scale - value).abs() + value.abs() * LABEL;
            return Ok(self.walk.model.mul_rounded(&a, &size, value, rounding));
        }
        Ok(self.walk.model.mul_scalar(&a, &size, value, scale))
    }

    fn linear(&mut self, instr: &MacroInstr, map: Linear) -> Result<Noise, Refused> {
        let a = self.noise(instr, 0);
        let conjugated = |of: &mut Self, by: f64| {
            let turned = of.conjugate(&a);
            of.walk.model.mul_integer(&turned, by)
        };
        Ok(match map.terms() {
            Terms::Slot(by) => self.walk.model.mul_integer(&a, by),
            Terms::Conjugate(by) => conjugated(self, by),
            Terms::Both { slot, conjugate } => {
                let straight = self.walk.model.mul_integer(&a, slot);
                let turned = conjugated(self, conjugate);
                self.walk.model.add(&straight, &turned)
            }
        })
    }

    /// Returns the noise after a relinearisation, which adds nothing if the third polynomial is zero for sure.
    fn relin(&mut self, instr: &MacroInstr) -> Result<Noise, Refused> {
        let a = self.noise(instr, 0);
        if self.size < 3 {
            return Ok(a);
        }
        let (of, LevelScale { level, scale }) = (self.origin(self.k), self.at);
        Ok(self.walk.model.relinearise(&a, level, scale, of))
    }

    fn rotate(&mut self, instr: &MacroInstr, steps: &[i32]) -> Result<Noise, Refused> {
        let (a, step) = (self.noise(instr, 0), self.step(steps));
        if self.size < 2 {
            return Ok(self.walk.model.rotate_open(&a, step));
        }
        let (of, LevelScale { level, scale }) = (self.origin(self.k), self.at);
        Ok(self.walk.model.rotate(&a, step, level, scale, of))
    }

    fn hrotate(&mut self, instr: &MacroInstr, steps: &[i32]) -> Result<Noise, Refused> {
        let (a, step) = (self.noise(instr, 0), self.step(steps));
        if self.size < 2 {
            return Ok(self.walk.model.rotate_open(&a, step));
        }
        let (of, LevelScale { level, scale }) = (self.origin(self.k), self.at);
        Ok(self.walk.model.rotate_hoisted(&a, step, level, scale, of))
    }

    fn rescale(&mut self, instr: &MacroInstr) -> Result<Noise, Refused> {
        let of = [0, 1, 2].map(|number| self.origin(number));
        let (a, size) = (self.noise(instr, 0), usize::from(self.size));
        Ok(self.walk.model.rescale(&a, size, self.at.scale, of))
    }

    fn modswitch(&mut self, instr: &MacroInstr, _: Level) -> Result<Noise, Refused> {
        Ok(self.noise(instr, 0))
    }

    fn bounded(&mut self, instr: &MacroInstr, _: Interval) -> Result<Noise, Refused> {
        Ok(self.noise(instr, 0))
    }

    fn bootstrap(&mut self, instr: &MacroInstr, _: Level) -> Result<Noise, Refused> {
        let a = self.noise(instr, 0);
        let Some(of) = self.walk.of_bootstrap else {
            return Err(Refused::unknown(Self::PASS, instr));
        };
        // The bound holds for an operand whose error is small beside the largest value.
        let error = match self.walk.model.bound_anywhere(&a) <= of.most {
            true => of.error,
            false => UNBOUNDED,
        };
        Ok(self.walk.model.bootstrapped(a, error))
    }
}
