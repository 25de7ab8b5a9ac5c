// SPDX-License-Identifier: Apache-2.0
//! Reads SEAL's objects in the form of its files and checks them against a modulus chain. The results are plain
//! numbers, not values of Ringmill's schemes.
//!
//! The members of an object in a file, in order, all little-endian (`docs/seal.md` has the byte-by-byte tables):
//! - parameters: scheme, ring degree, number of primes, each prime as a nested modulus, the plain modulus likewise;
//! - plaintext, secret key: parms_id, coefficient count, scale, data array;
//! - ciphertext, public key: parms_id, NTT flag, polynomials, ring degree, primes, scale, correction factor (since SEAL
//!   4), data array, and the seed of the second polynomial if the array holds only the first of two;
//! - key-switching keys: parms_id, number of keys, and for each its number of digits and the digits, each a ciphertext.

mod parameters;
mod plaintext;

use ringmill_limits::{Halt, Watch};
use zeroize::Zeroizing;

use super::blake::{Blake2xb, SEED_BYTES};
use super::chain::{Chain, ParmsId, SealScheme};
use super::error::{Object, SealError};
use super::source::{HEADER_BYTES, Header, Source};
use crate::rlwe::Ciphertext;
use crate::size;

pub use parameters::{RawParameters, read_parameters};
pub use plaintext::{read_coefficients, read_plaintext};

/// The most polynomials of a ciphertext that the reader accepts. SEAL's own bound of 16 would let a short file demand
/// much memory.
const MAX_POLYS: u64 = Ciphertext::<()>::MAX_SIZE as u64;
/// The number that stands for the Blake2Xb generator in SEAL's files.
const BLAKE2XB: u8 = 1;

/// The number of bytes of a ciphertext's fields in SEAL's file, without its correction factor and its residues.
const CIPHERTEXT_FIELDS: usize = 32 + 1 + 4 * 8;

/// A ciphertext or a public key as SEAL's file has it. BFV's ciphertexts are in coefficient form, all others and all
/// public keys in evaluation form. Each polynomial has one limb for each of the first `primes` primes.
pub struct RawCiphertext {
    pub primes: usize,
    pub scale: f64,
    /// The correction factor, which is 1 except in BGV.
    pub factor: u64,
    pub polys: Vec<Vec<u64>>,
}

/// A pair (b, a) of polynomials modulo all primes, in evaluation form with one limb after another. It is a public key,
/// or one digit of a key-switching key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawKey {
    pub b: Vec<u64>,
    pub a: Vec<u64>,
}

/// Reads the header of a nested object, and checks that the object has exactly `members` bytes behind the header.
fn exact_size(source: &mut Source<'_>, object: Object, members: usize) -> Result<(), SealError> {
    let found = source.nested(object)?.size;
    let expected = nested_size(members);
    if found != expected {
        return Err(SealError::Size {
            object,
            expected,
            found,
        });
    }
    Ok(())
}

fn nested_size(members: usize) -> u64 {
    members.saturating_add(HEADER_BYTES) as u64
}

/// Reads a level's name (`parms_id`) from the file, and returns the primes of the level.
fn level<'c>(
    chain: &'c Chain,
    object: Object,
    source: &mut Source<'_>,
) -> Result<&'c [u64], SealError> {
    let id = source.parms_id()?;
    let unknown = || {
        if id == ParmsId::NONE {
            let hint =
                "a zero parms_id marks coefficient form: transform it to NTT form before saving";
            return SealError::hinted(object, "parms_id", "the name of a level", "zero", hint);
        }
        SealError::UnknownParmsId {
            object,
            found: id.hex(),
        }
    };
    chain
        .primes_of(&id)
        .and_then(|primes| chain.moduli().get(..primes))
        .ok_or_else(unknown)
}

fn scale(source: &mut Source<'_>, object: Object) -> Result<f64, SealError> {
    let scale = source.f64()?;
    if scale.is_normal() && scale > 0.0 {
        return Ok(scale);
    }
    Err(SealError::field(
        object,
        "scale",
        "a positive normal number",
        scale,
    ))
}

