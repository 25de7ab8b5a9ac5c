//! What front ends call: a function is traced by doing its arithmetic on handles, and a macro program comes out.
//!
//! Arithmetic among constants is done here, in the clear; a handle knows whether it is a ciphertext, a plain input (known
//! only at run time) or a constant, and each misuse is an error at the user's line.

use ringmill_isa::macros::{
    MacroImm, MacroInput, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue, Visibility,
};
use ringmill_isa::source::SourceLoc;
use thiserror::Error;

use crate::error::At;

/// Largest vector length a program may ask for: the slots of the largest ring degree, 2^17.
pub const MAX_SLOTS: u32 = ringmill_isa::limits::MAX_VECTOR_SLOTS;
/// Most instructions in one traced program; the compiler adds some of its own.
pub const MAX_INSTRUCTIONS: usize = ringmill_isa::limits::MAX_VALUES / 4;

/// What a traced function may not do.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum TraceError {
    #[error(
        "a program works on vectors of a power of two slots, at least 1 and at most {MAX_SLOTS}; {slots} were asked for"
    )]
    Slots { slots: u32 },
    #[error(
        "{at}this vector has {got} values and the program's vectors have {expected} slots; pad it, or change the program's slots"
    )]
    Length { at: At, expected: u32, got: usize },
    #[error("{at}value {index} of this vector is {value}; only finite numbers can be encoded")]
    NotFinite { at: At, index: usize, value: f64 },
    #[error("{at}there are two inputs named {name:?}; give each its own name")]
    DuplicateInput { at: At, name: String },
    #[error("{at}there are two outputs named {name:?}; give each its own name")]
    DuplicateOutput { at: At, name: String },
    #[error(
        "{at}{operation} takes no plain input on its own: its values are known only at run time; combine them in the clear before they are passed in, or declare the input encrypted"
    )]
    PlainArithmetic { at: At, operation: &'static str },
    #[error(
        "{at}output {name:?} is not encrypted: it depends on no encrypted input; compute it in the clear"
    )]
    PlainOutput { at: At, name: String },
    #[error("{at}{operation} of constants overflows: slot {index} would be {value}")]
    Overflow {
        at: At,
        operation: &'static str,
        index: usize,
        value: f64,
    },
    #[error(
        "{at}a rotation by {steps} steps is out of range for {slots} slots; steps are between -{slots} and {slots}"
    )]
    Steps { at: At, steps: i64, slots: u32 },
    #[error("{at}a polynomial needs at least one coefficient")]
    NoCoefficients { at: At },
    #[error("{at}this value belongs to another program")]
    ForeignValue { at: At },
    #[error("{at}the program is longer than {MAX_INSTRUCTIONS} instructions; split it")]
    TooLong { at: At },
}

/// Handle of a traced value; belongs to the [`TraceBuilder`] that made it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Traced {
    node: u32,
}

/// A complex slot, (re, im).
pub type Slot = (f64, f64);

/// What a handle stands for.
#[derive(Clone, Debug)]
enum Node {
    Cipher(MacroValue),
    PlainInput(MacroValue),
    /// A constant vector; its `ENCODE` is emitted at first use.
    Vector {
        values: Vec<Slot>,
        encoded: Option<MacroValue>,
    },
    /// The same real number in every slot.
    Scalar(f64),
}

/// A handle's meaning without the vectors themselves.
#[derive(Clone, Copy)]
enum Sort {
    Cipher(MacroValue),
    PlainInput(MacroValue),
    Constant,
    Scalar(f64),
}

/// The two-operand operations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Binary {
    Add,
    Sub,
    Mul,
}

impl Binary {
    fn name(self) -> &'static str {
        match self {
            Self::Add => "addition",
            Self::Sub => "subtraction",
            Self::Mul => "multiplication",
        }
    }

    fn on(self, (a, b): Slot, (c, d): Slot) -> Slot {
        match self {
            Self::Add => (a + c, b + d),
            Self::Sub => (a - c, b - d),
            Self::Mul => (a * c - b * d, a * d + b * c),
        }
    }
}

/// Builds a macro program, one operation at a time.
///
/// ```
/// use ringmill_compiler::builder::TraceBuilder;
/// use ringmill_isa::macros::Visibility;
/// let mut t = TraceBuilder::new("square_plus_one", 4)?;
/// let x = t.input("x", Visibility::Encrypted, None)?;
/// let square = t.square(x, None)?;
/// let one = t.scalar(1.0, None)?;
/// let y = t.add(square, one, None)?;
/// t.output("y", y, None)?;
/// assert_eq!(t.finish().outputs, ["y"]);
/// # Ok::<(), ringmill_compiler::builder::TraceError>(())
/// ```
#[derive(Debug)]
pub struct TraceBuilder {
    program: MacroProgram,
    nodes: Vec<Node>,
}

