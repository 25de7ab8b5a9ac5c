// SPDX-License-Identifier: Apache-2.0
//! Compares one operation of the polynomial multiplier's RTL with its models: every residue, the number of cycles,
//! and in which cycles the array of butterflies begins an operation.

use ringmill_machines::polymul::{ArrayOp, cycles, golden, issues, load_cycles, unload_cycles};
use serde::Serialize;

use super::error::Difference;
use super::{DriveError, Mismatch, Multiplier, Place};

/// The cycles that one operation, the load of its first operand and its unload took in the RTL. They equal the model's
/// cycles, except for the cycles in which a stream stalled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Lockstep {
    /// The cycles of the operation on the array of butterflies, without the loads of operands and the unload of the
    /// result.
    pub cycles: u64,
    /// The cycles that the load of the first operand takes; `unload` is the cycles that the unload of the result takes.
    /// If streams stall, both can be more than in the model.
    pub load: u64,
    pub unload: u64,
}

/// Compares one operation with the models. Loads the operands `a` and `b` into set `set`, runs `op` with the loaded
/// tables, and unloads the result. Every residue must equal the software's. The butterflies must begin operations in
/// the model's cycles. The operation must take the model's cycles. The cycles of the unload and of the load of `a` are
/// compared only without stalls; those of the load of `b` are not compared. An operation with one operand ignores `b`.
///
/// # Errors
/// [`DriveError::Mismatch`] with the first difference; those of [`Multiplier`].
pub fn lockstep(
    machine: &mut Multiplier,
    op: ArrayOp,
    a: &[u64],
    b: &[u64],
    set: usize,
) -> Result<Lockstep, DriveError> {
    let tables = machine.tables()?.clone();
    let (shape, degree) = (machine.shape(), tables.degree());
    let differs = |what| Mismatch {
        operation: format!("{op:?} P {} {tables:?}", shape.units()),
        what,
    };
    let same = |of, rtl, model| match rtl == model {
        true => Ok(()),
        false => Err(differs(Difference::Cycles { of, rtl, model })),
    };
    let stalls = machine.driver().stalls();
    let stream = |of, rtl, model| if stalls { Ok(()) } else { same(of, rtl, model) };
    let forms = op.forms();
    // A transform works on either polynomial of a set.
    let buf = if forms.b.is_none() { set ^ 1 } else { 0 };
    let place = |buf, eval| Place { set, buf, eval };

    let load = machine.load(place(buf, forms.a), a)?;
    stream("the load", load, load_cycles(shape, degree))?;
    if let Some(eval) = forms.b {
        machine.load(place(1, eval), b)?;
    }
    let taken = machine.run(op, set, buf)?;
    let (got, want) = (machine.driver().issues(), issues(shape, degree, op));
    if let Some(cycle) = (0..got.len().min(want.len())).find(|&i| got[i] != want[i]) {
        let rtl = got[cycle];
        return Err(differs(Difference::Issue { cycle, rtl }).into());
    }
    same("the array", taken, cycles(shape, degree, op))?;
    let (unload, got) = machine.unload(place(buf, forms.out))?;
    stream("the unload", unload, unload_cycles(shape, degree))?;
    compare(&golden(&tables, op, a, b)?, &got).map_err(differs)?;
    Ok(Lockstep {
        cycles: taken,
        load,
        unload,
    })
}

fn compare(want: &[u64], got: &[u64]) -> Result<(), Difference> {
    let most = want.len().max(got.len());
    match (0..most).find(|&i| got.get(i) != want.get(i)) {
        Some(position) => Err(Difference::Residue {
            position,
            rtl: got.get(position).copied(),
            reference: want.get(position).copied(),
        }),
        None => Ok(()),
    }
}
