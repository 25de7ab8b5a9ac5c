// SPDX-License-Identifier: Apache-2.0
//! Converts SEAL's plaintexts and ciphertexts of CKKS, and its keys of all schemes, to Ringmill's and back. SEAL and
//! Ringmill have the same limbs of these objects, in the same order and form, so residues are only moved.

use std::borrow::Cow;

use ringmill_isa::Galois;
use ringmill_isa::Level;
use zeroize::Zeroizing;

use super::context::{SealContext, SealParams};
use super::error::{Object, SealError};
use super::raw::{self, RawKey};
use super::{Compression, emit};
use crate::ckks::{Ciphertext, Plaintext};
use crate::rlwe::{GaloisKeys, KSwitchKey, KeyHalf, PublicKey, RelinKey, SecretKey};

/// The scale that SEAL writes into files of keys, where it has no meaning.
const KEY_SCALE: f64 = 1.0;

impl<P: SealParams> SealContext<P> {
    /// Returns the level whose modulus has `primes` primes. It refuses SEAL's key level, which has all primes,
    /// because no plaintext or ciphertext belongs to it.
    pub(super) fn level(&self, object: Object, primes: usize) -> Result<Level, SealError> {
        match primes.checked_sub(1) {
            Some(level) if primes <= self.ring().cipher_count() => Ok(Level(level as u32)),
            _ => Err(SealError::field(
                object,
                "level",
                "a data level",
                "the key level, which holds keys only",
            )),
        }
    }

    fn key(&self, digits: Vec<RawKey>) -> Result<KSwitchKey, SealError> {
        let (b, a) = digits.into_iter().map(|digit| (digit.b, digit.a)).unzip();
        Ok(KSwitchKey::new(self.ring(), b, KeyHalf::Stored(a))?)
    }

    /// Returns the number of primes of SEAL's key level: all primes, the special prime included.
    fn key_primes(&self) -> usize {
        self.ring().moduli().len()
    }
}

/// Reads a file of a CKKS plaintext from SEAL's `Plaintext::save` in NTT form, the form that `CKKSEncoder` makes.
pub fn read_plaintext(context: &SealContext, bytes: &[u8]) -> Result<Plaintext, SealError> {
    let mut raw = raw::read_plaintext(&context.chain, Object::Plaintext, bytes)?;
    let level = context.level(Object::Plaintext, raw.primes)?;
    Ok(Plaintext::new(
        context.params(),
        level,
        raw.scale,
        std::mem::take(&mut *raw.data),
    )?)
}

/// Returns the content of a file of a CKKS plaintext for SEAL's `Plaintext::load`.
pub fn write_plaintext(
    context: &SealContext,
    plain: &Plaintext,
    compression: Compression,
) -> Result<Vec<u8>, SealError> {
    context.params().check_id("plaintext", plain.params_id())?;
    let primes = plain.level().primes();
    let limbs = Zeroizing::new(plain.limbs().iter().collect::<Vec<u64>>());
    let written = emit::plaintext(
        &context.chain,
        Object::Plaintext,
        primes,
        plain.scale(),
        &limbs,
        compression,
    );
    written.map(|mut bytes| std::mem::take(&mut *bytes))
}

/// Reads a file of a CKKS ciphertext from SEAL's `Ciphertext::save`. If c_1 is given by a seed, it is expanded.
pub fn read_ciphertext(context: &SealContext, bytes: &[u8]) -> Result<Ciphertext, SealError> {
    let raw = raw::read_ciphertext(&context.chain, Object::Ciphertext, bytes)?;
    let level = context.level(Object::Ciphertext, raw.primes)?;
    Ok(Ciphertext::new(
        context.params(),
        level,
        raw.scale,
        raw.polys,
    )?)
}

/// Returns the content of a file of a CKKS ciphertext for SEAL's `Ciphertext::load`.
pub fn write_ciphertext(
    context: &SealContext,
    cipher: &Ciphertext,
    compression: Compression,
) -> Result<Vec<u8>, SealError> {
    context
        .params()
        .check_id("ciphertext", cipher.params_id())?;
    let polys = cipher.polys().iter().map(|poly| poly.residues().wide());
    let polys: Vec<Cow<'_, [u64]>> = polys.collect();
    let polys: Vec<&[u64]> = polys.iter().map(|poly| &**poly).collect();
    let primes = cipher.level().primes();
    emit::ciphertext(
        &context.chain,
        Object::Ciphertext,
        primes,
        cipher.scale(),
        &polys,
        compression,
    )
}

/// Reads a file of a public key from SEAL's `PublicKey::save`.
pub fn read_public_key<P: SealParams>(
    context: &SealContext<P>,
    bytes: &[u8],
) -> Result<PublicKey, SealError> {
    let raw = raw::read_public_key(&context.chain, bytes)?;
    Ok(PublicKey::new(
        context.ring(),
        raw.b,
        KeyHalf::Stored(raw.a),
    )?)
}

/// Returns the content of a file of a public key for SEAL's `PublicKey::load`.
pub fn write_public_key<P: SealParams>(
    context: &SealContext<P>,
    key: &PublicKey,
    compression: Compression,
) -> Result<Vec<u8>, SealError> {
    let a = key.expanded_a(context.ring())?;
    let primes = context.key_primes();
    emit::ciphertext(
        &context.chain,
        Object::PublicKey,
        primes,
        KEY_SCALE,
        &[key.b(), &a],
        compression,
    )
}

