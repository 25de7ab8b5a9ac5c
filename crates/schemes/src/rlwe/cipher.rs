// SPDX-License-Identifier: Apache-2.0
//! Ciphertexts and plaintexts of the ring schemes: limbs in evaluation form at a level, with their scheme's annotation.

use std::fmt::Debug;

use ringmill_isa::macros::Note;
use ringmill_isa::{Level, Poly};
use ringmill_math::{Modulus, Residues};
use zeroize::Zeroizing;

use super::arith::{check_limbs, expand};
use super::error::RlweError;
use super::params::Params;
use crate::file::{FileError, Reader, Writer};
use crate::identity::{Origin, belongs};
use crate::scheme::{At, Encrypted};
use ringmill_device::KeyId;
use ringmill_device::ResidueVec;
use ringmill_device::{Limbed, ParamsId};

/// The most polynomials that a ciphertext may have.
pub(crate) const MAX_SIZE: usize = 3;

/// Returns the indices, in the parameters' table of moduli, of the ciphertext primes at a level.
fn level_indices(level: Level) -> Vec<usize> {
    level.moduli().collect()
}

/// The data that a scheme adds to the limbs and the level of a value: a scale in CKKS, a correction factor in BGV,
/// nothing in BFV.
pub trait Annotation: Clone + PartialEq + Debug + Send + Sync + 'static {
    type Error: From<RlweError> + Into<FileError>;
    /// The number of bytes that a ciphertext's annotation, such as a scale or a correction factor,
    /// takes in a file.
    const FILE_BYTES: usize;

    /// Refuses an annotation that no value of these parameters can have at `level`.
    fn check(&self, params: &Params, level: Level) -> Result<(), Self::Error>;

    /// Returns the number of which the errors of a fresh encryption with this annotation are multiples. It is a
    /// plaintext modulus in BGV, and `None` for schemes whose messages are not in the low bits of the phase.
    ///
    /// # Errors
    /// Fails for an annotation of other parameters.
    fn low(&self, params: &Params) -> Result<Option<Modulus>, RlweError> {
        Ok(params.low_modulus())
    }

    fn write(&self, to: &mut Writer);

    /// Returns the annotation as programs write it in the type of a value.
    fn note(&self) -> Note;

    /// Returns the annotation that a program writes as `note`, or `None` for a note of another scheme's values.
    fn of_note(note: Note) -> Option<Self>;

    /// Reads an annotation that [`Annotation::write`] wrote. [`Annotation::check`] checks whether a value may have it.
    fn read(from: &mut Reader<'_>) -> Result<Self, FileError>;
}

fn check_at<A: Annotation>(params: &Params, level: Level, annotation: &A) -> Result<(), A::Error> {
    params.check_level(level)?;
    annotation.check(params, level)
}

/// The annotation of BFV's values, which holds nothing.
impl Annotation for () {
    type Error = RlweError;
    const FILE_BYTES: usize = 0;

    fn check(&self, _: &Params, _: Level) -> Result<(), RlweError> {
        Ok(())
    }

    fn note(&self) -> Note {
        Note::Bare
    }

    fn of_note(note: Note) -> Option<()> {
        match note {
            Note::Bare => Some(()),
            Note::Scale(_) | Note::Factor(_) => None,
        }
    }

    fn write(&self, _: &mut Writer) {}

    fn read(_: &mut Reader<'_>) -> Result<Self, FileError> {
        Ok(())
    }
}

/// An encoded message in the form that is added to an encryption of zero: one polynomial of `level + 1` limbs in
/// evaluation form. It is wiped on drop, because a decrypted CKKS plaintext holds the error of its ciphertext, from
/// which the secret key follows.
#[derive(Clone, PartialEq, Debug)]
pub struct Plaintext<A> {
    origin: Origin,
    level: Level,
    annotation: A,
    limbs: Zeroizing<ResidueVec>,
}

belongs!(for<A: Annotation> Plaintext<A>);

