// SPDX-License-Identifier: Apache-2.0
//! Rewrites each instruction of a mid-level procedure to operations of the ring machine.

use ringmill_isa::mid::{Form, Imm, Instr, Op, ValueId};
use ringmill_math::RingKind;

use super::{Legaliser, Pieces};
use crate::MachineError;
use crate::ring::graph::{Immediate, Node, Source, ValueIndex};
use crate::ring::halve;
use crate::ring::micro::{Opcode, Stream};

impl Legaliser<'_> {
    pub(super) fn instr(&mut self, instr: &Instr) -> Result<(), MachineError> {
        let dst = |i: usize| {
            instr
                .dst
                .get(i)
                .copied()
                .ok_or_else(|| self.unsupported("a missing result"))
        };
        let src = |i: usize| {
            instr
                .src
                .get(i)
                .copied()
                .ok_or_else(|| self.unsupported("a missing operand"))
        };
        let scalar = match instr.imm {
            Imm::Scalar(w) => Immediate::Scalar(w),
            Imm::Galois(g) => Immediate::Galois(g),
            Imm::None
            | Imm::Stream { .. }
            | Imm::Slot(_)
            | Imm::Representative(_)
            | Imm::Base(_) => Immediate::None,
            Imm::ScalarOf(_) | Imm::GaloisOf(_) => {
                return Err(self.unsupported("an immediate that no call has given"));
            }
        };
        for &v in instr.dst.iter().chain(&instr.src) {
            self.form(v)?;
        }
        match instr.op {
            Op::Add => self.each(Opcode::Add, dst(0)?, &[src(0)?, src(1)?], scalar),
            Op::Sub => self.each(Opcode::Sub, dst(0)?, &[src(0)?, src(1)?], scalar),
            Op::Neg => self.each(Opcode::Neg, dst(0)?, &[src(0)?], scalar),
            Op::Mul => self.each(Opcode::Mul, dst(0)?, &[src(0)?, src(1)?], scalar),
            Op::Muli => self.each(Opcode::Muli, dst(0)?, &[src(0)?], scalar),
            Op::Addi => self.each(Opcode::Addi, dst(0)?, &[src(0)?], scalar),
            // The instruction word's third operand is the addend.
            Op::Mac => self.each(Opcode::Mac, dst(0)?, &[src(1)?, src(2)?, src(0)?], scalar),
            Op::Ntt => self.ntt(dst(0)?, src(0)?),
            Op::Intt => self.intt(dst(0)?, src(0)?),
            Op::Auto => self.auto(dst(0)?, src(0)?, scalar),
            Op::Conv => self.conv(dst(0)?, src(0)?),
            Op::Dot => self.dot(dst(0)?, &instr.src),
            Op::Prng => self.prng(dst(0)?, instr.imm),
            Op::Bext | Op::Bextx | Op::Bextr => {
                Err(self.unsupported("a base extension that was not expanded"))
            }
            Op::Split | Op::Join | Op::Autoh => {
                Err(self.unsupported(format!("{:?}: the machine splits rings itself", instr.op)))
            }
            Op::Rotdiff | Op::Decomp | Op::Extract | Op::Lweks => Err(self.unsupported(format!(
                "{:?}: the machine has nothing of the torus extension",
                instr.op
            ))),
            Op::Load | Op::Store => {
                Err(self.unsupported(format!("{:?}: the machine spills by itself", instr.op)))
            }
            Op::Hcf => Err(self.unsupported("HCF, which stands in no procedure")),
        }
    }

    /// Adds the coefficient-wise operation `op` to the graph, once for every piece of its operands. A piece is as
    /// large as a memory slot.
    fn each(
        &mut self,
        op: Opcode,
        dst: ValueId,
        src: &[ValueId],
        imm: Immediate,
    ) -> Result<(), MachineError> {
        let operands = src
            .iter()
            .map(|&v| self.pieces(v))
            .collect::<Result<Vec<_>, _>>()?;
        let eval = self.form(dst)? == Form::Eval;
        let mut pieces = Vec::new();
        for index in 0..self.count() {
            let ring = if eval {
                self.ring(index)
            } else {
                RingKind::Full
            };
            let mut sources: Pieces = operands
                .iter()
                .filter_map(|p| p.get(index).copied())
                .collect();
            let commutes = matches!(op, Opcode::Add | Opcode::Mul | Opcode::Mac);
            if commutes && !matches!(sources.first(), Some(Source::Value(_))) && sources.len() > 1 {
                sources.swap(0, 1);
            }
            let misplaced = sources
                .iter()
                .enumerate()
                .any(|(i, s)| i != 1 && !matches!(s, Source::Value(_)));
            if misplaced
                || (!commutes && sources.len() > 1 && !matches!(sources[1], Source::Value(_)))
            {
                return Err(self.unsupported(
                    "a key limb where the machine reads none: keys are multiplied or added",
                ));
            }
            pieces.push(Source::Value(self.emit(op, ring, dst, sources, imm)?));
        }
        self.map.insert(dst, pieces);
        Ok(())
    }

    fn dot(&mut self, dst: ValueId, src: &[ValueId]) -> Result<(), MachineError> {
        let mut sum: Option<Pieces> = None;
        for pair in src.chunks_exact(2) {
            self.each(Opcode::Mul, dst, pair, Immediate::None)?;
            if let Some(previous) = sum {
                // The multiplication that was just added becomes an accumulation.
                let nodes = self.graph.nodes.len();
                let pieces = self.count();
                for (node, addend) in self.graph.nodes[nodes - pieces..].iter_mut().zip(previous) {
                    node.op = Opcode::Mac;
                    node.sources.push(addend);
                }
            }
            sum = Some(self.pieces(dst)?);
        }
        Ok(())
    }

    fn ntt(&mut self, dst: ValueId, src: ValueId) -> Result<(), MachineError> {
        let pieces = self.pieces(src)?;
        let like = self.like(dst)?;
        let pieces = halve::split(&mut self.graph, &like, pieces);
        let mut out = Vec::new();
        for (index, piece) in pieces.into_iter().enumerate() {
            let ring = self.ring(index);
            out.push(Source::Value(self.emit(
                Opcode::Ntt,
                ring,
                dst,
                vec![piece],
                Immediate::None,
            )?));
        }
        self.map.insert(dst, out);
        Ok(())
    }

    fn intt(&mut self, dst: ValueId, src: ValueId) -> Result<(), MachineError> {
        let mut out = Vec::new();
        for (index, piece) in self.pieces(src)?.into_iter().enumerate() {
            let ring = self.ring(index);
            out.push(Source::Value(self.emit(
                Opcode::Intt,
                ring,
                dst,
                vec![piece],
                Immediate::None,
            )?));
        }
        let like = self.like(dst)?;
        let out = halve::join(&mut self.graph, &like, out);
        self.map.insert(dst, out);
        Ok(())
    }

    fn auto(&mut self, dst: ValueId, src: ValueId, galois: Immediate) -> Result<(), MachineError> {
        let pieces = self.pieces(src)?;
        let out = match (self.depth, self.form(src)?) {
            (0, form) => {
                let op = if form == Form::Eval {
                    Opcode::Auto
                } else {
                    Opcode::Autoc
                };
                vec![Source::Value(self.emit(
                    op,
                    RingKind::Full,
                    dst,
                    pieces,
                    galois,
                )?)]
            }
            (1, Form::Eval) => self.emit_pair(Opcode::Autoh, dst, pieces, galois)?,
            (_, Form::Eval) => self.auto_of_parts(dst, &pieces, galois)?,
            (_, Form::Coeff) => {
                return Err(self
                    .unsupported("an automorphism in coefficient form beyond the native degree"));
            }
        };
        self.map.insert(dst, out);
        Ok(())
    }

    /// Adds to the graph the automorphism of a limb of several parts, each a piece as large as a memory slot. Each
    /// part of the result comes from one part of the operand.
    fn auto_of_parts(
        &mut self,
        dst: ValueId,
        pieces: &[Source],
        galois: Immediate,
    ) -> Result<Pieces, MachineError> {
        let Immediate::Galois(g) = galois else {
            return Err(self.unsupported("an automorphism of no Galois element"));
        };
        let mut out = Vec::new();
        for i in 0..pieces.len() {
            let from = halve::source(i, self.depth, u64::from(g));
            let ring = self.ring(i);
            let sources = vec![pieces[from]];
            out.push(Source::Value(self.emit(
                Opcode::Auto,
                ring,
                dst,
                sources,
                galois,
            )?));
        }
        Ok(out)
    }

    fn conv(&mut self, dst: ValueId, src: ValueId) -> Result<(), MachineError> {
        let mut out = Vec::new();
        for piece in self.pieces(src)? {
            let Source::Value(value) = piece else {
                return Err(self.unsupported("a key limb under CONV"));
            };
            let (rpau, layer) = self.place(dst)?;
            let reduces = self.d.ring.reduces;
            let copy = self.copy(src, value, rpau, reduces.then_some(layer))?;
            let source = vec![Source::Value(copy)];
            if reduces {
                out.extend(source);
                continue;
            }
            out.push(Source::Value(self.emit(
                Opcode::Red,
                RingKind::Full,
                dst,
                source,
                Immediate::None,
            )?));
        }
        self.map.insert(dst, out);
        Ok(())
    }

    /// Returns the copy of `value` (a piece of `like`) that its broadcast writes on RPAU `rpau`. If `reduced` is a
    /// layer, the ring network reduces the copy modulo the receiver's prime in this layer. Otherwise the copy has the
    /// same residues as `value`. Each layer has one prime for each RPAU.
    fn copy(
        &mut self,
        like: ValueId,
        value: ValueIndex,
        rpau: u8,
        reduced: Option<u8>,
    ) -> Result<ValueIndex, MachineError> {
        let (source, own) = self.place(like)?;
        let layer = reduced.unwrap_or(own);
        if let Some(&copy) = self.copies.get(&(value, rpau, layer)) {
            return Ok(copy);
        }
        let copy = self.graph.value(rpau);
        self.copies.insert((value, rpau, layer), copy);
        let node = match self.broadcasts.get(&(value, layer)) {
            Some(&node) => node,
            None => {
                self.graph.nodes.push(Node {
                    op: Opcode::Bcast,
                    ring: RingKind::Full,
                    layer,
                    rpau: source,
                    sources: vec![Source::Value(value)],
                    results: Vec::new(),
                    immediate: Immediate::None,
                    order: self.order,
                });
                self.broadcasts
                    .insert((value, layer), self.graph.nodes.len() - 1);
                self.graph.nodes.len() - 1
            }
        };
        self.graph.nodes[node].results.push(copy);
        Ok(copy)
    }

    /// Generates a limb from a seed. A limb that only one product uses goes straight to that product, others into a
    /// slot.
    fn prng(&mut self, dst: ValueId, imm: Imm) -> Result<(), MachineError> {
        let Imm::Stream { seed, stream } = imm else {
            return Err(self.unsupported("PRNG without a stream"));
        };
        if self.form(dst)? != Form::Eval {
            return Err(self.unsupported("PRNG in coefficient form"));
        }
        let direct = self.streams.get(&dst) == Some(&1) && self.feeds_product(dst);
        let mut out = Vec::new();
        for index in 0..self.count() {
            let entry = self.graph.streams.len() as u32;
            self.graph.streams.push(Stream { seed, stream });
            out.push(if direct {
                Source::Stream(entry)
            } else {
                let ring = self.ring(index);
                Source::Value(self.emit(
                    Opcode::Prng,
                    ring,
                    dst,
                    Vec::new(),
                    Immediate::Stream(entry),
                )?)
            });
        }
        self.map.insert(dst, out);
        Ok(())
    }

    /// Returns whether `v` is a factor of a product and no result. If only one operand of the procedure is `v`, then
    /// the value is nothing but this factor.
    fn feeds_product(&self, v: ValueId) -> bool {
        let product = |i: &Instr| match i.op {
            Op::Mul | Op::Dot => i.src.contains(&v),
            Op::Mac => i.src.iter().skip(1).any(|s| *s == v),
            _ => false,
        };
        self.procedure.instrs.iter().any(product)
            && !self.procedure.results.iter().any(|r| r.value == v)
    }
}
