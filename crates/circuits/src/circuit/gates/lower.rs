// SPDX-License-Identifier: Apache-2.0
//! Lowers a program on encrypted integers to a circuit of gates on encrypted bits.

use ringmill_limits::Watch;

use super::add::{difference, equal, less, plus};
use super::choose::{entry, ordered, select, shifted, shifted_by};
use super::divide::{divided, divided_signed};
use super::multiply::{sum, times};
use super::{Bit, Gates, Limits};
use crate::circuit::error::CircuitError;
use crate::circuit::lower::{Circuit, Part, Port};
use crate::circuit::program::{Binary, Comparison, Instr, Op, Program, Value};
use crate::circuit::sum::Sum;

/// Lowers a program on encrypted integers to gates, for parameters whose bootstraps read operands with noise within
/// `limits`.
///
/// # Errors
/// [`CircuitError::Noise`] if the limits are too low for a gate; [`CircuitError::Halt`].
pub fn lower(program: &Program, limits: Limits, watch: &Watch) -> Result<Circuit, CircuitError> {
    let mut g = Gates::new(limits, watch);
    let mut inputs = Vec::new();
    let mut given = Vec::new();
    let mut number = 0;
    for (name, kind) in program.inputs() {
        let bits: Vec<Bit> = (0..kind.bits()).map(|_| g.input()).collect();
        let parts = (0..kind.bits()).zip(number..);
        let parts = parts.map(|(at, number)| Part::Encrypted {
            number,
            at,
            bits: 1,
        });
        inputs.push(Port {
            name: name.to_owned(),
            kind,
            parts: parts.collect(),
        });
        number += kind.bits();
        given.push(bits);
    }
    let mut given = given.into_iter();
    let mut values: Vec<Vec<Bit>> = Vec::with_capacity(program.instrs().len());
    for instr in program.instrs() {
        let value = match &instr.op {
            Op::Input { .. } => given.next().ok_or(CircuitError::Inputs {
                expected: 1,
                got: 0,
            })?,
            _ => computed(program, instr, &values, &mut g)?,
        };
        values.push(value);
    }
    let mut outputs = Vec::new();
    let mut sums = Vec::new();
    for (name, value) in program.outputs() {
        outputs.push(Port {
            name: name.clone(),
            kind: program.kind(*value),
            parts: parts(&values[value.0 as usize], &mut sums),
        });
    }
    Ok(Circuit {
        graph: g.finish(sums)?,
        inputs,
        outputs,
    })
}

/// Returns the pieces of an output of the circuit that has these bits. Encrypted bits are appended to `sums`, the
/// outputs of the graph; known bits are stored in the pieces.
pub(in crate::circuit) fn parts(bits: &[Bit], sums: &mut Vec<Sum>) -> Vec<Part> {
    let each = (0..).zip(bits).map(|(at, bit)| match bit.known() {
        Some(value) => Part::Known {
            value: value.into(),
            at,
        },
        None => {
            sums.push(bit.sum().clone());
            Part::Encrypted {
                number: sums.len() as u32 - 1,
                at,
                bits: 1,
            }
        }
    });
    each.collect()
}

fn computed(
    program: &Program,
    instr: &Instr,
    values: &[Vec<Bit>],
    g: &mut Gates,
) -> Result<Vec<Bit>, CircuitError> {
    let of = |v: &Value| values[v.0 as usize].as_slice();
    let signed = |v: &Value| program.kind(*v).signed();
    Ok(match &instr.op {
        Op::Input { .. } => return Err(CircuitError::Refused("an input computes nothing".into())),
        Op::Constant(bits) => (0..instr.kind.bits())
            .map(|at| Bit::constant(bits >> at & 1 == 1))
            .collect(),
        Op::Binary(op, a, b) => {
            let (x, y) = (of(a), of(b));
            match op {
                Binary::Add => plus(g, x, y)?,
                Binary::Sub => difference(g, x, y)?.0,
                Binary::Mul => times(g, x, y)?,
                Binary::Div if signed(a) => divided_signed(g, x, y)?.0,
                Binary::Div => divided(g, x, y)?.0,
                Binary::Rem if signed(a) => divided_signed(g, x, y)?.1,
                Binary::Rem => divided(g, x, y)?.1,
                Binary::And => bitwise(g, x, y, |[a, b]| a & b)?,
                Binary::Or => bitwise(g, x, y, |[a, b]| a | b)?,
                Binary::Xor => bitwise(g, x, y, |[a, b]| a ^ b)?,
                Binary::Min => ordered(g, x, y, signed(a))?.0,
                Binary::Max => ordered(g, x, y, signed(a))?.1,
            }
        }
        Op::Compare(op, a, b) => vec![match op {
            Comparison::Equal => equal(g, of(a), of(b))?,
            Comparison::NotEqual => equal(g, of(a), of(b))?.inverted(),
            Comparison::Less => less(g, of(a), of(b), signed(a))?,
            Comparison::LessOrEqual => less(g, of(b), of(a), signed(a))?.inverted(),
        }],
        Op::Not(a) => of(a).iter().map(Bit::inverted).collect(),
        Op::ShiftBy(shift, a, by) => shifted(of(a), *shift, u64::from(*by)),
        Op::Shift(shift, a, by) => shifted_by(g, of(a), *shift, of(by))?,
        Op::Select(bit, a, b) => match of(bit) {
            [bit] => select(g, bit, of(a), of(b))?,
            _ => return Err(CircuitError::Refused("a choice is by one bit".into())),
        },
        Op::Sum(terms) => sum(g, &terms.iter().map(of).collect::<Vec<_>>())?,
        Op::Table(index, entries) => entry(g, of(index), instr.kind.bits(), entries)?,
        Op::Convert(a) => {
            let zero = Bit::constant(false);
            let top = of(a).last().filter(|_| signed(a)).unwrap_or(&zero);
            let above = std::iter::repeat(top);
            let bits = of(a).iter().chain(above);
            bits.take(instr.kind.bits() as usize).cloned().collect()
        }
    })
}

fn bitwise(
    g: &mut Gates,
    a: &[Bit],
    b: &[Bit],
    f: impl Fn([bool; 2]) -> bool,
) -> Result<Vec<Bit>, CircuitError> {
    let each = a.iter().zip(b);
    each.map(|(a, b)| g.of([a, b], &f)).collect()
}
