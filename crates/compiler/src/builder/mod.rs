// SPDX-License-Identifier: Apache-2.0
//! The builder that front ends call to trace a function. The function computes on handles, and the builder records each
//! operation in a macro program.
//!
//! The builder computes arithmetic among constants itself, without encryption. A handle knows whether it is a
//! ciphertext, a plain input (known only at run time) or a constant. An operation that cannot become a part of the
//! program is an error at the user's line.

use ringmill_isa::macros::{
    Interval, MacroImm, MacroInput, MacroInstr, MacroProgram, MacroType, SchemeName, TracedOp,
    Visibility,
};
use ringmill_isa::source::SourceLoc;

mod constants;
mod digits;
mod emit;
mod error;
mod frame;
mod node;
mod polynomial;
mod unary;

use crate::line::At;
use constants::Constants;
pub use digits::Power;
use emit::first_not_finite;
pub use error::TraceError;
use error::named;
use frame::{Frame, Kind};
pub use frame::{MAX_NESTING, Procedure};
use node::{Binary, Home, Node, Sort};
pub use unary::Unary;

/// The largest vector length of a program: 2^16, half of the largest ring degree.
pub const MAX_SLOTS: u32 = ringmill_isa::limits::MAX_VECTOR_SLOTS;
/// The most instructions of one traced program, without those that write outputs. The limit leaves room for the
/// instructions that the compiler adds.
pub const MAX_INSTRUCTIONS: usize = ringmill_isa::limits::MAX_MACRO_VALUES / 4;

/// A handle of a traced value. It is valid only for the [`TraceBuilder`] that made it. Another builder refuses it only
/// if that builder has not made as many handles itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Traced {
    node: u32,
}

/// A complex slot value, as its real and imaginary part.
pub type Slot = (f64, f64);

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
    /// The program without its own instructions and their types, which are in `main`.
    program: MacroProgram,
    nodes: Vec<Node>,
    constants: Constants,
    /// The frame of the program's own instructions.
    main: Frame,
    /// The frames of procedures and repeats' bodies that are being traced, each inside the one
    /// before.
    nested: Vec<Frame>,
    /// The number of frames that were begun, from which each frame gets its own number.
    made: u32,
    /// The number of instructions so far in all frames, abandoned ones included, without those that write outputs.
    instructions: usize,
}

impl TraceBuilder {
    /// Begins a program on vectors of `slots` values.
    ///
    /// # Errors
    /// [`TraceError::Slots`] unless `slots` is a power of two up to [`MAX_SLOTS`], [`TraceError::Name`] for a name that
    /// is too long.
    pub fn new(name: &str, slots: u32) -> Result<Self, TraceError> {
        if !slots.is_power_of_two() || slots > MAX_SLOTS {
            return Err(TraceError::Slots { slots });
        }
        named("the program", name, &None)?;
        Ok(Self {
            program: MacroProgram::new(name.to_owned(), SchemeName::default(), slots),
            nodes: Vec::new(),
            constants: Constants::default(),
            main: Frame::new(0, Kind::Program, String::new(), None),
            nested: Vec::new(),
            made: 1,
            instructions: 0,
        })
    }

    /// Returns the length of the program's vectors.
    pub fn slots(&self) -> u32 {
        self.program.slots
    }

    /// Declares a named input of the program, encrypted or plain.
    ///
    /// # Errors
    /// [`TraceError::DuplicateInput`], [`TraceError::Name`] for a name that is too long, [`TraceError::Inside`] if a
    /// procedure or a repeat's body is being traced, [`TraceError::TooLong`].
    pub fn input(
        &mut self,
        name: &str,
        visibility: Visibility,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        named("an input", name, &loc)?;
        if self.program.inputs.iter().any(|i| i.name == name) {
            return Err(TraceError::DuplicateInput {
                at: At(loc),
                name: name.to_owned(),
            });
        }
        self.outside("an input", &loc)?;
        let index = self.program.inputs.len() as u32;
        self.program.inputs.push(MacroInput {
            name: name.to_owned(),
            visibility,
        });
        let ty = match visibility {
            Visibility::Encrypted => MacroType::Cipher { size: 2, at: None },
            Visibility::Plain => MacroType::Plain { at: None },
        };
        let value = self.emit(TracedOp::Input, Vec::new(), MacroImm::Input(index), ty, loc)?;
        let home = Home { frame: 0, value };
        Ok(self.node(match visibility {
            Visibility::Encrypted => Node::Cipher(home),
            Visibility::Plain => Node::PlainInput(home),
        }))
    }

