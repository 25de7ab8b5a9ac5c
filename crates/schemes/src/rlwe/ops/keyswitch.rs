//! Hybrid key switching (ring paper, Algorithm 5, for any number of digits) and what is built on it.

use ringmill_isa::Poly;
use ringmill_isa::mid::{ModulusId, ProcBuilder, ValueId};

use super::Variant;
use super::arithmetic::{product, squared};
use super::emit::{Emit, KeyOperand, Limb};
use super::scaling::{add_all, divide_and_round};
use crate::rlwe::arith::extended;
use crate::rlwe::error::RlweError;

/// A polynomial cut into digits, extended to all moduli of the level and the special primes on demand.
///
/// A digit of one prime is carried over by its representative in [0, q), as SEAL does. A digit of k primes is carried
/// over by the fast base extension, whose value is x + u Q_j with 0 <= u < k: the same residue modulo the digit, so only
/// the key-switching error grows.
struct Digits {
    digits: Vec<Digit>,
}

struct Digit {
    /// The digit's own limbs in evaluation form.
    own: Vec<Limb>,
    coefficients: Vec<ValueId>,
    /// Coefficient form modulo the other moduli, for a digit of several primes.
    extended: Vec<Limb>,
}

impl Digits {
    fn cut(e: &mut Emit, target: &[Limb]) -> Result<Self, RlweError> {
        let mut digits = Vec::new();
        for j in 0..e.params.digits_at(e.level) {
            let range = e.params.digit(j, e.level);
            let own: Vec<Limb> = target
                .iter()
                .filter(|l| range.contains(&l.modulus))
                .copied()
                .collect();
            let coefficients = own
                .iter()
                .map(|l| e.ops().intt(l.value))
                .collect::<Result<Vec<_>, _>>()?;
            digits.push(Digit {
                own,
                coefficients,
                extended: Vec::new(),
            });
        }
        for digit in digits.iter_mut().filter(|d| d.own.len() > 1) {
            let others = extended(e.params, e.level)
                .into_iter()
                .filter(|&i| !digit.owns(i));
            let others: Vec<usize> = others.collect();
            let to: Vec<_> = others.iter().map(|&i| ModulusId(i as u16)).collect();
            let values = e.ops().bext(&digit.coefficients, &to)?;
            digit.extended = values
                .into_iter()
                .zip(others)
                .map(|(value, modulus)| Limb { value, modulus })
                .collect();
        }
        Ok(Self { digits })
    }

    /// Evaluation forms of all digits modulo one modulus.
    fn modulo(&self, e: &mut Emit, modulus: usize) -> Result<Vec<ValueId>, RlweError> {
        self.digits.iter().map(|d| d.modulo(e, modulus)).collect()
    }
}

impl Digit {
    fn owns(&self, modulus: usize) -> bool {
        self.own.iter().any(|l| l.modulus == modulus)
    }

    fn modulo(&self, e: &mut Emit, modulus: usize) -> Result<ValueId, RlweError> {
        if let Some(own) = self.own.iter().find(|l| l.modulus == modulus) {
            return Ok(own.value);
        }
        let coefficients = match (
            self.extended.iter().find(|l| l.modulus == modulus),
            self.coefficients.as_slice(),
        ) {
            (Some(l), _) => l.value,
            (None, [only]) => e.ops().conv(*only, ModulusId(modulus as u16))?,
            _ => return Err(RlweError::Verify("a digit lacks an extension".into())),
        };
        Ok(e.ops().ntt(coefficients)?)
    }
}

/// Sum over the digits of digit times key, both parts, modulo one modulus.
fn inner_product(
    e: &mut Emit,
    digits: &[ValueId],
    key: KeyOperand,
    modulus: usize,
) -> Result<[Limb; 2], RlweError> {
    let mut part = |part: u16| -> Result<Limb, RlweError> {
        let mut pairs = Vec::with_capacity(digits.len());
        for (j, &d) in digits.iter().enumerate() {
            pairs.push((d, e.key_limb(key, j, part, modulus)?));
        }
        let value = match pairs.as_slice() {
            [(d, k)] => e.ops().mul(*d, *k)?,
            many => e.ops().dot(many)?,
        };
        Ok(Limb { value, modulus })
    };
    Ok([part(0)?, part(1)?])
}

