// SPDX-License-Identifier: Apache-2.0
//! The private part of the builder: arithmetic by the kinds of values that handles stand for, and emission of
//! instructions.

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroType, MacroValue, TracedOp};
use ringmill_isa::source::SourceLoc;

use super::node::{Binary, Home, Node, Sort};
use super::{MAX_INSTRUCTIONS, Slot, TraceBuilder, TraceError, Traced};
use crate::line::At;

impl TraceBuilder {
    pub(super) fn binary(
        &mut self,
        op: Binary,
        a: Traced,
        b: Traced,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        use Sort::{Cipher, Constant, PlainInput, Scalar};
        match (self.sort(a, &loc)?, self.sort(b, &loc)?) {
            (Cipher(x), Scalar(c)) => match op {
                Binary::Add => self.cipher(TracedOp::Addc, vec![x], constant(c), loc),
                Binary::Sub => self.cipher(TracedOp::Addc, vec![x], constant(-c), loc),
                Binary::Mul => self.cipher(TracedOp::Mulc, vec![x], constant(c), loc),
            },
            (Cipher(x), right) => {
                let y = match right {
                    Cipher(y) | PlainInput(y) => y,
                    _ => self.encoded(b, &loc)?,
                };
                let op = match op {
                    Binary::Add => TracedOp::Add,
                    Binary::Sub => TracedOp::Sub,
                    Binary::Mul => TracedOp::Mul,
                };
                self.cipher(op, vec![x, y], MacroImm::None, loc)
            }
            (_, Cipher(y)) if op == Binary::Sub => {
                let negated = self.cipher(TracedOp::Neg, vec![y], MacroImm::None, loc.clone())?;
                self.binary(Binary::Add, negated, a, loc)
            }
            (_, Cipher(_)) => self.binary(op, b, a, loc),
            (PlainInput(_), _) | (_, PlainInput(_)) => Err(TraceError::PlainArithmetic {
                at: At(loc),
                operation: op.name(),
            }),
            (Scalar(x), Scalar(y)) => {
                let slot = op.on((x, 0.0), (y, 0.0));
                check_finite(op.name(), &[slot], &loc)?;
                Ok(self.node(Node::Scalar(slot.0)))
            }
            (Constant | Scalar(_), Constant | Scalar(_)) => {
                let (x, y) = (self.values(a), self.values(b));
                let values: Vec<Slot> = x.into_iter().zip(y).map(|(x, y)| op.on(x, y)).collect();
                check_finite(op.name(), &values, &loc)?;
                Ok(self.vector_node(values))
            }
        }
    }

    /// Returns what a handle stands for in the innermost frame (the program, or the procedure or repeat's body that is
    /// being traced). A value of an outer frame becomes a parameter of the repeats' bodies within. A procedure between
    /// the two frames is an error.
    pub(super) fn sort(&mut self, a: Traced, loc: &Option<SourceLoc>) -> Result<Sort, TraceError> {
        match self.nodes.get(a.node as usize) {
            Some(Node::Cipher(home)) => Ok(Sort::Cipher(self.here(*home, CIPHER, loc)?)),
            Some(Node::PlainInput(home)) => Ok(Sort::PlainInput(self.here(*home, PLAIN, loc)?)),
            Some(Node::Vector(_)) => Ok(Sort::Constant),
            Some(Node::Scalar(x)) => Ok(Sort::Scalar(*x)),
            None => Err(TraceError::ForeignValue {
                at: At(loc.clone()),
            }),
        }
    }

    /// Returns a new handle of a constant vector.
    pub(super) fn vector_node(&mut self, values: Vec<Slot>) -> Traced {
        let number = self.constants.number(values);
        self.node(Node::Vector(number))
    }

    /// Returns the slots of the constant vector that a handle stands for, or `None` for another value.
    fn vector_of(&self, a: Traced) -> Option<&[Slot]> {
        match self.nodes.get(a.node as usize)? {
            Node::Vector(number) => Some(&self.constants.get(*number)?.values),
            Node::Cipher(_) | Node::PlainInput(_) | Node::Scalar(_) => None,
        }
    }

    /// Returns the slots of a constant, a vector or a number in every slot.
    pub(super) fn values(&self, a: Traced) -> Vec<Slot> {
        match self.nodes.get(a.node as usize) {
            Some(Node::Scalar(x)) => vec![(*x, 0.0); self.program.slots as usize],
            Some(Node::Vector(_) | Node::Cipher(_) | Node::PlainInput(_)) | None => {
                self.vector_of(a).unwrap_or_default().to_vec()
            }
        }
    }