impl<A: Annotation> Plaintext<A> {
    /// Makes a plaintext, after a check of the level, the annotation, the number of residues, and that each is below
    /// its modulus.
    pub fn new(
        params: &Params,
        level: Level,
        annotation: impl Into<A>,
        limbs: Vec<u64>,
    ) -> Result<Self, A::Error> {
        let (annotation, limbs) = (annotation.into(), Zeroizing::new(limbs));
        check_at(params, level, &annotation)?;
        check_limbs(params, "plaintext", &level_indices(level), &limbs)?;
        Ok(Self::trusted(params, level, annotation, limbs)?)
    }

    /// Makes a plaintext of residues without checking them. The caller knows that they are valid for these
    /// parameters.
    ///
    /// # Errors
    /// None for residues of the right length.
    pub(crate) fn trusted(
        params: &Params,
        level: Level,
        annotation: A,
        limbs: Zeroizing<Vec<u64>>,
    ) -> Result<Self, RlweError> {
        Ok(Self {
            origin: params.origin(None),
            level,
            annotation,
            limbs: ResidueVec::packed_secret(params.short_words(), limbs)?,
        })
    }

    pub fn level(&self) -> Level {
        self.level
    }

    pub fn annotation(&self) -> &A {
        &self.annotation
    }

    /// Returns all residues of the plaintext, one limb after another.
    pub fn limbs(&self) -> Residues<'_> {
        self.limbs.residues()
    }

    /// Returns the plaintext's limb modulo the ciphertext prime of index `index`, or `None` if the level does not
    /// have this prime.
    pub fn limb(&self, index: usize) -> Option<Residues<'_>> {
        self.limbs.limb(index, self.level.primes())
    }
}

/// A ciphertext: two or three polynomials of `level + 1` limbs in evaluation form. Its phase, which holds the message,
/// is c_0 + c_1 s + c_2 s^2. If c_1 was expanded from a seed, the ciphertext keeps the seed, which takes the place of
/// c_1 in files.
#[derive(Clone, Debug)]
pub struct Ciphertext<A> {
    origin: Origin,
    level: Level,
    annotation: A,
    polys: Vec<ResidueVec>,
    /// The seed of c_1 for a ciphertext of two polynomials: its limb modulo the prime q_i is random stream number i of
    /// the seed.
    seed: Option<[u8; 32]>,
}

belongs!(for<A: Annotation> Ciphertext<A>);

/// Ciphertexts of the same polynomials are equal, whether or not a seed is known.
impl<A: PartialEq> PartialEq for Ciphertext<A> {
    fn eq(&self, other: &Self) -> bool {
        (self.origin, self.level) == (other.origin, other.level)
            && self.annotation == other.annotation
            && self.polys == other.polys
    }
}

impl<A: Annotation> Ciphertext<A> {
    /// The most polynomials that a ciphertext may have: two, or three before relinearisation.
    pub const MAX_SIZE: usize = MAX_SIZE;

    /// Makes a ciphertext, after a check of the level, the annotation, the number of polynomials and residues, and
    /// that each residue is below its modulus. The ciphertext has no key identity.
    pub fn new(
        params: &Params,
        level: Level,
        annotation: impl Into<A>,
        polys: Vec<Vec<u64>>,
    ) -> Result<Self, A::Error> {
        let annotation = annotation.into();
        check_at(params, level, &annotation)?;
        if !(2..=Self::MAX_SIZE).contains(&polys.len()) {
            return Err(RlweError::Size {
                what: "ciphertext",
                expected: "2 or 3".into(),
                got: polys.len(),
            }
            .into());
        }
        for poly in &polys {
            check_limbs(params, "ciphertext", &level_indices(level), poly)?;
        }
        let packed = |poly| ResidueVec::packed(params.short_words(), poly);
        let polys = polys.into_iter().map(packed).collect();
        Ok(Self::trusted(params, level, annotation, polys, None))
    }

    /// Makes a ciphertext of two polynomials, of which c_1 is expanded from a seed, after a check of the level, the
    /// annotation, the number of residues of c_0, and that each is below its modulus. The ciphertext has no key
    /// identity.
    pub fn seeded(
        params: &Params,
        level: Level,
        annotation: impl Into<A>,
        c0: Vec<u64>,
        seed: [u8; 32],
    ) -> Result<Self, A::Error> {
        let c1 = |indices: &[usize]| expand(params, indices, &seed, 0);
        let (annotation, indices) = (annotation.into(), level_indices(level));
        check_at(params, level, &annotation)?;
        check_limbs(params, "seeded ciphertext", &indices, &c0)?;
        let polys = [c0, c1(&indices)].map(|poly| ResidueVec::packed(params.short_words(), poly));
        let cipher = Self::trusted(params, level, annotation, polys.into(), None);
        Ok(cipher.with_seed(seed))
    }