    /// Returns a handle of a constant vector, with one complex value for each slot.
    ///
    /// # Errors
    /// [`TraceError::Length`] for another number of values than slots, [`TraceError::NotFinite`].
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
        Ok(self.vector_node(values))
    }

    /// Returns a handle of a real constant in every slot.
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

    /// Computes `a + b` slot by slot.
    ///
    /// # Errors
    /// [`TraceError::PlainArithmetic`] if neither operand is encrypted and one is a plain input.
    /// [`TraceError::Overflow`] if a sum of constants is not finite. [`TraceError::TooLong`] if the program has too
    /// many instructions. Every operation of the builder may also fail with [`TraceError::ForeignValue`],
    /// [`TraceError::Ended`] or [`TraceError::Captured`] for a handle that is not valid where it is used.
    pub fn add(
        &mut self,
        a: Traced,
        b: Traced,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        self.binary(Binary::Add, a, b, loc)
    }

    /// Computes `a - b` slot by slot.
    ///
    /// # Errors
    /// Fails like [`TraceBuilder::add`].
    pub fn sub(
        &mut self,
        a: Traced,
        b: Traced,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        self.binary(Binary::Sub, a, b, loc)
    }

    /// Computes `a * b` slot by slot.
    ///
    /// # Errors
    /// Fails like [`TraceBuilder::add`].
    pub fn mul(
        &mut self,
        a: Traced,
        b: Traced,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        self.binary(Binary::Mul, a, b, loc)
    }

    /// Computes `a * a` slot by slot.
    ///
    /// # Errors
    /// Fails like [`TraceBuilder::add`].
    pub fn square(&mut self, a: Traced, loc: Option<SourceLoc>) -> Result<Traced, TraceError> {
        match self.sort(a, &loc)? {
            Sort::Cipher(v) => self.cipher(TracedOp::Square, vec![v], MacroImm::None, loc),
            _ => self.binary(Binary::Mul, a, a, loc),
        }
    }

    /// Rotates a vector: slot i of the result is slot i + `steps` of `a`, cyclically. `steps` is in `-slots ..= slots`.
    ///
    /// # Errors
    /// [`TraceError::Steps`] for steps out of this range, [`TraceError::PlainArithmetic`] for a plain input,
    /// [`TraceError::TooLong`].
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
                TracedOp::Rotate,
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

    /// Returns `a` with the caller's statement that every slot is real and lies in the interval. Constants stay as they
    /// are.
    ///
    /// # Errors
    /// [`TraceError::Interval`] for ends that are not finite or not in order, [`TraceError::PlainArithmetic`] for a
    /// plain input, [`TraceError::TooLong`].
    pub fn bounded(
        &mut self,
        a: Traced,
        interval: Interval,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        if !interval.is_valid() {
            return Err(TraceError::Interval {
                at: At(loc),
                interval,
            });
        }
        match self.sort(a, &loc)? {
            Sort::Cipher(v) => {
                let imm = MacroImm::Interval(interval);
                self.cipher(TracedOp::Bounded, vec![v], imm, loc)
            }
            Sort::Scalar(_) | Sort::Constant => Ok(a),
            Sort::PlainInput(_) => Err(TraceError::PlainArithmetic {
                at: At(loc),
                operation: "a bound",
            }),
        }
    }

    /// Makes an encrypted value a named output of the program.
    ///
    /// # Errors
    /// [`TraceError::PlainOutput`] for a value that is not encrypted, [`TraceError::DuplicateOutput`],
    /// [`TraceError::Name`] for a name that is too long. [`TraceError::Inside`] if a procedure or a repeat's body is
    /// being traced.
    pub fn output(
        &mut self,
        name: &str,
        a: Traced,
        loc: Option<SourceLoc>,
    ) -> Result<(), TraceError> {
        self.outside("an output", &loc)?;
        let Sort::Cipher(value) = self.sort(a, &loc)? else {
            return Err(TraceError::PlainOutput {
                at: At(loc),
                name: name.to_owned(),
            });
        };
        named("an output", name, &loc)?;
        if self.program.outputs.iter().any(|o| o == name) {
            return Err(TraceError::DuplicateOutput {
                at: At(loc),
                name: name.to_owned(),
            });
        }
        let index = self.program.outputs.len() as u32;
        self.program.outputs.push(name.to_owned());
        let instr = MacroInstr {
            op: TracedOp::Output.into(),
            dst: Vec::new(),
            src: vec![value],
            imm: MacroImm::Output(index),
            loc,
        };
        self.frame().instrs.push(instr);
        Ok(())
    }

    /// Returns the traced program. Procedures and repeats' bodies that were not ended are left out.
    pub fn finish(mut self) -> MacroProgram {
        self.program.instrs = self.main.instrs;
        self.program.types = self.main.types;
        self.program
    }

    /// Returns whether a handle stands for a ciphertext.
    ///
    /// # Errors
    /// [`TraceError::ForeignValue`] for a handle of another builder, if this builder has not made as many handles.
    pub fn is_encrypted(&self, a: Traced) -> Result<bool, TraceError> {
        match self.nodes.get(a.node as usize) {
            Some(node) => Ok(matches!(node, Node::Cipher(_))),
            None => Err(TraceError::ForeignValue { at: At(None) }),
        }
    }
}
