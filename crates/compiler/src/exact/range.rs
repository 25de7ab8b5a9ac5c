// SPDX-License-Identifier: Apache-2.0
//! Interval analysis of programs of integers. It finds between which whole numbers every value lies, whatever is
//! encrypted.
//!
//! Arithmetic modulo t is exact, so sums and products on the way to an output may pass t and come back. Only inputs,
//! constant vectors, outputs and values that are tested for zero must lie among the integers that stand for residues.

use std::fmt;

use ringmill_isa::macros::op::MacroMessage;
use ringmill_isa::macros::{Constant, MacroInput, MacroInstr, MacroProgram, Refused, Visitor};

use crate::error::CompileError;
use crate::numbers::whole;
use crate::scheme::Compiles;
use crate::scheme::options::Options;

/// A range of whole numbers, from its first to its last number, both included.
///
/// ```
/// use ringmill_compiler::exact::IntegerRange;
/// let byte = IntegerRange::new(0, 255).unwrap();
/// assert!(byte.contains(255) && !byte.contains(-1) && IntegerRange::new(1, 0).is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntegerRange {
    low: i128,
    high: i128,
}

impl fmt::Display for IntegerRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.low, self.high)
    }
}

impl IntegerRange {
    /// Makes the range from `low` to `high`, or returns `None` if `low` is above `high`.
    pub fn new(low: i128, high: i128) -> Option<Self> {
        (low <= high).then_some(Self { low, high })
    }

    /// Returns the range of all numbers with at most this absolute value.
    pub fn up_to(magnitude: u64) -> Self {
        let high = i128::from(magnitude);
        Self { low: -high, high }
    }

    pub fn low(self) -> i128 {
        self.low
    }

    pub fn high(self) -> i128 {
        self.high
    }

    /// Returns the largest absolute value of a number in the range.
    pub fn magnitude(self) -> u128 {
        self.low.unsigned_abs().max(self.high.unsigned_abs())
    }

    pub fn contains(self, value: i128) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Returns the range of all numbers up to the least power of two that is at least `magnitude`, of either sign. For
    /// the magnitude 0 it is the range of 0 alone.
    fn up_to_power(magnitude: u64) -> Self {
        match magnitude {
            0 => Self::up_to(0),
            some => Self::up_to(some.checked_next_power_of_two().unwrap_or(u64::MAX)),
        }
    }

    /// Returns the widest range from -2^k to 2^k within this one, or the range of 0 alone if there is none.
    pub(crate) fn narrowed(self) -> Self {
        let magnitude = self.high.min(self.low.saturating_neg()).max(0);
        let power = magnitude.checked_ilog2().map_or(0, |bits| 1 << bits);
        Self {
            low: -power,
            high: power,
        }
    }

    fn of(values: impl IntoIterator<Item = i128>) -> Option<Self> {
        let mut values = values.into_iter();
        let first = values.next()?;
        let one = Self {
            low: first,
            high: first,
        };
        Some(values.fold(one, |range, x| Self {
            low: range.low.min(x),
            high: range.high.max(x),
        }))
    }

    fn plus(self, other: Self) -> Option<Self> {
        Some(Self {
            low: self.low.checked_add(other.low)?,
            high: self.high.checked_add(other.high)?,
        })
    }

    fn negated(self) -> Option<Self> {
        Some(Self {
            low: self.high.checked_neg()?,
            high: self.low.checked_neg()?,
        })
    }

    fn times(self, other: Self) -> Option<Self> {
        let corners = [
            self.low.checked_mul(other.low)?,
            self.low.checked_mul(other.high)?,
            self.high.checked_mul(other.low)?,
            self.high.checked_mul(other.high)?,
        ];
        Self::of(corners)
    }

    fn squared(self) -> Option<Self> {
        let corners = [
            self.low.checked_mul(self.low)?,
            self.high.checked_mul(self.high)?,
        ];
        let square = Self::of(corners)?;
        let low = if self.contains(0) { 0 } else { square.low };
        Some(Self { low, ..square })
    }
}

