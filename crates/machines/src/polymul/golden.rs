// SPDX-License-Identifier: Apache-2.0
//! Computes the residues that a command to the multiplier's butterflies (an array command) must return, with the
//! transform of the math crate.

use super::{ArrayOp, PolymulError, Tables};

/// Returns the result of the operation `op` on the limbs `a` and `b`; an operation with one operand ignores `b`. Every
/// device must return these residues.
///
/// # Errors
/// The errors of [`Tables::check`] for an operand of wrong length or with unreduced residues.
pub fn golden(
    tables: &Tables,
    op: ArrayOp,
    a: &[u64],
    b: &[u64],
) -> Result<Vec<u64>, PolymulError> {
    tables.check(a)?;
    if op.forms().b.is_some() {
        tables.check(b)?;
    }
    let (plan, q) = (tables.plan(), tables.modulus());
    // The lengths are those of the plan, which has no other condition.
    let length = |got| PolymulError::Length {
        expected: tables.degree().n(),
        got,
    };
    let forward = |limb: &[u64]| {
        let mut limb = limb.to_vec();
        let done = plan.forward(&mut limb);
        done.map_err(|_| length(limb.len())).map(|()| limb)
    };
    let inverse = |mut limb: Vec<u64>| {
        let done = plan.inverse(&mut limb);
        done.map_err(|_| length(limb.len())).map(|()| limb)
    };
    let times = |a: &[u64], b: &[u64]| -> Vec<u64> {
        a.iter().zip(b).map(|(&x, &y)| q.mul(x, y)).collect()
    };
    match op {
        ArrayOp::Ntt => forward(a),
        ArrayOp::Intt => inverse(a.to_vec()),
        ArrayOp::Mul => Ok(times(a, b)),
        ArrayOp::Hpm => inverse(times(&forward(a)?, b)),
        ArrayOp::Fpm => inverse(times(&forward(a)?, &forward(b)?)),
        ArrayOp::Add => Ok(a.iter().zip(b).map(|(&x, &y)| q.add(x, y)).collect()),
        ArrayOp::Sub => Ok(a.iter().zip(b).map(|(&x, &y)| q.sub(x, y)).collect()),
    }
}
