// SPDX-License-Identifier: Apache-2.0
//! Emits sums of ciphertexts: of products of two, of multiples, of products with plaintexts, of automorphisms. In a sum
//! with key switches, all terms share one division by the special primes and the level's last primes together. Sums of
//! automorphisms of one ciphertext share its decomposition, too. A division by the level's last primes alone is also
//! here.

use ringmill_isa::Poly;
use ringmill_isa::mid::{ProcBuilder, ValueId};

use super::emit::{Emit, Limb};
use super::keyswitch::{Digits, all_special, check_count, products_with_key, special_first};
use super::scaling::divide;
use super::{Left, Variant};
use crate::rlwe::arith::product_modulo;
use crate::rlwe::error::RlweError;

/// The two polynomials of a ciphertext, or of an intermediate value.
pub(super) type Pair = [Vec<Limb>; 2];

/// Returns the limbs of the first `count` ciphertext operands, which have two polynomials each.
fn operands<P>(e: &mut Emit<P>, count: usize) -> Result<Vec<Pair>, RlweError> {
    let pair = |arg: usize| {
        let arg = arg as u16;
        Ok([e.cipher(arg, Poly(0))?, e.cipher(arg, Poly(1))?])
    };
    (0..count).map(pair).collect()
}

pub(super) fn missing() -> RlweError {
    RlweError::Verify("a sum names an operand that it does not have".into())
}

/// Emits the division of each polynomial of the ciphertext operand by the level's last primes. Their number is
/// [`Shape::dropped`](super::Shape::dropped).
pub(crate) fn drop_primes<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    for poly in Poly::of(v.size(0)) {
        let polynomial = e.cipher(0, poly)?;
        let scaled = dropped(e, polynomial, v.shape.dropped.into())?;
        e.result(0, poly, &scaled)?;
    }
    Ok(())
}

/// Emits the division of a polynomial modulo the level's primes by the last `count` of these primes.
fn dropped<P>(e: &mut Emit<P>, mut limbs: Vec<Limb>, count: usize) -> Result<Vec<Limb>, RlweError> {
    if count == 0 {
        return Ok(limbs);
    }
    let last = limbs.split_off(limbs.len().saturating_sub(count));
    divide(e, &last, &limbs)
}

/// Emits (x + P y) / (P D) as [`divide`] rounds it, where P is the product of the special primes and D that of the
/// level's last `count` primes. The polynomial x is modulo the special primes, whose limbs come first, and the level's
/// primes. The polynomial y is `addend`, modulo the level's primes, or zero.
pub(super) fn divided<P>(
    e: &mut Emit<P>,
    mut x: Vec<Limb>,
    addend: Option<&[Limb]>,
    count: usize,
) -> Result<Vec<Limb>, RlweError> {
    let mut kept = x.split_off(x.len().saturating_sub(e.level_moduli().len()));
    let special = x;
    let last = kept.split_off(kept.len().saturating_sub(count));
    let moduli = e.params.moduli();
    let product = |places: &[Limb]| -> Vec<u64> {
        let primes = places.iter().filter_map(|l| moduli.get(l.modulus));
        primes.copied().collect()
    };
    let (by, gone) = (product(&special), product(&last));
    let mut going = special;
    for l in &last {
        let Some(y) = addend.and_then(|y| y.iter().find(|y| y.modulus == l.modulus)) else {
            going.push(*l);
            continue;
        };
        let q = e.reducer(l.modulus)?;
        let p = product_modulo(q, &by);
        let y = e.ops().muli(y.value, p)?;
        let value = e.ops().add(l.value, y)?;
        going.push(Limb { value, ..*l });
    }
    let quotients = divide(e, &going, &kept)?;
    let Some(addend) = addend else {
        return Ok(quotients);
    };
    let mut sums = Vec::with_capacity(quotients.len());
    for (quotient, y) in quotients.iter().zip(addend) {
        let mut y = y.value;
        if !gone.is_empty() {
            let q = e.reducer(quotient.modulus)?;
            let d = product_modulo(q, &gone);
            y = e.ops().muli(y, q.inv(d)?)?;
        }
        let value = e.ops().add(quotient.value, y)?;
        sums.push(Limb { value, ..*quotient });
    }
    Ok(sums)
}

