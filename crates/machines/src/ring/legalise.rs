//! From a mid-level procedure to limb operations at or below the native ring degree, each on its RPAU.
//!
//! A program at twice the native degree is rewritten over half rings (ring paper, section 3.2 and Algorithms 6 to 9):
//! a limb in evaluation form is the pair of its halves (p, m), which are the first and second half of its positions; a
//! limb in coefficient form is the pair of its low and high coefficients.

use std::collections::HashMap;

use ringmill_isa::mid::{Form, Imm, Instr, Op, ParamRole, Procedure, ValueId};
use ringmill_math::RingKind;

use super::description::Description;
use super::encode::MAX_LAYER;
use super::graph::{Graph, Immediate, Node, Source, ValueIndex};
use super::micro::{Opcode, Stream};
use crate::MachineError;

/// What the legaliser may rewrite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rewrites {
    /// A digit's own limb is transformed again instead of being kept in evaluation form through the key switch: the
    /// transform is hidden behind those of the other RPAUs and the slots are free.
    pub retransform: bool,
}

/// Legalises `procedure` for machine `d`.
///
/// # Errors
/// Ring degrees beyond twice the native one, more moduli than the word can name, explicit half-ring instructions and
/// spills (which are the machine's own affair), and key limbs in a place where the machine reads none.
pub fn legalise(
    d: &Description,
    procedure: &Procedure,
    rewrites: Rewrites,
) -> Result<Graph, MachineError> {
    let halves = match i32::from(procedure.log_n) - i32::from(d.log_n) {
        ..=0 => false,
        1 => true,
        _ => {
            return Err(MachineError::RingDegree {
                native: d.log_n,
                got: procedure.log_n,
            });
        }
    };
    let layers = procedure.moduli.len().div_ceil(d.rpaus.max(1));
    if layers > MAX_LAYER + 1 {
        let most = d.rpaus * (MAX_LAYER + 1);
        return Err(MachineError::TooManyModuli {
            most,
            got: procedure.moduli.len(),
        });
    }
    let mut l = Legaliser {
        d,
        procedure,
        halves,
        graph: Graph {
            name: procedure.name.clone(),
            ..Graph::default()
        },
        map: HashMap::new(),
        broadcasts: HashMap::new(),
        copies: HashMap::new(),
        streams: HashMap::new(),
        order: 0,
    };
    l.graph.log_n = procedure.log_n - u8::from(halves);
    l.params()?;
    for instr in &procedure.instrs {
        l.order += 1;
        l.instr(instr)?;
    }
    l.results()?;
    let mut graph = l.graph;
    graph.finish();
    if rewrites.retransform {
        super::rewrite::retransform(&mut graph);
    }
    if d.main.fused {
        super::rewrite::fuse(&mut graph);
    }
    super::rewrite::order(&mut graph);
    Ok(graph)
}

/// Pieces of a mid-level value: one, or two at twice the native degree.
type Pieces = Vec<Source>;

struct Legaliser<'a> {
    d: &'a Description,
    procedure: &'a Procedure,
    halves: bool,
    graph: Graph,
    map: HashMap<ValueId, Pieces>,
    /// The broadcast node of a value.
    broadcasts: HashMap<ValueIndex, usize>,
    /// The raw copy of a value on an RPAU.
    copies: HashMap<(ValueIndex, u8), ValueIndex>,
    /// Values that the generator makes, and how many instructions use them.
    streams: HashMap<ValueId, u32>,
    order: u32,
}

const HALVES: [RingKind; 2] = [RingKind::HalfPlus, RingKind::HalfMinus];

