// SPDX-License-Identifier: Apache-2.0
//! Emits the product of a matrix and the slots of a ciphertext by baby steps and giant steps, with double hoisting
//! (Bossuat, Mouchet, Troncoso-Pastoriza and Hubaux, ePrint 2020/1203, Algorithm 6). Baby steps share one decomposition
//! of the ciphertext. Their key switches are not divided by the special primes: the products with the matrix's diagonals
//! are added up first.

use ringmill_isa::Poly;
use ringmill_isa::mid::{ProcBuilder, ValueId};

use super::Variant;
use super::emit::{Emit, KeyOperand, Limb};
use super::keyswitch::{
    Digits, all_special, check_count, inner_product, products_with_key, special_first,
};
use super::scaling::divide;
use super::sums::{Pair, divided, missing};
use crate::rlwe::arith::product_modulo;
use crate::rlwe::error::RlweError;

/// A baby step or a giant step: the procedure's immediate parameter for its Galois element, and its key.
type Step = (u16, KeyOperand);

/// Emits the product of a matrix and the ciphertext operand. The plaintext operands are the matrix's diagonals, each
/// turned back by its giant step, with limbs modulo the special primes. They come row by row: a row for each giant step,
/// then one that no giant step turns. A row has one for the ciphertext and one for each of its baby steps. The sum of the
/// turned rows is divided by the special primes and the level's last primes together
/// ([`Shape::dropped`](super::Shape::dropped)).
pub(crate) fn mat_vec<P>(e: &mut Emit<P>, v: &Variant) -> Result<(), RlweError> {
    check_count(v.babies())?;
    let (c0, c1) = (e.cipher(0, Poly(0))?, e.cipher(0, Poly(1))?);
    let special = all_special(e);
    let moduli = special_first(e, &special);
    let constants = v.factors() * v.sums();
    let mut diagonals = Vec::with_capacity(constants);
    for arg in 1..=constants {
        diagonals.push(e.plain_over(arg as u16, moduli.iter().copied())?);
    }
    let mut steps = Vec::with_capacity(v.immediate.count());
    for k in 0..v.immediate.count() {
        let key = e.key((1 + constants + k) as u16, v.seeded)?;
        steps.push((e.galois()?, key));
    }
    let (babies, giants) = steps.split_at(v.babies());
    let digits = Digits::cut(e, &c1, None, &special)?;
    let mut sums = vec![Pair::default(); v.sums()];
    // One modulus after another, so that the factors modulo only one are alive at a time.
    for (place, &modulus) in moduli.iter().enumerate() {
        let own = [&c0, &c1].map(|poly| poly.iter().find(|l| l.modulus == modulus));
        let own = match own {
            [Some(c0), Some(c1)] => {
                let q = e.reducer(modulus)?;
                let p = product_modulo(q, e.params.special_moduli());
                Some([e.ops().muli(c0.value, p)?, e.ops().muli(c1.value, p)?])
            }
            // A multiple of the special primes' product is 0 modulo each of them.
            _ => None,
        };
        let values = digits.modulo(e, modulus)?;
        let mut factors = vec![own];
        for &step in babies {
            factors.push(Some(baby(e, &values, own, step, modulus)?));
        }
        for (row, sum) in diagonals.chunks(v.factors()).zip(&mut sums) {
            for (poly, sum) in sum.iter_mut().enumerate() {
                let mut terms = Vec::with_capacity(factors.len());
                for (diagonal, factor) in row.iter().zip(&factors) {
                    let diagonal = diagonal.get(place).ok_or_else(missing)?;
                    let factor = factor.and_then(|polys| polys.get(poly).copied());
                    terms.extend(factor.map(|factor| (diagonal.value, factor)));
                }
                let value = e.products(&terms)?;
                sum.push(Limb { value, modulus });
            }
        }
    }
    let mut total = sums.pop().ok_or_else(missing)?;
    for (sum, &step) in sums.into_iter().zip(giants) {
        let turned = giant(e, sum, step)?;
        let [b, a] = &total;
        total = [
            e.zip(b, &turned[0], ProcBuilder::add)?,
            e.zip(a, &turned[1], ProcBuilder::add)?,
        ];
    }
    let dropped = v.shape.dropped.into();
    for (poly, sum) in [Poly(0), Poly(1)].into_iter().zip(total) {
        let quotient = divided(e, sum, None, dropped)?;
        e.result(0, poly, &quotient)?;
    }
    Ok(())
}

/// Emits an automorphism of a ciphertext times the product of the special primes, and its key switch, modulo the modulus
/// of index `modulus`. `values` are the digits of c_1, and `own` is the ciphertext times this product, or `None` modulo
/// a special prime.
fn baby<P>(
    e: &mut Emit<P>,
    values: &[ValueId],
    own: Option<[ValueId; 2]>,
    (g, key): Step,
    modulus: usize,
) -> Result<[ValueId; 2], RlweError> {
    let turned = values.iter().map(|&value| e.ops().auto_of(value, g));
    let turned = turned.collect::<Result<Vec<_>, _>>()?;
    let [b, a] = inner_product(e, &turned, key, modulus)?.map(|limb| limb.value);
    let b = match own {
        Some([c0, _]) => {
            let c0 = e.ops().auto_of(c0, g)?;
            e.ops().add(b, c0)?
        }
        None => b,
    };
    Ok([b, a])
}

/// Emits an automorphism of a sum and its key switch. The sum and the result are a ciphertext times the product of the
/// special primes, modulo the special primes, whose limbs come first, and the level's primes.
fn giant<P>(e: &mut Emit<P>, [b, a]: Pair, (g, key): Step) -> Result<Pair, RlweError> {
    let special = all_special(e);
    let (going, kept) = a.split_at_checked(special.len()).ok_or_else(missing)?;
    let a = divide(e, going, kept)?;
    let a = e.map(&a, |builder, value| builder.auto_of(value, g))?;
    let [own, a] = products_with_key(e, &a, None, key, &special)?;
    let b = e.map(&b, |builder, value| builder.auto_of(value, g))?;
    Ok([e.zip(&own, &b, ProcBuilder::add)?, a])
}
