//! Ciphertexts and plaintexts: limbs in evaluation form at a level and a scale.

use super::arith::{check_limbs, expand};
use super::error::CkksError;
use super::identity::KeyId;
use super::params::{Params, ParamsId};

/// Indices of the moduli of a level.
fn level_indices(level: u32) -> Vec<usize> {
    (0..=level as usize).collect()
}

fn check_at(params: &Params, level: u32, scale: f64) -> Result<(), CkksError> {
    params.check_level(level)?;
    if scale.is_finite() && scale > 0.0 {
        return Ok(());
    }
    Err(CkksError::Scale {
        got: scale,
        max_log2: params.log_q(level),
    })
}

/// An encoded vector: one polynomial, `level + 1` limbs in evaluation form, limb-major.
#[derive(Clone, PartialEq, Debug)]
pub struct Plaintext {
    params_id: ParamsId,
    level: u32,
    scale: f64,
    limbs: Vec<u64>,
}

impl Plaintext {
    /// Checks the level, the scale, the number of residues and that each is below its modulus.
    pub fn new(
        params: &Params,
        level: u32,
        scale: f64,
        limbs: Vec<u64>,
    ) -> Result<Self, CkksError> {
        check_at(params, level, scale)?;
        check_limbs(params, "plaintext", &level_indices(level), &limbs)?;
        Ok(Self {
            params_id: *params.id(),
            level,
            scale,
            limbs,
        })
    }

    pub(super) fn trusted(params: &Params, level: u32, scale: f64, limbs: Vec<u64>) -> Self {
        Self {
            params_id: *params.id(),
            level,
            scale,
            limbs,
        }
    }

    pub fn params_id(&self) -> &ParamsId {
        &self.params_id
    }

    pub fn level(&self) -> u32 {
        self.level
    }

    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// All residues, limb-major.
    pub fn limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// The limb of ciphertext prime `index`, if the level has it.
    pub fn limb(&self, index: usize) -> Option<&[u64]> {
        limb(&self.limbs, index, self.level as usize + 1)
    }
}

/// Two or more polynomials of `level + 1` limbs in evaluation form: c_0 + c_1 s + c_2 s^2 ... is the message.
#[derive(Clone, PartialEq, Debug)]
pub struct Ciphertext {
    params_id: ParamsId,
    key_id: Option<KeyId>,
    level: u32,
    scale: f64,
    polys: Vec<Vec<u64>>,
}

impl Ciphertext {
    /// Most polynomials a ciphertext may have: two, or three before relinearisation.
    pub const MAX_SIZE: usize = 3;

    /// Checks the level, the scale, the number of polynomials and residues and that each is below its modulus. It
    /// has no key identity.
    pub fn new(
        params: &Params,
        level: u32,
        scale: f64,
        polys: Vec<Vec<u64>>,
    ) -> Result<Self, CkksError> {
        check_at(params, level, scale)?;
        if !(2..=Self::MAX_SIZE).contains(&polys.len()) {
            return Err(CkksError::Size {
                what: "ciphertext",
                expected: "2 or 3".into(),
                got: polys.len(),
            });
        }
        for poly in &polys {
            check_limbs(params, "ciphertext", &level_indices(level), poly)?;
        }
        Ok(Self::trusted(params, level, scale, polys, None))
    }

    pub(super) fn trusted(
        params: &Params,
        level: u32,
        scale: f64,
        polys: Vec<Vec<u64>>,
        key_id: Option<KeyId>,
    ) -> Self {
        Self {
            params_id: *params.id(),
            key_id,
            level,
            scale,
            polys,
        }
    }

    /// The secret key this belongs to, where that is known.
    pub fn key_id(&self) -> Option<KeyId> {
        self.key_id
    }

    /// The same under another identity: for readers of formats that keep it elsewhere, or not at all.
    pub fn with_key_id(mut self, key_id: Option<KeyId>) -> Self {
        self.key_id = key_id;
        self
    }

