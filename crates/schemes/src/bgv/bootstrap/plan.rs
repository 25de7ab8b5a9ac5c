// SPDX-License-Identifier: Apache-2.0
//! Emits the plan of a polynomial as steps of a bootstrap.

use std::collections::{HashMap, VecDeque};

use ringmill_isa::Level;
use ringmill_isa::macros::linked::{Left, Products};
use ringmill_math::digits::{Plan, Step as PlanStep};

use super::emit::{Emitted, Emitter};
use super::error::BootstrapError;
use super::layout::{First, Layout, Node, Tail, malformed};
use super::operands::{Combination, Operands};
use crate::bgv::{Factor, Noise};
use crate::rlwe::RlweError;

/// The state while the plan of a polynomial is emitted. A value that can be scaled by any integer at no cost
/// ([`Plan::scalable`]) is used once. It is computed at that use, with the correction factor that the use needs.
/// All other values are powers of inputs. They are computed once, with the correction factor that their divisions
/// by primes leave.
struct Run<'a> {
    emitter: &'a Emitter<'a>,
    plan: &'a Plan,
    layout: Layout,
    /// The plan's inputs, and the computed values that cannot be scaled by an integer at no cost. Each is kept until
    /// its last use.
    made: Vec<Option<Emitted>>,
    /// For each value of the plan, the levels at which steps that are still to come use it.
    wanted: Vec<Vec<Level>>,
    /// Copies of values, divided down to lower levels at which later steps will use them. The key is the value's
    /// index and the level.
    lowered: HashMap<(usize, Level), Emitted>,
}

/// Emits the plan of a polynomial for ciphertexts of one plaintext modulus, and returns its result. The result's
/// correction factor is 1 if the result can be scaled by any integer at no cost.
pub(super) fn run(
    emitter: &Emitter<'_>,
    plan: &Plan,
    inputs: &[Emitted],
) -> Result<Emitted, BootstrapError> {
    let first = inputs.first().ok_or_else(malformed)?;
    let one = Factor::one_modulo(first.factor.plain());
    let layout = Layout::new(emitter, plan, inputs)?;
    let mut wanted = vec![Vec::new(); plan.inputs() + plan.steps().len()];
    for node in layout.nodes.iter().flatten() {
        for operand in node.operands() {
            wanted.get_mut(operand).ok_or_else(malformed)?.push(node.at);
        }
        if let Some(tail) = &node.tail {
            for &operand in &tail.combined {
                wanted.get_mut(operand).ok_or_else(malformed)?.push(tail.at);
            }
        }
    }
    let mut run = Run {
        emitter,
        plan,
        layout,
        made: inputs.iter().copied().map(Some).collect(),
        wanted,
        lowered: HashMap::new(),
    };
    for number in 0..plan.steps().len() {
        let index = plan.inputs() + number;
        let made = match run.is_scalable(index) {
            true => None,
            false => Some(run.step(number, None)?),
        };
        run.made.push(made);
    }
    let output = plan.output().index();
    match run.made.get_mut(output).and_then(Option::take) {
        Some(value) => Ok(value),
        None => run.step(run.number(output)?, Some(one)),
    }
}

