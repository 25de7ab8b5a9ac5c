// SPDX-License-Identifier: Apache-2.0
//! Emits the raising of the modulus in a BGV bootstrap, for Montgomery-friendly primes (BASALISC paper, Lemma 3.1 and
//! Algorithms 1 to 3).

use num_bigint::BigUint;
use ringmill_isa::Poly;
use ringmill_isa::mid::{ModulusId, ProcBuilder, Representative, ValueId};
use ringmill_math::{Modulus, reduce_big};

use crate::bgv::Params;
use crate::rlwe::RlweError;
use crate::rlwe::ops::carry::centred;
use crate::rlwe::ops::{Emit, Limb, Variant};

/// Emits the raising of the modulus from q, the product of the level's primes, for messages modulo p^r and the last
/// plaintext modulus p^e. The operands are a ciphertext (c_0, c_1) of phase phi modulo q, and an encryption of its
/// secret s' modulo p^e at the highest level. The result is an encryption modulo p^e of q^-1 (p^(e-r) phi) + rho at
/// the highest level. rho is the quotient by q, which is small because s' is.
///
/// For each polynomial c, d = p^(e-r) c b modulo q is extended to the other primes and to b (fast base extension). Here
/// b is a prime of its own, the first special prime. [`montgomery`] then reduces d twice: modulo q, which divides it by
/// b, and modulo p^e, which divides it by q. The result is an integer that is q^-1 p^(e-r) c modulo p^e and little more
/// than p^e / 2 in absolute value, known modulo the primes above the level. From its residues modulo one or two of
/// these primes it is extended to the primes of the level.
///
/// The first operand has the correction factor f, so phi = f m for the message m. If q is not 1 modulo p^e, the
/// result's message is q^-1 f m (BASALISC paper, appendix B.3), which the result's correction factor records.
pub(crate) fn raise(e: &mut Emit<Params>, v: &Variant) -> Result<(), RlweError> {
    let c = [e.cipher(0, Poly(0))?, e.cipher(0, Poly(1))?];
    let all = 0..e.params.cipher_count();
    let key = [
        e.cipher_over(1, Poly(0), all.clone())?,
        e.cipher_over(1, Poly(1), all)?,
    ];
    let moduli = e.params.low_moduli();
    let (Some(t), Some(top)) = (moduli.first(), moduli.last()) else {
        return Err(RlweError::Verify("messages are not low".into()));
    };
    let (power, shift) = (*top, top.value() / t.value());
    let level = v.level.primes();
    let [c0, c1] = [0, 1].map(|i: usize| {
        let limbs = c.get(i).map_or(&[][..], Vec::as_slice);
        reduced(e, limbs, level, power.value(), shift)
    });
    let (c0, c1) = (c0?, c1?);
    let [k0, k1] = &key;
    let product = e.zip(&c1, k0, ProcBuilder::mul)?;
    let body = e.zip(&c0, &product, ProcBuilder::add)?;
    let mask = e.zip(&c1, k1, ProcBuilder::mul)?;
    e.result(0, Poly(0), &body)?;
    e.result(0, Poly(1), &mask)
}

/// A polynomial of a ciphertext whose modulus is being raised: its limbs in coefficient form.
type Limbs = Vec<Limb>;

/// Emits integers that are q^-1 `shift` c modulo `power` and little more than `power` / 2 in absolute value. They are
/// in evaluation form modulo all ciphertext primes. Here `power` is p^e, the last plaintext modulus, and `shift` is
/// p^(e-r) for messages modulo p^r. The polynomial c is one of the ciphertext whose modulus is raised, and q is the
/// product of the first `level` primes.
fn reduced(
    e: &mut Emit<Params>,
    c: &[Limb],
    level: usize,
    power: u64,
    shift: u64,
) -> Result<Limbs, RlweError> {
    let (count, b) = (e.params.cipher_count(), e.params.cipher_count());
    let big = e.reducer(b)?.value();
    let mut d = Vec::with_capacity(count + 1);
    for l in c {
        let q = e.reducer(l.modulus)?;
        let x = e.ops().intt(l.value)?;
        let value = e.ops().muli(x, q.mul(q.reduce(shift), q.reduce(big)))?;
        d.push(Limb { value, ..*l });
    }
    // The fast base extension (BASALISC paper, Algorithm 1): x + u q with 0 <= u < level.
    let others: Vec<usize> = (level..count).chain([b]).collect();
    let to: Vec<ModulusId> = others.iter().map(|&i| ModulusId(i as u16)).collect();
    let from: Vec<ValueId> = d.iter().map(|l| l.value).collect();
    let extended = e.ops().bext(&from, &to)?;
    let extended = extended.into_iter().zip(others);
    d.extend(extended.map(|(value, modulus)| Limb { value, modulus }));
    // The small Montgomery reduction (BASALISC paper, Algorithm 2) modulo q drops b.
    let primes = e.params.moduli().iter().take(level);
    let q: BigUint = primes.copied().product();
    let last = d.pop();
    montgomery(e, &mut d, last, &q)?;
    // The small Montgomery reduction modulo p^e drops the primes of q, the last first.
    let mut known = d.split_off(level);
    let m = BigUint::from(power);
    while let Some(dropped) = d.pop() {
        // The remaining primes of q are reduced with the others.
        let kept = d.len();
        d.append(&mut known);
        montgomery(e, &mut d, Some(dropped), &m)?;
        known = d.split_off(kept);
    }
    let mut all = exactly(e, &known, level, power)?;
    all.append(&mut known);
    for l in &mut all {
        l.value = e.ops().ntt(l.value)?;
    }
    Ok(all)
}

