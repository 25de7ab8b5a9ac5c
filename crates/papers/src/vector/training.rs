// SPDX-License-Identifier: Apache-2.0
//! The training iteration of section 8.3.2 of the BASALISC paper, on the performance simulator. It traces the program
//! of `examples/06_training.py` with the same sizes.

use std::sync::Arc;
use std::time::Instant;

use ringmill_compiler::bgv::Options;
use ringmill_compiler::builder::{self, Power, TraceBuilder, TraceError, Traced};
use ringmill_compiler::{Compiled, compile};
use ringmill_device::progress::Progress;
use ringmill_isa::macros::{MacroOp, MacroProgram, SchemeName, Visibility, stats};
use ringmill_isa::mid;
use ringmill_schemes::bgv::Bgv;
use ringmill_schemes::bgv::bootstrap::Procedure;

use super::{machine, sigmoid, speed};
use crate::error::PaperError;
use crate::scope::{Record, record};
use crate::value::{counted, measured};

/// The size of a training iteration: its numbers of samples and features. A gradient is multiplied by `step` / p^2.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub samples: usize,
    pub features: usize,
    pub step: i64,
}

/// The BASALISC paper's size of a training iteration: 1,024 samples of 10 features.
pub const WHOLE: Size = Size {
    samples: 1024,
    features: 10,
    step: 7,
};

/// The tracer of a training iteration on vectors of `slots` values modulo `power`.
struct Trainer {
    trace: TraceBuilder,
    power: Power,
    size: Size,
}

impl Trainer {
    fn rest(&mut self, x: Traced, digit: Traced) -> Result<Traced, TraceError> {
        let rest = self.trace.sub(x, digit, None)?;
        self.trace.quotient(rest, self.power.prime, None)
    }

    fn low(&mut self, x: Traced) -> Result<Traced, TraceError> {
        self.trace.low_digit(x, self.power, None)
    }

    /// Traces the sum of all slots of a vector, in every slot.
    fn summed(&mut self, x: Traced) -> Result<Traced, TraceError> {
        let mut sum = x;
        let mut width = i64::from(self.trace.slots());
        while width > 1 {
            width /= 2;
            let turned = self.trace.rotate(sum, width, None)?;
            sum = self.trace.add(sum, turned, None)?;
        }
        Ok(sum)
    }

    /// Traces a constant vector with 1 in one slot and 0 in the others.
    fn mask(&mut self, slot: usize) -> Result<Traced, TraceError> {
        let slots = self.trace.slots() as usize;
        let values = (0..slots).map(|at| (f64::from(u8::from(at == slot)), 0.0));
        self.trace.vector(values.collect(), None)
    }

    fn sum(&mut self, sum: Option<Traced>, term: Traced) -> Result<Option<Traced>, TraceError> {
        Ok(Some(match sum {
            Some(sum) => self.trace.add(sum, term, None)?,
            None => term,
        }))
    }

    /// Traces the update `step` g / p^2 of a gradient g, rounded once on the way and once at the end.
    fn update(&mut self, g: Traced) -> Result<Traced, TraceError> {
        let (prime, step) = (self.power.prime as i64, self.size.step);
        let low = self.low(g)?;
        let rest = self.rest(g, low)?;
        let second = self.low(rest)?;
        let half = prime / 2;
        let rounded = (-half..=half).map(|d| (2 * step * d + prime).div_euclid(2 * prime));
        let rounded: Vec<i64> = rounded.collect();
        let low = (self.trace).digit_table(rest, self.power, &rounded, None)?;
        let above = self.rest(rest, second)?;
        let third = self.low(above)?;
        let step = self.trace.scalar(step as f64, None)?;
        let third = self.trace.mul(third, step, None)?;
        self.trace.add(third, low, None)
    }

    /// Traces the weights after one training iteration. The samples `x` are ordered block by block, then feature by
    /// feature.
    fn iteration(
        &mut self,
        packed: Traced,
        labels: &[Traced],
        x: &[Vec<Traced>],
        masks: &[Traced],
        sigmoid: &builder::Procedure,
    ) -> Result<Traced, PaperError> {
        let mut weights = Vec::with_capacity(masks.len());
        for &mask in masks {
            let one = self.trace.mul(packed, mask, None)?;
            weights.push(self.summed(one)?);
        }
        let mut gradient = vec![None; masks.len()];
        for (&y, x) in labels.iter().zip(x) {
            let mut u = None;
            for (&x, &w) in x.iter().zip(&weights) {
                let product = self.trace.mul(x, w, None)?;
                u = self.sum(u, product)?;
            }
            let u = u.unwrap_or(y);
            let s = self.trace.call(sigmoid, &[u], None)?;
            let s = s.first().copied().unwrap_or(u);
            let residual = self.trace.sub(y, s, None)?;
            for (&x, sum) in x.iter().zip(&mut gradient) {
                let term = self.trace.mul(residual, x, None)?;
                *sum = self.sum(*sum, term)?;
            }
        }
        let mut total = None;
        for (g, &mask) in gradient.into_iter().zip(masks) {
            let g = self.summed(g.unwrap_or(packed))?;
            let one = self.trace.mul(g, mask, None)?;
            total = self.sum(total, one)?;
        }
        let update = self.update(total.unwrap_or(packed))?;
        Ok(self.trace.add(packed, update, None)?)
    }

