// SPDX-License-Identifier: Apache-2.0
//! An operation of a saved program as JSON: a list of its name, its operands' numbers and its constants.

use std::fmt::{self, Formatter};

use serde::de::{self, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::declared::DeclaredType;
use crate::circuit::error::CircuitError;
use crate::circuit::program::{Binary, Comparison, Instr, Op, ProgramBuilder, Shift, Type, Value};

/// An operation, whose operands are numbers of earlier operations.
pub(super) struct Operation {
    op: Op,
    /// The type of a constant, of a table's entries or of a conversion's result. Other operations have the type of an
    /// operand, and the type of an input stands with the arguments.
    kind: Option<Type>,
}

impl Operation {
    pub(super) fn of(instr: &Instr) -> Self {
        let kind = matches!(instr.op, Op::Constant(_) | Op::Table(..) | Op::Convert(_));
        Self {
            op: instr.op.clone(),
            kind: kind.then_some(instr.kind),
        }
    }

    /// Adds the operation, which has the number `number`, to a program. An input takes its name and type from `inputs`.
    ///
    /// # Errors
    /// [`CircuitError::OutOfRange`] for an operand that is not the result of an earlier operation, and for a constant or
    /// an entry that its type does not have. [`CircuitError::Refused`] for an input of no argument. The errors of
    /// [`ProgramBuilder`].
    pub(super) fn add(
        self,
        number: usize,
        builder: &mut ProgramBuilder,
        inputs: &mut impl Iterator<Item = (String, Type)>,
    ) -> Result<Value, CircuitError> {
        if let Some(late) = (self.op.operands().iter()).find(|v| v.0 as usize >= number) {
            return Err(CircuitError::OutOfRange {
                what: "an operand".to_owned(),
                expected: format!("the number of an earlier operation, below {number}"),
                got: late.0.to_string(),
            });
        }
        let kind = self.kind.unwrap_or(Type::BIT);
        match self.op {
            Op::Input { .. } => {
                let (name, kind) = inputs.next().ok_or_else(|| {
                    CircuitError::Refused("an input that belongs to no argument".to_owned())
                })?;
                Ok(builder.input(&name, kind))
            }
            Op::Constant(bits) => builder.constant(value(kind, bits)?, kind),
            Op::Binary(op, a, b) => builder.binary(op, a, b),
            Op::Compare(op, a, b) => builder.compare(op, a, b),
            Op::Not(a) => builder.not(a),
            Op::ShiftBy(shift, a, by) => builder.shift_by(shift, a, by),
            Op::Shift(shift, a, by) => builder.shift(shift, a, by),
            Op::Select(bit, a, b) => builder.select(bit, a, b),
            Op::Sum(terms) => builder.sum(&terms),
            Op::Table(index, entries) => {
                let entries = entries.into_iter().map(|bits| value(kind, bits));
                builder.table(index, &entries.collect::<Result<Vec<_>, _>>()?, kind)
            }
            Op::Convert(a) => builder.convert(a, kind),
        }
    }
}

/// Returns the integer that the bits stand for, which must be no more bits than the type has.
fn value(kind: Type, bits: u64) -> Result<i128, CircuitError> {
    let value = kind.read(bits);
    match kind.write(value) {
        Some(same) if same == bits => Ok(value),
        _ => Err(CircuitError::OutOfRange {
            what: "a constant's bits".to_owned(),
            expected: format!("those of a value of {kind}"),
            got: bits.to_string(),
        }),
    }
}

const INPUT: &str = "input";
const CONSTANT: &str = "constant";
const NOT: &str = "not";
const SHIFT_BY: &str = "shift_by";
const SHIFT: &str = "shift";
const SELECT: &str = "select";
const SUM: &str = "sum";
const TABLE: &str = "table";
const CONVERT: &str = "convert";

impl Serialize for Operation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let kind = DeclaredType::Integer(self.kind.unwrap_or(Type::BIT));
        match &self.op {
            Op::Input { .. } => (INPUT,).serialize(to),
            Op::Constant(bits) => (CONSTANT, bits, kind).serialize(to),
            Op::Binary(op, a, b) => (op.name(), a.0, b.0).serialize(to),
            Op::Compare(op, a, b) => (op.name(), a.0, b.0).serialize(to),
            Op::Not(a) => (NOT, a.0).serialize(to),
            Op::ShiftBy(shift, a, by) => (SHIFT_BY, shift.name(), a.0, by).serialize(to),
            Op::Shift(shift, a, by) => (SHIFT, shift.name(), a.0, by.0).serialize(to),
            Op::Select(bit, a, b) => (SELECT, bit.0, a.0, b.0).serialize(to),
            Op::Sum(terms) => {
                let terms: Vec<u32> = terms.iter().map(|v| v.0).collect();
                (SUM, terms).serialize(to)
            }
            Op::Table(index, entries) => (TABLE, index.0, entries, kind).serialize(to),
            Op::Convert(a) => (CONVERT, a.0, kind).serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Operation {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Parts)
    }
}

