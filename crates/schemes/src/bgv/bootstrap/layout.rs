// SPDX-License-Identifier: Apache-2.0
//! Lays out the plan of a polynomial on ciphertexts: decides from noise bounds which steps form one operation, and at
//! which level each operation runs.

use ringmill_isa::Level;
use ringmill_math::digits::Plan;

use super::emit::{Emitted, Emitter};
use super::error::BootstrapError;
use crate::bgv::Noise;

/// The first factor of a product of two values in the plan of a polynomial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum First {
    /// The first factor is a value of the plan, given by its index.
    Value(usize),
    /// The first factor is the value, given by its index, of a step of the plan that only this product uses. The
    /// step is a sum of multiples of values, which the product's operation computes too.
    Linear(usize),
}

/// A step of the plan of a polynomial as one operation on ciphertexts.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The level at which the operation computes. `settled` is the level of its result, after the division by
    /// primes that ends the operation.
    pub at: Level,
    pub settled: Level,
    /// The indices, in the plan, of the values that the operation multiplies by integers and adds.
    pub combined: Vec<usize>,
    /// The products of two values that the operation adds. If one factor can be scaled by any integer at no cost,
    /// it is the first.
    pub products: Vec<(First, usize)>,
    /// The linear terms of a step with products, if they are at a higher level than the products. They are then
    /// added at that level, and their sum is divided down to the level of the products.
    pub tail: Option<Tail>,
}

/// The linear terms of a step (multiples of values by integers) that are added at level `at`, apart from the step's
/// products.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    pub at: Level,
    pub combined: Vec<usize>,
}

impl Node {
    /// Returns the indices, in the plan, of the values that the operation reads, each once. Those of its tail, which
    /// are read at another level, are not among them.
    pub fn operands(&self) -> Vec<usize> {
        let mut operands = self.combined.clone();
        for &(first, second) in &self.products {
            if let First::Value(first) = first {
                operands.push(first);
            }
            operands.push(second);
        }
        each_once(operands)
    }
}

fn each_once(mut values: Vec<usize>) -> Vec<usize> {
    values.sort_unstable();
    values.dedup();
    values
}

/// The operations that the steps of a plan become: one entry for each step. It is `None` for a constant, and for a
/// step that another step's operation computes too.
pub(super) struct Layout {
    pub scalable: Vec<bool>,
    pub nodes: Vec<Option<Node>>,
}