    pub(super) fn map(
        &mut self,
        a: Traced,
        loc: &Option<SourceLoc>,
        f: impl Fn(&[Slot]) -> Vec<Slot>,
    ) -> Result<Traced, TraceError> {
        match self.vector_of(a).map(f) {
            Some(values) => Ok(self.vector_node(values)),
            None => Err(TraceError::ForeignValue {
                at: At(loc.clone()),
            }),
        }
    }

    /// Returns the macro value of a constant vector, which is encoded in the innermost frame (the program, or the
    /// procedure or repeat's body that is being traced). If the vector's last `ENCODE` is in this frame, its result is
    /// used again.
    pub(super) fn encoded(
        &mut self,
        a: Traced,
        loc: &Option<SourceLoc>,
    ) -> Result<MacroValue, TraceError> {
        let foreign = || TraceError::ForeignValue {
            at: At(loc.clone()),
        };
        let Some(&Node::Vector(number)) = self.nodes.get(a.node as usize) else {
            return Err(foreign());
        };
        let frame = self.frame().id;
        let constant = self.constants.get_mut(number).ok_or_else(foreign)?;
        if let Some(home) = constant.encoded.filter(|home| home.frame == frame) {
            return Ok(home.value);
        }
        let table = &mut self.program.data;
        let index = *constant.data.get_or_insert_with(|| {
            table.push(constant.values.clone());
            (table.len() - 1) as u32
        });
        let imm = MacroImm::Data(index);
        let value = self.emit(TracedOp::Encode, Vec::new(), imm, PLAIN, loc.clone())?;
        if let Some(constant) = self.constants.get_mut(number) {
            constant.encoded = Some(Home { frame, value });
        }
        Ok(value)
    }

    pub(super) fn cipher(
        &mut self,
        op: TracedOp,
        src: Vec<MacroValue>,
        imm: MacroImm,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        let value = self.emit(op, src, imm, CIPHER, loc)?;
        let frame = self.frame().id;
        Ok(self.node(Node::Cipher(Home { frame, value })))
    }

    /// Appends an instruction with one result to the innermost frame (the program, or the procedure
    /// or repeat's body that is being traced), and returns the result.
    pub(super) fn emit(
        &mut self,
        op: TracedOp,
        src: Vec<MacroValue>,
        imm: MacroImm,
        ty: MacroType,
        loc: Option<SourceLoc>,
    ) -> Result<MacroValue, TraceError> {
        self.room(&loc)?;
        let frame = self.frame();
        let value = frame.value(ty);
        frame.instrs.push(MacroInstr {
            op: op.into(),
            dst: vec![value],
            src,
            imm,
            loc,
        });
        Ok(value)
    }

    /// Counts one more instruction of the traced program. Fails if there are too many. Outputs are not counted.
    pub(super) fn room(&mut self, loc: &Option<SourceLoc>) -> Result<(), TraceError> {
        if self.instructions >= MAX_INSTRUCTIONS {
            return Err(TraceError::TooLong {
                at: At(loc.clone()),
            });
        }
        self.instructions += 1;
        Ok(())
    }

    pub(super) fn node(&mut self, node: Node) -> Traced {
        self.nodes.push(node);
        Traced {
            node: (self.nodes.len() - 1) as u32,
        }
    }
}

/// The type of a ciphertext in a traced program: two polynomials, and no level yet.
pub(super) const CIPHER: MacroType = MacroType::Cipher { size: 2, at: None };
pub(super) const PLAIN: MacroType = MacroType::Plain { at: None };

fn constant(value: f64) -> MacroImm {
    MacroImm::Constant { value, scale: None }
}

pub(super) fn first_not_finite(values: &[Slot]) -> Option<(usize, f64)> {
    let bad = |&(re, im): &Slot| if re.is_finite() { im } else { re };
    values
        .iter()
        .map(bad)
        .enumerate()
        .find(|(_, x)| !x.is_finite())
}

/// Checks that the values that an operation gives for constants are finite.
///
/// # Errors
/// [`TraceError::Overflow`] with the first value that is not.
pub(super) fn check_finite(
    operation: &'static str,
    values: &[Slot],
    loc: &Option<SourceLoc>,
) -> Result<(), TraceError> {
    match first_not_finite(values) {
        None => Ok(()),
        Some((index, value)) => Err(TraceError::Overflow {
            at: At(loc.clone()),
            operation,
            index,
            value,
        }),
    }
}
