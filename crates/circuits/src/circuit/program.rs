// SPDX-License-Identifier: Apache-2.0
//! Programs on encrypted integers, as a front end writes them: typed values, one instruction each. A program does not
//! say which ciphertexts an integer is made of.

use super::error::CircuitError;
use super::integer::mask;

/// The type of an encrypted integer: 1 to 64 bits, signed or unsigned. A single bit is an unsigned integer of one bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type {
    bits: u32,
    signed: bool,
}

impl Type {
    pub const BIT: Self = Self {
        bits: 1,
        signed: false,
    };

    /// Makes the type of an integer from its number of bits and whether it is signed.
    ///
    /// # Errors
    /// [`CircuitError::OutOfRange`] for other widths than 1 to 64.
    pub fn new(bits: u32, signed: bool) -> Result<Self, CircuitError> {
        if (1..=64).contains(&bits) {
            return Ok(Self { bits, signed });
        }
        Err(CircuitError::OutOfRange {
            what: "the width of an integer".to_owned(),
            expected: "1 to 64 bits".to_owned(),
            got: bits.to_string(),
        })
    }

    pub fn bits(self) -> u32 {
        self.bits
    }

    pub fn signed(self) -> bool {
        self.signed
    }

    /// Returns the least and the largest value of the type.
    pub fn ends(self) -> (i128, i128) {
        if self.signed {
            let half = 1i128 << (self.bits - 1);
            (-half, half - 1)
        } else {
            (0, mask(self.bits).into())
        }
    }

    /// Returns the integer that the low bits of a word stand for in this type, as unsigned or as two's complement.
    pub fn read(self, bits: u64) -> i128 {
        let bits = bits & mask(self.bits);
        if self.signed && bits >> (self.bits - 1) == 1 {
            i128::from(bits) - (1i128 << self.bits)
        } else {
            bits.into()
        }
    }

    /// Returns the bits that stand for an integer in this type, or `None` if the type does not have the integer.
    pub fn write(self, value: i128) -> Option<u64> {
        let bits = value as u64 & mask(self.bits);
        (self.read(bits) == value).then_some(bits)
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.signed { "sint" } else { "uint" };
        write!(f, "{kind}({})", self.bits)
    }
}

/// A value of a program: the result of the instruction with this number, counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value(pub u32);

/// An operation of a program that takes two integers of one type and gives one of the same type, modulo 2^bits for a
/// type of `bits` bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    /// The quotient of two integers, rounded towards 0. Division by 0 gives ones in all bits.
    Div,
    /// The remainder of a division, with the sign of the dividend. Division by 0 gives the dividend.
    Rem,
    And,
    Or,
    Xor,
    Min,
    Max,
}

impl Binary {
    /// Returns whether the operation gives the same if its operands are exchanged. Such an operation is associative as
    /// well.
    pub fn commutes(self) -> bool {
        match self {
            Self::Sub | Self::Div | Self::Rem => false,
            Self::Add | Self::Mul | Self::And | Self::Or | Self::Xor | Self::Min | Self::Max => {
                true
            }
        }
    }

    pub const ALL: [Self; 10] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Rem,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Min,
        Self::Max,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Div => "div",
            Self::Rem => "rem",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

/// A comparison of two integers of one type, whose result is one bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
}

impl Comparison {
    pub const ALL: [Self; 4] = [Self::Equal, Self::NotEqual, Self::Less, Self::LessOrEqual];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Equal => "eq",
            Self::NotEqual => "ne",
            Self::Less => "lt",
            Self::LessOrEqual => "le",
        }
    }
}

pub use super::integer::Shift;

/// The operation of a program's instruction, with its operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// The instruction is an input of the program. Inputs are numbered in the order of their instructions.
    Input {
        name: String,
    },
    /// The instruction gives a constant of its type, by the constant's bits.
    Constant(u64),
    Binary(Binary, Value, Value),
    Compare(Comparison, Value, Value),
    Not(Value),
    /// The instruction shifts the value by a known number of bits.
    ShiftBy(Shift, Value, u32),
    /// The instruction shifts the first value by the second, which is an encrypted, unsigned number of bits.
    Shift(Shift, Value, Value),
    /// The instruction chooses by the first value, a bit: the second value if the bit is 1, else the third.
    Select(Value, Value, Value),
    /// The instruction adds up several values of one type.
    Sum(Vec<Value>),
    /// The instruction gives the entry of a table at an unsigned index, or 0 for an index beyond the table's end.
    Table(Value, Vec<u64>),
    /// The instruction converts the operand to its own type: to the low bits, or by an extension. The extension is by
    /// the sign if the operand is signed, else by zeros.
    Convert(Value),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Instr {
    pub op: Op,
    pub kind: Type,
}