impl Run<'_> {
    fn is_scalable(&self, index: usize) -> bool {
        self.layout.scalable.get(index) == Some(&true)
    }

    fn number(&self, index: usize) -> Result<usize, BootstrapError> {
        index.checked_sub(self.plan.inputs()).ok_or_else(malformed)
    }

    fn plan_step(&self, number: usize) -> Result<&PlanStep, BootstrapError> {
        self.plan.steps().get(number).ok_or_else(malformed)
    }

    /// Returns the value of index `index` at a level at or below its own. If the value can be scaled by any integer
    /// at no cost, it has the correction factor `wanted`.
    fn value_at(
        &mut self,
        index: usize,
        level: Level,
        wanted: Option<Factor>,
    ) -> Result<Emitted, BootstrapError> {
        let uses = self.wanted.get_mut(index).ok_or_else(malformed)?;
        if let Some(at) = uses.iter().position(|&use_at| use_at == level) {
            uses.swap_remove(at);
        }
        let highest = uses.iter().copied().max();
        let again = uses.contains(&level);
        if let Some(lowered) = self.lowered.get(&(index, level)).copied() {
            if !again {
                self.lowered.remove(&(index, level));
            }
            return Ok(lowered);
        }
        let Some(Some(own)) = self.made.get(index).copied() else {
            let number = self.number(index)?;
            let node = self.layout.nodes.get(number).ok_or_else(malformed)?;
            let settled = node.as_ref().ok_or_else(malformed)?.settled;
            let wanted = wanted.map(|f| self.emitter.before(f, settled, level));
            let value = self.step(number, wanted.transpose()?)?;
            return self.emitter.down(value, level);
        };
        let lowered = self.emitter.down(own, level)?;
        // If the value is used only at this level or below, the lowered copy replaces it.
        if let Some(slot) = self.made.get_mut(index) {
            match highest {
                None => *slot = None,
                Some(highest) if highest <= level => *slot = Some(lowered),
                Some(_) if again && own.level != level => {
                    self.lowered.insert((index, level), lowered);
                }
                Some(_) => {}
            }
        }
        Ok(lowered)
    }

    /// Returns the correction factor that a value has after it is divided down to a level. It is `None` for a value
    /// that is computed when it is used.
    fn factor_at(&self, index: usize, level: Level) -> Result<Option<Factor>, RlweError> {
        let Some(Some(made)) = self.made.get(index) else {
            return Ok(None);
        };
        let factor = self.emitter.over(made.factor, made.level, level)?;
        Ok(Some(factor))
    }

    /// Emits a step of the plan. Its result has the correction factor `wanted`, or, for a product of powers, the
    /// product of their factors.
    fn step(&mut self, number: usize, wanted: Option<Factor>) -> Result<Emitted, BootstrapError> {
        let emitter = self.emitter;
        let node = self.layout.nodes.get(number).ok_or_else(malformed)?;
        let node = node.clone().ok_or_else(malformed)?;
        let step = self.plan_step(number)?.clone();
        let (at, settled) = (node.at, node.settled);
        let wanted = wanted.map(|f| emitter.before(f, at, settled)).transpose()?;
        let mut early = self.made_for(&node, wanted)?;
        let mut operands = Operands::default();
        for &index in &node.combined {
            operands.add(index, self.value_at(index, at, None)?);
        }
        for &(first, second) in &node.products {
            if let First::Value(first) = first
                && !self.is_scalable(first)
                && !operands.holds(first)
            {
                operands.add(first, self.value_at(first, at, None)?);
            }
            if !operands.holds(second) {
                operands.add(second, self.value_at(second, at, None)?);
            }
        }
        let plain = operands.values.first().ok_or_else(malformed)?;
        let t = emitter.t(plain.factor)?;
        let one = Factor::one_modulo(plain.factor.plain());
        // A product of powers has a fixed factor. All other products take the factor of the first such product.
        let mut target: Option<Factor> = None;
        for &(first, second) in &node.products {
            if let (First::Value(first), None) = (first, target)
                && !self.is_scalable(first)
            {
                let (a, b) = (operands.get(first)?, operands.get(second)?);
                target = Some(a.1.factor.times(b.1.factor, t));
            }
        }
        let target = target.or(wanted).unwrap_or(one);
        let model = emitter.model(target)?;
        let mut combinations: Vec<Combination> = Vec::new();
        let mut products = Vec::with_capacity(node.products.len());
        let mut noise: Option<Noise> = None;
        let mut add = |term: Noise| {
            noise = Some(noise.map_or(term, |sum| model.add(sum, term)));
        };
        for &(first, second) in &node.products {
            let (right, other) = operands.get(second)?;
            let ratio = t.mul(target.value(), other.factor.inverse(t)?);
            let own = Factor::new(ratio, t)?.modulo(target.plain(), t);
            let other = other.noise;
            let left = match first {
                First::Linear(first) => {
                    let terms = self.plan_step(self.number(first)?)?;
                    let (combination, noise) =
                        operands.combination(emitter, &node.combined, terms, own)?;
                    combinations.push(combination);
                    add(model.mul(noise, other));
                    Left::Combination
                }
                First::Value(first) if self.is_scalable(first) => {
                    let value = match early.pop_front() {
                        Some(value) => value,
                        None => self.value_at(first, at, Some(own))?,
                    };
                    add(model.mul(value.noise, other));
                    Left::Operand(operands.add(first, value))
                }
                First::Value(first) => {
                    let (mut place, mut value) = operands.get(first)?;
                    if value.factor != own {
                        value = emitter.under(value, own)?;
                        place = operands.add_more(value);
                    }
                    add(model.mul(value.noise, other));
                    Left::Operand(place)
                }
            };
            products.push((left, right));
        }
        let tail = !step.linear.is_empty() || step.constant != 0;
        match &node.tail {
            Some(apart) => {
                let sum = self.tail(apart, &step, target, at)?;
                add(sum.noise);
                // The last of the combined values, once.
                for combination in &mut combinations {
                    combination.insert(node.combined.len(), 0);
                }
                let mut combination = vec![0; node.combined.len() + 2];
                if let Some(own) = combination.get_mut(node.combined.len()) {
                    *own = 1;
                }
                combinations.push(combination);
                operands.values.insert(node.combined.len(), sum);
                let behind =
                    |place: u16| place + u16::from(usize::from(place) >= node.combined.len());
                for (left, right) in &mut products {
                    *right = behind(*right);
                    if let Left::Operand(left) = left {
                        *left = behind(*left);
                    }
                }
            }
            None if tail => {
                let terms = &node.combined;
                let (combination, noise) = operands.combination(emitter, terms, &step, target)?;
                combinations.push(combination);
                add(noise);
            }
            None => {}
        }
        let before = noise.ok_or_else(malformed)?;
        let most = match products.is_empty() {
            true => before,
            false => model.switch_key(before, at),
        };
        emitter.check_room("a polynomial", most, at, target)?;
        let dropped = at.primes() - settled.primes();
        let factor = emitter.over(target, at, settled)?;
        let integers = emitter.centred(target, &combinations.concat())?;
        if products.is_empty() {
            let noise = model.mod_switch_by(before, at, dropped);
            return Ok(emitter.combine(&operands.values, integers, (settled, factor, noise)));
        }
        let products = Products {
            combined: (node.combined.len() + usize::from(node.tail.is_some())) as u16,
            factors: products,
            tail,
            integers,
            to: settled,
        };
        let noise = model.switch_key_by(before, at, dropped);
        Ok(emitter.sum_products(&operands.values, products, (factor, noise)))
    }
}