    fn whole(mut self) -> Result<MacroProgram, PaperError> {
        let slots = self.trace.slots() as usize;
        let blocks = self.size.samples / slots;
        let input = |trace: &mut TraceBuilder, name: String| {
            trace.input(&name, Visibility::Encrypted, None)
        };
        let w = input(&mut self.trace, "w".to_owned())?;
        let mut labels = Vec::with_capacity(blocks);
        for b in 0..blocks {
            labels.push(input(&mut self.trace, format!("y{b}"))?);
        }
        let mut x = Vec::with_capacity(blocks);
        for b in 0..blocks {
            let features = 0..self.size.features;
            let names = features.map(|j| input(&mut self.trace, format!("x{b}_{j}")));
            x.push(names.collect::<Result<Vec<_>, _>>()?);
        }
        let sigmoid = sigmoid::traced(&mut self.trace, self.power)?;
        let masks = (0..self.size.features).map(|j| self.mask(j));
        let masks = masks.collect::<Result<Vec<_>, _>>()?;
        let carried = self.trace.begin_body("iteration", 1, None)?;
        let packed = carried.first().copied().unwrap_or(w);
        let after = self.iteration(packed, &labels, &x, &masks, &sigmoid)?;
        let body = self.trace.end(&[after], None)?;
        let done = self.trace.repeat(1, &body, &[w], None)?;
        self.trace
            .output("out", done.first().copied().unwrap_or(w), None)?;
        let mut program = self.trace.finish();
        program.scheme = SchemeName::new("bgv").unwrap_or_default();
        Ok(program)
    }
}

/// Compiles one training iteration for a bootstrap's parameters.
///
/// # Errors
/// Fails if the compiler refuses the program.
pub fn compiled(procedure: &Arc<Procedure>, size: Size) -> Result<Compiled<Bgv>, PaperError> {
    let power = procedure.params().prime_power()?;
    let (prime, exponent) = (power.prime(), power.exponent());
    let slots = procedure.setup().structure().columns() as u32;
    let trainer = Trainer {
        trace: TraceBuilder::new("train", slots)?,
        power: Power { prime, exponent },
        size,
    };
    let options = Options {
        bootstrapping: Some(Arc::clone(procedure)),
        seeded_keys: procedure.seeded(),
        explicit: true,
        ..Options::given(Arc::clone(procedure.params()))
    };
    Ok(compile::<Bgv>(trainer.whole()?, &options)?)
}

/// Counts the instructions of one training iteration: bootstraps, macro instructions except inputs, outputs and
/// encodings, and mid-level instructions.
pub fn counts(compiled: &Compiled<Bgv>) -> [u64; 3] {
    let macros = stats::counts(&compiled.managed);
    let silent = [MacroOp::Input, MacroOp::Output, MacroOp::Encode];
    let executed = macros.iter().filter(|(op, _)| !silent.contains(op));
    let bootstraps = macros.get(&MacroOp::Bootstrap).copied().unwrap_or(0);
    let mid = mid::stats::program_counts(compiled.program.program());
    [
        bootstraps,
        executed.map(|(_, count)| count).sum(),
        mid.values().sum(),
    ]
}

/// Runs one training iteration on the vector machine. Returns its counts of bootstraps, macro and mid-level
/// instructions, the fields of its report, the seconds that the simulation took, and the rates of the simulator.
///
/// # Errors
/// Fails as [`compiled`] does, and if the machine refuses the program.
pub fn iteration(
    procedure: &Arc<Procedure>,
    size: Size,
    progress: &dyn Progress,
) -> Result<Record, PaperError> {
    let compiled = compiled(procedure, size)?;
    let begin = Instant::now();
    let d = machine::machine(procedure.params().log_n())?;
    let mut found = machine::simulate(d.clone(), &compiled.program, progress)?;
    let took = begin.elapsed().as_secs_f64();
    let [bootstraps, macros, mids] = counts(&compiled);
    found.extend(record([
        ("bootstraps", counted(bootstraps)),
        ("macros", counted(macros)),
        ("mids", counted(mids)),
        ("took", measured(took)),
    ]));
    found.extend(speed::rates(procedure, &d, &compiled.program)?);
    Ok(found)
}