/// A straight-line program on encrypted integers. Each operand is an earlier instruction, and types fit, as
/// [`ProgramBuilder`] ensures.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    instrs: Vec<Instr>,
    outputs: Vec<(String, Value)>,
}

impl Program {
    /// Makes a program from instructions whose types are known to fit.
    pub(super) fn of(instrs: Vec<Instr>, outputs: Vec<(String, Value)>) -> Self {
        Self { instrs, outputs }
    }

    pub fn instrs(&self) -> &[Instr] {
        &self.instrs
    }

    pub fn outputs(&self) -> &[(String, Value)] {
        &self.outputs
    }

    pub fn kind(&self, value: Value) -> Type {
        self.instrs[value.0 as usize].kind
    }

    /// Returns the names and types of the program's inputs, in order.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, Type)> {
        self.instrs.iter().filter_map(|instr| match &instr.op {
            Op::Input { name } => Some((name.as_str(), instr.kind)),
            _ => None,
        })
    }

    /// Evaluates the program on plain values, from the inputs' bits to the outputs' bits.
    ///
    /// # Errors
    /// [`CircuitError::Inputs`] for another number of inputs.
    pub fn evaluate(&self, inputs: &[u64]) -> Result<Vec<u64>, CircuitError> {
        let expected = self.inputs().count();
        if inputs.len() != expected {
            return Err(CircuitError::Inputs {
                expected,
                got: inputs.len(),
            });
        }
        let mut inputs = inputs.iter();
        let mut bits: Vec<u64> = Vec::with_capacity(self.instrs.len());
        for instr in &self.instrs {
            let value = match &instr.op {
                Op::Input { .. } => inputs.next().copied().unwrap_or(0) & mask(instr.kind.bits),
                _ => instr.computed(|v| (self.kind(v), bits[v.0 as usize])),
            };
            bits.push(value);
        }
        Ok(self
            .outputs
            .iter()
            .map(|(_, v)| bits[v.0 as usize])
            .collect())
    }
}

impl Instr {
    /// Computes the bits of the instruction's result from the types and bits of its operands, which `operand` returns.
    /// An instruction that is an input gives 0.
    pub(super) fn computed(&self, operand: impl Fn(Value) -> (Type, u64)) -> u64 {
        let of = |v: Value| operand(v).1;
        let read = |v: Value| {
            let (kind, bits) = operand(v);
            kind.read(bits)
        };
        let value = match &self.op {
            Op::Input { .. } => 0,
            Op::Constant(bits) => *bits,
            Op::Binary(op, a, b) => binary(*op, read(*a), read(*b)),
            Op::Compare(op, a, b) => compare(*op, read(*a), read(*b)).into(),
            Op::Not(a) => !of(*a),
            Op::ShiftBy(shift, a, by) => moved(self.kind, *shift, of(*a), u64::from(*by)),
            Op::Shift(shift, a, by) => moved(self.kind, *shift, of(*a), of(*by)),
            Op::Select(bit, a, b) => of(if of(*bit) == 1 { *a } else { *b }),
            Op::Sum(terms) => terms.iter().fold(0u64, |all, &x| all.wrapping_add(of(x))),
            Op::Table(index, table) => table.get(of(*index) as usize).copied().unwrap_or(0),
            Op::Convert(a) => read(*a) as u64,
        };
        value & mask(self.kind.bits)
    }
}

impl Op {
    /// Returns the operation's operands, in order.
    pub(super) fn operands(&self) -> Vec<Value> {
        match self {
            Self::Input { .. } | Self::Constant(_) => Vec::new(),
            Self::Not(a) | Self::ShiftBy(_, a, _) | Self::Table(a, _) | Self::Convert(a) => {
                vec![*a]
            }
            Self::Binary(_, a, b) | Self::Compare(_, a, b) | Self::Shift(_, a, b) => vec![*a, *b],
            Self::Select(bit, a, b) => vec![*bit, *a, *b],
            Self::Sum(terms) => terms.clone(),
        }
    }

