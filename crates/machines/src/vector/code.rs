// SPDX-License-Identifier: Apache-2.0
//! Generates the vector machine's code of a kernel for one chunk of its limbs: one instruction of the
//! multiply-accumulate unit for each term of its sums. Others add constants, load registers and copy results to the
//! buffer. Registers hold the values that are read soonest.

use std::collections::{HashMap, HashSet};

use ringmill_isa::vector::{MicroOp, Register};
use ringmill_math::Modulus;

use super::graph::{Graph, Node, Sum, Term, Value};
use super::kernel::Kernel;
use crate::MachineError;

/// A value that lies in a register, and the form in which it lies there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Kept {
    value: Value,
    /// Whether the register has the value times R, the factor by which the multiplier divides a product.
    times_r: bool,
}

/// The place of an operand or a result in a kernel's code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Spot {
    None,
    /// The current chunk of a value in the ciphertext buffer. The number is the value's index in
    /// the list of values that the kernel reads, followed by those that it writes.
    Buffer(usize),
    Register(Register),
    Accumulator,
}

/// One line of the code of a kernel (sums that are computed together, chunk by chunk): an instruction, which is the
/// same for every chunk of the kernel's limbs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    pub op: MicroOp,
    pub d: Spot,
    pub a: Spot,
    pub b: Spot,
    pub modulus: u16,
    pub n: u32,
}

/// The instructions of a kernel (sums that are computed together, chunk by chunk) for one chunk of its limbs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    pub lines: Vec<Line>,
    /// The number of lines (instructions for one chunk) at the beginning of the kernel's code that only load registers.
    pub loads: usize,
    pub registers: usize,
}

/// An instruction of the code of a kernel (sums that are computed together, chunk by chunk) before
/// registers are assigned to its values.
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
    /// The number of times that the kernel reads each value without the factor R, by which the
    /// multiplier divides a product. `products` counts the reads of the value as an operand of
    /// products.
    plain: HashMap<Value, usize>,
    products: HashMap<Value, usize>,
    drafts: Vec<Draft>,
}

/// Generates the code of a kernel (sums that are computed together, chunk by chunk) for one chunk,
/// with at most `registers` registers. `buffered` tells for each value of the graph whether it lies
/// in the ciphertext buffer.
///
/// # Errors
/// [`MachineError::Unsupported`] if the kernel needs more registers; [`MachineError::Program`] if
/// its sums use a value of the buffer that the kernel does not list as read or written.
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
    // A product has one operand times R. The other operand is read without this factor.
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
    let code = allocate(&writer, registers).ok_or_else(|| MachineError::Unsupported {
        procedure: graph.name.clone(),
        what: format!("a sum that needs more than {registers} registers (`registers`)"),
    })?;
    numbered(code, kernel).ok_or_else(|| {
        MachineError::Program(format!(
            "procedure {}: a sum of what is not in the buffer",
            graph.name
        ))
    })
}

/// Replaces each value of the buffer in the code by its index in the list of the values that the
/// kernel reads, followed by those that it writes. Returns `None` for a value that is not in that
/// list.
fn numbered(mut code: Code, kernel: &Kernel) -> Option<Code> {
    let all = kernel.reads.iter().chain(&kernel.written).copied();
    let numbers: HashMap<Value, usize> = all.zip(0..).collect();
    for line in &mut code.lines {
        for spot in [&mut line.d, &mut line.a, &mut line.b] {
            if let Spot::Buffer(value) = spot {
                *value = *numbers.get(value)?;
            }
        }
    }
    Some(code)
}

/// Returns the constant x times 2^32 modulo q, because the multiplier divides by 2^32.
fn times_r(q: Modulus, x: u64) -> u32 {
    q.reduce_wide(u128::from(x) << 32) as u32
}

impl Writer<'_> {
    fn q(&self, value: Value) -> (u16, Modulus) {
        let at = self.graph.modulus.get(value).copied().unwrap_or(0);
        // Every value has a modulus of the table.
        (at, self.graph.moduli[usize::from(at)])
    }

    /// Returns the two operands of a product. The first is the one that more products of the kernel
    /// read; it is stored times R, the factor by which the multiplier divides.
    fn sides(&self, a: Value, b: Value) -> (Value, Value) {
        let count = |value| self.products.get(&value).copied().unwrap_or(0);
        if count(b) > count(a) { (b, a) } else { (a, b) }
    }

    /// Returns a value as an operand without the factor R, by which the multiplier divides a
    /// product. A value that is read more than once, or that the kernel itself computes, comes from a
    /// register.
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

/// The content of the registers at a point of the code.
struct Registers {
    holds: Vec<Option<Kept>>,
    most: usize,
}

/// Assigns registers to the values of the code of a kernel (sums that are computed together, chunk by chunk). If no
/// register is free, it replaces the value whose next read is farthest away among those that can be read or computed
/// again. Returns `None` if there are too few registers.
fn allocate(writer: &Writer<'_>, registers: usize) -> Option<Code> {
    // For each value in a register, the lines of the code that read it.
    let mut reads: HashMap<Kept, Vec<usize>> = HashMap::new();
    for (at, draft) in writer.drafts.iter().enumerate() {
        for source in [draft.a, draft.b] {
            if let Source::Kept(kept) = source {
                reads.entry(kept).or_default().push(at);
                if kept.times_r {
                    // The value times R is computed from the value without R, if that lies only in a register.
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
            // Operands are read before the result is written, so their registers are free if nothing reads them later.
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

/// Moves lines of a kernel's code that load a register from the buffer to the front of the code, if the register is
/// written once. Loads of values that the kernel itself computes stay. A line is an instruction for one chunk. Returns
/// all lines, and how many were moved.
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

/// Returns a register that holds the value `kept` for the draft with index `at`. If no register does, an instruction
/// that loads one is added to `lines`. The registers of the values `taken` stay, since the same draft reads them.
/// `next` returns the index of the first draft from a given one on that reads a value. Returns `None` if there are too
/// few registers.
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

/// Returns a register for the new value `kept`. It is one whose value is not read again from the draft with index `at`
/// on, else an empty one. If there is neither, it is the one with the farthest next read among those whose value can be
/// read or computed again. The registers of the values `taken` stay. Returns `None` if there is no such register.
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
                // Preferred to an empty register, so that few are used and the next chunk has others.
                None => usize::MAX,
                // A value that lies only in registers must stay.
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
