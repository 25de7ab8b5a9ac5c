// SPDX-License-Identifier: Apache-2.0
//! Splits a limb of x^2n + 1 into its halves modulo x^n - zeta (p) and x^n + zeta (m), in coefficient form, and joins
//! such halves. The same functions split and join a half itself.

use super::{add, add_assign, check_len, mul_scalar, mul_scalar_assign, sub};
use crate::{MathError, Modulus, NttPlan, Ring};

/// Splits a limb a = lo + hi x^n into its halves p = lo + zeta * hi, modulo x^n - zeta, and m = lo - zeta * hi,
/// modulo x^n + zeta (Medha paper, equation 2 and Algorithm 6). The product of x^n - zeta and x^n + zeta is the
/// polynomial of the ring. `ring` is the ring of `a`, full or a part; p and m have n coefficients each.
///
/// # Errors
/// [`MathError::WrongRing`] for a ring of fewer than 4 coefficients, [`MathError::Length`] for a limb of another
/// length. Also the errors of [`Ring::check`] and [`NttPlan::new`].
pub fn split(
    q: Modulus,
    ring: Ring,
    p: &mut [u64],
    m: &mut [u64],
    a: &[u64],
) -> Result<(), MathError> {
    let (zeta, half) = check(q, ring, p.len(), m.len(), a.len())?;
    let (low, high) = a.split_at(half);
    mul_scalar(q, p, high, zeta)?;
    sub(q, m, low, p)?;
    add_assign(q, p, low)
}

/// Joins the halves of a limb, p modulo x^n - zeta and m modulo x^n + zeta, to lo + hi x^n with lo = (p + m) / 2 and
/// hi = (p - m) / (2 zeta) (Medha paper, equation 3). The product of x^n - zeta and x^n + zeta is the polynomial of
/// the whole limb's ring. It is the inverse of [`split`]. `ring` is the ring of the whole limb.
///
/// # Errors
/// The errors of [`split`].
pub fn join(
    q: Modulus,
    ring: Ring,
    out: &mut [u64],
    p: &[u64],
    m: &[u64],
) -> Result<(), MathError> {
    let (zeta, half) = check(q, ring, p.len(), m.len(), out.len())?;
    let two_inv = q.inv(2)?;
    let high_factor = q.mul(two_inv, q.inv(zeta)?);
    let (low, high) = out.split_at_mut(half);
    add(q, low, p, m)?;
    mul_scalar_assign(q, low, two_inv);
    sub(q, high, p, m)?;
    mul_scalar_assign(q, high, high_factor);
    Ok(())
}

/// Checks the lengths of a limb and its halves. Returns the residue zeta for which the halves are
/// taken modulo x^n - zeta and x^n + zeta, and their length n.
fn check(
    q: Modulus,
    ring: Ring,
    p: usize,
    m: usize,
    whole: usize,
) -> Result<(u64, usize), MathError> {
    if ring.log_n < 2 {
        let expected = "a ring of at least 4 coefficients";
        return Err(MathError::WrongRing {
            expected,
            got: ring.kind,
            log_n: ring.log_n,
        });
    }
    ring.check()?;
    let half = ring.len() / 2;
    check_len("p", half, p)?;
    check_len("m", half, m)?;
    check_len("full limb", ring.len(), whole)?;
    Ok((NttPlan::shared(q, ring)?.zeta(), half))
}
