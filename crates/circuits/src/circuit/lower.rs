// SPDX-License-Identifier: Apache-2.0
//! Lowers a program on integers to a circuit of lookups on messages of 2 bits with carries of 2
//! bits.

use ringmill_limits::Watch;

use super::error::CircuitError;
use super::graph::Graph;
use super::integer::{Choice, DIGIT, Int, LIMB, mask};
use super::program::{Binary, Comparison, Instr, Op, Program, Type, Value};
use super::small::Lookups;
use crate::tfhe::IntegerType;

/// An input or output of a circuit: its name, its type, and the pieces of which its integer consists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    pub name: String,
    pub kind: Type,
    /// The pieces of the integer. In a circuit of lookups that comes from a program, an input's pieces are wires that
    /// hold digits in base 4, and an output's pieces are sums in base 16. In circuits of bits, and in circuits that
    /// come from a netlist, each encrypted piece is one bit.
    pub parts: Vec<Part>,
}

impl Port {
    /// Returns the type of the integer that the port's ciphertexts encrypt.
    pub fn integer(&self) -> IntegerType {
        let (mut encrypted, mut known) = (0, 0);
        for part in &self.parts {
            match *part {
                Part::Encrypted { at, bits, .. } => encrypted |= mask(bits) << at,
                Part::Known { value, at } => known |= value << at,
            }
        }
        IntegerType::new(self.kind.bits(), self.kind.signed(), encrypted, known)
    }
}

/// A piece of the integer of a circuit's input or output, from bit `at` of the integer on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The piece has `bits` encrypted bits, of which the last piece's may reach beyond the integer's width. `number` is
    /// its wire if the port is an input, and the number of the graph's output if the port is an output.
    Encrypted { number: u32, at: u32, bits: u32 },
    /// The piece of an output has a value that was known when the circuit was made, so no ciphertext holds it.
    Known { value: u64, at: u32 },
}

/// A program or netlist that was lowered to lookups or gates, with its input and output ports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Circuit {
    pub graph: Graph,
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
}

/// Lowers a program on encrypted integers to lookups. Each lookup's operand is a sum of wires times factors, and its
/// sum of squared factors stays at or below `limit`.
///
/// # Errors
/// [`CircuitError::Noise`] if `limit` is too low for an operation; [`CircuitError::Halt`].
pub fn lower(program: &Program, limit: u64, watch: &Watch) -> Result<Circuit, CircuitError> {
    let mut l = Lookups::new(limit, watch);
    // The graph numbers the wires of inputs before all others.
    let mut inputs = Vec::new();
    let mut wires = Vec::new();
    let mut number = 0;
    for (name, kind) in program.inputs() {
        let int = Int::input(&mut l, kind.bits());
        let parts = (0..kind.bits()).step_by(DIGIT as usize).map(|at| {
            number += 1;
            Part::Encrypted {
                number: number - 1,
                at,
                bits: DIGIT,
            }
        });
        inputs.push(Port {
            name: name.to_owned(),
            kind,
            parts: parts.collect(),
        });
        wires.push(int);
    }
    let mut wires = wires.into_iter();
    let mut ints: Vec<Int> = Vec::with_capacity(program.instrs().len());
    for instr in program.instrs() {
        let int = match &instr.op {
            Op::Input { .. } => wires.next().ok_or(CircuitError::Inputs {
                expected: 1,
                got: 0,
            })?,
            _ => computed(program, instr, &ints, &mut l)?,
        };
        ints.push(int);
    }
    let mut outputs = Vec::new();
    let mut sums = Vec::new();
    for (name, value) in program.outputs() {
        let limbs = ints[value.0 as usize].outputs(&mut l)?.into_iter();
        let parts = limbs.map(|(limb, at)| {
            if let Some(value) = limb.known() {
                return Part::Known {
                    value: value as u64,
                    at,
                };
            }
            sums.push(limb.sum().clone());
            Part::Encrypted {
                number: sums.len() as u32 - 1,
                at,
                bits: LIMB,
            }
        });
        outputs.push(Port {
            name: name.clone(),
            kind: program.kind(*value),
            parts: parts.collect(),
        });
    }
    Ok(Circuit {
        graph: l.finish(sums)?,
        inputs,
        outputs,
    })
}

fn computed(
    program: &Program,
    instr: &Instr,
    ints: &[Int],
    l: &mut Lookups,
) -> Result<Int, CircuitError> {
    let of = |v: &Value| &ints[v.0 as usize];
    let signed = |v: &Value| program.kind(*v).signed();
    Ok(match &instr.op {
        Op::Input { .. } => return Err(CircuitError::Refused("an input computes nothing".into())),
        Op::Constant(bits) => Int::constant(instr.kind.bits(), *bits),
        Op::Binary(op, a, b) => {
            let (x, y) = (of(a), of(b));
            match op {
                Binary::Add => x.plus(l, y)?,
                Binary::Sub => x.minus(l, y)?,
                Binary::Mul => x.times(l, y)?,
                Binary::Div if signed(a) => x.divided_signed(l, y)?.0,
                Binary::Div => x.divided(l, y)?.0,
                Binary::Rem if signed(a) => x.divided_signed(l, y)?.1,
                Binary::Rem => x.divided(l, y)?.1,
                Binary::And => x.bitwise(l, y, |a, b| a & b)?,
                Binary::Or => x.bitwise(l, y, |a, b| a | b)?,
                Binary::Xor => x.bitwise(l, y, |a, b| a ^ b)?,
                Binary::Min => x.ordered(l, y, signed(a))?.0,
                Binary::Max => x.ordered(l, y, signed(a))?.1,
            }
        }
        Op::Compare(op, a, b) => Int::bit(match op {
            Comparison::Equal => of(a).equal(l, of(b))?,
            Comparison::NotEqual => of(a).equal(l, of(b))?.inverted_bit(),
            Comparison::Less => of(a).less(l, of(b), signed(a))?,
            Comparison::LessOrEqual => of(b).less(l, of(a), signed(a))?.inverted_bit(),
        }),
        Op::Not(a) => of(a).inverted(),
        Op::ShiftBy(shift, a, by) => of(a).shifted(l, *shift, *by)?,
        Op::Shift(shift, a, by) => of(a).shifted_by(l, *shift, of(by))?,
        Op::Select(bit, a, b) => {
            let choice = Choice {
                when_true: of(a),
                when_false: of(b),
            };
            let bit = of(bit).low(l)?;
            Int::select(l, &bit, choice)?
        }
        Op::Sum(terms) => {
            let terms: Vec<Int> = terms.iter().map(|v| of(v).clone()).collect();
            Int::sum(l, &terms)?
        }
        Op::Table(index, entries) => of(index).entry(l, instr.kind.bits(), entries)?,
        Op::Convert(a) => of(a).resized(l, instr.kind.bits(), signed(a))?,
    })
}
