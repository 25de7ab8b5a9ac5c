//! Plans of polynomials, run on ciphertexts.

use ringmill_isa::Level;
use ringmill_math::digits::{Plan, Step as PlanStep};

use super::error::BootstrapError;
use super::value::{Engine, Value};
use crate::bgv::{Factor, Noise};

/// Where a step is done, and where its result is then: levels follow from bounds that hold whatever the factors are.
struct Place {
    at: Level,
    settled: Level,
}

/// A plan at work. Values that can be had times any integer at no cost ([`Plan::scalable`]) are made where they are used, with the factor
/// that is wanted there: each is used once. The others, powers of inputs, are made once, with the factor that their primes leave.
struct Run<'a> {
    engine: &'a Engine<'a>,
    plan: &'a Plan,
    scalable: Vec<bool>,
    places: Vec<Place>,
    /// Inputs and values that are not scalable.
    made: Vec<Option<Value>>,
}

/// The plan's value at ciphertexts of one plaintext modulus. Its factor is 1 where it is scalable.
pub(super) fn run(
    engine: &Engine<'_>,
    plan: &Plan,
    inputs: &[Value],
) -> Result<Value, BootstrapError> {
    let first = inputs.first().ok_or_else(malformed)?;
    let one = Factor::one_modulo(first.factor().plain());
    let scalable = plan.scalable();
    let places = places(engine, plan, inputs)?;
    let mut run = Run {
        engine,
        plan,
        places,
        made: inputs.iter().cloned().map(Some).collect(),
        scalable,
    };
    for (j, step) in plan.steps().iter().enumerate() {
        let made = match run.is_scalable(inputs.len() + j) {
            true => None,
            false => Some(run.step(inputs.len() + j, step, None)?),
        };
        run.made.push(made);
    }
    let output = plan.output().index();
    run.value(output, Some(one))
}

/// By the bounds alone: constants are as large as they can be, and what has a factor of its own is multiplied by one.
fn places(
    engine: &Engine<'_>,
    plan: &Plan,
    inputs: &[Value],
) -> Result<Vec<Place>, BootstrapError> {
    let first = inputs.first().ok_or_else(malformed)?;
    let model = engine.model(first.factor())?;
    let half = engine.t(first.factor())?.value() / 2;
    let scalable = plan.scalable();
    let mut bounds: Vec<(Level, Noise)> = inputs.iter().map(|v| (v.level(), v.noise)).collect();
    let mut places: Vec<Place> = inputs
        .iter()
        .map(|v| Place {
            at: v.level(),
            settled: v.level(),
        })
        .collect();
    for step in plan.steps() {
        let operands = step.products.iter().flatten();
        let operands = operands.chain(step.linear.iter().map(|(_, v)| v));
        let levels = operands.filter_map(|v| bounds.get(v.index()).map(|&(level, _)| level));
        let at = levels.min().ok_or_else(malformed)?;
        let lowered = |index: usize| {
            let (level, noise) = bounds.get(index).copied().ok_or_else(malformed)?;
            Ok::<_, BootstrapError>(engine.lowered(model, noise, level, at))
        };
        let mut sum: Option<Noise> = None;
        let mut forced = 0;
        for [a, b] in &step.products {
            let mut product = model.mul(lowered(a.index())?, lowered(b.index())?);
            let free = [a, b]
                .iter()
                .any(|v| scalable.get(v.index()) == Some(&true));
            forced += usize::from(!free);
            if !free && forced > 1 {
                product = model.mul_integer(product, half);
            }
            sum = Some(sum.map_or(product, |sum| model.add(sum, product)));
        }
        if let Some(products) = sum {
            sum = Some(model.switch_key(products, at));
        }
        for (_, v) in &step.linear {
            let term = model.mul_integer(lowered(v.index())?, half);
            sum = Some(sum.map_or(term, |sum| model.add(sum, term)));
        }
        let mut noise = sum.ok_or_else(malformed)?;
        if step.constant != 0 {
            noise = model.add_plain(noise);
        }
        if model.room(noise, at) <= 0.0 {
            let step = "a polynomial";
            return Err(BootstrapError::NoRoom { step, level: at });
        }
        let settled = engine.settled(model, noise, at);
        bounds.push((settled, engine.lowered(model, noise, at, settled)));
        places.push(Place { at, settled });
    }
    Ok(places)
}