fn equal(object: Object, field: &'static str, expected: u64, found: u64) -> Result<(), SealError> {
    if expected == found {
        Ok(())
    } else {
        Err(SealError::field(object, field, expected, found))
    }
}

/// Reads the scale of an object that has none, which must be 1.
fn unit_scale(source: &mut Source<'_>, object: Object) -> Result<(), SealError> {
    match source.f64()? {
        1.0 => Ok(()),
        found => Err(SealError::field(object, "scale", 1, found)),
    }
}

/// Returns the number of bytes that a data array of `words` words takes in a file, with its length.
fn array_members(words: usize) -> usize {
    words.saturating_mul(8).saturating_add(8)
}

/// Reads the content of a SEAL file of a ciphertext or a public key.
pub fn read_ciphertext(
    chain: &Chain,
    object: Object,
    bytes: &[u8],
) -> Result<RawCiphertext, SealError> {
    let most = chain
        .n()
        .saturating_mul(chain.moduli().len())
        .saturating_mul(MAX_POLYS as usize);
    let mut source = Source::open(
        object,
        bytes,
        size::sum([CIPHERTEXT_FIELDS + 8 + HEADER_BYTES, array_members(most)]) as u64,
    )?;
    let header = source.header();
    let (cipher, _) = ciphertext_members(chain, object, header, &mut source)?;
    source.finish()?;
    Ok(cipher)
}

/// Reads the fields of a ciphertext whose header is `header`. Also returns how many bytes the fields took.
fn ciphertext_members(
    chain: &Chain,
    object: Object,
    header: Header,
    source: &mut Source<'_>,
) -> Result<(RawCiphertext, usize), SealError> {
    let moduli = level(chain, object, source)?;
    if source.u8()? != u8::from(chain.evaluation_form(object)) {
        let (expected, hint) = match chain.evaluation_form(object) {
            true => (
                "NTT form (1)",
                "transform it to NTT form before saving, as all CKKS operations of SEAL leave it",
            ),
            false => (
                "coefficient form (0)",
                "transform it from NTT form before saving, as all BFV operations of SEAL leave it",
            ),
        };
        return Err(SealError::hinted(object, "form", expected, "another", hint));
    }
    let polys = source.u64()?;
    if !(2..=MAX_POLYS).contains(&polys) {
        return Err(SealError::field(
            object,
            "polynomials",
            format_args!("2 to {MAX_POLYS}"),
            polys,
        ));
    }
    let polys = polys as usize;
    equal(object, "ring degree", chain.n() as u64, source.u64()?)?;
    equal(
        object,
        "number of primes",
        moduli.len() as u64,
        source.u64()?,
    )?;
    let scale = match chain.scheme() {
        SealScheme::Ckks => scale(source, object)?,
        SealScheme::Bfv | SealScheme::Bgv => {
            unit_scale(source, object)?;
            1.0
        }
    };
    let (mut members, mut factor) = (CIPHERTEXT_FIELDS, 1);
    let factored = chain.scheme() == SealScheme::Bgv && object == Object::Ciphertext;
    if header.correction_factor {
        factor = source.u64()?;
        members = size::sum([members, 8]);
    } else if factored {
        let hint = "SEAL has BGV since 4.0: save it from there";
        let found = format_args!("{}.{}", header.version[0], header.version[1]).to_string();
        return Err(SealError::hinted(
            object,
            "version",
            "4.0 or later",
            found,
            hint,
        ));
    }
    if !factored {
        equal(object, "correction factor", 1, factor)?;
    }

    let poly_words = chain.n().saturating_mul(moduli.len());
    let whole = array_members(poly_words.saturating_mul(polys));
    let half = array_members(poly_words);
    let found = source.nested(Object::Array)?.size;
    let seeded = polys == 2 && found == nested_size(half);
    if !seeded && found != nested_size(whole) {
        return Err(SealError::Size {
            object: Object::Array,
            expected: nested_size(whole),
            found,
        });
    }
    let stored = if seeded { 1 } else { polys };
    equal(
        object,
        "length of the data array",
        poly_words.saturating_mul(stored) as u64,
        source.u64()?,
    )?;
    let mut data = Vec::new();
    for _ in 0..stored {
        let mut poly = Vec::new();
        source.residues(object, moduli, chain.n(), &mut poly)?;
        data.push(poly);
    }
    members = size::sum([members, HEADER_BYTES, if seeded { half } else { whole }]);
    if seeded {
        exact_size(source, Object::GeneratorInfo, 1 + SEED_BYTES)?;
        let generator = source.u8()?;
        if generator != BLAKE2XB {
            return Err(SealError::Generator {
                object,
                found: generator,
            });
        }
        let seed = Zeroizing::new(source.bytes()?);
        source.hold(poly_words)?;
        let uniform = Blake2xb::new(seed).uniform(moduli, chain.n());
        data.push(uniform.map_err(|e| SealError::Unsupported {
            reason: e.to_string(),
        })?);
        members = size::sum([members, HEADER_BYTES + 1 + SEED_BYTES]);
    }
    Ok((
        RawCiphertext {
            primes: moduli.len(),
            scale,
            factor,
            polys: data,
        },
        members,
    ))
}