impl Layout {
    /// Lays out the plan of a polynomial. Levels follow from noise bounds that hold for all correction factors. So
    /// every constant counts with the largest absolute value that it can have. A value whose correction factor is
    /// not free counts as multiplied by such a constant.
    ///
    /// # Errors
    /// [`BootstrapError::NoRoom`] if a message may be lost at every possible level.
    pub fn new(
        emitter: &Emitter<'_>,
        plan: &Plan,
        inputs: &[Emitted],
    ) -> Result<Self, BootstrapError> {
        let first = inputs.first().ok_or_else(malformed)?;
        let model = emitter.model(first.factor)?;
        let half = emitter.t(first.factor)?.value() / 2;
        let scalable = plan.scalable();
        let uses = uses(plan);
        let linear = |index: usize| {
            let step = index.checked_sub(plan.inputs());
            let step = step.and_then(|step| plan.steps().get(step));
            let alone = uses.get(index) == Some(&1) && index != plan.output().index();
            step.filter(|step| step.products.is_empty() && alone)
        };
        let is_scalable = |index: usize| scalable.get(index) == Some(&true);
        let mut bounds: Vec<Option<(Level, Noise)>> =
            inputs.iter().map(|v| Some((v.level, v.noise))).collect();
        let mut nodes: Vec<Option<Node>> = Vec::with_capacity(plan.steps().len());
        for step in plan.steps() {
            if step.products.is_empty() && step.linear.is_empty() {
                // A constant is no ciphertext, so it is done with the product that it is a factor of.
                bounds.push(None);
                nodes.push(None);
                continue;
            }
            let level = |index: usize| {
                let bound = bounds.get(index).copied().flatten();
                bound.map(|(level, _)| level)
            };
            let ordered = |[a, b]: &[ringmill_math::digits::Value; 2]| {
                let (a, b) = (a.index(), b.index());
                match (is_scalable(a), is_scalable(b)) {
                    (false, true) => (b, a),
                    _ => (a, b),
                }
            };
            let may_join = |first: usize| linear(first).filter(|_| is_scalable(first));
            let terms: Vec<usize> = step.linear.iter().map(|(_, v)| v.index()).collect();
            let pairs = step.products.iter().map(ordered);
            let others = pairs.flat_map(|(first, second)| {
                let first = may_join(first).is_none().then_some(first);
                first.into_iter().chain([second])
            });
            let others = others.filter_map(level).min();
            let above = terms.iter().copied().filter_map(level).min();
            let tail = above.filter(|&above| others.is_some_and(|others| above > others));
            let tail = tail.map(|at| Tail {
                at,
                combined: each_once(terms.clone()),
            });
            let mut combined = match tail {
                Some(_) => Vec::new(),
                None => terms,
            };
            let mut products = Vec::with_capacity(step.products.len());
            for (first, second) in step.products.iter().map(ordered) {
                // A sum that is as high as the product without it first goes down to where its noise is small, as an
                // operation of its own.
                let low =
                    || level(first).is_none_or(|own| others.is_none_or(|others| own < others));
                let first = match may_join(first).filter(|_| low()) {
                    Some(terms) => {
                        combined.extend(terms.linear.iter().map(|(_, v)| v.index()));
                        let joined = first.checked_sub(plan.inputs());
                        if let Some(node) = joined.and_then(|number| nodes.get_mut(number)) {
                            *node = None;
                        }
                        First::Linear(first)
                    }
                    None => First::Value(first),
                };
                products.push((first, second));
            }
            // A combination has at least one value.
            if let (true, Some(&(_, second))) = (combined.is_empty(), products.first()) {
                let joins = |first: &First| matches!(first, First::Linear(_));
                let constant = step.constant != 0 && tail.is_none();
                if constant || products.iter().any(|(first, _)| joins(first)) {
                    combined.push(second);
                }
            }
            let mut node = Node {
                at: first.level,
                settled: first.level,
                combined: each_once(combined),
                products,
                tail,
            };
            let bound = |index: usize| bounds.get(index).copied().flatten().ok_or_else(malformed);
            let operands = node.operands();
            let levels = operands.iter().map(|&v| bound(v).map(|(level, _)| level));
            let levels = levels.collect::<Result<Vec<_>, _>>()?;
            let at = levels.into_iter().min().ok_or_else(malformed)?;
            let lowered = |index: usize| {
                let (level, noise) = bound(index)?;
                Ok::<_, BootstrapError>(emitter.lowered(model, noise, level, at))
            };
            let combination = |terms: &ringmill_math::digits::Step, above: Option<Level>| {
                let mut sum: Option<Noise> = None;
                for (_, v) in &terms.linear {
                    let own = match above {
                        Some(above) => {
                            let (level, noise) = bound(v.index())?;
                            emitter.lowered(model, noise, level, above)
                        }
                        None => lowered(v.index())?,
                    };
                    let term = model.mul_integer(own, half);
                    sum = Some(sum.map_or(term, |sum| model.add(sum, term)));
                }
                if terms.constant != 0 {
                    let zero = lowered(*operands.first().ok_or_else(malformed)?)?;
                    sum = Some(model.add_plain(sum.unwrap_or(zero)));
                }
                Ok::<_, BootstrapError>(sum)
            };
            let mut sum: Option<Noise> = None;
            let mut forced = 0;
            for &(first, second) in &node.products {
                let left = match first {
                    First::Value(first) => lowered(first)?,
                    First::Linear(first) => {
                        let terms = linear(first).ok_or_else(malformed)?;
                        // An empty combination has the noise of the second factor.
                        match combination(terms, None)? {
                            Some(noise) => noise,
                            None => lowered(second)?,
                        }
                    }
                };
                let mut product = model.mul(left, lowered(second)?);
                if let First::Value(first) = first
                    && !is_scalable(first)
                {
                    forced += 1;
                    if forced > 1 {
                        product = model.mul_integer(product, half);
                    }
                }
                sum = Some(sum.map_or(product, |sum| model.add(sum, product)));
            }
            let above = node.tail.as_ref().map(|tail| tail.at);
            if let Some(tail) = combination(step, above)? {
                let tail = match above {
                    Some(above) => emitter.lowered(model, tail, above, at),
                    None => tail,
                };
                sum = Some(sum.map_or(tail, |sum| model.add(sum, tail)));
            }
            let before = sum.ok_or_else(malformed)?;
            let noise = match node.products.is_empty() {
                true => before,
                false => model.switch_key(before, at),
            };
            if model.room(noise, at) <= 0.0 {
                let step = "a polynomial";
                return Err(BootstrapError::NoRoom { step, level: at });
            }
            let settled = emitter.settled(model, noise, at);
            let count = at.primes() - settled.primes();
            let noise = match node.products.is_empty() {
                true => model.mod_switch_by(before, at, count),
                false => model.switch_key_by(before, at, count),
            };
            // A sum that goes to one product only goes down to it at once.
            for &(first, _) in &node.products {
                if let First::Value(first) = first
                    && may_join(first).is_some()
                    && let Some(number) = first.checked_sub(plan.inputs())
                    && let Some(Some(sum)) = nodes.get_mut(number)
                {
                    sum.settled = sum.settled.min(at);
                }
            }
            (node.at, node.settled) = (at, settled);
            bounds.push(Some((settled, noise)));
            nodes.push(Some(node));
        }
        Ok(Self { scalable, nodes })
    }
}

/// Returns for each value of a plan how often steps use it. A square uses its factor twice.
fn uses(plan: &Plan) -> Vec<usize> {
    let mut uses = vec![0; plan.inputs() + plan.steps().len()];
    for step in plan.steps() {
        let operands = step.products.iter().flatten();
        for v in operands.chain(step.linear.iter().map(|(_, v)| v)) {
            if let Some(count) = uses.get_mut(v.index()) {
                *count += 1;
            }
        }
    }
    uses
}

pub(super) fn malformed() -> BootstrapError {
    BootstrapError::Parameters {
        reason: "a plan without values, or one that its steps do not fit".into(),
    }
}