/// Returns the largest absolute value that a sample and a margin allow: the margin times the sample's largest absolute
/// value, rounded up.
pub(crate) fn as_large(sample: &[i64], margin: f64) -> u64 {
    let largest = sample.iter().map(|x| x.unsigned_abs()).max().unwrap_or(0);
    // Doubles round large numbers down, too.
    largest.max((margin * largest as f64).ceil() as u64)
}

/// Returns the range of every input: the declared one, or the sample's times the margin up to a power of two, or the
/// bound on all inputs.
///
/// # Errors
/// [`CompileError::Range`] for ranges, a sample, a margin or a bound that make no sense for these inputs.
pub(crate) fn of_inputs<S>(
    options: &Options<S>,
    inputs: &[MacroInput],
) -> Result<Vec<IntegerRange>, CompileError<S::Error>>
where
    S: Compiles<Range = IntegerRange, Message = Vec<i64>>,
{
    let refused = |name: &str, why: String| CompileError::Range {
        name: name.to_owned(),
        why,
    };
    let (margin, bound) = (options.margin, options.input_bound);
    if !(margin.is_finite() && margin >= 1.0) {
        let why =
            format!("the margin over a sample is a finite factor of at least 1, not {margin}");
        return Err(refused("", why));
    }
    if !(0.0..2f64.powi(60)).contains(&bound) {
        let why = format!("the bound on inputs is a number from 0 to 2^60, not {bound}");
        return Err(refused("", why));
    }
    if options.ranges.len() > inputs.len() {
        let (declared, inputs) = (options.ranges.len(), inputs.len());
        let why = format!("{declared} ranges were declared for {inputs} inputs");
        return Err(refused("", why));
    }
    let one = |(i, input): (usize, &MacroInput)| {
        let declared = options.ranges.get(i).copied().flatten();
        let sample = options.sample.as_ref().and_then(|sample| sample.get(i));
        let largest = sample.map(|values| as_large(values, margin));
        let range = match (declared, largest) {
            (Some(range), _) => range,
            (None, Some(largest)) => IntegerRange::up_to_power(largest),
            (None, None) => IntegerRange::up_to(bound as u64),
        };
        let mut typical = sample.into_iter().flatten().enumerate();
        if let Some((slot, value)) = typical.find(|&(_, &x)| !range.contains(x.into())) {
            let why = format!("value {slot} of its sample is {value} and its range is {range}");
            return Err(refused(&input.name, why));
        }
        Ok(range)
    };
    inputs.iter().enumerate().map(one).collect()
}

/// Returns the range of every value of a program without calls. `None` stands for a value that may have more than 127
/// bits, and for a quotient and what is computed from one, except by a test for zero.
///
/// # Errors
/// Fails for an operation whose range is not known here.
pub(crate) fn of_values(
    program: &MacroProgram,
    inputs: &[IntegerRange],
) -> Result<Vec<Option<IntegerRange>>, Refused> {
    let data: Vec<_> = program.data.iter().map(|data| vector(data)).collect();
    let mut ranges = vec![None; program.types.len()];
    for instr in &program.instrs {
        let mut result = OfResult {
            ranges: &ranges,
            inputs,
            data: &data,
        };
        let range = match instr.op.columns().message {
            MacroMessage::Kept => result.operand(instr, 0),
            _ => result.visit(instr)?,
        };
        for value in &instr.dst {
            ranges[value.0 as usize] = range;
        }
    }
    Ok(ranges)
}

fn vector(data: &[(f64, f64)]) -> Option<IntegerRange> {
    let values: Option<Vec<i128>> = data
        .iter()
        .map(|&(re, _)| Some(whole(re)?.into()))
        .collect();
    IntegerRange::of(values?)
}

