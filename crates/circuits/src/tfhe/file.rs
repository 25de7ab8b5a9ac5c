// SPDX-License-Identifier: Apache-2.0
//! Reads and writes files of TFHE: the container of all schemes (docs/files.md) around parameters, secret bits, or
//! words of ciphertexts and keys. A word has 4 bytes, or 8 bytes if the ciphertext modulus is above 2^32.
#![deny(clippy::arithmetic_side_effects)]

mod integers;
mod keys;
mod named;

pub use integers::{read_ciphertexts, read_integers, write_ciphertexts, write_integers};
pub use keys::{
    read_bootstrap_key, read_circuit_keys, read_key_switch_key, read_public_key,
    write_bootstrap_key, write_circuit_keys, write_key_switch_key, write_public_key,
};
pub use named::{NamedIntegers, RunCost, read_named_integers, write_named_integers};

use std::sync::Arc;

use ringmill_schemes::file::{FileError, Header, InsecureParams, Kind, Reader, Writer, open};
use ringmill_schemes::identity::short_id;
use ringmill_schemes::size;
use zeroize::Zeroizing;

use super::lwe::{LweCiphertext, LweKey};
use super::params::{
    CANONICAL, CiphertextModulus, Decomposition, GlweRank, LweDimension, Messages, ModulusSwitch,
    Order, Params, Sizes, Unrolling,
};
use super::secret::SecretKey;
use super::{ParamsBuilder, TAG};

const SEED: usize = 32;

fn field(what: &'static str, expected: &str, got: impl ToString) -> FileError {
    FileError::Field {
        what,
        expected: expected.to_owned(),
        got: got.to_string(),
    }
}

fn of<'a>(bytes: &'a [u8], kind: Kind, params: &Params) -> Result<(Header, Reader<'a>), FileError> {
    open(bytes, kind, TAG, Some(params.id()))
}

/// Returns the number of bytes of a word in files of these parameters: 4 or 8.
fn width(params: &Params) -> usize {
    if params.coefficients().bits() <= 32 {
        4
    } else {
        8
    }
}

fn write_words(w: &mut Writer, params: &Params, words: &[u64]) {
    if width(params) == 8 {
        return w.residues(words);
    }
    for &x in words {
        w.u32(x as u32);
    }
}

/// Returns the number of words of an LWE ciphertext under the key `key`: the mask and the body.
fn words_of(params: &Params, key: LweKey) -> usize {
    key.dimension(params).saturating_add(1)
}

/// Reads `count` words, which must be all that is left of the file. It checks that the bytes exist before it allocates
/// memory for the words.
fn read_words(r: &mut Reader<'_>, params: &Params, count: usize) -> Result<Vec<u64>, FileError> {
    let width = width(params);
    r.expect_remaining(width.saturating_mul(count) as u64)?;
    if width == 8 {
        return r.residues(count);
    }
    let bytes = r.take(width.saturating_mul(count))?;
    let mut words = ringmill_limits::zeroed("words of a file", count)?;
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes).into();
    }
    Ok(words)
}

/// Writes a file of parameters. The payload is [`Params::canonical`].
pub fn write_params(params: &Params) -> Vec<u8> {
    let canonical = params.canonical();
    let mut w = Writer::new(Kind::Params, &params.origin(None), canonical.len());
    w.bytes(&canonical);
    w.finish()
}

/// Reads a file of parameters and builds them. They must have 128 bits of security and failures below 2^-40, unless
/// `insecure` allows parameters for tests.
///
/// # Errors
/// [`FileError`] for a file of another kind, a damaged file, or a field that no parameters have; [`FileError::Refused`]
/// for parameters that the builder refuses.
pub fn read_params(bytes: &[u8], insecure: InsecureParams) -> Result<Arc<Params>, FileError> {
    let (header, mut r) = open(bytes, Kind::Params, TAG, None)?;
    r.expect_remaining(CANONICAL as u64)?;
    if r.u8()? != TAG.byte {
        return Err(field("scheme of the parameters", "3", "another"));
    }
    let mut builder = ParamsBuilder::new(read_sizes(&mut r)?);
    if insecure == InsecureParams::AllowForTestsOnly {
        builder = builder
            .allow_insecure_parameters_for_tests_only()
            .allow_any_failure_rate_for_tests_only();
    }
    let params = builder.build()?;
    if *params.id() != header.params_id {
        return Err(FileError::OtherParams {
            expected: short_id(params.id()),
            got: short_id(&header.params_id),
        });
    }
    Ok(params)
}

