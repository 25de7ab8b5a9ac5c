// SPDX-License-Identifier: Apache-2.0
//! The frames of procedures and repeats that are being traced. Each frame has values and instructions of its own.

use std::collections::HashMap;

use ringmill_isa::limits;
use ringmill_isa::macros::{
    MacroImm, MacroInstr, MacroProc, MacroType, MacroValue, TracedOp, Visibility,
};
use ringmill_isa::source::SourceLoc;

use super::emit::{CIPHER, PLAIN};
use super::error::named;
use super::node::{Home, Node, Sort};
use super::{TraceBuilder, TraceError, Traced};
use crate::line::At;

/// The greatest depth to which procedures and repeats may be nested in a trace.
pub const MAX_NESTING: usize = 64;

/// The kind of a frame: the program itself, a procedure, or the body of a repeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Program,
    /// The frame of a procedure, whose instructions read only its own parameters and constants.
    Procedure,
    /// A repeat's frame. Values of surrounding frames become parameters of it.
    Body,
}

/// A list of instructions under construction: the program's own, a procedure's, or a repeat's body.
#[derive(Debug)]
pub(super) struct Frame {
    pub id: u32,
    kind: Kind,
    name: String,
    loc: Option<SourceLoc>,
    params: Vec<MacroValue>,
    pub instrs: Vec<MacroInstr>,
    pub types: Vec<MacroType>,
    /// The values of surrounding frames that the frame uses. They are its last parameters, in this order.
    captured: Vec<Home>,
    /// For each captured value of a surrounding frame, the parameter of this frame that stands for
    /// it.
    inner: HashMap<Home, MacroValue>,
}

impl Frame {
    pub fn new(id: u32, kind: Kind, name: String, loc: Option<SourceLoc>) -> Self {
        Self {
            id,
            kind,
            name,
            loc,
            params: Vec::new(),
            instrs: Vec::new(),
            types: Vec::new(),
            captured: Vec::new(),
            inner: HashMap::new(),
        }
    }

    /// Adds a value of type `ty` to the frame, and returns the value's number in the frame.
    pub fn value(&mut self, ty: MacroType) -> MacroValue {
        let value = MacroValue(self.types.len() as u32);
        self.types.push(ty);
        value
    }

    fn param(&mut self, ty: MacroType) -> MacroValue {
        let value = self.value(ty);
        self.params.push(value);
        value
    }
}

/// A handle of a traced procedure or of a traced repeat's body. It is valid only for the [`TraceBuilder`] that made it.
/// Another builder does not refuse it.
#[derive(Clone, Debug)]
pub struct Procedure {
    number: u32,
    params: Vec<Visibility>,
    results: usize,
    /// For the body of a repeat, the values of surrounding frames that it uses.
    captured: Vec<Home>,
}

impl Procedure {
    /// Returns the number of values that a call of the procedure returns.
    pub fn results(&self) -> usize {
        self.results
    }
}

impl TraceBuilder {
    /// Returns the innermost frame, to which instructions are appended: the procedure or repeat's
    /// body that was begun last, else the program's own.
    pub(super) fn frame(&mut self) -> &mut Frame {
        match self.nested.last_mut() {
            Some(frame) => frame,
            None => &mut self.main,
        }
    }

    /// Refuses an operation that only the program itself may contain, if a procedure or a repeat's body is being
    /// traced.
    pub(super) fn outside(
        &self,
        what: &'static str,
        loc: &Option<SourceLoc>,
    ) -> Result<(), TraceError> {
        if self.nested.is_empty() {
            return Ok(());
        }
        let at = At(loc.clone());
        Err(TraceError::Inside { at, what })
    }

    /// Begins a procedure. Until [`TraceBuilder::end`], all operations are part of it, on its parameters and constants
    /// alone. Returns its parameters, each a ciphertext or a plaintext.
    ///
    /// # Errors
    /// [`TraceError::Nested`] beyond [`MAX_NESTING`], [`TraceError::TooMany`] for too many parameters,
    /// [`TraceError::Name`] for a name that is too long.
    pub fn begin_procedure(
        &mut self,
        name: &str,
        params: &[Visibility],
        loc: Option<SourceLoc>,
    ) -> Result<Vec<Traced>, TraceError> {
        self.begin(Kind::Procedure, name, params, loc)
    }

    /// Begins the body of a repeat that carries `carried` ciphertexts from one iteration to the next. Returns its
    /// parameters. The body may use values of surrounding frames, which are the same in each iteration. It may not use
    /// values from outside of a procedure that surrounds it.
    ///
    /// # Errors
    /// Fails like [`TraceBuilder::begin_procedure`].
    pub fn begin_body(
        &mut self,
        name: &str,
        carried: usize,
        loc: Option<SourceLoc>,
    ) -> Result<Vec<Traced>, TraceError> {
        let carried = carried.min(limits::MAX_OPERANDS + 1); // any larger number gives the same error
        self.begin(Kind::Body, name, &vec![Visibility::Encrypted; carried], loc)
    }

