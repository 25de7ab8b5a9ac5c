//! Predicted precision: the scheme layer's noise model carried through a managed program, value by value, beside the
//! interval analysis that bounds what errors are multiplied by and says whether every value fits its level.

use std::collections::HashSet;

use num_complex::Complex64;
use ringmill_isa::Level;
use ringmill_isa::macros::{
    LevelNote, LevelScale, MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue,
};
use ringmill_isa::source::SourceLoc;
use ringmill_limits::Watch;
use ringmill_schemes::ckks::{Ball, Domain, Factor, Noise, NoiseModel, Origin, Params, Slots};

use crate::ckks::alike;
use crate::ckks::range::{InputRange, Spans};
use crate::ckks::reference::evaluate_observed;
use crate::eighths::Eighths;
use crate::error::CompileError;
use crate::transparent::Sums;

/// What is predicted of an output.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Precision {
    /// Largest absolute value of a slot, by interval analysis.
    pub magnitude: f64,
    /// Bound on the error of every slot, in units of the message; fails with probability at most
    /// 2^-[`FAILURE_BITS`](ringmill_schemes::ckks::FAILURE_BITS).
    pub error: f64,
    /// Absolute values below this survive decryption at the output's level and scale.
    pub capacity: f64,
    /// What bounds the error for every input that may be encrypted, where `error` is of inputs like a sample.
    pub worst: Worst,
}

/// What is known of an output's error for all inputs within their ranges. What is shared of a decryption rests on it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Worst {
    /// No slot's error is larger, in units of the message; fails with the probability of [`Precision::error`].
    Bound(f64),
    /// Some value, with its error, may outgrow its level.
    Overflow,
    /// No finite bound is known.
    Unbounded,
}

impl Precision {
    /// Bits after the binary point that are right in every slot: -log2 of the error.
    pub fn bits(&self) -> f64 {
        -self.error.log2()
    }
}

/// What is known of the inputs of a program.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Where each input's slots lie: no value outgrows its level while they do.
    pub ranges: &'a [InputRange],
    /// Typical inputs, one vector an input, and how many times as large as on them values may be for the predicted
    /// precision to hold, which is then in eighths of a bit.
    pub sample: Option<(&'a [Vec<Complex64>], f64)>,
}

/// Predictions for a managed program.
#[derive(Clone, Debug)]
pub struct Prediction {
    pub outputs: Vec<Precision>,
    /// Of values with their errors.
    pub tightest: Tightest,
    /// Of values by their ranges alone.
    pub tightest_by_range: Tightest,
}

impl Prediction {
    /// Takes what was predicted by a sample in the place of what ranges give.
    ///
    /// # Errors
    /// [`CompileError::Predictions`] unless there is one for each output.
    pub fn take(&mut self, sampled: &[Eighths]) -> Result<(), CompileError> {
        if sampled.len() != self.outputs.len() {
            return Err(CompileError::Predictions {
                expected: self.outputs.len(),
                got: sampled.len(),
            });
        }
        for (output, bits) in self.outputs.iter_mut().zip(sampled) {
            output.error = bits.error();
        }
        Ok(())
    }
}

/// How much room values have at their levels.
#[derive(Clone, Debug)]
pub struct Tightest {
    /// log2 of a value's bound over its level's capacity, the largest of all; above 0 that value may wrap around.
    pub excess_bits: f64,
    /// Largest absolute value of the first value that may wrap around, or of the one that comes closest.
    pub magnitude: f64,
    /// Absolute values below this survive at the value's level and scale.
    pub capacity: f64,
    /// The line that computes it.
    pub loc: Option<SourceLoc>,
}

impl Tightest {
    /// Before any value is compared.
    const NONE: Self = Self {
        excess_bits: f64::NEG_INFINITY,
        magnitude: 0.0,
        capacity: 0.0,
        loc: None,
    };

    fn compare(&mut self, magnitude: f64, capacity: f64, loc: Option<&SourceLoc>) {
        let excess_bits = magnitude.log2() - capacity.log2();
        // A bound that is no number is no bound.
        let excess_bits = if excess_bits.is_nan() {
            f64::INFINITY
        } else {
            excess_bits
        };
        let known = self.excess_bits;
        if known < 0.0 && excess_bits > known {
            *self = Self {
                excess_bits,
                magnitude,
                capacity,
                loc: loc.cloned(),
            };
        }
        self.excess_bits = known.max(excess_bits);
    }
}

/// Slots times instructions up to which each slot is looked at; above, the worst slot stands for all.
const BY_SLOT: u64 = 1 << 31;