/// The visitor that computes the range of an instruction's result from the ranges of its operands.
struct OfResult<'a> {
    ranges: &'a [Option<IntegerRange>],
    inputs: &'a [IntegerRange],
    data: &'a [Option<IntegerRange>],
}

/// The range of a result, or `None` if it is not known.
type Found = Result<Option<IntegerRange>, Refused>;

impl OfResult<'_> {
    fn operand(&self, instr: &MacroInstr, number: usize) -> Option<IntegerRange> {
        let value = instr.src.get(number)?;
        self.ranges.get(value.0 as usize).copied()?
    }

    fn of_one(
        &self,
        instr: &MacroInstr,
        f: impl Fn(IntegerRange) -> Option<IntegerRange>,
    ) -> Found {
        Ok(self.operand(instr, 0).and_then(f))
    }

    fn of_two(
        &self,
        instr: &MacroInstr,
        f: impl Fn(IntegerRange, IntegerRange) -> Option<IntegerRange>,
    ) -> Found {
        let operands = self.operand(instr, 0).zip(self.operand(instr, 1));
        Ok(operands.and_then(|(a, b)| f(a, b)))
    }
}

/// Returns the range that holds only the number of an integer constant, or `None` for another constant.
fn exactly(constant: Constant) -> Option<IntegerRange> {
    match constant {
        Constant::Integer(value) => IntegerRange::new(value, value),
        Constant::Real { .. } => None,
    }
}

impl Visitor for OfResult<'_> {
    const PASS: &'static str = "the analysis of integers' ranges";
    type Out = Option<IntegerRange>;
    type Error = Refused;

    fn input(&mut self, _: &MacroInstr, input: u32) -> Found {
        Ok(self.inputs.get(input as usize).copied())
    }

    fn encode(&mut self, _: &MacroInstr, data: u32) -> Found {
        Ok(self.data.get(data as usize).copied().flatten())
    }

    fn add(&mut self, instr: &MacroInstr) -> Found {
        self.of_two(instr, IntegerRange::plus)
    }

    fn sub(&mut self, instr: &MacroInstr) -> Found {
        self.of_two(instr, |a, b| a.plus(b.negated()?))
    }

    fn neg(&mut self, instr: &MacroInstr) -> Found {
        self.of_one(instr, IntegerRange::negated)
    }

    fn addc(&mut self, instr: &MacroInstr, constant: Constant) -> Found {
        self.of_one(instr, |a| a.plus(exactly(constant)?))
    }

    fn mulc(&mut self, instr: &MacroInstr, constant: Constant) -> Found {
        self.of_one(instr, |a| a.times(exactly(constant)?))
    }

    fn mul(&mut self, instr: &MacroInstr) -> Found {
        self.of_two(instr, IntegerRange::times)
    }

    fn square(&mut self, instr: &MacroInstr) -> Found {
        self.of_one(instr, IntegerRange::squared)
    }

    fn rotate(&mut self, instr: &MacroInstr, _: &[i32]) -> Found {
        self.of_one(instr, Some)
    }

    fn hrotate(&mut self, instr: &MacroInstr, _: &[i32]) -> Found {
        self.of_one(instr, Some)
    }

    /// Returns the operand's range, since whole numbers are their own conjugates.
    fn conj(&mut self, instr: &MacroInstr) -> Found {
        self.of_one(instr, Some)
    }

    fn iszero(&mut self, _: &MacroInstr) -> Found {
        Ok(IntegerRange::new(0, 1))
    }

    /// Returns no range for a quotient. It is known only modulo t divided by the divisor, for the
    /// plaintext modulus t, so it has no bounds.
    fn quotient(&mut self, _: &MacroInstr, _: Constant) -> Found {
        Ok(None)
    }

    /// Returns no range, since an output has no result.
    fn output(&mut self, _: &MacroInstr, _: u32) -> Found {
        Ok(None)
    }
}