/// Reads a file of a secret key from SEAL's `SecretKey::save`. It wipes its intermediate memory, including the
/// decompressor's.
///
/// # Errors
/// Fails for a file that is not SEAL's, for one of other parameters, and for a key with another number of primes.
pub fn read_secret_key<P: SealParams>(
    context: &SealContext<P>,
    bytes: &[u8],
) -> Result<SecretKey, SealError> {
    let raw = raw::read_plaintext(&context.chain, Object::SecretKey, bytes)?;
    if raw.primes != context.key_primes() {
        return Err(SealError::field(
            Object::SecretKey,
            "number of primes",
            context.key_primes(),
            raw.primes,
        ));
    }
    Ok(SecretKey::from_eval_limbs(context.ring(), raw.data)?)
}

/// Reads a secret key that SEAL made for parameters with a single prime, which must be the first one of the
/// context. Such parameters have no key switching, and Ringmill's parameters always have it. So the result is no
/// key object but the key's residues in evaluation form, which are wiped on drop.
///
/// # Errors
/// Fails for a file that is not SEAL's, and for a key of more primes. Also fails for a key of another scheme, ring
/// degree, prime or plaintext modulus than those of the context.
pub fn read_single_prime_secret_key<P: SealParams>(
    context: &SealContext<P>,
    bytes: &[u8],
) -> Result<Zeroizing<Vec<u64>>, SealError> {
    let raw = raw::read_plaintext(&context.chain, Object::SecretKey, bytes)?;
    match raw.primes {
        1 => Ok(raw.data),
        more => Err(SealError::field(
            Object::SecretKey,
            "number of primes",
            1,
            more,
        )),
    }
}

/// Returns the content of a file of the secret key itself, unencrypted, for SEAL's `SecretKey::load`: whoever reads it
/// decrypts everything.
pub fn write_secret_key_in_the_clear<P: SealParams>(
    context: &SealContext<P>,
    key: &SecretKey,
    compression: Compression,
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    context.ring().check_id("secret key", key.params_id())?;
    let limbs = key.expose_eval_limbs();
    emit::plaintext(
        &context.chain,
        Object::SecretKey,
        context.key_primes(),
        KEY_SCALE,
        limbs,
        compression,
    )
}

/// Reads a file of a relinearisation key from SEAL's `RelinKeys::save`. The file has one key, that for s^2, because
/// SEAL's `KeyGenerator` makes no key for higher powers of the secret s.
pub fn read_relin_keys<P: SealParams>(
    context: &SealContext<P>,
    bytes: &[u8],
) -> Result<RelinKey, SealError> {
    let mut keys = raw::read_keys(&context.chain, Object::RelinKeys, bytes, 1, &context.watch)?;
    match keys.pop() {
        Some((_, digits)) => Ok(RelinKey(context.key(digits)?)),
        None => Err(SealError::field(Object::RelinKeys, "number of keys", 1, 0)),
    }
}

/// Returns the content of a file of a relinearisation key for SEAL's `RelinKeys::load`. The key must be for the highest
/// level; nothing checks that.
pub fn write_relin_keys<P: SealParams>(
    context: &SealContext<P>,
    key: &RelinKey,
    compression: Compression,
) -> Result<Vec<u8>, SealError> {
    let key = key.0.expanded(context.ring())?;
    emit::keys(
        &context.chain,
        Object::RelinKeys,
        &[Some(halves(&wide(&key)))],
        compression,
    )
}

/// Reads a file of Galois keys from SEAL's `GaloisKeys::save`.
pub fn read_galois_keys<P: SealParams>(
    context: &SealContext<P>,
    bytes: &[u8],
) -> Result<GaloisKeys, SealError> {
    let slots = context.ring().degree();
    let mut keys = GaloisKeys::new();
    for (index, digits) in raw::read_keys(
        &context.chain,
        Object::GaloisKeys,
        bytes,
        slots,
        &context.watch,
    )? {
        // Index i belongs to Galois element 2 i + 1, which is below 2 N because i is below N.
        keys.insert(
            Galois((index as u32).saturating_mul(2) | 1),
            context.key(digits)?,
        );
    }
    Ok(keys)
}

/// Returns the content of a file of Galois keys for SEAL's `GaloisKeys::load`. The keys must be for the highest level;
/// nothing checks that.
pub fn write_galois_keys<P: SealParams>(
    context: &SealContext<P>,
    keys: &GaloisKeys,
    compression: Compression,
) -> Result<Vec<u8>, SealError> {
    let degree = context.ring().degree();
    let expanded: Vec<(Galois, KSwitchKey)> = keys
        .iter()
        .map(|(galois, key)| Ok((galois, key.expanded(context.ring())?)))
        .collect::<Result<_, SealError>>()?;
    let mut slots: Vec<Option<Vec<[&[u64]; 2]>>> = vec![None; degree];
    let expanded: Vec<_> = (expanded.iter())
        .map(|(galois, key)| (galois, wide(key)))
        .collect();
    for (galois, key) in &expanded {
        let place = slots
            .get_mut((galois.0 / 2) as usize)
            .filter(|_| galois.0 % 2 == 1);
        let outside = || {
            SealError::field(
                Object::GaloisKeys,
                "Galois element",
                "an odd number below 2 N",
                galois,
            )
        };
        *place.ok_or_else(outside)? = Some(halves(key));
    }
    emit::keys(&context.chain, Object::GaloisKeys, &slots, compression)
}

/// Returns the digits of a key without a seed as pairs (b, a), in words of 64 bits.
fn wide(key: &KSwitchKey) -> Vec<[Cow<'_, [u64]>; 2]> {
    match key.a() {
        KeyHalf::Stored(a) => (key.b().iter().zip(a.iter()))
            .map(|(b, a)| [b.residues().wide(), a.residues().wide()])
            .collect(),
        KeyHalf::Seed(_) => Vec::new(),
    }
}

fn halves<'a>(wide: &'a [[Cow<'_, [u64]>; 2]]) -> Vec<[&'a [u64]; 2]> {
    wide.iter().map(|[b, a]| [&**b, &**a]).collect()
}
