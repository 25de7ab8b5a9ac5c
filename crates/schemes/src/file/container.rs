// SPDX-License-Identifier: Apache-2.0
//! The container that all files have: header, payload, checksum. Files are written in version 3 of the container.
//! Version 2, in which residues are not packed, and version 1, which has neither scheme nor key identity, can be read
//! too.

use ringmill_limits::zeroed;
use ringmill_math::wipe::off_the_stack;
use ringmill_math::{Modulus, Residues, packed};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{FileError, Kind};
use crate::identity::{Origin, short_id};
use crate::scheme::SchemeTag;
use ringmill_device::KeyId;
use ringmill_device::ParamsId;

const MAGIC: &[u8; 8] = b"RINGMILL";
const VERSION: u16 = 3;
/// The first version in which the residues of ciphertexts and keys are packed.
const PACKED: u16 = 3;
/// The number that stands for CKKS in the scheme field of a file. Files of container version 1 are all of this
/// scheme.
const FIRST_SCHEME: u8 = 0;
/// The number of bytes of a file's header. Its fields are magic, version, kind, scheme, three zero bytes, parameter
/// identity, key identity and payload length.
const HEADER: usize = 8 + 2 + 2 + 1 + 3 + 32 + 16 + 8;
const CHECKSUM: usize = 32;

/// Returns the number of bytes of a file whose payload has `payload` bytes.
pub(super) const fn file_bytes(payload: usize) -> usize {
    payload.saturating_add(HEADER + CHECKSUM)
}

/// Collects the header and the payload of a file. An unfinished payload is wiped.
pub struct Writer {
    bytes: Zeroizing<Vec<u8>>,
}

impl Writer {
    /// Begins a file for an object of kind `kind` that belongs to `origin`. `capacity` is the number of bytes of the
    /// payload for which memory is allocated now. The payload may become shorter or longer.
    pub fn new(kind: Kind, origin: &Origin, capacity: usize) -> Self {
        let mut bytes = Zeroizing::new(Vec::with_capacity(file_bytes(capacity)));
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((kind as u16).to_le_bytes());
        bytes.extend([origin.scheme.byte, 0, 0, 0]);
        bytes.extend(origin.params_id);
        bytes.extend(origin.key_id.map_or([0; 16], |id| *id.bytes()));
        bytes.extend([0; 8]);
        Self { bytes }
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    pub fn u32(&mut self, x: u32) {
        self.bytes.extend(x.to_le_bytes());
    }

    pub fn f64(&mut self, x: f64) {
        self.bytes.extend(x.to_bits().to_le_bytes());
    }

    pub fn residues(&mut self, residues: &[u64]) {
        for x in residues {
            self.bytes.extend(x.to_le_bytes());
        }
    }

    /// Writes the limbs of a polynomial to the payload, whose moduli are `moduli`. Each residue takes as many bits as
    /// its modulus has.
    pub fn limbs(&mut self, moduli: &[Modulus], residues: Residues<'_>) {
        let degree = residues.len().checked_div(moduli.len()).unwrap_or(0);
        for (k, q) in moduli.iter().enumerate() {
            let from = k.saturating_mul(degree);
            if let Some(limb) = residues.get(from..from.saturating_add(degree)) {
                packed::pack(q.bits(), &limb.wide(), &mut self.bytes);
            }
        }
    }

    /// Writes residues to the payload in words of 64 bits, whatever the width of their words in memory is.
    pub fn wide(&mut self, residues: Residues<'_>) {
        match residues {
            Residues::Wide(words) => self.residues(words),
            Residues::Short(words) => words.iter().for_each(|&x| self.residues(&[x.into()])),
        }
    }

    /// Returns the finished file, with the payload length in its header and the checksum at its end.
    pub fn finish(self) -> Vec<u8> {
        std::mem::take(&mut *self.finish_secret())
    }

    /// Returns the finished file of a secret. No other copy of the secret remains in memory if the payload has the
    /// length that was given to [`Writer::new`].
    pub fn finish_secret(mut self) -> Zeroizing<Vec<u8>> {
        let length = (self.bytes.len().saturating_sub(HEADER)) as u64;
        if let Some(field) = self.bytes.get_mut(HEADER - 8..HEADER) {
            field.copy_from_slice(&length.to_le_bytes());
        }
        let sum = checksum(&self.bytes);
        self.bytes.extend(sum);
        self.bytes
    }
}

/// Returns the number of bytes of limbs in a file of the present version, of `degree` residues each.
pub fn limb_bytes(moduli: &[Modulus], degree: usize) -> usize {
    let each = moduli
        .iter()
        .map(|q| packed::packed_bytes(degree, q.bits()));
    each.fold(0, usize::saturating_add)
}

/// A cursor over bytes of a file that are not trusted.
pub struct Reader<'a> {
    what: &'static str,
    rest: &'a [u8],
    packed: bool,
}