impl Run<'_> {
    fn is_scalable(&self, index: usize) -> bool {
        self.scalable.get(index).copied().unwrap_or(false)
    }

    fn place(&self, index: usize) -> Result<&Place, BootstrapError> {
        self.places.get(index).ok_or_else(malformed)
    }

    /// A value at its level, with the factor that is wanted where it can be had.
    fn value(&self, index: usize, wanted: Option<Factor>) -> Result<Value, BootstrapError> {
        if let Some(Some(value)) = self.made.get(index) {
            return Ok(value.clone());
        }
        let step = index.checked_sub(self.plan.inputs());
        let step = step.and_then(|step| self.plan.steps().get(step));
        self.step(index, step.ok_or_else(malformed)?, wanted)
    }

    /// A value at a level at or below its own, with the factor that is wanted there where it can be had.
    fn value_at(
        &self,
        index: usize,
        level: Level,
        wanted: Option<Factor>,
    ) -> Result<Value, BootstrapError> {
        let own = self.place(index)?.settled;
        let wanted = wanted.map(|f| self.engine.before(f, own, level));
        let value = self.value(index, wanted.transpose()?)?;
        self.engine.down(value, level)
    }

    fn step(
        &self,
        index: usize,
        step: &PlanStep,
        wanted: Option<Factor>,
    ) -> Result<Value, BootstrapError> {
        let engine = self.engine;
        let &Place { at, settled } = self.place(index)?;
        // What the sum is to have before its primes go; a product of powers decides where it can't be chosen.
        let wanted = wanted.map(|f| engine.before(f, at, settled)).transpose()?;
        let mut target: Option<Factor> = None;
        let mut products: Vec<Value> = Vec::new();
        for [a, b] in &step.products {
            let free = [a, b].into_iter().find(|v| self.is_scalable(v.index()));
            if free.is_some() {
                continue;
            }
            let (a, b) = (
                self.value_at(a.index(), at, None)?,
                self.value_at(b.index(), at, None)?,
            );
            let product = engine.tensor(&a, &b)?;
            match target {
                None => {
                    target = Some(product.factor());
                    products.push(product);
                }
                Some(target) => products.push(engine.under(&product, target, 1)?),
            }
        }
        let target = match (target, wanted) {
            (Some(target), _) | (None, Some(target)) => target,
            (None, None) => {
                let plain = self.made.iter().flatten().next().ok_or_else(malformed)?;
                Factor::one_modulo(plain.factor().plain())
            }
        };
        let t = engine.t(target)?;
        for [a, b] in &step.products {
            let (free, other) = match (self.is_scalable(a.index()), self.is_scalable(b.index())) {
                (true, _) => (a, b),
                (false, true) => (b, a),
                (false, false) => continue,
            };
            let other = self.value_at(other.index(), at, None)?;
            let ratio = t.mul(target.value(), other.factor().inverse(t)?);
            let own = Factor::new(ratio, t)?.modulo(target.plain(), t);
            let free = self.value_at(free.index(), at, Some(own))?;
            products.push(engine.tensor(&free, &other)?);
        }
        let mut sum = engine.sum(products)?;
        if let Some(products) = sum {
            sum = Some(engine.relinearise(&products)?);
        }
        for &(c, v) in &step.linear {
            let value = self.value_at(v.index(), at, None)?;
            let c = i128::from(c).rem_euclid(t.value().into()) as u64;
            if c == 0 {
                continue;
            }
            let term = engine.under(&value, target, c)?;
            sum = Some(match sum {
                Some(sum) => engine.add(&sum, &term)?,
                None => term,
            });
        }
        let mut sum = sum.ok_or_else(malformed)?;
        if step.constant != 0 {
            let c = i128::from(step.constant).rem_euclid(t.value().into()) as u64;
            sum = engine.add_integer(&sum, c)?;
        }
        engine.down(sum, settled)
    }
}

fn malformed() -> BootstrapError {
    BootstrapError::Parameters {
        reason: "a plan without values, or one that its steps do not fit".into(),
    }
}