struct Parts;

impl<'de> Visitor<'de> for Parts {
    type Value = Operation;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a list of an operation's name, operands and constants")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Operation, A::Error> {
        let name: String = part(&mut parts)?;
        let mut kind = None;
        let op = match name.as_str() {
            INPUT => Op::Input {
                name: String::new(),
            },
            CONSTANT => {
                let bits = part(&mut parts)?;
                kind = Some(type_of(&mut parts)?);
                Op::Constant(bits)
            }
            NOT => Op::Not(operand(&mut parts)?),
            SHIFT_BY => {
                let shift = shift(&mut parts)?;
                Op::ShiftBy(shift, operand(&mut parts)?, part(&mut parts)?)
            }
            SHIFT => {
                let shift = shift(&mut parts)?;
                Op::Shift(shift, operand(&mut parts)?, operand(&mut parts)?)
            }
            SELECT => Op::Select(
                operand(&mut parts)?,
                operand(&mut parts)?,
                operand(&mut parts)?,
            ),
            SUM => {
                let terms: Vec<u32> = part(&mut parts)?;
                Op::Sum(terms.into_iter().map(Value).collect())
            }
            TABLE => {
                let op = Op::Table(operand(&mut parts)?, part(&mut parts)?);
                kind = Some(type_of(&mut parts)?);
                op
            }
            CONVERT => {
                let op = Op::Convert(operand(&mut parts)?);
                kind = Some(type_of(&mut parts)?);
                op
            }
            name => {
                let binary = Binary::ALL.into_iter().find(|op| op.name() == name);
                let comparison = Comparison::ALL.into_iter().find(|op| op.name() == name);
                let (a, b) = (operand(&mut parts), operand(&mut parts));
                match (binary, comparison) {
                    (Some(op), _) => Op::Binary(op, a?, b?),
                    (None, Some(op)) => Op::Compare(op, a?, b?),
                    (None, None) => {
                        let what = format!("there is no operation `{name}`");
                        return Err(de::Error::custom(what));
                    }
                }
            }
        };
        if parts.next_element::<IgnoredAny>()?.is_some() {
            return Err(de::Error::custom(format!("`{name}` has too many operands")));
        }
        Ok(Operation { op, kind })
    }
}

fn part<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(parts: &mut A) -> Result<T, A::Error> {
    let next = parts.next_element()?;
    next.ok_or_else(|| de::Error::custom("an operation has too few operands"))
}

fn operand<'de, A: SeqAccess<'de>>(parts: &mut A) -> Result<Value, A::Error> {
    Ok(Value(part(parts)?))
}

fn type_of<'de, A: SeqAccess<'de>>(parts: &mut A) -> Result<Type, A::Error> {
    Ok(part::<DeclaredType, A>(parts)?.kind())
}

fn shift<'de, A: SeqAccess<'de>>(parts: &mut A) -> Result<Shift, A::Error> {
    let name: String = part(parts)?;
    let found = Shift::ALL.into_iter().find(|shift| shift.name() == name);
    found.ok_or_else(|| de::Error::custom(format!("there is no shift `{name}`")))
}