    /// Returns the same operation with each operand replaced by the value that `of` returns for it.
    pub(super) fn renamed(&self, of: impl Fn(Value) -> Value) -> Self {
        match self {
            Self::Input { name } => Self::Input { name: name.clone() },
            Self::Constant(bits) => Self::Constant(*bits),
            Self::Binary(op, a, b) => Self::Binary(*op, of(*a), of(*b)),
            Self::Compare(op, a, b) => Self::Compare(*op, of(*a), of(*b)),
            Self::Not(a) => Self::Not(of(*a)),
            Self::ShiftBy(shift, a, by) => Self::ShiftBy(*shift, of(*a), *by),
            Self::Shift(shift, a, by) => Self::Shift(*shift, of(*a), of(*by)),
            Self::Select(bit, a, b) => Self::Select(of(*bit), of(*a), of(*b)),
            Self::Sum(terms) => Self::Sum(terms.iter().map(|&v| of(v)).collect()),
            Self::Table(index, entries) => Self::Table(of(*index), entries.clone()),
            Self::Convert(a) => Self::Convert(of(*a)),
        }
    }
}

fn binary(op: Binary, a: i128, b: i128) -> u64 {
    let value = match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div if b == 0 => -1,
        Binary::Div => a / b,
        Binary::Rem if b == 0 => a,
        Binary::Rem => a % b,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
    };
    value as u64
}

fn compare(op: Comparison, a: i128, b: i128) -> bool {
    match op {
        Comparison::Equal => a == b,
        Comparison::NotEqual => a != b,
        Comparison::Less => a < b,
        Comparison::LessOrEqual => a <= b,
    }
}

fn moved(kind: Type, shift: Shift, x: u64, by: u64) -> u64 {
    let bits = kind.bits;
    let by = match shift {
        Shift::RotateLeft => by % u64::from(bits),
        Shift::Left | Shift::Right | Shift::RightSigned => by.min(64),
    } as u32;
    let wide = u128::from(x & mask(bits));
    match shift {
        Shift::Left => (wide << by) as u64,
        Shift::Right => (wide >> by) as u64,
        Shift::RightSigned => {
            let signed = Type { bits, signed: true };
            (signed.read(x) >> by) as u64
        }
        Shift::RotateLeft => (wide << by | wide >> (bits - by)) as u64,
    }
}

/// A builder of a program, which checks types. An operation on known values still becomes an instruction. It costs
/// nothing once the program is lowered.
#[derive(Debug, Default)]
pub struct ProgramBuilder {
    program: Program,
}

impl ProgramBuilder {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn kind(&self, value: Value) -> Result<Type, CircuitError> {
        let instr = self.program.instrs.get(value.0 as usize);
        instr.map(|instr| instr.kind).ok_or_else(|| {
            CircuitError::Refused(format!("value {} is of another program", value.0))
        })
    }

    fn push(&mut self, op: Op, kind: Type) -> Value {
        self.program.instrs.push(Instr { op, kind });
        Value(self.program.instrs.len() as u32 - 1)
    }

    pub fn input(&mut self, name: &str, kind: Type) -> Value {
        let op = Op::Input {
            name: name.to_owned(),
        };
        self.push(op, kind)
    }

    /// Adds a constant of this type, and returns its value.
    ///
    /// # Errors
    /// [`CircuitError::OutOfRange`] for a value that the type does not have.
    pub fn constant(&mut self, value: i128, kind: Type) -> Result<Value, CircuitError> {
        let bits = kind.write(value).ok_or_else(|| CircuitError::OutOfRange {
            what: "a constant".to_owned(),
            expected: format!("a value of {kind}"),
            got: value.to_string(),
        })?;
        Ok(self.push(Op::Constant(bits), kind))
    }

    fn same(&self, op: &'static str, a: Value, b: Value) -> Result<Type, CircuitError> {
        let (x, y) = (self.kind(a)?, self.kind(b)?);
        if x == y {
            return Ok(x);
        }
        Err(CircuitError::Types {
            op,
            a: x.to_string(),
            b: y.to_string(),
        })
    }

    /// Adds an operation of two values of one type, and returns its result.
    ///
    /// # Errors
    /// [`CircuitError::Types`] if the types of the operands do not fit; [`CircuitError::Refused`] for a value that the
    /// builder has not made.
    pub fn binary(&mut self, op: Binary, a: Value, b: Value) -> Result<Value, CircuitError> {
        let name = match op {
            Binary::Add => "the sum",
            Binary::Sub => "the difference",
            Binary::Mul => "the product",
            Binary::Div => "the quotient",
            Binary::Rem => "the remainder",
            Binary::And | Binary::Or | Binary::Xor => "a bitwise operation",
            Binary::Min => "the minimum",
            Binary::Max => "the maximum",
        };
        let kind = self.same(name, a, b)?;
        Ok(self.push(Op::Binary(op, a, b), kind))
    }