impl Legaliser<'_> {
    fn unsupported(&self, what: impl Into<String>) -> MachineError {
        MachineError::Unsupported {
            procedure: self.procedure.name.clone(),
            what: what.into(),
        }
    }

    /// RPAU and layer of a value.
    fn place(&self, v: ValueId) -> Result<(u8, u8), MachineError> {
        let ty = self
            .procedure
            .types
            .get(v.0 as usize)
            .ok_or_else(|| self.unsupported("a value without a type"))?;
        let modulus = usize::from(ty.modulus.0);
        Ok((
            (modulus % self.d.rpaus) as u8,
            (modulus / self.d.rpaus) as u8,
        ))
    }

    fn form(&self, v: ValueId) -> Result<Form, MachineError> {
        let ty = self
            .procedure
            .types
            .get(v.0 as usize)
            .ok_or_else(|| self.unsupported("a value without a type"))?;
        let whole = ty.ring.kind == RingKind::Full && ty.ring.log_n == self.procedure.log_n;
        if !whole {
            return Err(self
                .unsupported("half-ring values in the program: the machine splits rings itself"));
        }
        Ok(ty.form)
    }

    /// Ring of piece `index` of a limb in evaluation form.
    fn ring(&self, index: usize) -> RingKind {
        if self.halves {
            HALVES[index & 1]
        } else {
            RingKind::Full
        }
    }

    fn count(&self) -> usize {
        1 + usize::from(self.halves)
    }

    fn params(&mut self) -> Result<(), MachineError> {
        let mut keys: HashMap<(u16, u16, u16, u8), u8> = HashMap::new();
        for param in &self.procedure.params {
            let (rpau, layer) = self.place(param.value)?;
            self.form(param.value)?;
            let pieces: Pieces = match param.role {
                ParamRole::Key { arg, digit, part } => {
                    let next = keys.len() * self.count();
                    let base = match keys.get(&(arg, digit, part, layer)) {
                        Some(&base) => base,
                        None => {
                            let base = u8::try_from(next + self.count() - 1)
                                .ok()
                                .filter(|&k| k < 128);
                            let base = base.ok_or_else(|| MachineError::KeyMemory {
                                procedure: self.procedure.name.clone(),
                                needs: next + self.count(),
                                slots: self.d.keys.slots,
                            })? - (self.count() - 1) as u8;
                            keys.insert((arg, digit, part, layer), base);
                            base
                        }
                    };
                    self.graph.params.push(Vec::new());
                    self.graph.keys.push(Some(base));
                    (0..self.count())
                        .map(|i| Source::Key(base + i as u8))
                        .collect()
                }
                ParamRole::Cipher { .. } | ParamRole::Plain { .. } => {
                    let values: Vec<_> =
                        (0..self.count()).map(|_| self.graph.value(rpau)).collect();
                    self.graph.params.push(values.clone());
                    self.graph.keys.push(None);
                    values.into_iter().map(Source::Value).collect()
                }
            };
            self.map.insert(param.value, pieces);
        }
        self.graph.key_slots = self.key_limbs();
        let streams = self.procedure.instrs.iter().filter(|i| i.op == Op::Prng);
        self.streams = streams.flat_map(|i| &i.dst).map(|&v| (v, 0)).collect();
        for v in self.procedure.instrs.iter().flat_map(|i| &i.src) {
            if let Some(uses) = self.streams.get_mut(v) {
                *uses += 1;
            }
        }
        Ok(())
    }

    /// Key limbs on the RPAU with most of them.
    fn key_limbs(&self) -> usize {
        let mut counts = vec![0; self.d.rpaus];
        for param in &self.procedure.params {
            if let (ParamRole::Key { .. }, Ok((r, _))) = (param.role, self.place(param.value)) {
                counts[usize::from(r)] += self.count();
            }
        }
        counts.into_iter().max().unwrap_or(0)
    }

    fn results(&mut self) -> Result<(), MachineError> {
        let mut taken: Vec<ValueIndex> = self.graph.params.iter().flatten().copied().collect();
        for result in &self.procedure.results {
            let mut values = Vec::new();
            for (index, source) in self.pieces(result.value)?.into_iter().enumerate() {
                // A result that is a parameter, a key or another result gets a slot of its own.
                let value = match source {
                    Source::Value(v) if !taken.contains(&v) => v,
                    Source::Value(_) => {
                        let ring = self.ring(index);
                        self.emit(
                            Opcode::Copy,
                            ring,
                            result.value,
                            vec![source],
                            Immediate::None,
                        )?
                    }
                    _ => return Err(self.unsupported("a key limb as a result")),
                };
                taken.push(value);
                values.push(value);
            }
            self.graph.results.push(values);
        }
        Ok(())
    }

    fn pieces(&self, v: ValueId) -> Result<Pieces, MachineError> {
        self.map
            .get(&v)
            .cloned()
            .ok_or_else(|| self.unsupported(format!("value %{} before its definition", v.0)))
    }

    /// Adds a node on the RPAU of `like`.
    fn emit(
        &mut self,
        op: Opcode,
        ring: RingKind,
        like: ValueId,
        sources: Pieces,
        immediate: Immediate,
    ) -> Result<ValueIndex, MachineError> {
        let (rpau, layer) = self.place(like)?;
        let results = Vec::new();
        Ok(self.graph.node(Node {
            op,
            ring,
            layer,
            rpau,
            sources,
            results,
            immediate,
            order: self.order,
        }))
    }

    /// Adds a node with two results.
    fn emit_pair(
        &mut self,
        op: Opcode,
        like: ValueId,
        sources: Pieces,
        immediate: Immediate,
    ) -> Result<Pieces, MachineError> {
        let first = self.emit(op, RingKind::Full, like, sources, immediate)?;
        let (rpau, _) = self.place(like)?;
        let second = self.graph.value(rpau);
        if let Some(node) = self.graph.nodes.last_mut() {
            node.results.push(second);
        }
        Ok(vec![Source::Value(first), Source::Value(second)])
    }

    fn instr(&mut self, instr: &Instr) -> Result<(), MachineError> {
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
            Imm::None | Imm::Stream { .. } | Imm::Slot(_) => Immediate::None,
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
            // The word's third operand is the addend.
            Op::Mac => self.each(Opcode::Mac, dst(0)?, &[src(1)?, src(2)?, src(0)?], scalar),
            Op::Ntt => self.ntt(dst(0)?, src(0)?),
            Op::Intt => self.intt(dst(0)?, src(0)?),
            Op::Auto => self.auto(dst(0)?, src(0)?, scalar),
            Op::Conv => self.conv(dst(0)?, src(0)?),
            Op::Dot => self.dot(dst(0)?, &instr.src),
            Op::Prng => self.prng(dst(0)?, instr.imm),
            Op::Bext => Err(self.unsupported("a base extension that was not expanded")),
            Op::Split | Op::Join | Op::Autoh => {
                Err(self.unsupported(format!("{:?}: the machine splits rings itself", instr.op)))
            }
            Op::Load | Op::Store => {
                Err(self.unsupported(format!("{:?}: the machine spills by itself", instr.op)))
            }
        }
    }

    /// A coefficient-wise operation on every piece.
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
                // The multiplication just added becomes an accumulation.
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
        let mut pieces = self.pieces(src)?;
        if self.halves {
            pieces = self.emit_pair(Opcode::Split, dst, pieces, Immediate::None)?;
        }
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
        if self.halves {
            out = self.emit_pair(Opcode::Join, dst, out, Immediate::None)?;
        }
        self.map.insert(dst, out);
        Ok(())
    }

    fn auto(&mut self, dst: ValueId, src: ValueId, galois: Immediate) -> Result<(), MachineError> {
        let pieces = self.pieces(src)?;
        let out = match (self.halves, self.form(src)?) {
            (false, form) => {
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
            (true, Form::Eval) => self.emit_pair(Opcode::Autoh, dst, pieces, galois)?,
            (true, Form::Coeff) => {
                return Err(self.unsupported(
                    "an automorphism in coefficient form at twice the native degree",
                ));
            }
        };
        self.map.insert(dst, out);
        Ok(())
    }

    fn conv(&mut self, dst: ValueId, src: ValueId) -> Result<(), MachineError> {
        let mut out = Vec::new();
        for piece in self.pieces(src)? {
            let Source::Value(value) = piece else {
                return Err(self.unsupported("a key limb under CONV"));
            };
            let (rpau, _) = self.place(dst)?;
            let copy = self.copy(src, value, rpau)?;
            let source = vec![Source::Value(copy)];
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

    /// The copy of `value` (a piece of `like`) that its broadcast leaves on `rpau`.
    fn copy(
        &mut self,
        like: ValueId,
        value: ValueIndex,
        rpau: u8,
    ) -> Result<ValueIndex, MachineError> {
        if let Some(&copy) = self.copies.get(&(value, rpau)) {
            return Ok(copy);
        }
        let copy = self.graph.value(rpau);
        self.copies.insert((value, rpau), copy);
        let node = match self.broadcasts.get(&value) {
            Some(&node) => node,
            None => {
                let (source, layer) = self.place(like)?;
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
                self.broadcasts.insert(value, self.graph.nodes.len() - 1);
                self.graph.nodes.len() - 1
            }
        };
        self.graph.nodes[node].results.push(copy);
        Ok(copy)
    }

    /// A generated limb goes straight into the one product that uses it; otherwise it is written to a slot.
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

    /// Whether `v` is a factor of a product (and not its addend), and no result.
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
