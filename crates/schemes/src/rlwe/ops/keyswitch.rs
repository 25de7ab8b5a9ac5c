// SPDX-License-Identifier: Apache-2.0
//! Emits hybrid key switching (Medha paper, Algorithm 5, for any number of digits), and the operations that use it.

use std::ops::Range;

use ringmill_isa::mid::{ProcBuilder, ValueId};
use ringmill_isa::{Level, Poly};

use super::Variant;
use super::arithmetic::{product, squared};
use super::carry::{Carried, centred};
use super::emit::{Emit, KeyOperand, Limb};
use super::scaling::{add_all, divide};
use crate::rlwe::error::RlweError;
use crate::rlwe::params::Params;

/// A polynomial cut into key-switching digits. Each digit is extended from its own primes to all other primes of
/// the level and to the special primes. The extension may give a digit plus a multiple of the product of its
/// primes, which only makes the error of key switching larger.
pub(super) struct Digits {
    digits: Vec<Digit>,
}

struct Digit {
    /// The limbs of the digit modulo its own primes, which are limbs of the polynomial that was cut, in evaluation
    /// form.
    own: Vec<Limb>,
    carried: Carried,
}

impl Digits {
    /// Cuts the polynomial `target` into key-switching digits, to be extended to the level's primes and the special
    /// primes `special`. `known` is the polynomial in coefficient form, if the procedure has computed that already.
    pub fn cut<P>(
        e: &mut Emit<P>,
        target: &[Limb],
        known: Option<&[Limb]>,
        special: &Range<usize>,
    ) -> Result<Self, RlweError> {
        let mut digits = Vec::new();
        for j in 0..e.params.digits_at(e.level) {
            let range = e.params.digit(j, e.level);
            let own: Vec<Limb> = target
                .iter()
                .filter(|l| range.contains(&l.modulus))
                .copied()
                .collect();
            let coefficients = match known {
                Some(known) => known
                    .iter()
                    .filter(|l| range.contains(&l.modulus))
                    .map(|l| l.value)
                    .collect(),
                None => own
                    .iter()
                    .map(|l| e.ops().intt(l.value))
                    .collect::<Result<Vec<_>, _>>()?,
            };
            let carried = Carried::new(coefficients);
            digits.push(Digit { own, carried });
        }
        for digit in &mut digits {
            let others = e.level_moduli().chain(special.clone());
            let others = others.filter(|&i| digit.own.iter().all(|l| l.modulus != i));
            digit.carried.extend(e, others)?;
        }
        Ok(Self { digits })
    }

    /// Returns the limb of each digit modulo the modulus of index `modulus`, in evaluation form.
    pub fn modulo<P>(&self, e: &mut Emit<P>, modulus: usize) -> Result<Vec<ValueId>, RlweError> {
        self.digits.iter().map(|d| d.modulo(e, modulus)).collect()
    }
}

impl Digit {
    fn modulo<P>(&self, e: &mut Emit<P>, modulus: usize) -> Result<ValueId, RlweError> {
        if let Some(own) = self.own.iter().find(|l| l.modulus == modulus) {
            return Ok(own.value);
        }
        let coefficients = self.carried.modulo(e, modulus)?;
        Ok(e.ops().ntt(coefficients)?)
    }
}

/// Emits two sums of products of digits and a key, modulo the modulus of index `modulus`. The first is with the
/// key's bodies b_j (part 0), the second with its uniform halves a_j (part 1), for each digit j.
pub(super) fn inner_product<P>(
    e: &mut Emit<P>,
    digits: &[ValueId],
    key: KeyOperand,
    modulus: usize,
) -> Result<[Limb; 2], RlweError> {
    let mut part = |part: u16| -> Result<Limb, RlweError> {
        let mut pairs = Vec::with_capacity(digits.len());
        for (j, &d) in digits.iter().enumerate() {
            pairs.push((d, e.key_limb(key, j, part, modulus)?));
        }
        let value = e.products(&pairs)?;
        Ok(Limb { value, modulus })
    };
    Ok([part(0)?, part(1)?])
}

