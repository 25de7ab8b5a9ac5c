//! Behind the builder: arithmetic by what the handles stand for, and emission.

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroType, MacroValue};
use ringmill_isa::source::SourceLoc;

use super::node::{Binary, Node, Sort};
use super::{MAX_INSTRUCTIONS, Slot, TraceBuilder, TraceError, Traced};
use crate::error::At;

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
                Binary::Add => self.cipher(MacroOp::Addc, vec![x], constant(c), loc),
                Binary::Sub => self.cipher(MacroOp::Addc, vec![x], constant(-c), loc),
                Binary::Mul => self.cipher(MacroOp::Mulc, vec![x], constant(c), loc),
            },
            (Cipher(x), right) => {
                let y = match right {
                    Cipher(y) | PlainInput(y) => y,
                    _ => self.encoded(b, &loc)?,
                };
                let op = match op {
                    Binary::Add => MacroOp::Add,
                    Binary::Sub => MacroOp::Sub,
                    Binary::Mul => MacroOp::Mul,
                };
                self.cipher(op, vec![x, y], MacroImm::None, loc)
            }
            (_, Cipher(y)) if op == Binary::Sub => {
                let negated = self.cipher(MacroOp::Neg, vec![y], MacroImm::None, loc.clone())?;
                self.binary(Binary::Add, negated, a, loc)
            }
            (_, Cipher(_)) => self.binary(op, b, a, loc),
            (PlainInput(_), _) | (_, PlainInput(_)) => Err(TraceError::PlainArithmetic {
                at: At(loc),
                operation: op.name(),
            }),
            (Scalar(x), Scalar(y)) => {
                let (value, _) = op.on((x, 0.0), (y, 0.0));
                if !value.is_finite() {
                    return Err(TraceError::Overflow {
                        at: At(loc),
                        operation: op.name(),
                        index: 0,
                        value,
                    });
                }
                Ok(self.node(Node::Scalar(value)))
            }
            (Constant | Scalar(_), Constant | Scalar(_)) => {
                let (x, y) = (self.values(a), self.values(b));
                let values: Vec<Slot> = x.into_iter().zip(y).map(|(x, y)| op.on(x, y)).collect();
                match first_not_finite(&values) {
                    Some((index, value)) => Err(TraceError::Overflow {
                        at: At(loc),
                        operation: op.name(),
                        index,
                        value,
                    }),
                    None => Ok(self.node(Node::Vector {
                        values,
                        encoded: None,
                    })),
                }
            }
        }
    }

    pub(super) fn sort(&self, a: Traced, loc: &Option<SourceLoc>) -> Result<Sort, TraceError> {
        match self.nodes.get(a.node as usize) {
            Some(Node::Cipher(v)) => Ok(Sort::Cipher(*v)),
            Some(Node::PlainInput(v)) => Ok(Sort::PlainInput(*v)),
            Some(Node::Vector { .. }) => Ok(Sort::Constant),
            Some(Node::Scalar(x)) => Ok(Sort::Scalar(*x)),
            None => Err(TraceError::ForeignValue {
                at: At(loc.clone()),
            }),
        }
    }

    /// The slots of a constant.
    fn values(&self, a: Traced) -> Vec<Slot> {
        match self.nodes.get(a.node as usize) {
            Some(Node::Vector { values, .. }) => values.clone(),
            Some(Node::Scalar(x)) => vec![(*x, 0.0); self.program.slots as usize],
            _ => Vec::new(),
        }
    }

    pub(super) fn map(
        &mut self,
        a: Traced,
        loc: &Option<SourceLoc>,
        f: impl Fn(&[Slot]) -> Vec<Slot>,
    ) -> Result<Traced, TraceError> {
        match self.nodes.get(a.node as usize) {
            Some(Node::Vector { values, .. }) => {
                let values = f(values);
                Ok(self.node(Node::Vector {
                    values,
                    encoded: None,
                }))
            }
            _ => Err(TraceError::ForeignValue {
                at: At(loc.clone()),
            }),
        }
    }

    /// The macro value of a constant vector.
    fn encoded(&mut self, a: Traced, loc: &Option<SourceLoc>) -> Result<MacroValue, TraceError> {
        let values = match self.nodes.get(a.node as usize) {
            Some(Node::Vector {
                encoded: Some(value),
                ..
            }) => return Ok(*value),
            Some(Node::Vector { values, .. }) => values.clone(),
            _ => {
                return Err(TraceError::ForeignValue {
                    at: At(loc.clone()),
                });
            }
        };
        let index = self.program.data.len() as u32;
        self.program.data.push(values);
        let ty = MacroType::Plain { at: None };
        let value = self.emit(
            MacroOp::Encode,
            Vec::new(),
            MacroImm::Data(index),
            ty,
            loc.clone(),
        )?;
        if let Some(Node::Vector { encoded, .. }) = self.nodes.get_mut(a.node as usize) {
            *encoded = Some(value);
        }
        Ok(value)
    }

    pub(super) fn cipher(
        &mut self,
        op: MacroOp,
        src: Vec<MacroValue>,
        imm: MacroImm,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        let value = self.emit(op, src, imm, MacroType::Cipher { size: 2, at: None }, loc)?;
        Ok(self.node(Node::Cipher(value)))
    }

    pub(super) fn emit(
        &mut self,
        op: MacroOp,
        src: Vec<MacroValue>,
        imm: MacroImm,
        ty: MacroType,
        loc: Option<SourceLoc>,
    ) -> Result<MacroValue, TraceError> {
        if self.program.instrs.len() >= MAX_INSTRUCTIONS {
            return Err(TraceError::TooLong { at: At(loc) });
        }
        let value = MacroValue(self.program.types.len() as u32);
        self.program.types.push(ty);
        self.program.instrs.push(MacroInstr {
            op,
            dst: vec![value],
            src,
            imm,
            loc,
        });
        Ok(value)
    }

    pub(super) fn node(&mut self, node: Node) -> Traced {
        self.nodes.push(node);
        Traced {
            node: (self.nodes.len() - 1) as u32,
        }
    }
}

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
