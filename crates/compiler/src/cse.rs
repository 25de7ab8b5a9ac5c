// SPDX-License-Identifier: Apache-2.0
//! Eliminates common subexpressions: of several instructions that compute the same value, only the
//! first stays.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use ringmill_isa::macros::linked::{Combination, Elements, Matrix, Products, Turns};
use ringmill_isa::macros::{Interval, MacroImm, MacroOp, MacroProgram, MacroValue};

use crate::rewrite::{Rewriter, is_cipher};

/// An instruction without the name of its result. Instructions with equal keys compute the same value.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    op: MacroOp,
    src: Vec<MacroValue>,
    imm: ImmKey,
}

/// [`MacroImm`] with its constants as bit patterns, so that it can be hashed.
#[derive(PartialEq, Eq, Hash)]
enum ImmKey {
    None,
    Index(u32),
    Constant(u64),
    Integer(i128),
    Interval(u64, u64),
    Steps(Vec<i32>),
    Repeat(u32, u64),
    Elements(Elements),
    Turns(Turns),
    Matrix(Matrix),
    Combination(Combination),
    Products(Products),
}

impl ImmKey {
    fn new(imm: &MacroImm, data: &[u32]) -> Self {
        match imm {
            MacroImm::None => Self::None,
            MacroImm::Data(i) => Self::Index(data[*i as usize]),
            MacroImm::Input(i) | MacroImm::Output(i) => Self::Index(*i),
            MacroImm::Level(level) => Self::Index(level.0),
            MacroImm::Galois(element) => Self::Index(element.0),
            MacroImm::Constant { value, .. } => Self::Constant(value.to_bits()),
            MacroImm::Integer(value) => Self::Integer(*value),
            MacroImm::Interval(Interval { lowest, highest }) => {
                Self::Interval(lowest.to_bits(), highest.to_bits())
            }
            MacroImm::Steps(steps) => Self::Steps(steps.clone()),
            MacroImm::Proc(proc) => Self::Repeat(*proc, 1),
            MacroImm::Repeat { proc, count } => Self::Repeat(*proc, *count),
            MacroImm::Lifted(n) => Self::Index(*n),
            MacroImm::Elements(elements) => Self::Elements(elements.clone()),
            MacroImm::Turns(turns) => Self::Turns(turns.clone()),
            MacroImm::Matrix(matrix) => Self::Matrix(matrix.clone()),
            MacroImm::Combination(combination) => Self::Combination(combination.clone()),
            MacroImm::Products(products) => Self::Products(products.clone()),
        }
    }
}

/// Returns for each constant vector the index of the first vector with the same contents, bit for bit.
fn first_equal(data: &[Vec<(f64, f64)>]) -> Vec<u32> {
    let bits = |&(re, im): &(f64, f64)| (re.to_bits(), im.to_bits());
    // The distinct vectors, by their hash. Vectors are large, so they are not copied into a map's keys.
    let mut seen: HashMap<u64, Vec<u32>> = HashMap::new();
    data.iter()
        .zip(0u32..)
        .map(|(vector, index)| {
            let mut hasher = DefaultHasher::new();
            vector.iter().for_each(|slot| bits(slot).hash(&mut hasher));
            let candidates = seen.entry(hasher.finish()).or_default();
            let same = |&&c: &&u32| {
                data[c as usize]
                    .iter()
                    .map(bits)
                    .eq(vector.iter().map(bits))
            };
            if let Some(&first) = candidates.iter().find(same) {
                return first;
            }
            candidates.push(index);
            index
        })
        .collect()
}

/// Merges instructions of a program without levels that compute the same value. `ADD` and the
/// product of two ciphertexts commute.
pub(crate) fn run(source: MacroProgram) -> MacroProgram {
    let data = first_equal(&source.data);
    let mut seen: HashMap<Key, Vec<MacroValue>> = HashMap::with_capacity(source.instrs.len());
    let (mut out, body) = Rewriter::new(source);
    for instr in &body.instrs {
        if instr.op == MacroOp::Output {
            out.copy(instr, &body.types);
            continue;
        }
        let mut src: Vec<MacroValue> = instr.src.iter().map(|&v| out.get(v)).collect();
        let commutes = matches!(instr.op, MacroOp::Add | MacroOp::Mul);
        if commutes && instr.src.iter().all(|&v| is_cipher(&body.types, v)) {
            src.sort_unstable();
        }
        let key = Key {
            op: instr.op,
            src,
            imm: ImmKey::new(&instr.imm, &data),
        };
        if let Some(known) = seen.get(&key) {
            for (&old, &new) in instr.dst.iter().zip(known) {
                out.set(old, new);
            }
        } else {
            out.copy(instr, &body.types);
            seen.insert(key, instr.dst.iter().map(|&v| out.get(v)).collect());
        }
    }
    out.finish()
}
