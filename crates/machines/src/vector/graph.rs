// SPDX-License-Identifier: Apache-2.0
//! Converts a mid-level procedure to a graph of the vector machine's work: transforms, automorphisms, and sums of
//! products.
//!
//! All elementwise work is a **sum** modulo one prime: products of two limbs, limbs times constants, and a constant. An
//! inner sum modulo the same prime becomes a part of an outer one if it has one reader, or one term and no constant.
//! All its readers must use it as a term and not as a factor. An inner sum with products stays by itself, unless the
//! outer one continues its chain of accumulations. So a weighted sum of a base extension, or the end of a division, is
//! one pass through the accumulator. A limb modulo another prime is a term like any other, since the multiplier takes
//! any 32 bits.

use std::collections::HashSet;

use ringmill_isa::mid::{
    Form, Imm, Instr, ModulusId, Op, ParamRole, Procedure, TableModulus, ValueId, expand_composites,
};
use ringmill_isa::vector::Mask;
use ringmill_math::Modulus;

use super::description::{FIXED_BITS, Masks};
use super::host::{Hosted, hosted};
use crate::MachineError;

/// The modulus index of all limbs modulo a plaintext modulus, which has no entry in the graph's table of moduli. Such
/// limbs are only read: the machine computes nothing modulo a plaintext modulus.
const PLAIN: u16 = u16::MAX;

/// A value of the graph, a limb: an index into [`Graph::nodes`].
pub type Value = usize;

/// A term of a sum of limbs: a limb times a constant, or a product of two limbs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Term {
    /// The term is a value times a constant below the sum's modulus. `foreign` tells whether the value's residues are
    /// modulo another modulus.
    Scaled {
        value: Value,
        by: u64,
        foreign: bool,
    },
    Product(Value, Value),
}

/// A sum of terms and a constant modulo one prime.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sum {
    pub terms: Vec<Term>,
    pub constant: u64,
}

/// The operation of the vector machine that computes a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// No operation of the machine computes the value: another value of the graph stands for it, such as the
    /// parameter that the host has changed, or the operand of a conversion that changes nothing.
    Inlined,
    /// No operation computes the value: it is the procedure's parameter with this index.
    Param(usize),
    /// The generator of masks expands the value, as the entry of [`Graph::masks`] with this index says.
    Mask(usize),
    Forward(Value),
    Inverse(Value),
    Morph {
        from: Value,
        galois: u32,
    },
    Sum(Sum),
}

/// A procedure in operations of the vector machine's units.
#[derive(Clone, Debug)]
pub struct Graph {
    pub name: String,
    pub log_n: u8,
    pub nodes: Vec<Node>,
    /// For each value the index of its modulus in `moduli`, or `PLAIN` for a limb modulo a plaintext modulus.
    pub modulus: Vec<u16>,
    pub moduli: Vec<Modulus>,
    /// The values that are limbs of keys, generated masks among them.
    pub keys: HashSet<Value>,
    /// The limbs that the generator of masks expands, in the order of the procedure, each with its value.
    pub masks: Vec<(Value, Mask)>,
    /// The values that operations compute or the generator of masks expands, in the order of the procedure. Parameters
    /// are not among them. Sums whose terms became a part of other sums are.
    pub order: Vec<Value>,
    /// The values that are the procedure's results.
    pub results: Vec<Value>,
    /// For each value, whether it is in evaluation form.
    pub evaluation: Vec<bool>,
    /// The work on plaintexts that the host does before the procedure runs.
    pub hosted: Hosted,
}

impl Node {
    /// Returns the values that the operation of this node reads.
    pub fn reads(&self) -> Vec<Value> {
        match self {
            Self::Inlined | Self::Param(_) | Self::Mask(_) => Vec::new(),
            Self::Forward(from) | Self::Inverse(from) | Self::Morph { from, .. } => vec![*from],
            Self::Sum(sum) => sum.reads(),
        }
    }
}

impl Sum {
    pub fn reads(&self) -> Vec<Value> {
        let terms = self.terms.iter();
        let all = terms.flat_map(|term| match *term {
            Term::Scaled { value, .. } => [Some(value), None],
            Term::Product(a, b) => [Some(a), Some(b)],
        });
        all.flatten().collect()
    }

    fn has_products(&self) -> bool {
        let mut terms = self.terms.iter();
        terms.any(|term| matches!(term, Term::Product(..)))
    }
}

/// The number of uses of a value by the procedure, counted before sums are combined.
#[derive(Clone, Copy, Default)]
struct Use {
    count: usize,
    /// Whether the value must be computed by itself and cannot be a part of another sum.
    pinned: bool,
}

