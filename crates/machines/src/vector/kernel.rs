//! Sums put together into kernels, and a kernel's code for one chunk.
//!
//! A **kernel** is what the multiply-accumulate unit does with a chunk before it takes the next: sums that share operands, and
//! sums of which some are only terms of others and so never leave the registers. A base extension is one kernel: the scaled
//! residues stay in registers, each target is one pass through the accumulator (vector paper, section 6.3).

use std::collections::{HashMap, HashSet};

use ringmill_isa::vector::{MicroOp, Register};
use ringmill_math::Modulus;

use super::graph::{Graph, Node, Sum, Term, Value};
use crate::MachineError;

/// Registers that a kernel leaves for operands that pass through.
const SPARE: usize = 2;
/// Sums of one kernel that are put together for their operands.
const MOST: usize = 64;
/// Limbs that a base extension writes in one go: a third of those of the paper's parameters.
const PIECE: usize = 16;

/// Sums that are computed chunk by chunk together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kernel {
    /// In the order in which they are computed.
    pub sums: Vec<Value>,
    /// Of these, which are written to the buffer.
    pub written: Vec<Value>,
    /// Values that are read from the buffer.
    pub reads: Vec<Value>,
}

/// The kernels of a procedure, and which values are in the buffer at all.
#[derive(Clone, Debug, Default)]
pub struct Kernels {
    pub kernels: Vec<Kernel>,
    /// Of each value.
    pub buffered: Vec<bool>,
}

/// Cuts a graph's sums into kernels for so many registers; `share`: sums are put together for their operands, too.
pub fn kernels(graph: &Graph, registers: usize, share: bool) -> Kernels {
    let count = graph.nodes.len();
    let mut buffered = vec![false; count];
    let mut mark = |value: Value| {
        if let Some(place) = buffered.get_mut(value) {
            *place = true;
        }
    };
    graph.results.iter().copied().for_each(&mut mark);
    // Sums that are read at all; a sum that became part of others is not.
    let mut used = vec![false; count];
    let note = |used: &mut Vec<bool>, value: Value| {
        if let Some(place) = used.get_mut(value) {
            *place = true;
        }
    };
    graph
        .results
        .iter()
        .for_each(|&value| note(&mut used, value));
    for &value in graph.order.iter().rev() {
        let node = graph.nodes.get(value);
        let live = used.get(value) == Some(&true);
        let Some(node) = node.filter(|_| live) else {
            continue;
        };
        for read in node.reads() {
            note(&mut used, read);
            if !matches!(node, Node::Sum(_)) {
                mark(read);
            }
        }
    }
    for (value, node) in graph.nodes.iter().enumerate() {
        if !matches!(node, Node::Sum(_)) {
            mark(value);
        }
    }
    loop {
        let stage = stages(graph, &buffered);
        let mut more = false;
        // What sums of other stages read must be in the buffer, or their kernel could wait for itself.
        for &value in graph.order.iter().filter(|&&v| used.get(v) == Some(&true)) {
            let Some(Node::Sum(sum)) = graph.nodes.get(value) else {
                continue;
            };
            for read in sum.reads() {
                let apart = stage.get(read) != stage.get(value);
                if let Some(place) = buffered.get_mut(read).filter(|place| apart && !**place) {
                    *place = true;
                    more = true;
                }
            }
        }
        if more {
            continue;
        }
        let groups = groups(graph, &used, &buffered, &stage, registers, share);
        for group in &groups {
            let inside = group.iter().filter(|&&v| buffered.get(v) == Some(&false));
            let inside: Vec<Value> = inside.copied().collect();
            if inside.len() + SPARE > registers {
                for value in inside {
                    if let Some(place) = buffered.get_mut(value) {
                        *place = true;
                    }
                }
                more = true;
            }
        }
        if !more {
            let most = if share { PIECE } else { usize::MAX };
            let kernels = groups.into_iter();
            let kernels = kernels.flat_map(|sums| pieces(graph, &buffered, &sums, most));
            return Kernels {
                kernels: kernels.collect(),
                buffered,
            };
        }
    }
}

