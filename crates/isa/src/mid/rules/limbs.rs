// SPDX-License-Identifier: Apache-2.0
//! Typing rules of the instructions that work on limbs alone.

use ringmill_math::basext::MAX_SOURCES;
use ringmill_math::{Modulus, Ring};

use super::{Scope, TypedLimb, below_61, expect_form, item};
use crate::error::Fault;
use crate::mid::op::Rule;
use crate::mid::types::{Form, LimbType};

/// Checks the operands `src` and results `dst` of an instruction by the typing rule `rule`, which
/// allows only limbs.
pub(super) fn check(
    scope: Scope<'_>,
    rule: Rule,
    src: &[TypedLimb],
    dst: &[TypedLimb],
) -> Result<(), Fault> {
    match rule {
        Rule::SameLimb => alike(scope, src, dst, None),
        Rule::SameEval | Rule::PairsEval => alike(scope, src, dst, Some(Form::Eval)),
        Rule::SameFull => {
            for &v in src.iter().chain(dst) {
                scope.expect_ring(|| item(v), Ring::full(scope.log_n), v.ty.ring)?;
            }
            alike(scope, src, dst, None)
        }
        Rule::CoeffToEval => transform(scope, src, dst, Form::Coeff, Form::Eval),
        Rule::EvalToCoeff => transform(scope, src, dst, Form::Eval, Form::Coeff),
        Rule::HalvesEval => {
            halves(scope, src, Form::Eval)?;
            match (src, dst) {
                ([p, m], [dp, dm]) => {
                    scope.expect(*dp, p.ty)?;
                    scope.expect(*dm, m.ty)
                }
                _ => Ok(()),
            }
        }
        Rule::ChangeModulus => change_base(scope, src, dst),
        Rule::BaseExtension => {
            base(scope, src)?;
            distinct_moduli(scope, dst)?;
            change_base(scope, src, dst)
        }
        Rule::ExactExtension => {
            few(src)?;
            base(scope, src)?;
            distinct_moduli(scope, dst)?;
            change_base(scope, src, dst)
        }
        Rule::RedundantExtension => {
            if let Some((r, x)) = src.split_last() {
                few(x)?;
                redundant(scope, *r, x.len())?;
            }
            base(scope, src)?;
            distinct_moduli(scope, dst)?;
            change_base(scope, src, dst)
        }
        Rule::Split => {
            let [a] = src else { return Ok(()) };
            scope.expect_ring(|| item(*a), Ring::full(scope.log_n), a.ty.ring)?;
            expect_form(|| item(*a), Form::Coeff, a.ty.form)?;
            let (plus, minus) = a.ty.ring.halves();
            let mut halves = dst.iter().zip([plus, minus]);
            halves.try_for_each(|(&d, ring)| scope.expect(d, LimbType { ring, ..a.ty }))
        }
        Rule::Join => {
            halves(scope, src, Form::Coeff)?;
            let ([p, _], [d]) = (src, dst) else {
                return Ok(());
            };
            let ring = Ring::full(scope.log_n);
            scope.expect(*d, LimbType { ring, ..p.ty })
        }
        Rule::AnyEval => {
            let mut all = src.iter().chain(dst);
            all.try_for_each(|&v| expect_form(|| item(v), Form::Eval, v.ty.form))
        }
        // The caller checks rules for values of other kinds, and for no values.
        Rule::Halt
        | Rule::Same
        | Rule::RotateDifference
        | Rule::Decompose
        | Rule::Extract
        | Rule::KeySwitch
        | Rule::Any => Ok(()),
    }
}

/// Checks that all operands and results of an instruction have one type. If `form` is not `None`,
/// they must also be in this form.
fn alike(
    scope: Scope<'_>,
    src: &[TypedLimb],
    dst: &[TypedLimb],
    form: Option<Form>,
) -> Result<(), Fault> {
    let Some(&first) = src.first() else {
        return Ok(());
    };
    let expected = LimbType {
        form: form.unwrap_or(first.ty.form),
        ..first.ty
    };
    scope.expect_all(src, expected)?;
    scope.expect_all(dst, expected)
}

fn transform(
    scope: Scope<'_>,
    src: &[TypedLimb],
    dst: &[TypedLimb],
    from: Form,
    to: Form,
) -> Result<(), Fault> {
    for &v in src {
        expect_form(|| item(v), from, v.ty.form)?;
        scope.expect_all(dst, LimbType { form: to, ..v.ty })?;
    }
    Ok(())
}

