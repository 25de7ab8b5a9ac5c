// SPDX-License-Identifier: Apache-2.0
//! Arithmetic on polynomials modulo p^e by schoolbook methods. Coefficients begin with the constant and are
//! residues.

use ringmill_math::Modulus;

/// Returns a b modulo a monic polynomial.
pub fn mul_mod(q: Modulus, a: &[u64], b: &[u64], monic: &[u64]) -> Vec<u64> {
    let mut product = vec![0; a.len() + b.len()];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            product[i + j] = q.add(product[i + j], q.mul(x, y));
        }
    }
    remainder(q, product, monic)
}

/// Returns a modulo a monic polynomial of degree d, as d coefficients.
pub fn remainder(q: Modulus, mut a: Vec<u64>, monic: &[u64]) -> Vec<u64> {
    let d = monic.len() - 1;
    assert_eq!(monic[d], 1);
    while a.len() > d {
        let lead = a.pop().unwrap();
        let at = a.len() - d;
        for (i, &m) in monic[..d].iter().enumerate() {
            a[at + i] = q.sub(a[at + i], q.mul(lead, m));
        }
    }
    a.resize(d, 0);
    a
}

/// Returns a^e modulo a monic polynomial.
pub fn pow_mod(q: Modulus, a: &[u64], mut e: u64, monic: &[u64]) -> Vec<u64> {
    let mut result = remainder(q, vec![1], monic);
    let mut base = remainder(q, a.to_vec(), monic);
    while e > 0 {
        if e & 1 == 1 {
            result = mul_mod(q, &result, &base, monic);
        }
        base = mul_mod(q, &base, &base, monic);
        e >>= 1;
    }
    result
}

/// Returns whether two polynomials modulo a prime have no common factor.
pub fn coprime(p: Modulus, mut a: Vec<u64>, mut b: Vec<u64>) -> bool {
    let trim = |a: &mut Vec<u64>| {
        while a.last() == Some(&0) {
            a.pop();
        }
    };
    trim(&mut a);
    trim(&mut b);
    while !b.is_empty() {
        let inverse = p.inv(*b.last().unwrap()).unwrap();
        let monic: Vec<u64> = b.iter().map(|&c| p.mul(c, inverse)).collect();
        let mut r = remainder(p, a, &monic);
        trim(&mut r);
        (a, b) = (monic, r);
    }
    a.len() == 1
}

/// Returns x^n + 1.
pub fn cyclotomic(n: usize) -> Vec<u64> {
    let mut f = vec![0; n + 1];
    (f[0], f[n]) = (1, 1);
    f
}

/// Returns a(x^g) modulo x^n + 1, computed term by term, where n is the number of coefficients.
pub fn automorphism(q: Modulus, a: &[u64], g: u64) -> Vec<u64> {
    let n = a.len();
    let mut out = vec![0; n];
    for (i, &c) in a.iter().enumerate() {
        let power = (i as u64 * g % (2 * n as u64)) as usize;
        out[power % n] = if power < n { c } else { q.neg(c) };
    }
    out
}