    /// Returns the ciphertext with the seed from which its polynomial c_1 was expanded.
    pub(crate) fn with_seed(mut self, seed: [u8; 32]) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Returns the seed from which the polynomial c_1 was expanded, or `None` if it was not.
    pub fn seed(&self) -> Option<&[u8; 32]> {
        self.seed.as_ref()
    }

    /// Makes a ciphertext of polynomials without checking them. The caller knows that they are valid, and that
    /// their words have the width that these parameters use.
    pub(crate) fn trusted(
        params: &Params,
        level: Level,
        annotation: A,
        polys: Vec<ResidueVec>,
        key_id: Option<KeyId>,
    ) -> Self {
        Self {
            origin: params.origin(key_id),
            level,
            annotation,
            polys,
            seed: None,
        }
    }

    pub fn level(&self) -> Level {
        self.level
    }

    pub fn annotation(&self) -> &A {
        &self.annotation
    }

    /// Returns the number of polynomials of the ciphertext.
    pub fn size(&self) -> usize {
        self.polys.len()
    }

    /// Returns whether the message is visible without the secret key, because every polynomial except c_0 is zero.
    pub fn is_transparent(&self) -> bool {
        self.polys.iter().skip(1).all(ResidueVec::is_zero)
    }

    /// Returns the polynomials c_0, c_1, ... of the ciphertext. Each has one limb after another.
    pub fn polys(&self) -> &[ResidueVec] {
        &self.polys
    }

    /// Returns the polynomial c_0 for writing, with one limb after another.
    pub(crate) fn c0_mut(&mut self) -> Option<&mut ResidueVec> {
        self.polys.first_mut()
    }

    /// Returns the limb of polynomial `poly` modulo the ciphertext prime of index `index`, or `None` if there is
    /// none.
    pub fn limb(&self, poly: Poly, index: usize) -> Option<Residues<'_>> {
        self.polys
            .get(poly.index())?
            .limb(index, self.level.primes())
    }

    /// Returns the ciphertext with another annotation. The caller ensures that the message is still right under the
    /// new annotation. In CKKS, for example, a scale that is nearly 2^40 after a rescaling may count as 2^40.
    pub fn with_annotation(mut self, annotation: impl Into<A>) -> Self {
        self.annotation = annotation.into();
        self
    }

    /// Returns the polynomials and consumes the ciphertext.
    pub fn into_polys(self) -> Vec<ResidueVec> {
        self.polys
    }
}

impl<A: Annotation> Limbed for Plaintext<A> {
    fn params_id(&self) -> &ParamsId {
        self.params_id()
    }

    fn polys(&self) -> usize {
        1
    }

    fn limb(&self, poly: Poly, modulus: usize) -> Option<Residues<'_>> {
        (poly == Poly::FIRST).then(|| self.limb(modulus)).flatten()
    }
}

impl<A: Annotation> Limbed for Ciphertext<A> {
    fn params_id(&self) -> &ParamsId {
        self.params_id()
    }

    fn polys(&self) -> usize {
        self.size()
    }

    fn limb(&self, poly: Poly, modulus: usize) -> Option<Residues<'_>> {
        self.limb(poly, modulus)
    }

    fn key_id(&self) -> Option<KeyId> {
        self.key_id()
    }
}

impl<A: Annotation> Encrypted<A> for Ciphertext<A> {
    fn at(&self) -> At<A> {
        At {
            level: self.level,
            annotation: self.annotation.clone(),
        }
    }

    fn is_transparent(&self) -> bool {
        self.is_transparent()
    }
}

/// Returns the limb of index `index` in a vector of `count` limbs, or `None` if there is none.
pub(crate) fn limb(data: &[u64], index: usize, count: usize) -> Option<&[u64]> {
    let n = data.len().checked_div(count)?;
    data.get(index.checked_mul(n)?..(index + 1).checked_mul(n)?)
}
