// SPDX-License-Identifier: Apache-2.0
//! Decomposes coefficients into signed digits in words of 32 bits: [`Gadget::decompose`] modulo the prime of the
//! ciphertexts.

use crate::kernels::check_len;
use crate::torus::{Coefficients, Gadget};
use crate::{MathError, Modulus};

/// The constants of the loop that computes one signed digit of a gadget decomposition, as a residue
/// modulo q.
#[derive(Clone, Copy)]
pub(in crate::torus) struct Digits {
    q: u32,
    offset: u32,
    /// The lowest bit of the digit in a coefficient. `mask` is 2^b - 1 for a digit of b bits, or
    /// all ones for the first digit.
    place: u32,
    mask: u32,
    /// The number q - 2^(b-1), for digits of b bits. Added modulo q to b bits from 0 to 2^b - 1, it
    /// gives the residue of a signed digit.
    shift: u32,
}

/// Computes the digits of a polynomial of residues modulo q < 2^30. `out` receives a polynomial for each digit, the most
/// significant first.
pub(super) fn decompose(
    gadget: &Gadget,
    q: Modulus,
    out: &mut [u32],
    x: &[u32],
) -> Result<(), MathError> {
    check_len("digits", gadget.levels() * x.len(), out.len())?;
    if gadget.coefficients() != Coefficients::Prime(q) {
        return Err(MathError::OutOfRange {
            what: "ciphertext modulus of digits",
            expected: "the ring's",
            got: gadget.coefficients().modulus().to_string(),
        });
    }
    let log_base = gadget.log_base();
    for (j, out) in out.chunks_mut(x.len().max(1)).enumerate() {
        let digits = Digits {
            q: q.value() as u32,
            offset: gadget.offset() as u32,
            place: q.bits() - (j as u32 + 1) * log_base,
            mask: if j == 0 {
                u32::MAX
            } else {
                (1 << log_base) - 1
            },
            shift: (q.value() - (1 << (log_base - 1))) as u32,
        };
        one(digits, out, x);
    }
    Ok(())
}

crate::torus::levels! {
    /// Computes one signed digit of each coefficient of the polynomial x, as a residue modulo q.
    fn one(digits: Digits, out: &mut [u32], x: &[u32]) {
        let Digits { q, offset, place, mask, shift } = digits;
        for (out, &x) in out.iter_mut().zip(x) {
            let above = if x > q / 2 { q } else { 0 };
            let y = x.wrapping_add(offset).wrapping_sub(above);
            let digit = ((y >> place) & mask).wrapping_add(shift);
            *out = digit.min(digit.wrapping_sub(q));
        }
    }
}