/// Reduces an integer a modulo m by one prime p (small Montgomery reduction, Algorithm 2 of the BASALISC paper).
/// The result is (a + m r) / p, where r is -a / m modulo p, nearest to 0. It is a / p modulo m, and at most |a| /
/// p + m / 2. `dropped` is the limb modulo p, and `a` has the limbs modulo other primes.
fn montgomery(
    e: &mut Emit<Params>,
    a: &mut [Limb],
    dropped: Option<Limb>,
    m: &BigUint,
) -> Result<(), RlweError> {
    let dropped = dropped.ok_or_else(|| RlweError::Verify("a limb is missing".into()))?;
    let p = e.reducer(dropped.modulus)?;
    let half = p.value() / 2;
    let inverse = p.inv(reduce_big(m, p))?;
    let r = e.ops().muli(dropped.value, p.neg(inverse))?;
    // The representative in [0, p) of r + floor(p / 2) is r about zero, plus floor(p / 2).
    let shifted = e.ops().addi(r, half)?;
    for l in a {
        let q = e.reducer(l.modulus)?;
        let inverse = q.inv(q.reduce(p.value()))?;
        let factor = q.mul(reduce_big(m, q), inverse);
        l.value = e.ops().muli(l.value, inverse)?;
        // Modulo a factor of m nothing is added.
        if factor != 0 {
            let r = centred(e, shifted, half, l.modulus)?;
            let multiple = e.ops().muli(r, factor)?;
            l.value = e.ops().add(l.value, multiple)?;
        }
    }
    Ok(())
}

/// Emits the residues, modulo the first `level` primes, of integers of at most `power` in absolute value. `known` has
/// the integers' residues modulo other primes. One or two of these other primes, with a product above twice `power`,
/// determine the integers exactly.
fn exactly(
    e: &mut Emit<Params>,
    known: &[Limb],
    level: usize,
    power: u64,
) -> Result<Limbs, RlweError> {
    let q = |l: &Limb| e.reducer(l.modulus).map(Modulus::value);
    let sizes = known.iter().map(q).collect::<Result<Vec<_>, _>>()?;
    let fits = |q: u128| q > 2 * u128::from(power);
    match (known, sizes.as_slice()) {
        ([first, ..], &[size, ..]) if fits(size.into()) => {
            let half = size / 2;
            let shifted = e.ops().addi(first.value, half)?;
            let one = |modulus| {
                let value = centred(e, shifted, half, modulus)?;
                Ok(Limb { value, modulus })
            };
            (0..level).map(one).collect()
        }
        ([first, second, ..], &[a, b, ..]) if fits(u128::from(a) * u128::from(b)) => {
            let to: Vec<ModulusId> = (0..level).map(|i| ModulusId(i as u16)).collect();
            let from = [first.value, second.value];
            let values = e.ops().bextx(&from, &to, Representative::Centred)?;
            let limbs = values.into_iter().enumerate();
            Ok(limbs
                .map(|(modulus, value)| Limb { value, modulus })
                .collect())
        }
        _ => Err(RlweError::Parameter {
            what: "primes above the level that is bootstrapped from",
            expected: format!("one or two whose product is above 2 * {power}"),
            got: format!("{} primes", known.len()),
        }),
    }
}