    fn begin(
        &mut self,
        kind: Kind,
        name: &str,
        params: &[Visibility],
        loc: Option<SourceLoc>,
    ) -> Result<Vec<Traced>, TraceError> {
        if self.nested.len() >= MAX_NESTING {
            return Err(TraceError::Nested { at: At(loc) });
        }
        operands("arguments", params.len(), &loc)?;
        named("a procedure", name, &loc)?;
        let id = self.made;
        self.made += 1;
        let mut frame = Frame::new(id, kind, name.to_owned(), loc);
        let nodes: Vec<Node> = params
            .iter()
            .map(|param| match param {
                Visibility::Encrypted => {
                    let value = frame.param(CIPHER);
                    Node::Cipher(Home { frame: id, value })
                }
                Visibility::Plain => {
                    let value = frame.param(PLAIN);
                    Node::PlainInput(Home { frame: id, value })
                }
            })
            .collect();
        self.nested.push(frame);
        Ok(nodes.into_iter().map(|node| self.node(node)).collect())
    }

    /// Drops the procedure or repeat's body that was begun last and not ended, with its
    /// instructions.
    pub fn abandon(&mut self) {
        self.nested.pop();
    }

    /// Ends the procedure or repeat's body that was begun last, with `results` as the values that it returns.
    ///
    /// # Errors
    /// [`TraceError::NoProcedure`] if no procedure or body was begun. [`TraceError::Result`] for a result that is not
    /// encrypted, [`TraceError::NoResults`] if there are none, [`TraceError::TooMany`] for too many parameters, results
    /// or procedures. After these three errors the procedure is still to be ended, or abandoned.
    pub fn end(
        &mut self,
        results: &[Traced],
        loc: Option<SourceLoc>,
    ) -> Result<Procedure, TraceError> {
        if self.nested.is_empty() {
            return Err(TraceError::NoProcedure { at: At(loc) });
        }
        let values = self.results(results, &loc)?;
        if values.is_empty() {
            return Err(TraceError::NoResults { at: At(loc) });
        }
        operands("results", values.len(), &loc)?;
        operands("arguments", self.frame().params.len(), &loc)?;
        let number = self.program.procs.len();
        if number >= limits::MAX_PROCS {
            return Err(TraceError::TooMany {
                at: At(loc),
                what: "procedures",
                limit: limits::MAX_PROCS,
            });
        }
        let frame = self.nested.pop();
        let frame = frame.ok_or(TraceError::NoProcedure { at: At(loc) })?;
        let kinds = frame
            .params
            .iter()
            .map(|v| match frame.types.get(v.0 as usize) {
                Some(ty) if ty.polys().is_none() => Visibility::Plain,
                Some(_) | None => Visibility::Encrypted,
            });
        let procedure = Procedure {
            number: number as u32,
            params: kinds.collect(),
            results: values.len(),
            captured: frame.captured,
        };
        self.program.procs.push(MacroProc {
            name: frame.name,
            params: frame.params,
            instrs: frame.instrs,
            types: frame.types,
            results: values,
            loc: frame.loc,
        });
        Ok(procedure)
    }

    fn results(
        &mut self,
        results: &[Traced],
        loc: &Option<SourceLoc>,
    ) -> Result<Vec<MacroValue>, TraceError> {
        let one = |(index, &result)| match self.sort(result, loc)? {
            Sort::Cipher(v) => Ok(v),
            other @ (Sort::PlainInput(_) | Sort::Constant | Sort::Scalar(_)) => {
                Err(TraceError::Result {
                    at: At(loc.clone()),
                    index,
                    found: other.name(),
                })
            }
        };
        results.iter().enumerate().map(one).collect()
    }

    /// Calls a procedure and returns its results. Each encrypted parameter takes a ciphertext, each plain one a plain
    /// input or a constant.
    ///
    /// # Errors
    /// [`TraceError::Count`] for another number of arguments than parameters, [`TraceError::Argument`] for an argument
    /// of the wrong kind, [`TraceError::TooLong`].
    pub fn call(
        &mut self,
        procedure: &Procedure,
        arguments: &[Traced],
        loc: Option<SourceLoc>,
    ) -> Result<Vec<Traced>, TraceError> {
        let imm = MacroImm::Proc(procedure.number);
        self.invoke(TracedOp::Call, imm, procedure, arguments, loc)
    }