/// Predicts the precision of each output of a managed program, inputs encrypted under the public key.
///
/// # Errors
/// A sample that does not fit the program; an interrupt.
pub fn predict(
    managed: &MacroProgram,
    params: &Params,
    known: Known<'_>,
    watch: &Watch,
) -> Result<Prediction, CompileError> {
    let origins = alike::origins(managed, params);
    let mut typical = vec![f64::INFINITY; managed.types.len()];
    if let Some((inputs, margin)) = known.sample {
        let norm = |slots: &[Complex64]| slots.iter().map(|x| x.norm()).fold(0.0, f64::max);
        evaluate_observed(managed, inputs, &mut |value, slots| {
            if let Some(size) = typical.get_mut(value.0 as usize) {
                *size = margin * norm(slots);
            }
        })?;
    }
    let by_slot = (managed.instrs.len() as u64).saturating_mul(params.slots() as u64) <= BY_SLOT;
    let model = NoiseModel::new(params, managed.slots as usize);
    let mut walk = Walk {
        model: if by_slot { model } else { model.flattened() },
        program: managed,
        params,
        spans: Spans::new(managed, known.ranges, by_slot),
        sums: Sums::new(managed),
        typical,
        noise: vec![None; managed.types.len()],
        lines: vec![None; managed.types.len()],
        tightest: Tightest::NONE,
        tightest_by_range: Tightest::NONE,
    };
    let unknown = Precision {
        magnitude: f64::INFINITY,
        error: f64::INFINITY,
        capacity: 0.0,
        worst: Worst::Unbounded,
    };
    let mut outputs = vec![unknown; managed.outputs.len()];
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
            && let Some(output) = outputs.get_mut(o as usize)
        {
            *output = walk.output(a);
        }
        walk.step(instr, origins.get(number).map_or(&[], Vec::as_slice));
        for &v in &instr.src {
            if last_use.get(v.0 as usize) == Some(&number) {
                walk.forget(v);
            }
        }
    }
    let tightest = walk.tightest;
    let fits = tightest.excess_bits < 0.0;
    for output in &mut outputs {
        match known.sample {
            // A sample says nothing of all inputs: `completed` does. Its own bound is kept in eighths of a bit.
            Some(_) => output.error = Eighths::of(output.error).error(),
            None => {
                output.worst = match (fits, output.error.is_finite()) {
                    (true, true) => Worst::Bound(output.error),
                    (true, false) => Worst::Unbounded,
                    (false, _) => Worst::Overflow,
                };
            }
        }
    }
    Ok(Prediction {
        outputs,
        tightest,
        tightest_by_range: walk.tightest_by_range,
    })
}

/// What is predicted of the outputs of a program that fits its parameters: by what is known, and for all inputs within
/// their ranges, of which a sample says nothing.
///
/// # Errors
/// An interrupt.
pub(crate) fn completed(
    prediction: Prediction,
    managed: &MacroProgram,
    params: &Params,
    known: Known<'_>,
    watch: &Watch,
) -> Result<Vec<Precision>, CompileError> {
    let mut outputs = prediction.outputs;
    if known.sample.is_some() {
        let by_ranges = Known {
            sample: None,
            ..known
        };
        let by_ranges = predict(managed, params, by_ranges, watch)?;
        for (output, all) in outputs.iter_mut().zip(by_ranges.outputs) {
            output.worst = all.worst;
        }
    }
    Ok(outputs)
}

/// Absolute values that fit a level at a scale.
fn capacity(params: &Params, at: LevelScale) -> f64 {
    (params.log_q(at.level) - 1.0 - at.scale.log2()).exp2()
}

struct Walk<'a> {
    model: NoiseModel,
    program: &'a MacroProgram,
    params: &'a Params,
    spans: Spans<'a>,
    sums: Sums<'a>,
    /// Bound on each value's slots, by the sample.
    typical: Vec<f64>,
    noise: Vec<Option<Noise>>,
    /// The line that computes each value: that of its operand for what the compiler put in.
    lines: Vec<Option<SourceLoc>>,
    tightest: Tightest,
    tightest_by_range: Tightest,
}