struct Builder<'p> {
    procedure: &'p Procedure,
    graph: Graph,
    uses: Vec<Use>,
    /// For each value of the procedure whose instruction needs no operation of the machine, the
    /// graph's value that stands for it; `None` for other values.
    same: Vec<Option<Value>>,
    table: Vec<Option<u16>>,
    masks: Masks,
}

/// Returns the graph of a procedure without immediate parameters. `masks` tells whether the machine has a generator of
/// masks.
///
/// # Errors
/// [`MachineError::Unsupported`] for an instruction, a modulus, a ring or a plaintext operand that the machine does not
/// support. The errors of [`expand_composites`].
pub fn graph(procedure: &Procedure, masks: Masks) -> Result<Graph, MachineError> {
    let expanded = expand_composites(procedure, |_| false)?;
    let count = expanded.types.len();
    let mut builder = Builder {
        procedure: &expanded,
        graph: Graph {
            name: procedure.name.clone(),
            log_n: procedure.log_n,
            nodes: vec![Node::Inlined; count],
            modulus: vec![0; count],
            moduli: Vec::new(),
            keys: HashSet::new(),
            masks: Vec::new(),
            order: Vec::new(),
            results: Vec::new(),
            evaluation: vec![false; count],
            hosted: hosted(&expanded)?,
        },
        uses: uses(&expanded),
        same: vec![None; count],
        table: vec![None; expanded.moduli.len()],
        masks,
    };
    for (number, param) in expanded.params.iter().enumerate() {
        let value = builder.typed(param.value)?;
        if matches!(param.role, ParamRole::Key { .. }) {
            builder.graph.keys.insert(value);
        }
        builder.put(value, Node::Param(number));
    }
    for instr in &expanded.instrs {
        builder.instr(instr)?;
    }
    let results = expanded.results.iter().map(|r| builder.value(r.value));
    builder.graph.results = results.collect::<Result<_, _>>()?;
    Ok(builder.graph)
}

fn uses(procedure: &Procedure) -> Vec<Use> {
    let mut uses = vec![Use::default(); procedure.types.len()];
    let mut note = |v: ValueId, pinned: bool| {
        if let Some(of) = uses.get_mut(v.0 as usize) {
            of.count += 1;
            of.pinned |= pinned;
        }
    };
    let modulus = |v: &ValueId| procedure.limb(*v).map(|ty| ty.modulus);
    for instr in &procedure.instrs {
        for (at, &v) in instr.src.iter().enumerate() {
            let linear = match instr.op {
                Op::Add | Op::Sub | Op::Neg | Op::Muli | Op::Addi => true,
                // Of the product and the sum, only the sum may be inlined.
                Op::Mac => at == 0,
                Op::Conv => modulus(&v) == instr.dst.first().and_then(modulus),
                _ => false,
            };
            note(v, !linear);
        }
    }
    for result in &procedure.results {
        note(result.value, true);
    }
    uses
}