impl<'a> Reader<'a> {
    fn new(what: &'static str, rest: &'a [u8], version: u16) -> Self {
        let packed = version >= PACKED;
        Self { what, rest, packed }
    }

    /// Returns whether the file is of a version that packs the residues of ciphertexts and keys.
    pub fn packed(&self) -> bool {
        self.packed
    }

    pub fn remaining(&self) -> u64 {
        self.rest.len() as u64
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], FileError> {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(FileError::Length {
                what: self.what,
                expected: count as u64,
                got: self.remaining(),
            }),
        }
    }

    pub fn array<const C: usize>(&mut self) -> Result<[u8; C], FileError> {
        let got = self.remaining();
        let bytes = self.take(C)?;
        bytes.try_into().map_err(|_| FileError::Length {
            what: self.what,
            expected: C as u64,
            got,
        })
    }

    /// Returns a reader of the next `count` bytes alone, which are the payload of an object of kind `kind`.
    ///
    /// # Errors
    /// [`FileError::Length`] if fewer bytes are left.
    pub fn part(&mut self, kind: Kind, count: usize) -> Result<Self, FileError> {
        Ok(Self {
            what: kind.name(),
            rest: self.take(count)?,
            packed: self.packed,
        })
    }

    pub fn u8(&mut self) -> Result<u8, FileError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub fn u16(&mut self) -> Result<u16, FileError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub fn u32(&mut self) -> Result<u32, FileError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64, FileError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub fn f64(&mut self) -> Result<f64, FileError> {
        Ok(f64::from_bits(self.u64()?))
    }

    /// Reads `count` residues of 8 bytes each. It checks that the bytes exist before it allocates memory for the
    /// residues.
    pub fn residues(&mut self, count: usize) -> Result<Vec<u64>, FileError> {
        let bytes = self.take(count.saturating_mul(8))?;
        let mut residues = zeroed(self.what, count)?;
        for (residue, bytes) in residues.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *residue = u64::from_le_bytes(*bytes);
        }
        Ok(residues)
    }

    /// Reads the limbs of a polynomial, of `degree` residues each, whose moduli are `moduli`. It checks that the bytes
    /// exist before it allocates memory for the residues.
    pub fn limbs(&mut self, moduli: &[Modulus], degree: usize) -> Result<Vec<u64>, FileError> {
        let count = moduli.len().saturating_mul(degree);
        if !self.packed {
            return self.residues(count);
        }
        let mut bytes = self.take(limb_bytes(moduli, degree))?;
        let mut residues = zeroed(self.what, count)?;
        for (q, limb) in moduli.iter().zip(residues.chunks_mut(degree.max(1))) {
            let (own, rest) = bytes
                .split_at_checked(packed::packed_bytes(degree, q.bits()))
                .unwrap_or((bytes, &[]));
            packed::unpack(q.bits(), own, limb);
            bytes = rest;
        }
        Ok(residues)
    }

    /// Reads `count` residues of `word_bytes` bytes each, 4 or 8. It checks that the bytes exist before it
    /// allocates memory for the residues.
    pub fn words(&mut self, count: usize, word_bytes: usize) -> Result<Vec<u64>, FileError> {
        if word_bytes == size_of::<u64>() {
            return self.residues(count);
        }
        let bytes = self.take(count.saturating_mul(size_of::<u32>()))?;
        let mut residues = zeroed(self.what, count)?;
        for (residue, bytes) in residues.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *residue = u32::from_le_bytes(*bytes).into();
        }
        Ok(residues)
    }

    /// Checks that exactly `expected` bytes of the payload are still to be read.
    pub fn expect_remaining(&self, expected: u64) -> Result<(), FileError> {
        if self.remaining() == expected {
            return Ok(());
        }
        Err(FileError::Length {
            what: self.what,
            expected,
            got: self.remaining(),
        })
    }

    pub fn end(&self) -> Result<(), FileError> {
        self.expect_remaining(0)
    }
}