    pub fn compare(&mut self, op: Comparison, a: Value, b: Value) -> Result<Value, CircuitError> {
        self.same("a comparison", a, b)?;
        Ok(self.push(Op::Compare(op, a, b), Type::BIT))
    }

    pub fn not(&mut self, a: Value) -> Result<Value, CircuitError> {
        let kind = self.kind(a)?;
        Ok(self.push(Op::Not(a), kind))
    }

    pub fn shift_by(&mut self, shift: Shift, a: Value, by: u32) -> Result<Value, CircuitError> {
        let kind = self.kind(a)?;
        Ok(self.push(Op::ShiftBy(shift, a, by), kind))
    }

    /// Adds a shift of `a` by an encrypted, unsigned number of bits `by`, and returns its result.
    ///
    /// # Errors
    /// [`CircuitError::Refused`] for a signed amount, a rotation of a width that is no power of two, or a value that
    /// the builder has not made.
    pub fn shift(&mut self, shift: Shift, a: Value, by: Value) -> Result<Value, CircuitError> {
        let (kind, amount) = (self.kind(a)?, self.kind(by)?);
        if amount.signed {
            return Err(CircuitError::Refused(format!(
                "a shift by {amount}: the amount must be unsigned; convert it first"
            )));
        }
        if shift == Shift::RotateLeft && !kind.bits.is_power_of_two() {
            return Err(CircuitError::Refused(format!(
                "{kind} cannot be rotated by an encrypted number: its width must be a power of two"
            )));
        }
        Ok(self.push(Op::Shift(shift, a, by), kind))
    }

    pub fn select(&mut self, bit: Value, a: Value, b: Value) -> Result<Value, CircuitError> {
        let (condition, kind) = (self.kind(bit)?, self.same("a choice", a, b)?);
        if condition != Type::BIT {
            return Err(CircuitError::Refused(format!(
                "a choice by {condition}: expected a bit; compare with something first"
            )));
        }
        Ok(self.push(Op::Select(bit, a, b), kind))
    }

    /// Adds the sum of several values of one type, and returns its result.
    ///
    /// # Errors
    /// [`CircuitError::Inputs`] if there are no terms; [`CircuitError::Types`] if their types differ;
    /// [`CircuitError::Refused`] for a value that the builder has not made.
    pub fn sum(&mut self, terms: &[Value]) -> Result<Value, CircuitError> {
        let Some(&first) = terms.first() else {
            return Err(CircuitError::Inputs {
                expected: 1,
                got: 0,
            });
        };
        for &term in terms {
            self.same("a sum", first, term)?;
        }
        let kind = self.kind(first)?;
        Ok(self.push(Op::Sum(terms.to_vec()), kind))
    }

    /// Adds a look-up of a table of integers at an encrypted index, and returns its result.
    ///
    /// # Errors
    /// [`CircuitError::Refused`] for an index that is signed, too wide, or not made by the builder.
    /// [`CircuitError::OutOfRange`] for a table that is empty or longer than the index reaches, and for entries that
    /// the type does not have.
    pub fn table(
        &mut self,
        index: Value,
        entries: &[i128],
        kind: Type,
    ) -> Result<Value, CircuitError> {
        let of = self.kind(index)?;
        if of.signed || of.bits > super::integer::MAX_INDEX {
            return Err(CircuitError::Refused(format!(
                "a table with an index of {of}: expected an unsigned one of at most {} bits; convert it first",
                super::integer::MAX_INDEX
            )));
        }
        if entries.is_empty() || entries.len() > 1 << of.bits {
            return Err(CircuitError::OutOfRange {
                what: "the number of a table's entries".to_owned(),
                expected: format!("1 to {}, as {of} reaches", 1u32 << of.bits),
                got: entries.len().to_string(),
            });
        }
        let bits = entries.iter().map(|&value| {
            kind.write(value).ok_or_else(|| CircuitError::OutOfRange {
                what: "an entry of a table".to_owned(),
                expected: format!("a value of {kind}"),
                got: value.to_string(),
            })
        });
        let bits = bits.collect::<Result<Vec<u64>, _>>()?;
        Ok(self.push(Op::Table(index, bits), kind))
    }

    pub fn convert(&mut self, a: Value, kind: Type) -> Result<Value, CircuitError> {
        self.kind(a)?;
        Ok(self.push(Op::Convert(a), kind))
    }

    pub fn output(&mut self, name: &str, value: Value) -> Result<(), CircuitError> {
        self.kind(value)?;
        self.program.outputs.push((name.to_owned(), value));
        Ok(())
    }

    pub fn finish(self) -> Program {
        self.program
    }
}