/// A set of sums as kernels that write at most so many limbs, so that work on the first may begin before the last are made. What
/// stays in registers is made by each.
fn pieces(graph: &Graph, buffered: &[bool], sums: &[Value], most: usize) -> Vec<Kernel> {
    let (written, inside): (Vec<Value>, Vec<Value>) = sums
        .iter()
        .partition(|&&value| buffered.get(value) == Some(&true));
    // What is written and read again here stays together.
    let reads = |value: &Value| graph.nodes.get(*value).map(Node::reads).unwrap_or_default();
    let chained = sums
        .iter()
        .flat_map(reads)
        .any(|read| written.contains(&read));
    if written.len() <= most || inside.is_empty() || chained {
        return vec![whole(graph, buffered, sums.to_vec())];
    }
    let count = written.len().div_ceil(most);
    let pieces = written.chunks(written.len().div_ceil(count));
    pieces
        .map(|piece| {
            let own = |value: &&Value| inside.contains(value) || piece.contains(value);
            whole(graph, buffered, sums.iter().filter(own).copied().collect())
        })
        .collect()
}

fn whole(graph: &Graph, buffered: &[bool], sums: Vec<Value>) -> Kernel {
    let is_buffered = |value: &Value| buffered.get(*value) == Some(&true);
    let mut reads = Vec::new();
    for &value in &sums {
        for read in graph.nodes.get(value).map(Node::reads).unwrap_or_default() {
            if !sums.contains(&read) && !reads.contains(&read) {
                reads.push(read);
            }
        }
    }
    Kernel {
        written: sums.iter().copied().filter(is_buffered).collect(),
        sums,
        reads,
    }
}

/// Sets that grow together.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&mut self, mut at: usize) -> usize {
        while let Some(&parent) = self.0.get(at).filter(|&&parent| parent != at) {
            let above = self.0.get(parent).copied().unwrap_or(parent);
            if let Some(place) = self.0.get_mut(at) {
                *place = above;
            }
            at = above;
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        if let Some(place) = self.0.get_mut(a.max(b)) {
            *place = a.min(b);
        }
    }
}

/// A value's stage grows with every transform and every value of the buffer on the way to it.
fn stages(graph: &Graph, buffered: &[bool]) -> Vec<usize> {
    let mut stage = vec![0usize; graph.nodes.len()];
    for &value in &graph.order {
        let Some(node) = graph.nodes.get(value) else {
            continue;
        };
        let sum = matches!(node, Node::Sum(_));
        let of = node.reads().into_iter().map(|read| {
            let inside = sum && buffered.get(read) == Some(&false);
            stage.get(read).copied().unwrap_or(0) + usize::from(!inside)
        });
        let of = of.max().unwrap_or(0);
        if let Some(place) = stage.get_mut(value) {
            *place = of;
        }
    }
    stage
}

/// Which sums go together: of one stage alone, so that no kernel waits for itself.
fn groups(
    graph: &Graph,
    used: &[bool],
    buffered: &[bool],
    stage: &[usize],
    registers: usize,
    share: bool,
) -> Vec<Vec<Value>> {
    let is = |of: &[bool], value: Value| of.get(value) == Some(&true);
    let mut sets = Sets((0..graph.nodes.len()).collect());
    let sums: Vec<(Value, &Sum)> = graph
        .order
        .iter()
        .filter(|&&value| is(used, value))
        .filter_map(|&value| match graph.nodes.get(value) {
            Some(Node::Sum(sum)) => Some((value, sum)),
            _ => None,
        })
        .collect();
    for &(value, _) in &sums {
        for read in graph.nodes.get(value).map(Node::reads).unwrap_or_default() {
            if !is(buffered, read) {
                sets.join(value, read);
            }
        }
    }
    if share {
        join_for_operands(&sums, stage, &mut sets, registers);
    }
    let mut found: Vec<Vec<Value>> = Vec::new();
    let mut at: HashMap<usize, usize> = HashMap::new();
    for &(value, _) in &sums {
        let root = sets.find(value);
        let group = *at.entry(root).or_insert(found.len());
        match found.get_mut(group) {
            Some(group) => group.push(value),
            None => found.push(vec![value]),
        }
    }
    found
}

