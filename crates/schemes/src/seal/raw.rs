//! SEAL's objects as they lie in its files, checked against a modulus chain but free of our scheme's types.
//!
//! Members, in order, all little-endian (`docs/seal.md` has the byte-by-byte tables):
//! - parameters: scheme, ring degree, number of primes, each prime as a nested modulus, the plain modulus likewise;
//! - plaintext, secret key: parms_id, coefficient count, scale, data array;
//! - ciphertext, public key: parms_id, NTT flag, polynomials, ring degree, primes, scale, correction factor (since SEAL
//!   4), data array, and, when that holds only the first of two polynomials, the seed of the second;
//! - key-switching keys: parms_id, number of keys, and for each its number of digits and the digits, each a ciphertext.

use ringmill_limits::{Halt, Watch};
use ringmill_math::Ring;
use zeroize::Zeroizing;

use super::blake::{Blake2xb, SEED_BYTES};
use super::chain::{CKKS, Chain};
use super::error::{Object, SealError};
use super::source::{HEADER_BYTES, Header, Source};
use crate::ckks::Ciphertext;

/// SEAL's largest number of primes.
const MAX_PRIMES: u64 = 256;
/// Most polynomials that a ciphertext has here; SEAL's own bound of 16 would let a short file ask for much memory.
const MAX_POLYS: u64 = Ciphertext::MAX_SIZE as u64;
/// SEAL's number for the Blake2Xb generator.
const BLAKE2XB: u8 = 1;
/// A parameter file unpacks to at most this.
pub(super) const PARAMETERS_BUDGET: u64 = 32 * (MAX_PRIMES + 2);

const MODULUS_MEMBERS: usize = 8;
const PLAINTEXT_FIELDS: usize = 32 + 8 + 8;
/// Without the correction factor.
const CIPHERTEXT_FIELDS: usize = 32 + 1 + 4 * 8;

/// Encryption parameters of CKKS.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RawParameters {
    pub n: usize,
    pub moduli: Vec<u64>,
}

/// A plaintext or a secret key in evaluation form: one limb for each of the first `primes` primes.
pub(super) struct RawPlaintext {
    pub primes: usize,
    pub scale: f64,
    pub data: Zeroizing<Vec<u64>>,
}

/// A ciphertext in evaluation form: polynomials of one limb for each of the first `primes` primes.
pub(super) struct RawCiphertext {
    pub primes: usize,
    pub scale: f64,
    pub polys: Vec<Vec<u64>>,
}

/// An encryption of something under the key over all primes: a public key, or one digit of a key-switching key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RawKey {
    pub b: Vec<u64>,
    pub a: Vec<u64>,
}

/// Reads a parameter file.
pub(super) fn read_parameters(bytes: &[u8]) -> Result<RawParameters, SealError> {
    let object = Object::Parameters;
    let mut source = Source::open(object, bytes, PARAMETERS_BUDGET)?;
    let scheme = source.u8()?;
    if scheme != CKKS {
        let hint = "only CKKS (scheme 2) is computed on here: BFV is 1, BGV 3";
        return Err(SealError::hinted(object, "scheme", CKKS, scheme, hint));
    }
    let n = source.u64()?;
    let max = Ring::full(Ring::MAX_LOG_N).len();
    let n = usize::try_from(n)
        .ok()
        .filter(|&n| n.is_power_of_two() && (2..=max).contains(&n))
        .ok_or_else(|| {
            SealError::field(
                object,
                "ring degree",
                format_args!("a power of two from 2 to {max}"),
                n,
            )
        })?;
    let count = source.u64()?;
    if !(1..=MAX_PRIMES).contains(&count) {
        return Err(SealError::field(
            object,
            "number of primes",
            format_args!("1 to {MAX_PRIMES}"),
            count,
        ));
    }
    let mut moduli = Vec::new();
    for _ in 0..count {
        moduli.push(modulus(&mut source)?);
    }
    let plain = modulus(&mut source)?;
    if plain != 0 {
        return Err(SealError::field(
            object,
            "plain modulus",
            "0 (CKKS has none)",
            plain,
        ));
    }
    source.finish()?;
    Ok(RawParameters { n, moduli })
}