/// The combinations of a sum. A combination is the sum of the first ciphertext operands
/// ([`Shape::combined`](super::Shape::combined)), each times an integer, plus an integer.
struct Combinations {
    /// The indices of the procedure's immediate parameters. Each combination has a list for each ciphertext in it,
    /// and a last one for the constant. Such a list has one index for each modulus.
    numbers: Vec<Vec<Vec<u16>>>,
}

impl Combinations {
    fn new<P>(e: &mut Emit<P>, v: &Variant) -> Result<Self, RlweError> {
        let mut combination = |_| {
            (0..=v.shape.combined)
                .map(|_| e.residues())
                .collect::<Result<Vec<_>, _>>()
        };
        let numbers = (0..v.shape.combinations()).map(&mut combination);
        Ok(Self {
            numbers: numbers.collect::<Result<_, _>>()?,
        })
    }

    fn get<P>(&self, e: &mut Emit<P>, number: usize, operands: &[Pair]) -> Result<Pair, RlweError> {
        let integers = self.numbers.get(number).ok_or_else(missing)?;
        let (constant, integers) = integers.split_last().ok_or_else(missing)?;
        let mut poly = |poly: usize| {
            let mut limbs = Vec::new();
            for (place, modulus) in e.level_moduli().enumerate() {
                let mut sum: Option<ValueId> = None;
                for (operand, numbers) in operands.iter().zip(integers) {
                    let limb = operand.get(poly).and_then(|limbs| limbs.get(place));
                    let (limb, number) = limb.zip(numbers.get(place)).ok_or_else(missing)?;
                    let term = e.ops().muli_of(limb.value, *number)?;
                    sum = Some(match sum {
                        Some(sum) => e.ops().add(sum, term)?,
                        None => term,
                    });
                }
                let mut value = sum.ok_or_else(missing)?;
                if poly == 0 {
                    let number = constant.get(place).ok_or_else(missing)?;
                    value = e.ops().addi_of(value, *number)?;
                }
                limbs.push(Limb { value, modulus });
            }
            Ok::<_, RlweError>(limbs)
        };
        Ok([poly(0)?, poly(1)?])
    }
}

/// Emits the sum of the ciphertext operands that the combination has, each times an integer, plus an integer. The sum
/// is divided by the level's last primes, whose number is [`Shape::dropped`](super::Shape::dropped).
pub(crate) fn combine<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let operands = operands(e, v.sizes.len())?;
    let combinations = Combinations::new(e, v)?;
    let [c0, c1] = combinations.get(e, 0, &operands)?;
    for (poly, limbs) in [(Poly(0), c0), (Poly(1), c1)] {
        let scaled = dropped(e, limbs, v.shape.dropped.into())?;
        e.result(0, poly, &scaled)?;
    }
    Ok(())
}