/// Emits two polynomials modulo the level's primes that encrypt `target` times the secret from which the key
/// switches. `known` is `target` in coefficient form, if the procedure has computed it already.
fn switch<P>(
    e: &mut Emit<P>,
    target: &[Limb],
    known: Option<&[Limb]>,
    key: KeyOperand,
) -> Result<[Vec<Limb>; 2], RlweError> {
    switch_by(e, target, known, key, &all_special(e))
}

/// Emits the key switch of the polynomial `target`, as [`switch`] does, with a key for the special primes of
/// indices `special` only.
fn switch_by<P>(
    e: &mut Emit<P>,
    target: &[Limb],
    known: Option<&[Limb]>,
    key: KeyOperand,
    special: &Range<usize>,
) -> Result<[Vec<Limb>; 2], RlweError> {
    let sums = products_with_key(e, target, known, key, special)?;
    mod_down(e, sums, special.len())
}

/// Emits two sums of products of the digits of `target` and a key: with the key's bodies, and with its uniform
/// halves. Each sum is a polynomial modulo the special primes, whose limbs come first, and the level's primes.
pub(super) fn products_with_key<P>(
    e: &mut Emit<P>,
    target: &[Limb],
    known: Option<&[Limb]>,
    key: KeyOperand,
    special: &Range<usize>,
) -> Result<[Vec<Limb>; 2], RlweError> {
    let digits = Digits::cut(e, target, known, special)?;
    let mut sums = [Vec::new(), Vec::new()];
    for modulus in special_first(e, special) {
        let values = digits.modulo(e, modulus)?;
        let [b, a] = inner_product(e, &values, key, modulus)?;
        sums[0].push(b);
        sums[1].push(a);
    }
    Ok(sums)
}

pub(super) fn all_special<P>(e: &Emit<P>) -> Range<usize> {
    e.params.cipher_count()..e.params.moduli().len()
}

/// Returns the indices of the special primes, then those of the level's primes. Key switching computes its sums in
/// this order, so that the inverse transforms modulo the special primes can start early.
pub(super) fn special_first<P>(e: &Emit<P>, special: &Range<usize>) -> Vec<usize> {
    special.clone().chain(e.level_moduli()).collect()
}

/// Emits the division of two polynomials by the product of the special primes. The first `special` limbs of each
/// polynomial are those modulo the special primes.
fn mod_down<P>(
    e: &mut Emit<P>,
    sums: [Vec<Limb>; 2],
    special: usize,
) -> Result<[Vec<Limb>; 2], RlweError> {
    let mut down = |mut sum: Vec<Limb>| {
        let kept = sum.split_off(special.min(sum.len()));
        divide(e, &sum, &kept)
    };
    let [b, a] = sums;
    Ok([down(b)?, down(a)?])
}

/// Emits a relinearisation of the ciphertext d_0 + d_1 s + d_2 s^2 under the secret s. `known` is d_2 in
/// coefficient form, if the procedure has computed it already.
pub(crate) fn relinearise<P>(
    e: &mut Emit<P>,
    d: [Vec<Limb>; 3],
    known: Option<&[Limb]>,
    key: KeyOperand,
) -> Result<(), RlweError> {
    let [d0, d1, d2] = d;
    let [b, a] = switch(e, &d2, known, key)?;
    let c0 = add_all(e, &d0, &b)?;
    let c1 = add_all(e, &d1, &a)?;
    e.result(0, Poly(0), &c0)?;
    e.result(0, Poly(1), &c1)
}

pub(crate) fn relin<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let d = [
        e.cipher(0, Poly(0))?,
        e.cipher(0, Poly(1))?,
        e.cipher(0, Poly(2))?,
    ];
    let key = e.key(1, v.seeded)?;
    relinearise(e, d, None, key)
}

pub(crate) fn mul_relin<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let d = product(e)?;
    let key = e.key(2, v.seeded)?;
    relinearise(e, d, None, key)
}

pub(crate) fn square_relin<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let d = squared(e)?;
    let key = e.key(1, v.seeded)?;
    relinearise(e, d, None, key)
}

/// Emits the automorphism of a polynomial by the Galois element that each call sets as immediate parameter `g`.
fn turned<P>(e: &mut Emit<P>, poly: &[Limb], g: u16) -> Result<Vec<Limb>, RlweError> {
    e.map(poly, |b: &mut ProcBuilder, value| b.auto_of(value, g))
}

