//! Files of plaintexts, ciphertexts and keys.

use zeroize::Zeroizing;

use super::container::{Reader, Writer, open};
use super::{FileError, Kind};
use crate::ckks::cipher::{Ciphertext, Plaintext, SeededCiphertext};
use crate::ckks::identity::KeyId;
use crate::ckks::key::{GaloisKeys, KSwitchKey, KeyHalf, PublicKey, RelinKey, SecretKey};
use crate::ckks::params::Params;

const SEED: usize = 32;
/// Form bytes of a uniform half.
const STORED: u8 = 0;
const SEEDED: u8 = 1;

fn field(what: &'static str, expected: impl Into<String>, got: impl ToString) -> FileError {
    FileError::Field {
        what,
        expected: expected.into(),
        got: got.to_string(),
    }
}

/// Level and scale, then the number of residues a polynomial has there.
fn read_at(r: &mut Reader<'_>, params: &Params) -> Result<(u32, f64, usize), FileError> {
    let (level, scale) = (r.u32()?, r.f64()?);
    params.check_level(level)?;
    Ok((level, scale, (level as usize + 1) * params.degree()))
}

/// Payload: level, scale, residues.
pub fn write_plaintext(plain: &Plaintext) -> Vec<u8> {
    let mut w = Writer::new(
        Kind::Plaintext,
        plain.params_id(),
        None,
        12 + 8 * plain.limbs().len(),
    );
    w.u32(plain.level());
    w.f64(plain.scale());
    w.residues(plain.limbs());
    w.finish()
}

pub fn read_plaintext(bytes: &[u8], params: &Params) -> Result<Plaintext, FileError> {
    let (_, mut r) = open(bytes, Kind::Plaintext, Some(params.id()))?;
    let (level, scale, count) = read_at(&mut r, params)?;
    r.expect_remaining(8 * count as u64)?;
    let limbs = r.residues(count)?;
    Ok(Plaintext::new(params, level, scale, limbs)?)
}

/// Payload: level, scale, number of polynomials, residues.
pub fn write_ciphertext(cipher: &Ciphertext) -> Vec<u8> {
    let residues: usize = cipher.polys().iter().map(Vec::len).sum();
    let mut w = Writer::new(
        Kind::Ciphertext,
        cipher.params_id(),
        cipher.key_id(),
        16 + 8 * residues,
    );
    w.u32(cipher.level());
    w.f64(cipher.scale());
    w.u32(cipher.size() as u32);
    for poly in cipher.polys() {
        w.residues(poly);
    }
    w.finish()
}

pub fn read_ciphertext(bytes: &[u8], params: &Params) -> Result<Ciphertext, FileError> {
    let (header, mut r) = open(bytes, Kind::Ciphertext, Some(params.id()))?;
    let (level, scale, count) = read_at(&mut r, params)?;
    let size = r.u32()? as usize;
    if !(2..=Ciphertext::MAX_SIZE).contains(&size) {
        return Err(field("number of polynomials", "2 or 3", size));
    }
    r.expect_remaining(8 * (size * count) as u64)?;
    let polys = (0..size)
        .map(|_| r.residues(count))
        .collect::<Result<_, _>>()?;
    Ok(Ciphertext::new(params, level, scale, polys)?.with_key_id(header.key_id))
}

/// Payload: level, scale, seed, residues of c_0.
pub fn write_seeded_ciphertext(cipher: &SeededCiphertext) -> Vec<u8> {
    let mut w = Writer::new(
        Kind::SeededCiphertext,
        cipher.params_id(),
        cipher.key_id(),
        12 + SEED + 8 * cipher.c0().len(),
    );
    w.u32(cipher.level());
    w.f64(cipher.scale());
    w.bytes(cipher.seed());
    w.residues(cipher.c0());
    w.finish()
}

pub fn read_seeded_ciphertext(
    bytes: &[u8],
    params: &Params,
) -> Result<SeededCiphertext, FileError> {
    let (header, mut r) = open(bytes, Kind::SeededCiphertext, Some(params.id()))?;
    let (level, scale, count) = read_at(&mut r, params)?;
    let seed = r.array()?;
    r.expect_remaining(8 * count as u64)?;
    let c0 = r.residues(count)?;
    Ok(SeededCiphertext::new(params, level, scale, c0, seed)?.with_key_id(header.key_id))
}

fn full(params: &Params) -> usize {
    params.moduli().len() * params.degree()
}

/// Payload: form, b, then the seed or a.
pub fn write_public_key(key: &PublicKey) -> Vec<u8> {
    let mut w = Writer::new(
        Kind::PublicKey,
        key.params_id(),
        key.key_id(),
        1 + 16 * key.b().len(),
    );
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
    let (header, mut r) = open(bytes, Kind::PublicKey, Some(params.id()))?;
    let (form, count) = (r.u8()?, full(params));
    let second = match form {
        STORED => 8 * count,
        SEEDED => SEED,
        other => return Err(field("form of the public key", "0 or 1", other)),
    };
    r.expect_remaining((8 * count + second) as u64)?;
    let b = r.residues(count)?;
    let a = if form == SEEDED {
        KeyHalf::Seed(r.array()?)
    } else {
        KeyHalf::Stored(r.residues(count)?)
    };
    Ok(PublicKey::new(params, b, a)?.with_key_id(header.key_id))
}

