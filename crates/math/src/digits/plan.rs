// SPDX-License-Identifier: Apache-2.0
//! Plans: the steps that evaluate a polynomial on ciphertexts, as data.

use super::DigitError;
use crate::Modulus;

/// The number of a value in a plan. Inputs come first, and each step makes the next value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value(pub(super) u32);

impl Value {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A step of a plan: the sum of `products`, of `linear` terms and of `constant`. The sum of the
/// products is relinearised once. So a step with products takes one key switch, and any other step
/// takes none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Step {
    /// The products that the step sums, each of two values; two equal values are a square.
    pub products: Vec<[Value; 2]>,
    /// Pairs of an integer factor and the value that it multiplies. A factor stands for a residue
    /// and is the integer nearest to 0.
    pub linear: Vec<(i64, Value)>,
    pub constant: i64,
}

/// A plan: a list of steps, each of which reads inputs and results of earlier steps. Every value is relinearised, because
/// each step relinearises its sum.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    inputs: u32,
    steps: Vec<Step>,
    output: Value,
}

/// The number of operations of each kind in the plan of a polynomial.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlanCount {
    /// The number of products of two ciphertexts, squares among them.
    pub products: usize,
    /// The number of relinearisations, each of which takes a key switch.
    pub key_switches: usize,
    /// The number of products of a ciphertext and an integer other than -1, 0 and 1.
    pub scalars: usize,
    /// The most products of two ciphertexts one after the other on any path of the plan.
    pub depth: usize,
    /// The most products, with a ciphertext or an integer, one after the other on any path of the plan. A product with
    /// an integer modulo p^e adds as much noise as one with a ciphertext.
    pub depth_with_scalars: usize,
}

/// Relative costs of operations, by which plans are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlanCosts {
    pub key_switch: u64,
    /// The cost of one more level, which one more product in sequence takes.
    pub depth: u64,
}

impl Default for PlanCosts {
    /// Returns costs by which a level weighs as much as 3.5 key switches. In BGV with plaintexts
    /// modulo 127^4, a level takes some 6 % of the modulus that a bootstrap leaves. A key switch
    /// takes some 1.7 % of a bootstrap's time.
    fn default() -> Self {
        Self {
            key_switch: 2,
            depth: 7,
        }
    }
}

impl PlanCosts {
    pub(super) fn of(self, count: PlanCount) -> u64 {
        self.key_switch * count.key_switches as u64 + self.depth * count.depth as u64
    }
}

impl Plan {
    pub fn inputs(&self) -> usize {
        self.inputs as usize
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub fn output(&self) -> Value {
        self.output
    }

    pub fn count(&self) -> PlanCount {
        let mut count = PlanCount::default();
        let mut depths = vec![(0usize, 0usize); self.inputs()];
        for step in &self.steps {
            count.products += step.products.len();
            count.key_switches += usize::from(!step.products.is_empty());
            let of_products = step.products.iter().flatten().map(|v| {
                let (d, s) = depths[v.index()];
                (d + 1, s + 1)
            });
            let scalars = |c: i64| usize::from(c.unsigned_abs() > 1);
            count.scalars += step.linear.iter().map(|&(c, _)| scalars(c)).sum::<usize>();
            let of_linear = step.linear.iter().map(|&(c, v)| {
                let (d, s) = depths[v.index()];
                (d, s + scalars(c))
            });
            let largest = |(a, b): (usize, usize), (c, d): (usize, usize)| (a.max(c), b.max(d));
            depths.push(of_products.chain(of_linear).fold((0, 0), largest));
        }
        (count.depth, count.depth_with_scalars) = depths[self.output.index()];
        count
    }

    /// Returns for each value whether a plan can compute it times any integer at no cost, for
    /// schemes whose ciphertexts carry a factor (BGV). Inputs and their powers cannot be scaled. To
    /// scale a step by s, the integers of its terms are multiplied by s. So is, in turn, a factor
    /// of each of its products that can be scaled. In plans for polynomials all values but powers
    /// can be scaled, and each is used once. So every sum adds values with one factor, and the
    /// output has the factor that the caller asks for.
    pub fn scalable(&self) -> Vec<bool> {
        let mut uses = vec![0; self.inputs() + self.steps.len()];
        for step in &self.steps {
            let operands = step.products.iter().flatten();
            for v in operands.chain(step.linear.iter().map(|(_, v)| v)) {
                uses[v.index()] += 1;
            }
        }
        let mut scalable = vec![false; self.inputs()];
        for step in &self.steps {
            let power = step.linear.is_empty() && step.constant == 0 && step.products.len() == 1;
            let product = |pair: &[Value; 2]| pair.iter().any(|v| scalable[v.index()]);
            let all = step.products.iter().all(product);
            let any = step.products.iter().any(product);
            // A value that is used more than once is made once, and not scaled: a polynomial that others share.
            let once = uses[scalable.len()] <= 1;
            scalable.push(all && (any || !power) && once);
        }
        scalable
    }

    /// Returns the plan's output for these integers as inputs, computed modulo q.
    ///
    /// # Errors
    /// [`DigitError::Inputs`] if the number of inputs is wrong.
    pub fn evaluate(&self, q: Modulus, inputs: &[u64]) -> Result<u64, DigitError> {
        if inputs.len() != self.inputs() {
            return Err(DigitError::Inputs {
                expected: self.inputs(),
                got: inputs.len(),
            });
        }
        let mut values: Vec<u64> = inputs.iter().map(|&x| q.reduce(x)).collect();
        for step in &self.steps {
            let mut sum = q.from_i64(step.constant);
            for [a, b] in &step.products {
                sum = q.add(sum, q.mul(values[a.index()], values[b.index()]));
            }
            for &(c, v) in &step.linear {
                sum = q.add(sum, q.mul(q.from_i64(c), values[v.index()]));
            }
            values.push(sum);
        }
        Ok(values[self.output.index()])
    }
}

/// Builds a plan from its inputs, one step after another.
pub(super) struct Builder {
    inputs: u32,
    steps: Vec<Step>,
}

impl Builder {
    pub fn new(inputs: u32) -> Self {
        Self {
            inputs,
            steps: Vec::new(),
        }
    }

    pub fn input(&self, i: u32) -> Value {
        Value(i)
    }

    pub fn push(&mut self, step: Step) -> Value {
        self.steps.push(step);
        Value(self.inputs + self.steps.len() as u32 - 1)
    }

    pub fn product(&mut self, a: Value, b: Value) -> Value {
        self.push(Step {
            products: vec![[a, b]],
            ..Step::default()
        })
    }

    pub fn finish(self, output: Value) -> Plan {
        Plan {
            inputs: self.inputs,
            steps: self.steps,
            output,
        }
    }
}