/// Emits a ciphertext of two polynomials that `key` switches from another secret, with the special primes
/// `special`. The function `c0` emits the polynomial that is added to the first one. It is called after the switch
/// of c_1, which takes longer.
fn switched<P>(
    e: &mut Emit<P>,
    c1: &[Limb],
    key: KeyOperand,
    special: &Range<usize>,
    c0: impl FnOnce(&mut Emit<P>) -> Result<Vec<Limb>, RlweError>,
) -> Result<(), RlweError> {
    let [b, a] = switch_by(e, c1, None, key, special)?;
    let c0 = c0(e)?;
    let c0 = add_all(e, &c0, &b)?;
    e.result(0, Poly(0), &c0)?;
    e.result(0, Poly(1), &a)
}

/// Emits an automorphism x -> x^g of a ciphertext under the secret s, without a key switch. The result is under
/// s(x^g).
pub(crate) fn morph<P>(e: &mut Emit<P>, _: &Variant) -> Result<(), RlweError> {
    let (c0, c1) = (e.cipher(0, Poly(0))?, e.cipher(0, Poly(1))?);
    let g = e.galois()?;
    for (poly, limbs) in [(Poly(0), c0), (Poly(1), c1)] {
        let limbs = turned(e, &limbs, g)?;
        e.result(0, poly, &limbs)?;
    }
    Ok(())
}

/// Emits the key switch of a ciphertext from the secret s(x^g) back to s.
pub(crate) fn key_switch<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let (c0, c1) = (e.cipher(0, Poly(0))?, e.cipher(0, Poly(1))?);
    let key = e.key(1, v.seeded)?;
    let special = all_special(e);
    switched(e, &c1, key, &special, |_| Ok(c0))
}

/// Emits an automorphism x -> x^g of a ciphertext and the key switch back to its secret s: [`morph`] and
/// [`key_switch`] together.
pub(crate) fn rotate<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let (c0, c1) = (e.cipher(0, Poly(0))?, e.cipher(0, Poly(1))?);
    let key = e.key(1, v.seeded)?;
    let g = e.galois()?;
    let c1 = turned(e, &c1, g)?;
    let special = all_special(e);
    switched(e, &c1, key, &special, |e| turned(e, &c0, g))
}

/// Emits the sum of a ciphertext and its automorphism x -> x^g, with the key switch of [`rotate`].
pub(crate) fn rotate_add<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let (c0, c1) = (e.cipher(0, Poly(0))?, e.cipher(0, Poly(1))?);
    let key = e.key(1, v.seeded)?;
    let g = e.galois()?;
    let special = all_special(e);
    let morphed = turned(e, &c1, g)?;
    let [b, a] = switch_by(e, &morphed, None, key, &special)?;
    let own = turned(e, &c0, g)?;
    let own = add_all(e, &own, &c0)?;
    let (c0, c1) = (add_all(e, &own, &b)?, add_all(e, &c1, &a)?);
    e.result(0, Poly(0), &c0)?;
    e.result(0, Poly(1), &c1)
}

pub(crate) fn hoisted_rotate<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let count = v.immediate.count();
    check_count(count)?;
    let (c0, c1) = (e.cipher(0, Poly(0))?, e.cipher(0, Poly(1))?);
    let special = all_special(e);
    let digits = Digits::cut(e, &c1, None, &special)?;
    let moduli = special_first(e, &special);
    let extended = moduli
        .iter()
        .map(|&i| digits.modulo(e, i))
        .collect::<Result<Vec<_>, _>>()?;
    for k in 0..count {
        let g = e.galois()?;
        let key = e.key(1 + k as u16, v.seeded)?;
        let mut sums = [Vec::new(), Vec::new()];
        for (&modulus, values) in moduli.iter().zip(&extended) {
            let turned = values
                .iter()
                .map(|&value| e.ops().auto_of(value, g))
                .collect::<Result<Vec<_>, _>>()?;
            let [b, a] = inner_product(e, &turned, key, modulus)?;
            sums[0].push(b);
            sums[1].push(a);
        }
        let [b, a] = mod_down(e, sums, special.len())?;
        let c0 = turned(e, &c0, g)?;
        let c0 = add_all(e, &c0, &b)?;
        e.result(k, Poly(0), &c0)?;
        e.result(k, Poly(1), &a)?;
    }
    Ok(())
}