/// Sums with products of one operand, which is then read once: as long as what they share fits the registers.
fn join_for_operands(sums: &[(Value, &Sum)], stage: &[usize], sets: &mut Sets, registers: usize) {
    // Of each set: its sums, and how often each operand of products is read.
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    let mut reads: HashMap<usize, HashMap<Value, usize>> = HashMap::new();
    let products = |sum: &Sum| -> Vec<Value> {
        let terms = sum.terms.iter().filter_map(|term| match *term {
            Term::Product(a, b) => Some([a, b]),
            Term::Scaled { .. } => None,
        });
        terms.flatten().collect()
    };
    for &(value, sum) in sums {
        let root = sets.find(value);
        *sizes.entry(root).or_default() += 1;
        let reads = reads.entry(root).or_default();
        for read in products(sum) {
            *reads.entry(read).or_default() += 1;
        }
    }
    let mut first: HashMap<(Value, usize), Value> = HashMap::new();
    for &(value, sum) in sums {
        let at = stage.get(value).copied().unwrap_or(0);
        for operand in products(sum) {
            let Some(&other) = first.get(&(operand, at)) else {
                first.insert((operand, at), value);
                continue;
            };
            let (a, b) = (sets.find(other), sets.find(value));
            if a == b {
                continue;
            }
            let together = sizes.get(&a).unwrap_or(&0) + sizes.get(&b).unwrap_or(&0);
            let mut all = reads.get(&a).cloned().unwrap_or_default();
            for (&read, &count) in reads.get(&b).into_iter().flatten() {
                *all.entry(read).or_default() += count;
            }
            let shared = all.values().filter(|&&count| count > 1).count();
            // As each may be there twice, as it is and times R.
            if together > MOST || 2 * shared + SPARE > registers {
                first.insert((operand, at), value);
                continue;
            }
            sets.join(a, b);
            let root = sets.find(a);
            sizes.insert(root, together);
            reads.insert(root, all);
        }
    }
}

/// A value as a register holds it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Kept {
    value: Value,
    /// Times R, for products.
    times_r: bool,
}

/// An operand or a target of a kernel's code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Spot {
    None,
    /// The chunk at hand of a value in the buffer.
    Buffer(Value),
    Register(Register),
    Accumulator,
}

/// An instruction of a kernel, for any chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    pub op: MicroOp,
    pub d: Spot,
    pub a: Spot,
    pub b: Spot,
    pub modulus: u16,
    pub n: u32,
}

/// A kernel's code for one chunk.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    pub lines: Vec<Line>,
    /// Lines at the beginning that only fill registers.
    pub loads: usize,
    pub registers: usize,
}

/// An instruction before registers are given out.
#[derive(Clone, Copy)]
struct Draft {
    op: MicroOp,
    d: Goal,
    a: Source,
    b: Source,
    modulus: u16,
    n: u32,
}

#[derive(Clone, Copy)]
enum Source {
    None,
    Buffer(Value),
    Kept(Kept),
}

#[derive(Clone, Copy)]
enum Goal {
    Accumulator,
    Buffer(Value),
    Kept(Kept),
}

struct Writer<'g> {
    graph: &'g Graph,
    buffered: &'g [bool],
    inside: HashSet<Value>,
    /// How often each value is read, as it is and as an operand of products.
    plain: HashMap<Value, usize>,
    products: HashMap<Value, usize>,
    drafts: Vec<Draft>,
}

/// The code of a kernel for one chunk.
///
/// # Errors
/// [`MachineError::Unsupported`] where the registers do not do.
pub fn code(
    graph: &Graph,
    buffered: &[bool],
    kernel: &Kernel,
    registers: usize,
) -> Result<Code, MachineError> {
    let mut writer = Writer {
        graph,
        buffered,
        inside: kernel.sums.iter().copied().collect(),
        plain: HashMap::new(),
        products: HashMap::new(),
        drafts: Vec::new(),
    };
    let sums = kernel
        .sums
        .iter()
        .filter_map(|&value| match graph.nodes.get(value) {
            Some(Node::Sum(sum)) => Some((value, sum)),
            _ => None,
        });
    for (_, sum) in sums.clone() {
        for term in &sum.terms {
            match *term {
                Term::Scaled { value, .. } => *writer.plain.entry(value).or_default() += 1,
                Term::Product(a, b) => {
                    for value in [a, b] {
                        *writer.products.entry(value).or_default() += 1;
                    }
                }
            }
        }
    }
    // The other side of each product is read as it is.
    for (_, sum) in sums.clone() {
        for term in &sum.terms {
            if let Term::Product(a, b) = *term {
                let (_, other) = writer.sides(a, b);
                *writer.plain.entry(other).or_default() += 1;
            }
        }
    }
    for (value, sum) in sums {
        writer.sum(value, sum);
    }
    allocate(&writer, registers).ok_or_else(|| MachineError::Unsupported {
        procedure: graph.name.clone(),
        what: format!("a sum that needs more than {registers} registers (`registers`)"),
    })
}

/// 2^32 times a constant modulo q: what the multiplier divides by.
fn times_r(q: Modulus, x: u64) -> u32 {
    q.reduce_wide(u128::from(x) << 32) as u32
}

