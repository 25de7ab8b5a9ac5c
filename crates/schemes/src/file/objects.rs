// SPDX-License-Identifier: Apache-2.0
//! Reads and writes files of the objects that ring schemes share: plaintexts, ciphertexts and keys.

use ringmill_isa::{Galois, Level};
use zeroize::Zeroizing;

use super::container::{Header, Reader, Writer, limb_bytes, open, peek};
use super::counted::read_account;
use super::switching::{key_bytes, read_key, write_key};
use super::{FileError, Kind, SEED};
use crate::rlwe::ledger::Account;
use crate::rlwe::switching::Shape;
use crate::rlwe::{
    Annotation, Ciphertext, GaloisKeys, KeyHalf, Params, Plaintext, PublicKey, RelinKey, SecretKey,
};
use crate::size;
use ringmill_device::KeyId;
use ringmill_math::{Modulus, Residues};

/// The numbers by which a file says whether the uniform half of a public key is stored, or is expanded from a seed.
const STORED: u8 = 0;
const SEEDED: u8 = 1;

fn field(what: &'static str, expected: impl Into<String>, got: impl ToString) -> FileError {
    FileError::Field {
        what,
        expected: expected.into(),
        got: got.to_string(),
    }
}

/// Opens a file of kind `kind` that must belong to these parameters. Returns its header and a reader of its
/// payload.
fn of<'a>(bytes: &'a [u8], kind: Kind, params: &Params) -> Result<(Header, Reader<'a>), FileError> {
    open(bytes, kind, params.scheme(), Some(params.id()))
}

/// Reads the level and the annotation of a plaintext or ciphertext.
fn read_at<A: Annotation>(r: &mut Reader<'_>, params: &Params) -> Result<(Level, A), FileError> {
    let level = Level(r.u32()?);
    let annotation = A::read(r)?;
    params.check_level(level)?;
    Ok((level, annotation))
}

/// Returns the number of bytes that a level and an annotation take in a file.
fn at_bytes<A: Annotation>() -> usize {
    size::sum([4, A::FILE_BYTES])
}

/// Returns the content of a file of a plaintext. The payload is level, annotation, residues.
pub fn write_plaintext<A: Annotation>(plain: &Plaintext<A>) -> Vec<u8> {
    let mut w = Writer::new(
        Kind::Plaintext,
        plain.origin(),
        size::sum([at_bytes::<A>(), size::of_words(plain.limbs().len())]),
    );
    w.u32(plain.level().0);
    plain.annotation().write(&mut w);
    w.wide(plain.limbs());
    w.finish()
}

pub fn read_plaintext<A: Annotation>(
    bytes: &[u8],
    params: &Params,
) -> Result<Plaintext<A>, FileError> {
    let (_, mut r) = of(bytes, Kind::Plaintext, params)?;
    let (level, annotation) = read_at::<A>(&mut r, params)?;
    let limbs = r.residues(residues(params, level.primes()))?;
    r.end()?;
    Plaintext::new(params, level, annotation, limbs).map_err(Into::into)
}

/// Returns the content of a file of a ciphertext. The payload is level and annotation. For a ciphertext whose c_1 was
/// expanded from a seed, the seed and the limbs of c_0 follow, else the number of polynomials and their limbs.
///
/// # Errors
/// Fails for a ciphertext of other parameters.
pub fn write_ciphertext<A: Annotation>(
    params: &Params,
    cipher: &Ciphertext<A>,
) -> Result<Vec<u8>, FileError> {
    params.check_id("ciphertext", cipher.params_id())?;
    let bytes = cipher_bytes(params, cipher);
    let mut w = Writer::new(cipher_kind(cipher), cipher.origin(), bytes);
    write_cipher(&mut w, params, cipher);
    Ok(w.finish())
}

/// Returns the kind of a ciphertext in a file.
pub(super) fn cipher_kind<A: Annotation>(cipher: &Ciphertext<A>) -> Kind {
    match cipher.seed() {
        Some(_) => Kind::SeededCiphertext,
        None => Kind::Ciphertext,
    }
}

/// Returns the moduli of the limbs of a value at a level.
fn moduli(params: &Params, level: Level) -> &[Modulus] {
    params.reducers().get(..level.primes()).unwrap_or_default()
}

/// Returns the number of bytes of a ciphertext's payload.
pub(super) fn cipher_bytes<A: Annotation>(params: &Params, cipher: &Ciphertext<A>) -> usize {
    let poly = limb_bytes(moduli(params, cipher.level()), params.degree());
    let rest = match cipher.seed() {
        Some(_) => size::sum([SEED, poly]),
        None => size::sum([4, poly.saturating_mul(cipher.size())]),
    };
    size::sum([at_bytes::<A>(), rest])
}

/// Writes a ciphertext's payload. The caller has checked that the ciphertext is of these parameters.
pub(super) fn write_cipher<A: Annotation>(w: &mut Writer, params: &Params, cipher: &Ciphertext<A>) {
    w.u32(cipher.level().0);
    cipher.annotation().write(w);
    let polys = match cipher.seed() {
        Some(seed) => {
            w.bytes(seed);
            cipher.polys().get(..1).unwrap_or_default()
        }
        None => {
            w.u32(cipher.size() as u32);
            cipher.polys()
        }
    };
    let moduli = moduli(params, cipher.level());
    polys
        .iter()
        .for_each(|poly| w.limbs(moduli, poly.residues()));
}