/// Emits a sum of products of ciphertexts, with one relinearisation. A first factor may be a combination
/// ([`Combinations`]). With [`Shape::tail`](super::Shape::tail), one more combination is added. The sum is divided by the
/// level's last primes, as many as [`Shape::dropped`](super::Shape::dropped) says.
pub(crate) fn sum_products<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let operands = operands(e, v.sizes.len())?;
    let combinations = Combinations::new(e, v)?;
    let key = e.key(v.sizes.len() as u16, v.seeded)?;
    let mut next = 0;
    let mut pairs = Vec::with_capacity(v.shape.products.len());
    for &(left, right) in &v.shape.products {
        let left = match left {
            Left::Operand(i) => operands.get(usize::from(i)).ok_or_else(missing)?.clone(),
            Left::Combination => {
                next += 1;
                combinations.get(e, next - 1, &operands)?
            }
        };
        let right = operands.get(usize::from(right)).ok_or_else(missing)?;
        pairs.push((left, right.clone()));
    }
    // d_2 comes first because key switching waits for it.
    let d2 = summed(e, &pairs, &[(1, 1)])?;
    let mut d0 = summed(e, &pairs, &[(0, 0)])?;
    let mut d1 = summed(e, &pairs, &[(0, 1), (1, 0)])?;
    if v.shape.tail {
        let [tail0, tail1] = combinations.get(e, next, &operands)?;
        d0 = e.zip(&d0, &tail0, ProcBuilder::add)?;
        d1 = e.zip(&d1, &tail1, ProcBuilder::add)?;
    }
    let special = all_special(e);
    let [b, a] = products_with_key(e, &d2, None, key, &special)?;
    let dropped = v.shape.dropped.into();
    let c0 = divided(e, b, Some(&d0), dropped)?;
    let c1 = divided(e, a, Some(&d1), dropped)?;
    e.result(0, Poly(0), &c0)?;
    e.result(0, Poly(1), &c1)
}

/// Emits a sum of products of polynomials over all pairs of ciphertexts in `pairs` and all (i, j) in `polys`. The
/// product is that of polynomial i of the first ciphertext and polynomial j of the second.
fn summed<P>(
    e: &mut Emit<P>,
    pairs: &[(Pair, Pair)],
    polys: &[(usize, usize)],
) -> Result<Vec<Limb>, RlweError> {
    let mut limbs = Vec::new();
    for (place, modulus) in e.level_moduli().enumerate() {
        let mut terms = Vec::with_capacity(pairs.len() * polys.len());
        for (left, right) in pairs {
            for &(i, j) in polys {
                let left = left.get(i).and_then(|limbs| limbs.get(place));
                let right = right.get(j).and_then(|limbs| limbs.get(place));
                let (left, right) = left.zip(right).ok_or_else(missing)?;
                terms.push((left.value, right.value));
            }
        }
        let value = e.products(&terms)?;
        limbs.push(Limb { value, modulus });
    }
    Ok(limbs)
}

/// Emits the sum of the ciphertext operands, each times a plaintext of its own in evaluation form.
pub(crate) fn sum_plain<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let count = v.sizes.len();
    let operands = operands(e, count)?;
    let plains = (count..2 * count).map(|arg| e.plain(arg as u16));
    let plains = plains.collect::<Result<Vec<_>, _>>()?;
    let mut sums = Pair::default();
    for (place, modulus) in e.level_moduli().enumerate() {
        for (poly, sum) in sums.iter_mut().enumerate() {
            let mut terms = Vec::with_capacity(count);
            for (operand, plain) in operands.iter().zip(&plains) {
                let limb = operand.get(poly).and_then(|limbs| limbs.get(place));
                let (limb, plain) = limb.zip(plain.get(place)).ok_or_else(missing)?;
                terms.push((plain.value, limb.value));
            }
            let value = e.products(&terms)?;
            sum.push(Limb { value, modulus });
        }
    }
    for (poly, limbs) in [Poly(0), Poly(1)].into_iter().zip(&sums) {
        e.result(0, poly, limbs)?;
    }
    Ok(())
}

