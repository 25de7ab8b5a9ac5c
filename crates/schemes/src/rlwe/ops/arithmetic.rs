// SPDX-License-Identifier: Apache-2.0
//! Emits the operations on ciphertexts that need no key switching and no rounding: sums and products.

use ringmill_isa::mid::{ProcBuilder, ValueId};
use ringmill_isa::{Poly, VerifyError};

use super::Variant;
use super::emit::{Emit, Limb};
use crate::rlwe::error::RlweError;

/// Emits a sum of two ciphertexts. It adds the polynomials that both addends have. Those that only one addend has
/// are no part of the procedure; the caller copies them.
pub(crate) fn add<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    for poly in Poly::of(v.size(0).min(v.size(1))) {
        let (a, b) = (e.cipher(0, poly)?, e.cipher(1, poly)?);
        let sum = e.zip(&a, &b, ProcBuilder::add)?;
        e.result(0, poly, &sum)?;
    }
    Ok(())
}

/// Emits a difference of two ciphertexts. It subtracts the polynomials that both operands have, and negates a third
/// one that only the subtrahend has. A third one that only the minuend has is no part of the procedure; the caller
/// copies it.
pub(crate) fn sub<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    for poly in Poly::of(v.size(1)) {
        let difference = if poly.within(v.size(0)) {
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

pub(crate) fn neg<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    for poly in Poly::of(v.size(0)) {
        let a = e.cipher(0, poly)?;
        let negated = e.map(&a, ProcBuilder::neg)?;
        e.result(0, poly, &negated)?;
    }
    Ok(())
}

pub(crate) fn add_plain<P>(e: &mut Emit<P>, _: &Variant) -> Result<(), RlweError> {
    let (a, m) = (e.cipher(0, Poly(0))?, e.plain(1)?);
    let sum = e.zip(&a, &m, ProcBuilder::add)?;
    e.result(0, Poly(0), &sum)
}

pub(crate) fn sub_plain<P>(e: &mut Emit<P>, _: &Variant) -> Result<(), RlweError> {
    let (a, m) = (e.cipher(0, Poly(0))?, e.plain(1)?);
    let difference = e.zip(&a, &m, ProcBuilder::sub)?;
    e.result(0, Poly(0), &difference)
}

pub(crate) fn mul_plain<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let polys = Poly::of(v.size(0))
        .map(|poly| e.cipher(0, poly))
        .collect::<Result<Vec<_>, _>>()?;
    let m = e.plain(1)?;
    for (poly, a) in Poly::of(v.size(0)).zip(&polys) {
        let product = e.zip(a, &m, ProcBuilder::mul)?;
        e.result(0, poly, &product)?;
    }
    Ok(())
}

pub(crate) fn add_scalar<P>(e: &mut Emit<P>, _: &Variant) -> Result<(), RlweError> {
    let a = e.cipher(0, Poly(0))?;
    let residues = e.residues()?;
    let sum = with_residues(e, &a, &residues, ProcBuilder::addi_of)?;
    e.result(0, Poly(0), &sum)
}

pub(crate) fn mul_scalar<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let residues = e.residues()?;
    for poly in Poly::of(v.size(0)) {
        let a = e.cipher(0, poly)?;
        let product = with_residues(e, &a, &residues, ProcBuilder::muli_of)?;
        e.result(0, poly, &product)?;
    }
    Ok(())
}

/// Emits one instruction for each limb of the polynomial `a`, by the function `f`. The list `residues` has an index for
/// each limb: that of the immediate parameter that the limb's instruction takes.
fn with_residues<P>(
    e: &mut Emit<P>,
    a: &[Limb],
    residues: &[u16],
    f: impl Fn(&mut ProcBuilder, ValueId, u16) -> Result<ValueId, VerifyError>,
) -> Result<Vec<Limb>, RlweError> {
    let one = |(l, &number): (&Limb, &u16)| {
        Ok(Limb {
            value: f(e.ops(), l.value, number)?,
            modulus: l.modulus,
        })
    };
    a.iter().zip(residues).map(one).collect()
}

pub(crate) fn mul<P>(e: &mut Emit<P>, _: &Variant) -> Result<(), RlweError> {
    let [d0, d1, d2] = product(e)?;
    e.result(0, Poly(0), &d0)?;
    e.result(0, Poly(1), &d1)?;
    e.result(0, Poly(2), &d2)
}

pub(crate) fn square<P>(e: &mut Emit<P>, _: &Variant) -> Result<(), RlweError> {
    let [d0, d1, d2] = squared(e)?;
    e.result(0, Poly(0), &d0)?;
    e.result(0, Poly(1), &d1)?;
    e.result(0, Poly(2), &d2)
}

/// Emits the product of the two ciphertext operands as three polynomials (Medha paper, Algorithm 2).
pub(crate) fn product<P>(e: &mut Emit<P>) -> Result<[Vec<Limb>; 3], RlweError> {
    let a = [e.cipher(0, Poly(0))?, e.cipher(0, Poly(1))?];
    let b = [e.cipher(1, Poly(0))?, e.cipher(1, Poly(1))?];
    tensor(e, &a, &b)
}

pub(crate) fn squared<P>(e: &mut Emit<P>) -> Result<[Vec<Limb>; 3], RlweError> {
    let a = [e.cipher(0, Poly(0))?, e.cipher(0, Poly(1))?];
    tensor_square(e, &a)
}

/// Emits (a_0 + a_1 s) (b_0 + b_1 s) as three polynomials d_0, d_1, d_2, the factors of 1, s and s^2 for the secret
/// s. It emits d_2 first because a relinearisation waits for it.
pub(crate) fn tensor<P>(
    e: &mut Emit<P>,
    [a0, a1]: &[Vec<Limb>; 2],
    [b0, b1]: &[Vec<Limb>; 2],
) -> Result<[Vec<Limb>; 3], RlweError> {
    let d2 = e.zip(a1, b1, ProcBuilder::mul)?;
    let d0 = e.zip(a0, b0, ProcBuilder::mul)?;
    let d1 = e.dot2(a0, b1, a1, b0)?;
    Ok([d0, d1, d2])
}

/// Emits the square (a_0 + a_1 s)^2 of a ciphertext as three polynomials, the factors of 1, s and s^2 for the
/// secret s.
pub(crate) fn tensor_square<P>(
    e: &mut Emit<P>,
    [a0, a1]: &[Vec<Limb>; 2],
) -> Result<[Vec<Limb>; 3], RlweError> {
    let d2 = e.zip(a1, a1, ProcBuilder::mul)?;
    let d0 = e.zip(a0, a0, ProcBuilder::mul)?;
    let d1 = e.dot2(a0, a1, a0, a1)?;
    Ok([d0, d1, d2])
}
