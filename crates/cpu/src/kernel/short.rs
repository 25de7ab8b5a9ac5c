// SPDX-License-Identifier: Apache-2.0
//! Runs steps whose operands or results are in words of 32 bits.
//!
//! If a kernel has no variant for 32-bit words, its operands are converted to words of 64 bits in scratch buffers.
//! These buffers stay in the cache from step to step.

use std::sync::Arc;

use ringmill_math::kernels::{self, Store};
use ringmill_math::{Modulus, Residues, ResiduesMut, Shoup};

use super::{Fault, Task, compute, result};
use crate::plan::{Kernel, Step};
use ringmill_device::pool::Buf;
use ringmill_device::value::Value;

/// Takes a buffer of exactly `words` words of 64 bits from `room`, the list of a step's scratch buffers.
fn room(room: &mut Vec<Arc<Buf>>, words: usize) -> Result<Arc<Buf>, Fault> {
    let place = room.iter().position(|buf| buf.residues().len() == words);
    Ok(room.swap_remove(place.ok_or(Fault::Shape)?))
}

/// Returns the 64-bit words of a buffer to which there is no other reference.
fn wide(buf: &mut Arc<Buf>) -> Result<&mut [u64], Fault> {
    match Arc::get_mut(buf).map(Buf::residues_mut) {
        Some(ResiduesMut::Wide(words)) => Ok(words),
        Some(ResiduesMut::Short(_)) | None => Err(Fault::Shape),
    }
}

/// Runs a step as [`super::execute`] does. The caller has encoded the constants among the step's
/// operands.
pub(super) fn execute(step: &Step, task: &mut Task<'_>) -> Result<(), Fault> {
    let (kernel, store) = (&step.kernel, task.store());
    let lasting = task.dst.iter().any(Value::is_short);
    // The original operands and results, to be put back.
    let (mut read, mut written) = (Vec::new(), Vec::new());
    for (i, value) in task.src.iter_mut().enumerate() {
        let Residues::Short(words) = value.held() else {
            continue;
        };
        if kernel.reads_short(i, lasting) {
            continue;
        }
        let mut buf = room(&mut task.room, words.len())?;
        kernels::widen(wide(&mut buf)?, words)?;
        read.push((i, std::mem::replace(value, Value::Pooled(buf))));
    }
    for (i, value) in task.dst.iter_mut().enumerate() {
        if !value.is_short() || kernel.writes_short() {
            continue;
        }
        // Sums that continue other sums add to these in place.
        let wide = match task.src.get_mut(i).filter(|_| i < kernel.updates()) {
            Some(sum) => std::mem::replace(sum, Value::Bound(&[])),
            None => Value::Pooled(room(&mut task.room, value.held().len())?),
        };
        written.push((i, std::mem::replace(value, wide)));
    }
    match kernel {
        &Kernel::SubScale(q, w) if lasting => {
            let b = task.src.get(1).map(Value::wide).ok_or(Fault::Shape)?;
            let out = result(task.dst.first_mut())?;
            let operands = [task.src.first(), task.src.get(2)];
            scaled(q, out, operands, b, w, store)?;
        }
        Kernel::Difference {
            plan,
            from,
            w,
            scale,
        } if lasting => {
            let mut buf = room(&mut task.room, plan.ring().len())?;
            let transformed = wide(&mut buf)?;
            let a = task.src.first().map(Value::wide).ok_or(Fault::Shape)?;
            plan.forward_from(transformed, a, *from, *w)?;
            let out = result(task.dst.first_mut())?;
            let operands = [task.src.get(1), task.src.get(2)];
            scaled(plan.modulus(), out, operands, transformed, *scale, store)?;
            task.room.push(buf);
        }
        _ => compute(step, task)?,
    }
    for (i, short) in written {
        let value = task.dst.get_mut(i).ok_or(Fault::Shape)?;
        let wide = std::mem::replace(value, short);
        match result(Some(value))? {
            ResiduesMut::Short(out) => kernels::narrow(out, wide.wide(), store)?,
            ResiduesMut::Wide(_) => return Err(Fault::Shape),
        }
        match (wide, task.src.get_mut(i)) {
            (wide, Some(sum)) if i < kernel.updates() => *sum = wide,
            (Value::Pooled(buf), _) => task.room.push(buf),
            _ => return Err(Fault::Shape),
        }
    }
    for (i, operand) in read {
        let value = task.src.get_mut(i).ok_or(Fault::Shape)?;
        if let Value::Pooled(buf) = std::mem::replace(value, operand) {
            task.room.push(buf);
        }
    }
    Ok(())
}

/// Computes (a - b) w in words of 32 bits, plus c if there is a c, for a constant w. The limbs a
/// and c come in one array, b in words of 64 bits.
fn scaled(
    q: Modulus,
    out: ResiduesMut<'_>,
    [a, c]: [Option<&Value<'_>>; 2],
    b: &[u64],
    w: Shoup,
    store: Store,
) -> Result<(), Fault> {
    let (ResiduesMut::Short(out), Some(a)) = (out, a) else {
        return Err(Fault::Shape);
    };
    let c = c.map(Value::held);
    Ok(kernels::sub_scale_short(q, out, a.held(), b, w, c, store)?)
}
