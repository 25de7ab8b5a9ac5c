// SPDX-License-Identifier: Apache-2.0
//! Rewrites a mid-level procedure to limb operations at or below the ring machine's native degree, each on one RPAU
//! (residue polynomial arithmetic unit).
//!
//! A program at twice the native degree is rewritten over half rings (Medha paper, section 3.2 and Algorithms 6 to 9).
//! A limb in evaluation form is the pair of its halves (p, m), the first and second half of its positions. A limb in
//! coefficient form is the pair of its low and high coefficients. At four times the native degree, each half is split
//! again, and so on. A limb is then several pieces, in evaluation form the parts of its ring ([`RingKind::Part`]) in
//! order.

use std::collections::HashMap;

use ringmill_isa::mid::{Form, LimbType, Op, ParamRole, Procedure, TableModulus, ValueId};
use ringmill_math::RingKind;

use super::description::{Description, MAX_KEY_SLOTS};
use super::encode::MAX_LAYER;
use super::graph::{Graph, Immediate, Node, Source, ValueIndex};
use super::micro::Opcode;
use crate::MachineError;

mod instr;

/// The optional rewrites of a procedure to operations of the machine, among which the scheduler
/// chooses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Rewrites {
    /// Whether an RPAU transforms the limb of its own key-switch digit again, from a copy that the
    /// digit's broadcast returns. Otherwise the limb stays in a slot in evaluation form during the
    /// key switch. The transform runs beside those of the other RPAUs, and frees the slot.
    pub retransform: bool,
    pub unfuse: Unfuse,
}

/// The rule for which accumulations (c + a b) become a multiplication and an addition. A stored key limb is one from
/// key memory, and not from the generator. The main cores can multiply and add even on machines on which only the
/// dyadic cores accumulate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Unfuse {
    #[default]
    None,
    /// On each RPAU, one of every n accumulations with a stored key limb is split into a multiplication and an
    /// addition. The number is n.
    OneIn(usize),
    /// On each RPAU, the last accumulations with a stored key limb are split into a multiplication and an addition.
    /// The number says how many.
    Last(usize),
    /// All accumulations are split into a multiplication and an addition, with key limbs or not. This is for machines
    /// that cannot accumulate.
    Every,
}

impl Unfuse {
    /// The rules that the scheduler tries for a procedure with keys, on a machine whose main cores cannot accumulate
    /// (`main.mac`). [`Unfuse::Every`] is not among them.
    pub const ALL: [Unfuse; 8] = [
        Unfuse::None,
        Unfuse::OneIn(1),
        Unfuse::OneIn(2),
        Unfuse::OneIn(3),
        Unfuse::Last(1),
        Unfuse::Last(2),
        Unfuse::Last(3),
        Unfuse::Last(4),
    ];
}

/// Rewrites a mid-level procedure to operations of the machine `d`.
///
/// # Errors
/// - [`MachineError::RingDegree`] for a ring degree that needs more splits than the machine has.
/// - [`MachineError::TooManyModuli`] or [`MachineError::KeyIndices`] for more moduli or key limbs than an instruction
///   word can name.
/// - [`MachineError::ModulusKind`] for a modulus that is no NTT-friendly prime.
/// - [`MachineError::Unsupported`] for other instructions and values that the machine does not have. Among them are
///   instructions of the torus extension, half rings, loads and stores, and an automorphism in coefficient form above
///   the native degree. A key limb that is neither multiplied nor added is refused, too.
pub fn legalise(
    d: &Description,
    procedure: &Procedure,
    rewrites: Rewrites,
) -> Result<Graph, MachineError> {
    let depth = d.depth(procedure.log_n);
    if depth > d.splits {
        return Err(MachineError::RingDegree {
            native: d.log_n,
            most: d.log_n + d.splits,
            got: procedure.log_n,
        });
    }
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
        depth,
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
    l.graph.log_n = procedure.log_n - depth;
    l.params()?;
    for instr in &procedure.instrs {
        l.order += 1;
        l.instr(instr)?;
    }
    l.results()?;
    let mut graph = l.graph;
    graph.finish();
    if rewrites.retransform {
        super::rewrite::retransform(&mut graph, d.ring.reduces);
    }
    if d.main.fused {
        super::rewrite::fuse(&mut graph);
    }
    if d.ring.reduces {
        super::rewrite::add_on_the_way(&mut graph);
    }
    graph.primes = (0..d.rpaus as u8).collect();
    if depth == 0 {
        super::share::share(d, &mut graph, procedure.moduli.len());
    }
    super::rewrite::order(&mut graph);
    let unfuse = if d.cores.dyadic == 0 && !d.main.mac {
        Unfuse::Every
    } else {
        rewrites.unfuse
    };
    super::rewrite::unfuse(&mut graph, d.rpaus, unfuse);
    Ok(graph)
}

/// The pieces of a mid-level value, each as large as a memory slot: one at the native degree, two at twice it, four at
/// four times it.
type Pieces = Vec<Source>;