/// Reads the content of a SEAL file of a public key.
pub fn read_public_key(chain: &Chain, bytes: &[u8]) -> Result<RawKey, SealError> {
    into_key(
        chain,
        Object::PublicKey,
        read_ciphertext(chain, Object::PublicKey, bytes)?,
    )
}

/// Reads the content of a SEAL file of key-switching keys. Returns a pair (index, digits) for each place of the
/// file that has a key. `slots` is the number of places that the file may have.
pub fn read_keys(
    chain: &Chain,
    object: Object,
    bytes: &[u8],
    slots: usize,
    watch: &Watch,
) -> Result<Vec<(usize, Vec<RawKey>)>, SealError> {
    let mut source = Source::open_keys(object, bytes, watch.limits().memory, slots)?;
    let all = chain.moduli().len();
    equal(
        object,
        "primes of the level of its parms_id",
        all as u64,
        level(chain, object, &mut source)?.len() as u64,
    )?;
    let count = source.u64()?;
    let count = usize::try_from(count)
        .ok()
        .filter(|&count| count <= slots)
        .ok_or_else(|| {
            SealError::field(
                object,
                "number of keys",
                format_args!("at most {slots}"),
                count,
            )
        })?;
    let digits = all.saturating_sub(1) as u64;
    let mut keys = Vec::new();
    for index in 0..count {
        let found = source.u64()?;
        if found == 0 {
            continue;
        }
        equal(object, "digits of a key", digits, found)?;
        let mut key = Vec::new();
        for _ in 0..found {
            // The memory of keys was counted before. Here it only matters whether the caller still waits.
            if watch.is_stopped() {
                return Err(Halt::Interrupted.into());
            }
            key.push(digit(chain, &mut source)?);
        }
        keys.push((index, key));
    }
    source.finish()?;
    Ok(keys)
}

/// Reads one digit of a key-switching key: a nested ciphertext of two polynomials modulo all primes.
fn digit(chain: &Chain, source: &mut Source<'_>) -> Result<RawKey, SealError> {
    let object = Object::KeySwitchDigit;
    let header = source.nested(object)?;
    let (cipher, members) = ciphertext_members(chain, object, header, source)?;
    if header.size != nested_size(members) {
        return Err(SealError::Size {
            object,
            expected: nested_size(members),
            found: header.size,
        });
    }
    into_key(chain, object, cipher)
}

fn into_key(chain: &Chain, object: Object, cipher: RawCiphertext) -> Result<RawKey, SealError> {
    equal(
        object,
        "number of primes",
        chain.moduli().len() as u64,
        cipher.primes as u64,
    )?;
    let polys = cipher.polys.len() as u64;
    let [b, a] = <[_; 2]>::try_from(cipher.polys)
        .map_err(|_| SealError::field(object, "polynomials", 2, polys))?;
    Ok(RawKey { b, a })
}