impl Walk<'_> {
    /// Polynomials (none for a plaintext), level and scale of a value. The verifier has seen to it that managed values
    /// have these.
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

    /// Where a value's slots may lie for the predicted precision to hold.
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

    /// What errors are multiplied by where a value is a factor.
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
            capacity: capacity(self.params, at),
            worst: Worst::Unbounded,
        }
    }

    fn step(&mut self, instr: &MacroInstr, origins: &[Option<Origin>]) {
        self.spans.step(instr);
        for &d in &instr.dst {
            if let Some(real) = self.spans.term(d) {
                let ball = self.value(Some(&d));
                self.model.know(d.0, Domain { ball, real });
            }
        }
        self.sums.step(instr);
        let operand = instr.src.first().and_then(|v| self.lines.get(v.0 as usize));
        let line = match instr.op {
            MacroOp::Relin | MacroOp::Rescale | MacroOp::Modswitch => operand.cloned().flatten(),
            _ => instr.loc.clone(),
        };
        for (k, &d) in instr.dst.iter().enumerate() {
            let noise = self.result(instr, k, d, origins);
            let (_, at) = self.at(d);
            self.fit(d, &noise, at, line.as_ref());
            if let Some(slot) = self.lines.get_mut(d.0 as usize) {
                slot.clone_from(&line);
            }
            if let Some(slot) = self.noise.get_mut(d.0 as usize) {
                *slot = Some(noise);
            }
        }
    }

    /// Compares a value's bound with its level's capacity.
    fn fit(&mut self, value: MacroValue, noise: &Noise, at: LevelScale, line: Option<&SourceLoc>) {
        let magnitude = self.spans.get(value).magnitude().largest(usize::MAX);
        let capacity = capacity(self.params, at);
        self.tightest_by_range.compare(magnitude, capacity, line);
        let magnitude = magnitude + self.model.bound_anywhere(noise);
        self.tightest.compare(magnitude, capacity, line);
    }

    /// Inputs that nothing is computed from are encrypted all the same, if need be at the highest level.
    fn fit_unused(&mut self) {
        let top = LevelScale {
            level: self.params.max_level(),
            scale: self.params.default_scale(),
        };
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
        let capacity = capacity(self.params, top);
        for magnitude in unread {
            self.tightest_by_range.compare(magnitude, capacity, None);
            self.tightest.compare(magnitude, capacity, None);
        }
    }

    /// The noise of an instruction's result number `k`, the value `d`.
    fn result(
        &mut self,
        instr: &MacroInstr,
        k: usize,
        d: MacroValue,
        origins: &[Option<Origin>],
    ) -> Noise {
        let origin = |number: usize| origins.get(number).copied().flatten();
        let of = origin(k);
        let (polys, LevelScale { level, scale }) = self.at(d);
        let sizes = |v: &MacroValue| self.sums.polynomials(*v);
        let size = instr.src.first().map_or(1, sizes);
        let (a, b) = (instr.src.first(), instr.src.get(1));
        let steps = match &instr.imm {
            MacroImm::Steps(steps) => steps.get(k).map_or(0, |&s| i64::from(s)),
            _ => 0,
        };
        let constant = match instr.imm {
            MacroImm::Constant { value, scale } => (value, scale.unwrap_or(1.0)),
            _ => (0.0, 1.0),
        };
        let noise_a = self.noise(a);
        match instr.op {
            MacroOp::Input if polys > 0 => {
                let size = self.size(Some(&d));
                self.model.fresh_public(&size, scale)
            }
            MacroOp::Input | MacroOp::Encode => {
                let size = self.size(Some(&d));
                self.model.encoded(&size, scale, of)
            }
            MacroOp::Add => {
                let noise_b = self.noise(b);
                self.model.add(&noise_a, &noise_b)
            }
            MacroOp::Sub => {
                let noise_b = self.noise(b);
                self.model.sub(&noise_a, &noise_b)
            }
            MacroOp::Mul if a == b => {
                let value = self.factor(a);
                self.model.square(&noise_a, &value)
            }
            MacroOp::Mul => {
                let (value_a, value_b) = (self.factor(a), self.factor(b));
                let noise_b = self.noise(b);
                self.model.mul(&noise_a, &value_a, &noise_b, &value_b)
            }
            MacroOp::Square => {
                let value = self.factor(a);
                self.model.square(&noise_a, &value)
            }
            MacroOp::Addc => self.model.add_scalar(&noise_a, constant.0, scale),
            MacroOp::Mulc if constant.1 == 1.0 && constant.0.fract() == 0.0 => {
                self.model.mul_integer(&noise_a, constant.0)
            }
            MacroOp::Mulc => {
                let size = self.size(a);
                self.model
                    .mul_scalar(&noise_a, &size, constant.0, constant.1)
            }
            // Where the polynomial to switch is zero, nothing is added.
            MacroOp::Relin if size < 3 => noise_a,
            MacroOp::Conj if size < 2 => self.model.conjugate_open(&noise_a),
            MacroOp::Rotate | MacroOp::Hrotate if size < 2 => {
                self.model.rotate_open(&noise_a, steps)
            }
            MacroOp::Relin => self.model.relinearise(&noise_a, level, scale, of),
            MacroOp::Conj => self.model.conjugate(&noise_a, level, scale, of),
            MacroOp::Rotate => self.model.rotate(&noise_a, steps, level, scale, of),
            MacroOp::Hrotate => self.model.rotate_hoisted(&noise_a, steps, level, scale, of),
            MacroOp::Rescale => {
                let of = [0, 1, 2].map(origin);
                self.model.rescale(&noise_a, usize::from(size), scale, of)
            }
            MacroOp::Neg => self.model.neg(&noise_a),
            // Factors are of other schemes.
            MacroOp::Modswitch | MacroOp::Refactor => noise_a,
            MacroOp::Output => Noise::none(),
            // Of integers, refused before.
            MacroOp::Iszero | MacroOp::Quotient | MacroOp::Bootstrap => Noise::none(),
            // Written out before; range analysis bounds what they would give by infinity, which no level holds.
            MacroOp::Call | MacroOp::Repeat => Noise::none(),
            // The last pass's, bounded likewise.
            MacroOp::Load | MacroOp::Morph | MacroOp::Ksw => Noise::none(),
        }
    }
}
