// SPDX-License-Identifier: Apache-2.0
//! Writes SEAL's objects from their parts, which the caller has checked: the reverse of [`super::raw`].

use zeroize::Zeroizing;

use super::chain::{Chain, ParmsId};
use super::error::{Object, SealError};
use super::sink::{Compression, Sink, Version};
use super::source::HEADER_BYTES;
use crate::size;

fn array_members(words: usize) -> usize {
    size::sum([8, size::of_words(words)])
}

fn ciphertext_members(words: usize) -> usize {
    size::sum([32 + 1 + 4 * 8 + HEADER_BYTES, array_members(words)])
}

/// Returns SEAL's name of the level with `primes` primes. The name exists for every number of primes that a checked
/// operand can have.
fn id(chain: &Chain, primes: usize) -> Result<ParmsId, SealError> {
    chain.id(primes).ok_or_else(|| SealError::Unsupported {
        reason: format!("no level has {primes} primes"),
    })
}

pub fn parameters(chain: &Chain, compression: Compression) -> Result<Vec<u8>, SealError> {
    let moduli = chain.moduli();
    let all = size::sum([moduli.len(), 1]);
    let mut sink = Sink::new(size::sum([17, all.saturating_mul(HEADER_BYTES + 8)]));
    sink.u8(chain.scheme() as u8);
    sink.u64(chain.n() as u64);
    sink.u64(moduli.len() as u64);
    for &modulus in moduli.iter().chain(&[chain.plain()]) {
        sink.nested(8);
        sink.u64(modulus);
    }
    sink.finish(Object::Parameters, compression)
}

fn array<'a>(sink: &mut Sink, limbs: impl Iterator<Item = &'a [u64]>, words: usize) {
    sink.nested(array_members(words));
    sink.u64(words as u64);
    for limb in limbs {
        sink.words(limb);
    }
}

/// Returns the content of a SEAL file of a plaintext or a secret key. `data` has one limb for each of the first
/// `primes` primes.
pub fn plaintext(
    chain: &Chain,
    object: Object,
    primes: usize,
    scale: f64,
    data: &[u64],
    compression: Compression,
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    let mut sink = Sink::new(size::sum([48 + HEADER_BYTES, array_members(data.len())]));
    sink.parms_id(&id(chain, primes)?);
    sink.u64(data.len() as u64);
    sink.f64(scale);
    array(&mut sink, std::iter::once(data), data.len());
    sink.finish_secret(object, compression)
}

/// Returns the content of a SEAL file of a plaintext in coefficient form. Such a plaintext belongs to no level and
/// has no scale of its own.
pub(super) fn coefficients(data: &[u64], compression: Compression) -> Result<Vec<u8>, SealError> {
    let mut sink = Sink::new(size::sum([48 + HEADER_BYTES, array_members(data.len())]));
    sink.parms_id(&ParmsId::NONE);
    sink.u64(data.len() as u64);
    sink.f64(1.0);
    array(&mut sink, std::iter::once(data), data.len());
    sink.finish(Object::Plaintext, compression)
}

/// The annotation of a ciphertext in SEAL's files: a scale, or a correction factor.
#[derive(Clone, Copy)]
pub enum Note {
    Scale(f64),
    /// The annotation is a correction factor, which files have since SEAL 4. The second field is the SEAL version
    /// whose form the file has.
    Factor(u64, Version),
}

impl From<f64> for Note {
    fn from(scale: f64) -> Self {
        Self::Scale(scale)
    }
}

/// Returns the content of a SEAL file of a ciphertext or a public key. `polys` has its polynomials, with one limb
/// after another.
pub fn ciphertext(
    chain: &Chain,
    object: Object,
    primes: usize,
    note: impl Into<Note>,
    polys: &[&[u64]],
    compression: Compression,
) -> Result<Vec<u8>, SealError> {
    let words = polys.iter().map(|p| p.len()).sum();
    let (members, note) = (ciphertext_members(words), note.into());
    let mut sink = match note {
        Note::Scale(_) => Sink::new(members),
        Note::Factor(_, version) => Sink::of_version(version, size::sum([members, 8])),
    };
    write_ciphertext(&mut sink, chain, object, primes, note, polys)?;
    sink.finish(object, compression)
}

fn write_ciphertext(
    sink: &mut Sink,
    chain: &Chain,
    object: Object,
    primes: usize,
    note: Note,
    polys: &[&[u64]],
) -> Result<(), SealError> {
    sink.parms_id(&id(chain, primes)?);
    sink.u8(chain.evaluation_form(object).into());
    sink.u64(polys.len() as u64);
    sink.u64(chain.n() as u64);
    sink.u64(primes as u64);
    match note {
        Note::Scale(scale) => sink.f64(scale),
        Note::Factor(factor, _) => {
            sink.f64(1.0);
            sink.u64(factor);
        }
    }
    array(
        sink,
        polys.iter().copied(),
        polys.iter().map(|p| p.len()).sum(),
    );
    Ok(())
}

/// Returns the content of a SEAL file of key-switching keys. Each entry of `slots` is an empty place of the file,
/// or has the digits of a key as pairs (b, a).
pub fn keys(
    chain: &Chain,
    object: Object,
    slots: &[Option<Vec<[&[u64]; 2]>>],
    compression: Compression,
) -> Result<Vec<u8>, SealError> {
    let primes = chain.moduli().len();
    let digit = |halves: &[&[u64]; 2]| ciphertext_members(halves.iter().map(|h| h.len()).sum());
    let digits = slots.iter().flatten().flatten();
    let digits = digits
        .map(|halves| size::sum([HEADER_BYTES, digit(halves)]))
        .fold(0, usize::saturating_add);
    let mut sink = Sink::new(size::sum([40, size::of_words(slots.len()), digits]));
    sink.parms_id(&id(chain, primes)?);
    sink.u64(slots.len() as u64);
    for slot in slots {
        let digits = slot.as_deref().unwrap_or_default();
        sink.u64(digits.len() as u64);
        for halves in digits {
            sink.nested(digit(halves));
            write_ciphertext(
                &mut sink,
                chain,
                Object::KeySwitchDigit,
                primes,
                Note::Scale(1.0),
                halves,
            )?;
        }
    }
    sink.finish(object, compression)
}