/// Emits a switch to another secret, by a key with one digit and as many special primes as the level has primes. The
/// modulus of this key is small, because the other secret is sparse and a sparse secret is secure only under a small
/// modulus. The level's primes must all be in the parameters' first key-switching digit.
pub(crate) fn encapsulate<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let special = special_of_few(e.params, v.level)?;
    let (c0, c1) = (e.cipher(0, Poly(0))?, e.cipher(0, Poly(1))?);
    let key = e.key(1, v.seeded)?;
    switched(e, &c1, key, &special, |_| Ok(c0))
}

/// Emits the raising of a ciphertext modulo q_0, the only prime of its level, to the highest level. The
/// coefficients, as the integers nearest to 0, are reduced modulo every ciphertext prime. A key switch from the
/// ciphertext's secret to the main one follows.
pub(crate) fn raise<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let [c0, c1] = [e.cipher(0, Poly(0))?, e.cipher(0, Poly(1))?];
    let ([c0], [c1]) = (c0.as_slice(), c1.as_slice()) else {
        return Err(RlweError::Parameter {
            what: "level whose modulus is raised",
            expected: "0, a modulus of one prime".into(),
            got: v.level.to_string(),
        });
    };
    let (c0, c1) = (*c0, *c1);
    e.level = e.params.max_level();
    let key = e.key(1, v.seeded)?;
    let known = extended_from(e, c1)?;
    let c1 = transformed(e, c1, &known)?;
    let [b, a] = switch(e, &c1, Some(&known), key)?;
    let known = extended_from(e, c0)?;
    let c0 = transformed(e, c0, &known)?;
    let c0 = add_all(e, &c0, &b)?;
    e.result(0, Poly(0), &c0)?;
    e.result(0, Poly(1), &a)
}

/// Emits the coefficients of a polynomial that is given modulo one prime. As the integers nearest to 0, they are
/// reduced modulo every prime of the level.
fn extended_from<P>(e: &mut Emit<P>, of: Limb) -> Result<Vec<Limb>, RlweError> {
    let half = e.reducer(of.modulus)?.value() / 2;
    let own = e.ops().intt(of.value)?;
    let shifted = e.ops().addi(own, half)?;
    let mut all = Vec::new();
    for modulus in e.level_moduli() {
        let value = if modulus == of.modulus {
            own
        } else {
            centred(e, shifted, half, modulus)?
        };
        all.push(Limb { value, modulus });
    }
    Ok(all)
}

/// Emits the evaluation form of a polynomial whose limbs in coefficient form are `known`. The limb `of` is in
/// evaluation form already.
fn transformed<P>(e: &mut Emit<P>, of: Limb, known: &[Limb]) -> Result<Vec<Limb>, RlweError> {
    let mut all = Vec::with_capacity(known.len());
    for l in known {
        let value = match l.modulus == of.modulus {
            true => of.value,
            false => e.ops().ntt(l.value)?,
        };
        all.push(Limb { value, ..*l });
    }
    Ok(all)
}

/// Returns the indices, in the parameters' table of moduli, of the first special primes, as many of them as `level` has
/// primes.
///
/// # Errors
/// Fails for a level of more primes than there are special primes.
pub(crate) fn special_of_few(params: &Params, level: Level) -> Result<Range<usize>, RlweError> {
    let (first, count) = (params.cipher_count(), level.primes());
    if count > params.special_count() {
        return Err(RlweError::Parameter {
            what: "number of primes of the level of encapsulation",
            expected: format!("at most {}, the special primes", params.special_count()),
            got: count.to_string(),
        });
    }
    Ok(first..first + count)
}

pub(super) fn check_count(count: usize) -> Result<(), RlweError> {
    if count == 0 || count >= usize::from(u16::MAX) {
        let expected = "1 to 65534 Galois elements".to_owned();
        return Err(RlweError::Parameter {
            what: "hoisted rotation",
            expected,
            got: count.to_string(),
        });
    }
    Ok(())
}