/// Reads the content of a file that [`write_ciphertext`] made, of either kind.
///
/// # Errors
/// Fails for a damaged file, for a file of another kind, scheme or parameters, and for a residue that is not below its
/// modulus.
pub fn read_ciphertext<A: Annotation>(
    bytes: &[u8],
    params: &Params,
) -> Result<Ciphertext<A>, FileError> {
    let kind = match peek(bytes)? {
        (_, kind @ Kind::SeededCiphertext) => kind,
        _ => Kind::Ciphertext,
    };
    let (header, mut r) = of(bytes, kind, params)?;
    let cipher = read_cipher(&mut r, kind, params)?;
    r.end()?;
    Ok(cipher.with_key_id(header.key_id))
}

/// Reads a ciphertext's payload, of one of the two kinds. The ciphertext has no key identity.
pub(super) fn read_cipher<A: Annotation>(
    r: &mut Reader<'_>,
    kind: Kind,
    params: &Params,
) -> Result<Ciphertext<A>, FileError> {
    let (level, annotation) = read_at::<A>(r, params)?;
    let (moduli, degree) = (moduli(params, level), params.degree());
    if kind == Kind::SeededCiphertext {
        let seed = r.array()?;
        let c0 = r.limbs(moduli, degree)?;
        return Ciphertext::seeded(params, level, annotation, c0, seed).map_err(Into::into);
    }
    let polys = r.u32()? as usize;
    if !(2..=Ciphertext::<A>::MAX_SIZE).contains(&polys) {
        return Err(field("number of polynomials", "2 or 3", polys));
    }
    let polys = (0..polys).map(|_| r.limbs(moduli, degree));
    let polys = polys.collect::<Result<_, _>>()?;
    Ciphertext::new(params, level, annotation, polys).map_err(Into::into)
}

/// Returns the number of residues of one polynomial with limbs modulo `primes` primes.
fn residues(params: &Params, primes: usize) -> usize {
    primes.saturating_mul(params.degree())
}

fn full(params: &Params) -> usize {
    residues(params, params.moduli().len())
}

/// Returns the content of a file of a public key (b, a). The payload is the key's form, the limbs of b, then those of a
/// or the seed from which a is expanded.
///
/// # Errors
/// Fails for a key of other parameters.
pub fn write_public_key(params: &Params, key: &PublicKey) -> Result<Vec<u8>, FileError> {
    params.check_id("public key", key.params_id())?;
    let limbs = |w: &mut Writer, half| w.limbs(params.reducers(), Residues::Wide(half));
    let capacity = limb_bytes(params.reducers(), params.degree());
    let mut w = Writer::new(
        Kind::PublicKey,
        key.origin(),
        size::sum([1, SEED, capacity]),
    );
    match key.a() {
        KeyHalf::Seed(seed) => {
            w.bytes(&[SEEDED]);
            limbs(&mut w, key.b());
            w.bytes(seed);
        }
        KeyHalf::Stored(a) => {
            w.bytes(&[STORED]);
            limbs(&mut w, key.b());
            limbs(&mut w, a);
        }
    }
    Ok(w.finish())
}

/// Reads the content of a file that [`write_public_key`] made.
///
/// # Errors
/// Fails for a damaged file, for a file of another kind, scheme or parameters, and for a residue that is not below its
/// modulus.
pub fn read_public_key(bytes: &[u8], params: &Params) -> Result<PublicKey, FileError> {
    let (header, mut r) = of(bytes, Kind::PublicKey, params)?;
    let form = r.u8()?;
    let limbs = |r: &mut Reader<'_>| r.limbs(params.reducers(), params.degree());
    if ![STORED, SEEDED].contains(&form) {
        return Err(field("form of the public key", "0 or 1", form));
    }
    let b = limbs(&mut r)?;
    let a = match form {
        SEEDED => KeyHalf::Seed(r.array()?),
        _ => KeyHalf::Stored(limbs(&mut r)?),
    };
    r.end()?;
    Ok(PublicKey::new(params, b, a)?.with_key_id(header.key_id))
}

/// Returns the content of a file of a relinearisation key. The payload is one key-switching key. [`read_relin_key`]
/// reads only keys for the highest level.
///
/// # Errors
/// Fails for a key of other parameters.
pub fn write_relin_key(params: &Params, key: &RelinKey) -> Result<Vec<u8>, FileError> {
    params.check_id("relinearisation key", key.0.params_id())?;
    let mut w = Writer::new(Kind::RelinKey, key.0.origin(), key_bytes(params, &key.0));
    write_key(&mut w, params, &key.0);
    Ok(w.finish())
}

pub fn read_relin_key(bytes: &[u8], params: &Params) -> Result<RelinKey, FileError> {
    let (header, mut r) = of(bytes, Kind::RelinKey, params)?;
    let shape = Shape::at(params, params.max_level());
    let key = read_key(&mut r, params, &shape, header.key_id)?;
    r.end()?;
    Ok(RelinKey(key))
}