impl Writer<'_> {
    fn q(&self, value: Value) -> (u16, Modulus) {
        let at = self.graph.modulus.get(value).copied().unwrap_or(0);
        // Every value has a modulus of the table.
        (at, self.graph.moduli[usize::from(at)])
    }

    /// Of a product: the operand that is kept times R, the one that is read more often, and the other.
    fn sides(&self, a: Value, b: Value) -> (Value, Value) {
        let count = |value| self.products.get(&value).copied().unwrap_or(0);
        if count(b) > count(a) { (b, a) } else { (a, b) }
    }

    /// A value as an operand that is read as it is: kept where it is read more than once, or is nowhere else.
    fn plain(&self, value: Value) -> Source {
        let inside = self.inside.contains(&value);
        if inside || self.plain.get(&value).is_some_and(|&count| count > 1) {
            return Source::Kept(Kept {
                value,
                times_r: false,
            });
        }
        Source::Buffer(value)
    }

    fn sum(&mut self, value: Value, sum: &Sum) {
        let (modulus, q) = self.q(value);
        let kept = self.plain.contains_key(&value) || self.products.contains_key(&value);
        let buffered = self.buffered.get(value) == Some(&true);
        let own = Kept {
            value,
            times_r: false,
        };
        let goal = match kept {
            true => Goal::Kept(own),
            false => Goal::Buffer(value),
        };
        let mut drafts = Vec::with_capacity(sum.terms.len() + 1);
        for term in &sum.terms {
            let first = drafts.is_empty();
            let draft = |op, a, b, n| Draft {
                op,
                d: Goal::Accumulator,
                a,
                b,
                modulus,
                n,
            };
            drafts.push(match *term {
                Term::Scaled { value, by, foreign } => {
                    let a = self.plain(value);
                    let n = times_r(q, by);
                    let alone = sum.terms.len() == 1 && sum.constant == 0;
                    match (first, by == 1 && !foreign) {
                        (true, true) if alone => Draft {
                            modulus: 0,
                            ..draft(MicroOp::Mov, a, Source::None, 0)
                        },
                        (true, _) => draft(MicroOp::Muli, a, Source::None, n),
                        (false, true) => draft(MicroOp::Acc, a, Source::None, 0),
                        (false, false) => draft(MicroOp::Maci, a, Source::None, n),
                    }
                }
                Term::Product(a, b) => {
                    let (kept, other) = self.sides(a, b);
                    let b = Source::Kept(Kept {
                        value: kept,
                        times_r: true,
                    });
                    let a = self.plain(other);
                    let op = if first { MicroOp::Mul } else { MicroOp::Mac };
                    draft(op, a, b, 0)
                }
            });
        }
        if sum.constant != 0 {
            drafts.push(Draft {
                op: MicroOp::Acci,
                d: Goal::Accumulator,
                a: Source::None,
                b: Source::None,
                modulus,
                n: sum.constant as u32,
            });
        }
        if let Some(last) = drafts.last_mut() {
            last.d = goal;
        }
        self.drafts.append(&mut drafts);
        if kept && buffered {
            self.drafts.push(Draft {
                op: MicroOp::Mov,
                d: Goal::Buffer(value),
                a: Source::Kept(own),
                b: Source::None,
                modulus: 0,
                n: 0,
            });
        }
    }
}

/// Which register holds what, while code is written.
struct Registers {
    holds: Vec<Option<Kept>>,
    most: usize,
}

/// Gives registers to what is kept: what is read furthest from now leaves, where it can be had again. `None` where the
/// registers do not do.
fn allocate(writer: &Writer<'_>, registers: usize) -> Option<Code> {
    // When each is read.
    let mut reads: HashMap<Kept, Vec<usize>> = HashMap::new();
    for (at, draft) in writer.drafts.iter().enumerate() {
        for source in [draft.a, draft.b] {
            if let Source::Kept(kept) = source {
                reads.entry(kept).or_default().push(at);
                if kept.times_r {
                    // Made of the value as it is, where that is nowhere but in a register.
                    let plain = Kept {
                        times_r: false,
                        ..kept
                    };
                    if writer.inside.contains(&kept.value) {
                        reads.entry(plain).or_default().push(at);
                    }
                }
            }
        }
    }
    let next = |kept: &Kept, from: usize| {
        let reads = reads.get(kept).map(Vec::as_slice).unwrap_or_default();
        let at = reads.partition_point(|&at| at < from);
        reads.get(at).copied()
    };
    let mut file = Registers {
        holds: vec![None; registers],
        most: 0,
    };
    let mut lines: Vec<Line> = Vec::new();
    for (at, draft) in writer.drafts.iter().enumerate() {
        let mut spots = [Spot::None; 2];
        let mut taken: Vec<Kept> = Vec::new();
        for (spot, source) in spots.iter_mut().zip([draft.a, draft.b]) {
            *spot = match source {
                Source::None => Spot::None,
                Source::Buffer(value) => Spot::Buffer(value),
                Source::Kept(kept) => {
                    let found = fetch(writer, &mut file, &mut lines, kept, at, &taken, &next)?;
                    taken.push(kept);
                    Spot::Register(found)
                }
            };
        }
        let d = match draft.d {
            Goal::Accumulator => Spot::Accumulator,
            Goal::Buffer(value) => Spot::Buffer(value),
            // Operands are read before the result is written: their registers are free if nothing reads them later.
            Goal::Kept(kept) => Spot::Register(room(writer, &mut file, kept, at + 1, &[], &next)?),
        };
        lines.push(Line {
            op: draft.op,
            d,
            a: spots[0],
            b: spots[1],
            modulus: draft.modulus,
            n: draft.n,
        });
    }
    let (lines, loads) = hoisted(writer, lines);
    Some(Code {
        lines,
        loads,
        registers: file.most,
    })
}

