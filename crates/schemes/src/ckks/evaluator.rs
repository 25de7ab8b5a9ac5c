//! Homomorphic operations for simple callers, run by the reference interpreter. Programs go through the compiler and a
//! device instead; both run the same procedures.

use std::sync::Arc;

use num_bigint::BigUint;
use ringmill_isa::mid::{ParamRole, Procedure};

use super::cipher::{Ciphertext, Plaintext};
use super::error::CkksError;
use super::identity::KeyId;
use super::key::{GaloisKeys, KSwitchKey, RelinKey};
use super::ops::{OpKey, ProcCache};
use super::params::Params;
use crate::interpret;

/// A ciphertext operand: its limb of (polynomial, modulus index).
pub(super) type CipherLimbs<'a> = &'a dyn Fn(usize, usize) -> Option<&'a [u64]>;

/// Runs a procedure by roles: ciphertext operands in order, then plaintexts (args after the ciphertexts), and keys. Key
/// operands of the procedure take `keys` in order. Returns for each result ciphertext its computed polynomials in order.
pub(super) fn call<'a>(
    procedure: &Procedure,
    ciphers: &[CipherLimbs<'a>],
    plains: &[&'a Plaintext],
    keys: &[&'a KSwitchKey],
) -> Result<Vec<Vec<Vec<u64>>>, CkksError> {
    let first_key = ciphers.len() + plains.len();
    let mut args: Vec<&[u64]> = Vec::with_capacity(procedure.params.len());
    for p in &procedure.params {
        let modulus = procedure
            .types
            .get(p.value.0 as usize)
            .map_or(0, |t| usize::from(t.modulus.0));
        let limb = match p.role {
            ParamRole::Cipher { arg, poly } => ciphers
                .get(usize::from(arg))
                .and_then(|c| c(usize::from(poly), modulus)),
            ParamRole::Plain { arg } => usize::from(arg)
                .checked_sub(ciphers.len())
                .and_then(|i| plains.get(i))
                .and_then(|m| m.limb(modulus)),
            ParamRole::Key { arg, digit, part } => usize::from(arg)
                .checked_sub(first_key)
                .and_then(|i| keys.get(i))
                .and_then(|k| k.limb(usize::from(digit), usize::from(part), modulus)),
        };
        args.push(limb.ok_or_else(|| CkksError::MissingKey(format!("operand limb {}", p.name)))?);
    }
    let seed = |&arg: &u16| {
        let key = usize::from(arg)
            .checked_sub(first_key)
            .and_then(|i| keys.get(i));
        key.and_then(|k| k.seed())
            .copied()
            .ok_or(CkksError::KeyForm {
                expected: "seeded",
                got: "with stored halves",
            })
    };
    let seeds = procedure
        .seeds
        .iter()
        .map(seed)
        .collect::<Result<Vec<_>, _>>()?;
    let limbs = interpret::run(procedure, &args, &seeds).map_err(|e| match e {
        interpret::InterpretError::Math(e) => CkksError::Math(e),
        interpret::InterpretError::Halt(halt) => CkksError::Halt(halt),
        other => CkksError::Verify(other.to_string()),
    })?;
    let mut results: Vec<Vec<Vec<u64>>> = Vec::new();
    for (r, limb) in procedure.results.iter().zip(limbs) {
        let (index, poly) = (usize::from(r.index), usize::from(r.poly));
        results.resize_with(results.len().max(index + 1), Vec::new);
        if let Some(polys) = results.get_mut(index) {
            polys.resize_with(polys.len().max(poly + 1), Vec::new);
            if let Some(data) = polys.get_mut(poly) {
                data.extend(limb);
            }
        }
    }
    Ok(results)
}

/// Homomorphic operations on whole ciphertexts. Operands must agree in level, and in scale where they are added, and must
/// belong to one secret key, as must keys: where one has no identity that cannot be checked, and the result has none.
///
/// As SEAL does, it refuses results whose scale their level's modulus cannot hold ([`CkksError::Scale`]), and transparent
/// ones ([`CkksError::Transparent`]): those of `a - a`, of a product with zero.
#[derive(Debug)]
pub struct Evaluator {
    cache: Arc<ProcCache>,
    /// Bits of the modulus of each level.
    modulus_bits: Vec<u32>,
}

fn missing_rotation(step: i64, power: i64) -> String {
    if power == step {
        return format!("Galois (rotation by {step})");
    }
    format!(
        "Galois (rotation by {step}, or by {power} and the other powers of two that make it up)"
    )
}

/// The non-adjacent form of a step (less than the slots): signed powers of two that add up to it, the fewest that do, the least first.
fn powers_of_two(step: i64) -> Vec<i64> {
    let (mut rest, mut power, mut powers) = (step, 1, Vec::new());
    while rest != 0 {
        if rest % 2 != 0 {
            // 1 or -1, so that what remains is a multiple of 4.
            let digit = 2 - rest.rem_euclid(4);
            powers.push(digit * power);
            rest -= digit;
        }
        rest /= 2;
        power *= 2;
    }
    powers
}

/// Relative difference below which two scales count as equal.
const SCALE_TOLERANCE: f64 = 1e-9;

impl Evaluator {
    pub fn new(params: Arc<Params>) -> Self {
        let mut product = BigUint::from(1u32);
        let bits = params.cipher_moduli().iter().map(|&q| {
            product *= q;
            product.bits() as u32
        });
        Self {
            modulus_bits: bits.collect(),
            cache: Arc::new(ProcCache::new(params)),
        }
    }

    pub fn cache(&self) -> &Arc<ProcCache> {
        &self.cache
    }

    fn params(&self) -> &Params {
        self.cache.params()
    }

    fn check(&self, a: &Ciphertext) -> Result<(), CkksError> {
        self.params().check_id("ciphertext", a.params_id())
    }

    fn check_scale(a: f64, b: f64) -> Result<(), CkksError> {
        if (a / b - 1.0).abs() <= SCALE_TOLERANCE {
            Ok(())
        } else {
            Err(CkksError::ScaleMismatch { a, b })
        }
    }

    fn check_pair(&self, a: &Ciphertext, b: &Ciphertext) -> Result<(), CkksError> {
        self.check(a)?;
        self.check(b)?;
        Self::check_level("second operand", a.level(), b.level())
    }

    /// A scale that a result may have at a level: its integer part in bits is below the modulus's (SEAL's condition).
    fn check_held(&self, level: u32, scale: f64) -> Result<(), CkksError> {
        let bits = self.modulus_bits.get(level as usize).copied();
        let bits = f64::from(bits.unwrap_or(0));
        if scale.is_finite() && scale > 0.0 && scale.log2().trunc() < bits {
            return Ok(());
        }
        Err(CkksError::Scale {
            got: scale,
            max_log2: bits,
        })
    }

    /// The scale of a product.
    fn product(&self, level: u32, a: f64, b: f64) -> Result<f64, CkksError> {
        self.check_held(level, a * b)?;
        Ok(a * b)
    }

    fn opaque(cipher: Ciphertext) -> Result<Ciphertext, CkksError> {
        if cipher.is_transparent() {
            Err(CkksError::Transparent)
        } else {
            Ok(cipher)
        }
    }

    fn check_level(what: &'static str, expected: u32, got: u32) -> Result<(), CkksError> {
        if expected == got {
            Ok(())
        } else {
            Err(CkksError::LevelMismatch {
                what,
                expected,
                got,
            })
        }
    }

    fn check_two(a: &Ciphertext) -> Result<(), CkksError> {
        if a.size() == 2 {
            return Ok(());
        }
        Err(CkksError::Size {
            what: "ciphertext operand",
            expected: "2".into(),
            got: a.size(),
        })
    }

    /// Runs one operation and puts passed-through polynomials in their places.
    fn apply(
        &self,
        key: &OpKey,
        ciphers: &[&Ciphertext],
        plains: &[&Plaintext],
        keys: &[&KSwitchKey],
        at: (u32, f64),
    ) -> Result<Vec<Ciphertext>, CkksError> {
        for k in keys {
            self.params().check_id("key-switching key", k.params_id())?;
        }
        let operands = ciphers.iter().map(|c| ("ciphertext", c.key_id()));
        let switching = keys.iter().map(|k| ("key-switching key", k.key_id()));
        let key_id = KeyId::common(operands.chain(switching))?;
        let procedure = self.cache.get(key)?;
        let limbs: Vec<_> = ciphers
            .iter()
            .map(|&c| move |poly: usize, i: usize| c.limb(poly, i))
            .collect();
        let limbs: Vec<CipherLimbs> = limbs.iter().map(|f| f as CipherLimbs).collect();
        let mut results = call(&procedure, &limbs, plains, keys)?;
        for polys in &mut results {
            polys.resize_with(key.result_size() as usize, Vec::new);
            for (poly, data) in polys.iter_mut().enumerate() {
                let from = key
                    .passes_through(poly as u32)
                    .and_then(|arg| ciphers.get(usize::from(arg)));
                if let Some(source) = from.and_then(|c| c.polys().get(poly)) {
                    data.clone_from(source);
                }
            }
        }
        results
            .into_iter()
            .map(|polys| {
                let cipher = Ciphertext::trusted(self.params(), at.0, at.1, polys, key_id);
                Self::opaque(cipher)
            })
            .collect()
    }

    fn one(
        &self,
        key: &OpKey,
        ciphers: &[&Ciphertext],
        plains: &[&Plaintext],
        keys: &[&KSwitchKey],
        at: (u32, f64),
    ) -> Result<Ciphertext, CkksError> {
        let none = || CkksError::Length {
            what: "result",
            expected: 1,
            got: 0,
        };
        self.apply(key, ciphers, plains, keys, at)?
            .pop()
            .ok_or_else(none)
    }

    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.check_pair(a, b)?;
        Self::check_scale(a.scale(), b.scale())?;
        let key = OpKey::Add {
            level: a.level(),
            size_a: a.size() as u32,
            size_b: b.size() as u32,
        };
        self.one(&key, &[a, b], &[], &[], (a.level(), a.scale()))
    }

    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.check_pair(a, b)?;
        Self::check_scale(a.scale(), b.scale())?;
        let key = OpKey::Sub {
            level: a.level(),
            size_a: a.size() as u32,
            size_b: b.size() as u32,
        };
        self.one(&key, &[a, b], &[], &[], (a.level(), a.scale()))
    }

    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        let key = OpKey::Neg {
            level: a.level(),
            size: a.size() as u32,
        };
        self.one(&key, &[a], &[], &[], (a.level(), a.scale()))
    }

    fn check_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<(), CkksError> {
        self.check(a)?;
        self.params().check_id("plaintext", m.params_id())?;
        Self::check_level("plaintext operand", a.level(), m.level())
    }

    pub fn add_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, CkksError> {
        self.check_plain(a, m)?;
        Self::check_scale(a.scale(), m.scale())?;
        let key = OpKey::AddPlain {
            level: a.level(),
            size: a.size() as u32,
        };
        self.one(&key, &[a], &[m], &[], (a.level(), a.scale()))
    }

    pub fn sub_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, CkksError> {
        self.check_plain(a, m)?;
        Self::check_scale(a.scale(), m.scale())?;
        let key = OpKey::SubPlain {
            level: a.level(),
            size: a.size() as u32,
        };
        self.one(&key, &[a], &[m], &[], (a.level(), a.scale()))
    }

    pub fn mul_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, CkksError> {
        self.check_plain(a, m)?;
        let key = OpKey::MulPlain {
            level: a.level(),
            size: a.size() as u32,
        };
        let scale = self.product(a.level(), a.scale(), m.scale())?;
        self.one(&key, &[a], &[m], &[], (a.level(), scale))
    }

    /// Adds `value` to every slot.
    pub fn add_scalar(&self, a: &Ciphertext, value: f64) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        let residues = super::encoder::scalar_residues(self.params(), value, a.level(), a.scale())?;
        let key = OpKey::AddScalar {
            level: a.level(),
            size: a.size() as u32,
            residues,
        };
        self.one(&key, &[a], &[], &[], (a.level(), a.scale()))
    }

    /// Multiplies every slot by `value`, rounded to a multiple of 1 / `scale`; the scales multiply.
    pub fn mul_scalar(
        &self,
        a: &Ciphertext,
        value: f64,
        scale: f64,
    ) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        let residues = super::encoder::scalar_residues(self.params(), value, a.level(), scale)?;
        let key = OpKey::MulScalar {
            level: a.level(),
            size: a.size() as u32,
            residues,
        };
        let scale = self.product(a.level(), a.scale(), scale)?;
        self.one(&key, &[a], &[], &[], (a.level(), scale))
    }

    /// The product, of three polynomials.
    pub fn mul(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.check_pair(a, b)?;
        Self::check_two(a)?;
        Self::check_two(b)?;
        let key = OpKey::Mul { level: a.level() };
        let scale = self.product(a.level(), a.scale(), b.scale())?;
        self.one(&key, &[a, b], &[], &[], (a.level(), scale))
    }

    pub fn square(&self, a: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        Self::check_two(a)?;
        let key = OpKey::Square { level: a.level() };
        let scale = self.product(a.level(), a.scale(), a.scale())?;
        self.one(&key, &[a], &[], &[], (a.level(), scale))
    }

    pub fn relinearise(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        if a.size() != 3 {
            return Err(CkksError::Size {
                what: "ciphertext to relinearise",
                expected: "3".into(),
                got: a.size(),
            });
        }
        let op = OpKey::Relin {
            level: a.level(),
            seeded: key.0.seed().is_some(),
        };
        self.one(&op, &[a], &[], &[&key.0], (a.level(), a.scale()))
    }

    pub fn mul_relin(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinKey,
    ) -> Result<Ciphertext, CkksError> {
        self.check_pair(a, b)?;
        Self::check_two(a)?;
        Self::check_two(b)?;
        let op = OpKey::MulRelin {
            level: a.level(),
            seeded: key.0.seed().is_some(),
        };
        let scale = self.product(a.level(), a.scale(), b.scale())?;
        self.one(&op, &[a, b], &[], &[&key.0], (a.level(), scale))
    }

    pub fn square_relin(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        Self::check_two(a)?;
        let op = OpKey::SquareRelin {
            level: a.level(),
            seeded: key.0.seed().is_some(),
        };
        let scale = self.product(a.level(), a.scale(), a.scale())?;
        self.one(&op, &[a], &[], &[&key.0], (a.level(), scale))
    }

    /// Divides by the last prime of the level with rounding: one level lower.
    pub fn rescale(&self, a: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        let op = OpKey::Rescale {
            level: a.level(),
            size: a.size() as u32,
        };
        let last = self
            .params()
            .moduli()
            .get(a.level() as usize)
            .map_or(1.0, |&q| q as f64);
        self.one(
            &op,
            &[a],
            &[],
            &[],
            (a.level().saturating_sub(1), a.scale() / last),
        )
    }

    /// Drops primes down to `level`; the scale stays, and must be one that the level holds.
    pub fn mod_switch(&self, a: &Ciphertext, level: u32) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        if level > a.level() {
            return Err(CkksError::LevelMismatch {
                what: "ciphertext to switch down",
                expected: level,
                got: a.level(),
            });
        }
        self.check_held(level, a.scale())?;
        let length = (level as usize + 1) * self.params().degree();
        let polys = a
            .polys()
            .iter()
            .map(|p| p.iter().take(length).copied().collect())
            .collect();
        let (scale, key_id) = (a.scale(), a.key_id());
        Self::opaque(Ciphertext::trusted(
            self.params(),
            level,
            scale,
            polys,
            key_id,
        ))
    }

    /// Slot i of the result is slot i + `step` of `a`, cyclically; a rotation by 0 is `a`. Where `keys` has none for the
    /// step, it goes by the powers of two of the step's non-adjacent form, the least first, as SEAL goes.
    ///
    /// # Errors
    /// [`CkksError::MissingKey`] where neither the step's key is there nor those of its powers of two.
    pub fn rotate(
        &self,
        a: &Ciphertext,
        step: i64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        if step == 0 {
            return Ok(a.clone());
        }
        let element = self.params().galois_element(step)?;
        if keys.get(element).is_ok() {
            return self.automorphism(a, element, keys);
        }
        let mut elements = Vec::new();
        for power in powers_of_two(step) {
            // A rotation by all slots is none.
            if power.unsigned_abs() == self.params().slots() as u64 {
                continue;
            }
            let element = self.params().galois_element(power)?;
            keys.get(element)
                .map_err(|_| CkksError::MissingKey(missing_rotation(step, power)))?;
            elements.push(element);
        }
        let mut turned: Option<Ciphertext> = None;
        for element in elements {
            turned = Some(self.automorphism(turned.as_ref().unwrap_or(a), element, keys)?);
        }
        Ok(turned.unwrap_or_else(|| a.clone()))
    }

    pub fn conjugate(&self, a: &Ciphertext, keys: &GaloisKeys) -> Result<Ciphertext, CkksError> {
        self.automorphism(a, self.params().conjugation_element(), keys)
    }

    fn automorphism(
        &self,
        a: &Ciphertext,
        galois: u32,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        Self::check_two(a)?;
        let key = keys.get(galois)?;
        let op = OpKey::Rotate {
            level: a.level(),
            galois,
            seeded: key.seed().is_some(),
        };
        self.one(&op, &[a], &[], &[key], (a.level(), a.scale()))
    }

    /// Several rotations that share one decomposition, one result a step. All keys seeded, or none.
    pub fn rotate_hoisted(
        &self,
        a: &Ciphertext,
        steps: &[i64],
        keys: &GaloisKeys,
    ) -> Result<Vec<Ciphertext>, CkksError> {
        self.check(a)?;
        Self::check_two(a)?;
        let galois = steps
            .iter()
            .map(|&s| self.params().galois_element(s))
            .collect::<Result<Vec<_>, _>>()?;
        let keys = galois
            .iter()
            .map(|&g| keys.get(g))
            .collect::<Result<Vec<_>, _>>()?;
        let seeded = keys.iter().all(|k| k.seed().is_some());
        let op = OpKey::HoistedRotate {
            level: a.level(),
            galois,
            seeded,
        };
        self.apply(&op, &[a], &[], &keys, (a.level(), a.scale()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_sums_of_few_powers_of_two() {
        assert_eq!(powers_of_two(0), []);
        assert_eq!(powers_of_two(7), [-1, 8]);
        assert_eq!(powers_of_two(-7), [1, -8]);
        assert_eq!(powers_of_two(11), [-1, -4, 16]);
        for step in (-300..300).chain([(1 << 40) - 1]) {
            let powers = powers_of_two(step);
            assert_eq!(powers.iter().sum::<i64>(), step);
            let adjacent = powers
                .windows(2)
                .any(|w| w[1].unsigned_abs() < 4 * w[0].unsigned_abs());
            assert!(!adjacent, "{step}: {powers:?}");
        }
    }
}