impl Run<'_> {
    /// Computes, in order, the first factors of a step's products that can be scaled by any integer at no cost. The
    /// powers that multiply them are divided down to the step's level only after that. They are still needed above
    /// it, and would otherwise be in memory twice. Returns an empty list if a correction factor is not known yet.
    fn made_for(
        &mut self,
        node: &Node,
        wanted: Option<Factor>,
    ) -> Result<VecDeque<Emitted>, BootstrapError> {
        let (emitter, at) = (self.emitter, node.at);
        let mut known = Vec::new();
        for &(first, second) in &node.products {
            let Some(factor) = self.factor_at(second, at)? else {
                return Ok(VecDeque::new());
            };
            known.push((first, factor));
        }
        let Some(&(_, any)) = known.first() else {
            return Ok(VecDeque::new());
        };
        let t = emitter.t(any)?;
        let mut target = None;
        for &(first, factor) in &known {
            if let (First::Value(first), None) = (first, target)
                && !self.is_scalable(first)
            {
                let Some(own) = self.factor_at(first, at)? else {
                    return Ok(VecDeque::new());
                };
                target = Some(own.times(factor, t));
            }
        }
        let target = target.or(wanted);
        let target = target.unwrap_or(Factor::one_modulo(any.plain()));
        let mut made = VecDeque::new();
        for (first, factor) in known {
            if let First::Value(first) = first
                && self.is_scalable(first)
            {
                let ratio = t.mul(target.value(), factor.inverse(t)?);
                let own = Factor::new(ratio, t)?.modulo(target.plain(), t);
                made.push_back(self.value_at(first, at, Some(own))?);
            }
        }
        Ok(made)
    }

    /// Emits the sum of a step's linear terms at the level of `tail`, and divides it down to the lower level `to`.
    /// There it has the correction factor `target`.
    fn tail(
        &mut self,
        tail: &Tail,
        step: &PlanStep,
        target: Factor,
        to: Level,
    ) -> Result<Emitted, BootstrapError> {
        let emitter = self.emitter;
        let mut operands = Operands::default();
        for &index in &tail.combined {
            operands.add(index, self.value_at(index, tail.at, None)?);
        }
        let factor = emitter.before(target, tail.at, to)?;
        let (combination, before) = operands.combination(emitter, &tail.combined, step, factor)?;
        emitter.check_room("a polynomial", before, tail.at, factor)?;
        let integers = emitter.centred(factor, &combination)?;
        let noise = emitter.lowered(emitter.model(target)?, before, tail.at, to);
        Ok(emitter.combine(&operands.values, integers, (to, target, noise)))
    }
}