impl Builder<'_> {
    fn unsupported(&self, what: impl Into<String>) -> MachineError {
        MachineError::Unsupported {
            procedure: self.graph.name.clone(),
            what: what.into(),
        }
    }

    /// Returns the index of a value's modulus in the graph's table, to which a new modulus is added.
    fn modulus_of(&mut self, id: ModulusId) -> Result<u16, MachineError> {
        let at = usize::from(id.0);
        if let Some(Some(known)) = self.table.get(at) {
            return Ok(*known);
        }
        let modulus = self.procedure.moduli.get(at).copied();
        let modulus = modulus.unwrap_or(TableModulus::Plain(0));
        let friendly = |q: &u64| q >> 32 == 0 && q % (1 << FIXED_BITS) == 1;
        let Some(q) = modulus.prime().filter(friendly) else {
            return Err(self.unsupported(format!(
                "arithmetic modulo {modulus}: its multipliers take primes below 2^32 that are 1 modulo 2^{FIXED_BITS} alone \
                 (parameters of `friendly_primes`, or chosen for this machine)"
            )));
        };
        let number = self.graph.moduli.len() as u16;
        self.graph.moduli.push(Modulus::new(q)?);
        if let Some(place) = self.table.get_mut(at) {
            *place = Some(number);
        }
        Ok(number)
    }

    /// Returns the graph's value for a value of the procedure, and notes its modulus and form. The value must be a
    /// limb of the full ring.
    fn typed(&mut self, v: ValueId) -> Result<Value, MachineError> {
        let value = v.0 as usize;
        let ty = self.procedure.limb(v);
        let full = ty.filter(|ty| ty.ring == ringmill_math::Ring::full(self.graph.log_n));
        let ty =
            full.ok_or_else(|| self.unsupported("values other than limbs of the full ring"))?;
        let modulus = match self.graph.hosted.param(v) {
            Some(_) => PLAIN,
            None => self.modulus_of(ty.modulus)?,
        };
        if let Some(place) = self.graph.modulus.get_mut(value) {
            *place = modulus;
        }
        if let Some(place) = self.graph.evaluation.get_mut(value) {
            *place = ty.form == Form::Eval;
        }
        Ok(value)
    }

    /// Returns the graph's value that stands for a value of the procedure.
    fn value(&self, v: ValueId) -> Result<Value, MachineError> {
        let mut value = v.0 as usize;
        while let Some(Some(other)) = self.same.get(value) {
            value = *other;
        }
        match self.graph.nodes.get(value) {
            Some(_) => Ok(value),
            None => Err(self.unsupported("a value that nothing makes")),
        }
    }

    fn put(&mut self, value: Value, node: Node) {
        if !matches!(node, Node::Param(_)) {
            self.graph.order.push(value);
        }
        if let Some(place) = self.graph.nodes.get_mut(value) {
            *place = node;
        }
    }

    /// Adds a value to the graph that the procedure does not have, with the modulus of `like`, and returns it.
    fn further(&mut self, like: Value, evaluation: bool, node: Node) -> Value {
        let value = self.graph.nodes.len();
        let modulus = self.graph.modulus.get(like).copied().unwrap_or(0);
        self.graph.nodes.push(Node::Inlined);
        self.graph.modulus.push(modulus);
        self.graph.evaluation.push(evaluation);
        self.put(value, node);
        value
    }

    fn q(&self, value: Value) -> Result<Modulus, MachineError> {
        let index = self.graph.modulus.get(value).copied();
        let q = index.and_then(|i| self.graph.moduli.get(usize::from(i)));
        q.copied()
            .ok_or_else(|| self.unsupported("a value without a modulus"))
    }

    /// Returns whether the residues of a value are modulo another modulus than `q`.
    fn foreign(&self, value: Value, q: Modulus) -> Result<bool, MachineError> {
        Ok(self.graph.modulus.get(value) == Some(&PLAIN) || self.q(value)? != q)
    }

    /// Adds a value times `by` to a sum. If the value is itself a sum modulo `q` that only sums read, each as a term,
    /// its terms may be added in its place. That happens if the value has one reader, or one term and no constant. If
    /// its terms contain a product of two limbs, `chain` must also say that the outer sum continues a chain of
    /// accumulations. Otherwise the products' operands would have to stay in the buffer until the later sum is
    /// computed.
    fn add(
        &self,
        to: &mut Sum,
        v: ValueId,
        by: u64,
        q: Modulus,
        chain: bool,
    ) -> Result<(), MachineError> {
        let value = self.value(v)?;
        let of = self.uses.get(value).copied().unwrap_or_default();
        let foreign = self.foreign(value, q)?;
        if let Some(Node::Sum(inner)) = self.graph.nodes.get(value)
            && !foreign
            && !of.pinned
            && (of.count == 1 || inner.terms.len() == 1 && inner.constant == 0)
            && (chain || !inner.has_products())
        {
            to.terms.extend(inner.terms.iter().map(|term| match *term {
                Term::Scaled {
                    value,
                    by: inner,
                    foreign,
                } => Term::Scaled {
                    value,
                    by: q.mul(inner, by),
                    foreign,
                },
                product @ Term::Product(..) => product,
            }));
            to.constant = q.add(to.constant, q.mul(inner.constant, by));
            return Ok(());
        }
        to.terms.push(Term::Scaled { value, by, foreign });
        Ok(())
    }

    fn instr(&mut self, instr: &Instr) -> Result<(), MachineError> {
        let &[d] = instr.dst.as_slice() else {
            return Err(self.unsupported(instr.op.mnemonic()));
        };
        if let Some(param) = self.graph.hosted.param(d) {
            // The host computes the value, and the machine gets it as the parameter.
            if let Some(param) = self.procedure.params.get(param) {
                self.alias(d.0 as usize, param.value.0 as Value);
            }
            return Ok(());
        }
        let d = self.typed(d)?;
        let q = self.q(d)?;
        let mut sum = Sum {
            terms: Vec::new(),
            constant: 0,
        };
        match (instr.op, instr.src.as_slice(), instr.imm) {
            (Op::Add, &[a, b], Imm::None) => {
                self.add(&mut sum, a, 1, q, false)?;
                self.add(&mut sum, b, 1, q, false)?;
            }
            (Op::Sub, &[a, b], Imm::None) => {
                self.add(&mut sum, a, 1, q, false)?;
                self.add(&mut sum, b, q.neg(1), q, false)?;
            }
            (Op::Neg, &[a], Imm::None) => self.add(&mut sum, a, q.neg(1), q, false)?,
            (Op::Muli, &[a], Imm::Scalar(w)) => self.add(&mut sum, a, w, q, false)?,
            (Op::Addi, &[a], Imm::Scalar(w)) => {
                self.add(&mut sum, a, 1, q, false)?;
                sum.constant = q.add(sum.constant, w);
            }
            (Op::Mul, &[a, b], Imm::None) => {
                sum.terms
                    .push(Term::Product(self.value(a)?, self.value(b)?));
            }
            (Op::Mac, &[c, a, b], Imm::None) => {
                self.add(&mut sum, c, 1, q, true)?;
                sum.terms
                    .push(Term::Product(self.value(a)?, self.value(b)?));
            }
            (Op::Conv, &[a], Imm::None) => {
                let value = self.value(a)?;
                if self.foreign(value, q)? {
                    self.add(&mut sum, a, 1, q, false)?;
                } else {
                    self.alias(d, value);
                    return Ok(());
                }
            }
            (Op::Ntt, &[a], Imm::None) => {
                let a = self.value(a)?;
                self.put(d, Node::Forward(a));
                return Ok(());
            }
            (Op::Intt, &[a], Imm::None) => {
                let a = self.value(a)?;
                self.put(d, Node::Inverse(a));
                return Ok(());
            }
            (Op::Auto, &[a], Imm::Galois(g)) => {
                let from = self.value(a)?;
                return self.morph(d, from, g.0);
            }
            (Op::Prng, &[], Imm::Stream { seed, stream }) => return self.mask(d, seed, stream),
            (op, _, imm) => {
                let what = match (op, imm) {
                    (op, Imm::ScalarOf(_) | Imm::GaloisOf(_)) => {
                        format!("{} with an immediate that no call gave", op.mnemonic())
                    }
                    (op, _) => op.mnemonic().to_owned(),
                };
                return Err(self.unsupported(what));
            }
        }
        self.put(d, Node::Sum(sum));
        Ok(())
    }

    /// Adds a mask: the uniform residues of stream `stream` of the seed `seed`.
    fn mask(&mut self, d: Value, seed: u16, stream: u64) -> Result<(), MachineError> {
        if self.masks == Masks::Stored {
            let what =
                "PRNG: it has no generator of masks (`key_masks`); use keys that are stored whole";
            return Err(self.unsupported(what));
        }
        if self.graph.evaluation.get(d) != Some(&true) {
            return Err(
                self.unsupported("PRNG in coefficient form: masks are made in evaluation form")
            );
        }
        let modulus = self.graph.modulus.get(d).copied().unwrap_or(0);
        let number = self.graph.masks.len();
        self.graph.keys.insert(d);
        self.graph.masks.push((
            d,
            Mask {
                seed,
                stream,
                modulus,
            },
        ));
        self.put(d, Node::Mask(number));
        Ok(())
    }

    /// Adds an automorphism of `from` as the value `d`. The permutation units work on evaluation forms, since the
    /// automorphism of a coefficient form also changes signs.
    fn morph(&mut self, d: Value, from: Value, galois: u32) -> Result<(), MachineError> {
        if galois == 1 {
            self.alias(d, from);
            return Ok(());
        }
        if self.graph.evaluation.get(d) == Some(&true) {
            self.put(d, Node::Morph { from, galois });
            return Ok(());
        }
        let values = self.further(from, true, Node::Forward(from));
        let turned = Node::Morph {
            from: values,
            galois,
        };
        let turned = self.further(from, true, turned);
        self.put(d, Node::Inverse(turned));
        Ok(())
    }

    fn alias(&mut self, d: Value, of: Value) {
        if let Some(place) = self.same.get_mut(d) {
            *place = Some(of);
        }
        // Uses of `d` count as uses of `of`.
        let more = self.uses.get(d).copied().unwrap_or_default();
        if let Some(uses) = self.uses.get_mut(of) {
            uses.count += more.count;
            uses.pinned |= more.pinned;
        }
    }
}
