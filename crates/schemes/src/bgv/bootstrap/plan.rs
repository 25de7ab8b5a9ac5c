// SPDX-License-Identifier: Apache-2.0
//! Plans of polynomials, run on ciphertexts.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_math::digits::{Plan, Step as PlanStep};

use super::error::BootstrapError;
use super::layout::{First, Layout, Node, Tail, malformed};
use super::value::{Engine, Value};
use crate::bgv::{Ciphertext, Factor, Noise, OpKey};
use crate::rlwe::RlweError;
use crate::rlwe::ops::{Left, Shape};

/// A plan at work. Values that can be had times any integer at no cost ([`Plan::scalable`]) are made where they are used, with the factor
/// that is wanted there: each is used once. The others, powers of inputs, are made once, with the factor that their primes leave.
struct Run<'a> {
    engine: &'a Engine<'a>,
    plan: &'a Plan,
    layout: Layout,
    /// Inputs and values that are not scalable, as long as something is to use them.
    made: Vec<Option<Arc<Value>>>,
    /// The levels at which each value is still to be used.
    wanted: Vec<Vec<Level>>,
    /// Values at levels below their own at which they are still to be used.
    lowered: HashMap<(usize, Level), Arc<Value>>,
}

/// The plan's value at ciphertexts of one plaintext modulus. Its factor is 1 where it is scalable.
pub(super) fn run(
    engine: &Engine<'_>,
    plan: &Plan,
    inputs: Vec<Value>,
) -> Result<Value, BootstrapError> {
    let first = inputs.first().ok_or_else(malformed)?;
    let one = Factor::one_modulo(first.factor().plain());
    let layout = Layout::new(engine, plan, &inputs)?;
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
        engine,
        plan,
        layout,
        made: inputs.into_iter().map(|v| Some(Arc::new(v))).collect(),
        wanted,
        lowered: HashMap::new(),
    };
    for number in 0..plan.steps().len() {
        let index = plan.inputs() + number;
        let made = match run.is_scalable(index) {
            true => None,
            false => Some(Arc::new(run.step(number, None)?)),
        };
        run.made.push(made);
    }
    let output = plan.output().index();
    let value = match run.made.get_mut(output).and_then(Option::take) {
        Some(value) => value,
        None => Arc::new(run.step(run.number(output)?, Some(one))?),
    };
    Ok(Arc::unwrap_or_clone(value))
}

