//! Predicted precision: the scheme layer's noise model carried through a managed program, value by value.

use num_complex::Complex64;
use ringmill_isa::macros::{
    LevelScale, MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue,
};
use ringmill_schemes::ckks::{Noise, NoiseModel, Params};

use crate::reference::{EvaluateError, evaluate_observed};

/// What is predicted of an output.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Precision {
    /// Magnitude and error, in units of the message.
    pub noise: Noise,
    /// Absolute values below this survive decryption at the output's level and scale.
    pub capacity: f64,
    /// Whether, by the magnitudes assumed, this value or one that it is made of may be too large for its level.
    pub may_overflow: bool,
}

impl Precision {
    /// Bits after the binary point that are right in every slot.
    pub fn bits(&self) -> f64 {
        self.noise.precision_bits()
    }
}

/// What the prediction assumes of the sizes of values.
#[derive(Clone, Copy, Debug)]
pub enum Assumed<'a> {
    /// Input slots are at most this in absolute value; sizes of other values follow by the triangle inequality, which
    /// overstates those of long sums.
    Bound(f64),
    /// Values are at most [`SAMPLE_MARGIN`] times as large as on these inputs, one vector an input.
    Sample(&'a [Vec<Complex64>]),
}

/// How much larger than on the sample values may be.
pub const SAMPLE_MARGIN: f64 = 2.0;

/// Predicts the precision of each output of a managed program, inputs encrypted under the public key.
///
/// # Errors
/// A sample that does not fit the program.
pub fn predict(
    managed: &MacroProgram,
    params: &Params,
    assumed: Assumed<'_>,
) -> Result<Vec<Precision>, EvaluateError> {
    let mut largest = vec![f64::INFINITY; managed.types.len()];
    let input_bound = match assumed {
        Assumed::Bound(bound) => bound.abs(),
        Assumed::Sample(inputs) => {
            let norm = |slots: &[Complex64]| slots.iter().map(|x| x.norm()).fold(0.0, f64::max);
            evaluate_observed(managed, inputs, &mut |value, slots| {
                if let Some(size) = largest.get_mut(value.0 as usize) {
                    *size = SAMPLE_MARGIN * norm(slots);
                }
            })?;
            f64::INFINITY
        }
    };
    let data = managed
        .data
        .iter()
        .map(|v| v.iter().map(|&(re, im)| re.hypot(im)).fold(0.0, f64::max))
        .collect();
    let mut walk = Walk {
        model: NoiseModel::new(params),
        program: managed,
        largest,
        input_bound,
        data,
        noise: vec![None; managed.types.len()],
    };
    let nothing = Noise {
        magnitude: 0.0,
        error: 0.0,
    };
    let unknown = Precision {
        noise: nothing,
        capacity: 0.0,
        may_overflow: false,
    };
    let mut outputs = vec![unknown; managed.outputs.len()];
    for instr in &managed.instrs {
        if let (MacroOp::Output, &MacroImm::Output(o), &[a]) =
            (instr.op, &instr.imm, instr.src.as_slice())
        {
            if let Some(output) = outputs.get_mut(o as usize) {
                let (noise, may_overflow) = walk.get(a);
                *output = Precision {
                    noise,
                    capacity: capacity(params, walk.at(a)),
                    may_overflow,
                };
            }
            continue;
        }
        for &d in &instr.dst {
            walk.step(instr, d, params);
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
    /// Bound on each value's slots, by the sample.
    largest: Vec<f64>,
    input_bound: f64,
    /// Largest absolute value of each constant vector.
    data: Vec<f64>,
    /// By value: its noise, and whether it may have overflown.
    noise: Vec<Option<(Noise, bool)>>,
}

impl Walk<'_> {
    fn at(&self, value: MacroValue) -> LevelScale {
        let unmanaged = LevelScale {
            level: 0,
            scale: 1.0,
        };
        match self.program.types.get(value.0 as usize) {
            Some(MacroType::Cipher { at, .. } | MacroType::Plain { at }) => at.unwrap_or(unmanaged),
            None => unmanaged,
        }
    }

    fn get(&self, value: MacroValue) -> (Noise, bool) {
        let known = self.noise.get(value.0 as usize).copied().flatten();
        known.unwrap_or((
            Noise {
                magnitude: 0.0,
                error: 0.0,
            },
            false,
        ))
    }

    fn step(&mut self, instr: &MacroInstr, d: MacroValue, params: &Params) {
        let LevelScale { level, scale } = self.at(d);
        let is_cipher = matches!(
            self.program.types.get(d.0 as usize),
            Some(MacroType::Cipher { .. })
        );
        let sampled = self
            .largest
            .get(d.0 as usize)
            .copied()
            .unwrap_or(f64::INFINITY);
        let input = sampled.min(self.input_bound);
        let operands: Vec<(Noise, bool)> = instr.src.iter().map(|&v| self.get(v)).collect();
        let model = &self.model;
        let noise = match (instr.op, operands.as_slice(), &instr.imm) {
            (MacroOp::Input, [], _) if is_cipher => model.fresh_public(input, scale),
            (MacroOp::Input, [], _) => model.encoded(input, scale),
            (MacroOp::Encode, [], &MacroImm::Data(v)) => {
                model.encoded(self.data.get(v as usize).copied().unwrap_or(0.0), scale)
            }
            (MacroOp::Add | MacroOp::Sub, &[(a, _), (b, _)], _) => model.add(a, b),
            (MacroOp::Mul, &[(a, _), (b, _)], _) => model.mul(a, b),
            (MacroOp::Square, &[(a, _)], _) => model.mul(a, a),
            (MacroOp::Addc, &[(a, _)], &MacroImm::Constant { value, .. }) => {
                model.add_scalar(a, value, scale)
            }
            // An integer factor is exact.
            (
                MacroOp::Mulc,
                &[(a, _)],
                &MacroImm::Constant {
                    value,
                    scale: Some(1.0),
                },
            ) if value.fract() == 0.0 => Noise {
                magnitude: a.magnitude * value.abs(),
                error: a.error * value.abs(),
            },
            (MacroOp::Mulc, &[(a, _)], &MacroImm::Constant { value, scale }) => {
                model.mul_scalar(a, value, scale.unwrap_or(1.0))
            }
            (MacroOp::Relin | MacroOp::Rotate | MacroOp::Hrotate | MacroOp::Conj, &[(a, _)], _) => {
                model.key_switch(a, level, scale)
            }
            (MacroOp::Rescale, &[(a, _)], _) => model.rescale(a, scale),
            (_, &[(a, _), ..], _) => a,
            _ => Noise {
                magnitude: 0.0,
                error: 0.0,
            },
        };
        // Whatever the operands, a value that decrypts right is below its level's capacity.
        let magnitude = noise.magnitude.min(sampled);
        let capacity = capacity(params, LevelScale { level, scale });
        let overflows = is_cipher && magnitude >= capacity || operands.iter().any(|&(_, o)| o);
        let noise = Noise {
            magnitude: magnitude.min(capacity),
            ..noise
        };
        if let Some(slot) = self.noise.get_mut(d.0 as usize) {
            *slot = Some((noise, overflows));
        }
    }
}