fn read_sizes(r: &mut Reader<'_>) -> Result<Sizes, FileError> {
    let (n, k) = (LweDimension(r.u32()? as usize), GlweRank(r.u32()? as usize));
    let log_degree = r.u32()?;
    let log_degree = u8::try_from(log_degree)
        .map_err(|_| field("log2 of the ring degree", "below 256", log_degree))?;
    let digits = |r: &mut Reader<'_>| {
        Ok::<_, FileError>(Decomposition {
            log_base: r.u32()?,
            levels: r.u32()? as usize,
        })
    };
    let (bootstrap, key_switch) = (digits(r)?, digits(r)?);
    let modulus = match (r.u32()?, r.u32()?) {
        (0, 32) => CiphertextModulus::Torus32,
        (0, 64) => CiphertextModulus::Torus64,
        (1, bits) => CiphertextModulus::Prime { bits },
        (kind, bits) => {
            let got = format!("kind {kind} of {bits} bits");
            return Err(field("ciphertext modulus", "2^32, 2^64 or a prime", got));
        }
    };
    let m = r.u32()?;
    let unrolling = (Unrolling::ALL.into_iter())
        .find(|u| u.m() == m as usize)
        .ok_or_else(|| field("unrolling", "1 to 3", m))?;
    let order = match r.u32()? {
        0 => Order::BootstrapFirst,
        1 => Order::KeySwitchFirst,
        other => return Err(field("order of bootstrap and key switch", "0 or 1", other)),
    };
    let switch = match r.u32()? {
        0 => ModulusSwitch::Nearest,
        1 => ModulusSwitch::CentredMean,
        other => return Err(field("modulus switch", "0 or 1", other)),
    };
    let messages = match (r.u32()?, r.u32()?) {
        (0, 0) => Messages::Booleans,
        (message_bits, carry_bits) => Messages::Integers {
            message_bits,
            carry_bits,
        },
    };
    Ok(Sizes {
        n,
        k,
        log_degree,
        bootstrap,
        key_switch,
        lwe_std: r.f64()?,
        glwe_std: r.f64()?,
        modulus,
        unrolling,
        order,
        switch,
        messages,
    })
}

/// Writes a file of one ciphertext. The payload is the key in 4 bytes (0 small, 1 large), then mask and body. The
/// caller passes the parameters of the ciphertext, which fix the bytes of a word.
pub fn write_ciphertext(params: &Params, x: &LweCiphertext) -> Vec<u8> {
    let mut w = Writer::new(
        Kind::Ciphertext,
        x.origin(),
        size::sum([4, size::of_words(x.words().len())]),
    );
    w.u32((x.key() == LweKey::Large).into());
    write_words(&mut w, params, x.words());
    w.finish()
}

fn read_key(r: &mut Reader<'_>) -> Result<LweKey, FileError> {
    match r.u32()? {
        0 => Ok(LweKey::Small),
        1 => Ok(LweKey::Large),
        other => Err(field("key of the ciphertext", "0 or 1", other)),
    }
}

/// Reads a file of [`write_ciphertext`].
///
/// # Errors
/// [`FileError`] for a file of another kind or of other parameters, a damaged file, or a word that is no residue modulo
/// q.
pub fn read_ciphertext(bytes: &[u8], params: &Params) -> Result<LweCiphertext, FileError> {
    let (header, mut r) = of(bytes, Kind::Ciphertext, params)?;
    let key = read_key(&mut r)?;
    let words = read_words(&mut r, params, words_of(params, key))?;
    Ok(LweCiphertext::new(params, key, words)?.with_key_id(header.key_id))
}

/// Writes a file of the secret key itself, unprotected: whoever reads the file reads every message. The payload is the
/// bits of the small key, then of the large one, one bit in each byte.
pub fn write_secret_key_in_the_clear(key: &SecretKey) -> Zeroizing<Vec<u8>> {
    let (small, large) = (
        key.expose_bits(LweKey::Small),
        key.expose_bits(LweKey::Large),
    );
    let capacity = size::sum([small.len(), large.len()]);
    let mut w = Writer::new(Kind::SecretKey, key.origin(), capacity);
    w.bytes(small);
    w.bytes(large);
    w.finish_secret()
}

/// Reads the secret key from the bytes of [`write_secret_key_in_the_clear`]. The caller must wipe the bytes afterwards.
///
/// # Errors
/// [`FileError`] for a file of another kind or of other parameters, a damaged file, or bytes other than 0 and 1.
pub fn read_secret_key_in_the_clear(bytes: &[u8], params: &Params) -> Result<SecretKey, FileError> {
    let (header, mut r) = of(bytes, Kind::SecretKey, params)?;
    let (small, large) = (
        LweKey::Small.dimension(params),
        LweKey::Large.dimension(params),
    );
    r.expect_remaining(size::sum([small, large]) as u64)?;
    let small = Zeroizing::new(r.take(small)?.to_vec());
    let large = Zeroizing::new(r.take(large)?.to_vec());
    Ok(SecretKey::from_bits(params, small, large)?.with_key_id(header.key_id))
}
