// SPDX-License-Identifier: Apache-2.0
//! Expands composite instructions into simpler ones, for devices that do not execute composites.
//! The expansion is the definition of a composite.

use ringmill_math::basext::Representative;
use ringmill_math::{AnyModulus, MathError, Modulus, RnsBasis};

use super::op::Op;
use super::procedure::{Imm, Instr, Procedure};
use super::types::{LimbType, ModulusId, TableModulus, ValueId};
use super::verify;
use crate::error::{Fault, InstrPlace, Place, VerifyError};
use crate::limits;

/// Replaces every composite instruction for which `keep` returns false by its expansion into
/// simpler instructions. The values of the procedure keep their numbers and bits. The expansion's
/// own values get numbers after theirs.
///
/// # Errors
/// Fails if the procedure does not verify, or if its expansion is larger than a procedure may be.
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
            op if keep(op) => {
                out.instrs.push(instr.clone());
                Ok(())
            }
            Op::Bext => bext(&mut out, &instr.src, &instr.dst),
            Op::Bextx => bextx(&mut out, &instr.src, instr.imm, &instr.dst),
            Op::Bextr => bextr(&mut out, &instr.src, &instr.dst),
            Op::Dot => dot(&mut out, &instr.src, &instr.dst),
            Op::Add
            | Op::Sub
            | Op::Neg
            | Op::Mul
            | Op::Mac
            | Op::Muli
            | Op::Addi
            | Op::Ntt
            | Op::Intt
            | Op::Auto
            | Op::Autoh
            | Op::Conv
            | Op::Split
            | Op::Join
            | Op::Prng
            | Op::Rotdiff
            | Op::Decomp
            | Op::Extract
            | Op::Lweks
            | Op::Load
            | Op::Store
            | Op::Hcf => {
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

/// The operands of a base extension with their types, and the RNS base of their moduli, whose
/// product is Q.
struct Sources {
    limbs: Vec<(ValueId, LimbType)>,
    base: RnsBasis,
}

impl Sources {
    fn of(out: &Procedure, x: &[ValueId]) -> Result<Self, Fault> {
        let typed = x.iter().map(|&v| Ok((v, type_of(out, v)?)));
        let limbs = typed.collect::<Result<Vec<_>, Fault>>()?;
        let moduli = limbs.iter().map(|(_, ty)| {
            let any = arithmetic(out, ty.modulus)?;
            any.below_61().map_err(not_a_base)
        });
        let moduli = moduli.collect::<Result<Vec<_>, Fault>>()?;
        let base = RnsBasis::new(moduli).map_err(not_a_base)?;
        Ok(Self { limbs, base })
    }

    /// Adds instructions for \[x_i (Q/q_i)^-1\]_(q_i), the residue modulo q_i, of each operand x_i
    /// with modulus q_i, and returns their values. Q is the product of all q_i. A single operand is
    /// returned as it is.
    fn scaled(&self, out: &mut Procedure) -> Vec<ValueId> {
        if let &[(v, _)] = self.limbs.as_slice() {
            return vec![v];
        }
        let factors = self
            .limbs
            .iter()
            .zip(self.base.inverse_punctured_products());
        let scaled = factors.map(|(&(v, ty), factor)| muli(out, ty, v, factor));
        scaled.collect()
    }

    /// Returns the numbers Q/q_i modulo p, where q_i are the moduli of the operands and Q is the product of all q_i.
    fn weights(&self, p: AnyModulus) -> Vec<u64> {
        let products = self.base.punctured_products().iter();
        products.map(|x| p.reduce_big(x)).collect()
    }
}

/// Expands the fast base extension `BEXT`: y_j = sum over i of \[x_i (Q/q_i)^-1\]_(q_i) (Q/q_i) mod
/// p_j. The x_i are the operands, modulo q_i; Q is the product of all q_i. The y_j are the results,
/// modulo p_j.
fn bext(out: &mut Procedure, x: &[ValueId], y: &[ValueId]) -> Result<(), Fault> {
    room(out, x.len() + 3 * x.len() * y.len())?;
    let sources = Sources::of(out, x)?;
    let scaled = sources.scaled(out);
    for &target in y {
        let to = type_of(out, target)?;
        let weights = sources.weights(arithmetic(out, to.modulus)?);
        match scaled.as_slice() {
            &[only] => emit(out, Op::Conv, target, &[only], Imm::None),
            scaled => sum(out, to, scaled, &weights, None, Some(target)).map(drop)?,
        }
    }
    Ok(())
}

/// Expands the exact base extension `BEXTX` of x_u modulo q_u to y_j modulo p_j. First come
/// Garner's mixed-radix digits, b_u = (...((x_u - b_0) / q_0 - b_1) / q_1 ...) mod q_u. Then
/// Horner's rule gives y_j = b_0 + q_0 (b_1 + q_1 (b_2 + ...)) mod p_j. For the centred
/// representative, the largest integer below Q/2 is added first and subtracted at the end, where Q
/// is the product of all q_u.
fn bextx(out: &mut Procedure, x: &[ValueId], imm: Imm, y: &[ValueId]) -> Result<(), Fault> {
    let l = x.len();
    room(out, (l + 1) * (l + 1) * 2 + (3 * l + 1) * y.len())?;
    let sources = Sources::of(out, x)?;
    let shift = match imm {
        Imm::Representative(which @ Representative::Centred) => Some(which.offset(&sources.base)),
        _ => None,
    };
    let mut digits: Vec<(ValueId, Modulus)> = Vec::with_capacity(l);
    for (&(v, ty), &q) in sources.limbs.iter().zip(sources.base.moduli()) {
        let mut digit = v;
        if let Some(h) = &shift {
            let w = AnyModulus::from(q).reduce_big(h);
            digit = one(out, Op::Addi, ty, &[v], Imm::Scalar(w));
        }
        for &(before, radix) in &digits {
            let before = one(out, Op::Conv, ty, &[before], Imm::None);
            let difference = one(out, Op::Sub, ty, &[digit, before], Imm::None);
            let inverse = q.inv(radix.value()).map_err(not_a_base)?;
            digit = muli(out, ty, difference, inverse);
        }
        digits.push((digit, q));
    }
    for &target in y {
        let to = type_of(out, target)?;
        let p = arithmetic(out, to.modulus)?;
        let after = shift.as_ref().map(|h| Imm::Scalar(p.neg(p.reduce_big(h))));
        let mut sum = None;
        for (place, &(digit, radix)) in digits.iter().enumerate().rev() {
            // The last of all instructions makes the target.
            let last = (place == 0 && after.is_none()).then_some(target);
            sum = Some(match sum {
                None => made(out, Op::Conv, to, &[digit], Imm::None, last),
                Some(sum) => {
                    let digit = one(out, Op::Conv, to, &[digit], Imm::None);
                    let product = muli(out, to, sum, p.reduce(radix.value()));
                    made(out, Op::Add, to, &[product, digit], Imm::None, last)
                }
            });
        }
        if let (Some(sum), Some(after)) = (sum, after) {
            emit(out, Op::Addi, target, &[sum], after);
        }
    }
    Ok(())
}

/// Expands the exact base extension `BEXTR` of x_i modulo q_i to y_j modulo p_j. The operand r has
/// the same integer modulo m, and Q is the product of all q_i. First come z_i = \[x_i
/// (Q/q_i)^-1\]_(q_i), then alpha = sum over i of z_i q_i^-1 - r Q^-1 mod m. The results are y_j =
/// sum over i of z_i (Q/q_i) - alpha Q mod p_j.
fn bextr(out: &mut Procedure, src: &[ValueId], y: &[ValueId]) -> Result<(), Fault> {
    let Some((&r, x)) = src.split_last() else {
        return Ok(());
    };
    room(out, 4 * src.len() * (y.len() + 1))?;
    let sources = Sources::of(out, x)?;
    let scaled = sources.scaled(out);
    let ty = type_of(out, r)?;
    let any = arithmetic(out, ty.modulus)?;
    let m = any.below_61().map_err(not_a_base)?;
    let inverses = sources.base.moduli().iter().map(|q| m.inv(q.value()));
    let inverses: Vec<u64> = inverses.collect::<Result<_, _>>().map_err(not_a_base)?;
    let product = m
        .inv(any.reduce_big(sources.base.product()))
        .map_err(not_a_base)?;
    let alpha = sum(out, ty, &scaled, &inverses, Some((r, m.neg(product))), None)?;
    for &target in y {
        let to = type_of(out, target)?;
        let p = arithmetic(out, to.modulus)?;
        let weights = sources.weights(p);
        let minus = p.neg(p.reduce_big(sources.base.product()));
        sum(
            out,
            to,
            &scaled,
            &weights,
            Some((alpha, minus)),
            Some(target),
        )?;
    }
    Ok(())
}

/// Adds instructions for the sum of the `values` and of the value `last`, each times its weight.
/// The values may have several moduli and are converted to the modulus of `to`. The sum is the
/// value `target`, or a new value if that is `None`. With a `target` there must be two or more terms.
fn sum(
    out: &mut Procedure,
    to: LimbType,
    values: &[ValueId],
    weights: &[u64],
    last: Option<(ValueId, u64)>,
    target: Option<ValueId>,
) -> Result<ValueId, Fault> {
    let terms = values.iter().copied().zip(weights.iter().copied());
    let mut terms = terms.chain(last).peekable();
    let mut sum = None;
    while let Some((value, weight)) = terms.next() {
        let converted = one(out, Op::Conv, to, &[value], Imm::None);
        let product = muli(out, to, converted, weight);
        sum = Some(match sum {
            None => product,
            Some(sum) => {
                let last = target.filter(|_| terms.peek().is_none());
                made(out, Op::Add, to, &[sum, product], Imm::None, last)
            }
        });
    }
    sum.ok_or(Fault::Count {
        what: "operands",
        expected: Op::Bext.info().operands,
        found: 0,
    })
}

/// Expands `DOT`, the sum of products of pairs of operands: a multiplication for the first pair,
/// then one multiply-accumulate for each further pair, in order.
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

fn arithmetic(out: &Procedure, id: ModulusId) -> Result<AnyModulus, Fault> {
    let modulus = out.moduli.get(usize::from(id.0)).copied();
    let modulus = modulus.unwrap_or(TableModulus::Plain(0));
    modulus.arithmetic().map_err(not_a_base)
}

fn not_a_base(error: MathError) -> Fault {
    Fault::Illegal {
        what: "base",
        expected: "coprime moduli below 2^61".to_owned(),
        found: error.to_string(),
    }
}

fn type_of(out: &Procedure, v: ValueId) -> Result<LimbType, Fault> {
    // Expanded instructions work on limbs alone.
    out.limb(v).ok_or_else(|| Fault::Undefined {
        item: format!("%{}", v.0),
    })
}

/// Returns an error if `more` further values or instructions would make the procedure `out` larger
/// than a procedure may be.
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

/// Adds a value of type `ty` to the procedure `out` and returns it. The caller has checked that
/// there are far fewer than 2^32 values.
fn temporary(out: &mut Procedure, ty: LimbType) -> ValueId {
    let id = ValueId(out.types.len() as u32);
    out.types.push(ty.into());
    id
}

/// Adds an instruction with one result to the procedure `out`. The result is a new value of type
/// `ty`, which is returned.
fn one(out: &mut Procedure, op: Op, ty: LimbType, src: &[ValueId], imm: Imm) -> ValueId {
    made(out, op, ty, src, imm, None)
}

fn muli(out: &mut Procedure, ty: LimbType, v: ValueId, factor: u64) -> ValueId {
    one(out, Op::Muli, ty, &[v], Imm::Scalar(factor))
}

/// Adds an instruction with one result to the procedure `out`, and returns the result. It is the
/// value `target`, or a new value of type `ty` if that is `None`.
fn made(
    out: &mut Procedure,
    op: Op,
    ty: LimbType,
    src: &[ValueId],
    imm: Imm,
    target: Option<ValueId>,
) -> ValueId {
    let dst = target.unwrap_or_else(|| temporary(out, ty));
    emit(out, op, dst, src, imm);
    dst
}

fn emit(out: &mut Procedure, op: Op, dst: ValueId, src: &[ValueId], imm: Imm) {
    out.instrs.push(Instr {
        op,
        dst: vec![dst],
        src: src.to_vec(),
        imm,
    });
}