    pub fn params_id(&self) -> &ParamsId {
        &self.params_id
    }

    pub fn level(&self) -> u32 {
        self.level
    }

    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Number of polynomials.
    pub fn size(&self) -> usize {
        self.polys.len()
    }

    /// Whether the message shows without the secret key: every polynomial but c_0 is zero.
    pub fn is_transparent(&self) -> bool {
        let mut masks = self.polys.iter().skip(1).flatten();
        masks.all(|&residue| residue == 0)
    }

    /// The polynomials, each limb-major.
    pub fn polys(&self) -> &[Vec<u64>] {
        &self.polys
    }

    /// The limb of polynomial `poly` and ciphertext prime `index`.
    pub fn limb(&self, poly: usize, index: usize) -> Option<&[u64]> {
        limb(self.polys.get(poly)?, index, self.level as usize + 1)
    }

    /// The polynomials, taken out.
    pub fn into_polys(self) -> Vec<Vec<u64>> {
        self.polys
    }

    /// The same ciphertext at another scale: the caller answers for its meaning (a rescale whose prime is taken as the
    /// nominal scale, for instance).
    pub fn with_scale(mut self, scale: f64) -> Self {
        self.scale = scale;
        self
    }
}

/// A secret-key ciphertext whose c_1 is expanded from a seed: half as long. Limb i of c_1 is stream i of the seed.
#[derive(Clone, PartialEq, Debug)]
pub struct SeededCiphertext {
    params_id: ParamsId,
    key_id: Option<KeyId>,
    level: u32,
    scale: f64,
    c0: Vec<u64>,
    seed: [u8; 32],
}

impl SeededCiphertext {
    /// Checks as [`Ciphertext::new`] does.
    pub fn new(
        params: &Params,
        level: u32,
        scale: f64,
        c0: Vec<u64>,
        seed: [u8; 32],
    ) -> Result<Self, CkksError> {
        check_at(params, level, scale)?;
        check_limbs(params, "seeded ciphertext", &level_indices(level), &c0)?;
        Ok(Self::trusted(params, level, scale, c0, seed, None))
    }

    pub(super) fn trusted(
        params: &Params,
        level: u32,
        scale: f64,
        c0: Vec<u64>,
        seed: [u8; 32],
        key_id: Option<KeyId>,
    ) -> Self {
        Self {
            params_id: *params.id(),
            key_id,
            level,
            scale,
            c0,
            seed,
        }
    }

    /// The secret key this belongs to, where that is known.
    pub fn key_id(&self) -> Option<KeyId> {
        self.key_id
    }

    /// The same under another identity: for readers of formats that keep it elsewhere, or not at all.
    pub fn with_key_id(mut self, key_id: Option<KeyId>) -> Self {
        self.key_id = key_id;
        self
    }

    pub fn params_id(&self) -> &ParamsId {
        &self.params_id
    }

    pub fn level(&self) -> u32 {
        self.level
    }

    pub fn scale(&self) -> f64 {
        self.scale
    }

    pub fn c0(&self) -> &[u64] {
        &self.c0
    }

    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// The whole ciphertext.
    pub fn expand(&self, params: &Params) -> Result<Ciphertext, CkksError> {
        params.check_id("seeded ciphertext", &self.params_id)?;
        let c1 = expand(params, &level_indices(self.level), &self.seed, 0);
        Ok(Ciphertext::trusted(
            params,
            self.level,
            self.scale,
            vec![self.c0.clone(), c1],
            self.key_id,
        ))
    }
}

/// Limb `index` of a limb-major vector of `count` limbs.
pub(crate) fn limb(data: &[u64], index: usize, count: usize) -> Option<&[u64]> {
    let n = data.len().checked_div(count)?;
    data.get(index.checked_mul(n)?..(index + 1).checked_mul(n)?)
}