    /// Repeats a body `count` times, first with the values `carried`, then with its own results. Returns the results of
    /// the last iteration.
    ///
    /// # Errors
    /// [`TraceError::Times`] unless `count` is from 1 to 2^32. [`TraceError::Carried`] if the body returns another
    /// number of values than `carried` has. Fails like [`TraceBuilder::call`] too.
    pub fn repeat(
        &mut self,
        count: u64,
        body: &Procedure,
        carried: &[Traced],
        loc: Option<SourceLoc>,
    ) -> Result<Vec<Traced>, TraceError> {
        if !(1..=limits::MAX_REPEATS).contains(&count) {
            return Err(TraceError::Times { at: At(loc), count });
        }
        if body.results != carried.len() {
            return Err(TraceError::Carried {
                at: At(loc),
                carried: carried.len(),
                results: body.results,
            });
        }
        let proc = body.number;
        let imm = MacroImm::Repeat { proc, count };
        self.invoke(TracedOp::Repeat, imm, body, carried, loc)
    }

    fn invoke(
        &mut self,
        op: TracedOp,
        imm: MacroImm,
        procedure: &Procedure,
        arguments: &[Traced],
        loc: Option<SourceLoc>,
    ) -> Result<Vec<Traced>, TraceError> {
        let own = procedure
            .params
            .len()
            .saturating_sub(procedure.captured.len());
        if own != arguments.len() {
            return Err(TraceError::Count {
                at: At(loc),
                expected: own,
                found: arguments.len(),
            });
        }
        let mut src = Vec::with_capacity(procedure.params.len());
        for (index, (&argument, param)) in arguments.iter().zip(&procedure.params).enumerate() {
            src.push(self.argument(index, argument, *param, &loc)?);
        }
        let outer = procedure.params.iter().skip(own);
        for (&home, param) in procedure.captured.iter().zip(outer) {
            let ty = match param {
                Visibility::Encrypted => CIPHER,
                Visibility::Plain => PLAIN,
            };
            src.push(self.here(home, ty, &loc)?);
        }
        self.room(&loc)?;
        let results = procedure.results;
        let frame = self.frame();
        let id = frame.id;
        let dst: Vec<MacroValue> = (0..results).map(|_| frame.value(CIPHER)).collect();
        frame.instrs.push(MacroInstr {
            op: op.into(),
            dst: dst.clone(),
            src,
            imm,
            loc,
        });
        let node = |value| Node::Cipher(Home { frame: id, value });
        Ok(dst.into_iter().map(|v| self.node(node(v))).collect())
    }

    fn argument(
        &mut self,
        index: usize,
        argument: Traced,
        param: Visibility,
        loc: &Option<SourceLoc>,
    ) -> Result<MacroValue, TraceError> {
        let found = self.sort(argument, loc)?;
        let (expected, found) = match (param, found) {
            (Visibility::Encrypted, Sort::Cipher(v)) | (Visibility::Plain, Sort::PlainInput(v)) => {
                return Ok(v);
            }
            (Visibility::Plain, Sort::Constant) => return self.encoded(argument, loc),
            (Visibility::Plain, Sort::Scalar(x)) => {
                let values = vec![(x, 0.0); self.program.slots as usize];
                let vector = self.vector_node(values);
                return self.encoded(vector, loc);
            }
            (Visibility::Plain, found @ Sort::Cipher(_)) => ("a plain vector", found.name()),
            (
                Visibility::Encrypted,
                found @ (Sort::PlainInput(_) | Sort::Constant | Sort::Scalar(_)),
            ) => ("an encrypted vector", found.name()),
        };
        Err(TraceError::Argument {
            at: At(loc.clone()),
            index,
            expected,
            found,
        })
    }

    /// Returns a value as the innermost frame sees it. A value of a surrounding frame becomes a
    /// parameter of each repeat's body between the two frames.
    pub(super) fn here(
        &mut self,
        home: Home,
        ty: MacroType,
        loc: &Option<SourceLoc>,
    ) -> Result<MacroValue, TraceError> {
        let frame = self.frame();
        if frame.id == home.frame {
            return Ok(home.value);
        }
        if let Some(&known) = frame.inner.get(&home) {
            return Ok(known);
        }
        let within = if home.frame == self.main.id {
            0
        } else {
            let place = self.nested.iter().position(|f| f.id == home.frame);
            let at = || At(loc.clone());
            place.ok_or_else(|| TraceError::Ended { at: at() })? + 1
        };
        let between = self.nested.iter_mut().skip(within);
        let mut value = home.value;
        for frame in between {
            if frame.kind == Kind::Procedure {
                return Err(TraceError::Captured {
                    at: At(loc.clone()),
                });
            }
            value = match frame.inner.get(&home) {
                Some(&known) => known,
                None => {
                    let new = frame.param(ty);
                    frame.captured.push(home);
                    frame.inner.insert(home, new);
                    new
                }
            };
        }
        Ok(value)
    }
}

fn operands(what: &'static str, count: usize, loc: &Option<SourceLoc>) -> Result<(), TraceError> {
    if count <= limits::MAX_OPERANDS {
        return Ok(());
    }
    Err(TraceError::TooMany {
        at: At(loc.clone()),
        what,
        limit: limits::MAX_OPERANDS,
    })
}
