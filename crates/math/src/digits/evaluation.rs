// SPDX-License-Identifier: Apache-2.0
//! Chooses the cheapest plan to evaluate a polynomial: which powers are baby steps, which are giant steps, and which are
//! giant steps of these.

use super::plan::{Builder, Plan, PlanCosts, Step, Value};
use super::powers::Powers;

/// The kind of powers of x with non-zero coefficients in a polynomial: odd ones only, even ones
/// only, or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Parity {
    Odd,
    Even,
    Mixed,
}

/// The powers of x that are the baby steps of an evaluation, and the operation at its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Basis {
    /// The baby steps are 1, x, x^2, ... This serves a polynomial with odd and even powers.
    All,
    /// The baby steps are x, x^3, x^5, ..., and the giant steps are even powers. This serves a
    /// polynomial with odd powers alone.
    Odd,
    /// The baby steps are 1, x^2, x^4, ... This serves a polynomial with even powers alone.
    Even,
    /// The baby steps are 1, x^2, x^4, ..., and x multiplies the whole sum at the end. This serves
    /// a polynomial with odd powers alone. It takes fewer powers than `Odd`, and one more product
    /// in sequence.
    EvenTimesX,
}

/// The layout of an evaluation h(x) = sum of b_j(x) v^j. Each block b_j is a sum of baby steps (low powers of x) times
/// coefficients, and v is the power of x by which successive blocks differ. The number j is written in digits of the
/// radices `radices`, lowest digit first. The powers of v for one digit of j multiply the sums over the lower digits. A
/// block whose digit is 0 needs no such product.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Layout {
    basis: Basis,
    babies: usize,
    radices: Vec<usize>,
}

/// Returns the plan with the least cost to evaluate a polynomial at one input. It tries layouts whose number of baby
/// steps lies between a quarter of the square root of the number of terms and four times this root. If the root is 32
/// or more, it tries some of these numbers only. `coefficients` begin with the constant. Of several plans with the same
/// cost it returns the first.
pub(super) fn plan_polynomial(coefficients: &[i64], costs: PlanCosts) -> Plan {
    let mut builder = Builder::new(1);
    let x = builder.input(0);
    let output = emit(&mut builder, x, coefficients, costs);
    builder.finish(output)
}

/// Adds the steps that [`plan_polynomial`] plans to another plan. They evaluate the polynomial at
/// that plan's value `x`.
pub(super) fn emit(
    builder: &mut Builder,
    x: Value,
    coefficients: &[i64],
    costs: PlanCosts,
) -> Value {
    let parity = parity(coefficients);
    let bases: &[Basis] = match parity {
        Parity::Odd => &[Basis::Odd, Basis::EvenTimesX],
        Parity::Even => &[Basis::Even],
        Parity::Mixed => &[Basis::All],
    };
    let mut best: Option<(u64, Layout)> = None;
    for &basis in bases {
        let terms = terms_of(basis, coefficients).len();
        let root = terms.isqrt().max(1);
        let numbers = (root.div_ceil(4)..=(4 * root).min(terms.max(1))).step_by((root / 16).max(1));
        for babies in numbers {
            for radices in radix_lists(terms.div_ceil(babies)) {
                let layout = Layout {
                    basis,
                    babies,
                    radices,
                };
                let mut dry = Builder::new(1);
                let input = dry.input(0);
                let output = layout.emit(&mut dry, input, terms, |_| Step::default());
                let cost = costs.of(dry.finish(output).count());
                if best.as_ref().is_none_or(|(c, _)| cost < *c) {
                    best = Some((cost, layout));
                }
            }
        }
    }
    let layout = best.map_or(
        Layout {
            basis: Basis::All,
            babies: 1,
            radices: Vec::new(),
        },
        |(_, layout)| layout,
    );
    let terms = terms_of(layout.basis, coefficients);
    layout.emit(builder, x, terms.len(), |range: Block<'_>| {
        range.combine(&terms)
    })
}

fn parity(coefficients: &[i64]) -> Parity {
    let has = |parity: usize| {
        let of_parity = coefficients.iter().skip(parity).step_by(2);
        of_parity.into_iter().any(|&c| c != 0)
    };
    match (has(0), has(1)) {
        (false, true) => Parity::Odd,
        (_, false) => Parity::Even,
        (true, true) => Parity::Mixed,
    }
}

/// Returns a polynomial's coefficients at the powers that `basis` has (all, odd or even ones), without zeros at the end.
fn terms_of(basis: Basis, coefficients: &[i64]) -> Vec<i64> {
    let (skip, step) = match basis {
        Basis::All => (0, 1),
        Basis::Odd | Basis::EvenTimesX => (1, 2),
        Basis::Even => (0, 2),
    };
    let mut terms: Vec<i64> = coefficients
        .iter()
        .skip(skip)
        .step_by(step)
        .copied()
        .collect();
    while terms.len() > 1 && terms.last() == Some(&0) {
        terms.pop();
    }
    terms
}