struct Legaliser<'a> {
    d: &'a Description,
    procedure: &'a Procedure,
    /// How many times the procedure's ring is split to reach the native degree.
    depth: u8,
    graph: Graph,
    map: HashMap<ValueId, Pieces>,
    /// The index of the broadcast operation of each value. The key is the value, and the layer of primes to which the
    /// copies on the receivers belong. Each layer has one prime for each RPAU.
    broadcasts: HashMap<(ValueIndex, u8), usize>,
    /// The copy of each value on another RPAU. The key is the value, the RPAU, and the layer of primes to which the
    /// copy belongs. Each layer has one prime for each RPAU.
    copies: HashMap<(ValueIndex, u8, u8), ValueIndex>,
    /// For each value that the generator expands from a seed, the number of operands of instructions that are this
    /// value.
    streams: HashMap<ValueId, u32>,
    order: u32,
}

impl Legaliser<'_> {
    fn unsupported(&self, what: impl Into<String>) -> MachineError {
        MachineError::Unsupported {
            procedure: self.procedure.name.clone(),
            what: what.into(),
        }
    }

    fn limb(&self, v: ValueId) -> Result<LimbType, MachineError> {
        let ty = self.procedure.limb(v);
        ty.ok_or_else(|| self.unsupported("a value that is no limb"))
    }

    /// Returns the RPAU that computes modulo the modulus of a value, and the layer of primes to which the modulus
    /// belongs. Each layer has one prime for each RPAU.
    fn place(&self, v: ValueId) -> Result<(u8, u8), MachineError> {
        let ty = self.limb(v)?;
        let modulus = usize::from(ty.modulus.0);
        match self.procedure.moduli.get(modulus) {
            Some(TableModulus::Prime(_)) | None => {}
            Some(&modulus @ (TableModulus::Plain(_) | TableModulus::PowerOfTwo(_))) => {
                return Err(MachineError::ModulusKind {
                    procedure: self.procedure.name.clone(),
                    value: v.0,
                    modulus,
                });
            }
        }
        Ok((
            (modulus % self.d.rpaus) as u8,
            (modulus / self.d.rpaus) as u8,
        ))
    }

    fn form(&self, v: ValueId) -> Result<Form, MachineError> {
        let ty = self.limb(v)?;
        let whole = ty.ring.kind == RingKind::Full && ty.ring.log_n == self.procedure.log_n;
        if !whole {
            return Err(self
                .unsupported("half-ring values in the program: the machine splits rings itself"));
        }
        Ok(ty.form)
    }

    /// Returns the part of the polynomial ring to which piece `index` (as large as a memory slot) of a limb in
    /// evaluation form belongs.
    fn ring(&self, index: usize) -> RingKind {
        let number = u8::try_from(self.count() + index).ok();
        number
            .and_then(RingKind::of_number)
            .unwrap_or(RingKind::Full)
    }

    fn count(&self) -> usize {
        1 << self.depth
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
                                .filter(|&k| usize::from(k) < MAX_KEY_SLOTS);
                            let base = base.ok_or_else(|| MachineError::KeyIndices {
                                procedure: self.procedure.name.clone(),
                                needs: next + self.count(),
                                most: MAX_KEY_SLOTS,
                            })? - (self.count() - 1) as u8;
                            keys.insert((arg, digit, part, layer), base);
                            base
                        }
                    };
                    self.graph.params.push(Vec::new());
                    self.graph.keys.push(Some(base));
                    self.graph.key_homes.push(rpau);
                    (0..self.count())
                        .map(|i| Source::Key(base + i as u8))
                        .collect()
                }
                ParamRole::Exponent { .. } => {
                    return Err(self.unsupported("a public exponent"));
                }
                ParamRole::Cipher { .. } | ParamRole::Plain { .. } => {
                    let values: Vec<_> =
                        (0..self.count()).map(|_| self.graph.value(rpau)).collect();
                    self.graph.params.push(values.clone());
                    self.graph.keys.push(None);
                    self.graph.key_homes.push(rpau);
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

    /// Returns the number of key limbs on the RPAU that reads most of them in the procedure.
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

    /// Returns a template of an operation, with the RPAU, the layer of primes (one prime for each RPAU) and the order
    /// of a value's instruction.
    fn like(&self, v: ValueId) -> Result<Node, MachineError> {
        let (rpau, layer) = self.place(v)?;
        Ok(Node {
            op: Opcode::Copy,
            ring: RingKind::Full,
            layer,
            rpau,
            sources: Vec::new(),
            results: Vec::new(),
            immediate: Immediate::None,
            order: self.order,
        })
    }

    /// Adds an operation with one result to the graph, on the RPAU of the value `like`.
    fn emit(
        &mut self,
        op: Opcode,
        ring: RingKind,
        like: ValueId,
        sources: Pieces,
        immediate: Immediate,
    ) -> Result<ValueIndex, MachineError> {
        let like = self.like(like)?;
        Ok(self.graph.node(Node {
            op,
            ring,
            sources,
            immediate,
            ..like
        }))
    }

    /// Adds an operation with two results to the graph, on the RPAU of the value `like`.
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
}