/// Emits the sum of automorphisms of the ciphertext operands, with one decomposition for each operand that has a Galois
/// element and one division for the sum. If there are fewer Galois elements than operands, the last operands are added
/// unchanged.
pub(crate) fn turn_sum<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let (ciphers, count) = (v.sizes.len(), v.immediate.count());
    check_count(count)?;
    let operands = operands(e, ciphers)?;
    let special = all_special(e);
    let mut turns = Vec::with_capacity(count);
    for k in 0..count {
        turns.push((e.galois()?, e.key((ciphers + k) as u16, v.seeded)?));
    }
    let (turned, still) = operands.split_at(count.min(ciphers));
    let mut bodies: Vec<Vec<Limb>> = still.iter().map(|[c0, _]| c0.clone()).collect();
    let masks: Vec<Vec<Limb>> = still.iter().map(|[_, c1]| c1.clone()).collect();
    // One operand after another, so that the digits of only one are alive at a time.
    let mut sums: Option<Pair> = None;
    for ([c0, c1], &(g, key)) in turned.iter().zip(&turns) {
        let c1 = e.map(c1, |b: &mut ProcBuilder, value| b.auto_of(value, g))?;
        bodies.push(e.map(c0, |b: &mut ProcBuilder, value| b.auto_of(value, g))?);
        let own = products_with_key(e, &c1, None, key, &special)?;
        sums = Some(match sums {
            Some([b, a]) => [
                e.zip(&b, &own[0], ProcBuilder::add)?,
                e.zip(&a, &own[1], ProcBuilder::add)?,
            ],
            None => own,
        });
    }
    let [b, a] = sums.ok_or_else(missing)?;
    let (body, mask) = (all_of(e, &bodies)?, all_of(e, &masks)?);
    let dropped = v.shape.dropped.into();
    let c0 = divided(e, b, body.as_deref(), dropped)?;
    let c1 = divided(e, a, mask.as_deref(), dropped)?;
    e.result(0, Poly(0), &c0)?;
    e.result(0, Poly(1), &c1)
}

/// Emits the sum of several polynomials, or returns `None` if there are none.
fn all_of<P>(e: &mut Emit<P>, polys: &[Vec<Limb>]) -> Result<Option<Vec<Limb>>, RlweError> {
    let mut sum: Option<Vec<Limb>> = None;
    for poly in polys {
        sum = Some(match sum {
            Some(sum) => e.zip(&sum, poly, ProcBuilder::add)?,
            None => poly.clone(),
        });
    }
    Ok(sum)
}

/// Emits the sum of a ciphertext a and its automorphisms a(x^g) for several g. One decomposition of a gives the digits,
/// which each automorphism permutes. All their products with keys form one sum, with one division by the special primes
/// and the level's last primes ([`Shape::dropped`](super::Shape::dropped)).
pub(crate) fn sum_rotations<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    let count = v.immediate.count();
    check_count(count)?;
    let (c0, c1) = (e.cipher(0, Poly(0))?, e.cipher(0, Poly(1))?);
    let special = all_special(e);
    let digits = Digits::cut(e, &c1, None, &special)?;
    let mut turns = Vec::with_capacity(count);
    for k in 0..count {
        turns.push((e.galois()?, e.key(1 + k as u16, v.seeded)?));
    }
    let mut sums = [Vec::new(), Vec::new()];
    for modulus in special_first(e, &special) {
        let values = digits.modulo(e, modulus)?;
        let mut pairs = [Vec::new(), Vec::new()];
        for &(g, key) in &turns {
            for (j, &value) in values.iter().enumerate() {
                let turned = e.ops().auto_of(value, g)?;
                for (part, pairs) in (0..).zip(&mut pairs) {
                    pairs.push((turned, e.key_limb(key, j, part, modulus)?));
                }
            }
        }
        for (sum, pairs) in sums.iter_mut().zip(&pairs) {
            let value = e.products(pairs)?;
            sum.push(Limb { value, modulus });
        }
    }
    let mut bodies = vec![c0.clone()];
    for &(g, _) in &turns {
        bodies.push(e.map(&c0, |builder, value| builder.auto_of(value, g))?);
    }
    let body = all_of(e, &bodies)?;
    let [b, a] = sums;
    let dropped = v.shape.dropped.into();
    let c0 = divided(e, b, body.as_deref(), dropped)?;
    let c1 = divided(e, a, Some(&c1), dropped)?;
    e.result(0, Poly(0), &c0)?;
    e.result(0, Poly(1), &c1)
}
