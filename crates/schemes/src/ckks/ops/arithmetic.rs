//! Operations without key switching or rounding.

use ringmill_isa::mid::ProcBuilder;

use super::emit::{Emit, Limb};
use crate::ckks::error::CkksError;

/// Polynomials present in both addends are added; the others pass through.
pub(super) fn add(e: &mut Emit, size_a: u32, size_b: u32) -> Result<(), CkksError> {
    Emit::check_size("left addend", size_a)?;
    Emit::check_size("right addend", size_b)?;
    for poly in 0..size_a.min(size_b) {
        let (a, b) = (e.cipher(0, poly)?, e.cipher(1, poly)?);
        let sum = e.zip(&a, &b, ProcBuilder::add)?;
        e.result(0, poly, &sum)?;
    }
    Ok(())
}

/// As [`add`]; a third polynomial of the subtrahend alone is negated.
pub(super) fn sub(e: &mut Emit, size_a: u32, size_b: u32) -> Result<(), CkksError> {
    Emit::check_size("minuend", size_a)?;
    Emit::check_size("subtrahend", size_b)?;
    for poly in 0..size_b {
        let difference = if poly < size_a {
            let (a, b) = (e.cipher(0, poly)?, e.cipher(1, poly)?);
            e.zip(&a, &b, ProcBuilder::sub)?
        } else {
            let b = e.cipher(1, poly)?;
            e.map(&b, ProcBuilder::neg)?
        };
        e.result(0, poly, &difference)?;
    }
    Ok(())
}

pub(super) fn neg(e: &mut Emit, size: u32) -> Result<(), CkksError> {
    Emit::check_size("operand", size)?;
    for poly in 0..size {
        let a = e.cipher(0, poly)?;
        let negated = e.map(&a, ProcBuilder::neg)?;
        e.result(0, poly, &negated)?;
    }
    Ok(())
}

pub(super) fn add_plain(e: &mut Emit, size: u32) -> Result<(), CkksError> {
    Emit::check_size("operand", size)?;
    let (a, m) = (e.cipher(0, 0)?, e.plain(1)?);
    let sum = e.zip(&a, &m, ProcBuilder::add)?;
    e.result(0, 0, &sum)
}

pub(super) fn sub_plain(e: &mut Emit, size: u32) -> Result<(), CkksError> {
    Emit::check_size("operand", size)?;
    let (a, m) = (e.cipher(0, 0)?, e.plain(1)?);
    let difference = e.zip(&a, &m, ProcBuilder::sub)?;
    e.result(0, 0, &difference)
}

pub(super) fn mul_plain(e: &mut Emit, size: u32) -> Result<(), CkksError> {
    Emit::check_size("operand", size)?;
    let polys = (0..size)
        .map(|poly| e.cipher(0, poly))
        .collect::<Result<Vec<_>, _>>()?;
    let m = e.plain(1)?;
    for (poly, a) in polys.iter().enumerate() {
        let product = e.zip(a, &m, ProcBuilder::mul)?;
        e.result(0, poly as u32, &product)?;
    }
    Ok(())
}

pub(super) fn add_scalar(e: &mut Emit, size: u32, residues: &[u64]) -> Result<(), CkksError> {
    Emit::check_size("operand", size)?;
    let a = e.cipher(0, 0)?;
    let sum = with_residues(e, &a, residues, ProcBuilder::addi)?;
    e.result(0, 0, &sum)
}

pub(super) fn mul_scalar(e: &mut Emit, size: u32, residues: &[u64]) -> Result<(), CkksError> {
    Emit::check_size("operand", size)?;
    for poly in 0..size {
        let a = e.cipher(0, poly)?;
        let product = with_residues(e, &a, residues, ProcBuilder::muli)?;
        e.result(0, poly, &product)?;
    }
    Ok(())
}

fn with_residues(
    e: &mut Emit,
    a: &[Limb],
    residues: &[u64],
    f: impl Fn(
        &mut ProcBuilder,
        ringmill_isa::mid::ValueId,
        u64,
    ) -> Result<ringmill_isa::mid::ValueId, ringmill_isa::VerifyError>,
) -> Result<Vec<Limb>, CkksError> {
    if residues.len() != a.len() {
        return Err(CkksError::Length {
            what: "scalar operand (residues)",
            expected: a.len(),
            got: residues.len(),
        });
    }
    let one = |(l, &w): (&Limb, &u64)| {
        Ok(Limb {
            value: f(e.ops(), l.value, w)?,
            modulus: l.modulus,
        })
    };
    a.iter().zip(residues).map(one).collect()
}

pub(super) fn mul(e: &mut Emit) -> Result<(), CkksError> {
    let [d0, d1, d2] = product(e)?;
    e.result(0, 0, &d0)?;
    e.result(0, 1, &d1)?;
    e.result(0, 2, &d2)
}

pub(super) fn square(e: &mut Emit) -> Result<(), CkksError> {
    let [d0, d1, d2] = squared(e)?;
    e.result(0, 0, &d0)?;
    e.result(0, 1, &d1)?;
    e.result(0, 2, &d2)
}

/// Ring paper, Algorithm 2; d_2 comes first because key switching waits for it.
pub(super) fn product(e: &mut Emit) -> Result<[Vec<Limb>; 3], CkksError> {
    let (a0, a1) = (e.cipher(0, 0)?, e.cipher(0, 1)?);
    let (b0, b1) = (e.cipher(1, 0)?, e.cipher(1, 1)?);
    let d2 = e.zip(&a1, &b1, ProcBuilder::mul)?;
    let d0 = e.zip(&a0, &b0, ProcBuilder::mul)?;
    let d1 = e.dot2(&a0, &b1, &a1, &b0)?;
    Ok([d0, d1, d2])
}

pub(super) fn squared(e: &mut Emit) -> Result<[Vec<Limb>; 3], CkksError> {
    let (a0, a1) = (e.cipher(0, 0)?, e.cipher(0, 1)?);
    let d2 = e.zip(&a1, &a1, ProcBuilder::mul)?;
    let d0 = e.zip(&a0, &a0, ProcBuilder::mul)?;
    let d1 = e.dot2(&a0, &a1, &a0, &a1)?;
    Ok([d0, d1, d2])
}
