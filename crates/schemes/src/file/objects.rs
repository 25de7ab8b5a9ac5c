// SPDX-License-Identifier: Apache-2.0
//! Reads and writes files of the objects that ring schemes share: plaintexts, ciphertexts and keys.

use ringmill_isa::{Galois, Level};
use zeroize::Zeroizing;

use super::container::{Header, Reader, Writer, open, peek};
use super::counted::read_account;
use super::switching::{key_bytes, read_key, write_key};
use super::{FileError, Kind};
use crate::rlwe::ledger::Account;
use crate::rlwe::switching::Shape;
use crate::rlwe::{
    Annotation, Ciphertext, GaloisKeys, KeyHalf, Params, Plaintext, PublicKey, RelinKey, SecretKey,
    SeededCiphertext,
};
use crate::size;
use ringmill_device::ResidueVec;

const SEED: usize = 32;
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

/// Reads the level and the annotation of a plaintext or ciphertext. Also returns the number of residues that a
/// polynomial has at the level.
fn read_at<A: Annotation>(
    r: &mut Reader<'_>,
    params: &Params,
) -> Result<(Level, A, usize), FileError> {
    let level = Level(r.u32()?);
    let annotation = A::read(r)?;
    params.check_level(level)?;
    Ok((level, annotation, residues(params, level.primes())))
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
    let (level, annotation, count) = read_at::<A>(&mut r, params)?;
    r.expect_remaining(size::of_words(count) as u64)?;
    let limbs = r.residues(count)?;
    Plaintext::new(params, level, annotation, limbs).map_err(Into::into)
}

/// Returns the content of a file of a ciphertext. The payload is level, annotation, number of polynomials, residues.
pub fn write_ciphertext<A: Annotation>(cipher: &Ciphertext<A>) -> Vec<u8> {
    let residues: usize = cipher.polys().iter().map(ResidueVec::len).sum();
    let mut w = Writer::new(
        Kind::Ciphertext,
        cipher.origin(),
        size::sum([at_bytes::<A>(), 4, size::of_words(residues)]),
    );
    w.u32(cipher.level().0);
    cipher.annotation().write(&mut w);
    w.u32(cipher.size() as u32);
    for poly in cipher.polys() {
        w.wide(poly.residues());
    }
    w.finish()
}

pub fn read_ciphertext<A: Annotation>(
    bytes: &[u8],
    params: &Params,
) -> Result<Ciphertext<A>, FileError> {
    let (header, mut r) = of(bytes, Kind::Ciphertext, params)?;
    let (level, annotation, count) = read_at::<A>(&mut r, params)?;
    let polys = r.u32()? as usize;
    if !(2..=Ciphertext::<A>::MAX_SIZE).contains(&polys) {
        return Err(field("number of polynomials", "2 or 3", polys));
    }
    r.expect_remaining(size::of_words(polys.saturating_mul(count)) as u64)?;
    let polys = (0..polys)
        .map(|_| r.residues(count))
        .collect::<Result<_, _>>()?;
    let cipher = Ciphertext::new(params, level, annotation, polys).map_err(Into::into)?;
    Ok(cipher.with_key_id(header.key_id))
}

/// Returns the content of a file of a seeded ciphertext. The payload is level, annotation, seed, residues of c_0.
pub fn write_seeded_ciphertext<A: Annotation>(cipher: &SeededCiphertext<A>) -> Vec<u8> {
    let mut w = Writer::new(
        Kind::SeededCiphertext,
        cipher.origin(),
        size::sum([at_bytes::<A>(), SEED, size::of_words(cipher.c0().len())]),
    );
    w.u32(cipher.level().0);
    cipher.annotation().write(&mut w);
    w.bytes(cipher.seed());
    w.residues(cipher.c0());
    w.finish()
}

pub fn read_seeded_ciphertext<A: Annotation>(
    bytes: &[u8],
    params: &Params,
) -> Result<SeededCiphertext<A>, FileError> {
    let (header, mut r) = of(bytes, Kind::SeededCiphertext, params)?;
    let (level, annotation, count) = read_at::<A>(&mut r, params)?;
    let seed = r.array()?;
    r.expect_remaining(size::of_words(count) as u64)?;
    let c0 = r.residues(count)?;
    let cipher = SeededCiphertext::new(params, level, annotation, c0, seed);
    let cipher = cipher.map_err(Into::into)?;
    Ok(cipher.with_key_id(header.key_id))
}

