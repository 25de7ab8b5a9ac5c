// SPDX-License-Identifier: Apache-2.0
//! Loops over limbs in words of 32 bits, for moduli below 2^32. They move half as many bytes through memory as loops
//! over 64-bit words.
//!
//! Each function computes the same bits as the loop over words of 64 bits, and a vector holds twice
//! as many residues. With AVX2 or AVX-512 IFMA there are loops of their own
//! ([`held_loops`](super::held_loops)). Scalar code computes the coefficients that these loops
//! leave.

use super::check_len;
use super::fused::Store;
#[cfg(target_arch = "x86_64")]
use super::{Backend, held_avx2, held_ifma};
use crate::{MathError, Modulus, Residues, Shoup, is_short};

/// Refuses a modulus whose residues need more than 32 bits.
fn check_short(q: Modulus) -> Result<(), MathError> {
    match is_short(q.value().into()) {
        true => Ok(()),
        false => Err(MathError::OutOfRange {
            what: "a modulus of residues in words of 32 bits",
            expected: "below 2^32",
            got: q.value().to_string(),
        }),
    }
}

/// Runs the SIMD loop with the given name, for the backend of this thread's kernels. Returns the
/// number of coefficients that the loop computed, which is 0 on the scalar backend.
macro_rules! vectorised {
    ($name:ident($($arg:expr),* $(,)?)) => {{
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a backend is only in force where the processor has its features; all slices have one length, and a loop that
        // writes past the cache looks at the address.
        let done = match Backend::current() {
            Backend::Scalar => 0,
            Backend::Avx2 | Backend::Avx512 => unsafe { held_avx2::$name($($arg),*) },
            Backend::Avx512Ifma => unsafe { held_ifma::$name($($arg),*) },
        };
        #[cfg(not(target_arch = "x86_64"))]
        let done = 0;
        done
    }};
}

/// Copies residues in words of 32 bits to words of 64 bits.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn widen(out: &mut [u64], a: &[u32]) -> Result<(), MathError> {
    check_len("a", out.len(), a.len())?;
    let done = vectorised!(widen(out, a));
    for (out, &x) in out.iter_mut().zip(a).skip(done) {
        *out = x.into();
    }
    Ok(())
}

/// Copies residues below 2^32 to words of 32 bits. `store` says whether they are written past the cache.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn narrow(out: &mut [u32], a: &[u64], store: Store) -> Result<(), MathError> {
    check_len("a", out.len(), a.len())?;
    let done = vectorised!(narrow(out, a, store));
    for (out, &x) in out.iter_mut().zip(a).skip(done) {
        *out = x as u32;
    }
    Ok(())
}

/// Defines an elementwise function of two limbs modulo q < 2^32, both in words of 32 bits.
macro_rules! binary {
    ($name:ident, $loop:ident, $method:ident, $doc:literal) => {
        #[doc = $doc]
        ///
        /// # Errors
        /// [`MathError::OutOfRange`] for a modulus of 2^32 or more, [`MathError::Length`] if a limb has another length
        /// than `out`.
        pub fn $name(
            q: Modulus,
            out: &mut [u32],
            a: &[u32],
            b: &[u32],
            store: Store,
        ) -> Result<(), MathError> {
            check_short(q)?;
            check_len("a", out.len(), a.len())?;
            check_len("b", out.len(), b.len())?;
            let done = vectorised!($loop(q, out, a, b, store));
            for ((out, &x), &y) in out.iter_mut().zip(a).zip(b).skip(done) {
                *out = q.$method(x.into(), y.into()) as u32;
            }
            Ok(())
        }
    };
}

binary!(
    add_short,
    add,
    add,
    "out = a + b mod q, written as `store` says."
);
binary!(
    sub_short,
    sub,
    sub,
    "out = a - b mod q, written as `store` says."
);
binary!(
    mul_short,
    mul,
    mul,
    "out = a b mod q, written as `store` says."
);

/// Computes out = (a - b) * w mod q, or out = (a - b) * w + c with an addend c. It is the last step of a division by a
/// modulus. The limb b, the result of a transform, is still in words of 64 bits. `store` says whether the result is
/// written past the cache.
///
/// # Errors
/// [`MathError::OutOfRange`] for a modulus of 2^32 or more, [`MathError::Length`] if a limb has another length than
/// `out`.
pub fn sub_scale_short(
    q: Modulus,
    out: &mut [u32],
    a: Residues<'_>,
    b: &[u64],
    w: Shoup,
    addend: Option<Residues<'_>>,
    store: Store,
) -> Result<(), MathError> {
    check_short(q)?;
    check_len("a", out.len(), a.len())?;
    check_len("b", out.len(), b.len())?;
    addend.map_or(Ok(()), |c| check_len("addend", out.len(), c.len()))?;
    let done = vectorised!(sub_scale(q, out, a, b, w, addend, store));
    for (i, (out, &y)) in out.iter_mut().zip(b).enumerate().skip(done) {
        let x = q.mul_shoup(q.sub(a.at(i).unwrap_or(0), y), w);
        *out = addend.map_or(x, |c| q.add(x, c.at(i).unwrap_or(0))) as u32;
    }
    Ok(())
}
