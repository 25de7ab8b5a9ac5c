//! Homomorphic operations for simple callers, run by the reference interpreter. Programs go through the compiler and a
//! device instead; both run the same procedures.

use std::sync::Arc;

use ringmill_isa::mid::{ParamRole, Procedure};

use super::cipher::{Ciphertext, Plaintext};
use super::error::CkksError;
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

/// Homomorphic operations on whole ciphertexts. Operands must agree in level, and in scale where they are added.
#[derive(Debug)]
pub struct Evaluator {
    cache: Arc<ProcCache>,
}

/// Relative difference below which two scales count as equal.
const SCALE_TOLERANCE: f64 = 1e-9;

impl Evaluator {
    pub fn new(params: Arc<Params>) -> Self {
        Self {
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
        Ok(results
            .into_iter()
            .map(|polys| Ciphertext::trusted(self.params(), at.0, at.1, polys))
            .collect())
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
        self.one(&key, &[a], &[m], &[], (a.level(), a.scale() * m.scale()))
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
        self.one(&key, &[a], &[], &[], (a.level(), a.scale() * scale))
    }

    /// The product, of three polynomials.
    pub fn mul(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.check_pair(a, b)?;
        Self::check_two(a)?;
        Self::check_two(b)?;
        let key = OpKey::Mul { level: a.level() };
        self.one(&key, &[a, b], &[], &[], (a.level(), a.scale() * b.scale()))
    }

    pub fn square(&self, a: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        Self::check_two(a)?;
        let key = OpKey::Square { level: a.level() };
        self.one(&key, &[a], &[], &[], (a.level(), a.scale() * a.scale()))
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
        self.one(
            &op,
            &[a, b],
            &[],
            &[&key.0],
            (a.level(), a.scale() * b.scale()),
        )
    }

    pub fn square_relin(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        Self::check_two(a)?;
        let op = OpKey::SquareRelin {
            level: a.level(),
            seeded: key.0.seed().is_some(),
        };
        self.one(
            &op,
            &[a],
            &[],
            &[&key.0],
            (a.level(), a.scale() * a.scale()),
        )
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

    /// Drops primes down to `level`; the scale stays.
    pub fn mod_switch(&self, a: &Ciphertext, level: u32) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        if level > a.level() {
            return Err(CkksError::LevelMismatch {
                what: "ciphertext to switch down",
                expected: level,
                got: a.level(),
            });
        }
        let length = (level as usize + 1) * self.params().degree();
        let polys = a
            .polys()
            .iter()
            .map(|p| p.iter().take(length).copied().collect())
            .collect();
        Ok(Ciphertext::trusted(self.params(), level, a.scale(), polys))
    }

    /// Slot i of the result is slot i + `step` of `a`, cyclically.
    pub fn rotate(
        &self,
        a: &Ciphertext,
        step: i64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, CkksError> {
        self.automorphism(a, self.params().galois_element(step)?, keys)
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