/// The lines that fill a register from the buffer go to the front, where the register is filled once; how many they are.
fn hoisted(writer: &Writer<'_>, lines: Vec<Line>) -> (Vec<Line>, usize) {
    let mut fillings: HashMap<Spot, usize> = HashMap::new();
    for line in &lines {
        *fillings.entry(line.d).or_default() += 1;
    }
    let fills = |line: &Line| {
        let from = matches!(line.a, Spot::Buffer(value) if !writer.inside.contains(&value));
        let once = fillings.get(&line.d) == Some(&1);
        let unit = matches!(line.op, MicroOp::Mov | MicroOp::Muli);
        unit && from && once && matches!(line.d, Spot::Register(_))
    };
    let (mut front, behind): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(fills);
    let loads = front.len();
    front.extend(behind);
    (front, loads)
}

/// A register with what is wanted, filled now where it is not there.
fn fetch(
    writer: &Writer<'_>,
    file: &mut Registers,
    lines: &mut Vec<Line>,
    kept: Kept,
    at: usize,
    taken: &[Kept],
    next: &impl Fn(&Kept, usize) -> Option<usize>,
) -> Option<Register> {
    if let Some(found) = file.holds.iter().position(|held| *held == Some(kept)) {
        return Some(Register(found as u8));
    }
    let (modulus, q) = writer.q(kept.value);
    let plain = Kept {
        times_r: false,
        ..kept
    };
    let inside = writer.inside.contains(&kept.value);
    let held = file.holds.iter().position(|held| *held == Some(plain));
    let a = match held {
        Some(register) => Spot::Register(Register(register as u8)),
        None if inside => return None,
        None => Spot::Buffer(kept.value),
    };
    let mut keep = taken.to_vec();
    keep.push(plain);
    let register = room(writer, file, kept, at, &keep, next)?;
    let square = q.mul(times_r(q, 1).into(), times_r(q, 1).into());
    lines.push(match kept.times_r {
        true => Line {
            op: MicroOp::Muli,
            d: Spot::Register(register),
            a,
            b: Spot::None,
            modulus,
            n: square as u32,
        },
        false => Line {
            op: MicroOp::Mov,
            d: Spot::Register(register),
            a,
            b: Spot::None,
            modulus: 0,
            n: 0,
        },
    });
    Some(register)
}

/// A register for something new: one whose value is read no more, else the one that is read furthest from now and can be had again.
fn room(
    writer: &Writer<'_>,
    file: &mut Registers,
    kept: Kept,
    at: usize,
    taken: &[Kept],
    next: &impl Fn(&Kept, usize) -> Option<usize>,
) -> Option<Register> {
    let mut best: Option<(usize, usize)> = None;
    for (register, held) in file.holds.iter().enumerate() {
        let when = match held {
            None => usize::MAX - 1,
            Some(held) if taken.contains(held) => continue,
            Some(held) => match next(held, at) {
                // Rather than an empty one, so that few are used and the next chunk has others.
                None => usize::MAX,
                // What is only here must stay.
                Some(_) if writer.inside.contains(&held.value) && !held.times_r => continue,
                Some(when) => when,
            },
        };
        if best.is_none_or(|(most, _)| when > most) {
            best = Some((when, register));
        }
    }
    let (_, register) = best?;
    *file.holds.get_mut(register)? = Some(kept);
    file.most = file.most.max(register + 1);
    Some(Register(register as u8))
}