/// Checks that the operands are the residues p and m of one limb on the two halves of the full
/// ring. p must be modulo x^(N/2) - zeta (ring `half+`) and m modulo x^(N/2) + zeta (ring `half-`),
/// with zeta^2 = -1. They must have one modulus and the form `form`.
fn halves(scope: Scope<'_>, src: &[TypedLimb], form: Form) -> Result<(), Fault> {
    let Some(&first) = src.first() else {
        return Ok(());
    };
    let (plus, minus) = Ring::full(scope.log_n).halves();
    for (&v, ring) in src.iter().zip([plus, minus]) {
        scope.expect(
            v,
            LimbType {
                ring,
                form,
                ..first.ty
            },
        )?;
    }
    Ok(())
}

/// Checks that all operands and results of an instruction are in coefficient form and on one ring.
/// Their moduli may be any.
fn change_base(scope: Scope<'_>, src: &[TypedLimb], dst: &[TypedLimb]) -> Result<(), Fault> {
    let Some(&first) = src.first() else {
        return Ok(());
    };
    for &v in src.iter().chain(dst) {
        scope.expect_ring(|| item(v), first.ty.ring, v.ty.ring)?;
        expect_form(|| item(v), Form::Coeff, v.ty.form)?;
    }
    Ok(())
}

fn distinct_moduli(scope: Scope<'_>, values: &[TypedLimb]) -> Result<(), Fault> {
    let mut seen = vec![false; scope.moduli.len()];
    for v in values {
        match seen.get_mut(usize::from(v.ty.modulus.0)) {
            Some(seen) if !*seen => *seen = true,
            _ => {
                return Err(Fault::Duplicate {
                    what: "modulus",
                    item: scope.modulus_text(v.ty.modulus),
                });
            }
        }
    }
    Ok(())
}

/// Checks that the source moduli of a base extension are below 2^61 and pairwise coprime.
fn base(scope: Scope<'_>, values: &[TypedLimb]) -> Result<(), Fault> {
    distinct_moduli(scope, values)?;
    let moduli = values.iter().map(|v| {
        let modulus = scope.moduli.get(usize::from(v.ty.modulus.0)).copied();
        Some((v.ty.modulus, modulus?))
    });
    let moduli: Vec<_> = moduli.flatten().collect();
    for &(id, q) in &moduli {
        if !below_61(q) {
            return Err(Fault::Illegal {
                what: "modulus of an operand",
                expected: format!("one below 2^{}", Modulus::MAX_BITS),
                found: scope.modulus_text(id),
            });
        }
    }
    for (i, &(id, q)) in moduli.iter().enumerate() {
        // Distinct primes are coprime.
        if q.prime().is_some() {
            continue;
        }
        let others = || (0..).zip(&moduli).filter(|(j, _)| *j != i).map(|(_, m)| *m);
        let product = others().try_fold(1u128, |product, (_, other)| {
            product.checked_mul(other.value())?.checked_rem(q.value())
        });
        if product.is_some_and(|product| gcd(q.value(), product) == 1) {
            continue;
        }
        let other = others().find(|(_, other)| gcd(q.value(), other.value()) > 1);
        return Err(Fault::NotCoprime {
            what: "the operands' moduli",
            a: scope.modulus_text(id),
            b: other.map_or_else(String::new, |(other, _)| scope.modulus_text(other)),
        });
    }
    Ok(())
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while let Some(rest) = a.checked_rem(b) {
        (a, b) = (b, rest);
    }
    a
}

/// Checks that a base extension has at most [`MAX_SOURCES`] operands.
fn few(values: &[TypedLimb]) -> Result<(), Fault> {
    if values.len() <= MAX_SOURCES {
        return Ok(());
    }
    Err(Fault::TooMany {
        what: "operands of an exact base extension",
        limit: MAX_SOURCES,
        found: values.len(),
    })
}

/// Checks that an exact base extension can be corrected by the residue `r`. The correction is by a
/// multiple of Q from 0 to `others`, the number of the other operands. The modulus of `r` must be
/// above `others`, so that it tells these multiples apart.
fn redundant(scope: Scope<'_>, r: TypedLimb, others: usize) -> Result<(), Fault> {
    let id = r.ty.modulus;
    match scope.moduli.get(usize::from(id.0)) {
        Some(m) if m.value() > others as u128 => Ok(()),
        _ => Err(Fault::Illegal {
            what: "redundant modulus",
            expected: format!("one above {others}, the number of the other operands"),
            found: scope.modulus_text(id),
        }),
    }
}