/// Returns the number of residues of one polynomial with limbs modulo `primes` primes.
fn residues(params: &Params, primes: usize) -> usize {
    primes.saturating_mul(params.degree())
}

fn full(params: &Params) -> usize {
    residues(params, params.moduli().len())
}

/// Returns the content of a file of a public key (b, a). The payload is the key's form, the residues of b, then
/// those of a or the seed from which a is expanded.
pub fn write_public_key(key: &PublicKey) -> Vec<u8> {
    let half = size::of_words(key.b().len());
    let mut w = Writer::new(Kind::PublicKey, key.origin(), size::sum([1, half, half]));
    match key.a() {
        KeyHalf::Seed(seed) => {
            w.bytes(&[SEEDED]);
            w.residues(key.b());
            w.bytes(seed);
        }
        KeyHalf::Stored(a) => {
            w.bytes(&[STORED]);
            w.residues(key.b());
            w.residues(a);
        }
    }
    w.finish()
}

pub fn read_public_key(bytes: &[u8], params: &Params) -> Result<PublicKey, FileError> {
    let (header, mut r) = of(bytes, Kind::PublicKey, params)?;
    let (form, count) = (r.u8()?, full(params));
    let second = match form {
        STORED => size::of_words(count),
        SEEDED => SEED,
        other => return Err(field("form of the public key", "0 or 1", other)),
    };
    r.expect_remaining(size::sum([size::of_words(count), second]) as u64)?;
    let b = r.residues(count)?;
    let a = if form == SEEDED {
        KeyHalf::Seed(r.array()?)
    } else {
        KeyHalf::Stored(r.residues(count)?)
    };
    Ok(PublicKey::new(params, b, a)?.with_key_id(header.key_id))
}

/// Returns the content of a file of a relinearisation key. The payload is one key-switching key. [`read_relin_key`]
/// reads only keys for the highest level.
pub fn write_relin_key(key: &RelinKey) -> Vec<u8> {
    let mut w = Writer::new(Kind::RelinKey, key.0.origin(), key_bytes(&key.0));
    write_key(&mut w, &key.0);
    w.finish()
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
/// keys have one. [`read_galois_keys`] reads only keys for the highest level, and refuses the element 1.
///
/// # Errors
/// Fails for keys of different secret keys, and for keys of other parameters.
pub fn write_galois_keys(params: &Params, keys: &GaloisKeys) -> Result<Vec<u8>, FileError> {
    let capacity = keys.iter().map(|(_, k)| size::sum([4, key_bytes(k)]));
    let mut w = Writer::new(
        Kind::GaloisKeys,
        &params.origin(keys.key_id()?),
        capacity.fold(4, usize::saturating_add),
    );
    w.u32(keys.len() as u32);
    for (galois, key) in keys.iter() {
        params.check_id("Galois key", key.params_id())?;
        w.u32(galois.0);
        write_key(&mut w, key);
    }
    Ok(w.finish())
}

pub fn read_galois_keys(bytes: &[u8], params: &Params) -> Result<GaloisKeys, FileError> {
    let (header, mut r) = of(bytes, Kind::GaloisKeys, params)?;
    let shape = Shape::at(params, params.max_level());
    let (count, mut keys, mut previous) = (r.u32()?, GaloisKeys::new(), 0);
    for _ in 0..count {
        let galois = r.u32()?;
        if galois % 2 == 0
            || galois <= previous.max(1)
            || u64::from(galois) >= (params.degree() as u64).saturating_mul(2)
        {
            return Err(field(
                "Galois element",
                "an odd number below 2N, larger than the one before and than 1",
                galois,
            ));
        }
        previous = galois;
        keys.insert(
            Galois(galois),
            read_key(&mut r, params, &shape, header.key_id)?,
        );
    }
    r.end()?;
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
