// SPDX-License-Identifier: Apache-2.0
//! Typing rules of the torus extension: instructions on exponents, digits and LWE vectors.

use ringmill_math::torus::{Coefficients, Gadget};
use ringmill_math::{Modulus, Ring};

use super::{Scope, Typed, TypedLimb, expect_form, item, limb};
use crate::error::Fault;
use crate::mid::procedure::Imm;
use crate::mid::types::{
    Form, LimbType, LweDimension, LweTableType, LweType, ModulusId, ValueType,
};

/// Checks `ROTDIFF`: its operands are exponents, then a limb on the full ring, and its result has the
/// limb's type.
pub(super) fn rotate_difference(
    scope: Scope<'_>,
    src: &[Typed],
    dst: &[Typed],
) -> Result<(), Fault> {
    let Some((&a, exponents)) = src.split_last() else {
        return Ok(());
    };
    for &e in exponents {
        scope.expect_value(|| item(e), ValueType::Exponent, e.ty)?;
    }
    let a = full(scope, limb(a)?)?;
    dst.iter().try_for_each(|&d| scope.expect(limb(d)?, a.ty))
}

/// Checks `DECOMP`: its operand is a limb in coefficient form on the full ring, and it has one
/// result for each digit.
pub(super) fn decompose(
    scope: Scope<'_>,
    src: &[Typed],
    imm: Imm,
    dst: &[Typed],
) -> Result<(), Fault> {
    let (&[a], &[first, ..]) = (src, dst) else {
        return Ok(());
    };
    let a = coefficients(scope, limb(a)?)?;
    let first = limb(first)?;
    let log_base = digits(scope, a.ty.modulus, imm, dst.len())?;
    let modulus = first.ty.modulus;
    match scope.check_modulus(modulus)?.value() {
        p if p.checked_shr(log_base.into()).is_some_and(|p| p > 0)
            && p < 1 << Modulus::MAX_BITS => {}
        _ => {
            return Err(Fault::Illegal {
                what: "modulus of digits",
                expected: format!("one above the base, and below 2^{}", Modulus::MAX_BITS),
                found: scope.modulus_text(modulus),
            });
        }
    }
    let expected = LimbType { modulus, ..a.ty };
    dst.iter()
        .try_for_each(|&d| scope.expect(limb(d)?, expected))
}

/// Checks `EXTRACT`: its operands are the masks and the body of a GLWE ciphertext, its result the LWE
/// vector of coefficient 0.
pub(super) fn extract(scope: Scope<'_>, src: &[Typed], dst: &[Typed]) -> Result<(), Fault> {
    let (&[first, ..], &[d]) = (src, dst) else {
        return Ok(());
    };
    let first = coefficients(scope, limb(first)?)?;
    for &v in src {
        scope.expect(limb(v)?, first.ty)?;
    }
    // The limits of rings and of operands keep the dimension below 2^30.
    let dimension = first
        .ty
        .ring
        .len()
        .saturating_mul(src.len().saturating_sub(1));
    let expected = LweType {
        dimension: LweDimension(u32::try_from(dimension).unwrap_or(u32::MAX)),
        modulus: first.ty.modulus,
    };
    scope.expect_value(|| item(d), expected.into(), d.ty)
}

/// Checks `LWEKS`: its operands are an LWE vector and a table with a row for each digit of each mask
/// coefficient. Its result is an LWE vector like the rows.
pub(super) fn key_switch(
    scope: Scope<'_>,
    src: &[Typed],
    imm: Imm,
    dst: &[Typed],
) -> Result<(), Fault> {
    let (&[x, k], &[d]) = (src, dst) else {
        return Ok(());
    };
    let kind = |v: Typed, expected| Fault::Kind {
        item: item(v),
        expected,
        found: v.ty.kind(),
    };
    let ValueType::Lwe(LweType { dimension, modulus }) = x.ty else {
        return Err(kind(x, "an LWE vector"));
    };
    let ValueType::LweTable(LweTableType { row, rows }) = k.ty else {
        return Err(kind(k, "a table of LWE vectors"));
    };
    let switched = LweType { modulus, ..row };
    scope.expect_vector(|| item(k), switched, row)?;
    let levels = rows.checked_div(dimension.0).unwrap_or(0);
    if levels == 0 || !rows.is_multiple_of(dimension.0) {
        return Err(Fault::Illegal {
            what: "rows of the table of a key switch",
            expected: format!("some for each of {dimension} mask coefficients"),
            found: rows.to_string(),
        });
    }
    digits(scope, modulus, imm, levels as usize)?;
    scope.expect_value(|| item(d), switched.into(), d.ty)
}

fn full(scope: Scope<'_>, v: TypedLimb) -> Result<TypedLimb, Fault> {
    scope.expect_ring(|| item(v), Ring::full(scope.log_n), v.ty.ring)?;
    Ok(v)
}

fn coefficients(scope: Scope<'_>, v: TypedLimb) -> Result<TypedLimb, Fault> {
    let v = full(scope, v)?;
    expect_form(|| item(v), Form::Coeff, v.ty.form)?;
    Ok(v)
}

/// Checks that the modulus with index `id` has enough bits for `levels` gadget digits of the base
/// in `imm`. Returns the base-2 logarithm of that base.
fn digits(scope: Scope<'_>, id: ModulusId, imm: Imm, levels: usize) -> Result<u8, Fault> {
    // The check of immediates reports an immediate of another kind.
    let Imm::Base(log_base) = imm else {
        return Ok(0);
    };
    let modulus = scope.check_modulus(id)?;
    let q = Coefficients::try_from(modulus).map_err(|expected| Fault::Illegal {
        what: "modulus of what is decomposed",
        expected: expected.to_string(),
        found: scope.modulus_text(id),
    })?;
    match Gadget::new(q, log_base.into(), levels) {
        Ok(_) => Ok(log_base),
        Err(_) => Err(Fault::Illegal {
            what: "digits",
            expected: format!("a base and digits of at most {} bits in all", q.bits()),
            found: format!("{levels} of base 2^{log_base}"),
        }),
    }
}