/// Integers modulo the plaintext modulus: of each value that is combined, and the constant.
type Combination = Vec<u64>;

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

    /// A value at a level at or below its own, with the factor that is wanted there where it can be had.
    fn value_at(
        &mut self,
        index: usize,
        level: Level,
        wanted: Option<Factor>,
    ) -> Result<Arc<Value>, BootstrapError> {
        let uses = self.wanted.get_mut(index).ok_or_else(malformed)?;
        if let Some(at) = uses.iter().position(|&use_at| use_at == level) {
            uses.swap_remove(at);
        }
        let highest = uses.iter().copied().max();
        let again = uses.contains(&level);
        if let Some(lowered) = self.lowered.get(&(index, level)).cloned() {
            if !again {
                self.lowered.remove(&(index, level));
            }
            return Ok(lowered);
        }
        let Some(Some(own)) = self.made.get(index).cloned() else {
            let number = self.number(index)?;
            let node = self.layout.nodes.get(number).ok_or_else(malformed)?;
            let settled = node.as_ref().ok_or_else(malformed)?.settled;
            let wanted = wanted.map(|f| self.engine.before(f, settled, level));
            let value = self.step(number, wanted.transpose()?)?;
            return Ok(Arc::new(self.engine.down(&value, level)?));
        };
        let lowered = match own.level() == level {
            true => Arc::clone(&own),
            false => Arc::new(self.engine.down(&own, level)?),
        };
        // What is used further down alone takes the place of what it was made of.
        if let Some(slot) = self.made.get_mut(index) {
            match highest {
                None => *slot = None,
                Some(highest) if highest <= level => *slot = Some(Arc::clone(&lowered)),
                Some(_) if again && own.level() != level => {
                    self.lowered.insert((index, level), Arc::clone(&lowered));
                }
                Some(_) => {}
            }
        }
        Ok(lowered)
    }

    /// The factor that a value has, or will have when it goes down to a level; none where it is made where it is used.
    fn factor_at(&self, index: usize, level: Level) -> Result<Option<Factor>, RlweError> {
        let Some(Some(made)) = self.made.get(index) else {
            return Ok(None);
        };
        let factor = self.engine.over(made.factor(), made.level(), level)?;
        Ok(Some(factor))
    }

    /// Does a step. Its result has the factor that is wanted, or the one that a product of powers has.
    fn step(&mut self, number: usize, wanted: Option<Factor>) -> Result<Value, BootstrapError> {
        let engine = self.engine;
        let node = self.layout.nodes.get(number).ok_or_else(malformed)?;
        let node = node.clone().ok_or_else(malformed)?;
        let step = self.plan_step(number)?.clone();
        let (at, settled) = (node.at, node.settled);
        let wanted = wanted.map(|f| engine.before(f, at, settled)).transpose()?;
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
        let t = engine.t(plain.factor())?;
        let one = Factor::one_modulo(plain.factor().plain());
        // Products of powers have the factor that they have: of the first of them all others are made to have it.
        let mut target: Option<Factor> = None;
        for &(first, second) in &node.products {
            if let (First::Value(first), None) = (first, target)
                && !self.is_scalable(first)
            {
                let (a, b) = (operands.get(first)?, operands.get(second)?);
                target = Some(a.1.factor().times(b.1.factor(), t));
            }
        }
        let target = target.or(wanted).unwrap_or(one);
        let model = engine.model(target)?;
        let mut combinations: Vec<Combination> = Vec::new();
        let mut products = Vec::with_capacity(node.products.len());
        let mut noise: Option<Noise> = None;
        let mut add = |term: Noise| {
            noise = Some(noise.map_or(term, |sum| model.add(sum, term)));
        };
        for &(first, second) in &node.products {
            let (right, other) = operands.get(second)?;
            let ratio = t.mul(target.value(), other.factor().inverse(t)?);
            let own = Factor::new(ratio, t)?.modulo(target.plain(), t);
            let other = other.noise;
            let left = match first {
                First::Linear(first) => {
                    let terms = self.plan_step(self.number(first)?)?;
                    let (combination, noise) =
                        operands.combination(engine, &node.combined, terms, own)?;
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
                    if value.factor() != own {
                        value = Arc::new(engine.under(&value, own, 1)?);
                        place = operands.add_more(Arc::clone(&value));
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
                // The last of what is combined, once.
                for combination in &mut combinations {
                    combination.insert(node.combined.len(), 0);
                }
                let mut combination = vec![0; node.combined.len() + 2];
                if let Some(own) = combination.get_mut(node.combined.len()) {
                    *own = 1;
                }
                combinations.push(combination);
                operands.values.insert(node.combined.len(), Arc::new(sum));
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
                let (combination, noise) = operands.combination(engine, terms, &step, target)?;
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
        engine.check_room("a polynomial", most, at, target)?;
        let dropped = at.primes() - settled.primes();
        let factor = engine.over(target, at, settled)?;
        let residues = residues(engine, target, at, &combinations)?;
        let ciphers: Vec<&Ciphertext> = operands.values.iter().map(|v| &v.cipher).collect();
        let shared = engine.evaluator.shared();
        if products.is_empty() {
            let op = OpKey::combine(at, ciphers.len(), residues).dropping(dropped as u16);
            let op = op.modulo(factor.plain());
            return Ok(Value {
                cipher: shared.one(&op, &ciphers, &[], &[], factor)?,
                noise: model.mod_switch_by(before, at, dropped),
            });
        }
        let shape = Shape {
            dropped: dropped as u16,
            combined: (node.combined.len() + usize::from(node.tail.is_some())) as u16,
            products,
            tail,
        };
        let key = &engine.keys.relin.0;
        let op = OpKey::sum_products(at, ciphers.len(), shape, residues, key.seed().is_some());
        let op = op.modulo(factor.plain());
        Ok(Value {
            cipher: shared.one(&op, &ciphers, &[], &[key], factor)?,
            noise: model.switch_key_by(before, at, dropped),
        })
    }
}

impl Run<'_> {
    /// The first factors of a step's products that are made for it, in order. They come before the powers that they are multiplied by go
    /// down to the step's level: these are wanted above it meanwhile, and would be held twice. None where a factor is not known
    /// before.
    fn made_for(
        &mut self,
        node: &Node,
        wanted: Option<Factor>,
    ) -> Result<VecDeque<Arc<Value>>, BootstrapError> {
        let (engine, at) = (self.engine, node.at);
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
        let t = engine.t(any)?;
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

    /// Linear terms in sum, with a factor at a level below that where they are added up.
    fn tail(
        &mut self,
        tail: &Tail,
        step: &PlanStep,
        target: Factor,
        to: Level,
    ) -> Result<Value, BootstrapError> {
        let engine = self.engine;
        let mut operands = Operands::default();
        for &index in &tail.combined {
            operands.add(index, self.value_at(index, tail.at, None)?);
        }
        let factor = engine.before(target, tail.at, to)?;
        let (combination, before) = operands.combination(engine, &tail.combined, step, factor)?;
        engine.check_room("a polynomial", before, tail.at, factor)?;
        let residues = residues(engine, factor, tail.at, &[combination])?;
        let dropped = tail.at.primes() - to.primes();
        let ciphers: Vec<&Ciphertext> = operands.values.iter().map(|v| &v.cipher).collect();
        let op = OpKey::combine(tail.at, ciphers.len(), residues).dropping(dropped as u16);
        let op = op.modulo(target.plain());
        let shared = engine.evaluator.shared();
        Ok(Value {
            cipher: shared.one(&op, &ciphers, &[], &[], target)?,
            noise: engine
                .model(target)?
                .mod_switch_by(before, tail.at, dropped),
        })
    }
}

/// The ciphertexts that a step takes, at one level: first those that are combined.
#[derive(Default)]
struct Operands {
    /// Numbers of values.
    indices: Vec<Option<usize>>,
    values: Vec<Arc<Value>>,
}

impl Operands {
    fn holds(&self, index: usize) -> bool {
        self.indices.contains(&Some(index))
    }

    fn add(&mut self, index: usize, value: Arc<Value>) -> u16 {
        self.indices.push(Some(index));
        self.values.push(value);
        self.values.len() as u16 - 1
    }

    /// One that is no value of the plan.
    fn add_more(&mut self, value: Arc<Value>) -> u16 {
        self.indices.push(None);
        self.values.push(value);
        self.values.len() as u16 - 1
    }

    fn get(&self, index: usize) -> Result<(u16, Arc<Value>), BootstrapError> {
        let place = self.indices.iter().position(|&i| i == Some(index));
        let place = place.ok_or_else(malformed)?;
        let value = self.values.get(place).ok_or_else(malformed)?;
        Ok((place as u16, Arc::clone(value)))
    }

    /// What the values that are combined are multiplied by, so that the sum of a step's linear terms has a factor, and its noise.
    fn combination(
        &self,
        engine: &Engine<'_>,
        combined: &[usize],
        terms: &PlanStep,
        factor: Factor,
    ) -> Result<(Combination, Noise), BootstrapError> {
        let (t, model) = (engine.t(factor)?, engine.model(factor)?);
        let centred = engine.params.plain_at(factor.plain())?;
        let residue = |c: i64| i128::from(c).rem_euclid(t.value().into()) as u64;
        let mut integers = vec![0; combined.len() + 1];
        for &(c, v) in &terms.linear {
            let (place, value) = self.get(v.index())?;
            let ratio = t.mul(factor.value(), value.factor().inverse(t)?);
            let integer = integers.get_mut(usize::from(place)).ok_or_else(malformed)?;
            *integer = t.add(*integer, t.mul(ratio, residue(c)));
        }
        let mut noise: Option<Noise> = None;
        for (&integer, value) in integers.iter().zip(&self.values) {
            if integer == 0 {
                continue;
            }
            let size = centred.centred(integer).unsigned_abs();
            let term = model.mul_integer(value.noise, size);
            noise = Some(noise.map_or(term, |sum| model.add(sum, term)));
        }
        let constant = t.mul(residue(terms.constant), factor.value());
        if let Some(last) = integers.last_mut() {
            *last = constant;
        }
        let mut noise = match noise {
            Some(noise) => noise,
            None => self.values.first().ok_or_else(malformed)?.noise,
        };
        if constant != 0 {
            noise = model.add_plain(noise);
        }
        Ok((integers, noise))
    }
}

/// Integers about zero modulo each prime of a level, one after the other.
fn residues(
    engine: &Engine<'_>,
    factor: Factor,
    level: Level,
    combinations: &[Combination],
) -> Result<Vec<u64>, BootstrapError> {
    let t = engine.params.plain_at(factor.plain())?;
    let mut residues = Vec::new();
    for &integer in combinations.iter().flatten() {
        let integer = t.centred(integer);
        for q in engine.params.reducers().iter().take(level.primes()) {
            let size = q.reduce(integer.unsigned_abs());
            residues.push(if integer < 0 { q.neg(size) } else { size });
        }
    }
    Ok(residues)
}
