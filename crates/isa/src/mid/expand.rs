//! The one defining expansion of each composite instruction into primitives, for devices that lack it.

use ringmill_math::{MathError, Modulus};

use super::op::Op;
use super::procedure::{Imm, Instr, Procedure};
use super::types::{LimbType, ModulusId, ValueId};
use super::verify;
use crate::error::{Fault, InstrPlace, Place, VerifyError};
use crate::limits;

/// Replaces every composite instruction that `keep` does not keep by its expansion. Existing values keep their numbers;
/// temporaries are numbered after them. The result is exact: the same bits in every value.
///
/// Errors: the procedure does not verify, or its expansion is larger than a procedure may be.
pub fn expand_composites(
    procedure: &Procedure,
    keep: impl Fn(Op) -> bool,
) -> Result<Procedure, VerifyError> {
    verify::verify_procedure(procedure)?;
    let mut out = Procedure {
        instrs: Vec::with_capacity(procedure.instrs.len()),
        ..procedure.clone()
    };
    for (number, instr) in procedure.instrs.iter().enumerate() {
        let expanded = match instr.op {
            Op::Bext if !keep(Op::Bext) => bext(&mut out, &instr.src, &instr.dst),
            Op::Dot if !keep(Op::Dot) => dot(&mut out, &instr.src, &instr.dst),
            _ => {
                out.instrs.push(instr.clone());
                Ok(())
            }
        };
        expanded.map_err(|fault| {
            let text = super::text::instr_text(instr, &procedure.types);
            let instruction = Some(InstrPlace { number, text });
            VerifyError::new(
                Place {
                    loc: None,
                    procedure: procedure.name.clone(),
                    instruction,
                },
                fault,
            )
        })?;
    }
    Ok(out)
}

/// y_j = sum over i of [x_i (Q/q_i)^-1]_{q_i} (Q/q_i) mod p_j, in the operands' order.
fn bext(out: &mut Procedure, x: &[ValueId], y: &[ValueId]) -> Result<(), Fault> {
    room(out, x.len() + 3 * x.len() * y.len())?;
    let sources = x
        .iter()
        .map(|&v| Ok((v, type_of(out, v)?)))
        .collect::<Result<Vec<_>, Fault>>()?;
    let ids: Vec<_> = sources.iter().map(|(_, ty)| ty.modulus).collect();
    // [x_i (Q/q_i)^-1]_{q_i}; of a single operand the factor is 1.
    let mut scaled = Vec::with_capacity(sources.len());
    for (i, &(v, ty)) in sources.iter().enumerate() {
        if sources.len() == 1 {
            scaled.push((v, ty));
            continue;
        }
        let q = modulus(out, ty.modulus)?;
        let factor = q
            .inv(punctured_product(out, &ids, i, q)?)
            .map_err(not_a_base)?;
        let t = temporary(out, ty);
        emit(out, Op::Muli, t, &[v], Imm::Scalar(factor));
        scaled.push((t, ty));
    }
    for &target in y {
        let to = type_of(out, target)?;
        let p = modulus(out, to.modulus)?;
        let mut sum = None;
        for (i, &(t, _)) in scaled.iter().enumerate() {
            let last = i + 1 == scaled.len();
            if scaled.len() == 1 {
                emit(out, Op::Conv, target, &[t], Imm::None);
                continue;
            }
            let converted = temporary(out, to);
            emit(out, Op::Conv, converted, &[t], Imm::None);
            let product = temporary(out, to);
            let weight = punctured_product(out, &ids, i, p)?;
            emit(out, Op::Muli, product, &[converted], Imm::Scalar(weight));
            sum = Some(match sum {
                None => product,
                Some(sum) => {
                    let next = if last { target } else { temporary(out, to) };
                    emit(out, Op::Add, next, &[sum, product], Imm::None);
                    next
                }
            });
        }
    }
    Ok(())
}

/// a_0 b_0, then one multiply-accumulate a pair, in the operands' order.
fn dot(out: &mut Procedure, src: &[ValueId], dst: &[ValueId]) -> Result<(), Fault> {
    room(out, src.len())?;
    let (Some(&target), Some(&first)) = (dst.first(), src.first()) else {
        return Ok(());
    };
    let ty = type_of(out, first)?;
    let pairs = src.as_chunks::<2>().0;
    let mut sum = None;
    for (i, &[a, b]) in pairs.iter().enumerate() {
        let next = if i + 1 == pairs.len() {
            target
        } else {
            temporary(out, ty)
        };
        match sum {
            None => emit(out, Op::Mul, next, &[a, b], Imm::None),
            Some(sum) => emit(out, Op::Mac, next, &[sum, a, b], Imm::None),
        }
        sum = Some(next);
    }
    Ok(())
}

/// Q/q_i, the product of all moduli but the i-th, modulo `q`.
fn punctured_product(
    out: &Procedure,
    ids: &[ModulusId],
    i: usize,
    q: Modulus,
) -> Result<u64, Fault> {
    let mut product = q.reduce(1);
    for (_, &id) in ids.iter().enumerate().filter(|&(j, _)| j != i) {
        product = q.mul(product, q.reduce(modulus(out, id)?.value()));
    }
    Ok(product)
}

fn modulus(out: &Procedure, id: ModulusId) -> Result<Modulus, Fault> {
    let value = out.moduli.get(usize::from(id.0)).copied().unwrap_or(0);
    Modulus::new(value).map_err(not_a_base)
}

fn not_a_base(error: MathError) -> Fault {
    Fault::Illegal {
        what: "base",
        expected: "coprime moduli below 2^61".to_owned(),
        found: error.to_string(),
    }
}

fn type_of(out: &Procedure, v: ValueId) -> Result<LimbType, Fault> {
    let ty = out.types.get(v.0 as usize).copied();
    ty.ok_or_else(|| Fault::Undefined {
        item: format!("%{}", v.0),
    })
}

/// Refuses to grow a procedure by `more` values or instructions beyond what one may have.
fn room(out: &Procedure, more: usize) -> Result<(), Fault> {
    verify::at_most(
        "values",
        limits::MAX_VALUES,
        out.types.len().saturating_add(more),
    )?;
    verify::at_most(
        "instructions",
        limits::MAX_VALUES,
        out.instrs.len().saturating_add(more),
    )
}

/// A new value; `room` has bounded their number far below 2^32.
fn temporary(out: &mut Procedure, ty: LimbType) -> ValueId {
    let id = ValueId(out.types.len() as u32);
    out.types.push(ty);
    id
}

fn emit(out: &mut Procedure, op: Op, dst: ValueId, src: &[ValueId], imm: Imm) {
    out.instrs.push(Instr {
        op,
        dst: vec![dst],
        src: src.to_vec(),
        imm,
    });
}