impl TraceBuilder {
    /// A program on vectors of `slots` values.
    ///
    /// # Errors
    /// [`TraceError::Slots`] unless `slots` is a power of two up to [`MAX_SLOTS`].
    pub fn new(name: &str, slots: u32) -> Result<Self, TraceError> {
        if !slots.is_power_of_two() || slots > MAX_SLOTS {
            return Err(TraceError::Slots { slots });
        }
        let program = MacroProgram {
            name: name.to_owned(),
            slots,
            inputs: Vec::new(),
            data: Vec::new(),
            instrs: Vec::new(),
            types: Vec::new(),
            outputs: Vec::new(),
        };
        Ok(Self {
            program,
            nodes: Vec::new(),
        })
    }

    /// Vector length.
    pub fn slots(&self) -> u32 {
        self.program.slots
    }

    /// Declares a named input.
    ///
    /// # Errors
    /// [`TraceError::DuplicateInput`].
    pub fn input(
        &mut self,
        name: &str,
        visibility: Visibility,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        if self.program.inputs.iter().any(|i| i.name == name) {
            return Err(TraceError::DuplicateInput {
                at: At(loc),
                name: name.to_owned(),
            });
        }
        let index = self.program.inputs.len() as u32;
        self.program.inputs.push(MacroInput {
            name: name.to_owned(),
            visibility,
        });
        let ty = match visibility {
            Visibility::Encrypted => MacroType::Cipher { size: 2, at: None },
            Visibility::Plain => MacroType::Plain { at: None },
        };
        let value = self.emit(MacroOp::Input, Vec::new(), MacroImm::Input(index), ty, loc)?;
        Ok(self.node(match visibility {
            Visibility::Encrypted => Node::Cipher(value),
            Visibility::Plain => Node::PlainInput(value),
        }))
    }

    /// A constant vector: one complex value a slot.
    ///
    /// # Errors
    /// [`TraceError::Length`], [`TraceError::NotFinite`].
    pub fn vector(
        &mut self,
        values: Vec<Slot>,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        if values.len() != self.program.slots as usize {
            return Err(TraceError::Length {
                at: At(loc),
                expected: self.program.slots,
                got: values.len(),
            });
        }
        if let Some((index, value)) = first_not_finite(&values) {
            return Err(TraceError::NotFinite {
                at: At(loc),
                index,
                value,
            });
        }
        Ok(self.node(Node::Vector {
            values,
            encoded: None,
        }))
    }

    /// A real constant in every slot.
    ///
    /// # Errors
    /// [`TraceError::NotFinite`].
    pub fn scalar(&mut self, value: f64, loc: Option<SourceLoc>) -> Result<Traced, TraceError> {
        if !value.is_finite() {
            return Err(TraceError::NotFinite {
                at: At(loc),
                index: 0,
                value,
            });
        }
        Ok(self.node(Node::Scalar(value)))
    }

    /// Slot by slot `a + b`.
    ///
    /// # Errors
    /// [`TraceError::PlainArithmetic`] if neither is encrypted and one is a plain input; [`TraceError::Overflow`].
    pub fn add(
        &mut self,
        a: Traced,
        b: Traced,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        self.binary(Binary::Add, a, b, loc)
    }

    /// Slot by slot `a - b`. Errors as [`TraceBuilder::add`].
    pub fn sub(
        &mut self,
        a: Traced,
        b: Traced,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        self.binary(Binary::Sub, a, b, loc)
    }

    /// Slot by slot `a * b`. Errors as [`TraceBuilder::add`].
    pub fn mul(
        &mut self,
        a: Traced,
        b: Traced,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        self.binary(Binary::Mul, a, b, loc)
    }

    /// Slot by slot `a * a`. Errors as [`TraceBuilder::add`].
    pub fn square(&mut self, a: Traced, loc: Option<SourceLoc>) -> Result<Traced, TraceError> {
        match self.sort(a, &loc)? {
            Sort::Cipher(v) => self.cipher(MacroOp::Square, vec![v], MacroImm::None, loc),
            _ => self.binary(Binary::Mul, a, a, loc),
        }
    }

    /// Slot by slot `-a`.
    ///
    /// # Errors
    /// [`TraceError::PlainArithmetic`] on a plain input.
    pub fn neg(&mut self, a: Traced, loc: Option<SourceLoc>) -> Result<Traced, TraceError> {
        match self.sort(a, &loc)? {
            Sort::Cipher(v) => self.cipher(MacroOp::Neg, vec![v], MacroImm::None, loc),
            Sort::Scalar(x) => Ok(self.node(Node::Scalar(-x))),
            Sort::Constant => self.map(a, &loc, |v| v.iter().map(|&(re, im)| (-re, -im)).collect()),
            Sort::PlainInput(_) => Err(TraceError::PlainArithmetic {
                at: At(loc),
                operation: "negation",
            }),
        }
    }