/// Returns lists of radices whose product reaches `blocks` with the last radix and not before. All
/// radices are 2, 3 or 4, except that the last one may be a larger number that is just large
/// enough.
fn radix_lists(blocks: usize) -> Vec<Vec<usize>> {
    if blocks <= 1 {
        return vec![Vec::new()];
    }
    let lists = (2..=4usize).flat_map(|radix| {
        let rest = radix_lists(blocks.div_ceil(radix));
        rest.into_iter().map(move |mut list| {
            list.insert(0, radix);
            list
        })
    });
    let flat = vec![blocks];
    lists.chain((blocks > 4).then_some(flat)).collect()
}

/// A block of a polynomial's evaluation: the baby steps (low powers of x), and the coefficients by which they are
/// multiplied.
struct Block<'a> {
    start: usize,
    /// The values of the plan that are the baby steps; `None` is the constant 1.
    babies: &'a [Option<Value>],
}

impl Block<'_> {
    fn combine(self, terms: &[i64]) -> Step {
        let mut step = Step::default();
        let own = terms.iter().skip(self.start);
        for (&c, baby) in own.zip(self.babies).filter(|&(&c, _)| c != 0) {
            match baby {
                Some(value) => step.linear.push((c, *value)),
                None => step.constant = c,
            }
        }
        step
    }
}

impl Layout {
    /// Adds the steps of the polynomial's evaluation to a plan. `combine` returns the step that sums the baby steps of
    /// one block times coefficients.
    fn emit(
        &self,
        builder: &mut Builder,
        x: Value,
        terms: usize,
        combine: impl Fn(Block<'_>) -> Step,
    ) -> Value {
        let mut powers = Powers::of(x);
        let k = self.babies;
        let exponents = |i: usize| match self.basis {
            Basis::All => i,
            Basis::Odd => 2 * i + 1,
            Basis::Even | Basis::EvenTimesX => 2 * i,
        };
        let wanted = k.min(terms);
        let babies: Vec<Option<Value>> = (0..wanted)
            .map(|i| (exponents(i) > 0).then(|| powers.get(builder, exponents(i))))
            .collect();
        let blocks = terms.div_ceil(k).max(1);
        // For each radix, the powers of v from which its giant steps come.
        let mut giants: Vec<Powers> = Vec::with_capacity(self.radices.len());
        if blocks > 1 {
            let v = powers.get(builder, exponents(k) - exponents(0));
            giants.push(Powers::of(v));
            for &radix in self.radices.iter().take(self.radices.len() - 1) {
                let next = match giants.last_mut() {
                    Some(last) => last.get(builder, radix),
                    None => v,
                };
                giants.push(Powers::of(next));
            }
        }
        let mut tree = Tree {
            builder,
            giants,
            radices: &self.radices,
            babies: &babies,
            width: k,
            combine: &combine,
        };
        let sum = tree.sum(0, blocks, self.radices.len());
        let value = builder.push(sum);
        match self.basis {
            Basis::EvenTimesX => builder.product(x, value),
            Basis::All | Basis::Odd | Basis::Even => value,
        }
    }
}

/// The sum over the blocks b_j v^j of a polynomial's evaluation, taken digit by digit of the
/// block's number j.
struct Tree<'a, F> {
    builder: &'a mut Builder,
    giants: Vec<Powers>,
    radices: &'a [usize],
    babies: &'a [Option<Value>],
    width: usize,
    combine: &'a F,
}

impl<F: Fn(Block<'_>) -> Step> Tree<'_, F> {
    /// Returns the sum of `count` blocks of a polynomial's evaluation, from block `first` on. The
    /// numbers of these blocks differ only in their lowest `level` digits, written with the
    /// layout's radices.
    fn sum(&mut self, first: usize, count: usize, level: usize) -> Step {
        let Some(below) = level.checked_sub(1) else {
            return (self.combine)(Block {
                start: first * self.width,
                babies: self.babies,
            });
        };
        let size: usize = self.radices.iter().take(below).product();
        let mut sum = self.sum(first, count.min(size), below);
        for digit in 1..count.div_ceil(size) {
            let start = digit * size;
            let part = self.sum(first + start, (count - start).min(size), below);
            let factor = self.builder.push(part);
            let giant = self.giants[below].get(self.builder, digit);
            sum.products.push([factor, giant]);
        }
        sum
    }
}
