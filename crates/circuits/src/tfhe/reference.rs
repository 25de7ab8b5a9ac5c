// SPDX-License-Identifier: Apache-2.0
//! A reference implementation of the TFHE bootstrap, from the definition: schoolbook products modulo q, coefficient by
//! coefficient, without a transform. It is slow, and the fast path must equal it bit for bit.

use ringmill_math::torus::{Coefficients, rotate, rotate_sub};

use super::keys::{BootstrapKey, gadget_ciphertexts};
use super::lwe::LweCiphertext;
use super::params::Params;
use super::{TfheError, steps};

/// Computes acc += d p modulo X^N + 1 and q, for a polynomial d of signed digits.
pub fn schoolbook(q: Coefficients, acc: &mut [u64], d: &[i64], p: &[u64]) {
    let n = acc.len();
    for (i, &d) in d.iter().enumerate().filter(|(_, d)| **d != 0) {
        let d = q.from_i64(d);
        for (j, &x) in p.iter().enumerate() {
            let (at, product) = ((i + j) % n, q.mul(d, x));
            acc[at] = match i + j < n {
                true => q.add(acc[at], product),
                false => q.sub(acc[at], product),
            };
        }
    }
}

/// A bootstrapping key with its masks expanded, for the reference bootstrap.
pub struct ExpandedKey {
    /// The rows by gadget ciphertext, then by row. Each row is k mask polynomials and a body, one after another.
    rows: Vec<Vec<Vec<u64>>>,
}

impl ExpandedKey {
    pub fn new(params: &Params, key: &BootstrapKey) -> Result<Self, TfheError> {
        let words = params.shape().cols() * params.sizes().degree();
        let row = |at, r| {
            let mut row = vec![0; words];
            key.row(params, at, r, &mut row).map(|()| row)
        };
        let ciphertext = |at| -> Result<Vec<_>, TfheError> {
            (0..params.sizes().rows()).map(|r| row(at, r)).collect()
        };
        let rows = (0..gadget_ciphertexts(params)).map(ciphertext);
        Ok(Self {
            rows: rows.collect::<Result<_, _>>()?,
        })
    }

    /// Computes the external product of gadget ciphertext `at` and a GLWE ciphertext.
    fn external_product(&self, params: &Params, at: usize, x: &[u64]) -> Vec<u64> {
        let (q, n) = (params.coefficients(), params.sizes().degree());
        let (gadget, levels) = (params.bootstrap_gadget(), params.sizes().bootstrap.levels);
        let mut out = vec![0; x.len()];
        for (r, row) in self.rows[at].iter().enumerate() {
            let polynomial = &x[r / levels * n..][..n];
            let digits: Vec<i64> = (polynomial.iter())
                .map(|&x| gadget.digits(x).nth(r % levels).unwrap_or(0))
                .collect();
            for (out, p) in out.chunks_mut(n).zip(row.chunks(n)) {
                schoolbook(q, out, &digits, p);
            }
        }
        out
    }
}

/// Turns the accumulator (k mask polynomials and a body) by the exponents of an LWE ciphertext's mask, under
/// encryption. The caller has turned the table by the body's exponent before.
///
/// # Errors
/// [`TfheError::Math`] if the accumulator is not made of whole polynomials.
///
/// # Panics
/// If the accumulator has fewer than k + 1 polynomials, or `exponents` has more than n entries.
pub fn blind_rotate(
    params: &Params,
    key: &ExpandedKey,
    exponents: &[usize],
    acc: &mut [u64],
) -> Result<(), TfheError> {
    let (s, q) = (params.sizes(), params.coefficients());
    let mut turned = vec![0; acc.len()];
    for (step, exponents) in exponents.chunks(s.unrolling.m()).enumerate() {
        let before = acc.to_vec();
        for u in 1usize..1 << exponents.len() {
            let chosen = exponents.iter().enumerate();
            let a = chosen.map(|(t, &a)| (u >> t & 1) * a).sum();
            let at = step * s.unrolling.patterns() + u - 1;
            let update = if s.unrolling.m() == 1 {
                subtract_turned(params, &before, a, &mut turned)?;
                key.external_product(params, at, &turned)
            } else {
                let product = key.external_product(params, at, &before);
                subtract_turned(params, &product, a, &mut turned)?;
                turned.clone()
            };
            q.add_assign(acc, &update)?;
        }
    }
    Ok(())
}

/// Computes out = (X^a - 1) x, polynomial by polynomial, for a GLWE ciphertext x.
fn subtract_turned(params: &Params, x: &[u64], a: usize, out: &mut [u64]) -> Result<(), TfheError> {
    let n = params.sizes().degree();
    for (out, x) in out.chunks_mut(n).zip(x.chunks(n)) {
        rotate_sub(params.coefficients(), out, x, a)?;
    }
    Ok(())
}

/// Bootstraps a ciphertext under the small key: modulus switch, blind rotation of the polynomial `table`, and
/// extraction. Returns the words of the table's entry under the large key, without a key switch. For integers the
/// caller first adds half a message to `x` ([`super::LinearEvaluator::to_rotate`]).
///
/// # Errors
/// [`TfheError::Math`] for a table that is no polynomial of N coefficients.
pub fn bootstrap(
    params: &Params,
    key: &ExpandedKey,
    table: &[u64],
    x: &LweCiphertext,
) -> Result<Vec<u64>, TfheError> {
    let (n, cols) = (params.sizes().degree(), params.shape().cols());
    let mut exponents = vec![0; x.words().len()];
    steps::modulus_switch(params, x.words(), &mut exponents);
    let Some((&body, mask)) = exponents.split_last() else {
        return Ok(Vec::new());
    };
    let mut acc = vec![0; cols * n];
    let table_at = (cols - 1) * n;
    rotate(
        params.coefficients(),
        &mut acc[table_at..],
        table,
        2 * n - body,
    )?;
    blind_rotate(params, key, mask, &mut acc)?;
    let mut out = vec![0; params.sizes().large_dimension() + 1];
    steps::sample_extract(params, &acc, &mut out)?;
    Ok(out)
}