    /// Slot i of the result is slot i + `steps` of `a`, cyclically; `steps` in `-slots ..= slots`.
    ///
    /// # Errors
    /// [`TraceError::Steps`], [`TraceError::PlainArithmetic`].
    pub fn rotate(
        &mut self,
        a: Traced,
        steps: i64,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        let slots = self.program.slots;
        if steps.unsigned_abs() > u64::from(slots) {
            return Err(TraceError::Steps {
                at: At(loc),
                steps,
                slots,
            });
        }
        let left = steps.rem_euclid(i64::from(slots));
        match self.sort(a, &loc)? {
            Sort::Cipher(_) | Sort::Scalar(_) if left == 0 => Ok(a),
            Sort::Cipher(v) => self.cipher(
                MacroOp::Rotate,
                vec![v],
                MacroImm::Steps(vec![left as i32]),
                loc,
            ),
            Sort::Scalar(_) => Ok(a),
            Sort::Constant => self.map(a, &loc, |v| {
                let mut rotated = v.to_vec();
                rotated.rotate_left(left as usize);
                rotated
            }),
            Sort::PlainInput(_) => Err(TraceError::PlainArithmetic {
                at: At(loc),
                operation: "rotation",
            }),
        }
    }

    /// Complex conjugate of every slot.
    ///
    /// # Errors
    /// [`TraceError::PlainArithmetic`] on a plain input.
    pub fn conj(&mut self, a: Traced, loc: Option<SourceLoc>) -> Result<Traced, TraceError> {
        match self.sort(a, &loc)? {
            Sort::Cipher(v) => self.cipher(MacroOp::Conj, vec![v], MacroImm::None, loc),
            Sort::Scalar(_) => Ok(a),
            Sort::Constant => self.map(a, &loc, |v| v.iter().map(|&(re, im)| (re, -im)).collect()),
            Sort::PlainInput(_) => Err(TraceError::PlainArithmetic {
                at: At(loc),
                operation: "conjugation",
            }),
        }
    }

    /// Names a result of the program.
    ///
    /// # Errors
    /// [`TraceError::PlainOutput`], [`TraceError::DuplicateOutput`].
    pub fn output(
        &mut self,
        name: &str,
        a: Traced,
        loc: Option<SourceLoc>,
    ) -> Result<(), TraceError> {
        let Sort::Cipher(value) = self.sort(a, &loc)? else {
            return Err(TraceError::PlainOutput {
                at: At(loc),
                name: name.to_owned(),
            });
        };
        if self.program.outputs.iter().any(|o| o == name) {
            return Err(TraceError::DuplicateOutput {
                at: At(loc),
                name: name.to_owned(),
            });
        }
        let index = self.program.outputs.len() as u32;
        self.program.outputs.push(name.to_owned());
        let instr = MacroInstr {
            op: MacroOp::Output,
            dst: Vec::new(),
            src: vec![value],
            imm: MacroImm::Output(index),
            loc,
        };
        self.program.instrs.push(instr);
        Ok(())
    }

    /// The traced program.
    pub fn finish(self) -> MacroProgram {
        self.program
    }

    /// Whether a handle is encrypted.
    ///
    /// # Errors
    /// [`TraceError::ForeignValue`].
    pub fn is_encrypted(&self, a: Traced) -> Result<bool, TraceError> {
        Ok(matches!(self.sort(a, &None)?, Sort::Cipher(_)))
    }

    fn binary(
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

    fn sort(&self, a: Traced, loc: &Option<SourceLoc>) -> Result<Sort, TraceError> {
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

    fn map(
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

    fn cipher(
        &mut self,
        op: MacroOp,
        src: Vec<MacroValue>,
        imm: MacroImm,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        let value = self.emit(op, src, imm, MacroType::Cipher { size: 2, at: None }, loc)?;
        Ok(self.node(Node::Cipher(value)))
    }

    fn emit(
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

    fn node(&mut self, node: Node) -> Traced {
        self.nodes.push(node);
        Traced {
            node: (self.nodes.len() - 1) as u32,
        }
    }
}

fn constant(value: f64) -> MacroImm {
    MacroImm::Constant { value, scale: None }
}

fn first_not_finite(values: &[Slot]) -> Option<(usize, f64)> {
    let bad = |&(re, im): &Slot| if re.is_finite() { im } else { re };
    values
        .iter()
        .map(bad)
        .enumerate()
        .find(|(_, x)| !x.is_finite())
}