fn modulus(source: &mut Source<'_>) -> Result<u64, SealError> {
    exact_size(source, Object::Modulus, MODULUS_MEMBERS)?;
    source.u64()
}

/// Reads a nested header and checks the size it states against the only one possible.
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

/// The primes of the level that a parms_id names.
fn level<'c>(
    chain: &'c Chain,
    object: Object,
    source: &mut Source<'_>,
) -> Result<&'c [u64], SealError> {
    let id = source.parms_id()?;
    let unknown = || {
        if id.0 == [0; 32] {
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

/// Reads a plaintext or secret key file.
pub(super) fn read_plaintext(
    chain: &Chain,
    object: Object,
    bytes: &[u8],
) -> Result<RawPlaintext, SealError> {
    let most = chain.n().saturating_mul(chain.moduli().len());
    let mut source = Source::open(
        object,
        bytes,
        (PLAINTEXT_FIELDS + array_members(most) + HEADER_BYTES) as u64,
    )?;
    let moduli = level(chain, object, &mut source)?;
    let words = chain.n().saturating_mul(moduli.len());
    equal(object, "coefficient count", words as u64, source.u64()?)?;
    let scale = scale(&mut source, object)?;
    exact_size(&mut source, Object::Array, array_members(words))?;
    equal(
        object,
        "length of the data array",
        words as u64,
        source.u64()?,
    )?;
    let mut data = Zeroizing::new(Vec::new());
    source.residues(object, moduli, chain.n(), &mut data)?;
    source.finish()?;
    Ok(RawPlaintext {
        primes: moduli.len(),
        scale,
        data,
    })
}

/// Members of a data array of this many words.
fn array_members(words: usize) -> usize {
    words.saturating_mul(8).saturating_add(8)
}

/// Reads a ciphertext or public key file.
pub(super) fn read_ciphertext(
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
        (CIPHERTEXT_FIELDS + 8 + HEADER_BYTES + array_members(most)) as u64,
    )?;
    let header = source.header();
    let (cipher, _) = ciphertext_members(chain, object, header, &mut source)?;
    source.finish()?;
    Ok(cipher)
}

/// Reads the members of a ciphertext with this header; also returns how many bytes they were.
fn ciphertext_members(
    chain: &Chain,
    object: Object,
    header: Header,
    source: &mut Source<'_>,
) -> Result<(RawCiphertext, usize), SealError> {
    let moduli = level(chain, object, source)?;
    if source.u8()? != 1 {
        let hint =
            "transform it to NTT form before saving, as all CKKS operations of SEAL leave it";
        return Err(SealError::hinted(
            object,
            "form",
            "NTT form (1)",
            "another",
            hint,
        ));
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
    let scale = scale(source, object)?;
    let mut members = CIPHERTEXT_FIELDS;
    if header.correction_factor {
        equal(object, "correction factor", 1, source.u64()?)?;
        members += 8;
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
    members += HEADER_BYTES + if seeded { half } else { whole };
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
        members += HEADER_BYTES + 1 + SEED_BYTES;
    }
    Ok((
        RawCiphertext {
            primes: moduli.len(),
            scale,
            polys: data,
        },
        members,
    ))
}

/// Reads a public key file.
pub(super) fn read_public_key(chain: &Chain, bytes: &[u8]) -> Result<RawKey, SealError> {
    into_key(
        chain,
        Object::PublicKey,
        read_ciphertext(chain, Object::PublicKey, bytes)?,
    )
}

/// Reads key-switching keys: (index, digits) for every index that has a key. Indices are below `slots`.
pub(super) fn read_keys(
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
            // What keys take is counted before: here it matters only whether anybody still waits.
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

/// One digit of a key: a nested ciphertext of two polynomials over all primes.
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