/// Size of a key-switching key in a file.
fn switching_size(params: &Params, form: u8) -> Result<u64, FileError> {
    let half = 8 * (params.dnum() * full(params)) as u64;
    match form {
        STORED => Ok(1 + 2 * half),
        SEEDED => Ok(1 + half + SEED as u64),
        other => Err(field("form of the key-switching key", "0 or 1", other)),
    }
}

fn write_switching(w: &mut Writer, key: &KSwitchKey) {
    w.bytes(&[if key.seed().is_some() { SEEDED } else { STORED }]);
    for b in key.b() {
        w.residues(b);
    }
    match key.a() {
        KeyHalf::Seed(seed) => w.bytes(seed),
        KeyHalf::Stored(a) => a.iter().for_each(|a| w.residues(a)),
    }
}

/// Checks that the bytes are there before anything is allocated.
fn read_switching(
    r: &mut Reader<'_>,
    params: &Params,
    key_id: Option<KeyId>,
) -> Result<KSwitchKey, FileError> {
    let (got, form) = (r.remaining(), r.u8()?);
    let expected = switching_size(params, form)?;
    if got < expected {
        return Err(FileError::Length {
            what: "key-switching key",
            expected,
            got,
        });
    }
    let half = |r: &mut Reader<'_>| -> Result<Vec<Vec<u64>>, FileError> {
        (0..params.dnum())
            .map(|_| r.residues(full(params)))
            .collect()
    };
    let b = half(r)?;
    let a = if form == SEEDED {
        KeyHalf::Seed(r.array()?)
    } else {
        KeyHalf::Stored(half(r)?)
    };
    Ok(KSwitchKey::new(params, b, a)?.with_key_id(key_id))
}

fn switching_capacity(key: &KSwitchKey) -> usize {
    let half: usize = key.b().iter().map(|b| 8 * b.len()).sum();
    5 + half + if key.seed().is_some() { SEED } else { half }
}

/// Payload: one key-switching key.
pub fn write_relin_key(key: &RelinKey) -> Vec<u8> {
    let mut w = Writer::new(
        Kind::RelinKey,
        key.0.params_id(),
        key.0.key_id(),
        switching_capacity(&key.0),
    );
    write_switching(&mut w, &key.0);
    w.finish()
}

pub fn read_relin_key(bytes: &[u8], params: &Params) -> Result<RelinKey, FileError> {
    let (header, mut r) = open(bytes, Kind::RelinKey, Some(params.id()))?;
    let key = read_switching(&mut r, params, header.key_id)?;
    r.end()?;
    Ok(RelinKey(key))
}

/// Payload: number of keys, then for each its Galois element and key, in ascending order of the element. Keys of two
/// secret keys are refused, and the file has an identity only when all keys do.
pub fn write_galois_keys(params: &Params, keys: &GaloisKeys) -> Result<Vec<u8>, FileError> {
    let capacity: usize = keys.iter().map(|(_, k)| switching_capacity(k)).sum();
    let mut w = Writer::new(Kind::GaloisKeys, params.id(), keys.key_id()?, 4 + capacity);
    w.u32(keys.len() as u32);
    for (galois, key) in keys.iter() {
        params.check_id("Galois key", key.params_id())?;
        w.u32(galois);
        write_switching(&mut w, key);
    }
    Ok(w.finish())
}

pub fn read_galois_keys(bytes: &[u8], params: &Params) -> Result<GaloisKeys, FileError> {
    let (header, mut r) = open(bytes, Kind::GaloisKeys, Some(params.id()))?;
    let (count, mut keys, mut previous) = (r.u32()?, GaloisKeys::new(), 0);
    for _ in 0..count {
        let galois = r.u32()?;
        if galois % 2 == 0
            || galois <= previous.max(1)
            || u64::from(galois) >= 2 * params.degree() as u64
        {
            return Err(field(
                "Galois element",
                "an odd number below 2N, larger than the one before and than 1",
                galois,
            ));
        }
        previous = galois;
        keys.insert(galois, read_switching(&mut r, params, header.key_id)?);
    }
    r.end()?;
    Ok(keys)
}

/// The secret key itself, unprotected: whoever reads the file reads every message. Payload: residues over all moduli.
pub fn write_secret_key_in_the_clear(key: &SecretKey) -> Zeroizing<Vec<u8>> {
    let limbs = key.expose_eval_limbs();
    let mut w = Writer::new(
        Kind::SecretKey,
        key.params_id(),
        key.key_id(),
        8 * limbs.len(),
    );
    w.residues(limbs);
    Zeroizing::new(w.finish())
}

/// Reads what [`write_secret_key_in_the_clear`] wrote; wipe the bytes afterwards.
pub fn read_secret_key_in_the_clear(bytes: &[u8], params: &Params) -> Result<SecretKey, FileError> {
    let (header, mut r) = open(bytes, Kind::SecretKey, Some(params.id()))?;
    r.expect_remaining(8 * full(params) as u64)?;
    let limbs = Zeroizing::new(r.residues(full(params))?);
    Ok(SecretKey::from_eval_limbs(params, limbs)?.with_key_id(header.key_id))
}
