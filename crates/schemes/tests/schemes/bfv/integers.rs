// SPDX-License-Identifier: Apache-2.0
//! Definitions of BFV's operations in big integers, with which tests compare the operations.

use num_bigint::{BigInt, BigUint};
use num_traits::{Euclid, ToPrimitive, Zero};
use ringmill_device::ResidueVec;
use ringmill_math::{NttPlan, RnsBasis};
use ringmill_schemes::bfv::{Ciphertext, Level, Params};

/// A polynomial with integer coefficients.
pub type Polynomial = Vec<BigInt>;

/// Returns Q at a level: the product of the primes q_0 to q_level.
pub fn modulus(params: &Params, level: Level) -> BigInt {
    let primes = params.cipher_moduli().iter().take(level.primes());
    primes.map(|&q| BigInt::from(q)).product()
}

fn basis(params: &Params, level: Level) -> RnsBasis {
    let primes = params.reducers().iter().take(level.primes());
    RnsBasis::new(primes.copied().collect()).unwrap()
}

/// Returns the coefficients in [0, Q) of a ciphertext's polynomials.
pub fn coefficients(params: &Params, cipher: &Ciphertext) -> Vec<Polynomial> {
    let (n, basis) = (params.degree(), basis(params, cipher.level()));
    let whole = |poly: &ResidueVec| {
        let poly = poly.residues().wide();
        let limbs = poly.chunks_exact(n).zip(basis.moduli());
        let limbs: Vec<Vec<u64>> = limbs
            .map(|(limb, &q)| {
                let mut limb = limb.to_vec();
                let plan = NttPlan::shared(q, params.ring()).unwrap();
                plan.inverse(&mut limb).unwrap();
                limb
            })
            .collect();
        let coefficient = |c: usize| {
            let residues: Vec<u64> = limbs.iter().map(|limb| limb[c]).collect();
            BigInt::from(basis.compose(&residues).unwrap())
        };
        (0..n).map(coefficient).collect()
    };
    cipher.polys().iter().map(whole).collect()
}

/// Makes the ciphertext whose polynomials are `polys` modulo Q.
pub fn ciphertext(params: &Params, level: Level, polys: &[Polynomial]) -> Ciphertext {
    let basis = basis(params, level);
    let limbs = |poly: &Polynomial| {
        let limbs = basis.moduli().iter().flat_map(|&q| {
            let mut limb: Vec<u64> = poly.iter().map(|c| residue(c, q.value())).collect();
            let plan = NttPlan::shared(q, params.ring()).unwrap();
            plan.forward(&mut limb).unwrap();
            limb
        });
        limbs.collect()
    };
    let polys = polys.iter().map(limbs).collect();
    Ciphertext::new(params, level, (), polys).unwrap()
}

pub fn residue(x: &BigInt, q: u64) -> u64 {
    x.rem_euclid(&BigInt::from(q)).to_u64().unwrap()
}

/// Returns x mod q in [0, q).
pub fn reduced(x: &BigInt, q: &BigInt) -> BigInt {
    x.rem_euclid(q)
}

/// Returns x mod q in (-q/2, q/2].
pub fn centred(x: &BigInt, q: &BigInt) -> BigInt {
    let x = reduced(x, q);
    if &x * 2 > *q { x - q } else { x }
}

/// Returns floor(x / y + 1/2).
pub fn rounded(x: &BigInt, y: &BigInt) -> BigInt {
    let raised: BigInt = x * 2 + y;
    raised.div_euclid(&(y * 2))
}

/// Returns the product of two polynomials modulo x^N + 1.
pub fn product(a: &Polynomial, b: &Polynomial) -> Polynomial {
    let n = a.len();
    let mut sum = vec![BigInt::zero(); n];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            let term = x * y;
            if i + j < n {
                sum[i + j] += term;
            } else {
                sum[i + j - n] -= term;
            }
        }
    }
    sum
}

/// Returns (a_0 + a_1 s) (b_0 + b_1 s) as three polynomials, the factors of 1, s and s^2.
pub fn tensor(a: &[Polynomial], b: &[Polynomial]) -> Vec<Polynomial> {
    let add = |x: Polynomial, y: Polynomial| x.iter().zip(&y).map(|(x, y)| x + y).collect();
    let cross = add(product(&a[0], &b[1]), product(&a[1], &b[0]));
    vec![product(&a[0], &b[0]), cross, product(&a[1], &b[1])]
}

pub fn map(polys: &[Polynomial], f: impl Fn(&BigInt) -> BigInt) -> Vec<Polynomial> {
    let one = |poly: &Polynomial| poly.iter().map(&f).collect();
    polys.iter().map(one).collect()
}

/// Returns the fast base extension of x as an integer: the sum over i of [x (Q/q_i)^-1]_(q_i) (Q / q_i).
pub fn fast_extension(params: &Params, level: Level, x: &BigInt) -> BigInt {
    let basis = basis(params, level);
    let inverses = basis.inverse_punctured_products();
    let terms = basis.moduli().iter().zip(inverses);
    let terms = terms.zip(basis.punctured_products());
    let term = |((q, inverse), punctured): ((&ringmill_math::Modulus, u64), &BigUint)| {
        BigInt::from(punctured * q.mul(residue(x, q.value()), inverse))
    };
    terms.map(term).sum()
}