/// Computes the checksum of a file. It wipes the stack, on which the hash keeps bytes that it has not yet hashed.
fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    off_the_stack(|| Sha256::digest(bytes).into())
}

// The message below names the last kind.
const _: () = assert!(Kind::ALL[Kind::ALL.len() - 1] as u16 == 19);

fn kind_of(number: u16) -> Result<Kind, FileError> {
    let found = Kind::ALL.into_iter().find(|k| *k as u16 == number);
    found.ok_or_else(|| FileError::Kind {
        expected: "a known kind (1 to 19)",
        got: format!("kind {number}"),
    })
}

/// The identities in the header of a file: that of the parameters and that of the secret key.
pub struct Header {
    pub params_id: ParamsId,
    /// The identity of the object's secret key. It is `None` in files of container version 1, for kinds that belong to
    /// no key ([`Kind::has_key`]), and if the writer did not know it.
    pub key_id: Option<KeyId>,
}

fn head(bytes: &[u8]) -> Result<(u16, Kind, Reader<'_>), FileError> {
    let mut reader = Reader::new("file", bytes, 1);
    if reader.take(MAGIC.len()) != Ok(MAGIC) {
        return Err(FileError::Magic);
    }
    let got = reader.u16()?;
    if !(1..=VERSION).contains(&got) {
        return Err(FileError::Version {
            expected: VERSION,
            got,
        });
    }
    Ok((got, kind_of(reader.u16()?)?, reader))
}

pub(super) fn peek(bytes: &[u8]) -> Result<(u8, Kind), FileError> {
    let (version, kind, mut reader) = head(bytes)?;
    let scheme = match version {
        1 => FIRST_SCHEME,
        _ => reader.u8()?,
    };
    Ok((scheme, kind))
}

fn zeros<const C: usize>(reader: &mut Reader<'_>) -> Result<(), FileError> {
    let found: [u8; C] = reader.array()?;
    if found == [0; C] {
        return Ok(());
    }
    Err(FileError::Field {
        what: "reserved header field",
        expected: "zero".to_owned(),
        got: format!("{found:?}"),
    })
}

/// Checks the container of a file of kind `kind` and of this scheme. Returns its header, and a reader of its
/// payload. If `id` is given, the file must belong to the parameters with this identity.
///
/// # Errors
/// Fails for a file of another kind, scheme or parameters, or of an unknown version. Also fails for a wrong length, a
/// wrong checksum, or a header field that should be zero and is not.
pub fn open<'a>(
    bytes: &'a [u8],
    kind: Kind,
    scheme: SchemeTag,
    id: Option<&ParamsId>,
) -> Result<(Header, Reader<'a>), FileError> {
    let (version, found, mut reader) = head(bytes)?;
    if found != kind {
        return Err(FileError::Kind {
            expected: kind.name(),
            got: found.name().to_owned(),
        });
    }
    let got = if version == 1 {
        zeros::<4>(&mut reader)?;
        FIRST_SCHEME
    } else {
        reader.u8()?
    };
    if got != scheme.byte {
        return Err(FileError::Scheme {
            expected: scheme.byte,
            name: scheme.name,
            got,
        });
    }
    if version > 1 {
        zeros::<3>(&mut reader)?;
    }
    let params_id: ParamsId = reader.array()?;
    let key_id = if version == 1 {
        None
    } else {
        KeyId::from_bytes(reader.array()?)
    };
    if let Some(key_id) = key_id.filter(|_| !kind.has_key()) {
        return Err(FileError::Field {
            what: "key identity",
            expected: format!("zero ({} belong to no key)", kind.name()),
            got: key_id.short(),
        });
    }
    let length = reader.u64()?;
    let expected = length.saturating_add(CHECKSUM as u64);
    reader.expect_remaining(expected)?;
    let payload = reader.take((reader.remaining() as usize).saturating_sub(CHECKSUM))?;
    let sum: [u8; CHECKSUM] = reader.array()?;
    let covered = bytes.len().saturating_sub(CHECKSUM);
    if checksum(bytes.get(..covered).unwrap_or(&[])) != sum {
        return Err(FileError::Checksum);
    }
    match id {
        Some(id) if *id != params_id => Err(FileError::OtherParams {
            expected: short_id(id),
            got: short_id(&params_id),
        }),
        _ => Ok((
            Header { params_id, key_id },
            Reader::new(kind.name(), payload, version),
        )),
    }
}