/// Returns the content of a file of Galois keys of one secret key. The payload is the number of keys. Then come, for
/// each key, its Galois element and the key, in ascending order of the element. The file has a key identity only if all
/// keys have one. [`read_galois_keys`] reads only keys for the highest level.
///
/// # Errors
/// Fails for keys of different secret keys, for keys of other parameters, and for a key of the Galois element 1.
pub fn write_galois_keys(params: &Params, keys: &GaloisKeys) -> Result<Vec<u8>, FileError> {
    let origin = params.origin(keys.key_id()?);
    let mut w = Writer::new(Kind::GaloisKeys, &origin, galois_bytes(params, keys));
    write_galois(&mut w, params, keys)?;
    Ok(w.finish())
}

/// Returns the number of bytes of the payload of Galois keys.
pub(super) fn galois_bytes(params: &Params, keys: &GaloisKeys) -> usize {
    let each = keys
        .iter()
        .map(|(_, key)| size::sum([4, key_bytes(params, key)]));
    each.fold(4, usize::saturating_add)
}

/// Writes the payload of Galois keys.
///
/// # Errors
/// Fails for keys of other parameters.
pub(super) fn write_galois(
    w: &mut Writer,
    params: &Params,
    keys: &GaloisKeys,
) -> Result<(), FileError> {
    w.u32(keys.len() as u32);
    for (galois, key) in keys.iter() {
        params.check_id("Galois key", key.params_id())?;
        check_element(params, galois.0)?;
        w.u32(galois.0);
        write_key(w, params, key);
    }
    Ok(())
}

/// Checks that a Galois element is an odd number above 1 and below 2N, as those of automorphisms with a key.
fn check_element(params: &Params, element: u32) -> Result<(), FileError> {
    let below = (params.degree() as u64).saturating_mul(2);
    match element % 2 == 1 && element > 1 && u64::from(element) < below {
        true => Ok(()),
        false => Err(field(
            "Galois element",
            "an odd number from 3 to 2N - 1",
            element,
        )),
    }
}

/// Reads the content of a file that [`write_galois_keys`] made.
///
/// # Errors
/// Fails for a damaged file, for a file of another kind, scheme or parameters, and for a residue that is not below its
/// modulus.
pub fn read_galois_keys(bytes: &[u8], params: &Params) -> Result<GaloisKeys, FileError> {
    let (header, mut r) = of(bytes, Kind::GaloisKeys, params)?;
    let keys = read_galois(&mut r, params, header.key_id)?;
    r.end()?;
    Ok(keys)
}

/// Reads the payload of Galois keys.
pub(super) fn read_galois(
    r: &mut Reader<'_>,
    params: &Params,
    key_id: Option<KeyId>,
) -> Result<GaloisKeys, FileError> {
    let shape = Shape::at(params, params.max_level());
    let (count, mut keys, mut previous) = (r.u32()?, GaloisKeys::new(), 0);
    for _ in 0..count {
        let galois = r.u32()?;
        check_element(params, galois)?;
        if galois <= previous {
            return Err(field(
                "Galois element",
                "one larger than the one before",
                galois,
            ));
        }
        previous = galois;
        keys.insert(Galois(galois), read_key(r, params, &shape, key_id)?);
    }
    Ok(keys)
}

/// Returns the content of a file of the secret key itself, unprotected: whoever reads the file reads every message.
/// The payload is the key's residues modulo all primes, in evaluation form. It does not hold the count of decryptions
/// that were shared with others, because nobody could update the count there. [`SecretKey::save`] can write a file that
/// does.
pub fn write_secret_key_in_the_clear(key: &SecretKey) -> Zeroizing<Vec<u8>> {
    let limbs = key.expose_eval_limbs();
    let mut w = Writer::new(Kind::SecretKey, key.origin(), size::of_words(limbs.len()));
    w.residues(limbs);
    w.finish_secret()
}

/// Reads the content of a file that [`write_secret_key_in_the_clear`] or [`SecretKey::save`] made. The caller must wipe
/// the bytes afterwards. For a key from a file, [`SecretKey::kept_in`] must name the file before the holder shares
/// decryptions with others.
///
/// # Errors
/// Fails for a damaged file, for a file of another kind, scheme or parameters, and for a residue that is not below its
/// modulus.
pub fn read_secret_key_in_the_clear(bytes: &[u8], params: &Params) -> Result<SecretKey, FileError> {
    let counted = matches!(peek(bytes), Ok((_, Kind::CountedSecretKey)));
    let (kind, account) = match counted {
        true => (Kind::CountedSecretKey, Account::BYTES),
        false => (Kind::SecretKey, 0),
    };
    let (header, mut r) = of(bytes, kind, params)?;
    r.expect_remaining(size::sum([size::of_words(full(params)), account]) as u64)?;
    let limbs = Zeroizing::new(r.residues(full(params))?);
    if counted {
        read_account(&mut r)?;
    }
    Ok(SecretKey::from_eval_limbs(params, limbs)?.with_key_id(header.key_id))
}