/// The two polynomials over the level's moduli that stand for `target` times the key's source secret.
fn switch(e: &mut Emit, target: &[Limb], key: KeyOperand) -> Result<[Vec<Limb>; 2], RlweError> {
    let digits = Digits::cut(e, target)?;
    let mut sums = [Vec::new(), Vec::new()];
    for modulus in special_first(e) {
        let values = digits.modulo(e, modulus)?;
        let [b, a] = inner_product(e, &values, key, modulus)?;
        sums[0].push(b);
        sums[1].push(a);
    }
    mod_down(e, sums)
}

/// The special primes lead, so that their inverse transforms can start while the other sums are still made.
fn special_first(e: &Emit) -> Vec<usize> {
    let special = e.params.cipher_count()..e.params.moduli().len();
    special.chain(e.level_moduli()).collect()
}

fn mod_down(e: &mut Emit, sums: [Vec<Limb>; 2]) -> Result<[Vec<Limb>; 2], RlweError> {
    let special = e.params.special_count();
    let mut down = |mut sum: Vec<Limb>| {
        let kept = sum.split_off(special.min(sum.len()));
        divide_and_round(e, &sum, &kept)
    };
    let [b, a] = sums;
    Ok([down(b)?, down(a)?])
}

fn relinearise(e: &mut Emit, d: [Vec<Limb>; 3], key: KeyOperand) -> Result<(), RlweError> {
    let [d0, d1, d2] = d;
    let [b, a] = switch(e, &d2, key)?;
    let c0 = add_all(e, &d0, &b)?;
    let c1 = add_all(e, &d1, &a)?;
    e.result(0, Poly(0), &c0)?;
    e.result(0, Poly(1), &c1)
}

pub(crate) fn relin(e: &mut Emit, v: &Variant) -> Result<(), RlweError> {
    let d = [
        e.cipher(0, Poly(0))?,
        e.cipher(0, Poly(1))?,
        e.cipher(0, Poly(2))?,
    ];
    let key = e.key(1, v.seeded)?;
    relinearise(e, d, key)
}

pub(crate) fn mul_relin(e: &mut Emit, v: &Variant) -> Result<(), RlweError> {
    let d = product(e)?;
    let key = e.key(2, v.seeded)?;
    relinearise(e, d, key)
}

pub(crate) fn square_relin(e: &mut Emit, v: &Variant) -> Result<(), RlweError> {
    let d = squared(e)?;
    let key = e.key(1, v.seeded)?;
    relinearise(e, d, key)
}

pub(crate) fn rotate(e: &mut Emit, v: &Variant) -> Result<(), RlweError> {
    let (c0, c1) = (e.cipher(0, Poly(0))?, e.cipher(0, Poly(1))?);
    let key = e.key(1, v.seeded)?;
    let g = e.galois()?;
    let auto = |b: &mut ProcBuilder, value| b.auto_of(value, g);
    let turned = e.map(&c1, auto)?;
    let [b, a] = switch(e, &turned, key)?;
    let c0 = e.map(&c0, auto)?;
    let c0 = add_all(e, &c0, &b)?;
    e.result(0, Poly(0), &c0)?;
    e.result(0, Poly(1), &a)
}

pub(crate) fn hoisted_rotate(e: &mut Emit, v: &Variant) -> Result<(), RlweError> {
    let count = v.immediate.count();
    if count == 0 || count >= usize::from(u16::MAX) {
        let expected = "1 to 65534 Galois elements".to_owned();
        return Err(RlweError::Parameter {
            what: "hoisted rotation",
            expected,
            got: count.to_string(),
        });
    }
    let (c0, c1) = (e.cipher(0, Poly(0))?, e.cipher(0, Poly(1))?);
    let digits = Digits::cut(e, &c1)?;
    let moduli = special_first(e);
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
        let [b, a] = mod_down(e, sums)?;
        let c0 = e.map(&c0, |builder, value| builder.auto_of(value, g))?;
        let c0 = add_all(e, &c0, &b)?;
        e.result(k, Poly(0), &c0)?;
        e.result(k, Poly(1), &a)?;
    }
    Ok(())
}
